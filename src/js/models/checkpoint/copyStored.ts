// Copies numbers in the formats of files into linear memory, where the core decodes or quantizes them.

import { STORED } from '../../../../dist/abi/abi.js';
import { HeadlightError } from '../../check/errors.ts';
import type { BlockForm } from '../../io/blockRows.ts';
import type { Memory } from '../../memory/memory.ts';
import { quantizeRows, type StoredType, wordsOf } from '../../memory/packed.ts';
import { pointerOf, Staged, type Tensor } from '../../memory/tensor.ts';

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
 * Grows memory once for several allocations: each growth takes 1–2 ms. Does not throw; an allocation that does not fit
 * will.
 */
export function reserve(memory: Memory, caller: string, floats: number) {
  try {
    memory.free(memory.alloc(floats, caller));
  } catch (error) {
    if (!(error instanceof HeadlightError) || error.code !== 'OUT_OF_MEMORY') throw error;
  }
}

/** Quantizes rows from `first` of a weight (out, in) into its packed form, in multiples of eight, except at the end. */
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
 * Packs rows of a weight (out, in) in blocks. rows: from toBlockRows; first: 0 in the first call of a weight; first and
 * count: multiples of eight, except at the end.
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
