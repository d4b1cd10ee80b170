// Repetitions in a text that a model writes. A small model that always adds its first guess soon writes the same phrase
// again and again.

/** As many tokens in a row never occur twice in the text. */
const PHRASE = 3;

/**
 * The tokens after which the last tokens of a text would occur in it twice.
 * @param {readonly number[]} ids of the text
 * @returns {number[]}
 */
export function repeating(ids) {
  const known = PHRASE - 1;
  const isEnd = (/** @type {number} */ at) =>
    Array.from({ length: known }, (_, i) => ids[at + i] === ids[ids.length - known + i]).every(Boolean);
  return ids.filter((_, at) => at >= known && isEnd(at - known));
}
