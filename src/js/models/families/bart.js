// BART and Marian: encoder–decoders whose norms are after each sum.

import { expectField, prefixKeys, projections, readActivation } from './common.js';

/** @import { Config, Family, Names } from './common.js' */
/** @import { TransformerOptions } from '../options.js' */

/** The embedding table of both stacks, and copies of it that some files contain. */
const TABLE = {
  from: 'shared.weight',
  also: ['encoder.embed_tokens.weight', 'decoder.embed_tokens.weight', '/lm_head.weight'],
};
const ENDS = /** @type {const} */ (['q_proj', 'k_proj', 'v_proj', 'out_proj']);

/** @param {string} stack @returns {Names} */
const stackNames = (stack) => ({
  'embedding.position': `${stack}.embed_positions.weight`,
  'embedding.norm': `${stack}.layernorm_embedding`,
  ...projections('blocks.L.attention', `${stack}.layers.L.self_attn`, ENDS),
  'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
  'blocks.L.up': `${stack}.layers.L.fc1`,
  'blocks.L.down': `${stack}.layers.L.fc2`,
  'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
});

const NAMES = {
  'embedding.table': TABLE,
  ...stackNames('decoder'),
  'blocks.L.cross.norm': 'decoder.layers.L.encoder_attn_layer_norm',
  ...projections('blocks.L.cross', 'decoder.layers.L.encoder_attn', ENDS),
  'head.bias': '/final_logits_bias',
  ...prefixKeys('encoder', stackNames('encoder')),
};

/**
 * @param {Config} c
 * @param {Partial<TransformerOptions>} positions options of both stacks
 * @returns {TransformerOptions}
 */
function stacks(c, positions) {
  // mBART and other relatives set these fields.
  for (const field of ['normalize_before', 'add_final_layer_norm', 'add_bias_logits', 'extra_layer_norm'])
    expectField(c, field, false);
  expectField(c, 'tie_word_embeddings', true);
  expectField(c, 'share_encoder_decoder_embeddings', true);
  const shared = {
    dModel: c.d_model,
    vocab: c.vocab_size,
    context: c.max_position_embeddings ?? 1024,
    normPlace: /** @type {const} */ ('after'),
    activation: readActivation('activation_function', c.activation_function ?? 'gelu'),
    embedScale: c.scale_embedding ? Math.sqrt(c.d_model) : 1,
    ...positions,
  };
  return {
    ...shared,
    layers: c.decoder_layers ?? 12,
    numHeads: c.decoder_attention_heads ?? 16,
    mlp: c.decoder_ffn_dim ?? 4096,
    tied: true,
    bias: { query: true, key: true, value: true, out: true, mlp: true, norm: true, head: true },
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
}

/** @type {Family} */
export const bart = {
  name: 'bart',
  prefixes: ['model.', ''],
  options: (c) => {
    expectField(c, 'static_position_embeddings', false);
    expectField(c, 'normalize_embedding', true);
    // The first two rows of the table of positions are not used.
    return stacks(c, { positions: 'learned', positionOffset: 2, embedNorm: true });
  },
  names: NAMES,
  // The classifier of an entailment model reads the last token of the decoder.
  others: ['/classification_head.dense', '/classification_head.out_proj'],
};

/** @type {Family} */
export const marian = {
  name: 'marian',
  prefixes: ['model.', ''],
  options: (c) => {
    expectField(c, 'static_position_embeddings', true);
    expectField(c, 'normalize_embedding', false);
    return stacks({ max_position_embeddings: 1024, ...c }, { positions: 'sinusoidal', sinusoids: 'halves' });
  },
  names: NAMES,
  // Early files contain the sines and cosines of the positions.
  constants: ['encoder.embed_positions.weight', 'decoder.embed_positions.weight'],
};
