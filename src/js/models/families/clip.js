// The text encoder of CLIP.

import { projections, readActivation } from './common.js';

/** @import { Family } from './common.js' */

/** @type {Family} */
export const clip = {
  name: 'clip_text',
  prefixes: ['text_model.', ''],
  options: (config, has) => {
    // If a file has both, the older field counts, and its missing fields have their defaults.
    const c = config.text_config_dict ?? config.text_config ?? config;
    const projected = has('/text_projection.weight');
    return {
      layers: c.num_hidden_layers ?? 12,
      dModel: c.hidden_size ?? 512,
      numHeads: c.num_attention_heads ?? 8,
      vocab: c.vocab_size ?? 49408,
      context: c.max_position_embeddings ?? 77,
      mlp: c.intermediate_size ?? 2048,
      normEps: c.layer_norm_eps ?? 1e-5,
      activation: readActivation('hidden_act', c.hidden_act ?? 'quick_gelu'),
      head: 'none',
      pool: 'end',
      // In configs with the value 2 the end token is the largest id of the text.
      ...(c.eos_token_id !== 2 && { endToken: c.eos_token_id ?? 49407 }),
      ...(projected && { pooler: 'linear', poolDim: config.projection_dim ?? c.projection_dim ?? 512 }),
    };
  },
  names: {
    'embedding.table': 'embeddings.token_embedding.weight',
    'embedding.position': 'embeddings.position_embedding.weight',
    'blocks.L.norm1': 'encoder.layers.L.layer_norm1',
    ...projections('blocks.L.attention', 'encoder.layers.L.self_attn', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    'blocks.L.norm2': 'encoder.layers.L.layer_norm2',
    'blocks.L.up': 'encoder.layers.L.mlp.fc1',
    'blocks.L.down': 'encoder.layers.L.mlp.fc2',
    norm: 'final_layer_norm',
    pooler: '/text_projection',
  },
};
