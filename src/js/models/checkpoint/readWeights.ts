// Reads parameters in pieces. While one is converted and written, the next are read. int8 rows are rounded as they
// arrive; rows in 16 bits or in blocks keep their form.

import { HeadlightError } from '../../check/errors.ts';
import { elementCount } from '../../check/shape.ts';
import { type BlockForm, blockRowBytes, fromBlockRows } from '../../io/blockRows.ts';
import { decode, KINDS, type KnownDType } from '../../io/dtypes.ts';
import type { TensorRange } from '../../io/safetensors.ts';
import type { Memory } from '../../memory/memory.ts';
import {
  blocksSize,
  type Packed,
  type PackedKind,
  QUANTIZED,
  quantizedForm,
  quantizeRows,
  type StoredType,
} from '../../memory/packed.ts';
import { type Tensor, viewOf } from '../../memory/tensor.ts';
import type { TensorSource } from '../families/common.ts';
import { freeWeight, isProduct, type Weight } from '../weights.ts';
import { halvesOf, isStored, loadStored, packBlocks, quantizeStored, reserve, withStored } from './copyStored.ts';
import type { Folder } from './files.ts';
import { readStreams } from './readStreams.ts';
import { type Layout, layoutOf, type Split } from './tensorLayout.ts';

/**
 * A tensor in one of the files. form: set if its rows are in blocks; `dtype` is then the type of the decoded values.
 */
export type Stored = TensorRange & { file: string; form?: BlockForm };
/** A parameter and the tensors that store it, which are several if it is stacked. */
export type Found = { name: string; shape: readonly number[]; source: TensorSource; stored: Stored[]; split: Split };
/** writes rows first..last−1 */
export type Write = (bytes: Uint8Array, first: number, last: number) => void;
/** Rows that are read at once. writes: functions that write the rows to all parameters that are stored in them. */
export type Piece = {
  stored: Stored;
  begin: number;
  end: number;
  first: number;
  last: number;
  name: string;
  writes: Write[];
};

/** Bytes of a piece. Smaller pieces have more overhead, larger pieces do not fit into the processor's cache. */
const CHUNK = 2 ** 20;
/** Number of pieces that are read while another piece is written. */
const AHEAD = 2;
/** Number of rows that are packed together in int8 weights. */
const PANEL = 8;
/** The largest gap between two allocations, in floats. */
const MAX_GAP = 32;
const CALLER = 'openModel';

