// What is shown of attention weights that were computed elsewhere: the head asked for comes first, the others as they
// are read, as pictures of their own small size.

import { tradeOf } from '../../features/heads/roles.js';
import { pieceOf } from '../modelInput.js';
import { scoresOf } from '../runModel.js';
import { tokensFor } from './attentionWeights.js';

/** @import { State } from '../../store/state.js' */
/** @import { Source } from './sources.js' */

/** Numbers that are handed over at once. */
export const MOST = 6e6;
/** The side of a pooled picture. */
export const POOLED = 96;

/**
 * The largest of every square of cells: a mean would lose a stripe.
 * @param {Float32Array} weights (T,S)
 * @param {number} T
 * @param {number} S
 * @param {number} size the longer side
 */
export function pooled(weights, T, S, size) {
  const share = Math.min(size / Math.max(T, S), 1);
  const [rows, columns] = [Math.max(Math.round(T * share), 1), Math.max(Math.round(S * share), 1)];
  const data = new Float32Array(rows * columns);
  for (let t = 0; t < T; t++) {
    const row = Math.floor((t * rows) / T) * columns;
    for (let s = 0; s < S; s++) {
      const at = row + Math.floor((s * columns) / S);
      const weight = weights[t * S + s];
      if (!(weight <= data[at]) && !Number.isNaN(data[at])) data[at] = weight;
    }
  }
  return { data, rows, columns };
}

/**
 * @param {Source} source
 * @param {State} state
 * @param {{ say: (part: string, fields: object, transfer?: ArrayBuffer[]) => void, stale: () => Promise<boolean> }} how
 */
export async function showWeights(source, state, { say, stale }) {
  const { about, attentions = [], tokens = {} } = source;
  const at = Math.max(about.parts.indexOf(state.part), 0);
  const { layers, batch, heads, T, S, causal, read } = attentions[at];
  say('source', { about: { ...about, layers, heads, batch, causal } });
  const entry = Math.min(state.entry, batch - 1);
  const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
  const names = tokensFor(tokens, T, S, about.parts[at]);
  const pieces = Array.from({ length: T }, (_, t) => pieceOf(names.queries?.[t] ?? String(t)));
  const keys = Array.from({ length: S }, (_, s) => pieceOf(names.keys?.[s] ?? String(s)));
  const { wholeT, wholeS } = attentions[at];
  const cut = wholeT > T || wholeS > S;
  const large = layers * heads * T * S > MOST;
  const shared = {
    pieces,
    keys,
    cut,
    T,
    S,
    layer,
    head,
    large,
    named: names.queries !== null,
  };
  const list = Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads]);
  if (!large) {
    const weights = new Float32Array(layers * heads * T * S);
    for (const [l, h] of list) weights.set(await read(l, h, entry), (l * heads + h) * T * S);
    if (await stale()) return;
    const scores = T === S ? scoresHere(weights, { layers, heads, T }, names.queries) : null;
    say('run', { ...shared, weights, scores }, [weights.buffer]);
    return say('trades', { trades: scores?.map((row) => row.map(tradeOf)) ?? null });
  }
  const shown = await read(layer, head, entry);
  if (await stale()) return;
  say('run', { ...shared, weights: shown, scores: null }, [/** @type {ArrayBuffer} */ (shown.buffer)]);
  say('trades', { trades: null });
  source.small ??= new Map();
  for (const [l, h] of list) {
    if (await stale()) return;
    const key = `${at}.${entry}.${l}.${h}`;
    if (!source.small.has(key)) source.small.set(key, pooled(await read(l, h, entry), T, S, POOLED));
    say('pooled', { layer: l, head: h, ...source.small.get(key) });
  }
}

/** Equal tokens have equal names. */
export function scoresHere(
  /** @type {Float32Array} */ weights,
  /** @type {{ layers: number, heads: number, T: number }} */ { layers, heads, T },
  /** @type {string[] | null} */ names,
) {
  const numbers = new Map();
  for (const name of names ?? []) if (!numbers.has(name)) numbers.set(name, numbers.size);
  const ids = { data: Array.from({ length: T }, (_, t) => (names ? numbers.get(names[t]) : t)), shape: [T] };
  const size = heads * T * T;
  const all = Array.from({ length: layers }, (_, l) => ({
    data: weights.subarray(l * size, (l + 1) * size),
    shape: [1, heads, T, T],
  }));
  return scoresOf(all, ids);
}
