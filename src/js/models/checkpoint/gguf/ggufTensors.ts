// Tensors of GGUF files under the names of Hugging Face: views of rows of stored tensors, which are decoded and, in
// some views, reordered when they are read. Their ranges of bytes are consecutive, as in one file.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { elementCount, formatShape } from '../../../check/shape.ts';
import { type BlockForm, blockRowBytes } from '../../../io/blockRows.ts';
import { KINDS, type KnownDType } from '../../../io/dtypes.ts';
import { type GgufRange, typeOf } from '../../../io/gguf.ts';
import { type BlockType, dequantize, type GgufType, isInBlocks, toBlockRows } from '../../../io/ggufTypes.ts';
import { toHalves } from '../../../io/halves.ts';
import type { Architecture } from '../../families/common.ts';
import type { Folder } from '../files.ts';
import type { Storage, Stored } from '../readWeights.ts';
import { FREQUENCIES, fillName, type ParsedName, parseName, projectionOf } from './ggufNames.ts';

export type Located = GgufRange & { name: string; file: string };
/** headDim: set if rows n and n + headDim/2 of each head are next to each other. */
export type Part = {
  tensor: Located;
  type: GgufType;
  first: number;
  count: number;
  rowBytes: number;
  headDim?: number;
};
/** rowBytes: size of a decoded row */
export type View = Stored & { parts: Part[]; rowBytes: number };
export type Heads = { heads: number; kvHeads: number; headDim: number; layers: number };

const CALLER = 'openModel';
/**
 * Bytes read at once of a stored tensor. A piece of a view has fewer, because stored rows are shorter than decoded
 * rows.
 */
const WINDOW = 2 ** 20;
/** Number of windows that are kept: readWeights reads three pieces at the same time, and each may span two windows. */
const MAX_WINDOWS = 6;

