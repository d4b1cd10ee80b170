// Makes all texts the same length: longer texts are truncated, shorter texts are padded.

import { shorten } from './shorten.js';

/** @import { Encoding } from './processors.js' */

/**
 * The length of all texts of a model, such as SigLIP, that was trained on lower-cased texts of this length. pad: the
 * padding token; padId: id for padding if the tokenizer has no such token.
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
