// Tensors of a visitor's own: from the bytes of files to queries, keys and values that fit each other, and to the
// weights of a layer where there are some.

import { readNpy, readNpz, readSafetensors } from '../../src/js/io/formats.js';
import { MOST_HEADS } from './examples.js';

/** @import { Given, Tensor } from './types.js' */

/** @typedef {{ name: string, bytes: Uint8Array, tensors?: Record<string, AnyTensor> }} Source tensors: of an archive */

/** More tokens than this the page does not draw. */
export const MOST_TOKENS = 4096;
/** @typedef {{ data: ArrayLike<number | bigint>, shape: readonly number[] }} AnyTensor as a reader gives it */

const NAMES = {
  query: ['query', 'queries', 'q', 'x', 'input', 'hidden_states'],
  key: ['key', 'keys', 'k'],
  value: ['value', 'values', 'v'],
};
const WEIGHT = /(^|[._/])(w[qkvo]|b[qkvo]|weight|bias|kernel|in_proj_(weight|bias)|[qkv]_proj_weight)$/i;

/** What is wrong, as a code and its values: how it is said is a matter of language. */
export class TensorProblem extends Error {
  /** @param {string} code @param {...(string | number)} values */
  constructor(code, ...values) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}

/** @param {unknown} nested @returns {number[]} */
function shapeOf(nested) {
  if (!Array.isArray(nested)) return [];
  return [nested.length, ...shapeOf(nested[0])];
}

/** Nested arrays, or { data, shape }. @param {string} name @param {any} value @returns {AnyTensor} */
function fromJson(name, value) {
  if (value && !Array.isArray(value) && Array.isArray(value.data) && Array.isArray(value.shape))
    return { data: value.data, shape: value.shape };
  const shape = shapeOf(value);
  const data = Array.isArray(value) ? value.flat(Infinity) : [];
  if (data.length !== shape.reduce((a, b) => a * b, 1) || !data.every((x) => typeof x === 'number'))
    throw new TensorProblem('ragged', name);
  return { data, shape };
}

/** @param {string} name @param {unknown} error */
const unreadable = (name, error) =>
  new TensorProblem('unreadable', name, error instanceof Error ? error.message : String(error));

/**
 * Archives are unpacked, which is not done at once; other files stay as they are.
 * @param {readonly Source[]} sources
 * @returns {Promise<Source[]>}
 */
export function unpackSources(sources) {
  return Promise.all(
    sources.map(async (source) => {
      if (!String.fromCharCode(...source.bytes.subarray(0, 2)).startsWith('PK')) return source;
      try {
        return { ...source, tensors: (await readNpz(source.bytes)).tensors };
      } catch (error) {
        throw unreadable(source.name, error);
      }
    }),
  );
}

/**
 * Every tensor in a file by its name, and the texts beside them. A file of one array gives it its own name.
 * @param {Source} file
 * @returns {{ tensors: Record<string, AnyTensor>, metadata: Record<string, string> }}
 */
