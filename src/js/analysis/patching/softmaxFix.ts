// The QK fix of AtP* (Kramár et al. 2024): estimates the effect of a query or key through a recomputed softmax.

import { type Resolved, scaleOf } from '../../models/options.ts';
import { type Model, type Numbers, parametersOf } from '../arrays.ts';

export type Run = { values: Readonly<Record<string, Numbers>>; gradients: Readonly<Record<string, Numbers>> };
/**
 * Offsets of one head in arrays: query (T,D), key (S,D), and the square (T,S) of scores and gradients of the weights.
 */
export type Offsets = { query: number; key: number; square: number; group: number; head: number };

/**
 * Returns Σ (A′ − A) · ∂m/∂A for each head and token, (H,T) or (G,S): A are the weights of the corrupted run, A′ those
 * if this token has its clean query or key (1,H,T,D) or (1,G,S,D). The value of a key head sums over its query heads.
 * `corrupted` has queries, keys, scores, and the gradients of the weights.
 */
export function softmaxFix(model: Model, layer: number, name: string, clean: Numbers, corrupted: Run): Float64Array {
  const of = (other: string) => name.replace(/(query|key)$/, other);
  const isQuery = name.endsWith('query');
  const [query, key, scores] = ['query', 'key', 'scores'].map((other) => corrupted.values[of(other)]);
  const gradient = corrupted.gradients[of('weights')].data;
  const [, heads, queries, keys] = scores.shape;
  const [groups, width] = [key.shape[1], key.shape[3]];
  const score = scoreChange(model, layer, { query: query.data, key: key.data, clean: clean.data, isQuery, width });
  const sinks = name.includes('cross') ? undefined : sinksOf(model, layer);
  const effects = new Float64Array(isQuery ? heads * queries : groups * keys);
  const [before, after] = [new Float64Array(keys), new Float64Array(keys)];
  for (let h = 0; h < heads; h++) {
    const group = Math.floor((h * groups) / heads);
    for (let t = 0; t < queries; t++) {
      const row = (h * queries + t) * keys;
      for (let s = 0; s < keys; s++) {
        before[s] = scores.data[row + s];
        after[s] = before[s] === -Infinity ? before[s] : before[s] + score(h * queries + t, group * keys + s);
      }
      const sink = sinks?.[h] ?? -Infinity;
      const sum = logSum(before, sink);
      if (sum === -Infinity) continue;
      const rowGradient = gradient.subarray(row, row + keys);
      if (isQuery) {
        effects[h * queries + t] = softmaxChange(before, sum, after, sink, rowGradient);
        continue;
      }
      const mean = rowGradient.reduce((total, g, s) => total + Math.exp(before[s] - sum) * g, 0);
      for (let s = 0; s < keys; s++) {
        const [old, term] = [Math.exp(before[s] - sum), Math.exp(after[s] - sum)];
        // If the key has most of the weight, the sum of the other weights is too inexact to divide by it.
        const effect =
          old > 1 / 2
            ? softmaxChange(before, sum, withOne(before, s, after[s]), sink, rowGradient)
            : (term === Infinity ? 1 : (term - old) / (term + 1 - old)) * (rowGradient[s] - mean);
        effects[group * keys + s] += effect;
      }
    }
  }
  return effects;
}

/**
 * Returns Σ (A′ − A) · gradient over (S), where A and A′ are the softmax of the scores before and after a change. sum:
 * ln Σ e^score before.
 */
function softmaxChange(before: Float64Array, sum: number, after: Float64Array, sink: number, gradient: Float32Array) {
  const newSum = logSum(after, sink);
  return before.reduce((total, x, s) => total + (Math.exp(after[s] - newSum) - Math.exp(x - sum)) * gradient[s], 0);
}

function withOne(list: Float64Array, at: number, value: number) {
  const copy = list.slice();
  copy[at] = value;
  return copy;
}

/** Returns ln Σ e^score, including the sink. */
function logSum(scores: Float64Array, sink: number) {
  const most = scores.reduce((a, b) => Math.max(a, b), sink);
  if (most === -Infinity) return most;
  return most + Math.log(scores.reduce((sum, x) => sum + Math.exp(x - most), Math.exp(sink - most)));
}

const sinksOf = (model: Model, layer: number) =>
  parametersOf('attributionPatching', model).vector(`blocks.${layer}.attention.sinks`);

/**
 * Returns the change of a score, by query and key, from scale and softcap. Bias and mask are the same before and after.
 */
function scoreChange(
  { options }: Model,
  layer: number,
  {
    query,
    key,
    clean,
    isQuery,
    width,
  }: { query: Float32Array; key: Float32Array; clean: Float32Array; isQuery: boolean; width: number },
) {
  const scale = scaleOf(options as Resolved, layer);
  const { softcap: cap = 0 } = options as Partial<Resolved>;
  const capped = (z: number) => cap * Math.tanh(z / cap);
  return (t: number, s: number) => {
    let [before, change] = [0, 0];
    for (let d = 0; d < width; d++) {
      const [q, k] = [query[t * width + d], key[s * width + d]];
      before += q * k;
      change += isQuery ? (clean[t * width + d] - q) * k : q * (clean[s * width + d] - k);
    }
    return cap > 0 ? capped(scale * (before + change)) - capped(scale * before) : scale * change;
  };
}
