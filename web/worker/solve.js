// What attention makes of a state, computed by the core, stage by stage: what a change does not touch stays.
//
//   problem   example, text, seed, heads … → queries, keys and values of every head
//   weights   + batch entry, temperature, masks … → the weights (T,S) of a head when it is shown, in the core's memory
//   cell      + head and cell → everything between the inputs and one weight, and on to the output

import { attentionOptions, EXAMPLES, optionsOf } from '../model/examples.js';
import { headStatistics } from '../model/stats.js';
import { explain } from '../model/steps.js';
import { readLearned } from './learned.js';

/** @import { Cell, Explained, Given, Head, Hl, Input } from '../model/types.js' */
/** @import { Options, Posed, Problem, State, Tensor, Whole } from '../model/types.js' */

/** @typedef {ReturnType<Hl['zeros']>} CoreTensor in the core's memory */
/** @typedef {{ q: Tensor, k: Tensor, v: Tensor, wo?: Tensor, bo?: Tensor }} Parts heads (B,H,N,D) and projection */
/** @typedef {Posed & Parts & { key: string, hl: Hl, posed: Problem }} Solving */
/** @typedef {{ key: string, tensors: CoreTensor[], done: Set<number>, milliseconds: number }} Weights */

/** The core computes on for so long before others have their turn. */
export const TURN = 30;

/** @param {State} state @param {(keyof State)[]} names */
const pick = (state, names) => names.map((name) => JSON.stringify(state[name])).join();
/** @param {State} state @param {Given} [given] */
const problemKey = (state, given) => `${pick(state, ['example', 'text', 'seed', 'heads', 'tokens'])},${given?.id}`;
const maskKey = (/** @type {State} */ state) => pick(state, ['batch', 'mask', 'keys', 'window', 'painted']);

/**
 * (B,N,heads·D) as (B,heads,N,D); what has four axes stays.
 * @param {Tensor} tensor
 * @param {number} heads
 * @returns {Tensor}
 */
function splitHeads({ data, shape }, heads) {
  if (shape.length === 4) return { data, shape };
  const [B, N, C] = shape;
  const D = C / heads;
  const to = new Float32Array(data.length);
  for (let b = 0; b < B; b++)
    for (let n = 0; n < N; n++)
      for (let h = 0; h < heads; h++) {
        const from = (b * N + n) * C + h * D;
        to.set(data.subarray(from, from + D), ((b * heads + h) * N + n) * D);
      }
  return { data: to, shape: [B, heads, N, D] };
}

/**
 * x(B,N,C) · weightᵀ + bias, (B,N,out): by the core, as the scores of x before the rows of the weight.
 * @param {Hl} hl
 * @param {Tensor} x
 * @param {{ data: any, shape: readonly number[] }} weight
 * @param {{ data: any } | null} [bias]
 * @returns {Tensor}
 */
function project(hl, { data, shape: [B, N, C] }, weight, bias) {
  const out = weight.shape[0];
  const { scores } = hl.attention(
    { data, shape: [1, 1, B * N, C] },
    { data: weight.data, shape: [1, 1, out, C] },
    { data: new Float32Array(0), shape: [1, 1, out, 0] },
    { scores: 'raw', scale: 1 },
  );
  const sums = scores.copy();
  if (bias) for (let i = 0; i < sums.length; i++) sums[i] += bias.data[i % out];
  return { data: sums, shape: [B, N, out] };
}

/** @param {CoreTensor} tensor @returns {Tensor} */
const copyOf = (tensor) => ({ data: tensor.copy(), shape: [...tensor.shape] });

/**
 * The heads of several layers as those of one: (1,H,N,D) one after the other.
 * @param {Tensor[]} parts
 * @returns {Tensor}
 */
function inOneRow(parts) {
  const data = new Float32Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  const [, , N, D] = parts[0].shape;
  return { data, shape: [1, data.length / (N * D), N, D] };
}

/**
 * Queries, keys and values of every head, (B,H,N,D), and what joins the heads.
 * @param {Hl} hl
 * @param {Problem} problem
 * @param {() => Promise<Uint8Array>} learnedModel
 * @returns {Promise<Parts>}
 */
