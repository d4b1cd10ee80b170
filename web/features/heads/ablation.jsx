// The ablation of every head. Its result is the change of the next token's probability without the head, in percentage
// points, or the angle by which the hidden states turn. Also the button that starts it.

import { useSession } from '../../ui/context.js';

/** @import { About, Ablation, AttentionPart } from '../../store/protocol.js' */

/**
 * Returns a change of probability in percentage points, without a negative zero.
 * @param {number} probability @param {number} before
 */
export const pointsFrom = (probability, before) => Math.round(100 * (probability - before)) + 0;

/**
 * Returns the changes for the heads of one attention that have been ablated so far, by 'layer.head': in percentage
 * points, or in degrees.
 * @param {Ablation | null} ablation
 * @param {AttentionPart} shown
 * @returns {Record<string, number> | null}
 */
export const pointsOf = (ablation, shown) =>
  ablation &&
  Object.fromEntries(
    ablation.switchedOff
      .filter(({ part }) => part === shown)
      .map(({ layer, head, value }) => [
        `${layer}.${head}`,
        ablation.measure === 'angle' ? value : pointsFrom(value, ablation.before),
      ]),
  );

/** Returns true if the heads of a model can be switched off. @param {Pick<About, 'kind' | 'edits'> | null} about */
export const isAblatable = (about) => about?.kind === 'transformer' && about.edits;

/**
 * Ablates each head in turn, and opens the list of the changes.
 * @param {import('../../store/session.js').Session} session
 */
export function beginAblation(session) {
  session.runAblation();
  session.update({ panel: 'tried' });
}

/**
 * The button that starts or stops the ablation.
 * @param {{ opensPanel?: boolean }} props opensPanel: true if the start opens the list
 */
export function AblationButton({ opensPanel = true }) {
  const session = useSession();
  const words = session.words.value;
  const { about, ablating, ablation } = session;
  if (!isAblatable(about.value) || session.state.value.panel === 'story') return null;
  const begin = opensPanel ? () => beginAblation(session) : session.runAblation;
  return (
    <button
      type="button"
      class="word try"
      // Without a text no token is predicted, so nothing can be measured.
      disabled={!session.run.value?.T}
      onClick={ablating.value ? session.stopAblation : begin}
    >
      {ablating.value
        ? words.ablation.stop(ablation.value?.switchedOff.length ?? 0, ablation.value?.total ?? 0)
        : words.ablation.begin}
    </button>
  );
}
