// The changes of a model that is fine-tuned, in the order and the form in which they are shown.

import type { HeadPlace } from '../../model/protocol/protocol.ts';

/** Minimum divergence of a cell of the grid that has a number. */
const MIN_FIGURE = 0.095;

/**
 * Returns the heads in descending order of their change.
 * @param heads change of each head, by layer
 */
export const byChange = (heads: number[][]): (HeadPlace & { change: number })[] =>
  heads
    .flatMap((row, layer) => row.map((change, head) => ({ layer, head, change })))
    .sort((a, b) => b.change - a.change);

/** Returns a divergence as a text such as .62; '' if it is small. */
export const figureOf = (x: number) => (x >= MIN_FIGURE ? x.toFixed(2).replace(/^0/, '') : '');

/**
 * Converts a mean loss per token into the geometric mean of the tokens' probabilities, and into bits.
 * @param loss in nats
 */
export const perToken = (loss: number) => ({ likely: Math.exp(-loss), bits: loss / Math.LN2 });

/**
 * Returns the tokens by the factor by which their probability has changed, the largest factor first.
 * @param likely probability before and now of each token, beginning with token 1
 */
export const likelierFirst = (likely: [number, number][]) =>
  likely
    .map(([before, now], i) => ({ t: i + 1, before, now, by: Math.abs(Math.log(now / before)) }))
    .sort((a, b) => b.by - a.by);
