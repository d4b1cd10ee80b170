// The learned positions of a picture of another size than those in training: the table of positions, a square of
// patches, is resized by bicubic interpolation, as by PyTorch with a = −0.75 and no antialiasing.

import { shapeError } from '../check/errors.js';
import { viewOf } from '../memory/tensor.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Run } from './run.js' */

const A = -0.75;
const TAPS = 4;

/** Returns the weight of a tap. @param {number} distance not negative */
const weightAt = (distance) =>
  distance <= 1
    ? ((A + 2) * distance - (A + 3)) * distance * distance + 1
    : ((A * distance - 5 * A) * distance + 8 * A) * distance - 4 * A;

/**
 * Returns the taps of each new place along an axis. Places beyond the edges are those at the edges.
 * @param {number} from
 * @param {number} to
 * @returns {{ at: number, weight: number }[][]}
 */
const tapsOf = (from, to) =>
  Array.from({ length: to }, (_, i) => {
    const centre = ((i + 0.5) * from) / to - 0.5;
    const first = Math.floor(centre) - 1;
    return Array.from({ length: TAPS }, (_, k) => ({
      at: Math.min(Math.max(first + k, 0), from - 1),
      weight: weightAt(Math.abs(centre - first - k)),
    }));
  });

/**
 * Calls a function for each new patch and each patch of the table that contributes to it.
 * @param {number} side of the table, in patches
 * @param {number} down new height
 * @param {number} across new width
 * @param {(to: number, from: number, weight: number) => void} each
 */
export function forEachTap(side, down, across, each) {
  const [rows, columns] = [tapsOf(side, down), tapsOf(side, across)];
  for (let y = 0; y < down; y++)
    for (let x = 0; x < across; x++)
      for (const row of rows[y])
        for (const column of columns[x]) each(y * across + x, row.at * side + column.at, row.weight * column.weight);
}

/**
 * Returns the positions of the class tokens and of the patches of a picture.
 * @param {Run} run
 * @param {number} down height of the picture in patches
 * @param {number} across width
 * @returns {Tensor} (B,classTokens+down·across,C)
 */
export function resizedPositions(run, down, across) {
  const { graph, batch, rows, options } = run;
  const { classTokens } = /** @type {NonNullable<typeof options.patch>} */ (options.patch);
  const table = run.requiredWeight('embedding.position');
  const width = table.shape[1];
  const side = Math.sqrt(options.context - classTokens);
  if (!Number.isInteger(side))
    throw shapeError(run.caller, run.input.called, [batch, rows], 'the size of `image`, whose patches are no square');
  const forEachRow = (/** @type {(to: number, from: number, weight: number) => void} */ each) => {
    for (let t = 0; t < classTokens; t++) each(t, t, 1);
    forEachTap(side, down, across, (to, from, weight) => each(to + classTokens, from + classTokens, weight));
  };
  const y = graph.make([batch, rows, width]);
  const [values, data] = [viewOf(/** @type {Tensor} */ (table.tensor)), viewOf(y).fill(0)];
  const one = data.subarray(0, rows * width);
  forEachRow((to, from, weight) => {
    for (let c = 0; c < width; c++) one[to * width + c] += weight * values[from * width + c];
  });
  for (let b = 1; b < batch; b++) data.copyWithin(b * rows * width, 0, rows * width);
  return graph.record(y, (dy) => {
    const gradient = graph.gradientOf(table);
    if (!gradient) return;
    const [sums, d] = [viewOf(gradient), viewOf(dy)];
    forEachRow((to, from, weight) => {
      for (let b = 0; b < batch; b++)
        for (let c = 0; c < width; c++) sums[from * width + c] += weight * d[(b * rows + to) * width + c];
    });
  });
}
