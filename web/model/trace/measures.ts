// Finds the tokens of answers, and computes the measures of a pair of answers. An answer is one word, or a range of
// numbers such as 33–99, which means any number in it.

/** The measures of two answers. score: difference of their logits. probability, log: of the first answer. */
export const MEASURES = ['score', 'probability', 'log'] as const;
export type Measure = (typeof MEASURES)[number];
export type AnswerIds = [first: number[], second: number[]];
/** The part of a tokenizer needed here. mask: the answer's place as a token, null if it follows the text. */
export type Words = {
  encode: (text: string) => number[];
  decode: (id: number) => string;
  idOf: (token: string) => number | undefined;
  mask: string | null;
};

const RANGE = /^(\d+)–(\d+)$/;

/** If the measures of two runs differ by less than this, the shares are noise. */
export const MIN_DIFFERENCE = 0.1;

/** Returns log Σ exp over some ids of a row, or over all of them. */
function logSum(row: ArrayLike<number>, ids?: readonly number[]) {
  const values = ids ? ids.map((id) => row[id]) : Array.from(row);
  const most = values.reduce((a, x) => Math.max(a, x), -Infinity);
  return most + Math.log(values.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

/** `row`: logits. both: the probabilities of the answers. */
export function measuresOf(
  row: ArrayLike<number>,
  [first, second]: AnswerIds,
): Record<Measure, number> & { both: [number, number] } {
  const [a, b, all] = [logSum(row, first), logSum(row, second), logSum(row)];
  const both = [Math.exp(a - all), Math.exp(b - all)] as [number, number];
  return { score: a - b, probability: both[0], log: a - all, both };
}

/** Returns the id that a longer text has in addition to a shorter one; undefined unless it is exactly one id. */
function added(ids: number[], more: number[]) {
  if (more.length !== ids.length + 1) return undefined;
  let at = 0;
  while (at < ids.length && ids[at] === more[at]) at++;
  return ids.slice(at).every((id, i) => id === more[at + 1 + i]) ? more[at] : undefined;
}

/** Returns the token that continues a text with a word; undefined if that takes several tokens. */
function tokenOf({ encode, decode, idOf, mask }: Words, text: string, word: string) {
  if (mask !== null)
    return ['', '\u2581', 'Ġ'].map((before) => idOf(`${before}${word}`)).find((id) => id !== undefined);
  const ids = encode(text);
  for (const next of /^\d/.test(word) ? [word, ` ${word}`] : [` ${word}`, word]) {
    const id = added(ids, encode(`${text}${next}`));
    if (id !== undefined && decode(id).trim() === word) return id;
  }
  // In "1776", encoding the text with its answer may not give the last two digits as one token, although the model can
  // predict them as one token after "17".
  const [alone, ...more] = /^\d/.test(word) ? encode(word) : [];
  return alone !== undefined && more.length === 0 && decode(alone) === word ? alone : undefined;
}

/** Returns the tokens of an answer after a text; none if a part of the answer is not a single token. */
export function idsOfAnswer(words: Words, text: string, answer: string): number[] {
  const range = RANGE.exec(answer);
  if (!range) return [tokenOf(words, text, answer.trim())].filter((id) => id !== undefined);
  const [, low, high] = range;
  const count = Number(high) - Number(low) + 1;
  const names = Array.from({ length: Math.max(count, 0) }, (_, i) => String(Number(low) + i).padStart(low.length, '0'));
  const ids: number[] = [];
  for (const name of names) {
    const id = tokenOf(words, text, name);
    if (id === undefined) return [];
    ids.push(id);
  }
  return ids;
}

/** Returns the reason why two runs cannot be compared; null if they can. */
export function problemOf(
  upper: { score: number; value: number },
  lower: { score: number; value: number },
): 'sameAnswer' | 'close' | null {
  if (Math.abs(upper.value - lower.value) < MIN_DIFFERENCE) return 'close';
  return upper.score > 0 === lower.score > 0 ? 'sameAnswer' : null;
}
