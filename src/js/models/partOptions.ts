// Reads the options of single parts of a transformer: patches of pictures, buckets of positions.

import { readBoolean, readNumber, readOptions } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';

import type { TransformerOptions } from './options.ts';

const PATCH = ['size', 'image', 'channels', 'classTokens', 'bias', 'anySize'];
export const SIZE = { integer: true, least: 1, most: 2 ** 20 };

export function readBuckets(caller: string, options: NonNullable<TransformerOptions['buckets']>) {
  const given = readOptions(`${caller}: buckets`, options, ['count', 'distance']);
  return Object.freeze({
    count: readNumber(`${caller}: buckets`, 'count', given.count ?? 32, { integer: true, least: 2, most: 2 ** 16 }),
    distance: readNumber(`${caller}: buckets`, 'distance', given.distance ?? 128, SIZE),
  });
}

export function readPatch(caller: string, patch: TransformerOptions['patch']) {
  const where = `${caller}: patch`;
  const given = readOptions(where, patch ?? (null as any), PATCH);
  const [height, width] = (
    typeof given.image === 'number' ? [given.image, given.image] : (given.image ?? [])
  ) as unknown[];
  const size = readNumber(where, 'size', given.size, SIZE);
  const image = [
    readNumber(where, 'image[0]', height, { ...SIZE, least: size }),
    readNumber(where, 'image[1]', width, { ...SIZE, least: size }),
  ] as [number, number];
  return Object.freeze({
    size,
    image: Object.freeze(image),
    channels: readNumber(where, 'channels', given.channels ?? 3, SIZE),
    classTokens: readNumber(where, 'classTokens', given.classTokens ?? 1, { integer: true, least: 0, most: 16 }),
    bias: readBoolean(where, 'bias', given.bias ?? true),
    anySize: readBoolean(where, 'anySize', given.anySize ?? false),
  });
}

export function readTokenDropout(caller: string, { tokenDropout, input = 'tokens', causal }: TransformerOptions) {
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
