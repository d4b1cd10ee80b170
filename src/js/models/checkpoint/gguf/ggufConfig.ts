// Makes a config.json of Hugging Face from the metadata of a GGUF file and the shapes of its tensors.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';
import { MAX_SIZE } from '../../../check/shape.ts';
import type { GgufValue } from '../../../io/ggufCursor.ts';
import type { Config } from '../../families/common.ts';
import { ARCHITECTURES, FREQUENCIES } from './ggufNames.ts';
import type { Located } from './ggufTensors.ts';

/**
 * Divisors of the frequencies of rotary positions. all: for all sequences; short, long: for short and long sequences.
 */
export type Frequencies = { all?: number[]; short?: number[]; long?: number[] };

const CALLER = 'openModel';
/** The largest number of blocks, as in options.ts. */
const MAX_LAYERS = 2 ** 20;
/**
 * Blocks of the 27B Gemma models, recognized by them, as in llama.cpp. Their scores have the factor 1/√(dModel /
 * numHeads) instead of that of the head's width.
 */
const GEMMA_27B = { gemma2: 46, gemma3: 62 };
/** Metadata entries of mechanisms that no family has. An entry with the value 0 or 1 has no effect. */
const UNSUPPORTED = [
  'expert_count',
  'logit_scale',
  'residual_scale',
  'embedding_scale',
  'attention.clamp_kqv',
  'attention.temperature_scale',
];

/** Reads entries from the metadata of a GGUF file. The names of most entries begin with the architecture. */
export class ModelMetadata {
  declare file: string;
  declare values: Record<string, GgufValue>;
  declare architecture: GgufValue;

  constructor(file: string, values: Record<string, GgufValue>) {
    this.file = file;
    this.values = values;
    this.architecture = values['general.architecture'];
  }

  fail(key: string, reason: string, expected?: unknown) {
    const got = this.values[key];
    return new HeadlightError('FORMAT', `${CALLER}: ${this.file}: metadata ${key} ${reason}`, {
      parameter: key,
      expected,
      got,
    });
  }

  keyOf(key: string) {
    return `${this.architecture}.${key}`;
  }

  has(key: string) {
    return this.values[this.keyOf(key)] !== undefined;
  }

