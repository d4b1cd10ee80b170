// The formulas of positions: sinusoids, buckets of relative positions.

/**
 * The bucket of a relative position in T5 (Raffel et al. 2020). The first half of the buckets have one distance each,
 * the others ranges of exponentially growing length.
 * @param distance from the query to the key: negative for keys before the query
 * @param maxDistance all distances of at least this length are in the last bucket
 * @param bidirectional true if keys may come after the query
 */
export function bucketOf(distance: number, count: number, maxDistance: number, bidirectional: boolean) {
  const half = bidirectional ? Math.floor(count / 2) : count;
  const first = bidirectional && distance > 0 ? half : 0;
  const n = bidirectional ? Math.abs(distance) : Math.max(-distance, 0);
  const exact = Math.floor(half / 2);
  if (n < exact) return first + n;
  const far = exact + Math.floor((Math.log(n / exact) / Math.log(maxDistance / exact)) * (half - exact));
  return first + Math.min(far, half - 1);
}

/**
 * The bucket of a relative position in DeBERTa (He et al. 2021), with the sign of the distance. Distances up to half of
 * `count`, the buckets of a direction, have their own, the others ranges of exponentially growing length. maxDistance:
 * in the last bucket.
 */
export function logBucketOf(distance: number, count: number, maxDistance: number): number {
  const [exact, n] = [Math.floor(count / 2), Math.abs(distance)];
  if (n <= exact) return distance;
  const share = Math.log(n / exact) / Math.log((maxDistance - 1) / exact);
  return Math.sign(distance) * (exact + Math.ceil(share * (exact - 1)));
}

/**
 * Returns (T,width), sines and cosines of each frequency (Vaswani et al. 2017), 0 at negative positions. positions:
 * (T); order: as the option sinusoids; offset: added to positions.
 */
export function sinusoids(
  positions: Int32Array,
  width: number,
  order: 'pairs' | 'halves' | 'inclusive' = 'pairs',
  offset = 0,
) {
  const data = new Float32Array(positions.length * width);
  const half = Math.ceil(width / 2);
  const last = order === 'inclusive' ? Math.max(half - 1, 1) : width / 2;
  positions.forEach((p, row) => {
    if (p < 0) return;
    for (let i = 0; i < width; i++) {
      const isSine = order === 'pairs' ? i % 2 === 0 : i < half;
      const frequency = order === 'pairs' ? Math.floor(i / 2) : i % half;
      const angle = (p + offset) / 10000 ** (frequency / last);
      data[row * width + i] = isSine ? Math.sin(angle) : Math.cos(angle);
    }
  });
  return data;
}

/**
 * Returns (B,T), the number of counted tokens before each. counted: (B,past+T): 0 for other tokens, which have the
 * position −1 if `skipped`, that of padding; sizes: past: tokens in the cache.
 */
export function countPositions(
  { batch, rows, past }: { batch: number; rows: number; past: number },
  counted: Uint8Array | undefined,
  skipped: boolean,
): Int32Array {
  const positions = new Int32Array(batch * rows);
  for (let b = 0; b < batch && rows > 0; b++) {
    let position = 0;
    for (let s = 0; s < past + rows; s++) {
      const counts = counted?.[b * (past + rows) + s] !== 0;
      if (s >= past) positions[b * rows + s - past] = counts || !skipped ? position : -1;
      if (counts) position++;
    }
  }
  return positions;
}
