// The list of ablated heads in the reading column, the largest fall of the probability first.

import { replacementOf, shownPart } from '../../model/modelEdits.ts';
import { degrees, signed } from '../../model/numbers.ts';
import type { Ablation } from '../../model/protocol/protocol.ts';
import { shown } from '../../model/tokens.ts';
import { AblationButton, pointsFrom } from '../../parts/ablation.tsx';
import { useSession } from '../../store/context.ts';

/** Maximum number of heads in the list. A larger model lists those with the largest fall. */
const MAX_LISTED = 200;

/** The heads in the reading column, in the order of the change of the probability. */
export function AblationPanel() {
  const session = useSession();
  const words = session.words.value;
  const ablation: Ablation | null = session.ablation.value;
  return (
    <section class="adding ablation" aria-label={words.ablation.title}>
      <h2 class="title">{words.ablation.title}</h2>
      <p class="how">
        {ablation?.measure === 'angle' ? (
          words.ablation.turns
        ) : ablation ? (
          <>
            <i>{shown(ablation.text).trim() || '␣'}</i>
            {words.ablation.about(words.percent(ablation.before))}
          </>
        ) : (
          words.ablation.none
        )}{' '}
        {words.ablation.replaced[replacementOf(session.about.value, session.state.value)]}
      </p>
      {ablation ? <AblationList ablation={ablation} /> : <ol />}
      <AblationButton opensPanel={false} />
      <button type="button" class="word" onClick={() => session.update({ panel: 'reading' })}>
        {words.close}
      </button>
    </section>
  );
}

function AblationList({ ablation: { measure, switchedOff, before } }: { ablation: Ablation }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const isAngle = measure === 'angle';
  const about = session.about.value;
  const shown = shownPart(about, state);
  const isOne = !about || about.parts.length < 2;
  const list = [...switchedOff].sort((a, b) => (isAngle ? b.value - a.value : a.value - b.value)).slice(0, MAX_LISTED);
  return (
    <ol>
      {list.map(({ part, layer, head, value }) => (
        <li key={`${part} ${layer}.${head}`}>
          <button
            type="button"
            aria-pressed={shown === part && state.layer === layer && state.head === head}
            onClick={() => session.update({ layer, head, ...(part !== shown && { part, cell: null }) }, 'head')}
          >
            <span>{isOne ? words.headName(layer, head) : words.open.headOf(part, layer, head)}</span>
            <span>{isAngle ? '' : words.percent(value)}</span>
            <b>{isAngle ? degrees(value) : signed(pointsFrom(value, before), 0)}</b>
          </button>
        </li>
      ))}
    </ol>
  );
}
