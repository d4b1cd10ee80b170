// ViT and DeiT.

import { ALL_BIASES, expectField, type Family, projections, readActivation } from './common.ts';
import { countClasses } from './heads.ts';
import { type Published, SIZES } from './published.ts';

export const vit: Family = {
  name: 'vit',
  types: ['vit', 'deit'],
  prefixes: ['vit.', 'deit.', ''],
  options: (c, has) => {
    const [height, width] = Array.isArray(c.image_size) ? c.image_size : [c.image_size, c.image_size];
    const size = c.patch_size;
    const classTokens = has('embeddings.distillation_token') ? 2 : 1;
    const distilled = has('/distillation_classifier.weight');
    const classifier = distilled || has('/classifier.weight');
    const pooled = !classifier && has('pooler.dense.weight');
    expectField(c, 'pooler_act', 'tanh');
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      context: Math.floor(height / size) * Math.floor(width / size) + classTokens,
      mlp: c.intermediate_size,
      causal: false,
      normEps: c.layer_norm_eps ?? 1e-12,
      input: 'patches',
      patch: { size, image: [height, width], channels: c.num_channels ?? 3, classTokens },
      activation: readActivation('hidden_act', c.hidden_act ?? 'gelu'),
      bias: { ...ALL_BIASES, query: c.qkv_bias ?? true, key: c.qkv_bias ?? true, value: c.qkv_bias ?? true },
      head: classifier ? 'pooled' : 'none',
      ...(classifier && { classes: countClasses(c), taught: distilled }),
      ...(pooled && { pool: 'first', pooler: 'tanh', poolDim: c.pooler_output_size ?? c.hidden_size }),
    };
  },
  names: {
    'embedding.patch': 'embeddings.patch_embeddings.projection',
    'embedding.class': { from: 'embeddings.cls_token', form: 'stacked', also: 'embeddings.distillation_token' },
    'embedding.position': 'embeddings.position_embeddings',
    'blocks.L.norm1': 'encoder.layer.L.layernorm_before',
    ...projections('blocks.L.attention', 'encoder.layer.L.attention', [
      'attention.query',
      'attention.key',
      'attention.value',
      'output.dense',
    ]),
    'blocks.L.norm2': 'encoder.layer.L.layernorm_after',
    'blocks.L.up': 'encoder.layer.L.intermediate.dense',
    'blocks.L.down': 'encoder.layer.L.output.dense',
    norm: 'layernorm',
    pooler: 'pooler.dense',
    head: { from: '/classifier', also: '/cls_classifier' },
    taught: '/distillation_classifier',
  },
  // The mask token is used only in pre-training.
  others: ['pooler.dense', 'embeddings.mask_token'],
};

export const published = (): Published => ({
  vit: {
    models: ['ViT', 'DeiT'],
    heads: 'classes of a picture',
    config: { ...SIZES, image_size: 32, patch_size: 8 },
  },
});
