// Pairs of the tokens of two sentences: equal tokens from both ends; between them word by word, also from both ends.

/** @import { Piece } from '../prompt/tokens.js' */
/**
 * Tokens of the upper and the lower sentence, −1 for a missing one.
 * @typedef {{ from: number, into: number }} Column
 */
/** The first token of a word, and the token after its last. @typedef {[start: number, end: number]} Word */

/** @param {Piece} piece */
const isLetter = ({ text }) => /^[\p{L}\p{N}]/u.test(text);

/** The words among the tokens start…end. @param {readonly Piece[]} pieces @param {number} start @param {number} end */
function wordsIn(pieces, start, end) {
  /** @type {Word[]} */
  const words = [];
  for (let i = start; i < end; i++) {
    const joined = i > start && pieces[i].space === '' && isLetter(pieces[i]) && isLetter(pieces[i - 1]);
    if (joined) words[words.length - 1][1] = i + 1;
    else words.push([i, i + 1]);
  }
  return words;
}

/**
 * The columns of two words. Their last tokens are a pair: the model knows the whole word there.
 * @param {Word} from @param {Word} into @returns {Column[]}
 */
function columnsOfWords([a, aEnd], [b, bEnd]) {
  const pairs = Math.min(aEnd - a, bEnd - b);
  return [
    ...alone(a, aEnd - pairs, 'from'),
    ...alone(b, bEnd - pairs, 'into'),
    ...paired(aEnd - pairs, aEnd, bEnd - aEnd),
  ];
}

/** @param {number} start @param {number} end @param {'from' | 'into'} side @returns {Column[]} */
const alone = (start, end, side) =>
  Array.from({ length: Math.max(end - start, 0) }, (_, i) => ({ from: -1, into: -1, [side]: start + i }));
/** @param {number} start @param {number} end @param {number} shift from the upper to the lower @returns {Column[]} */
const paired = (start, end, shift) =>
  Array.from({ length: end - start }, (_, i) => ({ from: start + i, into: start + i + shift }));

/**
 * Words from both ends are pairs, the last first: it often is the noun. In the middle of the longer list, the
 * remaining words have none.
 * @param {Word[]} from @param {Word[]} into @returns {Column[]}
 */
function columnsBetween(from, into) {
  const pairs = Math.min(from.length, into.length);
  const before = Math.floor(pairs / 2);
  const after = pairs - before;
  const left = (/** @type {Word[]} */ words, /** @type {'from' | 'into'} */ side) =>
    words.slice(before, words.length - after).flatMap(([start, end]) => alone(start, end, side));
  const joined = (/** @type {Word[]} */ a, /** @type {Word[]} */ b) =>
    a.flatMap((word, i) => columnsOfWords(word, b[i]));
  const last = (/** @type {Word[]} */ words) => words.slice(words.length - after);
  return [
    ...joined(from.slice(0, before), into.slice(0, before)),
    ...left(from, 'from'),
    ...left(into, 'into'),
    ...joined(last(from), last(into)),
  ];
}

/**
 * first: the first column that differs; columns.length if there is none.
 * @param {readonly Piece[]} from tokens of the upper sentence
 * @param {readonly Piece[]} into of the lower one
 * @returns {{ columns: Column[], first: number }}
 */
export function alignWords(from, into) {
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

/**
 * True if the tokens of a column differ, or one is missing.
 * @param {readonly Piece[]} from
 * @param {readonly Piece[]} into
 */
export const differsIn = (from, into) => (/** @type {Column} */ column) =>
  from[column.from]?.id !== into[column.into]?.id;

/**
 * For each token of the lower sentence its partner in the upper one, −1 for none: `align` of patchGrid.
 * @param {readonly Column[]} columns
 * @param {number} from the first column whose values may differ
 */
export function partnersOf(columns, from) {
  /** @type {number[]} */
  const partners = [];
  columns.forEach((column, i) => {
    if (column.into >= 0) partners[column.into] = i < from ? -1 : column.from;
  });
  return partners;
}
