// Probabilities from logits, in float64.

/** returns log-probabilities */
export function logSoftmax(logits: Float64Array): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - most), 0);
  return logits.map((logit) => logit - most - Math.log(sum));
}

export const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));

/** Returns the indices of the n largest numbers, the largest first. Equal numbers keep their order. */
export const largest = (numbers: ArrayLike<number>, n: number) =>
  Array.from({ length: numbers.length }, (_, i) => i)
    .sort((a, b) => numbers[b] - numbers[a] || a - b)
    .slice(0, n);
