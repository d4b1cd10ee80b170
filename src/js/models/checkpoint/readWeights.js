// Reads the parameters of a checkpoint in pieces. While a piece is converted and written, the next pieces are read.
// Rows of an int8 weight are rounded as they arrive; rows in 16 bits or in blocks keep their form.

import { HeadlightError } from '../../check/errors.js';
import { elementCount } from '../../check/shape.js';
import { blockRowBytes, fromBlockRows } from '../../io/blockRows.js';
import { decode, KINDS } from '../../io/dtypes.js';
import { blocksSize, QUANTIZED, quantizedForm, quantizeRows } from '../../memory/packed.js';
import { viewOf } from '../../memory/tensor.js';
import { freeWeight, isProduct } from '../weights.js';
import { halvesOf, isStored, loadStored, packBlocks, quantizeStored, reserve, withStored } from './copyStored.js';
import { readStreams } from './readStreams.js';
import { layoutOf } from './tensorLayout.js';

/** @import { BlockForm } from '../../io/blockRows.js' */
/** @import { KnownDType } from '../../io/dtypes.js' */
/** @import { TensorRange } from '../../io/safetensors.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Packed, PackedKind } from '../../memory/packed.js' */
/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { TensorSource } from '../families/common.js' */
/** @import { Folder } from './files.js' */
/** @import { Weight } from '../weights.js' */
/** @import { Layout, Split } from './tensorLayout.js' */

/**
 * A tensor in one of the files. form: set if its rows are in blocks; `dtype` is then the type of the decoded values.
 * @typedef {TensorRange & { file: string, form?: BlockForm }} Stored
 */
/**
 * A parameter and the tensors that store it, which are several if it is stacked.
 * @typedef {{ name: string, shape: readonly number[], source: TensorSource, stored: Stored[], split: Split }} Found
 */
/** @typedef {(bytes: Uint8Array, first: number, last: number) => void} Write writes rows first..last−1 */
/**
 * Rows that are read at once. writes: functions that write the rows to all parameters that are stored in them.
 * @typedef {{ stored: Stored, begin: number, end: number, first: number, last: number, name: string, writes: Write[] }}
 *   Piece
 */

/** Bytes of a piece. Smaller pieces have more overhead, larger pieces do not fit into the processor's cache. */
const CHUNK = 2 ** 20;
/** Number of pieces that are read while another piece is written. */
const AHEAD = 2;
/** Number of rows that are packed together in int8 weights. */
const PANEL = 8;
/** The largest gap between two allocations, in floats. */
const MAX_GAP = 32;
const CALLER = 'openModel';

