// Computes measures of attention weights: rollout, value-weighted weights, head scores.

import { checkOptions } from '../../check/arguments.ts';
import { shapeError } from '../../check/errors.ts';
import { formatShape } from '../../check/shape.ts';
import type { TensorLike } from '../../check/tensorlike.ts';
import { type Numbers, type Read, readArray, readLayers } from '../arrays.ts';
import { identity, rolloutStep } from '../rollout.ts';

/**
 * Computes attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): the share of each
 * input token in each token after every layer, assuming that tokens are mixed by attention only:
 *
 *     Ãₗ = (W̄ₗ + I) / row sums    W̄: the mean over heads, I: the residual connection
 *     Rₗ = Ãₗ · Rₗ₋₁               R₋₁ = I
 * @param weights of every layer, (B,H,T,T) or (H,T,T)
 * @returns R after every layer, (B,T,T); rows sum to 1
 */
export function rollout(weights: readonly TensorLike[]): Numbers[] {
  const layers = readLayers('rollout', weights);
  const [batch, , length] = layers[0].shape;
  layers.forEach(({ shape }, l) => {
    if (shape[0] !== batch || shape[2] !== length || shape[3] !== length)
      throw shapeError('rollout', `weights[${l}]`, shape, `(${batch},H,${length},${length})`);
  });
  const size = length * length;
  const steps = layers.map(() => new Float32Array(batch * size));
  for (let b = 0; b < batch; b++) {
    /** (T,T) */
    let flow: Float64Array = identity(length);
    layers.forEach(({ floats, shape: [, heads] }, l) => {
      flow = rolloutStep(flow, floats.subarray(b * heads * size, (b + 1) * heads * size), heads, length);
      steps[l].set(flow, b * size);
    });
  }
  return steps.map((data) => ({ data, shape: [batch, length, length] }));
}

/**
 * Multiplies attention weights by the norms of the values (Kobayashi et al. 2020, "Attention is Not Only a Weight"),
 * because a large weight on a value near zero has no effect.
 *
 *     ‖ α(t,s) · v(s) · Woᵀ ‖      with the columns of Wo for the head; without the argument wo: ‖ α(t,s) · v(s) ‖
 * @param weights (B,H,T,S)
 * @param value (B,G,S,D), H a multiple of G
 * @param wo the output projection (C,H·D)
 * @returns (B,H,T,S)
 */
export function valueWeighted(weights: TensorLike, value: TensorLike, wo?: TensorLike): Numbers {
  const caller = 'valueWeighted';
  const alpha = readArray(caller, 'weights', weights, 'BHTS');
  const v = readArray(caller, 'value', value, 'BGSD');
  const [batch, heads, queries, keys] = alpha.shape;
  const [, groups, , width] = v.shape;
  if (v.shape[0] !== batch || v.shape[2] !== keys || heads % groups !== 0)
    throw shapeError(caller, 'value', v.shape, `(${batch},G,${keys},D) with ${heads} a multiple of G`);
  const projection = wo === undefined ? undefined : readArray(caller, 'wo', wo, 'CD');
  if (projection && projection.shape[1] !== heads * width)
    throw shapeError(caller, 'wo', projection.shape, `(C,${heads * width})`);
  const data = new Float32Array(alpha.floats.length);
  for (let b = 0; b < batch; b++)
    for (let h = 0; h < heads; h++) {
      const gram = projection && gramOf(projection, h, width);
      const start = (b * groups + Math.floor(h / (heads / groups))) * keys * width;
      const norms = Float64Array.from({ length: keys }, (_, s) =>
        normOf(v.floats.subarray(start + s * width, start + (s + 1) * width), gram),
      );
      const first = (b * heads + h) * queries * keys;
      for (let i = 0; i < queries * keys; i++) data[first + i] = Math.abs(alpha.floats[first + i]) * norms[i % keys];
    }
  return { data, shape: [...alpha.shape] };
}

/** Returns Woᵀ·Wo of one head, with which ‖ v·Woᵀ ‖² = v · gram · v. */
function gramOf({ floats, shape: [out, inside] }: Read, head: number, width: number) {
  const gram = new Float64Array(width * width);
  for (let c = 0; c < out; c++) {
    const row = floats.subarray(c * inside + head * width, c * inside + (head + 1) * width);
    for (let i = 0; i < width; i++) for (let j = 0; j < width; j++) gram[i * width + j] += row[i] * row[j];
  }
  return gram;
}

/** Returns √(v · gram · v), or ‖ v ‖ without gram. v: (D); gram: (D,D). */
function normOf(v: Float32Array, gram?: Float64Array) {
  let sum = 0;
  for (let i = 0; i < v.length; i++)
    if (gram) for (let j = 0; j < v.length; j++) sum += v[i] * gram[i * v.length + j] * v[j];
    else sum += v[i] * v[i];
  return Math.sqrt(Math.max(sum, 0));
}

