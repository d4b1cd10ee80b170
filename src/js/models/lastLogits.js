// Computes the logits of the last token of each row.

import { shapeOf, viewOf } from '../memory/tensor.js';
import { CALLER } from './generateOptions.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Cache } from './cache.js' */
/** @import { Edit } from './edits.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Transformer } from './transformer.js' */

/**
 * @param {Transformer} model
 * @param {Cache} cache to which the tokens are added
 * @param {ModelInput} input
 * @param {readonly Edit[]} [edit]
 * @returns {Float32Array[]} (V) for each row
 */
export function lastLogits(model, cache, input, edit) {
  const result = model.forwardFor(CALLER, input, { cache, last: true, edit });
  const logits = /** @type {Tensor} */ (result.logits);
  const width = /** @type {number} */ (shapeOf(logits).at(-1));
  const all = viewOf(logits).slice();
  result.dispose();
  return Array.from({ length: all.length / width }, (_, i) => all.subarray(i * width, (i + 1) * width));
}
