// GGUF, the format of llama.cpp. All counts, lengths and offsets are compared with the size of the file before anything
// is allocated. The list of tensors can be read without the data, for files that are read in ranges.

import { quote } from '../check/quote.ts';
import { allocate, countElements, formatError, readBytes } from './bytes.ts';
import { GgufCursor, type GgufValue, MoreBytes } from './ggufCursor.ts';
import { DECODED_TYPES, decodedType, dequantize, GGUF_TYPES } from './ggufTypes.ts';
import { identify } from './identify.ts';

/**
 * type: such as 'Q4_K', or 'type 99' for an unknown type, whose end equals begin. shape: the last size is the width of
 * a row.
 */
export type GgufRange = { type: string; shape: number[]; begin: number; end: number };
export type GgufHeader = {
  /** 2 or 3 */
  version: number;
  metadata: Record<string, GgufValue>;
  tensors: Map<string, GgufRange>;
};
export type GgufTensor = {
  /** such as 'Q4_K' */
  type: string;
  /** sizes; the last is the width of a row */
  shape: number[];
  /** returns the dequantized numbers; throws a FORMAT error if the type is not decoded */
  data: () => Float32Array;
};
export type AsyncGgufTensor = {
  /** such as 'Q4_K' */
  type: string;
  /** sizes; the last is the width of a row */
  shape: number[];
  /** reads and dequantizes the tensor */
  data: () => Promise<Float32Array>;
};
export type Gguf = { metadata: Record<string, GgufValue>; tensors: Record<string, GgufTensor> };
export type AsyncGguf = { metadata: Record<string, GgufValue>; tensors: Record<string, AsyncGgufTensor> };
/** A file that can be read in ranges. read: returns the bytes from begin to end, end not included. */
export type RangeReader = { size: number; read: (begin: number, end: number) => Promise<Uint8Array> | Uint8Array };

const CALLER = 'readGguf';
const MAGIC = 0x46554747;
const VERSIONS = [2, 3];
/** The first bytes of files in llama.cpp's earlier formats. */
const OLD = ['lmgg', 'fmgg', 'tjgg', 'algg'];
const DEFAULT_ALIGNMENT = 32;
const MAX_ALIGNMENT = 2 ** 20;
/** Maximum axes of a tensor, as in ggml. */
const MAX_AXES = 4;
const MAX_NAMES = 2 ** 20;
/** Minimum bytes of an entry of the metadata (a length, a kind and one byte) and of an entry of the list of tensors. */
const MIN_ENTRY = 13;
const MIN_TENSOR = 24;
/** Maximum bytes of the metadata and the list of tensors. The largest vocabularies take about 20 MB. */
const MAX_HEADER = 2 ** 27;
/** Bytes of the first read of a file that is read in ranges. */
const FIRST_BYTES = 2 ** 16;

/**
 * Reads metadata and tensors of a GGUF file. Integers above 2 ** 53 are BigInts. A Blob or a range reader is read in
 * ranges, and the results are promises.
 */
export function readGguf(source: ArrayBuffer | ArrayBufferView): Gguf;
export function readGguf(source: Blob | RangeReader): Promise<AsyncGguf>;
export function readGguf(source: ArrayBuffer | ArrayBufferView | Blob | RangeReader) {
  const reader = rangeReaderOf(source);
  if (reader) return readRanges(reader);
  const bytes = readBytes(CALLER, source);
  const { metadata, tensors } = parseGguf(CALLER, bytes, bytes.length);
  return {
    metadata,
    tensors: mapTensors(tensors, (name, range) => () => {
      const type = typeOf(CALLER, name, range);
      return dequantize(CALLER, bytes.subarray(range.begin, range.end), type);
    }),
  };
}

/** returns undefined for bytes */
function rangeReaderOf(source: unknown): RangeReader | undefined {
  if (typeof Blob !== 'undefined' && source instanceof Blob)
    return {
      size: source.size,
      read: async (begin, end) => new Uint8Array(await source.slice(begin, end).arrayBuffer()),
    };
  const reader = source as RangeReader;
  return reader !== null && typeof reader === 'object' && typeof reader.read === 'function' ? reader : undefined;
}

