// Resizes learned positions, a square of patches, for a picture of another size, by bicubic interpolation as PyTorch
// does with a = −0.75 and no antialiasing.

import { shapeError } from '../../check/errors.ts';
import { type Tensor, viewOf } from '../../memory/tensor.ts';

import type { Run } from '../run.ts';

const A = -0.75;
const TAPS = 4;

/** Returns the weight of a tap. distance: not negative. */
const weightAt = (distance: number) =>
  distance <= 1
    ? ((A + 2) * distance - (A + 3)) * distance * distance + 1
    : ((A * distance - 5 * A) * distance + 8 * A) * distance - 4 * A;

/** Returns the taps of each new place along an axis. Places beyond the edges are those at the edges. */
const tapsOf = (from: number, to: number): { at: number; weight: number }[][] =>
  Array.from({ length: to }, (_, i) => {
    const centre = ((i + 0.5) * from) / to - 0.5;
    const first = Math.floor(centre) - 1;
    return Array.from({ length: TAPS }, (_, k) => ({
      at: Math.min(Math.max(first + k, 0), from - 1),
      weight: weightAt(Math.abs(centre - first - k)),
    }));
  });

/**
 * Calls a function for each new patch and each patch that contributes to it. side: of the table; down, across: new
 * size.
 */
export function forEachTap(
  side: number,
  down: number,
  across: number,
  each: (to: number, from: number, weight: number) => void,
) {
  const [rows, columns] = [tapsOf(side, down), tapsOf(side, across)];
  for (let y = 0; y < down; y++)
    for (let x = 0; x < across; x++)
      for (const row of rows[y])
        for (const column of columns[x]) each(y * across + x, row.at * side + column.at, row.weight * column.weight);
}

/** Returns (B,classTokens+down·across,C) for a picture of down · across patches. */
export function resizedPositions(run: Run, down: number, across: number): Tensor {
  const { graph, batch, rows, options } = run;
  const { classTokens } = options.patch as NonNullable<typeof options.patch>;
  const table = run.requiredWeight('embedding.position');
  const width = table.shape[1];
  const side = Math.sqrt(options.context - classTokens);
  if (!Number.isInteger(side))
    throw shapeError(run.caller, run.input.called, [batch, rows], 'the size of `image`, whose patches are no square');
  const forEachRow = (each: (to: number, from: number, weight: number) => void) => {
    for (let t = 0; t < classTokens; t++) each(t, t, 1);
    forEachTap(side, down, across, (to, from, weight) => each(to + classTokens, from + classTokens, weight));
  };
  const y = graph.make([batch, rows, width]);
  const [values, data] = [viewOf(table.tensor as Tensor), viewOf(y).fill(0)];
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
