// Reads the options of single parts of a transformer: patches of pictures, buckets of positions.

import { readBoolean, readNumber, readOptions } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';

/** @import { TransformerOptions } from './options.js' */

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
