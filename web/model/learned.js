// Heads that were learned, not constructed: the model sees no words, only which tokens are equal.
// train/pretrain.js trains it.

/** How it was made. */
export const LEARNED = { layers: 2, dModel: 64, numHeads: 4, vocab: 48, context: 48, mlp: 0 };

/**
 * Tokens numbered by their first appearance; which number stands for which token does not matter.
 * @param {string[]} tokens
 */
export function labelsOf(tokens) {
  const known = [...new Set(tokens.map((token) => token.toLowerCase()))];
  return Int32Array.from(tokens, (token) => (known.indexOf(token.toLowerCase()) * 17 + 5) % LEARNED.vocab);
}
