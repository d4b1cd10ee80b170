// The list of ablated heads in the reading column, the greatest fall of the probability first.

import { signed } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';
import { AblationButton, pointsFrom } from './ablation.jsx';

/** @import { Ablation } from './ablation.jsx' */

/** Heads in the list: of a larger model those with the greatest fall. */
const MAX_LISTED = 200;

/** The heads by the change of the probability, in the reading column. */
export function AblationPanel() {
  const session = useSession();
  const words = session.words.value;
  /** @type {Ablation | null} */
  const ablation = session.ablation.value;
  return (
    <section class="adding ablation" aria-label={words.ablation.title}>
      <h2 class="title">{words.ablation.title}</h2>
      <p class="how">
        {ablation ? (
          <>
            <i>{shown(ablation.text).trim() || '␣'}</i>
            {words.ablation.about(words.percent(ablation.before))}
          </>
        ) : (
          words.ablation.none
        )}
      </p>
      {ablation ? <AblationList ablation={ablation} /> : <ol />}
      <AblationButton opensPanel={false} />
      <button type="button" class="word" onClick={() => session.update({ panel: 'reading' })}>
        {words.close}
      </button>
    </section>
  );
}

/** @param {{ ablation: Ablation }} props */
function AblationList({ ablation: { switchedOff, before } }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const list = [...switchedOff].sort((a, b) => a.probability - b.probability).slice(0, MAX_LISTED);
  return (
    <ol>
      {list.map(({ layer, head, probability }) => (
        <li key={`${layer}.${head}`}>
          <button
            type="button"
            aria-pressed={state.layer === layer && state.head === head}
            onClick={() => session.update({ layer, head }, 'head')}
          >
            <span>{words.headName(layer, head)}</span>
            <span>{words.percent(probability)}</span>
            <b>{signed(pointsFrom(probability, before), 0)}</b>
          </button>
        </li>
      ))}
    </ol>
  );
}
