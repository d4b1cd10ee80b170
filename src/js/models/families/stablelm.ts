// StableLM.

import type { Family, TensorSource } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/** The largest number of heads whose norms are found. */
const MAX_HEADS = 256;

/** Returns the source of the norms of all heads, each of which has a tensor. */
function headNorms(name: string): TensorSource {
  const [from, ...also] = Array.from({ length: MAX_HEADS }, (_, head) => `layers.L.self_attn.${name}.norms.${head}`);
  return { from, form: 'stacked', also };
}

export const stablelm: Family = {
  name: 'stablelm',
  types: ['stablelm'],
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.use_qkv_bias;
      return {
        ...llamaOptions(c),
        norm: 'layer',
        normEps: c.layer_norm_eps ?? 1e-5,
        ...(c.use_parallel_residual && { normPlace: 'parallel' as const, sharedNorm: true }),
        ...(c.qk_layernorm && { queryKeyNorm: 'each' as const }),
        bias: { query: bias, key: bias, value: bias },
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      };
    },
    { stablelm: { max_position_embeddings: 4096, num_key_value_heads: 32, partial_rotary_factor: 0.25 } },
  ),
  names: {
    ...LLAMA,
    'blocks.L.attention.normQ': headNorms('q_layernorm'),
    'blocks.L.attention.normK': headNorms('k_layernorm'),
  },
};

export const published = (): Published => ({
  stablelm: {
    models: ['StableLM (3B and 2 1.6B)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2 },
  },
});
