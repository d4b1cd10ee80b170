// Heads made by hand, for teaching: their weights say what each compares, and nothing else. Over the words of a text,
// and over the patches of a picture.

import { piecesOf } from '../../features/prompt/tokens.js';
import { pieceOf } from '../modelInput.js';
import { drawnPixels } from '../pixels.js';
import { aboutHeads, project, splitHeads } from './attentionOnly.js';

/** @import { Run } from '../../store/state.js' */
/** @import { Pixels, Source } from './sources.js' */

/** A sentence is cut after so many tokens. */
const MOST_TOKENS = 40;
const STRONG = 5;

const PRONOUNS = new Set('i you he she it we they me him her us them this that these those who which'.split(' '));
const FUNCTION_WORDS = new Set(
  (
    'a an the and or but because so if as of to in on at by for from with ' +
    'is was are were be been am do did does has had have not no let'
  ).split(' '),
);

/** A CJK character, a word with its marks, a pictograph with what is joined to it, and every other sign by itself. */
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

/** Words and where they stand; equal words have equal numbers. @param {string} text */
export function wordsIn(text) {
  const found = [...text.matchAll(TOKEN)];
  const words = found.slice(0, MOST_TOKENS).map(([word]) => word.toLowerCase());
  return {
    words,
    ids: words.map((word) => words.indexOf(word)),
    offsets: found
      .slice(0, MOST_TOKENS)
      .map(({ 0: word, index }) => /** @type {[number, number]} */ ([index, index + word.length])),
    cut: found.length > MOST_TOKENS,
  };
}

/** What the heads over words do, in their order. */
const WORD_HEADS = ['previous', 'next', 'itself', 'first', 'duplicate', 'pronoun', 'near', 'even'];

/**
 * Inputs and projections by which eight heads each do one thing.
 *
 * With n tokens an input row holds four blocks of n, each one-hot or zero: its position; its word; its position if it
 * is a pronoun; its position if it is a word with content. Head h compares queries and keys in two blocks of n: a
 * strength written into Wq[s][t] becomes the score of query t for key s.
 *
 * @param {string[]} words in small letters
 */
