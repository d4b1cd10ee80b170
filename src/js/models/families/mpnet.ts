// MPNet.

import { BERT_LAYER, bertOptions } from './bert.ts';
import { ALL_BIASES, expectField, type Family, projections } from './common.ts';
import { ENCODER_HEADS, type Published, SIZES } from './published.ts';
import { ROBERTA_HEAD, robertaHead } from './roberta.ts';

/** The id of the padding token and the number of buckets do not depend on config.json. */
const PADDING = 1;
const BUCKETS = 32;

export const mpnet: Family = {
  name: 'mpnet',
  types: ['mpnet'],
  prefixes: ['mpnet.', ''],
  options: (c, has) => {
    expectField(c, 'relative_attention_num_buckets', BUCKETS);
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings - PADDING - 1,
      positionOffset: PADDING + 1,
      padToken: PADDING,
      buckets: { count: BUCKETS, distance: 128 },
      tokenTypes: 0,
      bias: ALL_BIASES,
      ...robertaHead(c, has),
    };
  },
  names: {
    ...BERT_LAYER,
    ...projections('blocks.L.attention', 'encoder.layer.L.attention.attn', ['q', 'k', 'v', 'o']),
    'blocks.L.norm1': 'encoder.layer.L.attention.LayerNorm',
    'buckets.table': 'encoder.relative_attention_bias.weight',
    ...ROBERTA_HEAD,
  },
  constants: ['/lm_head.bias', '/lm_head.decoder.bias'],
  others: ['pooler.dense'],
};

export const published = (): Published => ({
  mpnet: {
    models: ['MPNet', 'all-mpnet-base'],
    heads: ENCODER_HEADS,
    config: SIZES,
  },
});