const truncated = (file: string, end: number) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file} ends before byte ${end}: it is truncated`, { parameter: file });

/** Allocates everything first, so that a model that does not fit is refused at once. */
export async function readWeights(
  memory: Memory,
  folder: Folder,
  found: Found[],
  {
    storage,
    signal,
    onProgress,
  }: {
    storage: Storage;
    signal?: AbortSignal;
    onProgress?: (progress: { read: number; total: number; name: string }) => unknown;
  },
): Promise<Map<string, Weight>> {
  const weights: Map<string, Weight> = new Map();
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

export type Storage = 'float32' | 'int8' | 'int4' | 'stored';
/** of one weight in memory */
export type Form = 'F32' | PackedKind | 'int4';

function formOf({ name, shape, source, stored, split }: Found, storage: Storage): Form {
  if (storage === 'float32' || !isProduct(name, shape)) return 'F32';
  const [{ dtype, form }] = stored;
  const same = stored.every((other) => other.dtype === dtype) && !source.offset && elementCount(shape) > 0;
  const isWhole = same && stored.length === 1 && layoutOf(source, stored[0].shape, shape, split).contiguous;
  if (isWhole && form) return 'blocks';
  if (storage !== 'stored') return quantizedForm(storage, shape);
  return same && (dtype === 'F16' || dtype === 'BF16') ? (dtype as Form) : 'F32';
}

const isQuantized = (form: Form): form is 'int8' | 'int4' => form === 'int8' || form === 'int4';

/** Returns the size of a parameter in floats. */
function sizeOf(memory: Memory, { shape, stored }: Found, form: Form) {
  if (isQuantized(form)) return QUANTIZED[form].size(memory, CALLER, shape);
  if (form === 'blocks') return blocksSize(memory, CALLER, stored[0].form as BlockForm, shape);
  return Math.ceil(elementCount(shape) / (form === 'F32' ? 1 : 2));
}

export type Writer = { name: string; stored: Stored; layout: Layout; write: Write };

/** Adds a parameter to `weights`. Returns functions that write the rows of its tensors. */
function writersOf(memory: Memory, found: Found, form: Form, weights: Map<string, Weight>): Writer[] {
  const { name, shape, source, stored, split } = found;
  const stacked = source.form === 'stacked';
  const each = elementCount(shape) / stored.length;
  const layouts = stored.map((tensor) => layoutOf(source, tensor.shape, stacked ? [1, each] : shape, split));
  const weight: Weight = { shape: Object.freeze([...shape]) };
  weights.set(name, weight);
  const allocate = () => memory.unscoped(memory.empty([sizeOf(memory, found, form)], CALLER));
  const rounded = isQuantized(form) ? form : undefined;
  const kind = form === 'int4' ? 'blocks' : form;
  const bits = form === 'int4' ? 4 : stored[0]?.form?.bits;
  const packed = kind === 'F32' ? undefined : { kind, tensor: allocate(), ...(kind === 'blocks' && { bits }) };
  weight.packed = packed;
  const byRows = rounded && !stacked && layouts[0].contiguous && elementCount(shape) > 0;
  // Rows in another order are rounded when all have arrived.
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

function writeBlocks(
  memory: Memory,
  packed: Tensor,
  { shape, stored }: Found,
  rows: Uint8Array,
  first: number,
  count: number,
) {
  const form = stored[0].form as BlockForm;
  packBlocks(memory, CALLER, packed, form, shape, rows, first, count);
}

/** Converts rows to a type that the core reads. width: of a row. */
function readable(bytes: Uint8Array, { dtype, form }: Stored, width: number) {
  if (form) return [new Uint8Array(fromBlockRows(bytes, form, width).buffer), 'F32'] as const;
  if (isStored(dtype)) return [bytes, dtype] as const;
  const numbers = decode(CALLER, bytes, dtype as KnownDType);
  return [new Uint8Array(Float32Array.from(numbers as any).buffer), 'F32'] as const;
}

function writeFloats(
  memory: Memory,
  tensor: Tensor,
  offset: number,
  { contiguous, from, width, write }: Layout,
  bytes: Uint8Array,
  type: StoredType,
  first: number,
  last: number,
) {
  if (contiguous) return loadStored(memory, CALLER, tensor, offset + (first - from) * width, bytes, type);
  withStored(memory, CALLER, bytes, type, (rows) => write(viewOf(tensor).subarray(offset), rows, first, last));
}

function copyHalves(
  memory: Memory,
  name: string,
  { shape, packed }: Weight,
  offset: number,
  { contiguous, from, width, write }: Layout,
  bytes: Uint8Array,
  first: number,
  last: number,
) {
  const { kind, tensor } = packed as Packed;
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  const rows = new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
  if (kind === 'F16') checkFinite(name, rows);
  const target = halvesOf(memory, tensor, elementCount(shape)).subarray(offset);
  if (contiguous) target.set(rows, (first - from) * width);
  else write(target, rows, first, last);
}

/** Refuses float16 infinities and NaN, because the core cannot multiply by them. */
function checkFinite(name: string, numbers: Uint16Array) {
  let maxExponent = 0;
  for (let i = 0; i < numbers.length; i++) maxExponent = Math.max(maxExponent, numbers[i] & 0x7c00);
  if (maxExponent === 0x7c00)
    throw new HeadlightError(
      'FORMAT',
      `${CALLER}: numbers of ${name} are not finite, so they cannot stay in float16; use weights: 'float32'`,
      { parameter: name },
    );
}

function roundWhole(memory: Memory, storage: 'int8' | 'int4', weight: Weight, tensor: Tensor) {
  const { tensor: packed } = weight.packed as Packed;
  quantizeRows(memory, CALLER, storage, packed, weight.shape, tensor, 'F32', 0, weight.shape[0]);
  tensor.dispose();
  weight.tensor = undefined;
}

/** Pieces in the order of the files, so that a response contains many. Rows of several parameters are read once. */
function piecesOf(writers: Writer[]): Piece[] {
  const groups: Map<string, Writer[]> = new Map();
  for (const writer of writers) {
    const { stored, layout } = writer;
    const key = [stored.file, stored.begin, layout.from, layout.to, layout.width].join('/');
    const group = groups.get(key);
    if (group) group.push(writer);
    else groups.set(key, [writer]);
  }
  const files = [...new Set(writers.map(({ stored }) => stored.file))];
  const rank = new Map(files.map((file, i) => [file, i]));
  const fileOf = ([{ stored }]: Writer[]) => rank.get(stored.file) as number;
  const beginOf = ([{ stored, layout }]: Writer[]) => stored.begin + layout.from * rowBytesOf(stored, layout);
  return [...groups.values()].sort((a, b) => fileOf(a) - fileOf(b) || beginOf(a) - beginOf(b)).flatMap(cut);
}

function rowBytesOf({ dtype, form }: Stored, { width }: Layout) {
  return form ? blockRowBytes(form, width) : width * KINDS[dtype as KnownDType].bytes;
}

/** writers: of the same rows */
function cut(writers: Writer[]): Piece[] {
  const [{ stored, layout, name }] = writers;
  const rowBytes = rowBytesOf(stored, layout);
  const rows = Math.max(1, Math.floor(CHUNK / rowBytes / PANEL)) * PANEL;
  const writes = writers.map(({ write }) => write);
  const pieces: Piece[] = [];
  for (let first = layout.from; first < layout.to; first += rows) {
    const last = Math.min(first + rows, layout.to);
    const [begin, end] = [first, last].map((row) => stored.begin + row * rowBytes);
    pieces.push({ stored, begin, end, first, last, name, writes });
  }
  return pieces;
}

/** the bytes are valid until the next piece is requested */
async function* readAhead(folder: Folder, pieces: Piece[]): AsyncGenerator<[Piece, Uint8Array]> {
  const maxBytes = pieces.reduce((size, { begin, end }) => Math.max(size, end - begin), 0);
  const buffers = Array.from({ length: Math.min(AHEAD + 1, pieces.length) }, () => new Uint8Array(maxBytes));
  const started: { piece: Piece; bytes: Promise<Uint8Array> }[] = [];
  let next = 0;
  const start = () => {
    if (next === pieces.length) return;
    const piece = pieces[next];
    const { stored, begin, end } = piece;
    const bytes = folder.read(stored.file, begin, end, buffers[next % buffers.length].subarray(0, end - begin));
    // Thrown where the promise is awaited. If it never is, the failure must not be reported as unhandled.
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
    // The other reads are aborted, and may write to the buffers until they have ended.
    if (started.length > 0) await folder.close();
    await Promise.allSettled(started.map(({ bytes }) => bytes));
  }
}
