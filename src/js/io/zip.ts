// Zip archives. The writer does not compress. The reader supports what npz needs: the central directory, stored and
// deflated files, 64-bit sizes. It checks sizes before it allocates memory, and never unpacks more than the declared
// size.

import { HeadlightError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';
import { allocate, formatError } from './bytes.ts';

/** A file in an archive. size: number of unpacked bytes. */
export type ZipFile = { name: string; method: number; crc: number; size: number; packed: Uint8Array };
/** An entry of the central directory. */
export type Entry = { name: string; method: number; crc: number; size: number; packedSize: number; offset: number };

const [FILE, ENTRY, END, END64, LOCATOR] = [0x04034b50, 0x02014b50, 0x06054b50, 0x06064b50, 0x07064b50];
export const STORED = 0;
const DEFLATED = 8;
const MAX_COMMENT = 65535;
/** The maximum compression ratio of deflate: 258 bytes in 2 bits. */
const MAX_RATIO = 1032;
/** Bytes that are passed to the decompressor at once. The output may be a thousand times larger. */
const PIECE = 65536;

/**
 * Maximum bytes at the end of an archive that locate the central directory: end record, 64-bit locator and record,
 * comment.
 */
export const MAX_TAIL = 22 + 20 + 56 + MAX_COMMENT;
/** Bytes of the header before a file's data, without the name. */
export const HEADER = 30;

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export type Fail = (reason: string) => Error;
export const damaged =
  (caller: string): Fail =>
  (reason) =>
    formatError(caller, `the zip archive is damaged: ${reason}`, { parameter: 'bytes' });

/** returns in the order of the central directory */
export function readZip(caller: string, bytes: Uint8Array): ZipFile[] {
  const fail = damaged(caller);
  const directory = findDirectory(bytes, 0, fail);
  const entries = readDirectory(caller, bytes.subarray(directory.offset, directory.offset + directory.size), directory);
  const limits = limitsOf(entries, directory);
  return entries.map((entry) => {
    const { name, method, crc, size, packedSize, offset } = entry;
    const limit = limits.get(entry) as number;
    const start = dataStart(entry, bytes.subarray(offset, Math.min(offset + HEADER, limit)), limit, fail);
    return { name, method, crc, size, packed: bytes.subarray(start, start + packedSize) };
  });
}

/**
 * The limit of each file is the beginning of the next. Files must not overlap, because a small archive could contain
 * the same bytes as many files (a zip bomb).
 */
export function limitsOf(entries: Entry[], directory: Directory) {
  const ordered = [...entries].sort((a, b) => a.offset - b.offset);
  return new Map(ordered.map((entry, i) => [entry, ordered[i + 1]?.offset ?? directory.offset]));
}

/** Returns the position of a file's data. header: its first bytes, at least HEADER; limit: from limitsOf. */
export function dataStart({ name, packedSize, offset }: Entry, header: Uint8Array, limit: number, fail: Fail) {
  const view = viewOf(header);
  if (header.length < HEADER || offset + HEADER > limit || view.getUint32(0, true) !== FILE)
    throw fail(`no file at byte ${offset}`);
  const start = offset + HEADER + view.getUint16(26, true) + view.getUint16(28, true);
  if (start + packedSize > limit) throw fail(`${quote(name)} overlaps the next file or the directory`);
  return start;
}

export type Directory = { offset: number; size: number; count: number };

/** tail: the last MAX_TAIL bytes of the archive, or the whole archive; base: position of the first byte of tail */
export function findDirectory(tail: Uint8Array, base: number, fail: Fail): Directory {
  const view = viewOf(tail);
  const last = view.byteLength - 22;
  let end = last;
  // The end record is searched backwards. The length of its comment must equal the number of bytes that follow.
  while (end >= 0 && !(view.getUint32(end, true) === END && view.getUint16(end + 20, true) === last - end)) {
    if (end-- === last - MAX_COMMENT) end = -1;
  }
  if (end < 0) throw fail('its directory is missing, the file is truncated');
  const directory = {
    count: view.getUint16(end + 10, true),
    size: view.getUint32(end + 12, true),
    offset: view.getUint32(end + 16, true),
  };
  if (directory.count === 0xffff || directory.size === 0xffffffff || directory.offset === 0xffffffff) {
    const locator = end - 20;
    if (locator < 0 || view.getUint32(locator, true) !== LOCATOR) throw fail('its 64-bit directory is missing');
    end = Number(view.getBigUint64(locator + 8, true)) - base;
    if (end < 0 || end > locator - 56 || view.getUint32(end, true) !== END64)
      throw fail('its 64-bit directory is missing');
    directory.count = Number(view.getBigUint64(end + 32, true));
    directory.size = Number(view.getBigUint64(end + 40, true));
    directory.offset = Number(view.getBigUint64(end + 48, true));
  }
  if (directory.offset + directory.size > base + end) throw fail('its directory overlaps the record at its end');
  return directory;
}

export function readDirectory(caller: string, bytes: Uint8Array, { offset, size, count }: Directory): Entry[] {
  const [view, fail] = [viewOf(bytes), damaged(caller)];
  const end = offset + size;
  if (count > size / 46) throw fail(`its directory of ${size} bytes claims ${count} files`);
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count; ) {
    if (at + 46 > size || view.getUint32(at, true) !== ENTRY)
      throw fail(`no entry of its directory at byte ${offset + at}`);
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
    const [nameLength, extraLength] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true)];
    const extra = at + 46 + nameLength;
    const after = extra + extraLength + view.getUint16(at + 32, true);
    if (after > size) throw fail('an entry of its directory extends beyond the directory');
    const name = new TextDecoder().decode(bytes.slice(at + 46, extra));
    const claims = readSizes(view, at, extra, extra + extraLength);
    if (claims.packedSize > end || claims.offset > end) throw fail(`${quote(name)} is outside the archive`);
    if (flags & 1) throw formatError(caller, `${quote(name)} is encrypted`, { parameter: name });
    if (method !== STORED && method !== DEFLATED)
      throw formatError(
        caller,
        `${quote(name)} is compressed by method ${method}, expected 0 (stored) or 8 (deflate)`,
        {
          parameter: name,
          got: method,
        },
      );
    if (method === STORED ? claims.size !== claims.packedSize : claims.size > MAX_RATIO * claims.packedSize)
      throw fail(`${quote(name)} claims ${claims.size} bytes in ${claims.packedSize}`);
    entries.push({ name, method, crc: view.getUint32(at + 16, true), ...claims });
    at = after;
  }
  return entries;
}

