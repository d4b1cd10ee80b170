// Makes the result of scanHeads: measures and maxima of all heads, and the samples of one head with their tables.

import { readNumber } from '../check/arguments.js';

/** @import { Numbers } from './arrays.js' */
/** @import { HeadSamples } from './headSamples.js' */
/** @import { HeadSums } from './headSums.js' */
/** @import { HeadRole } from './roleRules.js' */

/**
 * A sequence that is shown for a head.
 * @typedef {object} Sample
 * @property {number} sequence its index in the sequences
 * @property {number} interval interval of its largest weight, counted from 1; the last interval has the largest weights
 * @property {number[]} ids
 * @property {string[]} tokens
 * @property {number} max its largest weight; the weights of query 0 and of key 0 do not count
 * @property {Uint32Array} indices t·T + s of the weights that are kept, ascending
 * @property {Float32Array} values of these weights
 */
/**
 * Bins and their values. edges: the bounds of the bins, one number more than values.
 * @typedef {{ edges: number[], values: number[] }} Histogram
 */
/** @typedef {{ token: string, weight: number }} TokenWeight */
/**
 * @typedef {object} HeadDetails
 * @property {Sample[]} sequences by interval
 * @property {Histogram} distances sums of the kept weights by |t − s|, in tokens
 * @property {TokenWeight[]} queryTokens the sums of the kept weights by token of the query, the largest first
 * @property {TokenWeight[]} keyTokens the sums of the kept weights by token of the key, the largest first
 * @property {Histogram} histogram number of sequences by their largest weight
 * @property {{ samples: number, meanMax: number }} statistics meanMax: over all sequences
 */
/**
 * Means over all rows of attention weights of all sequences, each (L,H).
 * @typedef {object} HeadMetrics
 * @property {Numbers} selfAttention the weight of a token on itself
 * @property {Numbers} previous the weight on the token before
 * @property {Numbers} entropy −Σ w·ln w, in nats
 * @property {Numbers} distance Σ w·|t − s|, in tokens
 * @property {Numbers} distanceVariance Σ w·(t − s)², minus the square of Σ w·|t − s|
 * @property {Numbers} induction the sum of the weights on tokens directly after earlier occurrences of the query's
 *   token, counting only weights that reach the threshold; NaN if no token occurs twice
 */
/**
 * Measures of the roles of heads, each (L,H). headRoles names the roles by `mean` and `chance`, which RoleMeasures
 * defines.
 * @typedef {object} HeadRoles
 * @property {Record<HeadRole, Numbers>} mean
 * @property {Record<HeadRole, Numbers>} chance
 * @property {Numbers} first the mean weight on token 0
 * @property {Numbers} duplicate the mean weight on earlier tokens that are equal to the query's token
 * @property {Record<Exclude<HeadRole, 'nearby'>, Numbers>} holds among the rows for which a role predicts a key, the
 *   share of rows whose largest weight is on that key; the row of token 0 does not count
 */
/**
 * @typedef {object} HeadScan
 * @property {HeadMetrics} metrics
 * @property {Numbers} maxima (N,L,H): the largest weight of each sequence, where the weights of query 0 and of key 0 do
 *   not count; NaN for skipped sequences
 * @property {Numbers} intervals (N,L,H): the intervals of these maxima, counted from 1; 0 for sequences that cannot be
 *   sampled
 * @property {Numbers} edges (L,H,intervals − 1): the lower bounds of all intervals except the first
 * @property {number[]} skipped indices of sequences with fewer than two tokens
 * @property {number} longest number of tokens of the longest sequence
 * @property {HeadRoles} roles
 * @property {(layer: number, head: number) => HeadDetails} head returns the samples and tables of a head
 */

/** The state of a scan. @typedef {{ sums: HeadSums, samples: HeadSamples, ids: Int32Array[], skipped: number[],
 *   nameOf: (id: number) => string }} ScanState */

const DISTANCES = [0, ...Array.from({ length: 13 }, (_, i) => 2 ** i)];
const BINS = 50;
const TABLE_ROWS = 50;

/**
 * Returns a function that computes a value at the first call and returns it again afterwards.
 * @template T
 * @param {() => T} make
 * @returns {() => T}
 */
function once(make) {
  /** @type {{ value: T } | undefined} */
  let made;
  return () => (made ??= { value: make() }).value;
}

