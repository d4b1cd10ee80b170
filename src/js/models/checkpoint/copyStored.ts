// Copies numbers in the formats of files into linear memory, where the core decodes or quantizes them.

import { STORED } from '../../../../dist/abi/abi.js';
import { HeadlightError } from '../../check/errors.ts';
import type { BlockForm } from '../../io/blockRows.ts';
import type { Memory } from '../../memory/memory.ts';
import { quantizeRows, type StoredType, wordsOf } from '../../memory/packed.ts';
import { pointerOf, Staged, type Tensor } from '../../memory/tensor.ts';

/** True if the core can read numbers of this type. */
export const isStored = (type: string): type is StoredType => Object.hasOwn(STORED, type);

const BYTES = { F32: 4, F16: 2, BF16: 2 };

/** Decodes numbers into a tensor. The first one becomes element `at`. */
export function loadStored(
  memory: Memory,
  caller: string,
  tensor: Tensor,
  at: number,
  bytes: Uint8Array,
  type: StoredType,
) {
  const count = bytes.length / BYTES[type];
  const to = new Staged(pointerOf(tensor) + 4 * at);
  if (type === 'F32') return memory.write(to.pointer, bytes);
  memory.frame(caller, (frame) => {
    memory.call('hl_stored_load', caller, to, frame.copyIn(bytes), STORED[type], count);
  });
}

/** Calls `fn` with a view of the decoded numbers. fn: must not allocate, which could detach the view. */
export function withStored(
  memory: Memory,
  caller: string,
  bytes: Uint8Array,
  type: StoredType,
  fn: (numbers: Float32Array) => void,
) {
  const count = bytes.length / BYTES[type];
  memory.frame(caller, (frame) => {
    const numbers = frame.scratch(count);
    memory.call('hl_stored_load', caller, numbers, frame.copyIn(bytes), STORED[type], count);
    fn(memory.floats(pointerOf(numbers), count));
  });
}

/** Returns a view of the tensor's 16-bit codes, through which they are written. */
export const halvesOf = (memory: Memory, tensor: Tensor, count: number) =>
  new Uint16Array(memory.buffer, pointerOf(tensor), count);

/**
 * Grows memory once for the following allocations, because each growth takes 1–2 ms. It does not throw if memory cannot
 * grow that much; the allocation that does not fit will throw.
 */
export function reserve(memory: Memory, caller: string, floats: number) {
  try {
    memory.free(memory.alloc(floats, caller));
  } catch (error) {
    if (!(error instanceof HeadlightError) || error.code !== 'OUT_OF_MEMORY') throw error;
  }
}

/**
 * Quantizes consecutive rows of a weight, which begin with row `first`, into its packed form. shape: (out, in); first:
 * a multiple of eight; bytes: a multiple of eight rows, or all rows up to the last row of the weight.
 */
export function quantizeStored(
  memory: Memory,
  caller: string,
  storage: 'int8' | 'int4',
  packed: Tensor,
  shape: readonly number[],
  first: number,
  bytes: Uint8Array,
  type: StoredType,
) {
  const rows = bytes.length / BYTES[type] / shape[1];
  memory.frame(caller, (frame) =>
    quantizeRows(memory, caller, storage, packed, shape, frame.copyIn(bytes), type, first, rows),
  );
}

/**
 * Packs rows of a weight that is stored in blocks. The first call for each weight must have first = 0.
 * @param shape (out, in)
 * @param rows as toBlockRows returns them
 * @param first a multiple of eight
 * @param count a multiple of eight, or all rows up to the last row of the weight
 */
export function packBlocks(
  memory: Memory,
  caller: string,
  packed: Tensor,
  form: BlockForm,
  [out, inside]: readonly number[],
  rows: Uint8Array,
  first: number,
  count: number,
) {
  memory.frame(caller, (frame) => {
    const [described, copied] = [frame.copyIn(wordsOf(form)), frame.copyIn(rows)];
    memory.call('hl_blocks_pack', caller, packed, described, copied, first, count, out, inside);
  });
}
