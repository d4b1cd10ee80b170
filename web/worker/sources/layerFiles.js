// Queries, keys and values out of files, or a layer's weights with what goes into it.

import { pieceOf } from '../modelInput.js';
import { aboutHeads, project, splitHeads } from './attentionOnly.js';
import { tokensFor } from './attentionWeights.js';
import { Problem } from './problem.js';

/** @import { Found, Stored } from './files.js' */
/** @import { Numbers } from './attentionOnly.js' */
/** @import { Source } from './sources.js' */

/** More tokens, or heads, than this are not drawn. */
const MOST_TOKENS = 4096;
const MOST_HEADS = 144;

const NAMES = {
  query: ['query', 'queries', 'q', 'x', 'input', 'hidden_states'],
  key: ['key', 'keys', 'k'],
  value: ['value', 'values', 'v'],
};
const WEIGHT = /(^|[._/])(w[qkvo]|b[qkvo]|weight|bias|kernel|in_proj_(weight|bias)|[qkv]_proj_weight)$/i;

/** @param {readonly Stored[]} tensors */
function named(tensors) {
  const others = tensors.filter(({ name }) => !WEIGHT.test(name));
  const find = (/** @type {keyof NAMES} */ kind) =>
    others.find(({ name }) => NAMES[kind].includes(name.slice(name.lastIndexOf('.') + 1).toLowerCase()));
  return { query: find('query'), key: find('key'), value: find('value') };
}

/**
 * Whether files are queries and keys by their names, and hold no attention weights beside them: what is called a query
 * is none, though its rows may sum to 1.
 * @param {readonly Stored[]} tensors
 * @param {readonly Stored[]} others that look like no attention weights
 */
export function isLayer(tensors, others) {
  const { query, key, value } = named(tensors);
  const own = [query, key, value];
  // Queries alone have nothing to look at; inputs look at each other.
  const alone = !key && /(^|\.)(q|query|queries)$/i.test(query?.name ?? 'q');
  if (alone && !tensors.some(({ name }) => WEIGHT.test(name))) return false;
  return query !== undefined && tensors.every((tensor) => own.includes(tensor) || others.includes(tensor));
}

/**
 * Of (T,C), (B,T,C) or (B,H,T,D) one entry at a time.
 * @param {Stored} tensor
 */
function entriesOf({ name, shape, read }) {
  if (shape.length < 2 || shape.length > 4 || shape.includes(0))
    throw new Problem('layerShape', name, shape.join(' × '));
  const own = shape.length === 4 ? shape.slice(1) : shape.slice(-2);
  const size = own.reduce((a, b) => a * b, 1);
  const batch = shape.length > 2 ? shape[0] : 1;
  return {
    shape: own,
    batch,
    /** What is the same for all entries has one. @param {number} entry */
    read: async (entry) => ({ data: await read(Math.min(entry, batch - 1) * size, size), shape: own }),
  };
}

/** Numbers of heads that divide a width. @param {number} width */
const divisors = (width) =>
  Array.from({ length: Math.min(width, MOST_HEADS) }, (_, i) => i + 1).filter((n) => width % n === 0);
/** Heads are some 64 wide. @param {number[]} choices @param {number} width */
const usual = (choices, width) =>
  choices.reduce((best, n) => (Math.abs(width / n - 64) < Math.abs(width / best - 64) ? n : best));

/**
 * @param {any} hl
 * @param {string} name
 * @param {string} title
 * @param {Found} found
 * @returns {Promise<{ source: Source, told: Record<string, any> }>}
 */
