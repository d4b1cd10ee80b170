// Granite.

import { attentionBias, type Family } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/** Llama with four more factors. */
export const granite: Family = {
  name: 'granite',
  types: ['granite'],
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.attention_bias;
      return {
        ...llamaOptions(c),
        embedScale: c.embedding_multiplier ?? 1,
        residualScale: c.residual_multiplier ?? 1,
        scale: c.attention_multiplier ?? 1,
        logitScale: 1 / (c.logits_scaling ?? 1),
        bias: { ...attentionBias(bias), mlp: !!c.mlp_bias },
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      };
    },
    { granite: { max_position_embeddings: 2048 } },
  ),
  names: LLAMA,
};

export const published = (): Published => ({
  granite: {
    models: ['Granite (3)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2 },
  },
});
