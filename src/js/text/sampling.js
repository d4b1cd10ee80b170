// Samples the next token from the logits of a model.

import { readNumber, readOptions } from '../check/arguments.js';
import { argumentError, HeadlightError } from '../check/errors.js';

/**
 * @typedef {object} SampleOptions
 * @property {number} [temperature] divisor of the logits; default 0, which means that the token with the largest logit
 *   is chosen
 * @property {number} [topK] number K of the most likely tokens from which one is chosen; default: all
 * @property {number} [topP] probability P: of these tokens, only the fewest whose probabilities sum to P can be chosen;
 *   default: 1
 * @property {() => number} [random] returns numbers that are uniform in [0, 1); required if the temperature is not 0
 */
/**
 * @typedef {{ id: number, logProb: number }} Sample logProb: log probability by the softmax of the logits at
 *   temperature 1
 */

const OPTIONS = ['temperature', 'topK', 'topP', 'random'];

/** @param {SampleOptions} options */
function resolveOptions(options) {
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

/**
 * Chooses a token. Among tokens with equal logits, the first ranks higher.
 * @param {Float32Array} logits (V), −Infinity for tokens that must not be chosen
 * @param {SampleOptions} [options]
 * @returns {Sample}
 */
export function sample(logits, options = {}) {
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
 * Changes logits in place to make some tokens less likely or to exclude them.
 * @param {Float32Array} logits
 * @param {{ repeated: Iterable<number>, repetitionPenalty: number, suppress: readonly number[],
 *   forced: readonly number[] }} by
 *   repeated: tokens so far; suppress: tokens that must not be chosen; forced: the only tokens that may
 *   be chosen; empty: all
 */
export function restrict(logits, { repeated, repetitionPenalty, suppress, forced }) {
  if (repetitionPenalty !== 1) {
    for (const id of new Set(repeated))
      logits[id] = logits[id] > 0 ? logits[id] / repetitionPenalty : logits[id] * repetitionPenalty;
  }
  for (const id of suppress) if (id < logits.length) logits[id] = -Infinity;
  if (forced.length === 0) return;
  logits.fill(-Infinity);
  for (const id of forced) logits[id] = 0;
}

/**
 * Returns the token with the largest logit. Throws if a logit is NaN or Infinity, or if all are −Infinity.
 * @param {Float32Array} logits
 */
export function findLikeliest(logits) {
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

/**
 * Returns the index at which the cumulative sum of the weights exceeds a share of their total.
 * @param {ArrayLike<number>} weights
 * @param {number} share
 */
function pick(weights, share) {
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

/** @param {ArrayLike<number>} weights */
function sum(weights) {
  let total = 0;
  for (let i = 0; i < weights.length; i++) total += weights[i];
  return total;
}

/**
 * Picks one of the K most likely tokens, considering only the fewest of them whose probabilities sum to the share P.
 * @param {Float32Array} logits
 * @param {Float64Array} weights
 * @param {number} topK
 * @param {number} topP
 * @param {number} share
 */
function pickOfLikeliest(logits, weights, topK, topP, share) {
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

/**
 * Returns a function that returns the tokens one by one, the most likely first. It uses a heap, because most callers
 * need only a few tokens.
 * @param {Float32Array} logits
 */
function likeliestFirst(logits) {
  const heap = new Int32Array(logits.length);
  for (let i = 0; i < heap.length; i++) heap[i] = i;
  /** @param {number} a @param {number} b */
  const isBefore = (a, b) => logits[a] > logits[b] || (logits[a] === logits[b] && a < b);
  let size = heap.length;
  /** @param {number} at */
  const sink = (at) => {
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
