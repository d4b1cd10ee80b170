// Attention weights that were computed elsewhere: recognised by their shape and by rows that sum to 1.

import { Problem } from './problem.js';

/** @import { Stored } from './files.js' */
/**
 * The weights of some layers, all of the same shape.
 * @typedef {object} Attentions
 * @property {string} name
 * @property {string} part of an encoder–decoder, as far as the name says it
 * @property {number} layers
 * @property {number} batch entries of each layer
 * @property {number} heads
 * @property {number} T
 * @property {number} S
 * @property {number} wholeT before it was cut
 * @property {number} wholeS
 * @property {boolean} causal
 * @property {number} nan how many of the numbers that were looked at are NaN
 * @property {(layer: number, head: number, entry?: number) => Promise<Float32Array>} read (T,S)
 */

/**
 * @typedef {{ tensor: Stored, layers: number, batch: number, heads: number, T: number, S: number, nan: number,
 *   causal: boolean, seen: number }} Fitting
 */

/** Shares of 1 are not exactly 1 in half precision. */
const ROUNDING = 0.02;
/** More tokens than this are not drawn. */
export const MOST_TOKENS = 4096;
/** Rows of a head that are looked at, and heads. */
const [ROWS, HEADS] = [64, 16];

/** Without axes of one element that stand before the last three. @param {readonly number[]} shape */
export function axesOf(shape) {
  if (shape.length < 2 || shape.includes(0)) return null;
  const [T, S] = shape.slice(-2);
  const lead = shape.slice(0, -2);
  const heads = lead.at(-1) ?? 1;
  const many = lead.slice(0, -1).filter((n) => n > 1);
  if (many.length > 2) return null;
  // (L,B,H,T,S), as models stack them; of four axes the first is the layer. (L,H,1,T,S) is nothing that we know.
  const [layers = 1, batch = 1] = many;
  return { layers, batch, heads, T, S };
}

/**
 * Rows of heads here and there: shares of 1, and never below 0.
 * @param {Stored} tensor
 * @param {{ layers: number, batch: number, heads: number, T: number, S: number }} axes
 */
async function look({ read }, { layers, batch, heads, T, S }) {
  const count = layers * batch * heads;
  const step = Math.max(Math.floor(count / HEADS), 1);
  let [nan, seen, causal] = [0, 0, T === S && T > 1];
  for (let head = 0; head < count; head += step) {
    // The first rows, which show whether anything looks ahead, and one of the last.
    for (const first of T > ROWS ? [0, T - ROWS] : [0]) {
      const rows = Math.min(ROWS, T);
      const data = await read((head * T + first) * S, rows * S);
      for (let t = 0; t < rows; t++) {
        let sum = 0;
        for (let s = 0; s < S; s++) {
          const w = data[t * S + s];
          if (w < 0) return null;
          if (s > first + t && w !== 0) causal = false;
          sum += w;
        }
        if (Number.isNaN(sum)) for (let s = 0; s < S; s++) nan += Number(Number.isNaN(data[t * S + s]));
        else if (sum !== 0 && Math.abs(sum - 1) > ROUNDING) return null;
        else if (sum !== 0) seen++;
      }
    }
  }
  return seen > 0 || nan > 0 ? { nan, causal: causal && seen > 0, seen } : null;
}

/** Files by layer, each (B,H,T,S): their names differ by a number alone. @param {Fitting[]} group */
function byLayer(group) {
  const names = new Set(group.map(({ tensor: { name } }) => name.replace(/\d+/, '')));
  const [{ layers }] = group;
  const batches =
    group.length > 1 && names.size === 1 && group.every((one) => one.layers === layers && one.batch === 1);
  return batches ? group.map((one) => ({ ...one, layers: 1, batch: layers })) : group;
}

const natural = new Intl.Collator('en', { numeric: true });

/**
 * The weights in some files: one array of all layers, or an array for each.
 * @param {readonly Stored[]} tensors
 * @returns {Promise<{ attentions: Attentions[], others: Stored[] }>} by part, as an encoder–decoder has three
 */