  /** Reads an entry. If it is a list with a value for each block, all must be equal. key: without the architecture. */
  #get(key: string) {
    const value = this.values[this.keyOf(key)];
    if (!Array.isArray(value)) return value;
    if (value.some((other) => other !== value[0]))
      throw this.fail(this.keyOf(key), `is ${quote(value)}, expected the same value for all blocks`);
    return value[0];
  }

  /** key: without the architecture; fallback: without it the entry is required */
  integer(key: string, fallback?: number): number {
    const value = this.#get(key) ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31) return value;
    throw this.fail(this.keyOf(key), this.#is(value, 'an integer from 0 to 2 ** 31 - 1'), 'an integer');
  }

  /** Returns an integer that is a limit. A limit beyond all sizes is the largest size. */
  limit(key: string) {
    const value = this.#get(key);
    return Number.isInteger(value) && Number(value) > MAX_SIZE ? MAX_SIZE : this.integer(key);
  }

  /** key: without the architecture; fallback: without it the entry is required */
  number(key: string, fallback?: number): number {
    const value = this.#get(key) ?? fallback;
    if (typeof value === 'number' && Number.isFinite(value)) return shortest(value);
    throw this.fail(this.keyOf(key), this.#is(value, 'a number'), 'a number');
  }

  flag(key: string, fallback: boolean) {
    const value = this.#get(key) ?? fallback;
    if (typeof value === 'boolean') return value;
    throw this.fail(this.keyOf(key), this.#is(value, 'true or false'), 'true or false');
  }

  /** Returns the id of a special token, or undefined if there is none. */
  token(key: string) {
    const value = this.values[`tokenizer.ggml.${key}`];
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
  }

  #is(value: unknown, expected: string) {
    return value === undefined ? `is missing, expected ${expected}` : `is ${quote(value)}, expected ${expected}`;
  }
}

/** Returns the shortest decimal number that rounds to this float32: 1e-5, not 0.000009999999747378752. */
function shortest(value: number) {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

export function makeConfig(
  meta: ModelMetadata,
  tensors: ReadonlyMap<string, Located>,
  frequencies: Frequencies,
): Config {
  const { architecture } = meta;
  const known = ARCHITECTURES.get(architecture);
  if (!known) {
    const expected = [...ARCHITECTURES.keys()].join(', ');
    const got = architecture === undefined ? 'is missing, expected' : `is ${quote(architecture)}, which is not`;
    throw meta.fail('general.architecture', `${got} one of ${expected}`, expected);
  }
  const kind = meta.values['general.type'] ?? 'model';
  if (kind !== 'model') throw meta.fail('general.type', `is ${quote(kind)}, expected 'model'`, 'model');
  for (const key of UNSUPPORTED)
    if (meta.number(key, 0) !== 0 && meta.number(key, 0) !== 1)
      throw meta.fail(meta.keyOf(key), `is ${quote(meta.number(key, 0))}, which is not supported`);
  const config = CONFIGS[known.type](new Source(meta, tensors, frequencies));
  const stop = [meta.token('eos_token_id'), meta.token('eot_token_id')].filter((id) => id !== undefined);
  const defined = Object.entries({
    model_type: known.type,
    ...config,
    bos_token_id: meta.token('bos_token_id'),
    eos_token_id: new Set(stop).size > 1 ? [...new Set(stop)] : stop[0],
    pad_token_id: meta.token('padding_token_id'),
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined);
}

function headDimOf(meta: ModelMetadata) {
  const key = 'attention.head_count';
  const [width, heads] = [meta.integer('embedding_length'), meta.integer(key)];
  const headDim = meta.has('attention.key_length') ? meta.integer('attention.key_length') : width / heads;
  if (heads > 0 && headDim > 0 && Number.isInteger(headDim)) return headDim;
  throw meta.fail(meta.keyOf(key), `is ${heads}, expected a divisor of the width ${width}`);
}

export function readHeads(meta: ModelMetadata) {
  const heads = meta.integer('attention.head_count');
  return {
    heads,
    kvHeads: meta.integer('attention.head_count_kv', heads),
    headDim: headDimOf(meta),
    layers: Math.max(meta.integer('block_count'), meta.integer('decoder_block_count', 0)),
  };
}

class Source {
  declare meta: ModelMetadata;
  declare tensors: ReadonlyMap<string, Located>;
  declare frequencies: Frequencies;
  declare layers: number;
  declare width: number;
  declare heads: number;
  declare kvHeads: number;
  declare headDim: number;
  declare mlp: number;
  declare tied: boolean;

  constructor(meta: ModelMetadata, tensors: ReadonlyMap<string, Located>, frequencies: Frequencies) {
    this.meta = meta;
    this.tensors = tensors;
    this.frequencies = frequencies;
    this.layers = meta.integer('block_count');
    this.width = meta.integer('embedding_length');
    const { heads, kvHeads, headDim } = readHeads(meta);
    this.heads = heads;
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.mlp = meta.integer('feed_forward_length');
    this.tied = !tensors.has('output.weight');
    this.#check();
  }

  #check() {
    const { meta, layers, headDim } = this;
    if (layers > MAX_LAYERS) throw meta.fail(meta.keyOf('block_count'), `is ${layers}, expected at most ${MAX_LAYERS}`);
    const key = 'attention.value_length';
    if (meta.integer(key, headDim) !== headDim)
      throw meta.fail(meta.keyOf(key), `is ${meta.integer(key)}, expected ${headDim}, as for attention keys`, headDim);
  }

  /** Refuses a factor of scores that is not the usual one, 1/√headDim. */
  usualScale() {
    const { meta, headDim } = this;
    const key = 'attention.scale';
    const [scale, usual] = [meta.number(key, 0), headDim ** -0.5];
    if (scale !== 0 && Math.abs(scale / usual - 1) > 1e-6)
      throw meta.fail(meta.keyOf(key), `is ${scale}, expected ${usual}, 1/√(width of a head)`, usual);
  }

  has(name: string) {
    return this.tensors.has(name);
  }

  /** Returns the number of rows of a tensor. key: used if there is no such tensor. */
  rows(name: string, key: string) {
    const shape = this.tensors.get(name)?.shape;
    return shape === undefined ? this.meta.integer(key) : shape.length < 2 ? 1 : shape[0];
  }

  get vocab() {
    return this.rows('token_embd.weight', 'vocab_size');
  }

  get context() {
    return this.meta.limit('context_length');
  }

  decoder() {
    if (!Object.hasOwn(GEMMA_27B, String(this.meta.architecture))) this.usualScale();
    return {
      hidden_size: this.width,
      num_hidden_layers: this.layers,
      num_attention_heads: this.heads,
      num_key_value_heads: this.kvHeads,
      head_dim: this.headDim,
      intermediate_size: this.mlp,
      max_position_embeddings: this.context,
      vocab_size: this.vocab,
      tie_word_embeddings: this.tied,
      is_causal: this.meta.flag('attention.causal', true),
      ...this.rotary(),
    };
  }

  rotary(): Config {
    const { meta, headDim } = this;
    const width = meta.integer('rope.dimension_count', headDim);
    return {
      rope_theta: meta.number('rope.freq_base', 10000),
      ...(width !== headDim && { partial_rotary_factor: shareOf(width, headDim) }),
      ...this.#scaling(),
    };
  }

  #scaling(): Config {
    const { meta, frequencies } = this;
    const key = meta.keyOf('rope.scaling.type');
    const { [key]: type = 'linear' } = meta.values;
    const { all, short, long } = frequencies;
    const attention = meta.number('rope.scaling.attn_factor', 1);
    const factor = type === 'none' ? 1 : this.#factor();
    if (all || short || long) {
      if (type === 'yarn')
        throw meta.fail(key, "is 'yarn', expected none or linear, as the file has factors of frequencies");
      return this.#factors(factor, attention);
    }
    if (type === 'longrope') throw meta.fail(key, 'is longrope, but the file has no rope_factors_long.weight');
    if (type !== 'none' && type !== 'linear' && type !== 'yarn')
      throw meta.fail(key, `is ${quote(type)}, expected none, linear, yarn or longrope`);
    if (factor === 1 && attention === 1) return {};
    if (type === 'yarn') return { rope_scaling: this.#yarn(factor, attention) };
    if (attention === 1) return { rope_scaling: { rope_type: 'linear', factor } };
    const same = new Array(this.#pairs).fill(factor);
    return { rope_scaling: { rope_type: 'longrope', short_factor: same, attention_factor: attention } };
  }

  /** Returns the factor of positions as llama.cpp does: without a type it is linear, and 0 means 1. */
  #factor() {
    return this.meta.number('rope.scaling.factor', this.meta.number('rope.scale_linear', 0)) || 1;
  }

  get #pairs() {
    return Math.floor(this.meta.integer('rope.dimension_count', this.headDim) / 2);
  }

  #factors(factor: number, attention: number): Config {
    const { all, short, long } = this.#checkedFrequencies(factor);
    const fields = { rope_type: 'longrope', short_factor: all ?? short, attention_factor: attention };
    if (all) return { rope_scaling: fields };
    const key = this.meta.keyOf('rope.scaling.type');
    if (!short || !long) throw this.meta.fail(key, 'needs both rope_factors_short.weight and rope_factors_long.weight');
    return { rope_scaling: { ...fields, long_factor: long }, original_max_position_embeddings: this.#original() };
  }

  /** Multiplies the divisors of frequencies by the factor of positions. */
  #checkedFrequencies(factor: number): Frequencies {
    const { all, long, short } = this.frequencies;
    const lists = [all, long, short].map((list, i) => {
      if (list === undefined) return undefined;
      const wrong = (text: string, got: unknown) => {
        const message = `${CALLER}: ${this.meta.file}: '${FREQUENCIES[i]}' ${text}`;
        return new HeadlightError('FORMAT', message, { parameter: FREQUENCIES[i], expected: this.#pairs, got });
      };
      if (list.length !== this.#pairs)
        throw wrong(`has ${list.length} numbers, expected ${this.#pairs}, one for each rotated pair`, list.length);
      const bad = list.find((value) => !(value > 0 && value < Infinity));
      if (bad !== undefined) throw wrong(`contains ${bad}, expected numbers above 0`, bad);
      return list.map((value) => value * factor);
    });
    return { all: lists[0], long: lists[1], short: lists[2] };
  }

  #original() {
    return this.meta.integer('rope.scaling.original_context_length', this.context);
  }

  #yarn(factor: number, attention: number): Config {
    const { meta } = this;
    return {
      rope_type: 'yarn',
      factor,
      original_max_position_embeddings: this.#original(),
      beta_fast: meta.number('rope.scaling.yarn_beta_fast', 32),
      beta_slow: meta.number('rope.scaling.yarn_beta_slow', 1),
      // llama.cpp multiplies YaRN's usual attention factor by the factor in the metadata.
      ...(attention !== 1 && { attention_factor: attention * (factor > 1 ? 0.1 * Math.log(factor) + 1 : 1) }),
    };
  }

  windows(): Config {
    const { meta, layers } = this;
    const key = meta.keyOf('attention.sliding_window_pattern');
    const pattern = meta.values[key];
    const window = meta.integer('attention.sliding_window', 0);
    if (window === 0) return {};
    if (pattern === undefined) return { sliding_window: window };
    if (!(Array.isArray(pattern) && pattern.length === layers && pattern.every((value) => typeof value === 'boolean')))
      throw meta.fail(key, `is ${quote(pattern)}, expected true or false for each of ${layers} blocks`);
    return {
      sliding_window: window,
      layer_types: pattern.map((isLocal) => (isLocal ? 'sliding_attention' : 'full_attention')),
    };
  }

  get rmsEps() {
    return this.meta.number('attention.layer_norm_rms_epsilon');
  }

  get eps() {
    return this.meta.number('attention.layer_norm_epsilon');
  }
}

/** Returns `width / of`, increased slightly if rounding would make Math.floor(of · share) smaller than `width`. */
function shareOf(width: number, of: number) {
  const share = width / of;
  return Math.floor(of * share) === width ? share : share * (1 + Number.EPSILON);
}

const llamaConfig = (s: Source): Config => ({
  ...s.decoder(),
  rms_norm_eps: s.rmsEps,
  attention_bias: s.has('blk.0.attn_q.bias') || s.has('blk.0.attn_qkv.bias'),
});

/** Returns the number whose inverse square root is the factor of scores. */
function gemmaScalar({ meta, layers, width, heads, headDim }: Source) {
  const scale = meta.number('attention.scale', 0);
  if (scale > 0) return scale ** -2;
  const largest = GEMMA_27B[meta.architecture as keyof typeof GEMMA_27B];
  return layers === largest ? width / heads : headDim;
}

const CONFIGS: Record<string, (s: Source) => Config> = {
  llama: (s) => {
    const { meta, headDim } = s;
    const key = 'rope.dimension_count';
    if (meta.integer(key, headDim) !== headDim)
      throw meta.fail(meta.keyOf(key), `is ${meta.integer(key)}, expected ${headDim}, the width of a head`);
    const window = meta.integer('attention.sliding_window', 0);
    return {
      ...llamaConfig(s),
      mlp_bias: s.has('blk.0.ffn_up.bias'),
      // In Hugging Face's files only Mistral has windows. Apart from them, Mistral is the same as Llama.
      ...(window > 0 && { model_type: 'mistral', sliding_window: window }),
    };
  },
  qwen2: (s) => ({ ...llamaConfig(s), attention_bias: undefined, ...qwenWindows(s) }),
  qwen3: (s) => ({ ...llamaConfig(s), ...qwenWindows(s) }),
  gemma: (s) => llamaConfig(s),
  gemma2: (s) => ({
    ...llamaConfig(s),
    ...s.windows(),
    attn_logit_softcapping: s.meta.number('attn_logit_softcapping', 50),
    final_logit_softcapping: s.meta.number('final_logit_softcapping', 30),
    query_pre_attn_scalar: gemmaScalar(s),
  }),
  gemma3_text: (s) => ({
    ...llamaConfig(s),
    sliding_window: s.meta.integer('attention.sliding_window'),
    ...s.windows(),
    rope_local_base_freq: s.meta.number('rope.freq_base_swa', 10000),
    attn_logit_softcapping: s.meta.number('attn_logit_softcapping', 0),
    final_logit_softcapping: s.meta.number('final_logit_softcapping', 0),
    query_pre_attn_scalar: gemmaScalar(s),
  }),
  phi: (s) => ({
    ...s.decoder(),
    head_dim: undefined,
    layer_norm_eps: s.eps,
    partial_rotary_factor: shareOf(s.meta.integer('rope.dimension_count', s.headDim), s.headDim),
  }),
  phi3: (s) => ({ ...llamaConfig(s), attention_bias: undefined, ...s.windows() }),
  gpt2: (s) => ({
    n_layer: s.layers,
    n_embd: s.width,
    n_head: s.heads,
    n_positions: s.rows('position_embd.weight', 'context_length'),
    n_inner: s.mlp,
    layer_norm_epsilon: s.eps,
    vocab_size: s.vocab,
    tie_word_embeddings: s.tied,
  }),
  gpt_neox: (s) => ({
    ...s.decoder(),
    head_dim: undefined,
    num_key_value_heads: undefined,
    layer_norm_eps: s.eps,
    partial_rotary_factor: undefined,
    rotary_pct: shareOf(s.meta.integer('rope.dimension_count', s.headDim), s.headDim),
    use_parallel_residual: s.meta.flag('use_parallel_residual', true),
    attention_bias: s.has('blk.0.attn_qkv.bias') || s.has('blk.0.attn_q.bias'),
  }),
  bloom: (s) => ({
    hidden_size: s.width,
    n_layer: s.layers,
    n_head: s.heads,
    vocab_size: s.vocab,
    layer_norm_epsilon: s.eps,
    tie_word_embeddings: s.tied,
  }),
  bert: (s) => ({
    hidden_size: s.width,
    num_hidden_layers: s.layers,
    num_attention_heads: s.heads,
    intermediate_size: s.mlp,
    max_position_embeddings: s.rows('position_embd.weight', 'context_length'),
    type_vocab_size: s.has('token_types.weight') ? s.rows('token_types.weight', 'token_type_count') : 0,
    vocab_size: s.vocab,
    layer_norm_eps: s.eps,
    is_decoder: s.meta.flag('attention.causal', false),
  }),
  t5: (s) => {
    const gated = s.has('enc.blk.0.ffn_gate.weight');
    return {
      num_layers: s.layers,
      num_decoder_layers: s.meta.integer('decoder_block_count', s.layers),
      d_model: s.width,
      num_heads: s.heads,
      d_kv: s.headDim,
      d_ff: s.mlp,
      vocab_size: s.vocab,
      layer_norm_epsilon: s.meta.number(
        'attention.layer_norm_rms_epsilon',
        s.meta.number('attention.layer_norm_epsilon', 1e-6),
      ),
      relative_attention_num_buckets: s.meta.integer('attention.relative_buckets_count'),
      feed_forward_proj: gated ? 'gated-gelu' : 'relu',
      tie_word_embeddings: s.tied,
      decoder_start_token_id: s.meta.integer('decoder_start_token_id', 0),
    };
  },
};

function qwenWindows(s: Source): Config {
  const windows = s.windows();
  if (windows.sliding_window === undefined) return {};
  return { ...windows, use_sliding_window: true, ...(!windows.layer_types && { max_window_layers: 0 }) };
}
