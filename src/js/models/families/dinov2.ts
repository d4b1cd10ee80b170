// DINOv2.

import { ALL_BIASES, expectField, type Family, projections, readActivation } from './common.ts';
import { countClasses } from './heads.ts';
import type { Published } from './published.ts';

export const dinov2: Family = {
  name: 'dinov2',
  types: ['dinov2'],
  prefixes: ['dinov2.', ''],
  options: (c, has) => {
    const { image_size: given = 224, patch_size: size = 14, qkv_bias = true } = c;
    const image = (Array.isArray(given) ? given : [given, given]) as [number, number];
    const classifier = has('/classifier.weight');
    expectField(c, 'use_swiglu_ffn', false);
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      context: Math.floor(image[0] / size) * Math.floor(image[1] / size) + 1,
      mlp: Math.floor(c.hidden_size * (c.mlp_ratio ?? 4)),
      causal: false,
      normEps: c.layer_norm_eps ?? 1e-6,
      layerScale: true,
      input: 'patches',
      // The positions of pictures of another size are interpolated from those of a square.
      patch: { size, image, channels: c.num_channels ?? 3, anySize: image[0] === image[1] },
      activation: readActivation('hidden_act', c.hidden_act ?? 'gelu'),
      bias: { ...ALL_BIASES, query: qkv_bias, key: qkv_bias, value: qkv_bias },
      ...(classifier
        ? { head: 'pooled', pool: 'first-mean', classes: countClasses(c) }
        : { head: 'none', pool: 'first' }),
    };
  },
  names: {
    'embedding.patch': 'embeddings.patch_embeddings.projection',
    'embedding.class': 'embeddings.cls_token',
    'embedding.position': 'embeddings.position_embeddings',
    'blocks.L.norm1': 'encoder.layer.L.norm1',
    ...projections('blocks.L.attention', 'encoder.layer.L.attention', [
      'attention.query',
      'attention.key',
      'attention.value',
      'output.dense',
    ]),
    'blocks.L.scale1': 'encoder.layer.L.layer_scale1.lambda1',
    'blocks.L.norm2': 'encoder.layer.L.norm2',
    'blocks.L.up': 'encoder.layer.L.mlp.fc1',
    'blocks.L.down': 'encoder.layer.L.mlp.fc2',
    'blocks.L.scale2': 'encoder.layer.L.layer_scale2.lambda1',
    norm: 'layernorm',
    head: '/classifier',
  },
  // The mask token is used only in pre-training.
  others: ['embeddings.mask_token'],
};

export const published = (): Published => ({
  dinov2: {
    models: ['DINOv2'],
    heads: 'classes of a picture',
    config: { num_hidden_layers: 2, hidden_size: 64, num_attention_heads: 4, image_size: 32, patch_size: 8 },
  },
});
