// Functions for weights that are not in float32: 16-bit floats, int8, and codes in blocks. The core multiplies by such
// weights and decodes their rows. PACKED has an entry for each kind.

import { STORED } from '../../../dist/abi/abi.js';
import { pointerOf, Staged } from './tensor.js';

/** @import { BlockForm } from '../io/blockRows.js' */
/** @import { Memory } from './memory.js' */
/** @import { Tensor } from './tensor.js' */

/** @typedef {keyof typeof STORED} StoredType */
/** @typedef {'F16' | 'BF16' | 'int8' | 'blocks'} PackedKind */
/**
 * A weight that is not in float32. tensor: two 16-bit floats per word, or the packed form of the core. bits: number of
 * bits of the codes of blocks.
 * @typedef {{ kind: PackedKind, tensor: Tensor, bits?: 4 | 8 }} Packed
 */
/** @typedef {readonly number[]} Shape (out, in) */
/**
 * Functions for a kind. storage: name of the kind in error messages. rounds: true if products round their inputs, so
 * that they have no gradients.
 * @typedef {object} Kind
 * @property {string} storage
 * @property {boolean} rounds
 * @property {(memory: Memory, caller: string, y: Tensor, x: Tensor, weight: Tensor, bias: Tensor | undefined,
 *   rows: number, shape: Shape) => void} multiply y = x · weightᵀ + bias
 * @property {(memory: Memory, caller: string, to: Tensor | Staged, weight: Tensor, labels: ArrayLike<number>, shape:
 *   Shape) => void} loadRows writes rows of the weight to `to`, (labels, in)
 */

/** @param {'F16' | 'BF16'} type @returns {Kind} */
const halves = (type) => ({
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

/**
 * @param {string} storage
 * @param {'hl_linear_quantized' | 'hl_blocks_linear'} linear
 * @param {'hl_weight_rows' | 'hl_blocks_rows'} rowsOf
 * @returns {Kind}
 */
const rounding = (storage, linear, rowsOf) => ({
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

/** @type {Record<PackedKind, Kind>} */
export const PACKED = {
  F16: halves('F16'),
  BF16: halves('BF16'),
  int8: rounding('int8', 'hl_linear_quantized', 'hl_weight_rows'),
  blocks: rounding('4-bit or 8-bit', 'hl_blocks_linear', 'hl_blocks_rows'),
};

/** Returns true if products with this weight round their inputs. @param {{ packed?: Packed }} weight */
export const roundsInputs = ({ packed }) => packed !== undefined && PACKED[packed.kind].rounds;

/**
 * Copies rows of a packed weight as float32.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor | Staged} to (labels, in)
 * @param {Packed} packed
 * @param {ArrayLike<number>} labels
 * @param {Shape} shape
 */
export const loadRows = (memory, caller, to, { kind, tensor }, labels, shape) =>
  PACKED[kind].loadRows(memory, caller, to, tensor, labels, shape);

/** @param {Memory} memory @param {string} caller @param {Shape} shape */
const quantizedSize = (memory, caller, [out, inside]) => memory.invoke('hl_weight_quantized_size', caller, out, inside);

/** The layout of blocks for int4. @type {BlockForm} */
const INT4 = { bits: 4, length: 32, hasMinimums: false, hasByteInputs: true };

/**
 * Returns the form in which a weight is quantized. The form is int8 if the length of a row is not divisible by the
 * length of a block.
 * @param {'int8' | 'int4'} storage
 * @param {Shape} shape
 */
export const quantizedForm = (storage, [, inside]) =>
  storage === 'int4' && inside % INT4.length !== 0 ? 'int8' : storage;

/**
 * Returns true if a weight is already in the form that quantization would produce.
 * @param {'int8' | 'int4'} form
 * @param {Packed} packed
 */
export const isQuantizedAs = (form, { kind, bits }) =>
  kind === QUANTIZED[form].kind && (form === 'int8' || bits === INT4.bits);

/**
 * The forms to which the core can quantize weights: their packed kind, the function of their size in floats, and the
 * export that packs them.
 */
export const QUANTIZED = {
  int8: {
    kind: /** @type {const} */ ('int8'),
    size: quantizedSize,
    pack: /** @type {const} */ ('hl_weight_quantize_rows'),
  },
  int4: {
    kind: /** @type {const} */ ('blocks'),
    size: (/** @type {Memory} */ memory, /** @type {string} */ caller, /** @type {Shape} */ shape) =>
      blocksSize(memory, caller, INT4, shape),
    pack: /** @type {const} */ ('hl_blocks_quantize_rows'),
  },
};

/**
 * Quantizes rows of a weight.
 * @param {Memory} memory
 * @param {string} caller
 * @param {keyof typeof QUANTIZED} storage
 * @param {Tensor} quantized
 * @param {Shape} shape
 * @param {Tensor | Staged} rows
 * @param {StoredType} type
 * @param {number} first first row, a multiple of eight
 * @param {number} count number of rows, a multiple of eight, except for the last rows
 */
export function quantizeRows(memory, caller, storage, quantized, [out, inside], rows, type, first, count) {
  memory.call(QUANTIZED[storage].pack, caller, quantized, rows, STORED[type], first, count, out, inside);
}

/**
 * Makes products with a weight in blocks of 4 bits round their inputs to 8 bits instead of 16.
 * @param {Memory} memory
 * @param {string} caller
 * @param {Tensor} packed
 * @param {Shape} shape
 */
export const useByteInputs = (memory, caller, packed, [out, inside]) =>
  memory.call('hl_blocks_use_byte_inputs', caller, packed, out, inside);

/** Returns a layout of blocks in the form in which the core reads it. @param {BlockForm} form */
export const wordsOf = ({ bits, length, hasMinimums, hasByteInputs = false }) =>
  Int32Array.of(bits, length, Number(hasMinimums), Number(hasByteInputs));

/**
 * Returns the size in floats of a weight in blocks.
 * @param {Memory} memory
 * @param {string} caller
 * @param {BlockForm} form
 * @param {Shape} shape
 */
export const blocksSize = (memory, caller, form, [out, inside]) =>
  memory.frame(caller, (frame) => memory.invoke('hl_blocks_size', caller, frame.copyIn(wordsOf(form)), out, inside));
