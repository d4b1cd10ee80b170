// Gemma and Gemma 2.

import { attentionBias, type Family, type Names, readActivation, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, llamaOptions } from './llama.ts';

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
  names: { ...gemma2.names, ...plusOne({ 'blocks.L.norm2': 'layers.L.post_attention_layernorm' }) },
};