async function poseProblem(hl, problem, learnedModel) {
  if (problem.learned) {
    const { layers, wo, bo } = readLearned(hl, await learnedModel(), problem.learned);
    const all = (/** @type {string} */ w, /** @type {string} */ b) =>
      inOneRow(
        layers.map((layer) =>
          splitHeads(
            hl.scope(() => project(hl, layer.x, layer[w], layer[b])),
            (problem.heads ?? layers.length) / layers.length,
          ),
        ),
      );
    return { q: all('wq', 'bq'), k: all('wk', 'bk'), v: all('wv', 'bv'), wo, bo };
  }
  const heads = problem.layer?.numHeads ?? problem.heads ?? 1;
  return hl.scope(() => {
    const input = (/** @type {Input} */ x) =>
      x.random ? copyOf(hl.randn(x.random, { seed: x.seed })) : { data: x.data, shape: x.shape };
    const query = input(/** @type {Input} */ (problem.query));
    const key = problem.key ? input(problem.key) : query;
    const value = problem.value ? input(problem.value) : key;
    const own = (/** @type {Tensor} */ x) => splitHeads(x, heads);
    if (!problem.layer) return { q: own(query), k: own(key), v: own(value) };
    const layer = hl.multiHeadAttention(problem.layer);
    const { weights = {} } = problem;
    /** @type {Record<string, any>} */
    const parameters = layer.parameters;
    if (Object.values(weights).every(ArrayBuffer.isView))
      for (const [name, data] of Object.entries(weights)) parameters[name].data.set(data);
    else layer.loadStateDict(/** @type {Record<string, Tensor>} */ (weights));
    const { wq, wk, wv, wo, bq, bk, bv, bo } = layer.parameters;
    return {
      q: own(project(hl, query, wq, bq)),
      k: own(project(hl, key, wk, bk)),
      v: own(project(hl, value, wv, bv)),
      ...(wo && { wo: copyOf(wo) }),
      ...(bo && { bo: copyOf(bo) }),
    };
  });
}

/**
 * Rows `from` to `to` of head h of entry b of (B,H,N,D).
 * @param {Tensor} tensor
 * @param {number} b
 * @param {number} h
 * @param {number} [from]
 * @param {number} [to]
 * @returns {Tensor}
 */
function headRows({ data, shape: [, H, N, D] }, b, h, from = 0, to = N) {
  const at = (b * H + h) * N;
  return { data: data.subarray((at + from) * D, (at + to) * D), shape: [1, 1, to - from, D] };
}

const NOTHING = (/** @type {number} */ S) => ({ data: new Float32Array(0), shape: [1, 1, S, 0] });

/**
 * @param {(weights: number) => Hl | Promise<Hl>} coreFor the core that computes so many weights
 * @param {() => Promise<Uint8Array>} [learnedModel] the bytes of the trained transformer
 */