export async function openLayer(hl, name, title, found) {
  const given = named(found.tensors);
  const query = entriesOf(/** @type {Stored} */ (given.query));
  const key = given.key ? entriesOf(given.key) : query;
  const value = given.value ? entriesOf(given.value) : key;
  /** @type {Record<string, { data: Float32Array, shape: number[] }>} */
  const weights = {};
  for (const { name, shape, read } of found.tensors.filter(({ name }) => WEIGHT.test(name)))
    weights[name] = {
      data: await read(
        0,
        shape.reduce((a, b) => a * b, 1),
      ),
      shape: [...shape],
    };
  const projected = Object.keys(weights).length > 0;
  const nameOf = (/** @type {keyof NAMES} */ kind) => given[kind]?.name ?? given.key?.name ?? given.query?.name ?? kind;
  const split = query.shape.length === 3;
  if (projected && split) throw new Problem('layerShape', nameOf('query'), query.shape.join(' × '));
  const [T, S, width] = [query.shape.at(-2) ?? 0, key.shape.at(-2) ?? 0, query.shape.at(-1) ?? 0];
  const fits = (/** @type {string} */ what, /** @type {number[]} */ shape, /** @type {number[]} */ expected) => {
    if (String(shape) !== String(expected))
      throw new Problem('layerMisfit', what, shape.join(' × '), expected.join(' × '));
  };
  const lead = split ? query.shape.slice(0, 1) : [];
  fits(nameOf('key'), key.shape, [...lead, S, projected ? (key.shape.at(-1) ?? 0) : width]);
  fits(nameOf('value'), value.shape, [...lead, S, value.shape.at(-1) ?? 0]);
  const { batch } = query;
  for (const [kind, one] of /** @type {[keyof NAMES, typeof query][]} */ ([
    ['key', key],
    ['value', value],
  ]))
    if (one.batch !== batch && one.batch !== 1) fits(nameOf(kind), [one.batch, ...one.shape], [batch, ...one.shape]);
  if (Math.max(T, S) > MOST_TOKENS) throw new Problem('layerLarge', Math.max(T, S), MOST_TOKENS);
  if (split && query.shape[0] > MOST_HEADS) throw new Problem('manyHeads', nameOf('query'), 1, query.shape[0]);
  const widthV = value.shape.at(-1) ?? 0;
  const choices = split ? [] : divisors(width).filter((n) => projected || widthV % n === 0);
  let heads = split ? query.shape[0] : usual(choices, width);

  /** Queries, keys and values of every head. @param {number} entry */
  async function parts(entry) {
    const [q, k, v] = await Promise.all([query, key, value].map(({ read }) => read(entry)));
    if (split) return { q, k, v };
    const own = (/** @type {Numbers} */ x) => splitHeads(x, heads);
    if (!projected) return { q: own(q), k: own(k), v: own(v) };
    const { wq, wk, wv, bq, bk, bv } = parametersOf(hl, weights, { heads, width, key, value });
    return { q: own(project(hl, q, wq, bq)), k: own(project(hl, k, wk, bk)), v: own(project(hl, v, wv, bv)) };
  }
  /** Of the entry that is shown. */
  let made = { entry: 0, heads, parts: await parts(0) };
  const source = /** @type {any} */ ({
    about: aboutHeads(name, { title, heads, context: MOST_TOKENS, reads: 'nothing', choices, batch }),
    tokens: found.tokens,
    version: 0,
    split(/** @type {number} */ count) {
      heads = count;
      source.about = { ...source.about, heads };
    },
    async pose(/** @type {any} */ _hl, /** @type {any} */ _run, asked = 0) {
      const entry = Math.min(asked, batch - 1);
      if (made.entry !== entry || made.heads !== heads) made = { entry, heads, parts: await parts(entry) };
      const names = tokensFor(source.tokens, T, S);
      const pieces = Array.from({ length: T }, (_, t) => pieceOf(names.queries?.[t] ?? String(t)));
      if (!given.key) return { pieces, layers: [made.parts] };
      const keys = Array.from({ length: S }, (_, s) => pieceOf(names.keys?.[s] ?? String(s)));
      return { pieces, keys, layers: [made.parts] };
    },
  });
  const told = { kind: 'layer', T, S, width, projected, split, batch };
  return { source, told: { ...told, named: Object.keys(found.tokens).length > 0 } };
}

/**
 * The weights of a layer under our names, whatever library named them.
 * @param {any} hl
 * @param {Record<string, { data: Float32Array, shape: number[] }>} weights
 * @param {{ heads: number, width: number, key: Pick<Numbers, 'shape'>, value: Pick<Numbers, 'shape'> }} layer
 */
function parametersOf(hl, weights, { heads, width, key, value }) {
  const some = (/** @type {RegExp} */ pattern) => Object.keys(weights).some((name) => pattern.test(name));
  return hl.scope(() => {
    try {
      const layer = hl.multiHeadAttention({
        embedDim: width,
        numHeads: heads,
        keyDim: key.shape.at(-1),
        valueDim: value.shape.at(-1),
        bias: some(/bias|^b[qkv]$/i),
        outProjection: some(/^wo$|w_o|out|dense|^w\./i),
      });
      layer.loadStateDict(weights);
      const copy = (/** @type {any} */ tensor) => tensor && { data: tensor.copy(), shape: [...tensor.shape] };
      return Object.fromEntries(
        ['wq', 'wk', 'wv', 'bq', 'bk', 'bv'].map((name) => [name, copy(layer.parameters[name])]),
      );
    } catch (error) {
      throw new Problem('layerWeights', String(/** @type {Error} */ (error).message).replace(/^\w+: /, ''));
    }
  });
}