export async function findAttentions(tensors) {
  /** @type {Fitting[]} */
  const fitting = [];
  const others = [];
  for (const tensor of tensors) {
    const axes = axesOf(tensor.shape);
    const named = /attn|attention|weights/i.test(tensor.name);
    // One number a row is no picture; two axes are a matrix like any other, unless it says what it is.
    const possible = axes && axes.S > 1 && !/(^|[._])(bias|weight|kernel)$/.test(tensor.name);
    const found = possible ? await look(tensor, axes) : null;
    if (axes && found && (found.seen > 0 || named)) fitting.push({ tensor, ...axes, ...found });
    else others.push(tensor);
  }
  const partOf = (/** @type {string} */ name) => /cross|encoder|decoder/i.exec(name)?.[0].toLowerCase() ?? '';
  /** @type {Map<string, Fitting[]>} */
  const groups = new Map();
  for (const one of fitting) {
    const kind = `${partOf(one.tensor.name)} ${one.heads} ${one.T} ${one.S} ${one.batch}`;
    groups.set(kind, [...(groups.get(kind) ?? []), one]);
  }
  const attentions = [...groups.values()].map(byLayer).map((group) => {
    group.sort((a, b) => natural.compare(a.tensor.name, b.tensor.name));
    const [{ heads, batch, T: wholeT, S: wholeS, tensor }] = group;
    const [T, S] = [wholeT, wholeS].map((n) => Math.min(n, MOST_TOKENS));
    const starts = group.flatMap((one) =>
      Array.from({ length: one.layers }, (_, l) => ({ read: one.tensor.read, first: l * batch * heads })),
    );
    return {
      name: group.length === 1 ? tensor.name : partOf(tensor.name) || tensor.name.replace(/[\d.]+$/, ''),
      part: partOf(tensor.name),
      layers: starts.length,
      batch,
      heads,
      T,
      S,
      wholeT,
      wholeS,
      causal: group.every(({ causal }) => causal),
      nan: group.reduce((sum, { nan }) => sum + nan, 0),
      async read(/** @type {number} */ layer, /** @type {number} */ head, entry = 0) {
        const { read, first } = starts[layer];
        const at = (first + entry * heads + head) * wholeT * wholeS;
        if (T === wholeT && S === wholeS) return read(at, T * S);
        const rows = await read(at, T * wholeS);
        const cut = new Float32Array(T * S);
        for (let t = 0; t < T; t++) cut.set(rows.subarray(t * wholeS, t * wholeS + S), t * S);
        return cut;
      },
    };
  });
  return { attentions, others };
}

/**
 * Names of the tokens: as they were given, where there are as many; numbers else.
 * @param {Record<string, string[]>} lists
 * @param {number} T
 * @param {number} S
 * @param {string} [part] of an encoder–decoder
 */
export function tokensFor(lists, T, S, part = '') {
  const { source, target } = lists;
  const [own, looked] = [part === 'encoder' ? source : target, part === 'decoder' ? target : source];
  if (part && (own?.length === T || looked?.length === S))
    return { queries: own?.length === T ? own : null, keys: looked?.length === S ? looked : null };
  const all = Object.entries(lists);
  const find = (/** @type {RegExp} */ name, /** @type {number} */ count) =>
    all.find(([key, list]) => name.test(key) && list.length >= count)?.[1] ??
    all.find(([, list]) => list.length === count)?.[1];
  const queries = find(/quer|target|decoder/i, T);
  const keys = T === S ? find(/key/i, S) : find(/key|source|encoder/i, S);
  return { queries: queries ?? null, keys: keys ?? (T === S ? (queries ?? null) : null) };
}

/** @param {Attentions} attentions */
export function checkSize({ name, T, S, layers, heads }) {
  if (layers * heads > 4096) throw new Problem('manyHeads', name, layers, heads);
  if (T < 1 || S < 1) throw new Problem('nothing', name);
}

/**
 * What the page knows of weights.
 * @param {string} name @param {string} title @param {any} shown @param {string[]} parts @param {any[]} all
 */
export function aboutWeights(name, title, shown, parts, all) {
  return {
    name,
    title,
    kind: /** @type {const} */ ('weights'),
    layers: shown.layers,
    heads: shown.heads,
    batch: shown.batch ?? 1,
    width: 0,
    context: MOST_TOKENS,
    causal: shown.causal,
    predicts: false,
    guess: null,
    reads: /** @type {const} */ ('nothing'),
    writes: false,
    edits: false,
    sums: false,
    mask: null,
    parts,
    bytes: all.reduce(
      (sum, { layers, batch = 1, heads, wholeT, wholeS }) => sum + 4 * layers * batch * heads * wholeT * wholeS,
      0,
    ),
  };
}