async function readRanges(reader: RangeReader): Promise<AsyncGguf> {
  const { size } = reader;
  if (!(Number.isSafeInteger(size) && size >= 0))
    throw formatError(CALLER, `the size of the file is ${quote(size)}, expected an integer from 0`, {
      parameter: 'size',
      got: size,
    });
  const { metadata, tensors } = await readGgufHeader(CALLER, size, async (begin, end) => reader.read(begin, end));
  return {
    metadata,
    tensors: mapTensors(tensors, (name, range) => async () => {
      const type = typeOf(CALLER, name, range);
      const bytes = await reader.read(range.begin, range.end);
      if (bytes.length !== range.end - range.begin)
        throw formatError(CALLER, `the file ends within tensor ${quote(name)}: it is truncated`, { parameter: name });
      return dequantize(CALLER, bytes, type);
    }),
  };
}

function mapTensors<D>(
  tensors: Map<string, GgufRange>,
  data: (name: string, range: GgufRange) => D,
): Record<string, { type: string; shape: number[]; data: D }> {
  const mapped: Record<string, { type: string; shape: number[]; data: D }> = Object.create(null);
  for (const [name, range] of tensors)
    mapped[name] = { type: range.type, shape: [...range.shape], data: data(name, range) };
  return mapped;
}

export function typeOf(caller: string, name: string, { type }: GgufRange) {
  const found = decodedType(type);
  if (found) return found;
  const known = DECODED_TYPES.join(', ');
  throw formatError(caller, `tensor ${quote(name)} has ${quoteType(type)}, which is not decoded, only ${known}`, {
    parameter: name,
    expected: DECODED_TYPES,
    got: type,
  });
}

const quoteType = (type: string) => (type.startsWith('type ') ? type : `type ${type}`);

/** size: Infinity if unknown; read: returns fewer bytes if the file ends earlier */
export async function readGgufHeader(
  caller: string,
  size: number,
  read: (begin: number, end: number) => Promise<Uint8Array>,
): Promise<GgufHeader> {
  let bytes = await read(0, Math.min(FIRST_BYTES, size));
  for (;;) {
    try {
      return parseGguf(caller, bytes, size);
    } catch (error) {
      if (!(error instanceof MoreBytes)) throw error;
      // Each attempt reads at least twice as many bytes, so that the total time is linear in the size of the header.
      const end = Math.min(Math.max(error.end, 2 * bytes.length), size);
      const more = await read(bytes.length, end);
      if (more.length < Math.min(error.end, end) - bytes.length) {
        const got = bytes.length + more.length;
        throw formatError(caller, `the file ends at byte ${got}, in its header: it is truncated`, { got });
      }
      bytes = join(caller, bytes, more);
    }
  }
}

function join(caller: string, start: Uint8Array, more: Uint8Array) {
  const length = start.length + more.length;
  const all = allocate(caller, length, () => new Uint8Array(length));
  all.set(start);
  all.set(more, start.length);
  return all;
}

/** bytes: the file or its beginning; size: Infinity if unknown. Throws MoreBytes if the header is longer. */
function parseGguf(caller: string, bytes: Uint8Array, size: number): GgufHeader {
  const cursor = new GgufCursor(caller, bytes, size, MAX_HEADER);
  const version = readVersion(cursor);
  const tensorCount = readCount(cursor, 'tensors', MIN_TENSOR);
  const entryCount = readCount(cursor, 'metadata values', MIN_ENTRY);
  const metadata: Record<string, GgufValue> = Object.create(null);
  for (let i = 0; i < entryCount; i++) {
    cursor.where = `the key of metadata entry ${i}`;
    const key = cursor.name();
    cursor.within(`metadata ${quote(key)}`, key);
    if (key in metadata) throw cursor.fail('is in the file twice');
    metadata[key] = cursor.value();
  }
  const alignment = readAlignment(cursor, metadata);
  const tensors: Map<string, GgufRange> = new Map();
  for (let i = 0; i < tensorCount; i++) {
    cursor.within(`the name of tensor ${i}`);
    const name = cursor.name();
    cursor.within(`tensor ${quote(name)}`, name);
    if (tensors.has(name)) throw cursor.fail('is in the file twice');
    tensors.set(name, readTensor(cursor, alignment));
  }
  locate(cursor, tensors, Math.ceil(cursor.at / alignment) * alignment);
  return { version, metadata, tensors };
}

