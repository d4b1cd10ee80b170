// SigLIP, and the checkpoints of SigLIP 2 for pictures of one size: one tower for texts, one for pictures.

import { ALL_BIASES, type Family, type Names, UnsupportedField } from './common.ts';
import { countClasses } from './heads.ts';
import { type Published, SIZES } from './published.ts';
import { pictureOptions, towerBlocks, towerConfig, towerOptions } from './towers.ts';

const SIGLIP = { activation: 'gelu_pytorch_tanh', eps: 1e-6, width: 768, heads: 12, mlp: 3072 };

export const siglip: Family = {
  name: 'siglip_text',
  types: ['siglip_text_model', 'siglip'],
  fixedLength: true,
  prefixes: ['text_model.', ''],
  options: (config) => {
    const c = towerConfig(config, 'text');
    const options = towerOptions(c, SIGLIP);
    return {
      ...options,
      vocab: c.vocab_size ?? 32000,
      context: c.max_position_embeddings ?? 64,
      causal: false,
      // A text is padded to the length of the context, and the padding is not masked.
      pool: 'last-row',
      pooler: 'affine',
      poolDim: c.projection_size ?? options.dModel,
    };
  },
  names: {
    'embedding.table': 'embeddings.token_embedding.weight',
    'embedding.position': 'embeddings.position_embedding.weight',
    ...towerBlocks,
    norm: 'final_layer_norm',
    pooler: 'head',
  },
};

/** Returns the sources of q, k and v of attention pooling, whose weights, or biases, are in one tensor. */
const fusedPool = (letter: 'w' | 'b', part: 'weight' | 'bias'): Names =>
  Object.fromEntries(
    ['q', 'k', 'v'].map((name, i) => [
      `pool.attention.${letter}${name}`,
      { from: `head.attention.in_proj_${part}`, part: ['rows', i] },
    ]),
  );

export const siglipVision: Family = {
  name: 'siglip_vision',
  types: ['siglip_vision_model'],
  prefixes: ['vision_model.', ''],
  options: (config, has) => {
    const c = towerConfig(config, 'vision');
    const pooled = has('head.probe');
    if (pooled && c.vision_use_head === false)
      throw new UnsupportedField('vision_use_head', false, 'true, as the file has the head');
    return {
      ...towerOptions(c, SIGLIP),
      ...pictureOptions(c, 16, { classTokens: 0, bias: true }),
      ...(has('/classifier.weight')
        ? { head: 'pooled', pool: 'mean', classes: countClasses(config), bias: ALL_BIASES }
        : { pool: pooled ? 'attention' : 'none' }),
    };
  },
  names: {
    'embedding.patch': 'embeddings.patch_embedding',
    'embedding.position': 'embeddings.position_embedding.weight',
    ...towerBlocks,
    norm: 'post_layernorm',
    'pool.probe': 'head.probe',
    ...fusedPool('w', 'weight'),
    ...fusedPool('b', 'bias'),
    'pool.attention.o': 'head.attention.out_proj',
    'pool.norm': 'head.layernorm',
    'pool.up': 'head.mlp.fc1',
    'pool.down': 'head.mlp.fc2',
    head: '/classifier',
  },
  // A model with a classifier does not use this head, because the classifier reads the mean of the patches.
  others: ['head'],
};

export const published = (): Published => ({
  siglip_text: {
    models: ['SigLIP (and SigLIP 2 for one size, the text tower)'],
    heads: 'pooled text; similarity with pictures',
    config: SIZES,
  },
  siglip_vision: {
    models: ['SigLIP (and SigLIP 2 for one size, the vision tower)'],
    heads: 'pooled picture, classes of a picture',
    config: { ...SIZES, image_size: 32, patch_size: 8 },
  },
});
