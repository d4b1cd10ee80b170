// Switches random parts of a model off for one training step, so that the parts that remain learn to copy alone.

import type { Random } from '../../../web/model/types.ts';
import type { WindowOptions } from './windows.ts';

export type LesionOptions = {
  /** fraction of the steps in which parts are off */
  share: number;
  /**
   * fraction of these steps in which all parts are off that may be; in the others each part is off with the same
   * random probability
   */
  all: number;
  /** [layer, head]: heads that are never off */
  kept: number[][];
  /** layers whose feed-forward is never off */
  keptMlps: number[];
  /** heads that are off in each of these steps, and with probability `rest` in all others */
  often?: number[][];
  rest?: number;
  /** differences of the windows of these steps */
  windows: Partial<WindowOptions>;
};

const has = (heads: number[][], layer: number, head: number) => heads.some(([l, h]) => l === layer && h === head);

/**
 * Sets the outputs of random heads and feed-forwards to zero. Returns a function that restores their weights and sets
 * the gradients of these weights to zero.
 * @param isLesion true for a step in which many parts may be off; in the others only `often` are
 */
export function cutRandomParts(model: any, options: LesionOptions, isLesion: boolean, random: Random) {
  const { all, kept, keptMlps, often = [], rest = 0 } = options;
  const { layers, numHeads, dModel } = model.options;
  const width = dModel / numHeads;
  const probability = !isLesion ? 0 : random() < all ? 1 : random();
  const restore: (() => void)[] = [];
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < numHeads; head++) {
      const isOften = has(often, layer, head);
      if (has(kept, layer, head) || (!isLesion && !isOften)) continue;
      const own = isOften ? (isLesion ? 1 : rest) : probability;
      if (random() < own)
        restore.push(cutColumns(model, `blocks.${layer}.attention.wo`, head * width, (head + 1) * width));
    }
    if (isLesion && !keptMlps.includes(layer) && random() < probability)
      restore.push(cutColumns(model, `blocks.${layer}.down.weight`, 0, Number.POSITIVE_INFINITY));
  }
  return () => {
    for (const part of restore) part();
  };
}

/** Sets columns of a weight to zero. Returns the function that restores them. */
function cutColumns(model: any, name: string, from: number, to: number) {
  const { data, shape } = model.parameters[name];
  const before = data.slice();
  const [rows, columns] = shape;
  const forEachRow = (change: (start: number, end: number) => void) => {
    for (let row = 0; row < rows; row++) change(row * columns + from, row * columns + Math.min(to, columns));
  };
  forEachRow((start, end) => data.fill(0, start, end));
  return () => {
    const weights = model.parameters[name].data;
    const gradients = model.gradients[name].data;
    forEachRow((start, end) => {
      weights.set(before.subarray(start, end), start);
      gradients.fill(0, start, end);
    });
  };
}
