// Reads the parameters of a checkpoint, some megabytes at a time: the next ones while the last are written.
// Rows of a product that is to be int8 are rounded as they come; of one that is to stay in 16 bits they are copied.

import { HeadlightError } from '../../check/errors.js';
import { elementCount } from '../../check/shape.js';
import { decode, KINDS } from '../../io/dtypes.js';
import {
  halvesOf,
  isStored,
  loadStored,
  quantizedSize,
  quantizeStored,
  reserve,
  withStored,
} from '../../memory/stored.js';
import { viewOf } from '../../memory/tensor.js';
import { freeWeight, isProduct } from '../weights.js';
import { layoutOf } from './tensorLayout.js';

/** @import { KnownDType } from '../../io/dtypes.js' */
/** @import { TensorRange } from '../../io/safetensors.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Half } from '../../memory/stored.js' */
/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { TensorSource } from '../families/common.js' */
/** @import { Folder } from './files.js' */
/** @import { Weight } from '../weights.js' */
/** @import { Layout, Split } from './tensorLayout.js' */

/** @typedef {TensorRange & { file: string }} Stored a tensor in one of the files */
/**
 * A parameter and where it is: stacked, in several tensors.
 * @typedef {{ name: string, shape: readonly number[], source: TensorSource, stored: Stored[], split: Split }} Found
 */
/** @typedef {(bytes: Uint8Array, first: number, last: number) => void} Take rows of a stored tensor */
/**
 * Rows that are read at once, by as many parameters as need them.
 * @typedef {{ stored: Stored, begin: number, end: number, first: number, last: number, name: string, takes: Take[] }}
 *   Piece
 */

/** Bytes that are read at a time: of smaller ones more is lost between them, larger ones leave the cache. */
const CHUNK = 2 ** 20;
/** Pieces that are read while one is written. */
const AHEAD = 2;
/** Rows of a panel of int8 weights. */
const PANEL = 8;
/** Floats that may lie between two blocks of memory. */
const BETWEEN = 32;
const CALLER = 'openModel';

