// Ablation of every head: the change of the next token's probability without it, in percentage points, and the list of
// heads with the greatest fall first.

import { signed } from '../../texts/numbers.js';
import { useSession } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';

/**
 * The probability of the next token without one head.
 * @typedef {{ layer: number, head: number, probability: number }} HeadAblation
 */
/**
 * @typedef {object} Ablation
 * @property {string} text of the token
 * @property {number} before its probability with all heads
 * @property {HeadAblation[]} tried the heads so far
 * @property {number} total the number of heads
 */

/** Heads in the list: of a larger model those with the greatest fall. */
const MAX_LISTED = 200;

/** Percentage points, without a negative zero. @param {number} probability @param {number} before */
const pointsFrom = (probability, before) => Math.round(100 * (probability - before)) + 0;

/**
 * Percentage points by head, 'layer.head', for the heads so far.
 * @param {Ablation | null} ablation
 * @returns {Record<string, number> | null}
 */
export const pointsOf = (ablation) =>
  ablation &&
  Object.fromEntries(
    ablation.tried.map(({ layer, head, probability }) => [
      `${layer}.${head}`,
      pointsFrom(probability, ablation.before),
    ]),
  );

/**
 * Starts the ablation, or stops it.
 * @param {{ opensPanel?: boolean }} props opensPanel: true if the start opens the list
 */
export function AblationButton({ opensPanel = true }) {
  const session = useSession();
  const words = session.words.value;
  const { about, ablating, ablation } = session;
  if (!about.value?.predicts || !about.value.edits || session.state.value.panel === 'story') return null;
  const begin = () => {
    session.runAblation();
    if (opensPanel) session.update({ panel: 'tried' });
  };
  return (
    <button
      type="button"
      class="word try"
      // Without a text no token is predicted.
      disabled={!session.run.value?.T}
      onClick={ablating.value ? session.stopAblation : begin}
    >
      {ablating.value
        ? words.tried.stop(ablation.value?.tried.length ?? 0, ablation.value?.total ?? 0)
        : words.tried.begin}
    </button>
  );
}

/** The heads by the change of the probability, in the reading column. */
export function AblationPanel() {
  const session = useSession();
  const words = session.words.value;
  /** @type {Ablation | null} */
  const ablation = session.ablation.value;
  return (
    <section class="adding tried" aria-label={words.tried.title}>
      <h2 class="title">{words.tried.title}</h2>
      <p class="how">
        {ablation ? (
          <>
            <i>{shown(ablation.text).trim() || '␣'}</i>
            {words.tried.about(words.percent(ablation.before))}
          </>
        ) : (
          words.tried.none
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
function AblationList({ ablation: { tried, before } }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const list = [...tried].sort((a, b) => a.probability - b.probability).slice(0, MAX_LISTED);
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