/** @param {string} file @param {number} end */
const truncated = (file, end) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file} ends before byte ${end}: it is truncated`, { parameter: file });

/**
 * Reads the weights. Allocates everything before it reads the first byte, so that a model that does not fit is refused
 * at once.
 * @param {Memory} memory
 * @param {Folder} folder
 * @param {Found[]} found
 * @param {{ storage: Storage, signal?: AbortSignal,
 *   onProgress?: (progress: { read: number, total: number, name: string }) => unknown }} options
 * @returns {Promise<Map<string, Weight>>}
 */
export async function readWeights(memory, folder, found, { storage, signal, onProgress }) {
  /** @type {Map<string, Weight>} */
  const weights = new Map();
  const sizes = found.map((entry) => sizeOf(memory, entry, formOf(entry, storage)));
  try {
    reserve(
      memory,
      CALLER,
      sizes.reduce((sum, size) => sum + size + MAX_GAP, 0),
    );
    const pieces = piecesOf(found.flatMap((entry) => writersOf(memory, entry, formOf(entry, storage), weights)));
    await folder.plan?.(pieces.map(({ stored: { file }, begin, end }) => ({ file, begin, end })));
    const total = pieces.reduce((sum, { begin, end }) => sum + end - begin, 0);
    let read = 0;
    const reads = folder.stream ? readStreams(folder.stream, pieces) : readAhead(folder, pieces);
    for await (const [{ writes, first, last, name, stored, end, begin }, bytes] of reads) {
      if (bytes.length !== end - begin || end > stored.end) throw truncated(stored.file, end);
      signal?.throwIfAborted();
      memory.check(CALLER);
      for (const write of writes) write(bytes, first, last);
      read += bytes.length;
      await onProgress?.({ read, total, name });
    }
  } catch (error) {
    for (const weight of weights.values()) freeWeight(weight);
    throw error;
  }
  return weights;
}

/** @typedef {'float32' | 'int8' | 'int4' | 'stored'} Storage of the model's weights */
/** @typedef {'F32' | PackedKind | 'int4'} Form of one weight in memory */

/** @param {Found} found @param {Storage} storage @returns {Form} */
function formOf({ name, shape, source, stored, split }, storage) {
  if (storage === 'float32' || !isProduct(name, shape)) return 'F32';
  const [{ dtype, form }] = stored;
  const same = stored.every((other) => other.dtype === dtype) && !source.offset && elementCount(shape) > 0;
  const isWhole = same && stored.length === 1 && layoutOf(source, stored[0].shape, shape, split).contiguous;
  if (isWhole && form) return 'blocks';
  if (storage !== 'stored') return quantizedForm(storage, shape);
  return same && (dtype === 'F16' || dtype === 'BF16') ? /** @type {Form} */ (dtype) : 'F32';
}

/** True if the weight is rounded as it is read. @param {Form} form @returns {form is 'int8' | 'int4'} */
const isQuantized = (form) => form === 'int8' || form === 'int4';

/** Returns the size of a parameter in floats. @param {Memory} memory @param {Found} found @param {Form} form */
function sizeOf(memory, { shape, stored }, form) {
  if (isQuantized(form)) return QUANTIZED[form].size(memory, CALLER, shape);
  if (form === 'blocks') return blocksSize(memory, CALLER, /** @type {BlockForm} */ (stored[0].form), shape);
  return Math.ceil(elementCount(shape) / (form === 'F32' ? 1 : 2));
}

/** @typedef {{ name: string, stored: Stored, layout: Layout, write: Write }} Writer */

/**
 * Allocates a parameter. Returns functions that write the rows of its tensors to it.
 * @param {Memory} memory
 * @param {Found} found
 * @param {Form} form
 * @param {Map<string, Weight>} weights map to which the parameter is added
 * @returns {Writer[]}
 */
function writersOf(memory, found, form, weights) {
  const { name, shape, source, stored, split } = found;
  const stacked = source.form === 'stacked';
  const each = elementCount(shape) / stored.length;
  const layouts = stored.map((tensor) => layoutOf(source, tensor.shape, stacked ? [1, each] : shape, split));
  /** @type {Weight} */
  const weight = { shape: Object.freeze([...shape]) };
  weights.set(name, weight);
  const allocate = () => memory.unscoped(memory.empty([sizeOf(memory, found, form)], CALLER));
  const rounded = isQuantized(form) ? form : undefined;
  const kind = form === 'int4' ? 'blocks' : form;
  const bits = form === 'int4' ? 4 : stored[0]?.form?.bits;
  const packed = kind === 'F32' ? undefined : { kind, tensor: allocate(), ...(kind === 'blocks' && { bits }) };
  weight.packed = packed;
  const byRows = rounded && !stacked && layouts[0].contiguous && elementCount(shape) > 0;
  // If the rows of the weight do not arrive in order, the weight is rounded when all rows have arrived.
  const whole = () => (weight.tensor ??= memory.unscoped(memory.empty([...shape], CALLER)));
  if (form === 'F32') whole();
  let left = layouts.reduce((sum, { from, to }) => sum + to - from, 0);
  const finish = () => {
    if (left === 0 && rounded && !byRows) roundWhole(memory, rounded, weight, whole());
  };
  finish();
  return stored.map((tensor, i) => ({
    name,
    stored: tensor,
    layout: layouts[i],
    write(given, first, last) {
      const row = first - layouts[i].from;
      if (form === 'blocks' && packed) writeBlocks(memory, packed.tensor, found, given, row, last - first);
      else {
        const [bytes, type] = readable(given, tensor, layouts[i].width);
        const offset = stacked ? i * each : 0;
        if (packed && !rounded) copyHalves(memory, name, weight, offset, layouts[i], bytes, first, last);
        else if (byRows && packed) quantizeStored(memory, CALLER, rounded, packed.tensor, shape, row, bytes, type);
        else writeFloats(memory, whole(), offset, layouts[i], bytes, type, first, last);
      }
      left -= last - first;
      finish();
    },
  }));
}

/**
 * @param {Memory} memory
 * @param {Tensor} packed
 * @param {Found} found
 * @param {Uint8Array} rows
 * @param {number} first
 * @param {number} count
 */
function writeBlocks(memory, packed, { shape, stored }, rows, first, count) {
  const form = /** @type {BlockForm} */ (stored[0].form);
  packBlocks(memory, CALLER, packed, form, shape, rows, first, count);
}

/**
 * Converts rows to a type that the core reads.
 * @param {Uint8Array} bytes
 * @param {Stored} stored
 * @param {number} width of a row
 */
function readable(bytes, { dtype, form }, width) {
  if (form) return /** @type {const} */ ([new Uint8Array(fromBlockRows(bytes, form, width).buffer), 'F32']);
  if (isStored(dtype)) return /** @type {const} */ ([bytes, dtype]);
  const numbers = decode(CALLER, bytes, /** @type {KnownDType} */ (dtype));
  return /** @type {const} */ ([new Uint8Array(Float32Array.from(/** @type {any} */ (numbers)).buffer), 'F32']);
}

/**
 * @param {Memory} memory
 * @param {Tensor} tensor
 * @param {number} offset
 * @param {Layout} layout
 * @param {Uint8Array} bytes
 * @param {import('../../memory/packed.js').StoredType} type
 * @param {number} first
 * @param {number} last
 */
function writeFloats(memory, tensor, offset, { contiguous, from, width, write }, bytes, type, first, last) {
  if (contiguous) return loadStored(memory, CALLER, tensor, offset + (first - from) * width, bytes, type);
  withStored(memory, CALLER, bytes, type, (rows) => write(viewOf(tensor).subarray(offset), rows, first, last));
}

/**
 * @param {Memory} memory
 * @param {string} name
 * @param {Weight} weight
 * @param {number} offset
 * @param {Layout} layout
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} last
 */
function copyHalves(memory, name, { shape, packed }, offset, { contiguous, from, width, write }, bytes, first, last) {
  const { kind, tensor } = /** @type {Packed} */ (packed);
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  const rows = new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
  if (kind === 'F16') checkFinite(name, rows);
  const target = halvesOf(memory, tensor, elementCount(shape)).subarray(offset);
  if (contiguous) target.set(rows, (first - from) * width);
  else write(target, rows, first, last);
}

/**
 * Refuses float16 infinities and NaN, because the core cannot multiply by them.
 * @param {string} name
 * @param {Uint16Array} numbers
 */
function checkFinite(name, numbers) {
  let maxExponent = 0;
  for (let i = 0; i < numbers.length; i++) maxExponent = Math.max(maxExponent, numbers[i] & 0x7c00);
  if (maxExponent === 0x7c00)
    throw new HeadlightError(
      'FORMAT',
      `${CALLER}: numbers of ${name} are not finite, so they cannot stay in float16; use weights: 'float32'`,
      { parameter: name },
    );
}

/** @param {Memory} memory @param {'int8' | 'int4'} storage @param {Weight} weight @param {Tensor} tensor */
function roundWhole(memory, storage, weight, tensor) {
  const { tensor: packed } = /** @type {Packed} */ (weight.packed);
  quantizeRows(memory, CALLER, storage, packed, weight.shape, tensor, 'F32', 0, weight.shape[0]);
  tensor.dispose();
  weight.tensor = undefined;
}

/**
 * Returns the pieces in the order of the files, so that one response of a server contains many of them. Rows that
 * contain parts of several parameters are read once.
 * @param {Writer[]} writers
 * @returns {Piece[]}
 */
function piecesOf(writers) {
  /** @type {Map<string, Writer[]>} */
  const groups = new Map();
  for (const writer of writers) {
    const { stored, layout } = writer;
    const key = [stored.file, stored.begin, layout.from, layout.to, layout.width].join('/');
    const group = groups.get(key);
    if (group) group.push(writer);
    else groups.set(key, [writer]);
  }
  const files = [...new Set(writers.map(({ stored }) => stored.file))];
  const rank = new Map(files.map((file, i) => [file, i]));
  const fileOf = (/** @type {Writer[]} */ [{ stored }]) => /** @type {number} */ (rank.get(stored.file));
  const beginOf = (/** @type {Writer[]} */ [{ stored, layout }]) =>
    stored.begin + layout.from * rowBytesOf(stored, layout);
  return [...groups.values()].sort((a, b) => fileOf(a) - fileOf(b) || beginOf(a) - beginOf(b)).flatMap(cut);
}

/** @param {Stored} stored @param {Layout} layout */
function rowBytesOf({ dtype, form }, { width }) {
  return form ? blockRowBytes(form, width) : width * KINDS[/** @type {KnownDType} */ (dtype)].bytes;
}

/** @param {Writer[]} writers of the same rows @returns {Piece[]} */
function cut(writers) {
  const [{ stored, layout, name }] = writers;
  const rowBytes = rowBytesOf(stored, layout);
  const rows = Math.max(1, Math.floor(CHUNK / rowBytes / PANEL)) * PANEL;
  const writes = writers.map(({ write }) => write);
  /** @type {Piece[]} */
  const pieces = [];
  for (let first = layout.from; first < layout.to; first += rows) {
    const last = Math.min(first + rows, layout.to);
    const [begin, end] = [first, last].map((row) => stored.begin + row * rowBytes);
    pieces.push({ stored, begin, end, first, last, name, writes });
  }
  return pieces;
}

/**
 * @param {Folder} folder
 * @param {Piece[]} pieces
 * @returns {AsyncGenerator<[Piece, Uint8Array]>} the bytes are valid until the next piece is requested
 */
async function* readAhead(folder, pieces) {
  const maxBytes = pieces.reduce((size, { begin, end }) => Math.max(size, end - begin), 0);
  const buffers = Array.from({ length: Math.min(AHEAD + 1, pieces.length) }, () => new Uint8Array(maxBytes));
  /** @type {{ piece: Piece, bytes: Promise<Uint8Array> }[]} */
  const started = [];
  let next = 0;
  const start = () => {
    if (next === pieces.length) return;
    const piece = pieces[next];
    const { stored, begin, end } = piece;
    const bytes = folder.read(stored.file, begin, end, buffers[next % buffers.length].subarray(0, end - begin));
    // A failure is thrown where the promise is awaited. If it is never awaited, the failure must not be reported as
    // unhandled.
    bytes.catch(() => {});
    started.push({ piece, bytes });
    next++;
  };
  try {
    for (let i = 0; i < AHEAD; i++) start();
    for (let entry = started.shift(); entry; entry = started.shift()) {
      const { piece, bytes } = entry;
      const got = await bytes;
      start();
      yield [piece, got];
    }
  } finally {
    // After a failure the other reads are aborted. They may write to the buffers until they have ended.
    if (started.length > 0) await folder.close();
    await Promise.allSettled(started.map(({ bytes }) => bytes));
  }
}
