// RoBERTa, XLM-RoBERTa and CamemBERT.

import type { TransformerOptions } from '../options.ts';
import { BERT_LAYER, bertOptions } from './bert.ts';
import { ALL_BIASES, type Config, type Family, type HasTensor } from './common.ts';
import { classHead, maskedHead } from './heads.ts';
import { ENCODER_HEADS, type Published, SIZES } from './published.ts';

/** Returns the options of the pooler and the head. */
export function robertaHead(c: Config, has: HasTensor): Partial<TransformerOptions> {
  const masked = has('/lm_head.dense.weight');
  const pooled = has('/classifier.dense.weight') || has('pooler.dense.weight');
  return {
    ...(pooled && { pool: 'first', pooler: 'tanh' }),
    ...(masked ? { ...maskedHead(c), headActivation: 'gelu' } : classHead(c, has, pooled)),
  };
}

export const ROBERTA_HEAD = {
  pooler: { from: '/classifier.dense', also: 'pooler.dense' },
  'head.dense': '/lm_head.dense',
  'head.norm': '/lm_head.layer_norm',
  head: { from: '/lm_head.decoder', also: ['/lm_head', '/classifier.out_proj', '/classifier', '/qa_outputs'] },
};

export const roberta: Family = {
  name: 'roberta',
  types: ['roberta', 'xlm-roberta', 'camembert'],
  prefixes: ['roberta.', ''],
  options: (c, has) => {
    const positionOffset = (c.pad_token_id ?? 1) + 1;
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings - positionOffset,
      positionOffset,
      padToken: positionOffset - 1,
      bias: ALL_BIASES,
      ...robertaHead(c, has),
    };
  },
  names: { ...BERT_LAYER, ...ROBERTA_HEAD },
  constants: ['/lm_head.bias', '/lm_head.decoder.bias'],
  others: ['pooler.dense'],
};

export const published = (): Published => ({
  roberta: {
    models: ['RoBERTa', 'XLM-R', 'CamemBERT'],
    heads: ENCODER_HEADS,
    config: SIZES,
  },
});
