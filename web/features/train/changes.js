// The numbers of a model that is trained further, in the order and the form in which they are shown.

/** @import { HeadPlace } from '../../store/protocol.js' */

/** From this divergence on a cell of the grid has a figure. */
const MIN_FIGURE = 0.095;

/**
 * Heads in descending order of their change.
 * @param {number[][]} heads by layer
 * @returns {(HeadPlace & { change: number })[]}
 */
export const byChange = (heads) =>
  heads
    .flatMap((row, layer) => row.map((change, head) => ({ layer, head, change })))
    .sort((a, b) => b.change - a.change);

/** .62; nothing if it is small. @param {number} x */
export const figureOf = (x) => (x >= MIN_FIGURE ? x.toFixed(2).replace(/^0/, '') : '');

/** The usual probability of a token, a geometric mean, and its bits. @param {number} loss in nats */
export const perToken = (loss) => ({ likely: Math.exp(-loss), bits: loss / Math.LN2 });

/**
 * Tokens by how many times likelier or less likely they have become.
 * @param {[number, number][]} likely from token 1 on
 */
export const likelierFirst = (likely) =>
  likely
    .map(([before, now], i) => ({ t: i + 1, before, now, by: Math.abs(Math.log(now / before)) }))
    .sort((a, b) => b.by - a.by);