/** @param {string} file @param {number} end */
const truncated = (file, end) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file} ends before byte ${end}: it is truncated`, { parameter: file });

/**
 * All that it makes is made before the first byte is read: what does not fit is refused at once.
 * @param {Memory} memory
 * @param {Folder} folder
 * @param {Found[]} found
 * @param {{ kept: Kept, signal?: AbortSignal,
 *   onProgress?: (progress: { read: number, total: number, name: string }) => unknown }} how
 * @returns {Promise<Map<string, Weight>>}
 */
export async function readWeights(memory, folder, found, { kept, signal, onProgress }) {
  /** @type {Map<string, Weight>} */
  const weights = new Map();
  const sizes = found.map((entry) => sizeOf(memory, entry.shape, formOf(entry, kept)));
  try {
    reserve(
      memory,
      CALLER,
      sizes.reduce((sum, size) => sum + size + BETWEEN, 0),
    );
    const pieces = piecesOf(found.flatMap((entry) => takersOf(memory, entry, formOf(entry, kept), weights)));
    const total = pieces.reduce((sum, { begin, end }) => sum + end - begin, 0);
    let read = 0;
    for await (const [{ takes, first, last, name }, bytes] of readAhead(folder, pieces)) {
      signal?.throwIfAborted();
      memory.check(CALLER);
      for (const take of takes) take(bytes, first, last);
      read += bytes.length;
      await onProgress?.({ read, total, name });
    }
  } catch (error) {
    for (const weight of weights.values()) freeWeight(weight);
    throw error;
  }
  return weights;
}

/** @typedef {'float32' | 'int8' | 'stored'} Kept how weights are kept */
/** @typedef {'F32' | 'F16' | 'BF16' | 'int8'} Form of one of them */

/** @param {Found} found @param {Kept} kept @returns {Form} */
function formOf({ name, shape, source, stored }, kept) {
  if (kept === 'float32' || !isProduct(name, shape)) return 'F32';
  if (kept === 'int8') return 'int8';
  const [{ dtype }] = stored;
  const same = stored.every((other) => other.dtype === dtype) && !source.offset && elementCount(shape) > 0;
  return same && (dtype === 'F16' || dtype === 'BF16') ? /** @type {Form} */ (dtype) : 'F32';
}

/** Floats of a parameter. @param {Memory} memory @param {readonly number[]} shape @param {Form} form */
const sizeOf = (memory, shape, form) =>
  form === 'int8' ? quantizedSize(memory, CALLER, shape) : Math.ceil(elementCount(shape) / (form === 'F32' ? 1 : 2));

/** @typedef {{ name: string, stored: Stored, layout: Layout, take: Take }} Taker */

/**
 * Readers of the rows of a parameter's tensors.
 * @param {Memory} memory
 * @param {Found} found
 * @param {Form} form
 * @param {Map<string, Weight>} weights takes the parameter
 * @returns {Taker[]}
 */
function takersOf(memory, { name, shape, source, stored, split }, form, weights) {
  const stacked = source.form === 'stacked';
  const layouts = stored.map((tensor) => layoutOf(source, tensor.shape, stacked ? [1, shape[1]] : shape, split));
  /** @type {Weight} */
  const weight = { shape: Object.freeze([...shape]) };
  weights.set(name, weight);
  const room = () => memory.unscoped(memory.empty([sizeOf(memory, shape, form)], CALLER));
  const round = form === 'int8';
  if (round) weight.int8 = room();
  else if (form !== 'F32') weight.half = { tensor: room(), type: form };
  const byRows = round && !stacked && layouts[0].contiguous && elementCount(shape) > 0;
  // What is turned or split is rounded once all of it is there.
  const whole = () => (weight.tensor ??= memory.unscoped(memory.empty([...shape], CALLER)));
  if (form === 'F32') whole();
  let left = layouts.reduce((sum, { from, to }) => sum + to - from, 0);
  const finish = () => {
    if (left === 0 && round && !byRows) roundWhole(memory, weight, whole());
  };
  finish();
  return stored.map((tensor, i) => ({
    name,
    stored: tensor,
    layout: layouts[i],
    take(given, first, last) {
      const [bytes, type] = readable(given, tensor.dtype);
      const row = first - layouts[i].from;
      if (weight.half) copyHalves(memory, name, weight, stacked ? i * shape[1] : 0, layouts[i], bytes, first, last);
      else if (byRows) quantizeStored(memory, CALLER, /** @type {Tensor} */ (weight.int8), shape, row, bytes, type);
      else writeFloats(memory, whole(), stacked ? i * shape[1] : 0, layouts[i], bytes, type, first, last);
      left -= last - first;
      finish();
    },
  }));
}

/** The bytes as the core reads them. @param {Uint8Array} bytes @param {string} dtype */
function readable(bytes, dtype) {
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
 * @param {import('../../memory/stored.js').StoredType} type
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
function copyHalves(memory, name, { shape, half }, offset, { contiguous, from, width, write }, bytes, first, last) {
  const { type } = /** @type {Half} */ (half);
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  const rows = new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
  if (type === 'F16') checkFinite(name, rows);
  const target = halvesOf(memory, /** @type {Half} */ (half), elementCount(shape)).subarray(offset);
  if (contiguous) target.set(rows, (first - from) * width);
  else write(target, rows, first, last);
}

/** The core multiplies by no other float16. @param {string} name @param {Uint16Array} numbers */
function checkFinite(name, numbers) {
  let most = 0;
  for (let i = 0; i < numbers.length; i++) most = Math.max(most, numbers[i] & 0x7c00);
  if (most === 0x7c00)
    throw new HeadlightError(
      'FORMAT',
      `${CALLER}: numbers of ${name} are not finite, and cannot stay in float16; open it with weights: 'float32'`,
      { parameter: name },
    );
}

/** @param {Memory} memory @param {Weight} weight @param {Tensor} tensor */
function roundWhole(memory, weight, tensor) {
  memory.pack(CALLER, /** @type {Tensor} */ (weight.int8), tensor, true);
  tensor.dispose();
  weight.tensor = undefined;
}

/**
 * What is to be read, in order. Where several parameters are parts of the same rows, these are read once.
 * @param {Taker[]} takers
 * @returns {Piece[]}
 */
function piecesOf(takers) {
  /** @type {Map<string, Taker[]>} */
  const groups = new Map();
  for (const taker of takers) {
    const { stored, layout } = taker;
    const key = [stored.file, stored.begin, layout.from, layout.to, layout.width].join('/');
    const group = groups.get(key);
    if (group) group.push(taker);
    else groups.set(key, [taker]);
  }
  return [...groups.values()].flatMap(cut);
}

/** @param {Taker[]} takers of the same rows @returns {Piece[]} */
function cut(takers) {
  const [{ stored, layout, name }] = takers;
  const rowBytes = layout.width * KINDS[/** @type {KnownDType} */ (stored.dtype)].bytes;
  const rows = Math.max(1, Math.floor(CHUNK / rowBytes / PANEL)) * PANEL;
  const takes = takers.map(({ take }) => take);
  /** @type {Piece[]} */
  const pieces = [];
  for (let first = layout.from; first < layout.to; first += rows) {
    const last = Math.min(first + rows, layout.to);
    const [begin, end] = [first, last].map((row) => stored.begin + row * rowBytes);
    pieces.push({ stored, begin, end, first, last, name, takes });
  }
  return pieces;
}

/**
 * @param {Folder} folder
 * @param {Piece[]} pieces
 * @returns {AsyncGenerator<[Piece, Uint8Array]>} bytes that stay until the next are asked for
 */
async function* readAhead(folder, pieces) {
  const most = pieces.reduce((size, { begin, end }) => Math.max(size, end - begin), 0);
  const rooms = Array.from({ length: Math.min(AHEAD + 1, pieces.length) }, () => new Uint8Array(most));
  /** @type {{ piece: Piece, bytes: Promise<Uint8Array> }[]} */
  const started = [];
  let next = 0;
  const start = () => {
    if (next === pieces.length) return;
    const piece = pieces[next];
    const { stored, begin, end } = piece;
    const bytes = folder.read(stored.file, begin, end, rooms[next % rooms.length].subarray(0, end - begin));
    // Whoever waits for it is told; nobody may.
    bytes.catch(() => {});
    started.push({ piece, bytes });
    next++;
  };
  try {
    for (let i = 0; i < AHEAD; i++) start();
    for (let entry = started.shift(); entry; entry = started.shift()) {
      const { piece, bytes } = entry;
      const got = await bytes;
      if (got.length !== piece.end - piece.begin || piece.end > piece.stored.end)
        throw truncated(piece.stored.file, piece.end);
      start();
      yield [piece, got];
    }
  } finally {
    // After a failure the rest is not wanted, but the rooms belong to it until it has ended.
    if (started.length > 0) await folder.close();
    await Promise.allSettled(started.map(({ bytes }) => bytes));
  }
}
