// Copies numbers in the formats of files into linear memory, where the core decodes or quantizes them.

import { STORED } from '../../../../dist/abi/abi.js';
import { HeadlightError } from '../../check/errors.js';
import { quantizeRows, wordsOf } from '../../memory/packed.js';
import { pointerOf, Staged } from '../../memory/tensor.js';

/** @import { BlockForm } from '../../io/blockRows.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { StoredType } from '../../memory/packed.js' */
/** @import { Tensor } from '../../memory/tensor.js' */

/** True if the core can read numbers of this type. @type {(type: string) => type is StoredType} */
export const isStored = (type) => Object.hasOwn(STORED, type);

const BYTES = { F32: 4, F16: 2, BF16: 2 };

/**
 * Decodes numbers into a tensor. The first one becomes element `at`.
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
 * Returns a view of the tensor's 16-bit codes, through which they are written.
 * @param {Memory} memory
 * @param {Tensor} tensor
 * @param {number} count
 */
export const halvesOf = (memory, tensor, count) => new Uint16Array(memory.buffer, pointerOf(tensor), count);

/**
 * Grows memory once for the following allocations, because each growth takes 1–2 ms. It does not throw if memory cannot
 * grow that much; the allocation that does not fit will throw.
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
 * Quantizes consecutive rows of a weight, which begin with row `first`, into its packed form.
 * @param {Memory} memory
 * @param {string} caller
 * @param {'int8' | 'int4'} storage
 * @param {Tensor} packed
 * @param {readonly number[]} shape (out, in)
 * @param {number} first a multiple of eight
 * @param {Uint8Array} bytes a multiple of eight rows, or all rows up to the last row of the weight
 * @param {StoredType} type
 */
export function quantizeStored(memory, caller, storage, packed, shape, first, bytes, type) {
  const rows = bytes.length / BYTES[type] / shape[1];
  memory.frame(caller, (frame) =>
    quantizeRows(memory, caller, storage, packed, shape, frame.copyIn(bytes), type, first, rows),
  );
}

/**
 * Packs rows of a weight that is stored in blocks. The first call for each weight must have first = 0.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor} packed
 * @param {BlockForm} form
 * @param {readonly number[]} shape (out, in)
 * @param {Uint8Array} rows as toBlockRows returns them
 * @param {number} first a multiple of eight
 * @param {number} count a multiple of eight, or all rows up to the last row of the weight
 */
export function packBlocks(memory, caller, packed, form, [out, inside], rows, first, count) {
  memory.frame(caller, (frame) => {
    const [described, copied] = [frame.copyIn(wordsOf(form)), frame.copyIn(rows)];
    memory.call('hl_blocks_pack', caller, packed, described, copied, first, count, out, inside);
  });
}
