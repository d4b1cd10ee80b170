// RoBERTa, XLM-RoBERTa and CamemBERT.

import { BERT_LAYER, bertOptions } from './bert.js';
import { ALL_BIASES } from './common.js';
import { classHead, maskedHead } from './heads.js';

/** @import { Family } from './common.js' */

/** @type {Family} */
export const roberta = {
  name: 'roberta',
  prefixes: ['roberta.', ''],
  options: (c, has) => {
    const positionOffset = (c.pad_token_id ?? 1) + 1;
    const masked = has('/lm_head.dense.weight');
    const pooled = has('/classifier.dense.weight') || has('pooler.dense.weight');
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings - positionOffset,
      positionOffset,
      padToken: positionOffset - 1,
      bias: ALL_BIASES,
      ...(pooled && { pool: 'first', pooler: 'tanh' }),
      ...(masked ? { ...maskedHead(c), headActivation: 'gelu' } : classHead(c, has, pooled)),
    };
  },
  names: {
    ...BERT_LAYER,
    pooler: { from: '/classifier.dense', also: 'pooler.dense' },
    'head.dense': '/lm_head.dense',
    'head.norm': '/lm_head.layer_norm',
    head: { from: '/lm_head.decoder', also: ['/lm_head', '/classifier.out_proj', '/classifier', '/qa_outputs'] },
  },
  constants: ['/lm_head.bias', '/lm_head.decoder.bias'],
  others: ['pooler.dense'],
};
