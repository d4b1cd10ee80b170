// M2M-100 and NLLB-200: encoder–decoders for translation, with norms before each part.

import { expectField, prefixKeys, projections, readActivation } from './common.js';

/** @import { Family, Names } from './common.js' */

const ENDS = /** @type {const} */ (['q_proj', 'k_proj', 'v_proj', 'out_proj']);

/** @param {string} stack @returns {Names} */
const stackNames = (stack) => ({
  'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
  ...projections('blocks.L.attention', `${stack}.layers.L.self_attn`, ENDS),
  'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
  'blocks.L.up': `${stack}.layers.L.fc1`,
  'blocks.L.down': `${stack}.layers.L.fc2`,
  norm: `${stack}.layer_norm`,
});

/** @type {Family} */
export const m2m100 = {
  name: 'm2m_100',
  prefixes: ['model.', ''],
  options: (c) => {
    expectField(c, 'normalize_before', true);
    expectField(c, 'static_position_embeddings', true);
    expectField(c, 'normalize_embedding', false);
    expectField(c, 'tie_word_embeddings', true);
    expectField(c, 'share_encoder_decoder_embeddings', true);
    const padToken = c.pad_token_id ?? 1;
    const shared = {
      dModel: c.d_model ?? 1024,
      vocab: c.vocab_size ?? 128112,
      context: c.max_position_embeddings ?? 1024,
      activation: readActivation('activation_function', c.activation_function ?? 'relu'),
      embedScale: (c.scale_embedding ?? true) ? Math.sqrt(c.d_model ?? 1024) : 1,
      positions: /** @type {const} */ ('sinusoidal'),
      sinusoids: /** @type {const} */ ('inclusive'),
      positionOffset: padToken + 1,
      padToken,
    };
    return {
      ...shared,
      layers: c.decoder_layers ?? 12,
      numHeads: c.decoder_attention_heads ?? 16,
      mlp: c.decoder_ffn_dim ?? 4096,
      tied: true,
      encoder: {
        ...shared,
        layers: c.encoder_layers ?? 12,
        numHeads: c.encoder_attention_heads ?? 16,
        mlp: c.encoder_ffn_dim ?? 4096,
        causal: false,
        head: 'none',
        sharedEmbedding: true,
      },
    };
  },
  names: {
    'embedding.table': {
      from: 'shared.weight',
      also: ['encoder.embed_tokens.weight', 'decoder.embed_tokens.weight', '/lm_head.weight'],
    },
    ...stackNames('decoder'),
    'blocks.L.cross.norm': 'decoder.layers.L.encoder_attn_layer_norm',
    ...projections('blocks.L.cross', 'decoder.layers.L.encoder_attn', ENDS),
    ...prefixKeys('encoder', stackNames('encoder')),
  },
  // Early files contain the sines and cosines of the positions.
  constants: ['encoder.embed_positions.weights', 'decoder.embed_positions.weights'],
};
