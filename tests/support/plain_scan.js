// Computes the metrics and samples of a scan of heads from the weights of each sequence, in plain loops in float64.

/** Yields all (t,s) of a sequence, each with its weight. */
function* entries(weights, length) {
  for (let t = 0; t < length; t++) for (let s = 0; s < length; s++) yield [t, s, weights[t * length + s]];
}
const sum = (list) => list.reduce((a, b) => a + b, 0);
/** Rounds to the nearest integer, halves to even. */
const round = (x) => (x % 1 === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** Returns the key with the largest weight of each row (the first of equal ones), or −1 for a row of zeros. */
const largestKeys = (weights, length) =>
  Array.from({ length }, (_, t) => {
    const row = Array.from(weights.subarray(t * length, (t + 1) * length));
    const max = Math.max(...row);
    return max > 0 ? row.indexOf(max) : -1;
  });

const PREDICTS = {
  previous: (_, t) => [t - 1],
  itself: (_, t) => [t],
  first: () => [0],
  duplicate: (ids, t) => ids.flatMap((id, s) => (s < t && id === ids[t] ? [s] : [])),
  induction: (ids, t) => ids.flatMap((id, s) => (s < t && id === ids[t] ? [s + 1] : [])),
};

/**
 * A role, such as previous token, predicts some keys for a row. Returns the mean of a measure over the rows for which
 * there are such keys, without the first row. The measure is a function of these keys and the row.
 */
function meanOf(role, sequences, weights, measure) {
  const values = [];
  sequences.forEach((ids, n) => {
    const largest = largestKeys(weights[n], ids.length);
    for (let t = 1; t < ids.length; t++) {
      const keys = PREDICTS[role](ids, t);
      if (keys.length > 0) values.push(measure(keys, largest[t], (s) => weights[n][t * ids.length + s]));
    }
  });
  return sum(values) / values.length;
}

/**
 * Computes the metrics of one head.
 * @param sequences lists of at least two ids
 * @param weights (T,T) of each sequence
 */
export function plainMeasures(sequences, weights, threshold) {
  const all = sequences.flatMap((ids, n) => [...entries(weights[n], ids.length)]);
  const tokens = sum(sequences.map(({ length }) => length));
  const mean = (of) => sum(all.map(([t, s, w]) => of(t, s, w))) / tokens;
  const distance = mean((t, s, w) => w * Math.abs(t - s));
  const weightsOn = (keys, _, weightOf) => sum(keys.map(weightOf));
  return {
    selfAttention: mean((t, s, w) => (t === s ? w : 0)),
    previous: (mean((t, s, w) => (t === s + 1 ? w : 0)) * tokens) / (tokens - sequences.length),
    entropy: mean((_t, _s, w) => (w > 0 ? -w * Math.log(w) : 0)),
    distance,
    distanceVariance: mean((t, s, w) => w * (t - s) ** 2) - distance ** 2,
    induction: meanOf('induction', sequences, weights, (keys, _, weightOf) =>
      sum(keys.map(weightOf).filter((w) => w >= threshold)),
    ),
    first: meanOf('first', sequences, weights, weightsOn),
    duplicate: meanOf('duplicate', sequences, weights, weightsOn),
    holds: Object.fromEntries(
      Object.keys(PREDICTS).map((role) => [
        role,
        meanOf(role, sequences, weights, (keys, largest) => Number(keys.includes(largest))),
      ]),
    ),
  };
}

/** Returns the largest weight without those of query 0 and of key 0. */
export const plainMax = (weights, length) =>
  Math.max(0, ...[...entries(weights, length)].filter(([t, s]) => t > 0 && s > 0).map(([, , w]) => w));

/** Returns the edges of the intervals of the maxima. */
export function plainEdges(maxima, intervals) {
  const sorted = [...maxima].sort((a, b) => a - b);
  return Array.from({ length: intervals - 1 }, (_, i) => {
    const at = round(((i + 1) * sorted.length) / intervals);
    return sorted[Math.min(at, sorted.length - 1)] ?? Number.NaN;
  });
}

/** Returns the kept weights of a sample: { indices, values }. */
export function plainRows(weights, length, keep, least) {
  const kept = Array.from({ length }, (_, t) =>
    Array.from(weights.subarray(t * length, (t + 1) * length), (w, s) => [t * length + s, w])
      .filter(([, w]) => w > 0 && w >= least)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, keep)
      .sort((a, b) => a[0] - b[0]),
  ).flat();
  return { indices: kept.map(([i]) => i), values: kept.map(([, w]) => w) };
}

/** Returns the tables of the samples of a head. */
export function plainTables(samples) {
  const all = samples.flatMap(({ tokens, indices, values }) =>
    Array.from(indices, (at, i) => {
      const [t, s] = [Math.floor(at / tokens.length), at % tokens.length];
      return { query: tokens[t], key: tokens[s], distance: Math.abs(t - s), w: values[i] };
    }),
  );
  const edges = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
  const table = (of) => {
    const names = [...new Set(all.map((entry) => entry[of]))];
    return names
      .map((token) => ({ token, weight: sum(all.filter((entry) => entry[of] === token).map(({ w }) => w)) }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 50);
  };
  return {
    edges,
    distances: edges
      .slice(1)
      .map((end, i) => sum(all.filter(({ distance: d }) => d >= edges[i] && d < end).map(({ w }) => w))),
    queryTokens: table('query'),
    keyTokens: table('key'),
  };
}

const RULES = {
  induction: (ids, t) => ids.flatMap((id, s) => (s + 1 < t && id === ids[t] ? [s + 1] : [])),
  duplicate: (ids, t) => ids.flatMap((id, s) => (s > 0 && s < t && id === ids[t] ? [s] : [])),
  previous: (_, t) => (t > 1 ? [t - 1] : []),
  itself: (_, t) => [t],
  first: () => [0],
  nearby: (ids, t) => ids.flatMap((_, s) => (s > 0 && Math.abs(t - s) < 8 ? [s] : [])),
};

/**
 * Computes for each rule the mean weight of a head on the predicted keys, and the mean share of these keys among the
 * visible keys, over the rows in which the rule predicts a visible key.
 * @param sequences lists of ids
 * @param weights (T,T) of each sequence
 * @param isVisible returns true if a query t sees a key s
 */
export function plainRoles(sequences, weights, isVisible = (t, s) => s <= t) {
  const measures = { mean: {}, chance: {} };
  for (const [role, keysOf] of Object.entries(RULES)) {
    const [means, chances] = [[], []];
    sequences.forEach((ids, n) => {
      for (let t = 1; t < ids.length; t++) {
        const visible = ids.map((_, s) => s).filter((s) => isVisible(t, s));
        const keys = keysOf(ids, t).filter((s) => visible.includes(s));
        if (keys.length === 0) continue;
        means.push(sum(keys.map((s) => weights[n][t * ids.length + s])));
        chances.push(keys.length / visible.length);
      }
    });
    measures.mean[role] = sum(means) / means.length;
    measures.chance[role] = sum(chances) / chances.length;
  }
  return measures;
}

/** Returns the role that the measures of a head show; null for none. */
export const plainRole = ({ mean, chance }) =>
  Object.keys(RULES).find((role) => mean[role] > 0.5 && mean[role] > 2 * chance[role]) ?? null;