export function createSolver(coreFor, learnedModel = () => Promise.reject(new Error('no trained model'))) {
  /** @type {Solving | null} */
  let problem = null;
  /** @type {{ key: string | null, tensor: CoreTensor | null }} */
  let visible = { key: null, tensor: null };
  /** @type {(key: string, tensors: CoreTensor[]) => Weights} */
  const none = (key, tensors) => ({ key, tensors, done: new Set(), milliseconds: 0 });
  let weights = none('', []);

  function free() {
    for (const tensor of [...weights.tensors, visible.tensor]) tensor?.dispose();
    weights = none('', []);
    visible = { key: null, tensor: null };
  }

  /** @param {State} state @param {Given} [given] @returns {Promise<Solving | null>} */
  async function pose(state, given) {
    const key = problemKey(state, given);
    if (problem?.key === key) return problem;
    free();
    problem = null;
    const posed = EXAMPLES[state.example].problem(state, given);
    if (!posed) return null;
    const [T, S] = [posed.queries.length, posed.keys.length];
    const heads = posed.layer?.numHeads ?? posed.heads ?? 1;
    const hl = await coreFor(heads * T * S);
    const parts = await poseProblem(hl, posed, learnedModel);
    const [B, H] = parts.q.shape;
    const { queries, keys, image, key: other, self = !other } = posed;
    problem = { key, hl, posed, ...parts, queries, keys, image, self, shape: [B, H, T, S] };
    return problem;
  }

  /**
   * 0 where a mask hides: a query of zeros sees every key alike, as far as it sees it. Null where none is hidden.
   * @param {State} state
   * @param {Options} options
   * @param {Solving} problem
   */
  function see(state, options, { key: posed, hl, shape: [, , T, S] }) {
    const key = `${posed},${maskKey(state)}`;
    if (visible.key === key) return;
    visible.tensor?.dispose();
    visible = { key, tensor: null };
    const { mask, keyPadding, validLens, causal, window } = options;
    if (!mask && !keyPadding && !validLens && !causal && !window) return;
    const zeros = (/** @type {number} */ N) => ({ data: new Float32Array(N), shape: [1, 1, N, 1] });
    const hidden = Object.fromEntries(
      Object.entries({ mask, keyPadding, validLens, causal, window }).filter(([, value]) => value !== undefined),
    );
    const tensor = hl.zeros([1, 1, T, S]);
    hl.attention(zeros(T), zeros(S), NOTHING(S), {
      ...hidden,
      weights: true,
      out: { weights: tensor },
    }).output.dispose();
    visible.tensor = tensor;
  }

  /**
   * @param {State} state
   * @param {Given} [given] a visitor's own tensors
   */
  async function solve(state, given) {
    const posed = await pose(state, given);
    if (!posed) return null;
    const {
      hl,
      shape: [B, H, T, S],
    } = posed;
    const b = Math.min(state.batch, B - 1);
    const options = optionsOf(attentionOptions(state, posed.posed), b);
    see(state, options, posed);
    const key = `${visible.key},${pick(state, ['temperature', 'scaled', 'softcap'])}`;
    if (weights.key !== key) {
      const { tensors } = weights;
      while (tensors.length < H) tensors.push(hl.zeros([1, 1, T, S]));
      weights = none(key, tensors);
    }
    return solution(state, posed, b, options);
  }

  /** @param {State} state @param {Solving} posed @param {number} b @param {Options} options */
  function solution(
    state,
    { key: posedKey, hl, posed, q, k, v, wo, bo, queries, keys, image, self, shape },
    b,
    options,
  ) {
    const [, H, T, S] = shape;
    const own = weights;
    const { key, tensors, done } = own;
    const { tensor } = visible;

    /** @param {number} h */
    function compute(h) {
      if (done.has(h)) return;
      const start = performance.now();
      hl.attention(headRows(q, b, h), headRows(k, b, h), NOTHING(S), {
        ...options,
        weights: true,
        out: { weights: tensors[h] },
      }).output.dispose();
      own.milliseconds += performance.now() - start;
      done.add(h);
    }

    /**
     * The weights of one head; valid until the core's memory grows, as it may when another head is computed.
     * @param {number} h
     * @returns {Head}
     */
    function headOf(h) {
      compute(h);
      return { weights: tensors[h].data, visible: tensor?.data ?? null, T, S };
    }

    /** Outputs of every head for one query, side by side. @param {number} query */
    function joined(query) {
      const row = new Float32Array(H * v.shape[3]);
      const mask = tensor && {
        mask: { data: Uint8Array.from(tensor.data.subarray(query * S, (query + 1) * S), Math.sign), shape: [1, S] },
      };
      for (let h = 0; h < H; h++) {
        if (state.off.includes(h)) continue;
        const { scale, softcap = 0 } = options;
        const { output } = hl.attention(headRows(q, b, h, query, query + 1), headRows(k, b, h), headRows(v, b, h), {
          scale,
          softcap,
          ...mask,
        });
        row.set(output.data, h * v.shape[3]);
      }
      return row;
    }

    return {
      key,
      problemKey: posedKey,
      problem: { queries, keys, self, shape, image },
      /** What the weights took so far. */
      get milliseconds() {
        return own.milliseconds;
      },
      info: { simd: hl.info.simd, version: hl.info.version, threads: hl.info.threads },
      batch: b,
      compute,
      headOf,
      /**
       * Every head.
       * @param {(done: number, of: number) => Promise<void>} [turn] awaited now and then; what it throws ends it
       */
      async computeAll(turn = async () => {}) {
        let since = performance.now();
        for (let h = 0; h < H; h++) {
          compute(h);
          if (performance.now() - since < TURN || h === H - 1) continue;
          await turn(h + 1, H);
          since = performance.now();
        }
      },
      /**
       * One cell followed back and on; null where it is outside.
       * @param {number} h
       * @param {Cell} cell
       * @returns {Explained | null}
       */
      cell(h, { query, key: at }) {
        if (query >= T || at >= S) return null;
        compute(h);
        return hl.scope(() => {
          const [one, all] = [headRows(q, b, h, query, query + 1), headRows(k, b, h)];
          const { scale, softcap = 0 } = options;
          const scores = (/** @type {'raw' | 'scaled' | 'capped'} */ step) =>
            hl.attention(one, all, NOTHING(S), { scale, softcap, scores: step }).scores.copy();
          const concat = joined(query);
          const { data: output } = wo
            ? project(hl, { data: concat, shape: [1, 1, concat.length] }, wo, bo)
            : { data: concat };
          return explain(
            {
              q: one.data.slice(),
              k: headRows(k, b, h, at, at + 1).data.slice(),
              v: headRows(v, b, h, at, at + 1).data.slice(),
              raw: scores('raw'),
              scaled: scores('scaled'),
              capped: scores('capped'),
              seen: tensor?.data.slice(query * S, (query + 1) * S) ?? null,
              weights: tensors[h].data.slice(query * S, (query + 1) * S),
              factor: scale,
              concat,
              output,
              projected: Boolean(wo),
              head: h,
            },
            at,
          );
        });
      },
      statistics: () => Array.from({ length: H }, (_, h) => headStatistics(headOf(h), queries, self)),
      /** For files: weights and scores of the whole batch, (B,H,T,S), what they are made from, and what is visible. */
      whole() {
        return hl.scope(() => {
          const all = hl.attention(q, k, v, { ...attentionOptions(state, posed), weights: true, scores: 'masked' });
          return {
            queries,
            keys,
            shape,
            weights: all.weights.copy(),
            scores: all.scores.copy(),
            visible: tensor?.data.slice() ?? null,
            q,
            k,
            v,
          };
        });
      },
    };
  }

  return { solve, free };
}
