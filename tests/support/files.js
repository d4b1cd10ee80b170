// Writes files of arrays byte by byte, valid and invalid ones.

import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { HeadlightError } from 'headlight-attention';

const encoder = new TextEncoder();

/** @param {...(ArrayLike<number>)} parts */
export function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns the first `count` bytes of an integer, little-endian. */
const bytesOf = (number, count) => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number), true);
  return bytes.subarray(0, count);
};

/** Returns a safetensors file from a header and its data. */
export function safetensors(header, data = [], claim) {
  const text = encoder.encode(typeof header === 'string' ? header : JSON.stringify(header));
  return join(bytesOf(claim ?? text.length, 8), text, data);
}

/** Returns an npy file from a header and its data. */
export function npy(header, data = [], version = 1) {
  const text = encoder.encode(header);
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0];
  return join(magic, bytesOf(text.length, version === 1 ? 2 : 4), text, data);
}

/** Computes CRC-32 bit by bit. */
export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

/**
 * Returns a zip archive. Each file is
 * { name, bytes, deflate?, wide? (64-bit sizes), described? (sizes after the data) }, and may have false values for the
 * central directory: size?, packedSize?, crc?, flags?, method?, offset?, packed?
 */
export function zip(files, { comment = '', wide = false, count = files.length } = {}) {
  const [parts, entries] = [[], []];
  let at = 0;
  const add = (...more) => {
    const part = join(...more);
    parts.push(part);
    at += part.length;
  };
  for (const file of files) {
    const name = encoder.encode(file.name);
    const packed = file.packed ?? (file.deflate ? deflateRawSync(file.bytes) : file.bytes);
    const { size = file.bytes.length, packedSize = packed.length, crc = crc32(file.bytes), offset = at } = file;
    const method = file.method ?? (file.deflate ? 8 : 0);
    const flags = file.flags ?? (file.described ? 8 : 0);
    const known = [bytesOf(crc, 4), bytesOf(packedSize, 4), bytesOf(size, 4)];
    const unknown = [bytesOf(0, 4), bytesOf(file.wide ? 0xffffffff : 0, 4), bytesOf(file.wide ? 0xffffffff : 0, 4)];
    const start = [bytesOf(45, 2), bytesOf(flags, 2), bytesOf(method, 2), bytesOf(0, 4)];
    const extra = file.wide ? [bytesOf(1, 2), bytesOf(16, 2), bytesOf(size, 8), bytesOf(packedSize, 8)] : [];
    const local = file.described || file.wide ? unknown : known;
    const lengths = [bytesOf(name.length, 2), bytesOf(join(...extra).length, 2)];
    add([0x50, 0x4b, 3, 4], ...start, ...local, ...lengths, name, ...extra, packed);
    if (file.described) add([0x50, 0x4b, 7, 8], ...known);
    const wideExtra = file.wide
      ? [bytesOf(0x7075, 2), bytesOf(1, 2), [9], bytesOf(1, 2), bytesOf(24, 2)].concat(
          [size, packedSize, offset].map((n) => bytesOf(n, 8)),
        )
      : [];
    entries.push(
      join(
        [0x50, 0x4b, 1, 2, 45, 3],
        ...start,
        ...(file.wide ? [bytesOf(crc, 4), bytesOf(0xffffffff, 4), bytesOf(0xffffffff, 4)] : known),
        bytesOf(name.length, 2),
        bytesOf(join(...wideExtra).length, 2),
        bytesOf(0, 10 - 2),
        bytesOf(0, 2),
        bytesOf(file.wide ? 0xffffffff : offset, 4),
        name,
        ...wideExtra,
      ),
    );
  }
  const directory = join(...entries);
  const [from, end] = [at, at + directory.length];
  const place = [bytesOf(count, 8), bytesOf(count, 8), bytesOf(directory.length, 8), bytesOf(from, 8)];
  add(directory);
  if (wide) {
    add([0x50, 0x4b, 6, 6], bytesOf(44, 8), bytesOf(45, 2), bytesOf(45, 2), bytesOf(0, 8), ...place);
    add([0x50, 0x4b, 6, 7], bytesOf(0, 4), bytesOf(end, 8), bytesOf(1, 4));
  }
  const counts = bytesOf(wide ? 0xffff : count, 2);
  const where = wide
    ? [bytesOf(0xffffffff, 4), bytesOf(0xffffffff, 4)]
    : [directory.length, from].map((n) => bytesOf(n, 4));
  add([0x50, 0x4b, 5, 6], bytesOf(0, 4), counts, counts, ...where, bytesOf(comment.length, 2), encoder.encode(comment));
  return join(...parts);
}

/** Checks that an error is a FORMAT error with a short message that matches a pattern. */
export const checkRefusal = (error, pattern) => {
  assert.ok(error instanceof HeadlightError && error.code === 'FORMAT', error.stack);
  assert.match(error.message, pattern);
  assert.ok(error.message.length < 500, `${error.message.length} characters`);
  return true;
};
export const fails = (fn, pattern) => assert.throws(fn, (error) => checkRefusal(error, pattern));
export const rejects = (promise, pattern) => assert.rejects(promise, (error) => checkRefusal(error, pattern));
