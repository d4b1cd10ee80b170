// What the core is asked to compute: for each example its tokens, inputs, weights and masks. Pure functions.

import { LEARNED, labelsOf } from './learned.js';

/** @import { Example, Given, Input, Options, Problem, State, Tensor } from './types.js' */

/** So many heads are drawn, and so many weights computed at most. */
export const MOST_HEADS = 144;
export const MOST_WEIGHTS = 2 ** 26;

/** A sentence is cut after so many tokens. */
export const TOKEN_LIMIT = 40;
export const SENTENCE = 'The cat sat on the mat because it was tired , and the dog let it sleep .';

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

/** @param {string} text @returns {string[]} */
export const tokenize = (text) => text.match(TOKEN) ?? [];

/**
 * Inputs and projections by which eight heads each do one thing.
 *
 * With n tokens an input row holds four blocks of n, each one-hot or zero: its position; its word; its
 * position if it is a pronoun; its position if it is a word with content. Head h compares queries and keys in
 * two blocks of n: a strength written into Wq[s][t] becomes the score of query t for key s.
 *
 * @param {string[]} tokens
 */
export function constructHeads(tokens) {
  const n = tokens.length;
  const width = 4 * n;
  const headDim = 2 * n;
  const x = new Float32Array(n * width);
  const words = tokens.map((token) => token.toLowerCase());
  words.forEach((word, t) => {
    const row = x.subarray(t * width, (t + 1) * width);
    row[t] = 1;
    row[n + words.indexOf(word)] = 1;
    if (PRONOUNS.has(word)) row[2 * n + t] = 1;
    else if (/[\p{L}\p{N}]/u.test(word) && !FUNCTION_WORDS.has(word)) row[3 * n + t] = 1;
  });

  const [POSITION, WORD, PRONOUN, CONTENT] = [0, n, 2 * n, 3 * n];
  const STRONG = 5;
  const pronoun = (/** @type {number} */ t) => x[t * width + PRONOUN + t] === 1;
  /**
   * Each head: the blocks that query and key are compared in, and the score of key s for query t.
   * @type {{ query: number, key: number, score: (t: number, s: number) => number }[][]}
   */
  const heads = [
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t - 1 ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t + 1 ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (_t, s) => (s === 0 ? STRONG : 0) }],
    [{ query: WORD, key: WORD, score: (t, s) => (s === t ? STRONG : 0) }],
    [
      { query: PRONOUN, key: CONTENT, score: (t, s) => (s < t ? Math.max(6 - 0.4 * (t - s), 0) : 0) },
      { query: POSITION, key: POSITION, score: (t, s) => (s === t && !pronoun(t) ? STRONG : 0) },
    ],
    [{ query: POSITION, key: POSITION, score: (t, s) => -((t - s) ** 2) / 8 }],
    [],
  ];
  const [wq, wk] = [new Float32Array(heads.length * headDim * width), new Float32Array(heads.length * headDim * width)];
  heads.forEach((parts, h) =>
    parts.forEach(({ query, key, score }, part) => {
      for (let s = 0; s < n; s++) {
        const row = (h * headDim + part * n + s) * width;
        wk[row + key + s] = 1;
        for (let t = 0; t < n; t++) wq[row + query + t] = score(t, s) * Math.sqrt(headDim);
      }
    }),
  );
  return { x, wq, wk, width, headDim, count: heads.length };
}

/**
 * Learned heads read the words of a text; a token sees none that follow.
 * @param {string} text
 * @returns {Problem | null}
 */
function learned(text) {
  const tokens = tokenize(text).slice(0, TOKEN_LIMIT);
  if (tokens.length === 0) return null;
  return {
    learned: labelsOf(tokens),
    heads: LEARNED.layers * LEARNED.numHeads,
    options: { causal: true },
    queries: tokens,
    keys: tokens,
    batch: 1,
  };
}

/** @param {...number} shape */
const ones = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)).fill(1), shape });
/** @param {string} letter @param {number} count */
const names = (letter, count) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

/**
 * A layer of random weights over random inputs.
 * @param {number} embedDim
 * @param {number} batch
 * @param {number} T
 * @param {number} S
 * @param {object} [extra]
 * @returns {(state: State) => Problem}
 */
const randomLayer =
  (embedDim, batch, T, S, extra = {}) =>
  (state) => ({
    layer: { embedDim, numHeads: state.heads, seed: state.seed, ...extra },
    query: { random: [batch, T, embedDim], seed: state.seed + 1 },
    key: S === 0 ? undefined : { random: [batch, S, embedDim], seed: state.seed + 2 },
    queries: names(S ? 'q' : 'x', T),
    keys: names(S ? 'k' : 'x', S || T),
    batch,
  });

