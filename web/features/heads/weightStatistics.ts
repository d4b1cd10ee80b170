// Statistics of a head's attention weights.

/** Returns the mean entropy of rows in bits, and the mean distance from queries to keys. `weights`: (T,S). */
export function spreadOf(weights: Float32Array, T: number, S: number) {
  let [entropy, distance, rows] = [0, 0, 0];
  for (let t = 0; t < T; t++) {
    const row = weights.subarray(t * S, (t + 1) * S);
    if (!row.some((w) => w > 0)) continue;
    rows++;
    for (let s = 0; s < S; s++) {
      const w = row[s];
      if (w > 0) entropy -= w * Math.log2(w);
      distance += w * Math.abs(t - s);
    }
  }
  return { entropy: entropy / rows, distance: distance / rows };
}
