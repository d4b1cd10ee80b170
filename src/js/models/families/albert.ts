// ALBERT, whose blocks share their parameters.

import { bertOptions } from './bert.ts';
import { ALL_BIASES, expectField, type Family, projections, readActivation } from './common.ts';
import { classHead, maskedHead } from './heads.ts';
import { type Published, SIZES } from './published.ts';

const BLOCK = 'encoder.albert_layer_groups.0.albert_layers.0';

export const albert: Family = {
  name: 'albert',
  types: ['albert'],
  prefixes: ['albert.', ''],
  options: (c, has) => {
    const { embedding_size: embedDim = 128 } = c;
    expectField(c, 'num_hidden_groups', 1);
    expectField(c, 'inner_group_num', 1);
    const pooled = has('pooler.weight');
    return {
      ...bertOptions({ ...c, embedding_size: undefined }),
      context: c.max_position_embeddings,
      activation: readActivation('hidden_act', c.hidden_act ?? 'gelu_new'),
      sharedBlocks: true,
      embedDim,
      embedProject: 'sum',
      bias: ALL_BIASES,
      ...(pooled && { pool: 'first', pooler: 'tanh' }),
      ...(has('/predictions.dense.weight') ? { ...maskedHead(c), headWidth: embedDim } : classHead(c, has, pooled)),
      ...(pooled && has('/sop_classifier.classifier.weight') && { relationship: 2 }),
    };
  },
  names: {
    'embedding.table': 'embeddings.word_embeddings.weight',
    'embedding.position': 'embeddings.position_embeddings.weight',
    'embedding.type': 'embeddings.token_type_embeddings.weight',
    'embedding.norm': 'embeddings.LayerNorm',
    'embedding.project': 'encoder.embedding_hidden_mapping_in',
    ...projections('blocks.L.attention', `${BLOCK}.attention`, ['query', 'key', 'value', 'dense']),
    'blocks.L.norm1': `${BLOCK}.attention.LayerNorm`,
    'blocks.L.up': `${BLOCK}.ffn`,
    'blocks.L.down': `${BLOCK}.ffn_output`,
    'blocks.L.norm2': `${BLOCK}.full_layer_layer_norm`,
    pooler: 'pooler',
    'head.dense': '/predictions.dense',
    'head.norm': '/predictions.LayerNorm',
    head: { from: '/predictions.decoder', also: ['/predictions', '/classifier', '/qa_outputs'] },
    relationship: '/sop_classifier.classifier',
  },
  constants: ['/predictions.bias', '/predictions.decoder.bias'],
  others: ['pooler'],
};

export const published = (): Published => ({
  albert: {
    models: ['ALBERT'],
    heads: 'masked word, sentence order, classes, token classes, answers, choices',
    config: SIZES,
  },
});