/** @param {string} text @returns {((state: State) => Problem) | null} */
function sentence(text) {
  const tokens = tokenize(text).slice(0, TOKEN_LIMIT);
  if (tokens.length === 0) return null;
  const { x, wq, wk, width, headDim, count } = constructHeads(tokens);
  return (state) => {
    const rows = state.heads * headDim * width;
    const [q, k] = [wq.subarray(0, rows), wk.subarray(0, rows)];
    return {
      layer: {
        embedDim: state.heads * headDim,
        numHeads: state.heads,
        headDim,
        queryDim: width,
        keyDim: width,
        valueDim: width,
        bias: false,
        outProjection: false,
      },
      weights: { wq: q, wk: k, wv: k },
      query: { data: x, shape: [1, tokens.length, width] },
      queries: tokens,
      keys: tokens,
      batch: 1,
      most: count,
    };
  };
}

/** A small picture, the sun over hills and water, as patches of PATCH × PATCH pixels. */
const PATCHES = { rows: 10, columns: 14 };
const PATCH = 8;

/** The colour of a point of the picture, both coordinates from 0 to 1. @param {number} x @param {number} y */
function landscape(x, y) {
  /** @type {(from: number[], to: number[], share: number) => number[]} */
  const mix = (from, to, share) => from.map((c, i) => c + (to[i] - c) * Math.min(Math.max(share, 0), 1));
  const hill = 0.56 - 0.13 * Math.sin(3.1 * x + 0.4) - 0.05 * Math.sin(9 * x);
  if (Math.hypot((x - 0.74) * 1.4, y - 0.24) < 0.12) return [255, 221, 120];
  if (y > 0.72) return mix([66, 132, 168], [24, 60, 96], (y - 0.72) / 0.28 + 0.12 * Math.sin(60 * y));
  if (y > hill) return mix([96, 140, 74], [46, 84, 52], (y - hill) / 0.3);
  return mix([112, 168, 214], [240, 214, 186], y / 0.56);
}

function paintPatches() {
  const { rows, columns } = PATCHES;
  const [height, width] = [rows * PATCH, columns * PATCH];
  const pixels = new Uint8ClampedArray(4 * width * height);
  const means = Array.from({ length: rows * columns }, () => [0, 0, 0]);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = landscape((x + 0.5) / width, (y + 0.5) / height);
      pixels.set([...colour, 255], 4 * (y * width + x));
      const mean = means[Math.floor(y / PATCH) * columns + Math.floor(x / PATCH)];
      colour.forEach((c, i) => (mean[i] += c / PATCH ** 2));
    }
  }
  return { image: { rows, columns, width, height, pixels }, means };
}

/**
 * Heads over patches, each a score of every key for every query. An input row is one-hot, so Wq holds the scores.
 * @param {State} state
 * @returns {Problem}
 */
