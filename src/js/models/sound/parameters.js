// The parameters of the convolutions before the blocks.

/** @import { Resolved } from '../options.js' */
/** @import { LayerShape } from '../parameters.js' */
/** @import { Sound } from './options.js' */

/**
 * @param {string} name
 * @param {LayerShape['parameters']} parameters
 * @param {boolean} [random]
 * @returns {LayerShape}
 */
const layer = (name, parameters, random = true) => ({ name, random, parameters });

/** @param {string} name @param {number} width */
const norm = (name, width) =>
  layer(
    name,
    [
      ['weight', [width], 'ones'],
      ['bias', [width], 'zeros'],
    ],
    false,
  );

/** @param {Resolved} options @returns {Generator<LayerShape>} */
export function* soundLayers({ dModel, sound }) {
  const { widths, kernels, norm: kind, bias, projectNorm, positions } = /** @type {Sound} */ (sound);
  for (const [i, width] of widths.entries()) {
    const at = `embedding.layers.${i}`;
    /** @type {LayerShape['parameters']} */
    const parameters = [['weight', [width, widths[i - 1] ?? 1, kernels[i]], 'normal']];
    if (bias) parameters.push(['bias', [width], 'zeros']);
    yield layer(`${at}.conv`, parameters);
    if (kind === 'all' || i === 0) yield norm(`${at}.norm`, width);
  }
  const last = widths[widths.length - 1];
  if (projectNorm) yield norm('embedding.project.norm', last);
  yield layer('embedding.project', [
    ['weight', [dModel, last], 'xavier'],
    ['bias', [dModel], 'zeros'],
  ]);
  // The kernel is gain · direction / |direction|, for each of its taps.
  yield layer('embedding.position', [
    ['gain', [positions.kernel], 'ones'],
    ['direction', [dModel, dModel / positions.groups, positions.kernel], 'normal'],
    ['bias', [dModel], 'zeros'],
  ]);
}
