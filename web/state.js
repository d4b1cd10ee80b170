// What the page shows, as plain data, and how it changes. Nothing here knows of the page itself.

import { EXAMPLES, PAINT_STRIDE } from './examples.js';

export const TEMPERATURE = { least: 0.1, most: 10 };
export const MASKS = ['none', 'causal', 'padding', 'window'];
export const SCALES = ['linear', 'sqrt', 'log', 'row'];
export const VIEWS = ['cells', 'lines'];

export const initialState = {
  example: 'sentence',
  text: 'She said that she saw the cat , but the cat saw her first .',
  heads: 8,
  head: 5,
  mask: 'none',
  keys: 8,
  temperature: 1,
  seed: 1,
  batch: 0,
  /** Keys to either side that the window mask leaves. */
  window: 2,
  /** Whether scores are divided by √D. */
  scaled: true,
  /** 0: none. */
  softcap: 0,
  /** Cells hidden by hand, in rising order. */
  painted: [],
  /** Heads whose output is taken as 0. */
  off: [],
  scale: 'linear',
  view: 'cells',
  /** The cell being read: { query, key }, or null; locked, it stays whatever the pointer does. */
  cell: { query: 7, key: 5 },
  locked: false,
};

const usualHeads = { sentence: 8, own: 8, equal: 1, lengths: 5, padded: 2, cross: 8, wide: 4, file: 1 };

/** A new state with the change made, and with everything that the change makes impossible put right. */
export function change(state, patch) {
  const next = { ...state, ...patch };
  if (patch.example !== undefined && patch.example !== state.example) {
    Object.assign(next, { ...initialState, heads: usualHeads[next.example], head: 0, cell: null, text: next.text, scale: next.scale, view: next.view, ...patch });
  }
  const { heads } = EXAMPLES[next.example];
  if (!heads.includes(next.heads)) next.heads = heads.findLast((n) => n <= next.heads) ?? heads[0];
  next.head = Math.min(Math.max(next.head, 0), next.heads - 1);
  next.temperature = Math.min(Math.max(next.temperature, TEMPERATURE.least), TEMPERATURE.most);
  for (const name of ['seed', 'batch', 'keys', 'window']) if (!Number.isSafeInteger(next[name]) || next[name] < 0) next[name] = state[name];
  if (!(next.softcap >= 0 && next.softcap <= 100)) next.softcap = state.softcap;
  next.off = next.off.filter((head) => head < next.heads);
  if (!next.cell) next.locked = false;
  return next;
}

/** Do two states ask the core for different numbers? */
export function asksAnew(before, after) {
  return ['example', 'text', 'heads', 'mask', 'keys', 'temperature', 'seed', 'window', 'scaled', 'softcap', 'painted', 'off'].some((name) => String(before[name]) !== String(after[name]));
}

/** The cell one step on, within the picture; the first one where none is being read. */
export function step(cell, key, T, S) {
  if (!cell) return { query: 0, key: 0 };
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -S], End: [0, S], PageUp: [-T, 0], PageDown: [T, 0] };
  if (!moves[key]) return null;
  const clamp = (n, most) => Math.min(Math.max(n, 0), most - 1);
  return { query: clamp(cell.query + moves[key][0], T), key: clamp(cell.key + moves[key][1], S) };
}

/** The state with a cell hidden by hand, or shown again. */
export function paint(state, { query, key }, hide) {
  const cell = query * PAINT_STRIDE + key;
  const others = state.painted.filter((painted) => painted !== cell);
  return change(state, { painted: hide ? [...others, cell].sort((a, b) => a - b) : others });
}

/** What there is to say about a cell of a result. */
export function readCell(result, { batch, head, cell }) {
  if (!result || !cell || cell.query >= result.queries.length || cell.key >= result.keys.length) return null;
  const row = rowOf(result, batch, head, cell.query);
  const weight = row.weights[cell.key];
  const seen = [...row.scores].filter((score) => score > -Infinity).length;
  return {
    query: result.queries[cell.query],
    key: result.keys[cell.key],
    weight,
    score: row.scores[cell.key],
    hidden: row.scores[cell.key] === -Infinity,
    rank: 1 + [...row.weights].filter((w) => w > weight).length,
    seen,
    sum: row.weights.reduce((a, b) => a + b, 0),
  };
}

/** One row of weights and scores; the arrays of a result are (B,H,T,S). */
export function rowOf({ weights, scores, shape: [, H, T, S] }, batch, head, query) {
  const at = ((batch * H + head) * T + query) * S;
  return { weights: weights.subarray(at, at + S), scores: scores.subarray(at, at + S) };
}

/** The weights of one head. */
export function headOf({ weights, scores, shape: [, H, T, S] }, batch, head) {
  const at = (batch * H + head) * T * S;
  return { weights: weights.subarray(at, at + T * S), scores: scores.subarray(at, at + T * S), T, S };
}