function patches(state) {
  const { image, means } = paintPatches();
  const { rows, columns } = image;
  const n = rows * columns;
  const row = (/** @type {number} */ t) => Math.floor(t / columns);
  const column = (/** @type {number} */ t) => t % columns;
  const brightness = means.map(([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255);
  /** @type {((t: number, s: number) => number)[]} */
  const all = [
    (t, s) => -means[t].reduce((sum, c, i) => sum + (c - means[s][i]) ** 2, 0) / 1500,
    (t, s) => -((row(t) - row(s)) ** 2 + (column(t) - column(s)) ** 2) / 3,
    (t, s) => (row(t) === row(s) ? 5 : 0),
    (t, s) => (column(t) === column(s) ? 5 : 0),
    (t, s) => (row(t) === row(s) && column(t) + column(s) === columns - 1 ? 7 : 0),
    (_t, s) => 14 * brightness[s],
  ];
  const scores = all.slice(0, state.heads);
  const [wq, wk] = [new Float32Array(scores.length * n * n), new Float32Array(scores.length * n * n)];
  scores.forEach((score, h) => {
    for (let s = 0; s < n; s++) {
      wk[(h * n + s) * n + s] = 1;
      for (let t = 0; t < n; t++) wq[(h * n + s) * n + t] = score(t, s) * Math.sqrt(n);
    }
  });
  const x = new Float32Array(n * n);
  for (let t = 0; t < n; t++) x[t * n + t] = 1;
  const names = Array.from({ length: n }, (_, t) => `${row(t) + 1}·${column(t) + 1}`);
  return {
    layer: {
      embedDim: scores.length * n,
      numHeads: scores.length,
      headDim: n,
      queryDim: n,
      keyDim: n,
      valueDim: n,
      bias: false,
      outProjection: false,
    },
    weights: { wq, wk, wv: wk },
    query: { data: x, shape: [1, n, n] },
    queries: names,
    keys: names,
    batch: 1,
    image,
  };
}

const LONG_WIDTH = 64;

/**
 * Heads that compare positions only: position t is turned into cosines and sines of 32 frequencies. Head h looks for
 * the position a few tokens back, so its weights lie along lines; the fewer frequencies it uses, the more of them.
 *
 * @param {State} state
 * @returns {Problem}
 */
function long({ tokens, heads }) {
  const [query, key] = [new Float32Array(heads * tokens * LONG_WIDTH), new Float32Array(heads * tokens * LONG_WIDTH)];
  const pairs = LONG_WIDTH / 2;
  for (let h = 0; h < heads; h++) {
    const back = [0, 1, 2, 0, 16, 0, 32, 5, 0, 64, 9, 3][h % 12];
    const heard = [32, 24, 12, 6, 16, 3, 8, 4, 2, 10, 5, 7][h % 12];
    for (let t = 0; t < tokens; t++) {
      for (let i = 0; i < pairs; i++) {
        const strength = i < heard ? Math.sqrt(72 / heard) : 0;
        const turn = 2 ** (-i / 3) * Math.PI;
        const at = (h * tokens + t) * LONG_WIDTH + 2 * i;
        query.set([strength * Math.cos(turn * (t - back)), strength * Math.sin(turn * (t - back))], at);
        key.set([strength * Math.cos(turn * t), strength * Math.sin(turn * t)], at);
      }
    }
  }
  const shape = [1, heads, tokens, LONG_WIDTH];
  const positions = Array.from({ length: tokens }, (_, t) => String(t + 1));
  return {
    heads,
    query: { data: query, shape },
    key: { data: key, shape },
    self: true,
    queries: positions,
    keys: positions,
    batch: 1,
  };
}

const upTo = (/** @type {number} */ most) => Array.from({ length: most }, (_, i) => i + 1);
const LENGTHS = [128, 256, 512, 1024, 2048, 4096];

/**
 * For each example: the numbers of heads to choose from, whether a seed matters, and the problem it poses.
 * @type {Record<string, Example>}
 */
export const EXAMPLES = {
  sentence: { heads: () => upTo(8), named: true, problem: (state) => sentence(SENTENCE)?.(state) ?? null },
  own: { heads: () => upTo(8), named: true, text: true, problem: (state) => sentence(state.text)?.(state) ?? null },
  learned: {
    heads: () => [LEARNED.layers * LEARNED.numHeads],
    text: true,
    learned: true,
    problem: (state) => learned(state.text),
  },
  patches: { heads: () => upTo(6), named: true, problem: patches },
  equal: {
    heads: () => [1],
    seeded: true,
    problem: (state) => ({
      query: { random: [2, 1, 2], seed: state.seed },
      key: ones(2, 10, 2),
      value: { data: Float32Array.from({ length: 80 }, (_, i) => i % 40), shape: [2, 10, 4] },
      queries: ['query'],
      keys: names('k', 10),
      batch: 2,
    }),
  },
  lengths: {
    heads: () => [1, 2, 4, 5, 10],
    problem: (state) => ({
      layer: { embedDim: 100, numHeads: state.heads, bias: false },
      query: ones(2, 4, 100),
      key: ones(2, 6, 100),
      options: { validLens: [3, 2] },
      queries: names('q', 4),
      keys: names('k', 6),
      batch: 2,
    }),
  },
  padded: {
    heads: () => [1, 2, 4],
    seeded: true,
    problem: (state) => ({
      ...randomLayer(4, 3, 5, 0, { outProjection: false })(state),
      options: {
        keyPadding: [
          [1, 1, 1, 0, 0],
          [1, 1, 0, 0, 0],
          [1, 1, 1, 1, 1],
        ],
      },
    }),
  },
  cross: { heads: () => [1, 2, 4, 8, 16], seeded: true, problem: randomLayer(512, 2, 10, 20) },
  wide: { heads: () => [1, 2, 4, 8, 16], seeded: true, problem: randomLayer(128, 2, 5, 0) },
  long: {
    heads: ({ tokens }) => upTo(Math.min(12, Math.floor(MOST_WEIGHTS / 4 / tokens ** 2))),
    tokens: LENGTHS,
    problem: long,
  },
  file: {
    heads: () => upTo(MOST_HEADS),
    file: true,
    problem: (state, given) => (given ? ownTensors(state, given) : null),
  },
};

/**
 * Keys that make a square, after a class token or not, may be patches of a picture: it is drawn as one.
 * @param {number} keys
 */
function squareOf(keys) {
  for (const skip of [0, 1]) {
    const side = Math.sqrt(keys - skip);
    if (Number.isInteger(side) && side >= 3) return { rows: side, columns: side, skip };
  }
  return undefined;
}

/**
 * The layer whose weights a file holds, with the biases and the output projection that it has.
 * @param {State} state
 * @param {Tensor} query
 * @param {Tensor} key
 * @param {Tensor} value
 * @param {Record<string, Tensor>} weights
 */
function ownLayer(state, query, key, value, weights) {
  const some = (/** @type {RegExp} */ pattern) => Object.keys(weights).some((name) => pattern.test(name));
  return {
    embedDim: query.shape[2],
    numHeads: state.heads,
    keyDim: key.shape[2],
    valueDim: value.shape[2],
    bias: some(/bias|^b[qkv]$/i),
    outProjection: some(/^wo$|w_o|out|dense|^w\./i),
  };
}

/**
 * Tensors (B,N,C) are split into heads, or projected where there are weights; those of (B,H,N,D) have their heads.
 * @param {State} state
 * @param {Given} given
 * @returns {Problem}
 */
function ownTensors(state, given) {
  const { query, key, value, weights, queries, keys } = given;
  const packed = query.shape.length === 3;
  const [T, width] = query.shape.slice(-2);
  const [S] = (key ?? query).shape.slice(-2);
  const heads = packed ? state.heads : query.shape[1];
  if (packed && width % heads !== 0) throw new Error(`the width ${width} is not a multiple of ${heads} heads`);
  if (heads * T * S > MOST_WEIGHTS) throw new Error(`${heads} × ${T} × ${S} weights are more than ${MOST_WEIGHTS}`);
  return {
    heads,
    query,
    key,
    value,
    ...(weights && { layer: ownLayer(state, query, key ?? query, value ?? key ?? query, weights), weights }),
    queries: queries ?? names(key ? 'q' : 'x', T),
    keys: keys ?? queries ?? names(key ? 'k' : 'x', S),
    image: squareOf(S),
    batch: query.shape[0],
  };
}

/** The width of a head. @param {Problem} problem */
function headDim({ layer, learned, query, heads = 1 }) {
  if (learned) return LEARNED.dModel / LEARNED.numHeads;
  if (layer) return layer.headDim ?? layer.embedDim / layer.numHeads;
  const input = /** @type {Input} */ (query);
  const shape = input.random ?? input.shape;
  return shape.length === 4 ? shape[3] : shape[2] / heads;
}

/** A cell hidden by hand is one number: query · PAINT_STRIDE + key. */
export const PAINT_STRIDE = 4096;

/**
 * May query t see key s, as far as the controls say? Undefined where they hide nothing so.
 * @param {State} state
 * @param {number} S
 */
function visible(state, S) {
  const painted = new Set(state.painted);
  const most = state.mask === 'padding' ? Math.min(state.keys, S) : S;
  if (painted.size === 0 && most === S) return undefined;
  return (/** @type {number} */ t, /** @type {number} */ s) => s < most && !painted.has(t * PAINT_STRIDE + s);
}

/**
 * The options of attention that the controls stand for.
 * @param {State} state
 * @param {Problem} problem
 * @returns {Options}
 */
export function attentionOptions(state, problem) {
  const [T, S] = [problem.queries.length, problem.keys.length];
  const options = {
    ...problem.options,
    scale: 1 / ((state.scaled ? Math.sqrt(headDim(problem)) : 1) * state.temperature),
  };
  if (state.softcap > 0) options.softcap = state.softcap;
  if (state.mask === 'causal') options.causal = true;
  if (state.mask === 'window') options.window = [state.window, state.window];
  const sees = visible(state, S);
  if (sees)
    options.mask = {
      data: Uint8Array.from({ length: T * S }, (_, i) => Number(sees(Math.floor(i / S), i % S))),
      shape: [T, S],
    };
  return options;
}

/** The same for one entry of the batch alone. @param {Options} options @param {number} batch */
export function optionsOf(options, batch) {
  const own = { ...options };
  if (own.validLens) own.validLens = [own.validLens[batch]];
  if (own.keyPadding) own.keyPadding = [own.keyPadding[batch]];
  return own;
}
