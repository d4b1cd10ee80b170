// Texts of one length: longer ones are cut, shorter ones are padded.

import { shorten } from './shorten.js';

/** @import { Encoding } from './processors.js' */

/**
 * The length of all texts of a model that was trained on lower-cased texts of this length, as SigLIP. pad: the padding
 * token; padId: its id if the tokenizer has no such token.
 * @typedef {{ length: number, pad?: string, padId: number }} FixedLength
 */

/**
 * @param {Encoding} encoding
 * @param {number} length
 * @param {{ id: number, token: string }} pad
 * @returns {Encoding}
 */
export function toLength(encoding, length, { id, token }) {
  const { ids, tokens, offsets, typeIds } = shorten(encoding, length);
  /** @template T @param {T[]} list @param {T} filling */
  const fill = (list, filling) => [...list, ...new Array(length - list.length).fill(filling)];
  return {
    ids: fill(ids, id),
    tokens: fill(tokens, token),
    offsets: fill(offsets, [0, 0]),
    typeIds: fill(typeIds, 0),
  };
}
