// Reads the options of disentangled attention, and lists its parameters.

import { readBoolean, readNumber, readOptions, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { ACTIVATIONS, type ActivationKind } from '../../ops/activation.ts';
import { type LayerShape, norm } from '../layerShapes.ts';
import type { Resolved, TransformerOptions } from '../options.ts';
import { SIZE } from '../partOptions.ts';

export type DisentangledOptions = {
  /** relative positions beyond this distance are not distinguished */
  distance: number;
  /** number of buckets of relative positions in each direction; default: one for each position */
  buckets?: number | undefined;
  /**
   * products that are added to a score. 'query': of the query and the position projected as a key; 'key': of the key
   * and the position projected as a query; default: both
   */
  terms?: readonly ('query' | 'key')[] | undefined;
  /** a norm of the table of positions; default true */
  norm?: boolean | undefined;
  /**
   * a convolution over the tokens, whose result is added to the output of the first block before one more norm.
   * kernel: an odd number of tokens; activation: default 'tanh'. Default: none
   */
  convolution?: { kernel: number; activation?: ActivationKind } | undefined;
};

export type Disentangled = Readonly<{
  distance: number;
  buckets: number | undefined;
  terms: readonly ('query' | 'key')[];
  norm: boolean;
  convolution: Readonly<{ kernel: number; activation: ActivationKind }> | undefined;
}>;

export function readDisentangled(
  caller: string,
  options: DisentangledOptions,
  { positions, causal, buckets: biases, queryKeyNorm, numHeads, kvHeads, cross }: TransformerOptions,
): Disentangled {
  const where = `${caller}: disentangled`;
  const given = readOptions(where, options, ['distance', 'buckets', 'terms', 'norm', 'convolution']);
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
    convolution: given.convolution && readConvolution(`${where}: convolution`, given.convolution),
  });
}

function readConvolution(where: string, options: NonNullable<DisentangledOptions['convolution']>) {
  const given = readOptions(where, options, ['kernel', 'activation']);
  const kernel = readNumber(where, 'kernel', given.kernel, { integer: true, least: 1, most: 1023 });
  if (kernel % 2 === 0) throw argumentError(where, 'kernel', kernel, 'an odd number');
  const kinds = Object.keys(ACTIVATIONS) as ActivationKind[];
  return Object.freeze({ kernel, activation: readWord(where, 'activation', given.activation ?? 'tanh', kinds) });
}

export function* relativeLayers(options: Resolved): Generator<LayerShape> {
  const { dModel } = options;
  const {
    buckets,
    distance,
    norm: normed,
    convolution,
  } = options.disentangled as NonNullable<Resolved['disentangled']>;
  const shape = [2 * (buckets ?? distance), dModel];
  yield { name: 'relative', random: true, parameters: [['table', shape, 'normal']] };
  if (normed) yield* norm('relative.norm', dModel, options);
  if (!convolution) return;
  yield {
    name: 'convolution',
    random: true,
    parameters: [
      ['weight', [dModel, dModel, convolution.kernel], 'normal'],
      ['bias', [dModel], 'zeros'],
    ],
  };
  yield* norm('convolution.norm', dModel, options);
}
