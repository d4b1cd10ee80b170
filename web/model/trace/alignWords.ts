// Pairs the tokens of two sentences: equal tokens from both ends, and between them word by word, also from both ends.

import type { Piece } from '../tokens.ts';
/** A column with the tokens of the upper and the lower sentence, −1 for a missing token. */
export type Column = { from: number; into: number };
/** A word, as its first token and the token after its last. */
export type Word = [start: number, end: number];

const isLetter = ({ text }: Piece) => /^[\p{L}\p{N}]/u.test(text);

/** Returns the words among the tokens start…end. */
function wordsIn(pieces: readonly Piece[], start: number, end: number) {
  const words: Word[] = [];
  for (let i = start; i < end; i++) {
    const joined = i > start && pieces[i].space === '' && isLetter(pieces[i]) && isLetter(pieces[i - 1]);
    if (joined) words[words.length - 1][1] = i + 1;
    else words.push([i, i + 1]);
  }
  return words;
}

/** Returns the columns of two words, paired from their last tokens, where the model has read the whole word. */
function columnsOfWords([a, aEnd]: Word, [b, bEnd]: Word): Column[] {
  const pairs = Math.min(aEnd - a, bEnd - b);
  return [
    ...alone(a, aEnd - pairs, 'from'),
    ...alone(b, bEnd - pairs, 'into'),
    ...paired(aEnd - pairs, aEnd, bEnd - aEnd),
  ];
}

const alone = (start: number, end: number, side: 'from' | 'into'): Column[] =>
  Array.from({ length: Math.max(end - start, 0) }, (_, i) => ({ from: -1, into: -1, [side]: start + i }));
/** `shift`: from a token of the upper sentence to its pair in the lower one. */
const paired = (start: number, end: number, shift: number): Column[] =>
  Array.from({ length: end - start }, (_, i) => ({ from: start + i, into: start + i + shift }));

/** Pairs words from both ends, the end first, because the last word often is the noun. The middle has no pair. */
function columnsBetween(from: Word[], into: Word[]): Column[] {
  const pairs = Math.min(from.length, into.length);
  const before = Math.floor(pairs / 2);
  const after = pairs - before;
  const left = (words: Word[], side: 'from' | 'into') =>
    words.slice(before, words.length - after).flatMap(([start, end]) => alone(start, end, side));
  const joined = (a: Word[], b: Word[]) => a.flatMap((word, i) => columnsOfWords(word, b[i]));
  const last = (words: Word[]) => words.slice(words.length - after);
  return [
    ...joined(from.slice(0, before), into.slice(0, before)),
    ...left(from, 'from'),
    ...left(into, 'into'),
    ...joined(last(from), last(into)),
  ];
}

/** Returns the columns of two sentences, upper `from`, lower `into`. first: the first that differs, or their number. */
export function alignWords(from: readonly Piece[], into: readonly Piece[]): { columns: Column[]; first: number } {
  const least = Math.min(from.length, into.length);
  let first = 0;
  while (first < least && from[first].id === into[first].id) first++;
  const shift = into.length - from.length;
  if (shift === 0) return { columns: paired(0, from.length, 0), first };
  let last = 0;
  while (last < least - first && from[from.length - 1 - last].id === into[into.length - 1 - last].id) last++;
  const [a, b] = [from.length - last, into.length - last];
  const columns = [
    ...paired(0, first, 0),
    ...columnsBetween(wordsIn(from, first, a), wordsIn(into, first, b)),
    ...paired(a, from.length, shift),
  ];
  return { columns, first };
}

/** Returns a function that returns true if the tokens of a column differ or one of them is missing. */
export const differsIn = (from: readonly Piece[], into: readonly Piece[]) => (column: Column) =>
  from[column.from]?.id !== into[column.into]?.id;

/** Returns each lower token's upper partner, −1 for none, as patchGrid's `align`. `from`: first that may differ. */
export function partnersOf(columns: readonly Column[], from: number) {
  const partners: number[] = [];
  columns.forEach((column, i) => {
    if (column.into >= 0) partners[column.into] = i < from ? -1 : column.from;
  });
  return partners;
}
