// Divides sequences into intervals of their maxima, of about the same number of sequences.

/** Rounds to the nearest integer, and halves to the even neighbour. x: at least 0. */
function roundHalfToEven(x: number) {
  const low = Math.floor(x);
  if (x - low !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

/**
 * Returns the lower edges of intervals 2 … count, quantiles of the maxima at 1/count, 2/count …; NaN without maxima.
 * Sorts the maxima in place.
 */
export function edgesOf(maxima: Float32Array, count: number): Float32Array {
  const { length } = maxima.sort();
  return Float32Array.from({ length: count - 1 }, (_, i) =>
    length === 0 ? Number.NaN : maxima[Math.min(roundHalfToEven(((i + 1) * length) / count), length - 1)],
  );
}

/** Returns the interval of a maximum, counted from 1. */
export function intervalOf(max: number, edges: ArrayLike<number>) {
  let interval = 1;
  for (let i = 0; i < edges.length; i++) if (edges[i] <= max) interval++;
  return interval;
}
