// Ablation of every head: the change of the next token's probability without it, in percentage points, and the button
// that starts it.

import { useSession } from '../../ui/context.js';

/**
 * The probability of the next token without one head.
 * @typedef {{ layer: number, head: number, probability: number }} HeadAblation
 */
/**
 * @typedef {object} Ablation
 * @property {string} text of the token
 * @property {number} before its probability with all heads
 * @property {HeadAblation[]} switchedOff the heads so far
 * @property {number} total the number of heads
 */

/** Percentage points, without a negative zero. @param {number} probability @param {number} before */
export const pointsFrom = (probability, before) => Math.round(100 * (probability - before)) + 0;

/**
 * Percentage points by head, 'layer.head', for the heads so far.
 * @param {Ablation | null} ablation
 * @returns {Record<string, number> | null}
 */
export const pointsOf = (ablation) =>
  ablation &&
  Object.fromEntries(
    ablation.switchedOff.map(({ layer, head, probability }) => [
      `${layer}.${head}`,
      pointsFrom(probability, ablation.before),
    ]),
  );

/** Ablates each head in turn, and lists the changes. @param {import('../../store/session.js').Session} session */
export function beginAblation(session) {
  session.runAblation();
  session.update({ panel: 'tried' });
}

/**
 * Starts the ablation, or stops it.
 * @param {{ opensPanel?: boolean }} props opensPanel: true if the start opens the list
 */
export function AblationButton({ opensPanel = true }) {
  const session = useSession();
  const words = session.words.value;
  const { about, ablating, ablation } = session;
  if (!about.value?.predicts || !about.value.edits || session.state.value.panel === 'story') return null;
  const begin = opensPanel ? () => beginAblation(session) : session.runAblation;
  return (
    <button
      type="button"
      class="word try"
      // Without a text no token is predicted.
      disabled={!session.run.value?.T}
      onClick={ablating.value ? session.stopAblation : begin}
    >
      {ablating.value
        ? words.ablation.stop(ablation.value?.switchedOff.length ?? 0, ablation.value?.total ?? 0)
        : words.ablation.begin}
    </button>
  );
}
