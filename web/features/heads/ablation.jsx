// Every head, by what its absence does to the chosen next token: in points of its probability, the greatest fall first.

import { signed, useSession } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';

/** Heads in the list: of a larger model those that count most. */
const LISTED = 200;

/** Points by head, 'layer.head', as far as they have been tried. */
export const pointsOf = (tried) =>
  tried &&
  Object.fromEntries(
    tried.tried.map(({ layer, head, probability }) => [
      `${layer}.${head}`,
      Math.round(100 * (probability - tried.before)) + 0,
    ]),
  );

/** Begins, and ends, trying. */
export function TryHeads({ panel = true }) {
  const session = useSession();
  const words = session.words.value;
  const { about, ablating, ablation } = session;
  if (!about.value?.predicts || !about.value.edits || session.state.value.panel === 'story') return null;
  const begin = () => {
    session.runAblation();
    if (panel) session.update({ panel: 'tried' });
  };
  return (
    <button
      type="button"
      class="word try"
      // Without a text there is no guess to lose.
      disabled={!session.run.value?.T}
      onClick={ablating.value ? session.stopAblation : begin}
    >
      {ablating.value
        ? words.tried.stop(ablation.value?.tried.length ?? 0, ablation.value?.total ?? 0)
        : words.tried.begin}
    </button>
  );
}

export function Tried() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const found = session.ablation.value;
  const list = [...(found?.tried ?? [])].sort((a, b) => a.probability - b.probability);
  return (
    <section class="adding tried" aria-label={words.tried.title}>
      <h2 class="title">{words.tried.title}</h2>
      <p class="how">
        {found ? (
          <>
            <i>{shown(found.text).trim() || '␣'}</i>
            {words.tried.about(words.percent(found.before))}
          </>
        ) : (
          words.tried.none
        )}
      </p>
      <ol>
        {list.slice(0, LISTED).map(({ layer, head, probability }) => {
          const points = Math.round(100 * (probability - found.before)) + 0;
          return (
            <li key={`${layer}.${head}`}>
              <button
                type="button"
                aria-pressed={state.layer === layer && state.head === head}
                onClick={() => session.update({ layer, head }, 'head')}
              >
                <span>{words.headName(layer, head)}</span>
                <span>{words.percent(probability)}</span>
                <b>{signed(points, 0)}</b>
              </button>
            </li>
          );
        })}
      </ol>
      <TryHeads panel={false} />
      <button type="button" class="word" onClick={() => session.update({ panel: 'reading' })}>
        {words.close}
      </button>
    </section>
  );
}
