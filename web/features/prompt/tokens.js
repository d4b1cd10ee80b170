// A text as the model reads it: its tokens, each with the letters that it stands for.

/**
 * @typedef {object} Piece
 * @property {number} id
 * @property {number} start of its letters in the text, the space before them included
 * @property {number} end
 * @property {string} space white space that comes first, as it stands in the text
 * @property {string} text the rest
 * @property {string} name how it is called where no other word stands beside it: never empty
 */

/** @type {Record<string, string>} */
const SIGNS = { '\n': '↵', '\t': '⇥', ' ': '␣' };
/** @param {string} text */
export const nameOf = (text) => text.trim() || text.replace(/[\n\t ]/g, (sign) => SIGNS[sign]) || '·';

/**
 * A character may be several tokens: its letters belong to the first of them.
 * @param {string} text
 * @param {{ ids: number[], offsets: [number, number][] }} encoding
 * @returns {Piece[]}
 */
export function piecesOf(text, { ids, offsets }) {
  let end = 0;
  return ids.map((id, i) => {
    // White space before a token belongs to it, also where a tokenizer leaves it out.
    const start =
      /^\s*$/.test(text.slice(end, offsets[i][0])) && offsets[i][1] > end ? end : Math.max(offsets[i][0], end);
    end = Math.max(offsets[i][1], start);
    const whole = text.slice(start, end);
    const space = /^\s*/.exec(whole)?.[0] ?? '';
    return { id, start, end, space, text: whole.slice(space.length), name: nameOf(whole) };
  });
}

/**
 * The position of a token, from 0, where another one has the same name; null where its name says which it is.
 * @param {readonly string[]} names @param {number} at
 */
export const positionIn = (names, at) => (names.indexOf(names[at]) === names.lastIndexOf(names[at]) ? null : at);

/** A name as it is spoken: the (15) where there are several. @param {readonly string[]} names @param {number} at */
export function spokenName(names, at) {
  const position = positionIn(names, at);
  return position === null ? names[at] : `${names[at]} (${position})`;
}

const isLetter = (/** @type {Piece} */ { text }) => /^[\p{L}\p{N}]/u.test(text);

/** The tokens of the word that a token belongs to. @param {Piece[]} pieces @param {number} t */
export function wordAt(pieces, t) {
  let [from, to] = [t, t + 1];
  const joined = (/** @type {number} */ i) => pieces[i].space === '' && isLetter(pieces[i]) && isLetter(pieces[i - 1]);
  while (from > 0 && joined(from)) from--;
  while (to < pieces.length && joined(to)) to++;
  return pieces.slice(from, to);
}

/** More tokens of a word are not shown in a line. */
const MOST_END = 6;

/** The end of a text: its last two tokens, from where the word begins. @param {Piece[]} pieces */
export function endOf(pieces) {
  const from = pieces.length - 2;
  const whole = from > 0 ? pieces.indexOf(wordAt(pieces, from)[0]) : 0;
  return pieces
    .slice(Math.max(whole, pieces.length - MOST_END))
    .map(({ space, text }) => space + text)
    .join('')
    .trim();
}

/** Tokens on each side of the query, where a text is too long to be shown. */
const NEAR = 12;

/**
 * The part of a long text that is shown: the query, and what stands around it.
 * @param {number} count tokens of the text
 * @param {number} at the query
 * @returns {[from: number, to: number]}
 */
export function excerptOf(count, at) {
  const middle = Math.min(Math.max(at, 0), count - 1);
  return [Math.max(middle - NEAR, 0), Math.min(middle + NEAR + 1, count)];
}

/** What stands behind the last token: white space that no token has. @param {string} text @param {Piece[]} pieces */
export const restOf = (text, pieces) => text.slice(pieces.at(-1)?.end ?? 0);

/** How a token is written behind a text. @param {string} token */
export const shown = (token) => token.replaceAll('\n', '↵');

/** Whether a model reads numbers in place of words: it came without its tokenizer. @param {any} about */
export const readsNumbers = ({ reads, words }) => reads === 'numbers' || (reads === 'pair' && !words);
