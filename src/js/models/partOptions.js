// Reads the options of single parts of a transformer: patches of pictures, buckets of positions.

import { readBoolean, readNumber, readOptions } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';

/** @import { TransformerOptions } from './options.js' */

/**
 * @typedef {object} DisentangledOptions
 * @property {number} distance relative positions beyond this distance are not distinguished
 * @property {number} [buckets] number of buckets of relative positions in each direction; default: one for each
 *   position
 * @property {readonly ('query' | 'key')[]} [terms] products that are added to a score. 'query': of the query and the
 *   position projected as a key; 'key': of the key and the position projected as a query; default: both
 * @property {boolean} [norm] a norm of the table of positions; default true
 */

const PATCH = ['size', 'image', 'channels', 'classTokens', 'bias', 'anySize'];
export const SIZE = { integer: true, least: 1, most: 2 ** 20 };

/** @param {string} caller @param {NonNullable<TransformerOptions['buckets']>} options */
export function readBuckets(caller, options) {
  const given = readOptions(`${caller}: buckets`, options, ['count', 'distance']);
  return Object.freeze({
    count: readNumber(`${caller}: buckets`, 'count', given.count ?? 32, { integer: true, least: 2, most: 2 ** 16 }),
    distance: readNumber(`${caller}: buckets`, 'distance', given.distance ?? 128, SIZE),
  });
}

/** @param {string} caller @param {TransformerOptions['patch']} patch */
export function readPatch(caller, patch) {
  const where = `${caller}: patch`;
  const given = readOptions(where, patch ?? /** @type {any} */ (null), PATCH);
  const [height, width] = /** @type {unknown[]} */ (
    typeof given.image === 'number' ? [given.image, given.image] : (given.image ?? [])
  );
  const size = readNumber(where, 'size', given.size, SIZE);
  const image = /** @type {[number, number]} */ ([
    readNumber(where, 'image[0]', height, { ...SIZE, least: size }),
    readNumber(where, 'image[1]', width, { ...SIZE, least: size }),
  ]);
  return Object.freeze({
    size,
    image: Object.freeze(image),
    channels: readNumber(where, 'channels', given.channels ?? 3, SIZE),
    classTokens: readNumber(where, 'classTokens', given.classTokens ?? 1, { integer: true, least: 0, most: 16 }),
    bias: readBoolean(where, 'bias', given.bias ?? true),
    anySize: readBoolean(where, 'anySize', given.anySize ?? false),
  });
}

/** @param {string} caller @param {TransformerOptions} model */
export function readTokenDropout(caller, { tokenDropout, input = 'tokens', causal }) {
  if (tokenDropout === undefined) return undefined;
  const where = `${caller}: tokenDropout`;
  if (input !== 'tokens' || causal !== false)
    throw argumentError(caller, 'tokenDropout', tokenDropout, 'none, as only encoders of tokens accept it');
  const given = readOptions(where, tokenDropout, ['token', 'share']);
  return Object.freeze({
    token: readNumber(where, 'token', given.token, { ...SIZE, least: 0 }),
    share: readNumber(where, 'share', given.share, { least: 0, most: 1 }),
  });
}

/**
 * @param {string} caller
 * @param {DisentangledOptions} options
 * @param {TransformerOptions} model
 */
export function readDisentangled(
  caller,
  options,
  { positions, causal, buckets: biases, queryKeyNorm, numHeads, kvHeads, cross },
) {
  const where = `${caller}: disentangled`;
  const given = readOptions(where, options, ['distance', 'buckets', 'terms', 'norm']);
  const excluded = { rotary: positions === 'rotary', buckets: positions === 'buckets' || biases, queryKeyNorm, cross };
  const other = Object.entries({ ...excluded, kvHeads: (kvHeads ?? numHeads) !== numHeads, causal: causal !== false });
  const [name] = other.find(([, present]) => present) ?? [];
  if (name) throw argumentError(caller, 'disentangled', options, `none, because it cannot be combined with ${name}`);
  const buckets =
    given.buckets === undefined ? undefined : readNumber(where, 'buckets', given.buckets, { ...SIZE, least: 2 });
  const least = buckets === undefined ? 1 : Math.floor(buckets / 2) + 2;
  const terms = given.terms ?? ['query', 'key'];
  if (!Array.isArray(terms) || terms.length === 0 || !terms.every((term) => term === 'query' || term === 'key'))
    throw argumentError(where, 'terms', terms, "a list of 'query' and 'key'");
  return Object.freeze({
    distance: readNumber(where, 'distance', given.distance, { ...SIZE, least }),
    buckets,
    terms: Object.freeze([...new Set(terms)]),
    norm: readBoolean(where, 'norm', given.norm ?? true),
  });
}