function readVersion(cursor: GgufCursor) {
  const { bytes, caller } = cursor;
  cursor.within('the header');
  if (cursor.size < 4 || cursor.u32() !== MAGIC) throw notGguf(caller, bytes);
  const version = cursor.u32();
  if (VERSIONS.includes(version)) return version;
  // The version with its bytes in reverse order, to recognize a big-endian file.
  const reversed = new DataView(bytes.buffer, bytes.byteOffset + 4, 4).getUint32(0, false);
  const text = VERSIONS.includes(reversed)
    ? 'the file is big-endian, expected a little-endian file'
    : `the file has version ${version} of GGUF, expected ${VERSIONS.join(' or ')}`;
  throw formatError(caller, text, { parameter: 'version', expected: VERSIONS, got: version });
}

function notGguf(caller: string, bytes: Uint8Array) {
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  const kind = OLD.includes(start) ? 'a GGML file, older than GGUF' : identify(bytes);
  const expected = 'a GGUF file';
  const text = kind
    ? `this is ${kind}, expected ${expected}`
    : `the file does not begin with GGUF, expected ${expected}`;
  return formatError(caller, text, { parameter: 'bytes', expected, got: kind });
}

/** Reads a number of entries. Throws if that many entries, of at least `min` bytes each, do not fit in the file. */
function readCount(cursor: GgufCursor, what: string, min: number) {
  const count = cursor.u64();
  const most = Math.min(MAX_NAMES, Math.floor((cursor.size - cursor.at) / min));
  if (count <= most) return Number(count);
  throw cursor.fail(`claims ${count} ${what}, expected at most ${most} in a file of ${cursor.size} bytes`, most, count);
}

function readAlignment(cursor: GgufCursor, metadata: Record<string, GgufValue>) {
  const key = 'general.alignment';
  const value = metadata[key] ?? DEFAULT_ALIGNMENT;
  if (typeof value === 'number' && value >= 1 && value <= MAX_ALIGNMENT && Number.isInteger(Math.log2(value)))
    return value;
  const expected = `a power of two of at most ${MAX_ALIGNMENT}`;
  throw formatError(cursor.caller, `metadata ${quote(key)} is ${quote(value)}, expected ${expected}`, {
    parameter: key,
    expected,
    got: value,
  });
}

/** Reads an entry of the list of tensors. begin and end are relative to the beginning of the data. */
function readTensor(cursor: GgufCursor, alignment: number): GgufRange {
  const axes = cursor.u32();
  if (axes > MAX_AXES) throw cursor.fail(`has ${axes} axes, expected at most ${MAX_AXES}`, MAX_AXES, axes);
  const sizes = Array.from({ length: axes }, () => cursor.u64());
  const shape = sizes.map(Number).reverse();
  const count = countElements(shape);
  if (!shape.every(Number.isSafeInteger) || !Number.isSafeInteger(count))
    throw cursor.fail(`has shape ${quote(shape)}, expected at most 2 ** 53 elements`, undefined, shape);
  const id = cursor.u32();
  const begin = Number(cursor.u64());
  const type = GGUF_TYPES.get(id) ?? { name: `type ${id}`, values: 1, bytes: 0 };
  const width = shape.at(-1) ?? 1;
  if (width % type.values !== 0)
    throw cursor.fail(
      `has rows of ${width} elements, expected a multiple of ${type.values} for ${type.name}`,
      type.values,
      width,
    );
  if (!Number.isSafeInteger(begin) || begin % alignment !== 0)
    throw cursor.fail(`begins at byte ${begin}, expected a multiple of ${alignment}`, alignment, begin);
  return { type: type.name, shape, begin, end: begin + (count / type.values) * type.bytes };
}

/** Makes begin and end absolute. Checks that tensors are in the file and do not overlap. start: of the data. */
function locate(cursor: GgufCursor, tensors: Map<string, GgufRange>, start: number) {
  let [end, previous] = [start, ''];
  for (const [name, range] of [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    cursor.within(`tensor ${quote(name)}`, name);
    range.begin += start;
    range.end += start;
    if (range.end > cursor.size)
      throw cursor.fail(
        `ends at byte ${range.end}, but the file has ${cursor.size}: it is truncated`,
        cursor.size,
        range.end,
      );
    if (range.begin < end && range.end > range.begin)
      throw cursor.fail(`begins at byte ${range.begin}, within tensor ${quote(previous)}`, end, range.begin);
    if (range.end > end) [end, previous] = [range.end, name];
  }
}
