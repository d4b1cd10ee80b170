// ModernBERT.

import { expectField, type Family, fusedProjections, readActivation, windowsByLayer } from './common.ts';
import { classHead, isFor, maskedHead } from './heads.ts';
import { type Published, SIZES } from './published.ts';

export const modernbert: Family = {
  name: 'modernbert',
  types: ['modernbert'],
  prefixes: ['model.', ''],
  options: (c, has) => {
    const masked = has('/head.dense.weight') && !has('/classifier.weight');
    const head = masked ? maskedHead(c) : classHead(c, has, !isFor(c, 'QuestionAnswering'));
    expectField(c, 'classifier_pooling', 'cls', 'mean');
    const attention = c.attention_bias ?? false;
    const every = c.global_attn_every_n_layers ?? 3;
    const { full_attention: far, sliding_attention: near } = c.rope_parameters ?? {};
    for (const rope of [far, near]) expectField(rope ?? {}, 'rope_type', 'default');
    const theta = far?.rope_theta ?? c.global_rope_theta ?? 160000;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      numHeads: c.num_attention_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      mlp: c.intermediate_size,
      causal: false,
      normEps: c.norm_eps ?? 1e-5,
      firstNorm: false,
      embedNorm: true,
      positions: 'rotary',
      rotary: {
        theta,
        localTheta: near?.rope_theta ?? (c.local_rope_theta === null ? theta : c.local_rope_theta) ?? 10000,
      },
      window: windowsByLayer({ ...c, sliding_window: c.local_attention ?? 128 }, (i) => i % every !== 0),
      activation: readActivation('hidden_activation', c.hidden_activation ?? 'gelu'),
      gated: true,
      bias: {
        query: attention,
        key: attention,
        value: attention,
        out: attention,
        mlp: c.mlp_bias ?? false,
        norm: c.norm_bias ?? false,
        transform: c.classifier_bias ?? false,
        head: !masked || (c.decoder_bias ?? true),
      },
      ...head,
      ...(head.head === 'pooled' && { pool: c.classifier_pooling === 'mean' ? 'mean' : 'first' }),
      ...(head.head !== 'none' && {
        headTransform: 'norm',
        headActivation: readActivation('classifier_activation', c.classifier_activation ?? 'gelu'),
      }),
    };
  },
  names: {
    'embedding.table': 'embeddings.tok_embeddings.weight',
    'embedding.norm': 'embeddings.norm',
    'blocks.L.norm1': 'layers.L.attn_norm',
    ...fusedProjections('blocks.L.attention', 'rows', 'layers.L.attn.Wqkv'),
    'blocks.L.attention.o': 'layers.L.attn.Wo',
    'blocks.L.norm2': 'layers.L.mlp_norm',
    'blocks.L.gate': { from: 'layers.L.mlp.Wi', part: ['halves', 0] },
    'blocks.L.up': { from: 'layers.L.mlp.Wi', part: ['halves', 1] },
    'blocks.L.down': 'layers.L.mlp.Wo',
    norm: 'final_norm',
    'head.dense': '/head.dense',
    'head.norm': '/head.norm',
    head: { from: '/decoder', also: '/classifier' },
  },
};

export const published = (): Published => ({
  modernbert: {
    models: ['ModernBERT'],
    heads: 'masked word, classes, token classes, answers',
    config: SIZES,
  },
});
