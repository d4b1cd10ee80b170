// Reads the tensors in a user's files. The first bytes of a file determine its format. Large files are read in ranges,
// so that the page need not read gigabytes of weights to show one head.

import { decode, isKnown, KINDS, type KnownDType } from '../../../src/js/io/dtypes.ts';
import { identify } from '../../../src/js/io/identify.ts';
import { readNpy, readNpyHeader } from '../../../src/js/io/npy.ts';
import { readNpz } from '../../../src/js/io/npz.ts';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../src/js/io/safetensors.ts';
import type { UserFile } from '../../model/protocol/protocol.ts';
import { Problem } from './problem.ts';
/** An array that can be read in ranges of its elements. */
export type Stored = {
  name: string;
  file: string;
  shape: readonly number[];
  dtype: string;
  read: (first: number, count: number) => Promise<Float32Array>;
};
export type Found = {
  tensors: Stored[];
  /** lists of texts by their name */
  tokens: Record<string, string[]>;
  /** config.json and other JSON files without arrays, by name */
  json: Record<string, unknown>;
  /** tensors that cannot be read, with the reason */
  skipped: string[];
};

/** Maximum bytes of a file that is read as a whole: of a file with arrays, and of a text file. */
const [MAX_WHOLE, MAX_TEXT] = [768 * 2 ** 20, 96 * 2 ** 20];
/** Bytes that are read at the start of a file. They include the header of an .npy file, which has at most 64 KB. */
const START = 65_600;
/** Names of files with the weights of a model, in formats that the page does not read as arrays. */
export const PICKLES = /\.(bin|pt|pth|ckpt|h5|keras|gguf|onnx|msgpack)$/i;
/** Names of files with the weights of a model, in formats that `openModel` reads. */
export const MODEL_WEIGHTS = /\.(safetensors|gguf|bin|pth?|ckpt)$/i;

const bytesOf = async (file: Blob, from: number, to: number) =>
  new Uint8Array(await file.slice(from, to).arrayBuffer());
export const baseOf = (path: string) => path.split('/').pop() ?? path;
const stemOf = (path: string) => baseOf(path).replace(/\.[^.]*$/, '');
const countOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const stored = (
  name: string,
  file: string,
  shape: readonly number[],
  dtype: string,
  data: ArrayLike<number | bigint>,
): Stored => ({
  name,
  file,
  shape,
  dtype,
  read: async (first, count) =>
    Float32Array.from({ length: count }, (_, i) => Number((data as ArrayLike<number>)[first + i])),
});

const inRanges = (
  name: string,
  { path, file }: UserFile,
  {
    shape,
    dtype,
    start,
    bigEndian = false,
  }: { shape: readonly number[]; dtype: KnownDType; start: number; bigEndian?: boolean },
): Stored => ({
  name,
  file: path,
  shape,
  dtype,
  async read(first, count) {
    const size = KINDS[dtype].bytes;
    const bytes = await bytesOf(file, start + first * size, start + (first + count) * size);
    if (bytes.length !== count * size) throw new Problem('truncated', path);
    const data = decode('open', bytes, dtype, bigEndian);
    return data instanceof Float32Array ? data : Float32Array.from(data as ArrayLike<number>, Number);
  },
});

/** Replaces null by NaN, because programs write null in the place of NaN into JSON. */
const withNaN = (data: unknown[]) => data.map((x) => (x === null ? Number.NaN : x)) as number[];

const isArrayWithShape = (value: unknown): value is { data: unknown[]; shape: number[] } =>
  typeof value === 'object' &&
  value !== null &&
  'data' in value &&
  'shape' in value &&
  Array.isArray(value.data) &&
  Array.isArray(value.shape);

