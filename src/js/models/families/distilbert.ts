// DistilBERT.

import { ALL_BIASES, type Family, projections, readActivation } from './common.ts';
import { classHead, maskedHead } from './heads.ts';
import type { Published } from './published.ts';

export const distilbert: Family = {
  name: 'distilbert',
  types: ['distilbert'],
  prefixes: ['distilbert.', ''],
  options: (c, has) => {
    const masked = has('/vocab_transform.weight');
    const pooled = has('/pre_classifier.weight');
    return {
      layers: c.n_layers,
      dModel: c.dim,
      numHeads: c.n_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      mlp: c.hidden_dim,
      causal: false,
      normEps: 1e-12,
      normPlace: 'after',
      embedNorm: true,
      activation: readActivation('activation', c.activation ?? 'gelu'),
      bias: ALL_BIASES,
      ...(pooled && { pool: 'first', pooler: 'relu' }),
      ...(masked ? maskedHead(c) : classHead(c, has, pooled)),
    };
  },
  names: {
    'embedding.table': 'embeddings.word_embeddings.weight',
    'embedding.position': 'embeddings.position_embeddings.weight',
    'embedding.norm': 'embeddings.LayerNorm',
    ...projections('blocks.L.attention', 'transformer.layer.L.attention', ['q_lin', 'k_lin', 'v_lin', 'out_lin']),
    'blocks.L.norm1': 'transformer.layer.L.sa_layer_norm',
    'blocks.L.up': 'transformer.layer.L.ffn.lin1',
    'blocks.L.down': 'transformer.layer.L.ffn.lin2',
    'blocks.L.norm2': 'transformer.layer.L.output_layer_norm',
    'head.dense': '/vocab_transform',
    'head.norm': '/vocab_layer_norm',
    pooler: '/pre_classifier',
    head: { from: '/vocab_projector', also: ['/classifier', '/qa_outputs'] },
  },
};

export const published = (): Published => ({
  distilbert: {
    models: ['DistilBERT'],
    heads: 'masked word, classes, token classes, answers',
    config: { n_layers: 2, dim: 64, n_heads: 4, hidden_dim: 128, vocab_size: 100, max_position_embeddings: 64 },
  },
});
