// Sends the answer to `show` for attention weights that were computed elsewhere. If there are too many weights to send
// at once, it sends the weights of the chosen head, and then small pictures of all heads.

import { scoreHeads } from '../run/headScores.js';
import { numberedPieces } from '../run/modelInput.js';
import { tokensFor } from './attentionWeights.js';

/** @import { HeadPlace, ShownRun, State } from '../../store/protocol.js' */
/** @import { Reply } from '../types.js' */
/** @import { Attentions } from './attentionWeights.js' */
/** @import { WeightsSource } from './types.js' */

/** Maximum weights that are sent at once, which are 24 MB. */
export const MAX_WEIGHTS = 6e6;
/** Maximum length of the longer side of a small picture. */
export const POOLED = 96;

/**
 * Makes a small picture with the maximum weight of each square of cells, because a mean would hide narrow stripes.
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {number} size the longer side
 * @param {boolean} [causal] true if the weights of later keys are zero
 */
export function pooled(weights, T, S, size, causal = false) {
  const share = Math.min(size / Math.max(T, S), 1);
  const [rows, columns] = [Math.max(Math.round(T * share), 1), Math.max(Math.round(S * share), 1)];
  const data = new Float32Array(rows * columns);
  const starts = Array.from({ length: columns + 1 }, (_, c) => Math.ceil((c * S) / columns));
  for (let t = 0; t < T; t++) {
    const row = Math.floor((t * rows) / T) * columns;
    for (let c = 0; c < columns && !(causal && starts[c] > t); c++)
      data[row + c] = largest(weights, t * S + starts[c], t * S + starts[c + 1], data[row + c]);
  }
  return { data, rows, columns };
}

/**
 * Returns the largest of some numbers and of another one; NaN if one of them is NaN.
 * @param {Float32Array} numbers @param {number} from @param {number} to @param {number} other
 */
function largest(numbers, from, to, other) {
  let most = other;
  for (let i = from; i < to && !Number.isNaN(most); i++) {
    const x = numbers[i];
    if (!(x <= most)) most = x;
  }
  return most;
}

/**
 * @param {WeightsSource} source
 * @param {State} state
 * @param {Pick<Reply, 'send' | 'checkCancelled'>} reply
 */
export async function showWeights(source, state, reply) {
  const { about, attentions, tokens = {} } = source;
  const index = Math.max(about.parts.indexOf(state.part), 0);
  const attention = attentions[index];
  const { layers, batch, heads, T, S, causal, wholeT, wholeS } = attention;
  reply.send('source', { about: { ...about, layers, heads, batch, causal } });
  const entry = Math.min(state.entry, batch - 1);
  const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
  const names = tokensFor(tokens, T, S, about.parts[index]);
  const large = layers * heads * T * S > MAX_WEIGHTS;
  const shared = {
    pieces: numberedPieces(T, names.queries),
    keys: numberedPieces(S, names.keys),
    cut: wholeT > T || wholeS > S,
    T,
    S,
    layer,
    head,
    large,
    named: names.queries !== null,
  };
  if (!large) return sendAll(attention, entry, shared, names.queries, reply);
  const shown = await attention.read(layer, head, entry);
  if (await reply.checkCancelled()) return;
  reply.send('run', { ...shared, weights: shown, scores: null }, [/** @type {ArrayBuffer} */ (shown.buffer)]);
  reply.send('roles', { roles: null, weights: null });
  await sendPooled(source, index, entry, reply);
}

/** @param {{ layers: number, heads: number }} sizes @returns {HeadPlace[]} */
const allHeads = ({ layers, heads }) =>
  Array.from({ length: layers * heads }, (_, i) => ({ layer: Math.floor(i / heads), head: i % heads }));

/**
 * @param {Attentions} attention
 * @param {number} entry
 * @param {Omit<ShownRun, 'weights'>} shared
 * @param {string[] | null} names of the queries
 * @param {Pick<Reply, 'send' | 'checkCancelled'>} reply
 */
async function sendAll(attention, entry, shared, names, reply) {
  const { layers, heads, T, S } = attention;
  const weights = new Float32Array(layers * heads * T * S);
  for (const { layer, head } of allHeads(attention))
    weights.set(await attention.read(layer, head, entry), (layer * heads + head) * T * S);
  if (await reply.checkCancelled()) return;
  const scored = T === S ? scoreWeights(weights, { layers, heads, T, causal: attention.causal }, names) : null;
  reply.send('run', { ...shared, weights, scores: scored?.scores ?? null }, [weights.buffer]);
  reply.send('roles', scored?.named ?? { roles: null, weights: null });
}

/**
 * @param {WeightsSource} source
 * @param {number} index of the attention
 * @param {number} entry
 * @param {Pick<Reply, 'send' | 'checkCancelled'>} reply
 */
async function sendPooled(source, index, entry, reply) {
  const { T, S, read } = source.attentions[index];
  source.pooled ??= new Map();
  for (const { layer, head } of allHeads(source.attentions[index])) {
    if (await reply.checkCancelled()) return;
    const key = `${index}.${entry}.${layer}.${head}`;
    const picture = source.pooled.get(key) ?? pooled(await read(layer, head, entry), T, S, POOLED);
    source.pooled.set(key, picture);
    reply.send('pooled', { layer, head, ...picture });
  }
}

/**
 * Computes the scores of heads. Tokens with the same name are treated like tokens with the same id.
 * @param {Float32Array} weights
 * @param {{ layers: number, heads: number, T: number, causal: boolean }} sizes
 * @param {string[] | null} names
 */
export function scoreWeights(weights, { layers, heads, T, causal }, names) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (const name of names ?? []) if (!numbers.has(name)) numbers.set(name, numbers.size);
  const ids = Array.from({ length: T }, (_, t) => (names ? /** @type {number} */ (numbers.get(names[t])) : t));
  const size = heads * T * T;
  const all = Array.from({ length: layers }, (_, l) => ({
    data: weights.subarray(l * size, (l + 1) * size),
    shape: [1, heads, T, T],
  }));
  return scoreHeads(all, { data: ids, shape: [T] }, causal);
}
