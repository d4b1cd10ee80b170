// DeBERTa of versions 2 and 3.

import type { DisentangledOptions } from '../mixers/disentangledOptions.ts';
import type { TransformerOptions } from '../options.ts';
import { BERT_LAYER, bertOptions } from './bert.ts';
import {
  ALL_BIASES,
  type Config,
  expectField,
  type Family,
  type HasTensor,
  projections,
  readActivation,
  UnsupportedField,
} from './common.ts';
import { classHead, isFor, maskedHead } from './heads.ts';
import { ENCODER_HEADS, type Published, SIZES } from './published.ts';

const TERMS: Record<string, 'query' | 'key'> = { c2p: 'query', p2c: 'key' };

function readPositions(c: Config): DisentangledOptions {
  if (c.relative_attention !== true) throw new UnsupportedField('relative_attention', c.relative_attention, 'true');
  const { pos_att_type: given } = c;
  const types =
    typeof given === 'string'
      ? given
          .toLowerCase()
          .split('|')
          .map((type) => type.trim())
      : given;
  if (!Array.isArray(types) || types.length === 0 || !types.every((type) => Object.hasOwn(TERMS, type)))
    throw new UnsupportedField('pos_att_type', given, 'c2p, p2c or both');
  if (c.share_att_key !== true) throw new UnsupportedField('share_att_key', c.share_att_key, 'true');
  expectField(c, 'norm_rel_ebd', 'layer_norm', 'none');
  const { max_relative_positions: most = -1, position_buckets: buckets = -1 } = c;
  return {
    distance: most < 1 ? c.max_position_embeddings : most,
    buckets: buckets > 0 ? buckets : undefined,
    terms: types.map((type) => TERMS[type]),
    norm: c.norm_rel_ebd === 'layer_norm',
  };
}

function readConvolution({
  conv_kernel_size: kernel = 0,
  conv_act: act = 'tanh',
  conv_groups: groups = 1,
}: Config): DisentangledOptions['convolution'] {
  if (kernel === 0) return undefined;
  if (kernel % 2 !== 1) throw new UnsupportedField('conv_kernel_size', kernel, '0 or an odd number');
  if (groups !== 1) throw new UnsupportedField('conv_groups', groups, '1');
  return { kernel, activation: act === 'tanh' ? act : readActivation('conv_act', act) };
}

function debertaHead(c: Config, has: HasTensor): Partial<TransformerOptions> {
  const old = has('/cls.predictions.transform.dense.weight');
  // Files of pre-training contain the head lm_predictions too, but the model reads it only with legacy: false.
  if (old || (c.legacy === false && has('/lm_predictions.lm_head.dense.weight'))) return maskedHead(c);
  const pooled = has('/pooler.dense.weight') && has('/classifier.weight') && !isFor(c, 'TokenClassification');
  if (!pooled) return classHead(c, has, false);
  expectField(c, 'pooler_hidden_size', c.hidden_size);
  const headActivation = readActivation('pooler_hidden_act', c.pooler_hidden_act ?? 'gelu');
  return { ...classHead(c, has, true), headTransform: 'plain', headActivation };
}

export const debertaV2: Family = {
  name: 'deberta-v2',
  types: ['deberta-v2'],
  prefixes: ['deberta.', ''],
  options: (c, has) => {
    const disentangled = { ...readPositions(c), convolution: readConvolution(c) };
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings,
      positions: (c.position_biased_input ?? true) ? 'learned' : 'none',
      disentangled,
      scale: ((c.hidden_size / c.num_attention_heads) * (1 + new Set(disentangled.terms).size)) ** -0.5,
      normEps: c.layer_norm_eps ?? 1e-7,
      tokenTypes: c.type_vocab_size ?? 0,
      bias: ALL_BIASES,
      ...debertaHead(c, has),
    };
  },
  names: {
    ...BERT_LAYER,
    ...projections('blocks.L.attention', 'encoder.layer.L.attention', [
      'self.query_proj',
      'self.key_proj',
      'self.value_proj',
      'output.dense',
    ]),
    'relative.table': 'encoder.rel_embeddings.weight',
    'relative.norm': 'encoder.LayerNorm',
    convolution: 'encoder.conv.conv',
    'convolution.norm': 'encoder.conv.LayerNorm',
    'head.dense': {
      from: '/cls.predictions.transform.dense',
      also: ['/pooler.dense', '/lm_predictions.lm_head.dense'],
    },
    'head.norm': { from: '/cls.predictions.transform.LayerNorm', also: '/lm_predictions.lm_head.LayerNorm' },
    head: {
      from: '/cls.predictions.decoder',
      also: ['/cls.predictions', '/classifier', '/qa_outputs', '/lm_predictions.lm_head'],
    },
  },
  constants: ['/cls.predictions.bias', '/cls.predictions.decoder.bias'],
  // Only pre-training uses this table, unless config.json has position_biased_input.
  others: ['embeddings.position_embeddings'],
};

export const published = (): Published => ({
  'deberta-v2': {
    models: ['DeBERTa (2 and 3)'],
    heads: ENCODER_HEADS,
    config: {
      ...SIZES,
      pos_att_type: 'c2p|p2c',
      position_biased_input: false,
      relative_attention: true,
      share_att_key: true,
    },
  },
});
