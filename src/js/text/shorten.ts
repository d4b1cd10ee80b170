// Truncates the tokens of a text.

import type { Encoding } from './processors.ts';

/** Keeps the first tokens of a text, and the special tokens at the end of the text. most: maximum number of tokens. */
export function shorten(encoding: Encoding, most: number): Encoding {
  const { ids, offsets } = encoding;
  if (ids.length <= most) return encoding;
  let specials = 0;
  while (specials < ids.length && isSpecial(offsets[ids.length - 1 - specials])) specials++;
  const keep = Math.min(specials, most);
  const cut = <T>(list: T[]): T[] => [...list.slice(0, most - keep), ...list.slice(list.length - keep)];
  return { ids: cut(ids), tokens: cut(encoding.tokens), offsets: cut(offsets), typeIds: cut(encoding.typeIds) };
}

/** Returns true for the offset of special tokens. Only tokens that a template adds have it. */
const isSpecial = ([begin, end]: readonly [number, number]) => begin === 0 && end === 0;
