// Switches random parts of a model off for one training step, so that the parts that remain learn to copy alone.

/** @import { Random } from '../../../web/store/types.js' */

/**
 * @typedef {object} LesionOptions
 * @property {number} share fraction of the steps in which parts are off
 * @property {number} all fraction of these steps in which all parts are off that may be; in the others each part is off
 *   with the same random probability
 * @property {number[][]} kept [layer, head]: heads that are never off
 * @property {number[]} keptMlps layers whose feed-forward is never off
 * @property {number[][]} [often] heads that are off in each of these steps, and with probability `rest` in all others
 * @property {number} [rest]
 * @property {Partial<import('./windows.js').WindowOptions>} windows differences of the windows of these steps
 */

const has = (/** @type {number[][]} */ heads, /** @type {number} */ layer, /** @type {number} */ head) =>
  heads.some(([l, h]) => l === layer && h === head);

/**
 * Sets the outputs of random heads and feed-forwards to zero. Returns a function that restores their weights and sets
 * the gradients of these weights to zero.
 * @param {any} model
 * @param {LesionOptions} options
 * @param {boolean} isLesion true for a step in which many parts may be off; in the others only `often` are
 * @param {Random} random
 */
export function cutRandomParts(model, options, isLesion, random) {
  const { all, kept, keptMlps, often = [], rest = 0 } = options;
  const { layers, numHeads, dModel } = model.options;
  const width = dModel / numHeads;
  const probability = !isLesion ? 0 : random() < all ? 1 : random();
  /** @type {(() => void)[]} */
  const restore = [];
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

/**
 * Sets columns of a weight to zero. Returns the function that restores them.
 * @param {any} model
 * @param {string} name
 * @param {number} from
 * @param {number} to
 */
function cutColumns(model, name, from, to) {
  const { data, shape } = model.parameters[name];
  const before = data.slice();
  const [rows, columns] = shape;
  const forEachRow = (/** @type {(start: number, end: number) => void} */ change) => {
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
