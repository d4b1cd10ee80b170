// Handmade heads for teaching that read the words of a text. Each head compares one property of two words.

import { piecesOf } from '../../model/tokens.ts';
import { aboutHeads } from './attentionOnly.ts';
import { TERMS } from './handmadeTerms.ts';
import { project, splitHeads } from './headMath.ts';

import type { HeadsSource } from './types.ts';

/** Maximum tokens that are read of a text. */
const MAX_TOKENS = 40;
/** The score of a key that fits the role of a head. Among 40 keys, one such key gets a weight of about 0.8. */
const STRONG = 5;

const PRONOUNS = new Set('i you he she it we they me him her us them this that these those who which'.split(' '));
const FUNCTION_WORDS = new Set(
  (
    'a an the and or but because so if as of to in on at by for from with ' +
    'is was are were be been am do did does has had have not no let'
  ).split(' '),
);

/** Matches a token: a CJK character, a word with its accents, an emoji with its modifiers, or any other character. */
const TOKEN = new RegExp(
  [
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    /[\p{L}\p{M}\p{N}_'’]+/u,
    /\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|\p{M}|\ufe0f)*/u,
    /\S/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Splits a text into words with their offsets. Equal words get equal ids. */
export function wordsIn(text: string) {
  const found = [...text.matchAll(TOKEN)];
  const words = found.slice(0, MAX_TOKENS).map(([word]) => word.toLowerCase());
  return {
    words,
    ids: words.map((word) => words.indexOf(word)),
    offsets: found.slice(0, MAX_TOKENS).map(({ 0: word, index }) => [index, index + word.length] as [number, number]),
    cut: found.length > MAX_TOKENS,
  };
}

/** The roles of the heads, in the order of the heads. */
const WORD_HEADS = ['previous', 'next', 'itself', 'first', 'duplicate', 'pronoun', 'near', 'even'];

/**
 * Computes the inputs and projections of eight heads with one role each. With n tokens, the input row of a token has
 * four blocks of n numbers, each one-hot or zero: position; word; position, if a pronoun; position, if a content word.
 * A head's queries and keys are two blocks of n. A number in Wq[s][t] becomes the score of query t for key s. `words`:
 * lower case.
 */
export function constructHeads(words: string[]) {
  const n = words.length;
  const width = 4 * n;
  const headDim = 2 * n;
  const x = new Float32Array(n * width);
  words.forEach((word, t) => {
    const row = x.subarray(t * width, (t + 1) * width);
    row[t] = 1;
    row[n + words.indexOf(word)] = 1;
    if (PRONOUNS.has(word)) row[2 * n + t] = 1;
    else if (/[\p{L}\p{N}]/u.test(word) && !FUNCTION_WORDS.has(word)) row[3 * n + t] = 1;
  });
  const [POSITION, WORD, PRONOUN, CONTENT] = [0, n, 2 * n, 3 * n];
  const pronoun = (t: number) => x[t * width + PRONOUN + t] === 1;
  const position = (score: (t: number, s: number) => number) => ({
    query: POSITION,
    key: POSITION,
    score,
  });
  /** For each head, the blocks of the input in which query and key are compared, and the score of key s for query t. */
  const heads = [
    [position((t, s) => (s === t - 1 ? STRONG : 0))],
    [position((t, s) => (s === t + 1 ? STRONG : 0))],
    [position((t, s) => (s === t ? STRONG : 0))],
    [position((_t, s) => (s === 0 ? STRONG : 0))],
    [{ ...position((t, s) => (s === t ? STRONG : 0)), query: WORD, key: WORD }],
    [
      { ...position((t, s) => (s < t ? Math.max(9 - 1.2 * (t - s), 1) : 0)), query: PRONOUN, key: CONTENT },
      position((t, s) => (s === t && !pronoun(t) ? STRONG : 0)),
    ],
    [position((t, s) => -((t - s) ** 2) / 8)],
    [],
  ];
  const size = heads.length * headDim * width;
  const [wq, wk] = [new Float32Array(size), new Float32Array(size)];
  heads.forEach((parts, h) =>
    parts.forEach(({ query, key, score }, part) => {
      for (let s = 0; s < n; s++) {
        const row = (h * headDim + part * n + s) * width;
        wk[row + key + s] = 1;
        for (let t = 0; t < n; t++) wq[row + query + t] = score(t, s) * Math.sqrt(headDim);
      }
    }),
  );
  const shape = [heads.length * headDim, width];
  return { x: { data: x, shape: [n, width] }, wq: { data: wq, shape }, wk: { data: wk, shape }, count: heads.length };
}

export const constructed = (): HeadsSource => ({
  about: aboutHeads('constructed', { heads: WORD_HEADS.length, context: MAX_TOKENS, terms: TERMS }),
  headInputs(hl, { text }) {
    const { words, ids, offsets, cut } = wordsIn(text);
    const pieces = piecesOf(text, { ids, offsets });
    if (words.length === 0) return { pieces, layers: [] };
    const { x, wq, wk, count } = constructHeads(words);
    const q = splitHeads(project(hl, x, wq), count);
    const k = splitHeads(project(hl, x, wk), count);
    return { pieces, cut, layers: [{ q, k, v: k }], roles: [WORD_HEADS] };
  },
});
