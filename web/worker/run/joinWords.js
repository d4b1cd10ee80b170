// The picture of a run in words instead of tokens. A word is the tokens between two spaces that begin with a letter or
// a digit; any other token is alone. With words w of queries and v of keys,
//
//     weight(w, v) = 1/|w| · Σ over t in w, s in v of weight(t, s)
//
// so a key's tokens are added and a query's tokens are averaged. Each row still sums to 1. The arithmetic of single
// cells belongs to tokens: it is left out.

import { wordAt } from '../../features/prompt/tokens.js';
import { joinsWords } from '../../store/runInput.js';

/** @import { Piece, ShownRun, State } from '../../store/protocol.js' */
/** @typedef {[from: number, to: number]} Word its first token, and the token after its last */

/** @param {Piece[]} pieces @returns {Word[]} */
export function wordsOf(pieces) {
  /** @type {Word[]} */
  const words = [];
  let t = 0;
  while (t < pieces.length) {
    const end = t + wordAt(pieces, t).length;
    words.push([t, end]);
    t = end;
  }
  return words;
}

/**
 * The run in words; as it is where the page shows tokens.
 * @param {ShownRun} whole
 * @param {State} state
 * @param {{ layers: number, heads: number }} model
 * @returns {ShownRun}
 */
export function joinWords(whole, state, { layers, heads }) {
  if (!joinsWords(state)) return whole;
  const { values, partners, ...run } = whole;
  const { pieces, keys = pieces, weights, place } = run;
  const [queries, answers] = [pieces, keys].map(wordsOf);
  const size = queries.length * answers.length;
  const joined = new Float32Array(layers * heads * size);
  for (let i = 0; i < layers * heads; i++) {
    const from = weights.subarray(i * run.T * keys.length, (i + 1) * run.T * keys.length);
    joinHead(joined.subarray(i * size, (i + 1) * size), from, queries, answers);
  }
  return {
    ...run,
    pieces: queries.map((word) => pieceOf(pieces, word)),
    ...(run.keys && { keys: answers.map((word) => pieceOf(keys, word)) }),
    T: queries.length,
    ...(run.S !== undefined && { S: answers.length }),
    place: place === null || place === undefined ? place : queries.findIndex(([, to]) => place < to),
    weights: joined,
    joined: true,
  };
}

/** @param {Float32Array} joined @param {Float32Array} weights (T,S) @param {Word[]} queries @param {Word[]} keys */
function joinHead(joined, weights, queries, keys) {
  const S = keys[keys.length - 1][1];
  queries.forEach(([from, to], w) => {
    keys.forEach(([first, end], v) => {
      let sum = 0;
      for (let t = from; t < to; t++) for (let s = first; s < end; s++) sum += weights[t * S + s];
      joined[w * keys.length + v] = sum / (to - from);
    });
  });
}

/** A word as one piece. Equal words have equal ids. @param {Piece[]} pieces @param {Word} word @returns {Piece} */
function pieceOf(pieces, [from, to]) {
  const group = pieces.slice(from, to);
  if (group.length === 1) return group[0];
  const text = group.map((piece) => piece.text).join('');
  const first = pieces.findIndex((_, t) => pieces.slice(t, t + group.length).every(({ id }, i) => id === group[i].id));
  // No token has a negative id, and −1 is none.
  return { ...group[0], id: -2 - first, end: group[group.length - 1].end, text, name: text };
}
