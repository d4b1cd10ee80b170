// wav2vec 2.0 and HuBERT: encoders of samples of sound.

import type { TransformerOptions } from '../options.ts';
import {
  ALL_BIASES,
  ANY_LENGTH,
  type Config,
  expectField,
  type Family,
  type HasTensor,
  projections,
  readActivation,
  UnsupportedField,
} from './common.ts';
import { countClasses } from './heads.ts';
import { type Published, SIZES } from './published.ts';

const LAYERS = 7;

/** Returns the options of the convolutions. */
function soundOf(c: Config): TransformerOptions['sound'] {
  expectField(c, 'feat_extract_norm', 'group', 'layer');
  const widths = c.conv_dim ?? new Array(LAYERS).fill(512);
  expectField(c, 'num_feat_extract_layers', widths.length);
  return {
    widths,
    kernels: c.conv_kernel ?? [10, 3, 3, 3, 3, 2, 2],
    strides: c.conv_stride ?? [5, 2, 2, 2, 2, 2, 2],
    norm: c.feat_extract_norm === 'layer' ? 'all' : 'first',
    bias: c.conv_bias ?? false,
    projectNorm: c.model_type !== 'hubert' || (c.feat_proj_layer_norm ?? true),
    activation: readActivation('feat_extract_activation', c.feat_extract_activation ?? 'gelu'),
    positions: { kernel: c.num_conv_pos_embeddings ?? 128, groups: c.num_conv_pos_embedding_groups ?? 16 },
  };
}

/**
 * Returns the options of the head: letters of every frame, classes of every frame, or classes of the mean of all
 * frames.
 */
function headOf(c: Config, has: HasTensor): Partial<TransformerOptions> {
  if (has('/lm_head.weight')) return { head: 'logits', vocab: c.vocab_size ?? 32 };
  if (!has('/classifier.weight')) return { head: 'none' };
  expectField(c, 'use_weighted_layer_sum', false);
  const classes = countClasses(c);
  if (!has('/projector.weight')) return { head: 'logits', vocab: classes, classes };
  const poolDim = c.classifier_proj_size ?? 256;
  return { head: 'pooled', pool: 'mean', pooler: 'linear', poolDim, classes };
}

/** Refuses parts that change the results, and heads that are not read. */
function refuseParts(c: Config, has: HasTensor) {
  expectField(c, 'add_adapter', false);
  expectField(c, 'adapter_attn_dim', null);
  expectField(c, 'conv_pos_batch_norm', false);
  if (has('/objective.weight'))
    throw new UnsupportedField('architectures', c.architectures, 'another head than that of ForXVector');
}

export const wav2vec2: Family = {
  name: 'wav2vec2',
  types: ['wav2vec2', 'hubert'],
  prefixes: ['wav2vec2.', 'hubert.', ''],
  options: (c, has) => {
    refuseParts(c, has);
    const stable = c.do_stable_layer_norm ?? false;
    return {
      layers: c.num_hidden_layers ?? 12,
      dModel: c.hidden_size ?? 768,
      numHeads: c.num_attention_heads ?? 12,
      mlp: c.intermediate_size ?? 3072,
      context: ANY_LENGTH,
      causal: false,
      input: 'sound',
      sound: soundOf(c),
      positions: 'none',
      normPlace: stable ? 'before' : 'after',
      embedNorm: !stable,
      normEps: c.layer_norm_eps ?? 1e-5,
      activation: readActivation('hidden_act', c.hidden_act ?? 'gelu'),
      bias: { ...ALL_BIASES, pooler: true },
      ...headOf(c, has),
    };
  },
  names: {
    'embedding.layers.L.conv': 'feature_extractor.conv_layers.L.conv',
    'embedding.layers.L.norm': 'feature_extractor.conv_layers.L.layer_norm',
    'embedding.project.norm': 'feature_projection.layer_norm',
    'embedding.project': 'feature_projection.projection',
    'embedding.position': 'encoder.pos_conv_embed.conv',
    'embedding.position.gain': {
      from: 'encoder.pos_conv_embed.conv.weight_g',
      also: 'encoder.pos_conv_embed.conv.parametrizations.weight.original0',
    },
    'embedding.position.direction': {
      from: 'encoder.pos_conv_embed.conv.weight_v',
      also: 'encoder.pos_conv_embed.conv.parametrizations.weight.original1',
    },
    // Models with norms after each sum have this norm before the first block. Models with norms before attention and
    // feed-forward have it after the last block.
    'embedding.norm': 'encoder.layer_norm',
    norm: 'encoder.layer_norm',
    ...projections('blocks.L.attention', 'encoder.layers.L.attention', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    'blocks.L.norm1': 'encoder.layers.L.layer_norm',
    'blocks.L.up': 'encoder.layers.L.feed_forward.intermediate_dense',
    'blocks.L.down': 'encoder.layers.L.feed_forward.output_dense',
    'blocks.L.norm2': 'encoder.layers.L.final_layer_norm',
    pooler: '/projector',
    head: { from: '/lm_head', also: '/classifier' },
  },
  // In training this vector replaces masked frames.
  constants: ['masked_spec_embed'],
};

export const published = (): Published => ({
  wav2vec2: {
    models: ['wav2vec 2.0', 'HuBERT'],
    heads: 'letters of speech, classes, frame classes',
    config: SIZES,
  },
});
