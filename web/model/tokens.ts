// Divides a text into tokens, each with its characters.

import type { About } from './protocol/protocol.ts';

export type Piece = {
  id: number;
  /** index of the first character in the text, including the space before the token */
  start: number;
  end: number;
  /** leading white space, as in the text */
  space: string;
  /** text of the token without that white space */
  text: string;
  /** name of the token without its context, which is never empty */
  name: string;
};

const SIGNS: Record<string, string> = { '\n': '↵', '\t': '⇥', ' ': '␣' };
export const nameOf = (text: string) => text.trim() || text.replace(/[\n\t ]/g, (sign) => SIGNS[sign]) || '·';

/** Returns the tokens of a text with their characters; one of several tokens belongs to the first of them. */
export function piecesOf(text: string, { ids, offsets }: { ids: number[]; offsets: [number, number][] }): Piece[] {
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

/** Returns the position of a token, from 0, if another token has the same name; null if the name is unique. */
export const positionIn = (names: readonly string[], at: number) =>
  names.indexOf(names[at]) === names.lastIndexOf(names[at]) ? null : at;

/** Returns a name for screen readers. If it is not unique, it includes the position, as in "the (15)". */
export function spokenName(names: readonly string[], at: number) {
  const position = positionIn(names, at);
  return position === null ? names[at] : `${names[at]} (${position})`;
}

const isLetter = ({ text }: Piece) => /^[\p{L}\p{N}]/u.test(text);

/** Returns the tokens of the word that contains a token. */
export function wordAt(pieces: Piece[], t: number) {
  let [from, to] = [t, t + 1];
  const joined = (i: number) => pieces[i].space === '' && isLetter(pieces[i]) && isLetter(pieces[i - 1]);
  while (from > 0 && joined(from)) from--;
  while (to < pieces.length && joined(to)) to++;
  return pieces.slice(from, to);
}

/** Maximum number of tokens that `endOf` returns. */
const MAX_END = 6;

/** Returns the end of a text: the last two tokens, and the tokens before them that belong to the same word. */
export function endOf(pieces: Piece[]) {
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

/** Returns the shown part of a long text of `count` tokens: the query, at `at`, and its neighbours. */
export function excerptOf(count: number, at: number): [from: number, to: number] {
  const middle = Math.min(Math.max(at, 0), count - 1);
  return [Math.max(middle - NEAR, 0), Math.min(middle + NEAR + 1, count)];
}

/** Returns the text after the last token, which is white space that belongs to no token. */
export const restOf = (text: string, pieces: Piece[]) => text.slice(pieces.at(-1)?.end ?? 0);

/** Returns a token as it is displayed after a text. */
export const shown = (token: string) => token.replaceAll('\n', '↵');

/** Returns true if the input of a model is token ids, because the model has no tokenizer. */
export const readsNumbers = ({ reads, words }: Pick<About, 'reads' | 'words'>) =>
  reads === 'numbers' || (reads === 'pair' && !words);