const fail = (file: string, message: string, parameter: string, details?: object) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file}: ${message}`, { parameter, ...details });

/** Returns all rows of a tensor. The rows of a vector are its elements, unless it is stored in blocks. */
function wholeOf(tensor: Located): Part & { width: number } {
  const type = typeOf(`${CALLER}: ${tensor.file}`, tensor.name, tensor);
  const { shape } = tensor;
  const isVector = shape.length < 2;
  const width = isVector && type.values === 1 ? 1 : (shape.at(-1) ?? 1);
  const count = width === 0 ? 0 : elementCount(shape) / width;
  return { tensor, type, first: 0, count, width, rowBytes: (width / type.values) * type.bytes };
}

/** The views of a checkpoint. The byte range of each begins where the previous one ends. */
export class Views {
  tensors: Map<string, Stored> = new Map();
  #storage: Storage;
  #list: View[] = [];
  #end = 0;

  /** storage: with 'stored' or 'int4', matrices that are stored in blocks may keep their blocks */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** name: of Hugging Face; like: stored tensor that has the shape of the view, except for the number of rows */
  add(name: string, like: Located, parts: (Part & { width: number })[]) {
    const { file } = like;
    const [{ width }] = parts;
    if (parts.some((part) => part.width !== width))
      throw fail(file, `the rows of ${quote(like.name)} are not as wide as in the other projections`, like.name);
    if (this.tensors.has(name)) throw fail(file, `${quote(like.name)} is a second tensor for ${name}`, like.name);
    const { dtype, form } = this.#formOf(like, parts);
    const rows = parts.reduce((sum, { count }) => sum + count, 0);
    const shape = like.shape.length < 2 ? [rows * width] : [rows, width];
    const whole = parts.length === 1 && parts[0].count === wholeOf(like).count;
    const rowBytes = form ? blockRowBytes(form, width) : width * KINDS[dtype].bytes;
    const begin = this.#end;
    this.#end += rows * rowBytes;
    const view = { file, dtype, form, shape: whole ? like.shape : shape, begin, end: this.#end, parts, rowBytes };
    this.#list.push(view);
    this.tensors.set(name, view);
  }

  /**
   * Type of a view's rows. With 'stored', matrices keep the form of their blocks, or become float16 if parts differ;
   * with 'int4' only 4-bit blocks keep it.
   */
  #formOf(like: Located, parts: Part[]): { dtype: KnownDType; form?: BlockForm } {
    const [{ type }] = parts;
    const same = parts.every((part) => part.type === type);
    if (same && Object.hasOwn(KINDS, type.name)) return { dtype: type.name as KnownDType };
    const isMatrix = like.shape.length > 1 && parts.every((part) => part.type.values > 1);
    const form = isMatrix && same && isInBlocks(type) ? type.form : undefined;
    if (isMatrix && this.#storage === 'stored') return form ? { dtype: 'F32', form } : { dtype: 'F16' };
    const keeps = this.#storage === 'int4' && form?.bits === 4;
    return keeps ? { dtype: 'F32', form: { ...form, hasByteInputs: true } } : { dtype: 'F32' };
  }

  find(at: number) {
    let [low, high] = [0, this.#list.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#list[middle].begin <= at) low = middle;
      else high = middle - 1;
    }
    return this.#list[low];
  }
}

export function makeViews(
  architecture: Architecture,
  heads: Heads,
  located: Iterable<Located>,
  storage: Storage,
): Views {
  const { names, qkv, neighbours, others = [] } = architecture;
  const views = new Views(storage);
  /** Projections that Hugging Face stores in one tensor. */
  const fused: Map<string, Located[]> = new Map();
  for (const tensor of located) {
    const { name, file } = tensor;
    if (FREQUENCIES.includes(name)) continue;
    const parsed = parseName(name);
    const projection = projectionOf(parsed.base);
    if (Number(parsed.number) >= heads.layers)
      throw fail(file, `${quote(name)} is in the file, but the number of blocks is ${heads.layers}`, name);
    if (projection < 0 || qkv === undefined) addNamed(views, names, others, tensor, parsed);
    else if (typeof qkv === 'string') {
      const whole = fillName(qkv, parsed);
      if (projection === 3) views.add(whole, tensor, [wholeOf(tensor)]);
      else {
        const group = fused.get(whole) ?? [];
        group[projection] = tensor;
        fused.set(whole, group);
      }
    } else if (projection < 3)
      views.add(fillName(qkv[projection], parsed), tensor, [ordered(tensor, projection, heads, neighbours)]);
    else for (const i of [0, 1, 2]) views.add(fillName(qkv[i], parsed), tensor, [slice(tensor, i, heads, neighbours)]);
  }
  for (const [name, group] of fused) views.add(name, group.find(Boolean) ?? group[0], joined(group));
  return views;
}

function addNamed(
  views: Views,
  names: Record<string, string>,
  others: readonly string[],
  tensor: Located,
  parsed: ParsedName,
) {
  const known = Object.hasOwn(names, parsed.base) ? names[parsed.base] : undefined;
  if (known === undefined && !others.includes(parsed.base))
    throw fail(
      tensor.file,
      `${quote(tensor.name)} is in the file, but the model that its metadata describes has no such tensor: ` +
        'without this tensor the results would be wrong',
      tensor.name,
    );
  views.add(known === undefined ? tensor.name : fillName(known, parsed), tensor, [wholeOf(tensor)]);
}

/** group: q, k and v */
function joined(group: Located[]) {
  const given = group.find(Boolean) ?? group[0];
  for (const i of [0, 1, 2])
    if (!group[i]) {
      const name = given.name.replace(/attn_[qkv]\b/, `attn_${'qkv'[i]}`);
      throw fail(given.file, `${quote(given.name)} is in the file, but ${name} is missing`, name);
    }
  return group.map(wholeOf);
}

/** Returns the rows of a projection, in Hugging Face's order. */
function ordered(tensor: Located, projection: number, heads: Heads, neighbours?: boolean) {
  const whole = wholeOf(tensor);
  const [expected, isRotated] = [rowsOf(heads)[projection], neighbours && projection < 2];
  if (!isRotated) return whole;
  if (whole.count !== expected) throw wrongRows(tensor, whole.count, expected);
  return { ...whole, headDim: heads.headDim };
}

/** Returns the rows of one projection in a fused tensor, in Hugging Face's order. */
function slice(tensor: Located, projection: number, heads: Heads, neighbours?: boolean) {
  const whole = wholeOf(tensor);
  const rows = rowsOf(heads);
  const total = rows[0] + rows[1] + rows[2];
  if (whole.count !== total) throw wrongRows(tensor, whole.count, total);
  const first = rows.slice(0, projection).reduce((a, b) => a + b, 0);
  const part = { ...whole, first, count: rows[projection] };
  return neighbours && projection < 2 ? { ...part, headDim: heads.headDim } : part;
}

/** Returns the numbers of rows of q, k and v. */
const rowsOf = ({ heads, kvHeads, headDim }: Heads) => [heads * headDim, kvHeads * headDim, kvHeads * headDim];

function wrongRows({ file, name, shape }: Located, got: number, expected: number) {
  const text = `${quote(name)} is ${formatShape(shape)}, with ${got} rows, expected ${expected}`;
  return fail(file, text, name, { got, expected });
}

export function viewFolder(folder: Folder, views: Views): Folder {
  const raw = new Windows(folder);
  const { names, hint, origin } = folder;
  return {
    ...{ names, hint, origin },
    size: (name, required) => folder.size(name, required),
    close: () => folder.close(),
    async read(_, begin, end) {
      const view = views.find(begin);
      const [first, last] = [
        Math.floor((begin - view.begin) / view.rowBytes),
        Math.ceil((end - view.begin) / view.rowBytes),
      ];
      const bytes = await readRows(raw, view, first, last);
      const from = view.begin + first * view.rowBytes;
      return bytes.subarray(begin - from, end - from);
    },
  };
}

async function readRows(raw: Windows, { dtype, form, parts, rowBytes }: View, first: number, last: number) {
  const all = new Uint8Array((last - first) * rowBytes);
  let start = 0;
  for (const part of parts) {
    const [from, to] = [Math.max(first, start) - start, Math.min(last, start + part.count) - start];
    if (from < to) {
      const rows = part.headDim ? await readHeads(raw, part, part.headDim, from, to) : await raw.rows(part, from, to);
      all.set(form ? toRows(rows, part) : convert(rows, part.type, dtype), (start + from - first) * rowBytes);
    }
    start += part.count;
  }
  return all;
}

/** Converts rows in blocks to the form that the core packs. */
const toRows = (bytes: Uint8Array, { type, rowBytes }: Part) =>
  toBlockRows(CALLER, bytes, type as BlockType, (rowBytes / type.bytes) * type.values);

/** dtype: of the result */
function convert(bytes: Uint8Array, type: GgufType, dtype: string) {
  if (type.name === dtype) return bytes;
  const numbers = dequantize(CALLER, bytes, type);
  return new Uint8Array(dtype === 'F16' ? toHalves(numbers).buffer : numbers.buffer);
}

/** Reads rows from..to−1 in the order in which element n is rotated with element n + headDim/2. */
async function readHeads(raw: Windows, part: Part, headDim: number, from: number, to: number) {
  const half = headDim / 2;
  const storedAt = (row: number) => {
    const within = row % headDim;
    return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
  };
  // The rows of all heads of which at least one row is needed.
  const [begin, end] = [Math.floor(from / headDim) * headDim, Math.ceil(to / headDim) * headDim];
  const rows = await raw.rows(part, begin, end);
  const { rowBytes } = part;
  const out = new Uint8Array((to - from) * rowBytes);
  for (let row = from; row < to; row++) {
    const at = (storedAt(row) - begin) * rowBytes;
    out.set(rows.subarray(at, at + rowBytes), (row - from) * rowBytes);
  }
  return out;
}

/** Reads stored tensors in windows, so that small reads do not become many requests. */
class Windows {
  #folder: Folder;
  /** The bytes of each window, the last used one last. */
  #windows: Map<string, Promise<Uint8Array>> = new Map();

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  async rows({ tensor, first, rowBytes }: Part, from: number, to: number) {
    return this.#read(tensor, (first + from) * rowBytes, (first + to) * rowBytes);
  }

  async #read(tensor: Located, from: number, to: number) {
    const size = tensor.end - tensor.begin;
    const numbers = [];
    for (let at = Math.floor(from / WINDOW); at * WINDOW < to; at++) numbers.push(at);
    const windows = await Promise.all(numbers.map((number) => this.#window(tensor, number, size)));
    const begin = numbers[0] * WINDOW;
    if (windows.length === 1) return windows[0].subarray(from - begin, to - begin);
    const bytes = new Uint8Array(to - from);
    windows.forEach((window, i) => {
      const start = begin + i * WINDOW;
      const [a, b] = [Math.max(from, start), Math.min(to, start + window.length)];
      bytes.set(window.subarray(a - start, b - start), a - from);
    });
    return bytes;
  }

  #window(tensor: Located, number: number, size: number) {
    const key = `${number} ${tensor.name}`;
    const known = this.#windows.get(key) ?? this.#fetch(tensor, number * WINDOW, Math.min((number + 1) * WINDOW, size));
    this.#windows.delete(key);
    this.#windows.set(key, known);
    for (const [oldest] of this.#windows) {
      if (this.#windows.size <= MAX_WINDOWS) break;
      this.#windows.delete(oldest);
    }
    return known;
  }

  async #fetch({ name, file, begin }: Located, from: number, to: number) {
    const bytes = await this.#folder.read(file, begin + from, begin + to);
    if (bytes.length === to - from) return bytes;
    throw fail(file, `the file ends within tensor ${quote(name)}: it is truncated`, name);
  }
}
