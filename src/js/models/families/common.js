// The type of a family of checkpoints, and helpers that many families use.
//
// A family is a table. `options` maps a config.json to the options of a transformer. `names` maps each layer of the
// transformer to a layer or a tensor in the files. In both names L is the number of a block. The name of a layer is
// followed by .weight and .bias in the files. A name that begins with / is outside the prefix of the base model. q, k,
// v and o are the four projections of attention.

import { quote } from '../../check/quote.js';

/** @import { TransformerOptions } from '../options.js' */

/** @typedef {Record<string, any>} Config a parsed config.json */
/** @typedef {(name: string) => boolean} HasTensor true if the files contain a tensor of this name */
/**
 * The tensor that stores a parameter.
 * @typedef {object} TensorSource
 * @property {string} from the name of the layer or tensor
 * @property {string | readonly string[]} [also] other names that some files use for it
 * @property {['rows' | 'heads' | 'halves', number]} [part] set if the tensor stores several parameters, with the index
 *   of the parameter. 'rows': the rows of q, of k and of v; 'heads': for each key head the rows of its queries, its key
 *   and its value; 'halves': two parameters of equal size
 * @property {boolean} [transposed] true: stored as (in, out)
 * @property {number} [offset] number that is added to the stored values
 * @property {'convolution' | 'stacked'} [form] 'convolution': stored as (out, channels, 3); 'stacked': the parameter is
 *   the tensor `from`, followed by those of `also` that the file has
 */
/** @typedef {Record<string, string | TensorSource>} Names */
/**
 * @typedef {object} Family
 * @property {string} name
 * @property {readonly string[]} prefixes that the names of the base model may have; '' if it was saved without a head
 * @property {(config: Config, has: HasTensor) => TransformerOptions} options
 * @property {Names} names
 * @property {readonly string[]} [constants] tensors that some files contain and that are not weights of their own:
 *   masks, copies. accounting.js has the names of constants of many families
 * @property {readonly string[]} [others] layers and tensors of the base model that a file may contain and that are not
 *   always read
 * @property {boolean} [fixedLength] true: every text is lower-cased, and cut or padded to the length of the context
 * @property {{ without: string, family: Family }} [encoderOnly] the family of files in which the tensor `without` is
 *   missing
 */

/** The context of a model whose weights do not limit it. */
export const ANY_LENGTH = 2 ** 20;
/** The largest number of blocks, as in options.js. */
const MAX_LAYERS = 2 ** 20;
export const ALL_BIASES = { query: true, key: true, value: true, out: true, mlp: true, norm: true, head: true };
/** Returns the same option for the biases of all four projections of attention. @param {boolean} bias */
export const attentionBias = (bias) => ({ query: bias, key: bias, value: bias, out: bias });
/** @type {Record<string, TransformerOptions['activation']>} */
const ACTIVATIONS = {
  gelu: 'gelu',
  gelu_python: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_fast: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
  quick_gelu: 'quick-gelu',
  relu: 'relu',
  silu: 'silu',
  swish: 'silu',
};

/** The error about a field of config.json whose value Headlight does not support. */
export class UnsupportedField extends Error {
  /** @param {string} field @param {unknown} value @param {string} expected */
  constructor(field, value, expected) {
    super(`${field} is ${quote(value)}, expected ${expected}`);
    this.field = field;
  }
}

/** @param {string} field @param {unknown} value */
export function readActivation(field, value) {
  const known = ACTIVATIONS[/** @type {string} */ (value)];
  if (!known) throw new UnsupportedField(field, value, `one of ${Object.keys(ACTIVATIONS).join(', ')}`);
  return known;
}

/**
 * Refuses a value of a field that is not allowed.
 * @param {Config} config
 * @param {string} field
 * @param {unknown[]} allowed
 */
export function expectField(config, field, ...allowed) {
  if (config[field] !== undefined && config[field] !== null && !allowed.includes(config[field]))
    throw new UnsupportedField(field, config[field], allowed.map((value) => quote(value)).join(' or '));
}

/**
 * Returns the sources of the four projections of attention.
 * @param {string} at name of the attention in the transformer
 * @param {string} stem beginning of the stored names
 * @param {readonly [q: string, k: string, v: string, o: string]} ends of the stored names
 * @returns {Names}
 */
export const projections = (at, stem, ends) =>
  Object.fromEntries(['q', 'k', 'v', 'o'].map((name, i) => [`${at}.${name}`, `${stem}.${ends[i]}`]));

/**
 * Returns the sources of q, k and v that are stored in one tensor.
 * @param {string} at name of the attention in the transformer
 * @param {'rows' | 'heads'} kind
 * @param {string} from
 * @param {{ transposed?: boolean }} [more]
 * @returns {Names}
 */
export const fusedProjections = (at, kind, from, more) =>
  Object.fromEntries(['q', 'k', 'v'].map((name, i) => [`${at}.${name}`, { from, part: [kind, i], ...more }]));

/** @param {string} prefix @param {Names} names @returns {Names} */
export const prefixKeys = (prefix, names) =>
  Object.fromEntries(Object.entries(names).map(([name, source]) => [`${prefix}.${name}`, source]));

/**
 * Returns a list with an entry for each layer.
 * @template T
 * @param {number} layers number in config.json. options.js refuses a number that is too large
 * @param {(layer: number) => T} of
 */
export const perLayer = (layers, of) => Array.from({ length: Math.min(layers, MAX_LAYERS) }, (_, i) => of(i));

/**
 * Returns the attention window of each layer; null for layers with full attention.
 * @param {Config} c
 * @param {(layer: number) => boolean} isLocal used if config.json has no layer_types
 */
export function windowsByLayer({ layer_types: types, num_hidden_layers: layers, sliding_window: window }, isLocal) {
  const known = ['full_attention', 'sliding_attention'];
  if (types && !(Array.isArray(types) && types.length === layers && types.every((type) => known.includes(type))))
    throw new UnsupportedField('layer_types', types, `${known.join(' or ')} for each of ${layers} layers`);
  return perLayer(layers, (i) => ((types ? types[i] === known[1] : isLocal(i)) ? window : null));
}
