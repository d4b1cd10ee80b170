// What the attention layers of the trained transformer read, and the weights that they apply.

import { LEARNED } from '../model/learned.js';

/** @import { Hl, Tensor } from '../model/types.js' */

/** @param {Record<string, any>} dict @param {number} l @returns {Record<string, Tensor>} */
const partsOf = (dict, l) =>
  Object.fromEntries(
    ['wq', 'wk', 'wv', 'wo', 'bq', 'bk', 'bv', 'bo'].map((name) => [name, dict[`blocks.${l}.attention.${name}`]]),
  );

/**
 * What the heads of all layers read, layer after layer, and what joins them: both layers add to the same stream.
 * @param {Hl} hl
 * @param {Uint8Array} bytes the trained model
 * @param {Int32Array} labels
 * @returns {{ layers: Record<string, Tensor>[], wo: Tensor, bo: Tensor }}
 */
export function readLearned(hl, bytes, labels) {
  return hl.scope(() => {
    const model = hl.loadTransformer(bytes);
    const { captured } = model.forward({ data: labels, shape: [1, labels.length] }, { capture: ['blocks.*.norm1'] });
    const inputs = Array.from({ length: LEARNED.layers }, (_, l) => captured[`blocks.${l}.norm1`]);
    const dict = model.stateDict();
    /** @type {Record<string, Tensor>[]} */
    const layers = inputs.map((x, l) => ({ x: { data: x.copy(), shape: [...x.shape] }, ...partsOf(dict, l) }));
    const { dModel } = LEARNED;
    const wo = new Float32Array(dModel * dModel * layers.length);
    const bo = new Float32Array(dModel);
    layers.forEach((layer, l) => {
      for (let row = 0; row < dModel; row++)
        wo.set(layer.wo.data.subarray(row * dModel, (row + 1) * dModel), (row * layers.length + l) * dModel);
      layer.bo.data.forEach((b, i) => (bo[i] += b));
    });
    model.dispose();
    return { layers, wo: { data: wo, shape: [dModel, dModel * layers.length] }, bo: { data: bo, shape: [dModel] } };
  });
}
