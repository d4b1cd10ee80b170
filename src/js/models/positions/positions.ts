// The formulas of positions: sinusoids, buckets of relative positions.

/**
 * Returns the bucket of a relative position in T5 (Raffel et al. 2020). Each of the first half of the buckets is for
 * one distance, each of the others for a range of distances whose length grows exponentially.
 * @param distance from the query to the key: negative for keys before the query
 * @param count of buckets
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
 * Returns the bucket of a relative position in DeBERTa (He et al. 2021). Each distance up to half the number of buckets
 * has a bucket of its own; the other buckets are for ranges of distances whose length grows exponentially.
 * @param count of buckets in each direction
 * @param maxDistance distance that is in the last bucket
 * @returns with the sign of the distance
 */
export function logBucketOf(distance: number, count: number, maxDistance: number): number {
  const [exact, n] = [Math.floor(count / 2), Math.abs(distance)];
  if (n <= exact) return distance;
  const share = Math.log(n / exact) / Math.log((maxDistance - 1) / exact);
  return Math.sign(distance) * (exact + Math.ceil(share * (exact - 1)));
}

/**
 * Returns a sine and a cosine for each frequency (Vaswani et al. 2017), (T,width). The row of a negative position is 0.
 * positions: (T); order: as the option sinusoids; offset: number that is added to the positions.
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
 * Returns the position of each token, that is the number of counted tokens before it.
 * @param sizes past: number of tokens in the cache, which come before the rows
 * @param counted (B,past+T): 0 for tokens that are not counted
 * @param skipped true: tokens that are not counted have the position −1, that of the padding token
 * @returns (B,T)
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
