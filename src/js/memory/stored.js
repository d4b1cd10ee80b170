// Weights in 16 bits or in int8: the core decodes their rows, and quantizes weights that are in linear memory.

import { STORED } from '../../../dist/abi/abi.js';
import { pointerOf, Staged } from './tensor.js';

/** @import { Memory } from './memory.js' */
/** @import { Tensor } from './tensor.js' */

/** @typedef {keyof typeof STORED} StoredType */
/**
 * 16-bit floats in linear memory, two per word of the tensor.
 * @typedef {{ tensor: Tensor, type: 'F16' | 'BF16' }} Half
 */

/**
 * Copies rows of a 16-bit table as float32.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor | Staged} to (labels, width)
 * @param {Half} table
 * @param {ArrayLike<number>} labels
 * @param {number} width
 */
export function loadHalfRows(memory, caller, to, { tensor, type }, labels, width) {
  const [start, from] = [pointerOf(to), pointerOf(tensor)];
  for (let i = 0; i < labels.length; i++) {
    const row = new Staged(from + 2 * labels[i] * width);
    memory.call('hl_stored_load', caller, new Staged(start + 4 * i * width), row, STORED[type], width);
  }
}

/**
 * Size in floats of a weight (out, in) in int8.
 * @param {Memory} memory
 * @param {string} caller
 * @param {readonly number[]} shape
 */
export const quantizedSize = (memory, caller, [out, inside]) =>
  memory.invoke('hl_weight_quantized_size', caller, out, inside);

/**
 * Quantizes a whole weight that is in linear memory.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor} packed
 * @param {readonly number[]} shape (out, in)
 * @param {{ tensor: Tensor, type: StoredType }} weight
 */
export function quantizeHeld(memory, caller, packed, [out, inside], { tensor, type }) {
  memory.call('hl_weight_quantize_rows', caller, packed, tensor, STORED[type], 0, out, out, inside);
}
