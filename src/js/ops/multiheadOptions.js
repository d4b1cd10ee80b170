// Validates the options of the multi-head layer and fills in every default.

import { readBoolean, readNumber, readOptions, readWord } from '../check/arguments.js';
import { HeadlightError } from '../check/errors.js';

/**
 * @typedef {object} MultiHeadOptions
 * @property {number} embedDim width C of the output, and by default of the inputs
 * @property {number} numHeads
 * @property {number} [kvHeads] default numHeads; query head h reads key/value head ⌊h / (numHeads / kvHeads)⌋
 * @property {number} [headDim] default embedDim / numHeads
 * @property {number} [queryDim] default embedDim
 * @property {number} [keyDim] default embedDim
 * @property {number} [valueDim] default embedDim
 * @property {boolean} [bias] biases of the projections of query, key and value; default true
 * @property {boolean} [outBias] bias of the output projection; default: the option bias
 * @property {boolean} [outProjection] default true; if false, the concatenated heads are the output
 * @property {boolean} [biasKV] appends one learned key and value
 * @property {boolean} [zeroAttention] appends one key and value of zeros
 * @property {number} [dropout] probability of dropout of the attention weights in training; default 0
 * @property {number} [seed] seed of the initial weights and of dropout; default 0
 * @property {'float32' | 'int8'} [weights] type of the weights in products; default 'float32'. With 'int8', products
 *   use weights rounded to nine bits in groups of 128 inputs; the parameters themselves do not change
 */

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

/**
 * @param {string} name
 * @param {number} value
 * @param {string} of
 * @param {number} divisor
 */
function checkMultiple(name, value, of, divisor) {
  if (value % divisor === 0) return;
  throw new HeadlightError('ARGUMENT', `${CALLER}: ${name} ${value} is not a multiple of ${of} ${divisor}`, {
    parameter: name,
    expected: `a multiple of ${divisor}`,
    got: value,
  });
}

/** @param {MultiHeadOptions} options */
export function resolveOptions(options) {
  const given = readOptions(CALLER, options, LAYER_OPTIONS);
  const size = (/** @type {keyof MultiHeadOptions} */ name, /** @type {number | undefined} */ fallback) =>
    readNumber(CALLER, name, given[name] ?? fallback, SIZE);
  const flag = (/** @type {keyof MultiHeadOptions} */ name, /** @type {boolean} */ fallback) =>
    readBoolean(CALLER, name, given[name] ?? fallback);
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
    weights: readWord(CALLER, 'weights', given.weights ?? 'float32', /** @type {const} */ (['float32', 'int8'])),
  });
}
