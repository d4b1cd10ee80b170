// The steps of attention rollout. The page uses this file too, which therefore does not import the validation of
// arguments.

/** Returns the rollout before the first layer, the identity, in which each token contains only itself. */
export function identity(length: number): Float64Array {
  const x = new Float64Array(length * length);
  for (let t = 0; t < length; t++) x[t * length + t] = 1;
  return x;
}

/** Returns (W̄ + I) / row sums. weights: (H,T,T). */
function mixture(weights: Float32Array, heads: number, length: number) {
  const mixed = identity(length);
  for (let i = 0; i < weights.length; i++) mixed[i % (length * length)] += weights[i] / heads;
  for (let t = 0; t < length; t++) {
    const row = mixed.subarray(t * length, (t + 1) * length);
    const sum = row.reduce((a, x) => a + x, 0);
    for (let s = 0; s < length; s++) row[s] /= sum;
  }
  return mixed;
}

/** a: (N,N); b: (N,N) */
function product(a: Float64Array, b: Float64Array, n: number) {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) {
      const x = a[i * n + k];
      if (x !== 0) for (let j = 0; j < n; j++) out[i * n + j] += x * b[k * n + j];
    }
  return out;
}

/** Returns the rollout after a layer, Ãₗ · Rₗ₋₁. before: Rₗ₋₁, (T,T); weights: of the layer, (H,T,T). */
export const rolloutStep = (before: Float64Array, weights: Float32Array, heads: number, length: number) =>
  product(mixture(weights, heads, length), before, length);
