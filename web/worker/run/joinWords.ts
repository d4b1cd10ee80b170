// Converts a run from tokens to words. A word consists of successive tokens without spaces between them that each begin
// with a letter or a digit; any other token is a word of its own. With words w of queries and v of keys,
//
//     weight(w, v) = 1/|w| · Σ over t in w, s in v of weight(t, s)
//
// so the weights are added over the tokens of a key and averaged over the tokens of a query. Each row still sums to 1.
// The numbers inside a head belong to tokens, so the converted run does not contain them.

import type { Piece, ShownRun, State } from '../../model/protocol/protocol.ts';
import { joinsWords } from '../../model/runInput.ts';
import { wordAt } from '../../model/tokens.ts';
/** index of the first token, and of the token after the last */
export type Word = [from: number, to: number];

export function wordsOf(pieces: Piece[]): Word[] {
  const words: Word[] = [];
  let t = 0;
  while (t < pieces.length) {
    const end = t + wordAt(pieces, t).length;
    words.push([t, end]);
    t = end;
  }
  return words;
}

/** Converts a run to words, if the page shows words. */
export function joinWords(
  whole: ShownRun,
  state: State,
  { layers, heads }: { layers: number; heads: number },
): ShownRun {
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

/** `weights`: (T,S). */
function joinHead(joined: Float32Array, weights: Float32Array, queries: Word[], keys: Word[]) {
  const S = keys[keys.length - 1][1];
  queries.forEach(([from, to], w) => {
    keys.forEach(([first, end], v) => {
      let sum = 0;
      for (let t = from; t < to; t++) for (let s = first; s < end; s++) sum += weights[t * S + s];
      joined[w * keys.length + v] = sum / (to - from);
    });
  });
}

/** Makes one piece of a word. Equal words get equal ids. */
function pieceOf(pieces: Piece[], [from, to]: Word): Piece {
  const group = pieces.slice(from, to);
  if (group.length === 1) return group[0];
  const text = group.map((piece) => piece.text).join('');
  const first = pieces.findIndex((_, t) => pieces.slice(t, t + group.length).every(({ id }, i) => id === group[i].id));
  // Ids of words are below −1, because ids of tokens are not negative and −1 means that a piece has no id.
  return { ...group[0], id: -2 - first, end: group[group.length - 1].end, text, name: text };
}
