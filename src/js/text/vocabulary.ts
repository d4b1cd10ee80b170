// Functions that all tokenizer models use: the ids of the pieces, and the pieces for single bytes.

import { toUtf8 } from './bytelevel.ts';
import { type Fields, fieldError } from './fields.ts';

/** finds the pieces of a word, in order */
export type Pieces = (word: string, found: (id: number, begin: number, end: number, unknown?: boolean) => void) => void;
/** texts: pieces by id, with gaps; the same piece may have several ids */
export type Model = { ids: Map<string, number>; texts: readonly string[]; pieces: Pieces };

/** The largest id of a piece. */
export const MAX_ID = 2 ** 24;

/** Reads an object that maps pieces to ids. returns texts: the pieces by id, with gaps. */
export function readVocabulary(fields: Fields): { ids: Map<string, number>; texts: string[] } {
  const path = fields.pathOf('vocab');
  const ids = fields.map('vocab');
  const texts: string[] = [];
  // A callback: destructuring in a loop is slow until the loop is compiled, and would take most of the time.
  ids.forEach((id, piece) => {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || id > MAX_ID)
      throw fieldError(`${path}['${piece.slice(0, 40)}']`, id, `an integer from 0 to ${MAX_ID}`);
    texts[id] = piece;
  });
  return { ids: ids as Map<string, number>, texts };
}

/** Returns the id of the piece that is the value of a field, or null if the field is missing. */
export function readPiece(fields: Fields, name: string, ids: Map<string, number>) {
  if (fields.get(name) === null) return null;
  const id = ids.get(fields.string(name));
  if (id === undefined) throw fields.error(name, 'a piece of the vocabulary');
  return id;
}

/** Maximum number of texts whose byte pieces are cached. */
const MAX_CACHED = 10_000;

/** Converts a text to the pieces <0x00> to <0xFF> of its UTF-8 bytes, or to null if one is not in the vocabulary. */
export function byteFallback(ids: Map<string, number>): (text: string) => number[] | null {
  const pieces = Array.from({ length: 256 }, (_, byte) => {
    const hex = byte.toString(16).toUpperCase().padStart(2, '0');
    return ids.get(`<0x${hex}>`) ?? -1;
  });
  /** Pieces by text. The texts are single characters, which repeat often. */
  const cache: Map<string, number[] | null> = new Map();
  return (text) => {
    let found = cache.get(text);
    if (found !== undefined) return found;
    found = Array.from(toUtf8(text), (byte) => pieces[byte]);
    if (found.includes(-1)) found = null;
    if (cache.size === MAX_CACHED) cache.clear();
    cache.set(text, found);
    return found;
  };
}