export function constructHeads(words) {
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
  const pronoun = (/** @type {number} */ t) => x[t * width + PRONOUN + t] === 1;
  const position = (/** @type {(t: number, s: number) => number} */ score) => ({
    query: POSITION,
    key: POSITION,
    score,
  });
  /** Each head: the blocks that query and key are compared in, and the score of key s for query t. */
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

/** Names of heads that the page does not have by itself, and what they do. */
const TERMS = {
  en: {
    next: ['next', 'looks at the token just after.'],
    pronoun: ['who is meant', 'a pronoun looks at words before it that it may stand for, the nearest most.'],
    near: ['near', 'looks at what is near, the nearer the more.'],
    even: ['evenly', 'looks at everything alike: its scores are all 0.'],
    colour: ['colour', 'looks at patches of a like colour.'],
    row: ['row', 'looks along its row.'],
    column: ['column', 'looks along its column.'],
    mirror: ['mirror', 'looks at the patch on the other side.'],
    bright: ['bright', 'looks at what is bright, wherever it asks.'],
  },
  zh: {
    next: ['后一个', '看后一个词元。'],
    pronoun: ['指的是谁', '代词看它前面可能指的词，越近越多。'],
    near: ['附近', '看附近，越近越多。'],
    even: ['平均', '看一切都一样：分数全是 0。'],
    colour: ['同色', '看颜色相近的小块。'],
    row: ['同行', '沿着自己的行看。'],
    column: ['同列', '沿着自己的列看。'],
    mirror: ['对称', '看另一边的小块。'],
    bright: ['明亮', '不管谁在问，都看明亮处。'],
  },
};

/** @returns {Source} */
export const constructed = () =>
  /** @type {any} */ ({
    about: aboutHeads('constructed', { heads: WORD_HEADS.length, context: MOST_TOKENS, terms: TERMS }),
    pose(/** @type {any} */ hl, /** @type {Run} */ { text }) {
      const { words, ids, offsets, cut } = wordsIn(text);
      const pieces = piecesOf(text, { ids, offsets });
      if (words.length === 0) return { pieces, layers: [] };
      const { x, wq, wk, count } = constructHeads(words);
      const q = splitHeads(project(hl, x, wq), count);
      const k = splitHeads(project(hl, x, wk), count);
      return { pieces, cut, layers: [{ q, k, v: k }], trades: [WORD_HEADS] };
    },
  });

/** The picture is cut into so many patches, of so many pixels each. */
const [ROWS, COLUMNS, SIDE] = [10, 14, 8];
const PATCH = { image: /** @type {[number, number]} */ ([ROWS * SIDE, COLUMNS * SIDE]), size: SIDE, channels: 3 };
/** What the heads over patches do. */
const PATCH_HEADS = ['colour', 'near', 'row', 'column', 'mirror', 'bright'];

/** The mean colour of each patch, 0…255. @param {Pixels['image']} image */
function coloursOf({ data, width }) {
  const means = Array.from({ length: ROWS * COLUMNS }, () => [0, 0, 0]);
  for (let i = 0; 4 * i < data.length; i++) {
    const [y, x] = [Math.floor(i / width), i % width];
    const mean = means[Math.floor(y / SIDE) * COLUMNS + Math.floor(x / SIDE)];
    for (let c = 0; c < 3; c++) mean[c] += data[4 * i + c] / SIDE ** 2;
  }
  return means;
}

/**
 * Each head's score of every patch for every other. An input row is one-hot, so Wq holds the scores.
 * @param {number[][]} means
 */
export function patchHeads(means) {
  const n = means.length;
  const row = (/** @type {number} */ t) => Math.floor(t / COLUMNS);
  const column = (/** @type {number} */ t) => t % COLUMNS;
  const brightness = means.map(([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255);
  /** @type {((t: number, s: number) => number)[]} */
  const scores = [
    (t, s) => -means[t].reduce((sum, c, i) => sum + (c - means[s][i]) ** 2, 0) / 1500,
    (t, s) => -((row(t) - row(s)) ** 2 + (column(t) - column(s)) ** 2) / 3,
    (t, s) => (row(t) === row(s) ? 5 : 0),
    (t, s) => (column(t) === column(s) ? 5 : 0),
    (t, s) => (row(t) === row(s) && column(t) + column(s) === COLUMNS - 1 ? 7 : 0),
    (_t, s) => 14 * brightness[s],
  ];
  const [q, k] = [new Float32Array(scores.length * n * n), new Float32Array(scores.length * n * n)];
  scores.forEach((score, h) => {
    for (let t = 0; t < n; t++) {
      k[(h * n + t) * n + t] = 1;
      for (let s = 0; s < n; s++) q[(h * n + t) * n + s] = score(t, s) * Math.sqrt(n);
    }
  });
  const shape = [scores.length, n, n];
  return { q: { data: q, shape }, k: { data: k, shape }, v: { data: k, shape } };
}

const NAMES = Array.from({ length: ROWS * COLUMNS }, (_, i) => `${Math.floor(i / COLUMNS)}·${i % COLUMNS}`);

/** @param {Pixels} [pixels] otherwise a picture is drawn @returns {Source} */
export function patches(pixels) {
  const context = ROWS * COLUMNS;
  const source = /** @type {any} */ ({
    about: aboutHeads('patches', { heads: PATCH_HEADS.length, context, reads: 'picture', terms: TERMS }),
    patch: PATCH,
    pixels: pixels ?? drawnPixels(PATCH),
    version: 0,
    pose() {
      const { image } = source.pixels;
      return {
        pieces: NAMES.map(pieceOf),
        layers: [patchHeads(coloursOf(image))],
        trades: [PATCH_HEADS],
        seen: { image: source.pixels.fine ?? image, patch: PATCH },
      };
    },
  });
  return source;
}
