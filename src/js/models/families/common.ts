// The type of a family of checkpoints, and helpers that many families use.
//
// A family is a table. `options` maps a config.json to the options of a transformer. `names` maps each layer of the
// transformer to a layer or a tensor in the files. In both names L is the number of a block. The name of a layer is
// followed by .weight and .bias in the files. A name that begins with / is outside the prefix of the base model. q, k,
// v and o are the four projections of attention.

import { quote } from '../../check/quote.ts';

import type { TransformerOptions } from '../options.ts';

/** a parsed config.json */
export type Config = Record<string, any>;
/** true if the files contain a tensor of this name */
export type HasTensor = (name: string) => boolean;
/** The tensor that stores a parameter. */
export type TensorSource = {
  /** the name of the layer or tensor */
  from: string;
  /** other names that some files use for it */
  also?: string | readonly string[] | undefined;
  /**
   * set if the tensor stores several parameters, with the index of the parameter. 'rows': the rows of q, of k and of
   * v; 'heads': for each key head the rows of its queries, its key and its value; 'halves': two parameters of equal
   * size
   */
  part?: ['rows' | 'heads' | 'halves', number] | undefined;
  /** true: stored as (in, out) */
  transposed?: boolean | undefined;
  /** number that is added to the stored values */
  offset?: number | undefined;
  /**
   * 'convolution': stored as (out, channels, 3); 'stacked': the parameter is the tensor `from`, followed by those of
   * `also` that the file has
   */
  form?: 'convolution' | 'stacked' | undefined;
};
export type Names = Record<string, string | TensorSource>;
/** How GGUF files store the tensors of a family. */
export type Architecture = {
  /** model_type in Hugging Face's config.json */
  type: string;
  /** names of Hugging Face by names of GGUF, both without .weight and .bias; L is the number of a block */
  names: Record<string, string>;
  /**
   * Hugging Face's name of the fused projection, or the names of its three projections; undefined if they are in
   * `names`
   */
  qkv?: string | readonly [q: string, k: string, v: string] | undefined;
  /** true: rows of q and k are in the order in which neighbouring elements are rotated together */
  neighbours?: boolean | undefined;
  /** names of tensors that are not opened */
  others?: readonly string[] | undefined;
  /**
   * Returns options that only GGUF files define. hasBias: true if a layer of the first block has a bias; integer: reads
   * the metadata.
   */
  options?: (hasBias: HasTensor, integer: (key: string, fallback: number) => number) => Partial<TransformerOptions>;
};
export type Family = {
  name: string;
  /** values of model_type in config.json */
  types: readonly string[];
  /** that the names of the base model may have; '' if it was saved without a head */
  prefixes: readonly string[];
  options: (config: Config, has: HasTensor) => TransformerOptions;
  names: Names;
  /**
   * tensors that some files contain and that are not weights of their own: masks, copies. accounting.ts has the names
   * of constants of many families
   */
  constants?: readonly string[] | undefined;
  /** layers and tensors of the base model that a file may contain and that are not always read */
  others?: readonly string[] | undefined;
  /** true: every text is lower-cased, and cut or padded to the length of the context */
  fixedLength?: boolean | undefined;
  /** the form of GGUF files, by general.architecture */
  gguf?: Readonly<Record<string, Architecture>>;
  /** the family of files in which the tensor `without` is missing */
  encoderOnly?: { without: string; family: Family } | undefined;
};

/** The context of a model whose weights do not limit it. */
export const ANY_LENGTH = 2 ** 20;
/** The largest number of blocks, as in options.ts. */
const MAX_LAYERS = 2 ** 20;
export const ALL_BIASES = { query: true, key: true, value: true, out: true, mlp: true, norm: true, head: true };
/** Returns the same option for the biases of all four projections of attention. */
export const attentionBias = (bias: boolean) => ({ query: bias, key: bias, value: bias, out: bias });
const ACTIVATIONS: Record<string, TransformerOptions['activation']> = {
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
  declare field: string;

  constructor(field: string, value: unknown, expected: string) {
    super(`${field} is ${quote(value)}, expected ${expected}`);
    this.field = field;
  }
}

export function readActivation(field: string, value: unknown) {
  const known = ACTIVATIONS[value as string];
  if (!known) throw new UnsupportedField(field, value, `one of ${Object.keys(ACTIVATIONS).join(', ')}`);
  return known;
}

/** Refuses a value of a field that is not allowed. */
export function expectField(config: Config, field: string, ...allowed: unknown[]) {
  if (config[field] !== undefined && config[field] !== null && !allowed.includes(config[field]))
    throw new UnsupportedField(field, config[field], allowed.map((value) => quote(value)).join(' or '));
}

/**
 * Returns the sources of the four projections of attention.
 * @param at name of the attention in the transformer
 * @param stem beginning of the stored names
 * @param ends of the stored names
 */
export const projections = (
  at: string,
  stem: string,
  ends: readonly [q: string, k: string, v: string, o: string],
): Names => Object.fromEntries(['q', 'k', 'v', 'o'].map((name, i) => [`${at}.${name}`, `${stem}.${ends[i]}`]));

/**
 * Returns the sources of q, k and v that are stored in one tensor.
 * @param at name of the attention in the transformer
 */
export const fusedProjections = (
  at: string,
  kind: 'rows' | 'heads',
  from: string,
  more?: { transposed?: boolean },
): Names => Object.fromEntries(['q', 'k', 'v'].map((name, i) => [`${at}.${name}`, { from, part: [kind, i], ...more }]));

export const prefixKeys = (prefix: string, names: Names): Names =>
  Object.fromEntries(Object.entries(names).map(([name, source]) => [`${prefix}.${name}`, source]));

/**
 * Returns a list with an entry for each layer.
 * @param layers number in config.json. options.ts refuses a number that is too large
 */
export const perLayer = <T>(layers: number, of: (layer: number) => T) =>
  Array.from({ length: Math.min(layers, MAX_LAYERS) }, (_, i) => of(i));

/**
 * Returns the attention window of each layer; null for layers with full attention.
 * @param isLocal used if config.json has no layer_types
 */
export function windowsByLayer(
  { layer_types: types, num_hidden_layers: layers, sliding_window: window }: Config,
  isLocal: (layer: number) => boolean,
) {
  const known = ['full_attention', 'sliding_attention'];
  if (types && !(Array.isArray(types) && types.length === layers && types.every((type) => known.includes(type))))
    throw new UnsupportedField('layer_types', types, `${known.join(' or ')} for each of ${layers} layers`);
  return perLayer(layers, (i) => ((types ? types[i] === known[1] : isLocal(i)) ? window : null));
}
