// Encodes several texts as one batch, padded at the end.

import { argumentError } from '../../check/errors.js';
import { largestOf } from '../../check/extremes.js';
import { shorten } from '../../text/shorten.js';

/** @import { Encoding } from '../../text/processors.js' */
/** @import { Transformer } from '../transformer.js' */

/**
 * The input of forward() for several texts, and their tokens. keep is 0 for padding; typeIds only for models with token
 * types.
 * @typedef {object} EncodedBatch
 * @property {{ data: Int32Array, shape: [number, number] }} ids (B,T)
 * @property {{ data: Int32Array, shape: [number, number] }} keep (B,T)
 * @property {{ data: Int32Array, shape: [number, number] }} [typeIds] (B,T)
 * @property {string[][]} tokens of each text, without padding
 * @property {[begin: number, end: number][][]} offsets of each text, without padding
 */

/**
 * @param {Transformer} model
 * @param {string} caller
 * @param {readonly string[]} texts
 * @param {number} [most] largest number of tokens of a text; a longer text is cut, but keeps its special tokens
 * @returns {EncodedBatch}
 */
export function encodeBatch(model, caller, texts, most = Infinity) {
  if (!Array.isArray(texts) || texts.length === 0 || texts.some((text) => typeof text !== 'string'))
    throw argumentError(caller, 'texts', texts, 'a list of texts');
  const encodings = texts.map((text) => shorten(model.encode(text), most));
  const length = largestOf(encodings.map(({ ids }) => ids.length));
  const pad = Math.max(model.config?.pad_token_id ?? 0, 0);
  /** @param {(encoding: Encoding) => ArrayLike<number>} of @param {number} filling */
  const padded = (of, filling) => {
    const data = new Int32Array(texts.length * length).fill(filling);
    encodings.forEach((encoding, row) => data.set(of(encoding), row * length));
    return { data, shape: /** @type {[number, number]} */ ([texts.length, length]) };
  };
  return {
    ids: padded(({ ids }) => ids, pad),
    keep: padded(({ ids }) => ids.map(() => 1), 0),
    ...(model.options.tokenTypes > 0 && { typeIds: padded(({ typeIds }) => typeIds, 0) }),
    tokens: encodings.map(({ tokens }) => tokens),
    offsets: encodings.map(({ offsets }) => offsets),
  };
}
