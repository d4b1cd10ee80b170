// The names of tensors in GGUF files and in those of Hugging Face, by architecture.

export type Architecture = {
  /** model_type in Hugging Face's config.json */
  type: string;
  /** names of Hugging Face by names of GGUF, both without .weight and .bias; L is the number of a block */
  names: Record<string, string>;
  /** Hugging Face's fused projection, or its three; undefined if they are in `names` */
  qkv?: string | readonly [q: string, k: string, v: string];
  /** true: rows of q and k are in the order in which neighbouring elements are rotated together */
  neighbours?: boolean;
  /** names of tensors that are not opened */
  others?: readonly string[];
};

const ATTENTION = 'blk.L.attn';

const threeOf = (stem: string, ends: readonly string[]): [string, string, string] =>
  ends.map((end) => stem + end) as [string, string, string];

const LLAMA = {
  token_embd: 'model.embed_tokens',
  output_norm: 'model.norm',
  output: 'lm_head',
  'blk.L.attn_norm': 'model.layers.L.input_layernorm',
  'blk.L.attn_output': 'model.layers.L.self_attn.o_proj',
  'blk.L.ffn_norm': 'model.layers.L.post_attention_layernorm',
  'blk.L.ffn_gate': 'model.layers.L.mlp.gate_proj',
  'blk.L.ffn_up': 'model.layers.L.mlp.up_proj',
  'blk.L.ffn_down': 'model.layers.L.mlp.down_proj',
};
const LLAMA_QKV = threeOf('model.layers.L.self_attn.', ['q_proj', 'k_proj', 'v_proj']);

const GEMMA2 = {
  ...LLAMA,
  'blk.L.post_attention_norm': 'model.layers.L.post_attention_layernorm',
  'blk.L.ffn_norm': 'model.layers.L.pre_feedforward_layernorm',
  'blk.L.post_ffw_norm': 'model.layers.L.post_feedforward_layernorm',
};
const HEAD_NORMS = {
  'blk.L.attn_q_norm': 'model.layers.L.self_attn.q_norm',
  'blk.L.attn_k_norm': 'model.layers.L.self_attn.k_norm',
};

const BLOOM = {
  token_embd: 'transformer.word_embeddings',
  token_embd_norm: 'transformer.word_embeddings_layernorm',
  output_norm: 'transformer.ln_f',
  output: 'lm_head',
  'blk.L.attn_norm': 'transformer.h.L.input_layernorm',
  'blk.L.attn_output': 'transformer.h.L.self_attention.dense',
  'blk.L.ffn_norm': 'transformer.h.L.post_attention_layernorm',
  'blk.L.ffn_up': 'transformer.h.L.mlp.dense_h_to_4h',
  'blk.L.ffn_down': 'transformer.h.L.mlp.dense_4h_to_h',
};

/** last: index of the feed-forward in a block */
const t5Stack = (at: 'enc' | 'dec', stack: 'encoder' | 'decoder', last: number): Record<string, string> => ({
  [`${at}.output_norm`]: `${stack}.final_layer_norm`,
  [`${at}.blk.L.attn_norm`]: `${stack}.block.L.layer.0.layer_norm`,
  ...Object.fromEntries(
    ['q', 'k', 'v', 'o'].map((p) => [`${at}.blk.L.attn_${p}`, `${stack}.block.L.layer.0.SelfAttention.${p}`]),
  ),
  [`${at}.blk.L.attn_rel_b`]: `${stack}.block.L.layer.0.SelfAttention.relative_attention_bias`,
  [`${at}.blk.L.ffn_norm`]: `${stack}.block.L.layer.${last}.layer_norm`,
  [`${at}.blk.L.ffn_gate`]: `${stack}.block.L.layer.${last}.DenseReluDense.wi_0`,
  [`${at}.blk.L.ffn_up`]: `${stack}.block.L.layer.${last}.DenseReluDense.wi_1`,
  [`${at}.blk.L.ffn_down`]: `${stack}.block.L.layer.${last}.DenseReluDense.wo`,
});

const T5: Architecture = {
  type: 't5',
  names: {
    token_embd: 'shared',
    output: 'lm_head',
    ...t5Stack('enc', 'encoder', 1),
    ...t5Stack('dec', 'decoder', 2),
    'dec.blk.L.cross_attn_norm': 'decoder.block.L.layer.1.layer_norm',
    ...Object.fromEntries(
      ['q', 'k', 'v', 'o'].map((p) => [`dec.blk.L.cross_attn_${p}`, `decoder.block.L.layer.1.EncDecAttention.${p}`]),
    ),
    'dec.blk.L.cross_attn_rel_b': 'decoder.block.L.layer.1.EncDecAttention.relative_attention_bias',
  },
};

