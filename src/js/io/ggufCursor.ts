// Reads the numbers, strings and arrays in the header of a GGUF file, and checks that they are within the file.

import { formatError } from './bytes.ts';

/** bigint for integers above 2 ** 53 */
export type GgufValue = number | bigint | boolean | string | GgufList;
export type GgufList = GgufValue[];

/** Thrown if the header continues after the bytes that have been read. The header ends at byte `end` or later. */
export class MoreBytes extends Error {
  declare end: number;

  constructor(end: number) {
    super('more bytes are needed');
    this.end = end;
  }
}

/** Bytes of a value of each kind. For strings and arrays it is the minimum, the bytes of their lengths. */
const KIND_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8];
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;
/** Maximum depth of nested arrays. No file with nested arrays is known. */
const MAX_DEPTH = 4;
/**
 * Maximum elements of all arrays. The largest vocabularies have under a million tokens, and several values for each.
 */
const MAX_ELEMENTS = 2 ** 24;
/** Maximum bytes of the key of a metadata entry, a limit of the format, and of the name of a tensor. */
const MAX_NAME = 2 ** 16 - 1;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Accepts invalid UTF-8 and keeps a byte order mark, because vocabularies have such tokens. */
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

export class GgufCursor {
  declare caller: string;
  declare bytes: Uint8Array;
  declare size: number;
  declare most: number;

  at = 0;
  where = 'the header';
  /** The name of the metadata entry or of the tensor that is being read, for errors. */
  parameter: string | undefined;
  #elements = 0;
  #view: DataView<ArrayBufferLike>;

  /** bytes: the file, or its beginning; size: of the whole file; most: maximum bytes of a header */
  constructor(caller: string, bytes: Uint8Array, size: number, most: number) {
    this.caller = caller;
    this.bytes = bytes;
    this.size = size;
    this.most = most;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  within(where: string, parameter?: string) {
    this.where = where;
    this.parameter = parameter;
  }

  fail(reason: string, expected?: unknown, got?: unknown) {
    return formatError(this.caller, `${this.where} ${reason}`, { parameter: this.parameter, expected, got });
  }

  /** Throws unless the next `count` bytes are in the file and have been read. */
  #need(count: number) {
    const { at, bytes, size, most } = this;
    if (count > size - at)
      throw this.fail(
        `needs ${count} bytes at byte ${at}, but the file has ${size}: it is truncated`,
        at + count,
        size,
      );
    if (count > most - at)
      throw this.fail(
        `needs ${count} bytes at byte ${at}, expected a header of at most ${most} bytes`,
        most,
        at + count,
      );
    if (count > bytes.length - at) throw new MoreBytes(at + count);
  }

  #take(count: number) {
    this.#need(count);
    this.at += count;
    return this.at - count;
  }

  u32() {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64() {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  #string(most: number) {
    const length = this.u64();
    const left = this.size - this.at;
    if (length > left)
      throw this.fail(`has a string of ${length} bytes, but ${left} follow: it is truncated`, left, length);
    if (length > most) throw this.fail(`has a name of ${length} bytes, expected at most ${most}`, most, length);
    const from = this.#take(Number(length));
    const bytes = this.bytes.subarray(from, this.at);
    // TextDecoder refuses shared memory.
    return bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice();
  }

  name() {
    const bytes = this.#string(MAX_NAME);
    try {
      return strict.decode(bytes);
    } catch {
      throw this.fail('is not UTF-8');
    }
  }

  value(): GgufValue {
    const kind = this.#kind();
    return kind === ARRAY ? this.#array(1) : this.#scalar(kind);
  }

  #kind() {
    const kind = this.u32();
    if (kind >= KIND_BYTES.length)
      throw this.fail(`has a value of kind ${kind}, expected 0 to ${KIND_BYTES.length - 1}`, undefined, kind);
    return kind;
  }

  #array(depth: number): GgufList {
    if (depth > MAX_DEPTH) throw this.fail(`has arrays nested more than ${MAX_DEPTH} deep`, MAX_DEPTH, depth);
    const kind = this.#kind();
    const count = Number(this.u64());
    const left = this.size - this.at;
    if (count * KIND_BYTES[kind] > left)
      throw this.fail(`has an array of ${count} values, but ${left} bytes follow: it is truncated`, left, count);
    this.#elements += count;
    if (this.#elements > MAX_ELEMENTS)
      throw this.fail(`has more than ${MAX_ELEMENTS} values, including the arrays before it`, MAX_ELEMENTS, count);
    this.#need(count * KIND_BYTES[kind]);
    const list: GgufList = [];
    for (let i = 0; i < count; i++) list.push(kind === ARRAY ? this.#array(depth + 1) : this.#scalar(kind));
    return list;
  }

  #scalar(kind: number): number | bigint | boolean | string {
    if (kind === STRING) return lenient.decode(this.#string(Infinity));
    const [view, at] = [this.#view, this.#take(KIND_BYTES[kind])];
    switch (kind) {
      case 0:
        return view.getUint8(at);
      case 1:
        return view.getInt8(at);
      case 2:
        return view.getUint16(at, true);
      case 3:
        return view.getInt16(at, true);
      case 4:
        return view.getUint32(at, true);
      case 5:
        return view.getInt32(at, true);
      case 6:
        return view.getFloat32(at, true);
      case BOOL:
        return this.#boolean(view.getUint8(at));
      case 10:
        return narrow(view.getBigUint64(at, true));
      case 11:
        return narrow(view.getBigInt64(at, true));
      default:
        return view.getFloat64(at, true);
    }
  }

  #boolean(byte: number) {
    if (byte > 1) throw this.fail(`has the byte ${byte} as a boolean, expected 0 or 1`, '0 or 1', byte);
    return byte === 1;
  }
}

const narrow = (value: bigint) => (Number.isSafeInteger(Number(value)) ? Number(value) : value);
