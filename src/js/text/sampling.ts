// Samples the next token from the logits of a model.

import { readNumber, readOptions } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';

export type SampleOptions = {
  /** divisor of the logits; default 0, which means that the token with the largest logit is chosen */
  temperature?: number | undefined;
  /** number K of the most likely tokens from which one is chosen; default: all */
  topK?: number | undefined;
  /** probability P: of these tokens, only the fewest whose probabilities sum to P can be chosen; default: 1 */
  topP?: number | undefined;
  /** uniform in [0, 1); required if the temperature is not 0 */
  random?: (() => number) | undefined;
};
/** logProb: by the softmax at temperature 1 */
export type Sample = { id: number; logProb: number };

const OPTIONS = ['temperature', 'topK', 'topP', 'random'];

function resolveOptions(options: SampleOptions) {
  const given = readOptions('sample', options, OPTIONS);
  const temperature = readNumber('sample', 'temperature', given.temperature ?? 0, { least: 0 });
  if (given.random !== undefined ? typeof given.random !== 'function' : temperature > 0)
    throw argumentError('sample', 'random', given.random, 'a function that returns numbers from 0 to 1');
  return {
    temperature,
    topK: readNumber('sample', 'topK', given.topK ?? 2 ** 31, { integer: true, least: 1 }),
    topP: readNumber('sample', 'topP', given.topP ?? 1, { least: 0, most: 1 }),
    random: given.random ?? (() => 0),
  };
}

/** Chooses a token, of equal logits the first. logits: (V), −Infinity for tokens that must not be chosen. */
export function sample(logits: Float32Array, options: SampleOptions = {}): Sample {
  const { temperature, topK, topP, random } = resolveOptions(options);
  const likeliest = findLikeliest(logits);
  const most = logits[likeliest];
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - most);
  let id = likeliest;
  if (temperature > 0) {
    const weights = new Float64Array(logits);
    for (let i = 0; i < weights.length; i++) weights[i] = Math.exp((weights[i] - most) / temperature);
    id =
      topK < logits.length || topP < 1
        ? pickOfLikeliest(logits, weights, topK, topP, random())
        : pick(weights, random());
  }
  return { id, logProb: logits[id] - most - Math.log(total) };
}

/**
 * Changes logits in place. by: repeated: tokens so far; suppress: must not be chosen; forced: the only ones that may,
 * all if empty.
 */
export function restrict(
  logits: Float32Array,
  {
    repeated,
    repetitionPenalty,
    suppress,
    forced,
  }: { repeated: Iterable<number>; repetitionPenalty: number; suppress: readonly number[]; forced: readonly number[] },
) {
  if (repetitionPenalty !== 1) {
    for (const id of new Set(repeated))
      logits[id] = logits[id] > 0 ? logits[id] / repetitionPenalty : logits[id] * repetitionPenalty;
  }
  for (const id of suppress) if (id < logits.length) logits[id] = -Infinity;
  if (forced.length === 0) return;
  logits.fill(-Infinity);
  for (const id of forced) logits[id] = 0;
}

/** Returns the token with the largest logit. Throws if a logit is NaN or Infinity, or if all are −Infinity. */
export function findLikeliest(logits: Float32Array) {
  let likeliest = 0;
  for (let i = 0; i < logits.length; i++) {
    // The softmax with such a logit would be NaN.
    if (Number.isNaN(logits[i]) || logits[i] === Infinity)
      throw new HeadlightError('ARGUMENT', `sample: logits[${i}] is ${logits[i]}, expected a finite number`, {
        parameter: 'logits',
        got: logits[i],
      });
    if (logits[i] > logits[likeliest]) likeliest = i;
  }
  if (!(logits[likeliest] > -Infinity)) throw argumentError('sample', 'logits', logits, 'at least one finite number');
  return likeliest;
}

/** Returns the index at which the cumulative sum of the weights exceeds a share of their total. */
function pick(weights: ArrayLike<number>, share: number) {
  let rest = share * sum(weights);
  let picked = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    picked = i;
    rest -= weights[i];
    if (rest < 0) break;
  }
  return picked;
}

function sum(weights: ArrayLike<number>) {
  let total = 0;
  for (let i = 0; i < weights.length; i++) total += weights[i];
  return total;
}

/**
 * Picks one of the K most likely tokens, considering only the fewest of them whose probabilities sum to the share P.
 */
function pickOfLikeliest(logits: Float32Array, weights: Float64Array, topK: number, topP: number, share: number) {
  const next = likeliestFirst(logits);
  const isLimited = topK < logits.length;
  const tokens = isLimited ? Array.from({ length: topK }, next) : [];
  const enough = topP * sum(isLimited ? tokens.map((token) => weights[token]) : weights);
  const most = Math.min(topK, logits.length);
  let count = 0;
  for (let mass = 0; count < most && (count === 0 || mass < enough); count++) {
    if (count === tokens.length) tokens.push(next());
    mass += weights[tokens[count]];
  }
  const candidates = tokens.slice(0, count);
  const shares = candidates.map((token) => weights[token]);
  return candidates[pick(shares, share)];
}

/** Returns tokens one by one, by a heap, because most callers need only a few. */
function likeliestFirst(logits: Float32Array) {
  const heap = new Int32Array(logits.length);
  for (let i = 0; i < heap.length; i++) heap[i] = i;
  const isBefore = (a: number, b: number) => logits[a] > logits[b] || (logits[a] === logits[b] && a < b);
  let size = heap.length;
  const sink = (at: number) => {
    const token = heap[at];
    for (let child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], token)) break;
      heap[at] = heap[child];
    }
    heap[at] = token;
  };
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(at);
  return () => {
    const first = heap[0];
    heap[0] = heap[--size];
    sink(0);
    return first;
  };
}