/**
 * Returns the results so far. Maxima, edges and intervals are computed at their first use, because a reader of the
 * metrics alone does not need them.
 * @param {ScanState} state
 * @returns {HeadScan}
 */
export function headScanOf(state) {
  const { sums, samples, ids, skipped } = state;
  const [layers, heads] = sums.shape;
  const all = layers * heads;
  const everyHead = Array.from({ length: all }, (_, i) => i);
  const maxima = once(() => ({ data: samples.maxima.slice(), shape: [ids.length, layers, heads] }));
  const edges = once(() => {
    const rows = everyHead.map((i) => samples.edges(i));
    return { data: Float32Array.from(rows.flatMap((row) => [...row])), shape: [layers, heads, rows[0].length] };
  });
  const intervals = once(() => {
    const data = new Float32Array(ids.length * all);
    for (const i of everyHead)
      for (const [n, interval] of samples.intervalsOf(i).entries()) data[n * all + i] = interval;
    return { data, shape: [ids.length, layers, heads] };
  });
  return {
    metrics: sums.metrics(),
    get maxima() {
      return maxima();
    },
    get intervals() {
      return intervals();
    },
    get edges() {
      return edges();
    },
    skipped,
    longest: ids.reduce((most, { length }) => Math.max(most, length), 0),
    roles: sums.roles(),
    head(layer, head) {
      readNumber('head', 'layer', layer, { integer: true, least: 0, most: layers - 1 });
      readNumber('head', 'head', head, { integer: true, least: 0, most: heads - 1 });
      return detailsOf(state, layer * heads + head);
    },
  };
}

/** @param {ScanState} state @param {number} head l·H + h @returns {HeadDetails} */
function detailsOf({ samples, ids, nameOf, sums }, head) {
  const all = sums.shape[0] * sums.shape[1];
  const sequences = samples.choices(head).flatMap(({ sequence, interval, rows: { indices, values } }) => {
    if (values.length === 0) return [];
    const own = Array.from(ids[sequence]);
    const max = samples.maxima[sequence * all + head];
    return [{ sequence, interval, ids: own, tokens: own.map(nameOf), max, indices, values }];
  });
  const maxima = samples.maximaOf(head);
  return {
    sequences,
    ...tablesOf(sequences),
    histogram: histogramOf(maxima),
    statistics: { samples: sequences.length, meanMax: maxima.reduce((sum, x) => sum + x, 0) / maxima.length },
  };
}

/** @param {Float32Array} maxima @returns {Histogram} */
function histogramOf(maxima) {
  const values = new Array(BINS).fill(0);
  for (const max of maxima) values[Math.min(Math.floor(max * BINS), BINS - 1)]++;
  return { edges: Array.from({ length: BINS + 1 }, (_, i) => i / BINS), values };
}

/**
 * Sums the kept weights of samples by distance and by tokens.
 * @param {readonly { tokens: readonly string[], indices: ArrayLike<number>, values: ArrayLike<number> }[]} samples
 * @returns {Pick<HeadDetails, 'distances' | 'queryTokens' | 'keyTokens'>}
 */
export function tablesOf(samples) {
  const distances = new Array(DISTANCES.length - 1).fill(0);
  /** @type {[Map<string, number>, Map<string, number>]} */
  const [queries, keys] = [new Map(), new Map()];
  for (const { tokens, indices, values } of samples)
    for (let i = 0; i < indices.length; i++) {
      const [t, s] = [Math.floor(indices[i] / tokens.length), indices[i] % tokens.length];
      // The bins hold the distances 0, 1, 2 to 3, 4 to 7 …
      const bin = 32 - Math.clz32(Math.abs(t - s));
      if (bin < distances.length) distances[bin] += values[i];
      queries.set(tokens[t], (queries.get(tokens[t]) ?? 0) + values[i]);
      keys.set(tokens[s], (keys.get(tokens[s]) ?? 0) + values[i]);
    }
  return {
    distances: { edges: [...DISTANCES], values: distances },
    queryTokens: largestOf(queries),
    keyTokens: largestOf(keys),
  };
}

/** @param {Map<string, number>} weights by token @returns {TokenWeight[]} */
const largestOf = (weights) =>
  [...weights]
    .map(([token, weight]) => ({ token, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, TABLE_ROWS);
