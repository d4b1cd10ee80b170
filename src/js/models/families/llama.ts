// Llama and Mistral.

import {
  ANY_LENGTH,
  attentionBias,
  type Config,
  type Family,
  type HasTensor,
  projections,
  readActivation,
} from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';
import { readRotary } from './rope.ts';

const ATTENTION = 'model.layers.L.self_attn';
/** The form of GGUF files of Llama and related models. */
export const LLAMA_GGUF = {
  names: {
    token_embd: 'model.embed_tokens',
    output_norm: 'model.norm',
    output: 'lm_head',
    'blk.L.attn_norm': 'model.layers.L.input_layernorm',
    'blk.L.attn_output': `${ATTENTION}.o_proj`,
    'blk.L.ffn_norm': 'model.layers.L.post_attention_layernorm',
    'blk.L.ffn_gate': 'model.layers.L.mlp.gate_proj',
    'blk.L.ffn_up': 'model.layers.L.mlp.up_proj',
    'blk.L.ffn_down': 'model.layers.L.mlp.down_proj',
  },
  qkv: [`${ATTENTION}.q_proj`, `${ATTENTION}.k_proj`, `${ATTENTION}.v_proj`] as const,
};
/** In GGUF, norms of queries and keys have these names. */
export const GGUF_HEAD_NORMS = {
  'blk.L.attn_q_norm': `${ATTENTION}.q_norm`,
  'blk.L.attn_k_norm': `${ATTENTION}.k_norm`,
};

/** A GGUF file of Llama has any biases. */
const ggufBias = (has: HasTensor) => ({
  bias: {
    query: has('attn_q') || has('attn_qkv'),
    key: has('attn_k') || has('attn_qkv'),
    value: has('attn_v') || has('attn_qkv'),
    out: has('attn_output'),
    mlp: has('ffn_up'),
  },
});

/** Returns the options of Llama and related models. */
export function llamaOptions(c: Config) {
  const headDim = c.head_dim ?? c.hidden_size / c.num_attention_heads;
  return {
    layers: c.num_hidden_layers,
    dModel: c.hidden_size,
    numHeads: c.num_attention_heads,
    kvHeads: c.num_key_value_heads ?? c.num_attention_heads,
    headDim,
    vocab: c.vocab_size,
    context: Math.min(c.max_position_embeddings, ANY_LENGTH),
    mlp: c.intermediate_size,
    norm: 'rms' as const,
    normEps: c.rms_norm_eps ?? 1e-6,
    positions: 'rotary' as const,
    rotary: readRotary(c, headDim),
    activation: readActivation('hidden_act', c.hidden_act ?? 'silu'),
    gated: true,
    bias: false,
    tied: c.tie_word_embeddings ?? false,
  };
}

export const LLAMA = {
  'embedding.table': 'embed_tokens.weight',
  'blocks.L.norm1': 'layers.L.input_layernorm',
  'blocks.L.norm2': 'layers.L.post_attention_layernorm',
  ...projections('blocks.L.attention', 'layers.L.self_attn', ['q_proj', 'k_proj', 'v_proj', 'o_proj']),
  'blocks.L.gate': 'layers.L.mlp.gate_proj',
  'blocks.L.up': 'layers.L.mlp.up_proj',
  'blocks.L.down': 'layers.L.mlp.down_proj',
  norm: 'norm',
  head: causalHead('/lm_head'),
};

/** Prefixes of the base model. Files with a head for question answering use 'transformer.'. */
export const LLAMA_PREFIXES = ['model.', '', 'transformer.'];

export const llama: Family = {
  name: 'llama',
  types: ['llama', 'smollm', 'mistral'],
  gguf: { llama: { ...LLAMA_GGUF, type: 'llama', neighbours: true, options: ggufBias } },
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.attention_bias;
      return {
        ...llamaOptions(c),
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
        bias: { ...attentionBias(bias), mlp: !!c.mlp_bias },
        window: (c.model_type === 'mistral' && c.sliding_window) || null,
      };
    },
    {
      llama: { max_position_embeddings: 2048 },
      mistral: { max_position_embeddings: 2 ** 17, sliding_window: 4096 },
    },
  ),
  names: LLAMA,
};

export const published = (): Published => ({
  llama: {
    models: ['Llama (1 to 3)', 'SmolLM', 'Mistral'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2, sliding_window: 8 },
  },
});
