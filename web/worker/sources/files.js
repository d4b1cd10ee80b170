// Files as a visitor gives them: what each is by its first bytes, and the tensors in it. Large ones are read in ranges,
// so that a head of a file of gigabytes costs no more than that head.

import { decode, isKnown, KINDS } from '../../../src/js/io/dtypes.js';
import { identify } from '../../../src/js/io/identify.js';
import { readNpy, readNpyHeader } from '../../../src/js/io/npy.js';
import { readNpz } from '../../../src/js/io/npz.js';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../src/js/io/safetensors.js';
import { Problem } from './problem.js';

/** @typedef {{ path: string, file: Blob }} Given */
/**
 * An array that is read in ranges of its elements.
 * @typedef {object} Stored
 * @property {string} name
 * @property {string} file
 * @property {readonly number[]} shape
 * @property {string} dtype
 * @property {(first: number, count: number) => Promise<Float32Array>} read
 */
/**
 * @typedef {object} Found
 * @property {Stored[]} tensors
 * @property {Record<string, string[]>} tokens lists of texts by their name
 * @property {Record<string, any>} json other JSON files, by name
 * @property {string[]} skipped what cannot be read, with the reason
 */

/** Files of these kinds are read whole. */
const MOST_WHOLE = 768 * 2 ** 20;
const MOST_JSON = 96 * 2 ** 20;
const HEAD = 65_600;
/** Weights of a model in a format that is not read. */
export const PICKLES = /\.(bin|pt|pth|ckpt|h5|keras|gguf|onnx|msgpack)$/i;

