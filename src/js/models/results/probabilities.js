// Probabilities from logits, in float64.

/** @param {Float64Array} logits @returns {Float64Array} log-probabilities of the softmax */
export function logSoftmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - most), 0);
  return logits.map((logit) => logit - most - Math.log(sum));
}

/** @param {number} logit */
export const sigmoid = (logit) => 1 / (1 + Math.exp(-logit));

/**
 * Returns the indices of the n largest numbers, the largest first. Equal numbers keep their order.
 * @param {ArrayLike<number>} numbers @param {number} n
 */
export const largest = (numbers, n) =>
  Array.from({ length: numbers.length }, (_, i) => i)
    .sort((a, b) => numbers[b] - numbers[a] || a - b)
    .slice(0, n);
