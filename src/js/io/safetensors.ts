// Reads and writes safetensors files. The header can be read without the data, for files that are read in ranges. All
// sizes in the file are checked before memory is allocated.

import { argumentError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';
import { A_SHAPE, allocate, countElements, formatError, isShape, readBytes } from './bytes.ts';
import {
  type DType,
  decode,
  encode,
  isKnown,
  KINDS,
  type StoredTensor,
  undecoded,
  unknownDType,
  type WritableTensor,
} from './dtypes.ts';
import { identify } from './identify.ts';
import { parseJson } from './json.ts';

/** the bytes of the file from begin to end, end not included */
export type TensorRange = { dtype: DType; shape: number[]; begin: number; end: number };
export type SafetensorsHeader = { tensors: Record<string, TensorRange>; metadata: Record<string, string> };

/** Maximum length of a header, which is the limit of the original reader of the format. */
const MAX_HEADER_LENGTH = 100_000_000;
const MAX_NAMES = 2 ** 20;
/** '{', the first byte of a header. */
const OPENING = 0x7b;

/**
 * Returns the end of the header, where the data begins. The first 8 bytes of a file suffice. fileSize: of the whole
 * file, Infinity if unknown; default: length of source.
 */
export function readSafetensorsHeaderEnd(source: ArrayBuffer | ArrayBufferView, fileSize?: number): number {
  const caller = 'readSafetensorsHeaderEnd';
  return headerEnd(caller, readBytes(caller, source), fileSize);
}

/**
 * Reads names, types, shapes and byte ranges of the tensors. The file, or its beginning up to the end of the header,
 * suffices. fileSize: of the whole file, Infinity if unknown; default: length of source.
 */
export function readSafetensorsHeader(source: ArrayBuffer | ArrayBufferView, fileSize?: number): SafetensorsHeader {
  const caller = 'readSafetensorsHeader';
  return readHeader(caller, readBytes(caller, source), fileSize);
}

/** Reads a tensor from the bytes of its range. */
export function readSafetensorsTensor(range: TensorRange, source: ArrayBuffer | ArrayBufferView): StoredTensor {
  const caller = 'readSafetensorsTensor';
  const { dtype, shape, begin, end } = checkRange(caller, range);
  const bytes = readBytes(caller, source);
  if (bytes.length !== end - begin)
    throw formatError(caller, `got ${bytes.length} bytes, expected the ${end - begin} of the tensor`, {
      parameter: 'bytes',
      expected: end - begin,
      got: bytes.length,
    });
  if (!isKnown(dtype)) throw unknownDType(caller, 'bytes', dtype);
  return { dtype, shape: [...shape], data: decode(caller, bytes, dtype) };
}

function checkRange(caller: string, range: TensorRange): TensorRange {
  const { dtype, shape, begin, end } = range ?? {};
  const isRange = Number.isSafeInteger(begin) && Number.isSafeInteger(end) && begin >= 0 && begin <= end;
  if (typeof dtype === 'string' && Array.isArray(shape) && isRange) return range;
  throw argumentError(caller, 'range', range, '{ dtype, shape, begin, end }, as in a header');
}

export function readSafetensors(source: ArrayBuffer | ArrayBufferView): {
  tensors: Record<string, StoredTensor>;
  metadata: Record<string, string>;
} {
  const caller = 'readSafetensors';
  const bytes = readBytes(caller, source);
  const { tensors: ranges, metadata } = readHeader(caller, bytes);
  const tensors: Record<string, StoredTensor> = Object.create(null);
  for (const [name, { dtype, shape, begin, end }] of Object.entries(ranges)) {
    tensors[name] = isKnown(dtype)
      ? { dtype, shape, data: decode(caller, bytes.subarray(begin, end), dtype) }
      : undecoded(dtype, shape, () => unknownDType(caller, name, dtype));
  }
  return { tensors, metadata };
}

function headerEnd(caller: string, bytes: Uint8Array, fileSize: number = bytes.length) {
  if (!(Number.isSafeInteger(fileSize) || fileSize === Infinity) || fileSize < bytes.length)
    throw formatError(caller, `fileSize is ${quote(fileSize)}, expected an integer of at least ${bytes.length}`, {
      parameter: 'fileSize',
      got: fileSize,
    });
  if (bytes.length < 8) throw notSafetensors(caller, bytes, `the file has ${bytes.length} bytes, expected at least 8`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  if (length > MAX_HEADER_LENGTH)
    throw notSafetensors(caller, bytes, `the header claims ${length} bytes, expected at most ${MAX_HEADER_LENGTH}`);
  if (length > fileSize - 8) {
    const reason = `the header claims ${length} bytes, but ${fileSize - 8} follow`;
    if (bytes[8] !== OPENING) throw notSafetensors(caller, bytes, reason);
    throw formatError(caller, `${reason}: the file is truncated`, { expected: length, got: fileSize - 8 });
  }
  return 8 + length;
}

function notSafetensors(caller: string, bytes: Uint8Array, reason: string) {
  const kind = identify(bytes);
  return formatError(caller, kind ? `this is ${kind}, expected a safetensors file` : reason, {
    parameter: 'bytes',
    expected: 'a safetensors file',
    got: kind,
  });
}

function readHeader(caller: string, bytes: Uint8Array, fileSize: number = bytes.length): SafetensorsHeader {
  const start = headerEnd(caller, bytes, fileSize);
  if (start > bytes.length)
    throw formatError(caller, `the header ends at byte ${start}, but only ${bytes.length} bytes were passed`, {
      parameter: 'bytes',
      expected: start,
      got: bytes.length,
    });
  const header = parseHeader(caller, bytes.slice(8, start));
  const metadata = '__metadata__' in header ? header.__metadata__ : {};
  if (!isRecord(metadata) || !Object.values(metadata).every((text) => typeof text === 'string'))
    throw formatError(caller, '__metadata__ must map names to strings', {
      parameter: '__metadata__',
      got: metadata,
    });
  const tensors: Record<string, TensorRange> = Object.create(null);
  for (const [name, entry] of Object.entries(header))
    if (name !== '__metadata__') tensors[name] = readEntry(caller, name, entry, start, fileSize);
  checkCover(caller, tensors, start, fileSize);
  return { tensors, metadata: { ...metadata } as Record<string, string> };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseHeader(caller: string, bytes: Uint8Array<ArrayBuffer>): Record<string, unknown> {
  const fail = (reason: string) => formatError(caller, `the header is not valid JSON: ${reason}`);
  let text;
  try {
    // ignoreBOM keeps a byte order mark in the text, so that parseJson rejects it.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw fail('it is not UTF-8');
  }
  const header = parseJson(text, fail, { maxItems: MAX_NAMES });
  if (!isRecord(header)) throw formatError(caller, 'the header must be a JSON object', { got: header });
  return header;
}

function readEntry(caller: string, name: string, entry: unknown, start: number, fileSize: number): TensorRange {
  const fail = (reason: string, expected: unknown, got: unknown) =>
    formatError(caller, `tensor ${quote(name)} has ${reason}`, { parameter: name, expected, got });
  if (!isRecord(entry))
    throw formatError(caller, `tensor ${quote(name)} is ${quote(entry)}, expected { dtype, shape, data_offsets }`, {
      parameter: name,
      got: entry,
    });
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string') throw fail(`dtype ${quote(dtype)}, expected a string`, 'a string', dtype);
  if (!isShape(shape)) throw fail(`shape ${quote(shape)}, expected ${A_SHAPE}`, A_SHAPE, shape);
  const available = fileSize - start;
  if (!isRange(offsets, available)) {
    const expected = `[begin, end] within the ${available} bytes of data`;
    throw fail(`data_offsets ${quote(offsets)}, expected ${expected}`, expected, offsets);
  }
  const [begin, end] = offsets;
  if (isKnown(dtype)) {
    const need = countElements(shape) * KINDS[dtype].bytes;
    if (end - begin !== need)
      throw fail(`${end - begin} bytes, expected ${need} for ${dtype} ${quote(shape)}`, need, end - begin);
  }
  return { dtype, shape: shape.map((n) => n + 0), begin: start + begin, end: start + end };
}

const isRange = (offsets: unknown, available: number): offsets is [number, number] =>
  Array.isArray(offsets) &&
  offsets.length === 2 &&
  offsets.every((n) => Number.isSafeInteger(n) && n >= 0) &&
  offsets[0] <= offsets[1] &&
  offsets[1] <= available;

/** Checks that every byte of the data belongs to exactly one tensor. */
function checkCover(caller: string, tensors: Record<string, TensorRange>, start: number, fileSize: number) {
  let at = start;
  for (const [name, { begin, end }] of Object.entries(tensors).sort(
    ([, a], [, b]) => a.begin - b.begin || a.end - b.end,
  )) {
    if (begin !== at) {
      const [expected, got] = [at - start, begin - start];
      throw formatError(
        caller,
        `tensor ${quote(name)} begins at byte ${got} of the data, expected ${expected}: no gap and no overlap`,
        { parameter: name, expected, got },
      );
    }
    at = end;
  }
  if (at !== fileSize && fileSize !== Infinity)
    throw formatError(caller, `the tensors end at byte ${at}, but the file ends at byte ${fileSize}`, {
      expected: fileSize,
      got: at,
    });
}

/** @param tensors may be Headlight Tensors; dtype: default that of the array */
export function writeSafetensors(
  tensors: Record<string, WritableTensor>,
  metadata?: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  const caller = 'writeSafetensors';
  if (metadata !== undefined && !isDictionary(metadata, (text) => typeof text === 'string'))
    throw formatError(caller, 'metadata must map names to strings', { parameter: 'metadata', got: metadata });
  if (!isDictionary(tensors))
    throw formatError(caller, `tensors is ${quote(tensors)}, expected a plain object of named tensors`, {
      parameter: 'tensors',
      got: tensors,
    });
  const entries = Object.entries(tensors).map(([name, value]) => ({
    name,
    ...encode(caller, `tensor ${quote(name)}`, value),
  }));
  // Tensors with larger elements come first, so that each tensor is aligned to its element size.
  entries.sort((a, b) => KINDS[b.dtype].bytes - KINDS[a.dtype].bytes || (a.name < b.name ? -1 : 1));
  const header: Record<string, unknown> = Object.create(null);
  if (metadata) header.__metadata__ = metadata;
  let at = 0;
  for (const { name, dtype, shape, bytes } of entries) {
    if (name === '__metadata__')
      throw formatError(caller, 'a tensor cannot be called __metadata__', { parameter: name });
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  if (length > MAX_HEADER_LENGTH || entries.length > MAX_NAMES)
    throw formatError(
      caller,
      `the header takes ${length} bytes for ${entries.length} tensors, ` +
        `expected at most ${MAX_HEADER_LENGTH} bytes and ${MAX_NAMES} tensors`,
    );
  const file = allocate(caller, 8 + length + at, () => new Uint8Array(8 + length + at));
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(text, 8);
  file.fill(0x20, 8 + text.length, 8 + length);
  let to = 8 + length;
  for (const { bytes } of entries) {
    file.set(bytes, to);
    to += bytes.length;
  }
  return file;
}

/**
 * True for a plain object with names of valid Unicode. Entries of a Map and inherited properties would not be written.
 */
function isDictionary(value: unknown, accepts: (member: unknown) => boolean = () => true) {
  if (!isRecord(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  return Object.entries(value).every(([name, member]) => !/\p{Surrogate}/u.test(name) && accepts(member));
}
