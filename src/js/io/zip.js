// Reads and writes zip archives. The writer stores files without compression. The reader supports the features that npz
// needs: the central directory, stored and deflated files, 64-bit sizes. It checks the sizes in the archive against the
// bytes before it allocates memory, and never unpacks more than the declared size.

import { HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { allocate, formatError } from './bytes.js';

/**
 * A file in an archive. size: number of unpacked bytes.
 * @typedef {{ name: string, method: number, crc: number, size: number, packed: Uint8Array }} ZipFile
 */
/**
 * An entry of the central directory.
 * @typedef {{ name: string, method: number, crc: number, size: number, packedSize: number, offset: number }} Entry
 */

const [FILE, ENTRY, END, END64, LOCATOR] = [0x04034b50, 0x02014b50, 0x06054b50, 0x06064b50, 0x07064b50];
export const STORED = 0;
const DEFLATED = 8;
const MAX_COMMENT = 65535;
/** The maximum compression ratio of deflate: 258 bytes in 2 bits. */
const MAX_RATIO = 1032;
/** Bytes that are passed to the decompressor at once. The output may be a thousand times larger. */
const PIECE = 65536;

/**
 * Maximum bytes at the end of an archive in which the position of the central directory is stored: the end record, the
 * 64-bit locator and end record, the longest comment.
 */
export const MAX_TAIL = 22 + 20 + 56 + MAX_COMMENT;
/** Bytes of the header before a file's data, without the name. */
export const HEADER = 30;

/** @param {Uint8Array} bytes */
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @typedef {(reason: string) => Error} Fail */
/** @param {string} caller @returns {Fail} */
export const damaged = (caller) => (reason) =>
  formatError(caller, `the zip archive is damaged: ${reason}`, { parameter: 'bytes' });

/**
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @returns {ZipFile[]} in the order of the central directory
 */
export function readZip(caller, bytes) {
  const fail = damaged(caller);
  const directory = findDirectory(bytes, 0, fail);
  const entries = readDirectory(caller, bytes.subarray(directory.offset, directory.offset + directory.size), directory);
  const limits = limitsOf(entries, directory);
  return entries.map((entry) => {
    const { name, method, crc, size, packedSize, offset } = entry;
    const limit = /** @type {number} */ (limits.get(entry));
    const start = dataStart(entry, bytes.subarray(offset, Math.min(offset + HEADER, limit)), limit, fail);
    return { name, method, crc, size, packed: bytes.subarray(start, start + packedSize) };
  });
}

/**
 * Returns the limit of each file, which is the beginning of the next file. Files must not overlap, because otherwise a
 * small archive could contain the same bytes as many files (a zip bomb).
 * @param {Entry[]} entries
 * @param {Directory} directory
 */
export function limitsOf(entries, directory) {
  const ordered = [...entries].sort((a, b) => a.offset - b.offset);
  return new Map(ordered.map((entry, i) => [entry, ordered[i + 1]?.offset ?? directory.offset]));
}

/**
 * Returns the position of a file's data in the archive.
 * @param {Entry} entry
 * @param {Uint8Array} header first bytes of the file's header, at least HEADER
 * @param {number} limit limit of the file, from limitsOf
 * @param {Fail} fail
 */
export function dataStart({ name, packedSize, offset }, header, limit, fail) {
  const view = viewOf(header);
  if (header.length < HEADER || offset + HEADER > limit || view.getUint32(0, true) !== FILE)
    throw fail(`no file at byte ${offset}`);
  const start = offset + HEADER + view.getUint16(26, true) + view.getUint16(28, true);
  if (start + packedSize > limit) throw fail(`${quote(name)} overlaps the next file or the directory`);
  return start;
}

/** @typedef {{ offset: number, size: number, count: number }} Directory */

/**
 * @param {Uint8Array} tail the last MAX_TAIL bytes of the archive, or the whole archive
 * @param {number} base position of the first byte of tail
 * @param {Fail} fail
 * @returns {Directory}
 */
export function findDirectory(tail, base, fail) {
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

/**
 * @param {string} caller
 * @param {Uint8Array} bytes of the directory
 * @param {Directory} directory
 * @returns {Entry[]}
 */
export function readDirectory(caller, bytes, { offset, size, count }) {
  const [view, fail] = [viewOf(bytes), damaged(caller)];
  const end = offset + size;
  if (count > size / 46) throw fail(`its directory of ${size} bytes claims ${count} files`);
  /** @type {Entry[]} */
  const entries = [];
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

/**
 * @param {DataView} view
 * @param {number} at the entry of the directory
 * @param {number} from position of the extra fields of the entry
 * @param {number} to
 */
function readSizes(view, at, from, to) {
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
    for (const name of /** @type {const} */ (['size', 'packedSize', 'offset'])) {
      if (sizes[name] !== 0xffffffff || field + 8 > from) continue;
      sizes[name] = Number(view.getBigUint64(field, true));
      field += 8;
    }
  }
  return sizes;
}

/**
 * @param {string} caller
 * @param {ZipFile} file
 * @returns {Promise<Uint8Array>} a copy of the unpacked bytes
 */
export async function unpack(caller, { name, method, crc, size, packed }) {
  const fail = (/** @type {string} */ reason) =>
    formatError(caller, `the zip archive is damaged: ${quote(name)} ${reason}`, { parameter: name });
  const out = allocate(caller, size, () => new Uint8Array(size));
  if (method === STORED) out.set(packed);
  else await inflate(packed, out, fail);
  if (checksum(out) !== crc) throw fail('has a different checksum from that in the directory');
  return out;
}

/**
 * @param {Uint8Array} packed
 * @param {Uint8Array} out exactly as large as the unpacked file
 * @param {(reason: string) => Error} fail
 */
async function inflate(packed, out, fail) {
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
    throw fail(`cannot be decompressed: ${quote(/** @type {Error} */ (error)?.message)}`);
  }
  if (at < out.length) throw fail(`unpacks to ${at} bytes, but the directory declares ${out.length}`);
}

/** @param {(reason: string) => Error} fail */
function inflater(fail) {
  try {
    return new DecompressionStream('deflate-raw');
  } catch {
    throw fail("is compressed, and this platform lacks DecompressionStream('deflate-raw') (Node 20.12 has it)");
  }
}

/**
 * Writes in pieces, so that the decompressor does not produce much more than has been read.
 * @param {WritableStreamDefaultWriter<BufferSource>} writer
 * @param {Uint8Array} packed
 */
async function feed(writer, packed) {
  for (let at = 0; at < packed.length; at += PIECE) {
    await writer.ready;
    await writer.write(packed.slice(at, at + PIECE));
  }
  await writer.close();
}

/** 1 January 1980. The date is constant, so that equal files give equal archives. */
const DATE = 0x21;
const UTF8 = 0x800;

/**
 * Makes an archive of files without compression.
 * @param {Record<string, Uint8Array>} files by name
 */
export function writeZip(files) {
  /** Writes little-endian fields of 2 or 4 bytes. @param {[bytes: 2 | 4, value: number][]} fields */
  const record = (fields) => {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
    let at = 0;
    for (const [bytes, value] of fields) {
      if (bytes === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += bytes;
    }
    return new Uint8Array(view.buffer);
  };
  /** @type {Uint8Array[]} */
  const data = [];
  /** @type {Uint8Array[]} */
  const directory = [];
  const sizeOf = (/** @type {Uint8Array[]} */ parts) => parts.reduce((sum, { length }) => sum + length, 0);
  for (const [name, bytes] of Object.entries(files)) {
    const path = new TextEncoder().encode(name);
    const size = bytes.length;
    // The fields are: version 2.0, flags, method, time, date, checksum, packed size, size.
    /** @type {[2 | 4, number][]} */
    const common = [
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
    const lengths = /** @type {[2 | 4, number][]} */ ([
      [2, path.length],
      [2, 0],
    ]);
    // The fields are: length of the comment, disk, attributes (2 fields), offset of the file.
    const rest = /** @type {[2 | 4, number][]} */ ([
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, sizeOf(data)],
    ]);
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

/** The table of CRC-32, with one value per byte. */
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

/** Computes the CRC-32 of bytes. @param {Uint8Array} bytes */
export function checksum(bytes) {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = CRC[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
