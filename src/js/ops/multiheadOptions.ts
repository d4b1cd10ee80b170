// Validates the options of the multi-head layer and fills in every default.

import { readBoolean, readNumber, readOptions, readWord } from '../check/arguments.ts';
import { HeadlightError } from '../check/errors.ts';

export type MultiHeadOptions = {
  /** width C of the output, and by default of the inputs */
  embedDim: number;
  numHeads: number;
  /** default numHeads; query head h reads key/value head ⌊h / (numHeads / kvHeads)⌋ */
  kvHeads?: number | undefined;
  /** default embedDim / numHeads */
  headDim?: number | undefined;
  /** default embedDim */
  queryDim?: number | undefined;
  /** default embedDim */
  keyDim?: number | undefined;
  /** default embedDim */
  valueDim?: number | undefined;
  /** biases of the projections of query, key and value; default true */
  bias?: boolean | undefined;
  /** bias of the output projection; default: the option bias */
  outBias?: boolean | undefined;
  /** default true; if false, the concatenated heads are the output */
  outProjection?: boolean | undefined;
  /** appends one learned key and value */
  biasKV?: boolean | undefined;
  /** appends one key and value of zeros */
  zeroAttention?: boolean | undefined;
  /** probability of dropout of the attention weights in training; default 0 */
  dropout?: number | undefined;
  /** seed of the initial weights and of dropout; default 0 */
  seed?: number | undefined;
  /**
   * type of the weights in products; default 'float32'. 'int8': rounded to nine bits, integers from −254 to 254 with a
   * scale for 128 inputs; inputs of products are rounded to 16 bits, or to 12 where four products of bytes are one
   * instruction (VNNI, ARM's dot product); the parameters do not change
   */
  weights?: 'float32' | 'int8' | undefined;
};

const LAYER_OPTIONS = [
  'embedDim',
  'numHeads',
  'kvHeads',
  'headDim',
  'queryDim',
  'keyDim',
  'valueDim',
  'bias',
  'outBias',
  'outProjection',
  'biasKV',
  'zeroAttention',
  'dropout',
  'seed',
  'weights',
];

const CALLER = 'multiHeadAttention';
const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

function checkMultiple(name: string, value: number, of: string, divisor: number) {
  if (value % divisor === 0) return;
  throw new HeadlightError('ARGUMENT', `${CALLER}: ${name} ${value} is not a multiple of ${of} ${divisor}`, {
    parameter: name,
    expected: `a multiple of ${divisor}`,
    got: value,
  });
}

export function resolveOptions(options: MultiHeadOptions) {
  const given = readOptions(CALLER, options, LAYER_OPTIONS);
  const size = (name: keyof MultiHeadOptions, fallback: number | undefined) =>
    readNumber(CALLER, name, given[name] ?? fallback, SIZE);
  const flag = (name: keyof MultiHeadOptions, fallback: boolean) => readBoolean(CALLER, name, given[name] ?? fallback);
  const embedDim = size('embedDim', undefined);
  const numHeads = size('numHeads', undefined);
  const kvHeads = size('kvHeads', numHeads);
  checkMultiple('numHeads', numHeads, 'kvHeads', kvHeads);
  if (given.headDim === undefined) checkMultiple('embedDim', embedDim, 'numHeads', numHeads);
  const bias = flag('bias', true);
  return Object.freeze({
    embedDim,
    numHeads,
    kvHeads,
    headDim: size('headDim', embedDim / numHeads),
    queryDim: size('queryDim', embedDim),
    keyDim: size('keyDim', embedDim),
    valueDim: size('valueDim', embedDim),
    bias,
    outBias: flag('outBias', bias),
    outProjection: flag('outProjection', true),
    biasKV: flag('biasKV', false),
    zeroAttention: flag('zeroAttention', false),
    dropout: readNumber(CALLER, 'dropout', given.dropout ?? 0, { least: 0, most: 1 }),
    seed: readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true }),
    weights: readWord(CALLER, 'weights', given.weights ?? 'float32', ['float32', 'int8'] as const),
  });
}
