// The changes of a model that is fine-tuned, in the order and the form in which they are shown.

import type { HeadPlace } from '../../model/protocol/protocol.ts';

const MIN_FIGURE = 0.095;

/** Returns the heads in descending order of their change. `heads`: changes by layer. */
export const byChange = (heads: number[][]): (HeadPlace & { change: number })[] =>
  heads
    .flatMap((row, layer) => row.map((change, head) => ({ layer, head, change })))
    .sort((a, b) => b.change - a.change);

export const figureOf = (x: number) => (x >= MIN_FIGURE ? x.toFixed(2).replace(/^0/, '') : '');

/** Converts a mean loss in nats into the geometric mean of the tokens' probabilities, and into bits. */
export const perToken = (loss: number) => ({ likely: Math.exp(-loss), bits: loss / Math.LN2 });

/** Returns tokens by the factor of their change, the largest first. `likely`: before and now, from token 1. */
export const likelierFirst = (likely: [number, number][]) =>
  likely
    .map(([before, now], i) => ({ t: i + 1, before, now, by: Math.abs(Math.log(now / before)) }))
    .sort((a, b) => b.by - a.by);
