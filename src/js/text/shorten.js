// Truncates the tokens of a text.

/** @import { Encoding } from './processors.js' */

/**
 * Keeps the first tokens of a text, and the special tokens at the end of the text.
 * @param {Encoding} encoding
 * @param {number} most maximum number of tokens
 * @returns {Encoding}
 */
export function shorten(encoding, most) {
  const { ids, offsets } = encoding;
  if (ids.length <= most) return encoding;
  let specials = 0;
  while (specials < ids.length && isSpecial(offsets[ids.length - 1 - specials])) specials++;
  const keep = Math.min(specials, most);
  /** @template T @param {T[]} list @returns {T[]} */
  const cut = (list) => [...list.slice(0, most - keep), ...list.slice(list.length - keep)];
  return { ids: cut(ids), tokens: cut(encoding.tokens), offsets: cut(offsets), typeIds: cut(encoding.typeIds) };
}

/**
 * Returns true for the offset of special tokens. Only tokens that a template adds have it.
 * @param {readonly [number, number]} offset
 */
const isSpecial = ([begin, end]) => begin === 0 && end === 0;
