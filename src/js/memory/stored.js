// Numbers in the formats of files: the core decodes or quantizes them when they are copied into linear memory.

import { STORED } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.js';
import { pointerOf, Staged } from './tensor.js';

/** @import { Memory } from './memory.js' */
/** @import { Tensor } from './tensor.js' */

/** @typedef {keyof typeof STORED} StoredType */
/**
 * 16-bit floats in linear memory, two per word of the tensor.
 * @typedef {{ tensor: Tensor, type: 'F16' | 'BF16' }} Half
 */

/** True if the core reads numbers of this type. @type {(type: string) => type is StoredType} */
export const isStored = (type) => Object.hasOwn(STORED, type);

const BYTES = { F32: 4, F16: 2, BF16: 2 };

/**
 * Decodes numbers into a tensor, from its element `at`.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor} tensor
 * @param {number} at
 * @param {Uint8Array} bytes
 * @param {StoredType} type
 */
export function loadStored(memory, caller, tensor, at, bytes, type) {
  const count = bytes.length / BYTES[type];
  const to = new Staged(pointerOf(tensor) + 4 * at);
  if (type === 'F32') return memory.write(to.pointer, bytes);
  memory.frame(caller, (frame) => {
    memory.call('hl_stored_load', caller, to, frame.copyIn(bytes), STORED[type], count);
  });
}

/**
 * Calls `fn` with a view of the decoded numbers.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {StoredType} type
 * @param {(numbers: Float32Array) => void} fn must not allocate, which could detach the view
 */
export function withStored(memory, caller, bytes, type, fn) {
  const count = bytes.length / BYTES[type];
  memory.frame(caller, (frame) => {
    const numbers = frame.scratch(count);
    memory.call('hl_stored_load', caller, numbers, frame.copyIn(bytes), STORED[type], count);
    fn(memory.floats(pointerOf(numbers), count));
  });
}

/**
 * A view of the 16-bit codes, to be written to.
 * @param {Memory} memory
 * @param {Half} half
 * @param {number} count
 */
export const halvesOf = (memory, { tensor }, count) => new Uint16Array(memory.buffer, pointerOf(tensor), count);

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
 * Grows memory once for the following allocations: each growth takes 1–2 ms. If it cannot grow that much, the
 * allocation that does not fit will throw.
 * @param {Memory} memory
 * @param {string} caller
 * @param {number} floats
 */
export function reserve(memory, caller, floats) {
  try {
    memory.free(memory.alloc(floats, caller));
  } catch (error) {
    if (!(error instanceof HeadlightError) || error.code !== 'OUT_OF_MEMORY') throw error;
  }
}

/**
 * Quantizes rows of a weight, from `first`, into its packed form.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor} packed
 * @param {readonly number[]} shape (out, in)
 * @param {number} first a multiple of eight
 * @param {Uint8Array} bytes a multiple of eight rows, or up to the last one
 * @param {StoredType} type
 */
export function quantizeStored(memory, caller, packed, [out, inside], first, bytes, type) {
  const rows = bytes.length / BYTES[type] / inside;
  memory.frame(caller, (frame) => {
    const from = frame.copyIn(bytes);
    memory.call('hl_weight_quantize_rows', caller, packed, from, STORED[type], first, rows, out, inside);
  });
}

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