const BY_NAME: Record<string, Architecture> = {
  llama: { type: 'llama', names: LLAMA, qkv: LLAMA_QKV, neighbours: true },
  qwen2: { type: 'qwen2', names: LLAMA, qkv: LLAMA_QKV },
  qwen3: { type: 'qwen3', names: { ...LLAMA, ...HEAD_NORMS }, qkv: LLAMA_QKV },
  gemma: { type: 'gemma', names: LLAMA, qkv: LLAMA_QKV },
  gemma2: { type: 'gemma2', names: GEMMA2, qkv: LLAMA_QKV },
  gemma3: { type: 'gemma3_text', names: { ...GEMMA2, ...HEAD_NORMS }, qkv: LLAMA_QKV },
  phi2: {
    type: 'phi',
    names: {
      ...LLAMA,
      output_norm: 'model.final_layernorm',
      'blk.L.attn_output': 'model.layers.L.self_attn.dense',
      'blk.L.ffn_up': 'model.layers.L.mlp.fc1',
      'blk.L.ffn_down': 'model.layers.L.mlp.fc2',
    },
    qkv: LLAMA_QKV,
  },
  phi3: {
    type: 'phi3',
    names: { ...LLAMA, 'blk.L.ffn_up': 'model.layers.L.mlp.gate_up_proj' },
    qkv: 'model.layers.L.self_attn.qkv_proj',
  },
  gpt2: {
    type: 'gpt2',
    names: {
      token_embd: 'transformer.wte',
      position_embd: 'transformer.wpe',
      output_norm: 'transformer.ln_f',
      output: 'lm_head',
      'blk.L.attn_norm': 'transformer.h.L.ln_1',
      'blk.L.attn_output': 'transformer.h.L.attn.c_proj',
      'blk.L.ffn_norm': 'transformer.h.L.ln_2',
      'blk.L.ffn_up': 'transformer.h.L.mlp.c_fc',
      'blk.L.ffn_down': 'transformer.h.L.mlp.c_proj',
    },
    qkv: 'transformer.h.L.attn.c_attn',
  },
  gptneox: {
    type: 'gpt_neox',
    names: {
      token_embd: 'gpt_neox.embed_in',
      output_norm: 'gpt_neox.final_layer_norm',
      output: 'embed_out',
      'blk.L.attn_norm': 'gpt_neox.layers.L.input_layernorm',
      'blk.L.attn_output': 'gpt_neox.layers.L.attention.dense',
      'blk.L.ffn_norm': 'gpt_neox.layers.L.post_attention_layernorm',
      'blk.L.ffn_up': 'gpt_neox.layers.L.mlp.dense_h_to_4h',
      'blk.L.ffn_down': 'gpt_neox.layers.L.mlp.dense_4h_to_h',
    },
    qkv: 'gpt_neox.layers.L.attention.query_key_value',
  },
  bloom: { type: 'bloom', names: BLOOM, qkv: 'transformer.h.L.self_attention.query_key_value' },
  bert: {
    type: 'bert',
    names: {
      token_embd: 'embeddings.word_embeddings',
      position_embd: 'embeddings.position_embeddings',
      token_types: 'embeddings.token_type_embeddings',
      token_embd_norm: 'embeddings.LayerNorm',
      'blk.L.attn_output': 'encoder.layer.L.attention.output.dense',
      'blk.L.attn_output_norm': 'encoder.layer.L.attention.output.LayerNorm',
      'blk.L.ffn_up': 'encoder.layer.L.intermediate.dense',
      'blk.L.ffn_down': 'encoder.layer.L.output.dense',
      'blk.L.layer_output_norm': 'encoder.layer.L.output.LayerNorm',
    },
    qkv: threeOf('encoder.layer.L.attention.self.', ['query', 'key', 'value']),
    others: ['cls', 'cls.output'],
  },
  t5: T5,
  t5encoder: T5,
};

/** The architectures by general.architecture. */
export const ARCHITECTURES: ReadonlyMap<unknown, Architecture> = new Map(Object.entries(BY_NAME));

/** Tensors with factors of rotary frequencies, which become part of the config. */
export const FREQUENCIES = ['rope_freqs.weight', 'rope_factors_long.weight', 'rope_factors_short.weight'];

export type ParsedName = {
  /** with L for the number of the block, without .weight and .bias */
  base: string;
  /** .weight, .bias, or nothing */
  suffix: string;
  number: string;
};

export function parseName(name: string): ParsedName {
  const [, stem, suffix = ''] = /^(.*?)(\.weight|\.bias)?$/s.exec(name) as RegExpExecArray;
  const number = /(?:^|\.)blk\.(\d+)\./.exec(stem)?.[1] ?? '';
  return { base: number ? stem.replace(`blk.${number}.`, 'blk.L.') : stem, suffix, number };
}

export const fillName = (base: string, { suffix, number }: ParsedName) => base.replace('.L.', `.${number}.`) + suffix;

/**
 * Returns which projection a name in GGUF is: 0, 1 or 2 for q, k or v; 3 for a tensor with all three; −1 for another.
 */
export const projectionOf = (base: string) => ['q', 'k', 'v', 'qkv'].map((end) => `${ATTENTION}_${end}`).indexOf(base);

/** Returns GGUF's name of a tensor, or the name itself if GGUF has none. name: of Hugging Face. */
export function ggufName({ names, qkv }: Architecture, name: string) {
  const [, stem, suffix = ''] = /^(.*?)(\.weight|\.bias)?$/s.exec(name) as RegExpExecArray;
  const number = /\.(\d+)\./.exec(stem)?.[1] ?? '';
  const base = stem.replace(`.${number}.`, '.L.');
  const three = Array.isArray(qkv) ? qkv.indexOf(base) : -1;
  const projection = base === qkv ? 'qkv' : three >= 0 ? 'qkv'[three] : undefined;
  const found = projection ? `${ATTENTION}_${projection}` : Object.keys(names).find((key) => names[key] === base);
  return found ? found.replace('.L.', `.${number}.`) + suffix : name;
}
