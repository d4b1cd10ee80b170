// CLIP: one tower for texts, one for pictures.

import type { Family } from './common.ts';
import { type Published, SIZES } from './published.ts';
import { pictureOptions, projectedTo, towerBlocks, towerConfig, towerOptions } from './towers.ts';

const CLIP = { activation: 'quick_gelu', eps: 1e-5 };

export const clip: Family = {
  name: 'clip_text',
  types: ['clip_text_model', 'clip'],
  prefixes: ['text_model.', ''],
  options: (config, has) => {
    const c = towerConfig(config, 'text');
    return {
      ...towerOptions(c, { ...CLIP, width: 512, heads: 8, mlp: 2048 }),
      vocab: c.vocab_size ?? 49408,
      context: c.max_position_embeddings ?? 77,
      countPadding: true,
      pool: 'end',
      // If eos_token_id is 2, the end token is the largest id of the text.
      ...(c.eos_token_id !== 2 && { endToken: c.eos_token_id ?? 49407 }),
      ...(has('/text_projection.weight') && projectedTo(config, c)),
    };
  },
  names: {
    'embedding.table': 'embeddings.token_embedding.weight',
    'embedding.position': 'embeddings.position_embedding.weight',
    ...towerBlocks,
    norm: 'final_layer_norm',
    pooler: '/text_projection',
  },
};

export const clipVision: Family = {
  name: 'clip_vision',
  types: ['clip_vision_model'],
  prefixes: ['vision_model.', ''],
  options: (config, has) => {
    const c = towerConfig(config, 'vision');
    return {
      ...towerOptions(c, { ...CLIP, width: 768, heads: 12, mlp: 3072 }),
      ...pictureOptions(c, 32, { classTokens: 1, bias: false }),
      embedNorm: true,
      pool: 'first',
      ...(has('/visual_projection.weight') && projectedTo(config, c)),
    };
  },
  names: {
    'embedding.patch': 'embeddings.patch_embedding',
    'embedding.class': 'embeddings.class_embedding',
    'embedding.position': 'embeddings.position_embedding.weight',
    // The name in the files has this spelling.
    'embedding.norm': 'pre_layrnorm',
    ...towerBlocks,
    norm: 'post_layernorm',
    pooler: '/visual_projection',
  },
};

export const published = (): Published => ({
  clip_text: {
    models: ['CLIP (its text tower)'],
    heads: 'pooled text, with its projection; similarity with pictures',
    config: SIZES,
  },
  clip_vision: {
    models: ['CLIP (its vision tower)'],
    heads: 'pooled picture, with its projection',
    config: { ...SIZES, image_size: 32, patch_size: 8 },
  },
});
