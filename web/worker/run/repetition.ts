// Finds tokens that would repeat a phrase in a text that a model writes. A small model that always adds its likeliest
// token soon writes the same phrase again and again.

/** The number of tokens of a phrase, which may occur only once in the text. */
const PHRASE = 3;

/** Returns the tokens that would repeat a phrase, and the last token if it would stand three times in a row. */
export function repeating(ids: readonly number[]): number[] {
  const known = PHRASE - 1;
  const isEnd = (at: number) =>
    Array.from({ length: known }, (_, i) => ids[at + i] === ids[ids.length - known + i]).every(Boolean);
  const [before, last] = ids.slice(-2);
  const repeated = ids.filter((_, at) => at >= known && isEnd(at - known));
  return ids.length > 1 && before === last && !repeated.includes(last) ? [...repeated, last] : repeated;
}
