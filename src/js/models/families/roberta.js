// RoBERTa, XLM-RoBERTa and CamemBERT.

import { BERT_LAYER, bertOptions } from './bert.js';
import { ALL_BIASES } from './common.js';
import { classHead, maskedHead } from './heads.js';

/** @import { Config, Family, HasTensor } from './common.js' */
/** @import { TransformerOptions } from '../options.js' */

/**
 * Returns the options of the pooler and the head.
 * @param {Config} c
 * @param {HasTensor} has
 * @returns {Partial<TransformerOptions>}
 */
export function robertaHead(c, has) {
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

/** @type {Family} */
export const roberta = {
  name: 'roberta',
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
