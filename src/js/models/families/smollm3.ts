// SmolLM 3.

import { attentionBias, type Config, type Family, perLayer, UnsupportedField, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/** Returns true for each layer with rotary positions. Contrary to its name, no_rope_layers has a 1 for these layers. */
function rotatedLayers({ no_rope_layers: list, no_rope_layer_interval: every, num_hidden_layers: layers }: Config) {
  if (list === undefined || list === null) return perLayer(layers, (i) => (i + 1) % (every ?? 4) !== 0);
  if (!Array.isArray(list) || list.length !== layers || !list.every((value) => value === 0 || value === 1))
    throw new UnsupportedField('no_rope_layers', list, `0 or 1 for each of ${layers} layers`);
  return list.map((value) => value === 1);
}

export const smollm3: Family = {
  name: 'smollm3',
  types: ['smollm3'],
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.attention_bias;
      const tied = c.tie_word_embeddings ?? true;
      const rotated = rotatedLayers(c);
      const windows = windowsByLayer(c, (i) => !rotated[i]);
      const options = llamaOptions(c);
      return {
        ...options,
        rotary: { ...options.rotary, layers: rotated },
        window: c.use_sliding_window && c.sliding_window ? windows : null,
        bias: { ...attentionBias(bias), mlp: !!c.mlp_bias },
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { smollm3: { max_position_embeddings: 2 ** 15, num_key_value_heads: 4, rope_theta: 2e6 } },
  ),
  names: LLAMA,
};

export const published = (): Published => ({
  smollm3: {
    models: ['SmolLM (3)'],
    heads: DECODER_HEADS,
    config: {
      ...SIZES,
      num_key_value_heads: 2,
      sliding_window: 8,
      use_sliding_window: true,
      no_rope_layer_interval: 2,
    },
  },
});
