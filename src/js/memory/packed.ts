// Weights that are not in float32: 16-bit floats, int8, and codes in blocks, by which the core multiplies and whose
// rows it decodes. PACKED has an entry for each kind.

import { STORED } from '../../../dist/abi/abi.js';
import type { BlockForm } from '../io/blockRows.ts';
import type { Memory } from './memory.ts';
import { pointerOf, Staged, type Tensor } from './tensor.ts';

export type StoredType = keyof typeof STORED;
export type PackedKind = 'F16' | 'BF16' | 'int8' | 'blocks';
/** tensor: two 16-bit floats per word, or the packed form of the core. bits: of the codes of blocks. */
export type Packed = { kind: PackedKind; tensor: Tensor; bits?: 4 | 8 };
/** (out, in) */
export type Shape = readonly number[];
/** storage: name in errors. rounds: products round their inputs, so that they have no gradients. */
export type Kind = {
  storage: string;
  rounds: boolean;
  /** y = x · weightᵀ + bias */
  multiply: (
    memory: Memory,
    caller: string,
    y: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | undefined,
    rows: number,
    shape: Shape,
  ) => void;
  /** writes rows of the weight to `to`, (labels, in) */
  loadRows: (
    memory: Memory,
    caller: string,
    to: Tensor | Staged,
    weight: Tensor,
    labels: ArrayLike<number>,
    shape: Shape,
  ) => void;
};

const halves = (type: 'F16' | 'BF16'): Kind => ({
  storage: '16-bit',
  rounds: false,
  multiply(memory, caller, y, x, weight, bias, rows, [out, inside]) {
    memory.call('hl_linear_stored', caller, y, x, weight, bias, STORED[type], rows, out, inside);
  },
  loadRows(memory, caller, to, weight, labels, [, width]) {
    const [start, from] = [pointerOf(to), pointerOf(weight)];
    for (let i = 0; i < labels.length; i++) {
      const row = new Staged(from + 2 * labels[i] * width);
      memory.call('hl_stored_load', caller, new Staged(start + 4 * i * width), row, STORED[type], width);
    }
  },
});

const rounding = (
  storage: string,
  linear: 'hl_linear_quantized' | 'hl_blocks_linear',
  rowsOf: 'hl_weight_rows' | 'hl_blocks_rows',
): Kind => ({
  storage,
  rounds: true,
  multiply(memory, caller, y, x, weight, bias, rows, [out, inside]) {
    memory.call(linear, caller, y, x, weight, bias, rows, out, inside);
  },
  loadRows(memory, caller, to, weight, labels, [out, inside]) {
    memory.frame(caller, (frame) => {
      memory.call(rowsOf, caller, to, weight, frame.copyIn(Int32Array.from(labels)), labels.length, out, inside);
    });
  },
});

export const PACKED: Record<PackedKind, Kind> = {
  F16: halves('F16'),
  BF16: halves('BF16'),
  int8: rounding('int8', 'hl_linear_quantized', 'hl_weight_rows'),
  blocks: rounding('4-bit or 8-bit', 'hl_blocks_linear', 'hl_blocks_rows'),
};

export const roundsInputs = ({ packed }: { packed?: Packed }) => packed !== undefined && PACKED[packed.kind].rounds;

/** Copies rows of a packed weight as float32. to: (labels, in). */
export const loadRows = (
  memory: Memory,
  caller: string,
  to: Tensor | Staged,
  { kind, tensor }: Packed,
  labels: ArrayLike<number>,
  shape: Shape,
) => PACKED[kind].loadRows(memory, caller, to, tensor, labels, shape);

const quantizedSize = (memory: Memory, caller: string, [out, inside]: Shape) =>
  memory.invoke('hl_weight_quantized_size', caller, out, inside);

const INT4: BlockForm = { bits: 4, length: 32, hasMinimums: false, hasByteInputs: true };

/** int8 if the length of a row is not divisible by that of a block. */
export const quantizedForm = (storage: 'int8' | 'int4', [, inside]: Shape) =>
  storage === 'int4' && inside % INT4.length !== 0 ? 'int8' : storage;

/** Returns true if a weight is already in the form that quantization would produce. */
export const isQuantizedAs = (form: 'int8' | 'int4', { kind, bits }: Packed) =>
  kind === QUANTIZED[form].kind && (form === 'int8' || bits === INT4.bits);

/** Forms to which the core quantizes: packed kind, function of the size in floats, export that packs. */
export const QUANTIZED = {
  int8: {
    kind: 'int8' as const,
    size: quantizedSize,
    pack: 'hl_weight_quantize_rows' as const,
  },
  int4: {
    kind: 'blocks' as const,
    size: (memory: Memory, caller: string, shape: Shape) => blocksSize(memory, caller, INT4, shape),
    pack: 'hl_blocks_quantize_rows' as const,
  },
};

/** Quantizes `count` rows from `first`, both multiples of eight, except for the last rows. */
export function quantizeRows(
  memory: Memory,
  caller: string,
  storage: keyof typeof QUANTIZED,
  quantized: Tensor,
  [out, inside]: Shape,
  rows: Tensor | Staged,
  type: StoredType,
  first: number,
  count: number,
) {
  memory.call(QUANTIZED[storage].pack, caller, quantized, rows, STORED[type], first, count, out, inside);
}

/** Makes products with a weight in blocks of 4 bits round their inputs to 8 bits instead of 16. */
export const useByteInputs = (memory: Memory, caller: string, packed: Tensor, [out, inside]: Shape) =>
  memory.call('hl_blocks_use_byte_inputs', caller, packed, out, inside);

/** Returns a layout of blocks in the form in which the core reads it. */
export const wordsOf = ({ bits, length, hasMinimums, hasByteInputs = false }: BlockForm) =>
  Int32Array.of(bits, length, Number(hasMinimums), Number(hasByteInputs));

/** Returns the size in floats of a weight in blocks. */
export const blocksSize = (memory: Memory, caller: string, form: BlockForm, [out, inside]: Shape) =>
  memory.frame(caller, (frame) => memory.invoke('hl_blocks_size', caller, frame.copyIn(wordsOf(form)), out, inside));