function readFile({ name, bytes, tensors }) {
  if (tensors) return { tensors, metadata: {} };
  const start = String.fromCharCode(...bytes.subarray(0, 6));
  const stem = name.replace(/\.[^.]*$/, '') || 'x';
  try {
    if (start === '\x93NUMPY') return { tensors: { [stem]: readNpy(bytes) }, metadata: {} };
    if (!/^\s*[[{]/.test(start)) return readSafetensors(bytes);
    const json = JSON.parse(new TextDecoder().decode(bytes));
    const named = Array.isArray(json) ? { [stem]: json } : json;
    return {
      tensors: Object.fromEntries(Object.entries(named).map(([name, value]) => [name, fromJson(name, value)])),
      metadata: {},
    };
  } catch (error) {
    if (error instanceof TensorProblem) throw error;
    throw unreadable(name, error);
  }
}

/**
 * (T,C), (B,T,C) or (B,H,T,D), as float32 with a batch.
 * @param {string} name
 * @param {AnyTensor} tensor
 * @returns {Tensor}
 */
function normalize(name, { data, shape }) {
  if (shape.length < 2 || shape.length > 4 || shape.includes(0))
    throw new TensorProblem('rank', name, `[${shape.join(',')}]`);
  return { data: Float32Array.from(data, Number), shape: shape.length === 2 ? [1, ...shape] : [...shape] };
}

/** Shares of 1 are not exactly 1 in half precision. */
const ROUNDING = 0.02;

/** Whether every row that is not all zeros holds shares of 1. @param {AnyTensor} tensor */
function rowsSumToOne({ data, shape }) {
  const S = shape[shape.length - 1];
  let seen = false;
  for (let at = 0; at < data.length; at += S) {
    let sum = 0;
    for (let s = 0; s < S; s++) {
      const w = Number(data[at + s]);
      if (!(w >= 0)) return false;
      sum += w;
    }
    if (sum !== 0 && !(Math.abs(sum - 1) < ROUNDING)) return false;
    seen ||= sum !== 0;
  }
  return seen;
}

/**
 * Attention weights from elsewhere: they are named so, or square and many.
 * @param {string} name
 * @param {AnyTensor} tensor
 */
const isAttention = (name, { data, shape }) =>
  (/attn|attention/i.test(name) || (shape.length >= 4 && shape.at(-1) === shape.at(-2))) &&
  shape.length >= 2 &&
  shape[shape.length - 1] > 1 &&
  rowsSumToOne({ data, shape });

/** Tokens that a file names, as the page's own export does. @param {string} text @param {number} count */
function tokensIn(text, count) {
  try {
    const tokens = JSON.parse(text);
    return Array.isArray(tokens) && tokens.length === count ? tokens.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {readonly Source[]} sources npy, safetensors or JSON files, and npz archives that are unpacked
 * @returns {Given} tensors (B,N,C), or (B,H,N,D); weights by the names of their library
 */
export function readTensors(sources) {
  const files = sources.map(readFile);
  /** @type {Record<string, AnyTensor>} */
  const tensors = Object.assign({}, ...files.map((file) => file.tensors));
  /** @type {Record<string, string>} */
  const metadata = Object.assign({}, ...files.map((file) => file.metadata));
  const weights = Object.fromEntries(
    Object.entries(tensors)
      .filter(([name]) => WEIGHT.test(name))
      .map(([name, { data, shape }]) => [name, { data: Float32Array.from(data, Number), shape: [...shape] }]),
  );
  const all = Object.keys(tensors).filter((name) => !weights[name]);
  const find = (/** @type {keyof NAMES} */ kind) =>
    all.find((name) => NAMES[kind].includes(name.slice(name.lastIndexOf('.') + 1).toLowerCase()));
  const names = {
    query: find('query') ?? (all.length === 1 ? all[0] : undefined),
    key: find('key'),
    value: find('value'),
  };
  const attention = all.find((name) => isAttention(name, tensors[name]));
  if (attention && !names.key && (!names.query || names.query === attention))
    throw new TensorProblem('attention', attention, `[${tensors[attention].shape.join(',')}]`);
  if (!names.query) throw new TensorProblem('noQuery', Object.keys(tensors).join(', ') || '–');
  const read = (/** @type {string | undefined} */ name) => (name ? normalize(name, tensors[name]) : undefined);
  const query = normalize(names.query, tensors[names.query]);
  const given = { query, key: read(names.key), value: read(names.value) };
  const { key = query, value = key } = given;
  const rank = query.shape.length;
  const projected = Object.keys(weights).length > 0;
  if (projected && rank === 4) throw new TensorProblem('rankForWeights', names.query, `[${query.shape.join(',')}]`);
  /** @type {(name: string, shape: number[], expected: number[]) => void} */
  const fits = (name, shape, expected) => {
    if (String(shape) !== String(expected))
      throw new TensorProblem('misfit', name, `[${shape.join(',')}]`, `[${expected.join(',')}]`);
  };
  if (rank === 4 && query.shape[1] > MOST_HEADS) throw new TensorProblem('manyHeads', query.shape[1], MOST_HEADS);
  const lead = rank === 4 ? query.shape.slice(0, 2) : query.shape.slice(0, 1);
  const widthOf = (/** @type {Tensor} */ { shape }) => shape[shape.length - 1];
  const [T, S] = [query, key].map(({ shape }) => shape[shape.length - 2]);
  // A layer projects keys and values of any width.
  fits(names.key ?? names.query, key.shape, [...lead, S, widthOf(projected ? key : query)]);
  fits(names.value ?? names.key ?? names.query, value.shape, [...lead, S, widthOf(value)]);
  if (Math.max(T, S) > MOST_TOKENS) throw new TensorProblem('large', Math.max(T, S), MOST_TOKENS);
  return {
    ...given,
    ...(projected && { weights }),
    queries: tokensIn(metadata.queries, T),
    keys: tokensIn(metadata.keys, S),
  };
}