/** at: the entry of the directory; from: position of the extra fields of the entry */
function readSizes(view: DataView, at: number, from: number, to: number) {
  const sizes = {
    size: view.getUint32(at + 24, true),
    packedSize: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  };
  while (from + 4 <= to) {
    const [id, length] = [view.getUint16(from, true), view.getUint16(from + 2, true)];
    let field = from + 4;
    from = Math.min(field + length, to);
    if (id !== 1) continue;
    // The ZIP64 field has, in this order, only the values that do not fit into 32 bits.
    for (const name of ['size', 'packedSize', 'offset'] as const) {
      if (sizes[name] !== 0xffffffff || field + 8 > from) continue;
      sizes[name] = Number(view.getBigUint64(field, true));
      field += 8;
    }
  }
  return sizes;
}

/** returns a copy of the unpacked bytes */
export async function unpack(caller: string, { name, method, crc, size, packed }: ZipFile): Promise<Uint8Array> {
  const fail = (reason: string) =>
    formatError(caller, `the zip archive is damaged: ${quote(name)} ${reason}`, { parameter: name });
  const out = allocate(caller, size, () => new Uint8Array(size));
  if (method === STORED) out.set(packed);
  else await inflate(packed, out, fail);
  if (checksum(out) !== crc) throw fail('has a different checksum from that in the directory');
  return out;
}

/** out: exactly as large as the unpacked file */
async function inflate(packed: Uint8Array, out: Uint8Array, fail: (reason: string) => Error) {
  const { readable, writable } = inflater(fail);
  const reader = readable.getReader();
  // An error of the writer also rejects the reader, which reports it.
  feed(writable.getWriter(), packed).catch(() => {});
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > out.length - at)
        throw fail(`unpacks to more than the ${out.length} bytes that the directory declares`);
      out.set(value, at);
      at += value.length;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof HeadlightError) throw error;
    throw fail(`cannot be decompressed: ${quote((error as Error)?.message)}`);
  }
  if (at < out.length) throw fail(`unpacks to ${at} bytes, but the directory declares ${out.length}`);
}

function inflater(fail: (reason: string) => Error) {
  try {
    return new DecompressionStream('deflate-raw');
  } catch {
    throw fail("is compressed, and this platform lacks DecompressionStream('deflate-raw') (Node 20.12 has it)");
  }
}

/** Writes in pieces, so that the decompressor does not produce much more than has been read. */
async function feed(writer: WritableStreamDefaultWriter<BufferSource>, packed: Uint8Array) {
  for (let at = 0; at < packed.length; at += PIECE) {
    await writer.ready;
    await writer.write(packed.slice(at, at + PIECE));
  }
  await writer.close();
}

/** 1 January 1980. The date is constant, so that equal files give equal archives. */
const DATE = 0x21;
const UTF8 = 0x800;

export function writeZip(files: Record<string, Uint8Array>) {
  /** Writes little-endian fields of 2 or 4 bytes. */
  const record = (fields: [bytes: 2 | 4, value: number][]) => {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
    let at = 0;
    for (const [bytes, value] of fields) {
      if (bytes === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += bytes;
    }
    return new Uint8Array(view.buffer);
  };
  const data: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  const sizeOf = (parts: Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);
  for (const [name, bytes] of Object.entries(files)) {
    const path = new TextEncoder().encode(name);
    const size = bytes.length;
    // The fields are: version 2.0, flags, method, time, date, checksum, packed size, size.
    const common: [2 | 4, number][] = [
      [2, 20],
      [2, UTF8],
      [2, STORED],
      [2, 0],
      [2, DATE],
      [4, checksum(bytes)],
      [4, size],
      [4, size],
    ];
    // The fields are the lengths of the name and of the extra fields.
    const lengths = [
      [2, path.length],
      [2, 0],
    ] as [2 | 4, number][];
    // The fields are: length of the comment, disk, attributes (2 fields), offset of the file.
    const rest = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, sizeOf(data)],
    ] as [2 | 4, number][];
    directory.push(record([[4, ENTRY], [2, 20], ...common, ...lengths, ...rest]), path);
    data.push(record([[4, FILE], ...common, ...lengths]), path, bytes);
  }
  const [count, begin] = [Object.keys(files).length, sizeOf(data)];
  const end = record([
    [4, END],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, sizeOf(directory)],
    [4, begin],
    [2, 0],
  ]);
  const all = [...data, ...directory, end];
  const archive = new Uint8Array(sizeOf(all));
  let at = 0;
  for (const part of all) {
    archive.set(part, at);
    at += part.length;
  }
  return archive;
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

export function checksum(bytes: Uint8Array) {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = CRC[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