/** @param {Blob} file @param {number} from @param {number} to */
const bytesOf = async (file, from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer());
/** @param {string} path */
export const baseOf = (path) => path.split('/').pop() ?? path;
const stemOf = (/** @type {string} */ path) => baseOf(path).replace(/\.[^.]*$/, '');
const countOf = (/** @type {readonly number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/**
 * @param {string} name
 * @param {string} file
 * @param {readonly number[]} shape
 * @param {string} dtype
 * @param {ArrayLike<number | bigint>} data
 * @returns {Stored}
 */
const stored = (name, file, shape, dtype, data) => ({
  name,
  file,
  shape,
  dtype,
  read: async (first, count) =>
    Float32Array.from({ length: count }, (_, i) => Number(/** @type {ArrayLike<number>} */ (data)[first + i])),
});

/**
 * @param {string} name
 * @param {Given} given
 * @param {{ shape: readonly number[], dtype: import('../../../src/js/io/dtypes.js').KnownDType, start: number,
 *   bigEndian?: boolean }} where
 * @returns {Stored}
 */
const inRanges = (name, { path, file }, { shape, dtype, start, bigEndian = false }) => ({
  name,
  file: path,
  shape,
  dtype,
  async read(first, count) {
    const size = KINDS[dtype].bytes;
    const bytes = await bytesOf(file, start + first * size, start + (first + count) * size);
    if (bytes.length !== count * size) throw new Problem('truncated', path);
    const data = decode('open', bytes, dtype, bigEndian);
    return data instanceof Float32Array ? data : Float32Array.from(/** @type {any} */ (data), Number);
  },
});

/** JSON has no NaN: writers put null in its place. @param {unknown[]} data */
const withNaN = (data) => /** @type {number[]} */ (data.map((x) => (x === null ? Number.NaN : x)));

/** Nested arrays of numbers, or { data, shape }. @param {string} name @param {string} path @param {any} value */
function fromJson(name, path, value) {
  if (value && !Array.isArray(value) && Array.isArray(value.data) && Array.isArray(value.shape)) {
    if (countOf(value.shape) !== value.data.length) throw new Problem('ragged', path);
    return stored(name, path, value.shape, 'JSON', withNaN(value.data));
  }
  /** @type {number[]} */
  const shape = [];
  for (let at = value; Array.isArray(at); at = at[0]) shape.push(at.length);
  const data = withNaN(value.flat(Infinity));
  if (data.length !== countOf(shape) || !data.every((/** @type {unknown} */ x) => typeof x === 'number'))
    throw new Problem('ragged', path);
  return stored(name, path, shape, 'JSON', data);
}

const isTexts = (/** @type {unknown} */ value) =>
  Array.isArray(value) && value.length > 0 && value.every((x) => typeof x === 'string');

/** @param {Given} given @param {string} text @param {Found} found */
function readJson({ path }, text, found) {
  let json;
  try {
    // Python writes NaN as it is.
    json = JSON.parse(text.replace(/\bNaN\b/g, 'null'));
  } catch (error) {
    throw new Problem('notJson', baseOf(path), /** @type {Error} */ (error).message);
  }
  if (isTexts(json)) found.tokens.tokens = json;
  else if (Array.isArray(json)) found.tensors.push(fromJson(stemOf(path), path, json));
  else if (json && typeof json === 'object') {
    let used = false;
    for (const [name, value] of Object.entries(json)) {
      if (isTexts(value)) found.tokens[name] = value;
      else if ((Array.isArray(value) && Array.isArray(value[0])) || (value?.data && value?.shape))
        found.tensors.push(fromJson(name, path, value));
      else continue;
      used = true;
    }
    if (!used || json.model_type) found.json[baseOf(path)] = json;
  }
}

/** @param {Given} given @param {Found} found */
async function readOne(given, found) {
  const { path, file } = given;
  if (file.size === 0) throw new Problem('nothing', baseOf(path));
  const start = await bytesOf(file, 0, HEAD);
  const letters = String.fromCharCode(...start.subarray(0, 16));
  if (letters.startsWith('\x93NUMPY')) {
    const { dtype, bigEndian, fortran, shape, start: at, descr } = readNpyHeader(start);
    if (!dtype) throw new Problem('dtype', baseOf(path), descr);
    if (!fortran) return found.tensors.push(inRanges(stemOf(path), given, { shape, dtype, bigEndian, start: at }));
    if (file.size > MOST_WHOLE) throw new Problem('tooLarge', baseOf(path), file.size);
    const whole = readNpy(await file.arrayBuffer());
    return found.tensors.push(stored(stemOf(path), path, whole.shape, whole.dtype, whole.data));
  }
  if (letters.startsWith('PK')) {
    if (file.size > MOST_WHOLE) throw new Problem('tooLarge', baseOf(path), file.size);
    // A zip of pickles, whole or not.
    if (PICKLES.test(path) || /PyTorch|Keras/.test(identify(start) ?? ''))
      throw new Problem('unknownFile', baseOf(path));
    const { tensors } = await readNpz(await file.arrayBuffer());
    for (const [name, tensor] of Object.entries(tensors))
      if (isKnown(tensor.dtype)) found.tensors.push(stored(name, path, tensor.shape, tensor.dtype, tensor.data));
      else found.skipped.push(`${baseOf(path)}: ${name}, ${tensor.dtype}`);
    return;
  }
  if (start.length > 8 && start[8] === 0x7b) {
    const header = readSafetensorsHeader(await bytesOf(file, 0, readSafetensorsHeaderEnd(start, file.size)), file.size);
    for (const [name, { dtype, shape, begin }] of Object.entries(header.tensors))
      if (isKnown(dtype)) found.tensors.push(inRanges(name, given, { shape, dtype, start: begin }));
    for (const name of ['tokens', 'queries', 'keys'])
      try {
        const list = JSON.parse(header.metadata[name] ?? '');
        if (isTexts(list)) found.tokens[name] = list;
      } catch {
        // Metadata is for whoever wrote it.
      }
    return;
  }
  if (/^\s*[[{]/.test(letters)) {
    if (file.size > MOST_JSON) throw new Problem('tooLarge', baseOf(path), file.size);
    return readJson(given, await file.text(), found);
  }
  if (/\.txt$/i.test(path) && file.size < MOST_JSON) {
    const text = (await file.text()).trim();
    found.tokens[stemOf(path)] = text.split(/\r?\n/.test(text) ? /\r?\n/ : /\s+/);
    return;
  }
  throw new Problem('unknownFile', baseOf(path));
}

/** The reason alone: which function of the module gave it is nothing to a visitor. @param {any} error */
const why = (error) => String(error?.message ?? error).replace(/^\w+: /, '');

/**
 * What is in the files. One that cannot be read does not make the others unreadable.
 * @param {readonly Given[]} files
 * @returns {Promise<Found & { problems: Problem[] }>}
 */
export async function findIn(files) {
  /** @type {Found & { problems: Problem[] }} */
  const found = { tensors: [], tokens: {}, json: {}, skipped: [], problems: [] };
  for (const given of files) {
    // What belongs to a checkpoint but says nothing about attention.
    if (/^(tokenizer|vocab|merges|special_tokens|generation_config|added_tokens)/.test(baseOf(given.path))) continue;
    try {
      await readOne(given, found);
    } catch (error) {
      found.problems.push(error instanceof Problem ? error : new Problem('unreadable', baseOf(given.path), why(error)));
    }
  }
  return found;
}
