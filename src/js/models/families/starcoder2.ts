// StarCoder2.

import { attentionBias, type Family, readActivation } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

export const starcoder2: Family = {
  name: 'starcoder2',
  types: ['starcoder2'],
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = c.use_bias ?? true;
      const tied = c.tie_word_embeddings ?? true;
      return {
        ...llamaOptions(c),
        norm: 'layer',
        normEps: c.norm_epsilon ?? 1e-5,
        activation: readActivation('hidden_act', c.hidden_act ?? 'gelu_pytorch_tanh'),
        gated: false,
        bias: { ...attentionBias(bias), mlp: bias },
        window: c.sliding_window || null,
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { starcoder2: { max_position_embeddings: 4096, num_key_value_heads: 2 } },
  ),
  names: { ...LLAMA, 'blocks.L.up': 'layers.L.mlp.c_fc', 'blocks.L.down': 'layers.L.mlp.c_proj' },
};

export const published = (): Published => ({
  starcoder2: {
    models: ['StarCoder2'],
    heads: DECODER_HEADS,
    config: { ...SIZES, sliding_window: 8 },
  },
});
