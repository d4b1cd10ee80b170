// Divides a text into tokens, each with its characters.

/** @import { About } from '../../store/protocol.js' */

/**
 * @typedef {object} Piece
 * @property {number} id
 * @property {number} start index of the first character in the text, including the space before the token
 * @property {number} end
 * @property {string} space leading white space, as in the text
 * @property {string} text text of the token without that white space
 * @property {string} name name of the token without its context, which is never empty
 */

/** @type {Record<string, string>} */
const SIGNS = { '\n': '↵', '\t': '⇥', ' ': '␣' };
/** @param {string} text */
export const nameOf = (text) => text.trim() || text.replace(/[\n\t ]/g, (sign) => SIGNS[sign]) || '·';

/**
 * Returns the tokens of a text with their characters. A character that consists of several tokens belongs to the first
 * of them.
 * @param {string} text
 * @param {{ ids: number[], offsets: [number, number][] }} encoding
 * @returns {Piece[]}
 */
export function piecesOf(text, { ids, offsets }) {
  let end = 0;
  return ids.map((id, i) => {
    // White space before a token belongs to it, even if the tokenizer's offsets exclude it.
    const start =
      /^\s*$/.test(text.slice(end, offsets[i][0])) && offsets[i][1] > end ? end : Math.max(offsets[i][0], end);
    end = Math.max(offsets[i][1], start);
    const whole = text.slice(start, end);
    const space = /^\s*/.exec(whole)?.[0] ?? '';
    return { id, start, end, space, text: whole.slice(space.length), name: nameOf(whole) };
  });
}

/**
 * Returns the position of a token, from 0, if another token has the same name; null if the name is unique.
 * @param {readonly string[]} names @param {number} at
 */
export const positionIn = (names, at) => (names.indexOf(names[at]) === names.lastIndexOf(names[at]) ? null : at);

/**
 * Returns a name for screen readers. If it is not unique, it includes the position, as in "the (15)".
 * @param {readonly string[]} names @param {number} at
 */
export function spokenName(names, at) {
  const position = positionIn(names, at);
  return position === null ? names[at] : `${names[at]} (${position})`;
}

const isLetter = (/** @type {Piece} */ { text }) => /^[\p{L}\p{N}]/u.test(text);

/** Returns the tokens of the word that contains a token. @param {Piece[]} pieces @param {number} t */
export function wordAt(pieces, t) {
  let [from, to] = [t, t + 1];
  const joined = (/** @type {number} */ i) => pieces[i].space === '' && isLetter(pieces[i]) && isLetter(pieces[i - 1]);
  while (from > 0 && joined(from)) from--;
  while (to < pieces.length && joined(to)) to++;
  return pieces.slice(from, to);
}

/** Maximum number of tokens that `endOf` returns. */
const MAX_END = 6;

/**
 * Returns the end of a text: the last two tokens, and the tokens before them that belong to the same word.
 * @param {Piece[]} pieces
 */
export function endOf(pieces) {
  const from = pieces.length - 2;
  const whole = from > 0 ? pieces.indexOf(wordAt(pieces, from)[0]) : 0;
  return pieces
    .slice(Math.max(whole, pieces.length - MAX_END))
    .map(({ space, text }) => space + text)
    .join('')
    .trim();
}

/** Number of tokens on each side of the query in an excerpt. */
const NEAR = 12;

/**
 * Returns the part of a long text that is shown: the query and its neighbours.
 * @param {number} count number of tokens of the text
 * @param {number} at position of the query
 * @returns {[from: number, to: number]}
 */
export function excerptOf(count, at) {
  const middle = Math.min(Math.max(at, 0), count - 1);
  return [Math.max(middle - NEAR, 0), Math.min(middle + NEAR + 1, count)];
}

/**
 * Returns the text after the last token, which is white space that belongs to no token.
 * @param {string} text @param {Piece[]} pieces
 */
export const restOf = (text, pieces) => text.slice(pieces.at(-1)?.end ?? 0);

/** Returns a token as it is displayed after a text. @param {string} token */
export const shown = (token) => token.replaceAll('\n', '↵');

/**
 * Returns true if the input of a model is token ids, because the model has no tokenizer.
 * @param {Pick<About, 'reads' | 'words'>} about
 */
export const readsNumbers = ({ reads, words }) => reads === 'numbers' || (reads === 'pair' && !words);