export type HeadScoreOptions = {
  /** (T) or (B,T): ids of the tokens, to find equal tokens; without them, duplicate and induction are NaN */
  ids?: TensorLike | undefined;
  /** (T) or (B,T): 1 for a real token, 0 for padding; default: all are real tokens */
  keep?: TensorLike | undefined;
};
/** Means over queries of measures of their rows of attention weights, each (L,H). A mean is NaN if no query counts. */
export type HeadScores = {
  /** the weight on the previous token */
  previous: Numbers;
  /** the weight on token 0 */
  first: Numbers;
  /** the weight on earlier tokens that are equal to the query's token */
  duplicate: Numbers;
  /** the weight on tokens directly after earlier occurrences of the query's token */
  induction: Numbers;
  /** −Σ w·ln w, in nats */
  entropy: Numbers;
  /** Σ w·|t − s|, in tokens */
  distance: Numbers;
};

const SCORES = ['previous', 'first', 'duplicate', 'induction', 'entropy', 'distance'] as const;

/**
 * Computes scores of the attention patterns of each head, after Clark et al. 2019 ("What Does BERT Look At?") for
 * previous and first, Elhage et al. 2021 ("A Mathematical Framework for Transformer Circuits") and Olsson et al. 2022
 * ("In-context Learning and Induction Heads") for duplicate and induction. A query counts for previous and first if it
 * has a previous token, for duplicate if there is an equal token before it, for induction if there is a token after the
 * equal one and before the query.
 * @param weights of every layer, (B,H,T,S) or (H,T,S), all of the same shape; if S > T, the queries are the last T
 *   tokens
 */
export function headScores(weights: readonly TensorLike[], options: HeadScoreOptions = {}): HeadScores {
  const caller = 'headScores';
  checkOptions(caller, options, ['ids', 'keep']);
  const layers = readLayers(caller, weights);
  const { shape } = layers[0];
  for (const [l, layer] of layers.entries())
    if (String(layer.shape) !== String(shape))
      throw shapeError(caller, `weights[${l}]`, layer.shape, formatShape(shape));
  const [batch, heads, queries, keys] = shape;
  if (queries > keys) throw shapeError(caller, 'weights[0]', shape, 'at least as many keys as queries');
  const ids = readTokens(caller, 'ids', options.ids, batch, keys);
  const keep = readTokens(caller, 'keep', options.keep, batch, keys);
  const [sums, counts] = [0, 1].map(() => new Float64Array(SCORES.length * layers.length * heads));
  for (let b = 0; b < batch; b++)
    for (let t = 0; t < queries; t++) {
      const query = t + keys - queries;
      if (keep && keep[b * keys + query] === 0) continue;
      const equal = ids && equalsBefore(ids.subarray(b * keys, (b + 1) * keys), query);
      layers.forEach(({ floats }, l) => {
        for (let h = 0; h < heads; h++) {
          const start = ((b * heads + h) * queries + t) * keys;
          scoreRow(floats.subarray(start, start + keys), query, equal).forEach((score, kind) => {
            if (score === undefined) return;
            const at = (kind * layers.length + l) * heads + h;
            sums[at] += score;
            counts[at]++;
          });
        }
      });
    }
  const each = layers.length * heads;
  return Object.fromEntries(
    SCORES.map((name, kind) => [
      name,
      {
        data: Float32Array.from({ length: each }, (_, i) => sums[kind * each + i] / counts[kind * each + i]),
        shape: [layers.length, heads],
      },
    ]),
  ) as HeadScores;
}

function equalsBefore(ids: Float32Array, query: number) {
  const positions = [];
  for (let s = 0; s < query; s++) if (ids[s] === ids[query]) positions.push(s);
  return positions;
}

/**
 * Returns the scores of one row in the order of SCORES, undefined where the query does not count. equal: earlier keys
 * with the same token.
 */
function scoreRow(row: Float32Array, query: number, equal: number[] = []) {
  let [entropy, distance] = [0, 0];
  for (let s = 0; s < row.length; s++) {
    const w = row[s];
    if (w > 0) entropy -= w * Math.log(w);
    distance += w * Math.abs(query - s);
  }
  const after = equal.filter((s) => s + 1 < query);
  const total = (positions: number[], shift = 0) =>
    positions.length === 0 ? undefined : positions.reduce((sum, s) => sum + row[s + shift], 0);
  const [previous, first] = query === 0 ? [] : [row[query - 1], row[0]];
  return [previous, first, total(equal), total(after, 1), entropy, distance];
}

function readTokens(caller: string, parameter: string, value: TensorLike | undefined, batch: number, keys: number) {
  if (value === undefined) return undefined;
  const { floats, shape } = readArray(caller, parameter, value, 'T', 'BT');
  if (floats.length !== batch * keys || shape.at(-1) !== keys)
    throw shapeError(caller, parameter, shape, `(${batch},${keys})`);
  return floats;
}
