// Writes metadata and the list of tensors of a GGUF file. The caller writes the data of one tensor after the other into
// the same array later, so that there is no second copy of the file in memory.

import { elementCount } from '../check/shape.ts';
import { allocate } from './bytes.ts';
import { GGUF_TYPES } from './ggufTypes.ts';

export type Kind = 'u8' | 'u32' | 'i32' | 'f32' | 'bool' | 'string';
/** A value of the metadata. The values of a list have one kind. */
export type Value = { kind: Kind; value: string | number | boolean | readonly (string | number | boolean)[] };
/** shape: the last size is the width of a row */
export type NewTensor = { name: string; type: string; shape: readonly number[] };

const KINDS: Record<Kind, number> = { u8: 0, u32: 4, i32: 5, f32: 6, bool: 7, string: 8 };
const ARRAY = 9;
const MAGIC = 'GGUF';
const VERSION = 3;
const ALIGNMENT = 32;
const utf8 = new TextEncoder();

const padded = (bytes: number) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

const TYPE_IDS = new Map([...GGUF_TYPES].map(([id, type]) => [type.name, { id, ...type }]));

function bytesOf({ type, shape }: NewTensor) {
  const { values, bytes } = TYPE_IDS.get(type) as { values: number; bytes: number };
  return (elementCount(shape) / values) * bytes;
}

/** Writes values one after the other into an array that grows as needed. */
class Writer {
  #bytes = new Uint8Array(2 ** 16);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  get bytes() {
    return this.#bytes.subarray(0, this.#at);
  }

  #take(count: number) {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#at));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  raw(bytes: Uint8Array) {
    const at = this.#take(bytes.length);
    this.#bytes.set(bytes, at);
  }

  u32(value: number) {
    const at = this.#take(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: number) {
    const at = this.#take(8);
    this.#view.setBigUint64(at, BigInt(value), true);
  }

  string(text: string) {
    const bytes = utf8.encode(text);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  value({ kind, value }: Value) {
    const list = Array.isArray(value) ? value : undefined;
    this.u32(list ? ARRAY : KINDS[kind]);
    if (list) {
      this.u32(KINDS[kind]);
      this.u64(list.length);
    }
    for (const one of list ?? [value]) this.#scalar(kind, one);
  }

  #scalar(kind: Kind, value: string | number | boolean) {
    if (kind === 'string') return this.string(String(value));
    const number = Number(value);
    const at = this.#take(kind === 'u8' || kind === 'bool' ? 1 : 4);
    if (kind === 'f32') this.#view.setFloat32(at, number, true);
    else if (kind === 'i32') this.#view.setInt32(at, number, true);
    else if (kind === 'u32') this.#view.setUint32(at, number, true);
    else this.#view.setUint8(at, number);
  }
}

/** Makes a file whose tensors are still zero. returns parts: the bytes of each tensor in the file. */
export function newGguf(
  caller: string,
  metadata: ReadonlyMap<string, Value>,
  tensors: readonly NewTensor[],
): { file: Uint8Array<ArrayBuffer>; parts: Uint8Array[] } {
  const header = new Writer();
  header.raw(utf8.encode(MAGIC));
  header.u32(VERSION);
  header.u64(tensors.length);
  header.u64(metadata.size);
  for (const [key, value] of metadata) {
    header.string(key);
    header.value(value);
  }
  let at = 0;
  const begins = tensors.map(({ name, type, shape }) => {
    const begin = at;
    header.string(name);
    header.u32(shape.length);
    for (const size of [...shape].reverse()) header.u64(size);
    header.u32((TYPE_IDS.get(type) as { id: number }).id);
    header.u64(begin);
    at = padded(begin + bytesOf({ name, type, shape }));
    return begin;
  });
  const { bytes } = header;
  const start = padded(bytes.length);
  const file = allocate(caller, start + at, () => new Uint8Array(start + at));
  file.set(bytes);
  const parts = tensors.map((tensor, i) => {
    const begin = start + begins[i];
    return file.subarray(begin, begin + bytesOf(tensor));
  });
  return { file, parts };
}
