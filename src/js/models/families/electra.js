// ELECTRA: the discriminator, which predicts for every token whether it was replaced, and the generator.

import { BERT_LAYER, bertOptions } from './bert.js';
import { ALL_BIASES, expectField, readActivation } from './common.js';
import { classHead, maskedHead } from './heads.js';

/** @import { Config, Family, HasTensor } from './common.js' */
/** @import { TransformerOptions } from '../options.js' */

/** @param {Config} c @param {HasTensor} has @returns {Partial<TransformerOptions>} */
function electraHead(c, has) {
  const activation = readActivation('hidden_act', c.hidden_act ?? 'gelu');
  if (has('/discriminator_predictions.dense.weight'))
    return { head: 'logits', classes: 1, headTransform: 'plain', headActivation: activation };
  if (has('/generator_predictions.dense.weight'))
    return { ...maskedHead(c), headWidth: embedDim(c), headActivation: 'gelu' };
  const chosen = has('/sequence_summary.summary.weight');
  const pooled = chosen || has('/classifier.dense.weight');
  if (!pooled) return classHead(c, has, false);
  const summary = c.summary_activation === undefined ? 'gelu' : c.summary_activation;
  if (chosen) expectField(c, 'summary_type', 'first');
  const headActivation = chosen ? readActivation('summary_activation', summary) : 'gelu';
  return { ...classHead(c, has, true), headTransform: 'plain', headActivation };
}

/** @param {Config} c @returns {number} */
const embedDim = (c) => c.embedding_size ?? 128;

/** @type {Family} */
export const electra = {
  name: 'electra',
  prefixes: ['electra.', ''],
  options: (c, has) => ({
    ...bertOptions({ ...c, embedding_size: undefined }),
    context: c.max_position_embeddings,
    embedDim: embedDim(c),
    embedProject: embedDim(c) === c.hidden_size ? 'tokens' : 'sum',
    bias: ALL_BIASES,
    ...electraHead(c, has),
  }),
  names: {
    ...BERT_LAYER,
    'embedding.project': 'embeddings_project',
    'head.dense': {
      from: '/discriminator_predictions.dense',
      also: ['/generator_predictions.dense', '/classifier.dense', '/sequence_summary.summary'],
    },
    'head.norm': '/generator_predictions.LayerNorm',
    head: {
      from: '/generator_lm_head',
      also: ['/discriminator_predictions.dense_prediction', '/classifier.out_proj', '/classifier', '/qa_outputs'],
    },
  },
};
