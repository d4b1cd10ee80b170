// ELECTRA: the discriminator, which predicts for every token whether it was replaced, and the generator.

import type { TransformerOptions } from '../options.ts';
import { BERT_LAYER, bertOptions } from './bert.ts';
import { ALL_BIASES, type Config, expectField, type Family, type HasTensor, readActivation } from './common.ts';
import { classHead, maskedHead } from './heads.ts';
import { type Published, SIZES } from './published.ts';

function electraHead(c: Config, has: HasTensor): Partial<TransformerOptions> {
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

const embedDim = (c: Config): number => c.embedding_size ?? 128;

export const electra: Family = {
  name: 'electra',
  types: ['electra'],
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

export const published = (): Published => ({
  electra: {
    models: ['ELECTRA'],
    heads: 'replaced token, masked word, classes, token classes, answers, choices',
    config: SIZES,
  },
});
