// What the core is asked to compute: for each example its tokens, inputs, weights and masks. Pure functions.

/** So many heads are drawn. */
export const MOST_HEADS = 16;

/** A sentence is cut after so many tokens. */
export const TOKEN_LIMIT = 40;
export const SENTENCE = 'The cat sat on the mat because it was tired , and the dog let it sleep .';

const PRONOUNS = new Set('i you he she it we they me him her us them this that these those who which'.split(' '));
const FUNCTION_WORDS = new Set('a an the and or but because so if as of to in on at by for from with is was are were be been am do did does has had have not no let'.split(' '));

/** Words with their marks, and every other sign by itself; a CJK character is a word. */
export function tokenize(text) {
  const word = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}_'’]+|\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|\p{M}|\ufe0f)*|[^\s]/gu;
  return text.match(word) ?? [];
}

/**
 * Inputs and projections by which eight heads each do one thing.
 *
 * With n tokens an input row holds four blocks of n, each one-hot or zero: its position; its word; its
 * position if it is a pronoun; its position if it is a word with content. Head h compares queries and keys in
 * two blocks of n: a strength written into Wq[s][t] becomes the score of query t for key s.
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
  const pronoun = (t) => x[t * width + PRONOUN + t] === 1;
  /** Each head: what a query at t wants of key s, and which block the key shows. */
  const heads = [
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t - 1 ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t + 1 ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === t ? STRONG : 0) }],
    [{ query: POSITION, key: POSITION, score: (t, s) => (s === 0 ? STRONG : 0) }],
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

const ones = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)).fill(1), shape });
const names = (letter, count) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

/** A layer of random weights over random inputs. */
const randomLayer = (embedDim, batch, T, S, extra = {}) => (state) => ({
  layer: { embedDim, numHeads: state.heads, seed: state.seed, ...extra },
  query: { random: [batch, T, embedDim], seed: state.seed + 1 },
  key: S && { random: [batch, S, embedDim], seed: state.seed + 2 },
  queries: names(S ? 'q' : 'x', T),
  keys: names(S ? 'k' : 'x', S || T),
  batch,
});

function sentence(text) {
  const tokens = tokenize(text).slice(0, TOKEN_LIMIT);
  if (tokens.length === 0) return null;
  const { x, wq, wk, width, headDim, count } = constructHeads(tokens);
  return (state) => {
    const rows = state.heads * headDim * width;
    const [q, k] = [wq.subarray(0, rows), wk.subarray(0, rows)];
    return {
      layer: { embedDim: state.heads * headDim, numHeads: state.heads, headDim, queryDim: width, keyDim: width, valueDim: width, bias: false, outProjection: false },
      weights: { wq: q, wk: k, wv: k },
      query: { data: x, shape: [1, tokens.length, width] },
      queries: tokens,
      keys: tokens,
      batch: 1,
      most: count,
    };
  };
}

/** For each example: the numbers of heads to choose from, whether a seed matters, and the problem it poses. */
export const EXAMPLES = {
  sentence: { heads: [1, 2, 3, 4, 5, 6, 7, 8], named: true, problem: (state) => sentence(SENTENCE)?.(state) },
  own: { heads: [1, 2, 3, 4, 5, 6, 7, 8], named: true, text: true, problem: (state) => sentence(state.text)?.(state) ?? null },
  equal: {
    heads: [1],
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
    heads: [1, 2, 4, 5, 10],
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
    heads: [1, 2, 4],
    seeded: true,
    problem: (state) => ({
      ...randomLayer(4, 3, 5, 0, { outProjection: false })(state),
      options: { keyPadding: [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]] },
    }),
  },
  cross: { heads: [1, 2, 4, 8, 16], seeded: true, problem: randomLayer(512, 2, 10, 20) },
  wide: { heads: [1, 2, 4, 8, 16], seeded: true, problem: randomLayer(128, 2, 5, 0) },
  file: { heads: Array.from({ length: MOST_HEADS }, (_, i) => i + 1), file: true, problem: (state, given) => (given ? ownTensors(state, given) : null) },
};

/** Tensors (B,N,C) are split into heads; those of (B,H,N,D) have theirs. */
function ownTensors(state, { query, key, value, queries, keys }) {
  const [T, S, width] = [query.shape.at(-2), (key ?? query).shape.at(-2), query.shape.at(-1)];
  const packed = query.shape.length === 3;
  if (packed && width % state.heads !== 0) throw new Error(`the width ${width} is not a multiple of ${state.heads} heads`);
  return {
    heads: packed ? state.heads : query.shape[1],
    query,
    key,
    value,
    queries: queries ?? names(key ? 'q' : 'x', T),
    keys: keys ?? queries ?? names(key ? 'k' : 'x', S),
    batch: query.shape[0],
  };
}

/** The width of a head. */
function headDim({ layer, query, heads = 1 }) {
  if (layer) return layer.headDim ?? layer.embedDim / layer.numHeads;
  const shape = query.random ?? query.shape;
  return shape.length === 4 ? shape[3] : shape[2] / heads;
}

/** A cell hidden by hand is one number: query · PAINT_STRIDE + key. */
export const PAINT_STRIDE = 1024;

/** May query t see key s, as far as the controls say? Undefined where they hide nothing in this way. */
function visible(state, S) {
  const painted = new Set(state.painted);
  const most = state.mask === 'padding' ? Math.min(state.keys, S) : S;
  if (painted.size === 0 && most === S) return undefined;
  return (t, s) => s < most && !painted.has(t * PAINT_STRIDE + s);
}

/** The options of attention that the controls stand for. */
export function attentionOptions(state, problem) {
  const [T, S] = [problem.queries.length, problem.keys.length];
  const options = { ...problem.options, scale: 1 / ((state.scaled ? Math.sqrt(headDim(problem)) : 1) * state.temperature) };
  if (state.softcap > 0) options.softcap = state.softcap;
  if (state.mask === 'causal') options.causal = true;
  if (state.mask === 'window') options.window = [state.window, state.window];
  const sees = visible(state, S);
  if (sees) options.mask = { data: Uint8Array.from({ length: T * S }, (_, i) => Number(sees(Math.floor(i / S), i % S))), shape: [T, S] };
  return options;
}
