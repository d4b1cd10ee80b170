// Makes the result of scanHeads: measures and maxima of all heads, and the samples of one head with their tables.

import { readNumber } from '../../check/arguments.ts';

import type { Numbers } from '../arrays.ts';
import type { HeadRole } from '../roles/roleRules.ts';
import type { HeadSamples } from './headSamples.ts';
import type { HeadSums } from './headSums.ts';

export type Sample = {
  /** its index in the sequences */
  sequence: number;
  /** interval of its largest weight, counted from 1; the last interval has the largest weights */
  interval: number;
  ids: number[];
  tokens: string[];
  /** its largest weight; the weights of query 0 and of key 0 do not count */
  max: number;
  /** t·T + s of the weights that are kept, ascending */
  indices: Uint32Array;
  /** of these weights */
  values: Float32Array;
};
/** Bins and their values. edges: the bounds of the bins, one number more than values. */
export type Histogram = { edges: number[]; values: number[] };
export type TokenWeight = { token: string; weight: number };
export type HeadDetails = {
  sequences: Sample[];
  /** sums of the kept weights by |t − s|, in tokens */
  distances: Histogram;
  /** the sums of the kept weights by token of the query, the largest first */
  queryTokens: TokenWeight[];
  /** the sums of the kept weights by token of the key, the largest first */
  keyTokens: TokenWeight[];
  /** number of sequences by their largest weight */
  histogram: Histogram;
  /** meanMax: over all sequences */
  statistics: { samples: number; meanMax: number };
};
/** Means over all rows of attention weights of all sequences, each (L,H). */
export type HeadMetrics = {
  /** the weight of a token on itself */
  selfAttention: Numbers;
  /** the weight on the token before */
  previous: Numbers;
  /** −Σ w·ln w, in nats */
  entropy: Numbers;
  /** Σ w·|t − s|, in tokens */
  distance: Numbers;
  /** Σ w·(t − s)², minus the square of Σ w·|t − s| */
  distanceVariance: Numbers;
  /**
   * the weights, if at least the threshold, after earlier occurrences of the query's token; NaN if no token occurs
   * twice
   */
  induction: Numbers;
};
/** Each (L,H). headRoles names roles by `mean` and `chance`, which RoleMeasures defines. */
export type HeadRoles = {
  mean: Record<HeadRole, Numbers>;
  chance: Record<HeadRole, Numbers>;
  /** the mean weight on token 0 */
  first: Numbers;
  /** the mean weight on earlier tokens that are equal to the query's token */
  duplicate: Numbers;
  /**
   * share of the rows for which a role predicts a key whose largest weight is on it; the row of token 0 does not count
   */
  holds: Record<Exclude<HeadRole, 'nearby'>, Numbers>;
};
export type HeadScan = {
  metrics: HeadMetrics;
  /** (N,L,H): the largest weight of each sequence without query 0 and key 0; NaN for skipped sequences */
  maxima: Numbers;
  /** (N,L,H): the intervals of these maxima, counted from 1; 0 for sequences that cannot be sampled */
  intervals: Numbers;
  /** (L,H,intervals − 1): the lower bounds of all intervals except the first */
  edges: Numbers;
  /** indices of sequences with fewer than two tokens */
  skipped: number[];
  /** number of tokens of the longest sequence */
  longest: number;
  roles: HeadRoles;
  /** returns the samples and tables of a head */
  head: (layer: number, head: number) => HeadDetails;
};

export type ScanState = {
  sums: HeadSums;
  samples: HeadSamples;
  ids: Int32Array[];
  skipped: number[];
  nameOf: (id: number) => string;
};

const DISTANCES = [0, ...Array.from({ length: 13 }, (_, i) => 2 ** i)];
const BINS = 50;
const TABLE_ROWS = 50;

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Maxima, edges and intervals are computed at their first use, because a reader of the metrics does not need them. */
export function headScanOf(state: ScanState): HeadScan {
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

/** head: l·H + h */
function detailsOf({ samples, ids, nameOf, sums }: ScanState, head: number): HeadDetails {
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

function histogramOf(maxima: Float32Array): Histogram {
  const values = new Array(BINS).fill(0);
  for (const max of maxima) values[Math.min(Math.floor(max * BINS), BINS - 1)]++;
  return { edges: Array.from({ length: BINS + 1 }, (_, i) => i / BINS), values };
}

export function tablesOf(
  samples: readonly { tokens: readonly string[]; indices: ArrayLike<number>; values: ArrayLike<number> }[],
): Pick<HeadDetails, 'distances' | 'queryTokens' | 'keyTokens'> {
  const distances = new Array(DISTANCES.length - 1).fill(0);
  const [queries, keys]: [Map<string, number>, Map<string, number>] = [new Map(), new Map()];
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

const largestOf = (weights: Map<string, number>): TokenWeight[] =>
  [...weights]
    .map(([token, weight]) => ({ token, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, TABLE_ROWS);
