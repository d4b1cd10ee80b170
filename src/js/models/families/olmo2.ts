// OLMo 2 and OLMo 3.

import { attentionBias, type Family, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

const DEFAULTS = {
  olmo2: { max_position_embeddings: 2048, rms_norm_eps: 1e-5 },
  olmo3: { max_position_embeddings: 2048, rms_norm_eps: 1e-5, sliding_window: 4096 },
};
const { 'blocks.L.norm1': _1, 'blocks.L.norm2': _2, ...WITHOUT_NORMS } = LLAMA;

/** Attention and feed-forward read the residual stream itself, without a norm. */
export const olmo2: Family = {
  name: 'olmo2',
  types: ['olmo2', 'olmo3'],
  prefixes: LLAMA_PREFIXES,
  options: decoder((c, has) => {
    const bias = !!c.attention_bias;
    const options = llamaOptions(c);
    return {
      ...options,
      head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      bias: attentionBias(bias),
      normPlace: 'outputs',
      queryKeyNorm: 'all',
      ...(c.model_type === 'olmo3' && {
        window: windowsByLayer(c, (i) => (i + 1) % 4 !== 0),
        // The rotary scaling is only for layers without a window.
        rotary: { ...options.rotary, localTheta: options.rotary.theta },
      }),
    };
  }, DEFAULTS),
  names: {
    ...WITHOUT_NORMS,
    'blocks.L.after1': 'layers.L.post_attention_layernorm',
    'blocks.L.after2': 'layers.L.post_feedforward_layernorm',
    'blocks.L.attention.normQ': 'layers.L.self_attn.q_norm',
    'blocks.L.attention.normK': 'layers.L.self_attn.k_norm',
  },
};

export const published = (): Published => ({
  olmo2: {
    models: ['OLMo (2 and 3)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2, sliding_window: 8 },
  },
});
