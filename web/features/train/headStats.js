// Two scores of a head in training.

/** @param {number[]} numbers */
const mean = (numbers) => (numbers.length === 0 ? 0 : numbers.reduce((a, b) => a + b, 0) / numbers.length);

/**
 * The mean weight on the previous token, and on the tokens that followed earlier occurrences of the query token;
 * 0 without any.
 * @param {{ weights: Float32Array, T: number, S: number }} head
 * @param {number[]} tokens
 */
export function headScores({ weights, T, S }, tokens) {
  const all = Array.from({ length: T }, (_, t) => weights.subarray(t * S, (t + 1) * S));
  const followers = (/** @type {number} */ t) =>
    Array.from({ length: t }, (_, p) => p + 1).filter((s) => tokens[s - 1] === tokens[t]);
  return {
    previous: mean(all.slice(1).map((row, t) => row[t])),
    induction: mean(
      all
        .map((row, t) => followers(t).map((s) => row[s]))
        .filter((found) => found.length > 0)
        .map((found) => found.reduce((sum, w) => sum + w, 0)),
    ),
  };
}
