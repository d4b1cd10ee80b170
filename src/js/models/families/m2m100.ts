// M2M-100 and NLLB-200: encoder–decoders for translation, with norms before attention and feed-forward.

import { bartNames, bartStacks } from './bartStacks.ts';
import { expectField, type Family, readActivation } from './common.ts';
import { type Published, STACK_SIZES } from './published.ts';

export const m2m100: Family = {
  name: 'm2m_100',
  types: ['m2m_100'],
  prefixes: ['model.', ''],
  options: (c) => {
    expectField(c, 'normalize_before', true);
    expectField(c, 'static_position_embeddings', true);
    expectField(c, 'normalize_embedding', false);
    expectField(c, 'tie_word_embeddings', true);
    expectField(c, 'share_encoder_decoder_embeddings', true);
    const padToken = c.pad_token_id ?? 1;
    return bartStacks(c, {
      dModel: c.d_model ?? 1024,
      vocab: c.vocab_size ?? 128112,
      context: c.max_position_embeddings ?? 1024,
      activation: readActivation('activation_function', c.activation_function ?? 'relu'),
      embedScale: (c.scale_embedding ?? true) ? Math.sqrt(c.d_model ?? 1024) : 1,
      positions: 'sinusoidal' as const,
      sinusoids: 'inclusive' as const,
      positionOffset: padToken + 1,
      padToken,
    });
  },
  names: bartNames((stack) => ({
    'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
    'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
    norm: `${stack}.layer_norm`,
  })),
  // Early files contain the sines and cosines of the positions.
  constants: ['encoder.embed_positions.weights', 'decoder.embed_positions.weights'],
};

export const published = (): Published => ({
  m2m_100: {
    models: ['M2M-100', 'NLLB-200'],
    heads: 'next token',
    config: { ...STACK_SIZES, max_position_embeddings: 64 },
  },
});