function fromJson(name: string, path: string, value: unknown[] | { data: unknown[]; shape: number[] }) {
  if (!Array.isArray(value)) {
    if (countOf(value.shape) !== value.data.length) throw new Problem('ragged', path);
    return stored(name, path, value.shape, 'JSON', withNaN(value.data));
  }
  const shape: number[] = [];
  for (let at = value as unknown; Array.isArray(at); at = at[0]) shape.push(at.length);
  const data = withNaN(value.flat(Number.POSITIVE_INFINITY));
  if (data.length !== countOf(shape) || !data.every((x) => typeof x === 'number')) throw new Problem('ragged', path);
  return stored(name, path, shape, 'JSON', data);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((x) => typeof x === 'string');

async function readJson({ path, file }: UserFile, found: Found) {
  if (file.size > MAX_TEXT) throw new Problem('tooLarge', baseOf(path), file.size);
  const text = await file.text();
  let json: unknown;
  try {
    // Python writes NaN into JSON, although the format has no NaN.
    json = JSON.parse(text.replace(/\bNaN\b/g, 'null'));
  } catch (error) {
    throw new Problem('notJson', baseOf(path), (error as Error).message);
  }
  if (isTexts(json)) found.tokens.tokens = json;
  else if (Array.isArray(json)) found.tensors.push(fromJson(stemOf(path), path, json));
  else if (json && typeof json === 'object') {
    let used = false;
    for (const [name, value] of Object.entries(json)) {
      if (isTexts(value)) found.tokens[name] = value;
      else if ((Array.isArray(value) && Array.isArray(value[0])) || isArrayWithShape(value))
        found.tensors.push(fromJson(name, path, value));
      else continue;
      used = true;
    }
    if (!used || ('model_type' in json && json.model_type)) found.json[baseOf(path)] = json;
  }
}

async function readNpyFile(source: UserFile, start: Uint8Array, found: Found) {
  const { path, file } = source;
  const { dtype, bigEndian, fortran, shape, start: first, descr } = readNpyHeader(start);
  if (!dtype) throw new Problem('dtype', baseOf(path), descr);
  if (!fortran) return found.tensors.push(inRanges(stemOf(path), source, { shape, dtype, bigEndian, start: first }));
  if (file.size > MAX_WHOLE) throw new Problem('tooLarge', baseOf(path), file.size);
  const whole = readNpy(await file.arrayBuffer());
  found.tensors.push(stored(stemOf(path), path, whole.shape, whole.dtype, whole.data));
}

async function readZip({ path, file }: UserFile, start: Uint8Array, found: Found) {
  if (file.size > MAX_WHOLE) throw new Problem('tooLarge', baseOf(path), file.size);
  // The archive is a file of PyTorch or Keras, possibly truncated.
  if (PICKLES.test(path) || /PyTorch|Keras/.test(identify(start) ?? '')) throw new Problem('unknownFile', baseOf(path));
  const { tensors } = await readNpz(await file.arrayBuffer());
  for (const [name, tensor] of Object.entries(tensors))
    if (isKnown(tensor.dtype)) found.tensors.push(stored(name, path, tensor.shape, tensor.dtype, tensor.data));
    else found.skipped.push(`${baseOf(path)}: ${name}, ${tensor.dtype}`);
}

async function readSafetensorsFile(source: UserFile, start: Uint8Array, found: Found) {
  const { file } = source;
  const header = readSafetensorsHeader(await bytesOf(file, 0, readSafetensorsHeaderEnd(start, file.size)), file.size);
  for (const [name, { dtype, shape, begin }] of Object.entries(header.tensors))
    if (isKnown(dtype)) found.tensors.push(inRanges(name, source, { shape, dtype, start: begin }));
  for (const name of ['tokens', 'queries', 'keys'])
    try {
      const list = JSON.parse(header.metadata[name] ?? '');
      if (isTexts(list)) found.tokens[name] = list;
    } catch {
      // Metadata may have any format, so text that is not JSON is ignored.
    }
}

/**
 * Reads the table of one head, as the page saves it: a row for each query and a column for each key, with their texts.
 */
async function readCsv({ path, file }: UserFile, found: Found) {
  if (file.size > MAX_TEXT) throw new Problem('tooLarge', baseOf(path), file.size);
  const { rowsOf } = await import('../../model/corpus/readTable.ts');
  const [[corner, ...keys] = [''], ...rows] = rowsOf((await file.text()).replaceAll('\r\n', '\n'), ',').rows;
  const data = rows.flatMap(([, ...weights]) => weights.map((text) => (text === '' ? Number.NaN : Number(text))));
  const isMatrix = corner === '' && rows.length > 0 && data.length === rows.length * keys.length;
  if (!isMatrix || rows.some((row) => row.length !== keys.length + 1) || data.every(Number.isNaN))
    throw new Problem('table', baseOf(path));
  found.tensors.push(stored(stemOf(path), path, [rows.length, keys.length], 'CSV', data));
  found.tokens.queries = rows.map(([query]) => query);
  found.tokens.keys = keys;
}

async function readText({ path, file }: UserFile, found: Found) {
  const text = (await file.text()).trim();
  found.tokens[stemOf(path)] = text.split(/\r?\n/.test(text) ? /\r?\n/ : /\s+/);
}

async function readOne(source: UserFile, found: Found) {
  const { path, file } = source;
  if (file.size === 0) throw new Problem('nothing', baseOf(path));
  const start = await bytesOf(file, 0, START);
  const letters = String.fromCharCode(...start.subarray(0, 16));
  if (letters.startsWith('\x93NUMPY')) return readNpyFile(source, start, found);
  if (letters.startsWith('PK')) return readZip(source, start, found);
  if (start.length > 8 && start[8] === 0x7b) return readSafetensorsFile(source, start, found);
  if (/^\s*[[{]/.test(letters)) return readJson(source, found);
  if (/\.csv$/i.test(path)) return readCsv(source, found);
  if (/\.onnx$/i.test(path)) throw new Problem('onnx', baseOf(path));
  if (/\.txt$/i.test(path) && file.size < MAX_TEXT) return readText(source, found);
  throw new Problem('unknownFile', baseOf(path));
}

/** Returns the message of an error without the name of the function at the beginning. */
export const reasonOf = (error: unknown) =>
  String(error instanceof Error ? error.message : error).replace(/^\w+: /, '');

/** Returns the contents of files. The reason why a file cannot be read is added to `problems`. */
export async function findIn(files: readonly UserFile[]): Promise<Found & { problems: Problem[] }> {
  const found: Found & { problems: Problem[] } = { tensors: [], tokens: {}, json: {}, skipped: [], problems: [] };
  for (const source of files) {
    // Files with these names belong to a checkpoint, and contain no attention weights.
    const name = baseOf(source.path);
    if (/^(tokenizer|vocab|merges|special_tokens|generation_config|added_tokens)/.test(name)) continue;
    try {
      await readOne(source, found);
    } catch (error) {
      found.problems.push(error instanceof Problem ? error : new Problem('unreadable', name, reasonOf(error)));
    }
  }
  return found;
}
