// Gemma and Gemma 2.

import { attentionBias, type Family, type Names, readActivation, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_GGUF, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/** The form of GGUF files of Gemma 2 and 3. */
export const GEMMA2_GGUF = {
  ...LLAMA_GGUF,
  names: {
    ...LLAMA_GGUF.names,
    'blk.L.post_attention_norm': 'model.layers.L.post_attention_layernorm',
    'blk.L.ffn_norm': 'model.layers.L.pre_feedforward_layernorm',
    'blk.L.post_ffw_norm': 'model.layers.L.post_feedforward_layernorm',
  },
};

/** Returns the sources of Gemma's norms, which multiply by 1 + weight. */
export const plusOne = (names: Record<string, string>): Names =>
  Object.fromEntries(Object.entries(names).map(([name, from]) => [name, { from, offset: 1 }]));

const DEFAULTS = {
  gemma: { max_position_embeddings: 8192, head_dim: 256 },
  gemma2: {
    max_position_embeddings: 8192,
    head_dim: 256,
    sliding_window: 4096,
    attn_logit_softcapping: 50,
    final_logit_softcapping: 30,
    query_pre_attn_scalar: 256,
  },
};

export const gemma2: Family = {
  name: 'gemma2',
  types: ['gemma2'],
  gguf: { gemma2: { ...GEMMA2_GGUF, type: 'gemma2' } },
  prefixes: ['model.', ''],
  options: decoder((c, has) => {
    const second = c.model_type === 'gemma2';
    const bias = !!c.attention_bias;
    // Early files have hidden_act: 'gelu' and mean its tanh approximation. Gemma 2 ignores this field.
    const hiddenAct = second || c.hidden_act === 'gelu' ? undefined : c.hidden_act;
    const tied = c.tie_word_embeddings ?? true;
    return {
      ...llamaOptions(c),
      activation: readActivation('hidden_activation', c.hidden_activation ?? hiddenAct ?? 'gelu_pytorch_tanh'),
      bias: attentionBias(bias),
      embedScale: Math.sqrt(c.hidden_size),
      tied,
      head: lmHeadKind(has, tied),
      ...(second && {
        normPlace: 'both' as const,
        scale: c.query_pre_attn_scalar ** -0.5,
        softcap: c.attn_logit_softcapping ?? 0,
        logitSoftcap: c.final_logit_softcapping ?? 0,
        window: windowsByLayer(c, (i) => i % 2 === 0),
      }),
    };
  }, DEFAULTS),
  names: {
    ...LLAMA,
    ...plusOne({
      'blocks.L.norm1': 'layers.L.input_layernorm',
      'blocks.L.after1': 'layers.L.post_attention_layernorm',
      'blocks.L.norm2': 'layers.L.pre_feedforward_layernorm',
      'blocks.L.after2': 'layers.L.post_feedforward_layernorm',
      norm: 'norm',
    }),
  },
};

/** The first Gemma has two norms in a block. */
export const gemma: Family = {
  ...gemma2,
  name: 'gemma',
  types: ['gemma'],
  gguf: { gemma: { ...LLAMA_GGUF, type: 'gemma' } },
  names: { ...gemma2.names, ...plusOne({ 'blocks.L.norm2': 'layers.L.post_attention_layernorm' }) },
};

export const published = (): Published => ({
  gemma: {
    models: ['Gemma (1)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, head_dim: 16, num_key_value_heads: 2 },
  },
  gemma2: {
    models: ['Gemma (2)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, head_dim: 16, num_key_value_heads: 2, sliding_window: 8, query_pre_attn_scalar: 16 },
  },
});
