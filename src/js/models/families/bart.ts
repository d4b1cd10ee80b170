// BART and Marian: encoder–decoders whose norms are after each sum.

import type { TransformerOptions } from '../options.ts';
import { bartNames, bartStacks } from './bartStacks.ts';
import { ALL_BIASES, type Config, expectField, type Family, type HasTensor, readActivation } from './common.ts';
import { countClasses, isFor } from './heads.ts';
import { type Published, STACK_SIZES } from './published.ts';

const NAMES = {
  ...bartNames((stack) => ({
    'embedding.position': `${stack}.embed_positions.weight`,
    'embedding.norm': `${stack}.layernorm_embedding`,
    'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
    'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
  })),
  head: { from: '/lm_head', also: '/classification_head.out_proj' },
  'head.bias': { from: '/final_logits_bias', also: '/classification_head.out_proj.bias' },
  pooler: '/classification_head.dense',
};

/** Returns the options of the head. A classifier reads the last token of the decoder. */
function headOf(c: Config, has: HasTensor): Partial<TransformerOptions> {
  const generates = isFor(c, 'ConditionalGeneration') || isFor(c, 'CausalLM');
  if (has('/classification_head.out_proj.weight') && !generates)
    return { tied: false, head: 'pooled', pool: 'last', pooler: 'tanh', classes: countClasses(c), bias: ALL_BIASES };
  const bias = has('/final_logits_bias');
  if (!generates && !bias && !has('/lm_head.weight')) return { tied: false, head: 'none' };
  return { bias: { ...ALL_BIASES, head: bias } };
}

/** @param positions options of both stacks */
function stacks(c: Config, has: HasTensor, positions: Partial<TransformerOptions>): TransformerOptions {
  // mBART and other relatives, which are not supported, set these fields.
  for (const field of ['normalize_before', 'add_final_layer_norm', 'add_bias_logits', 'extra_layer_norm'])
    expectField(c, field, false);
  expectField(c, 'tie_word_embeddings', true);
  expectField(c, 'share_encoder_decoder_embeddings', true);
  const shared = {
    dModel: c.d_model,
    vocab: c.vocab_size,
    context: c.max_position_embeddings ?? 1024,
    normPlace: 'after' as const,
    activation: readActivation('activation_function', c.activation_function ?? 'gelu'),
    embedScale: c.scale_embedding ? Math.sqrt(c.d_model) : 1,
    ...positions,
  };
  return { ...bartStacks(c, shared), ...headOf(c, has) };
}

export const bart: Family = {
  name: 'bart',
  types: ['bart'],
  prefixes: ['model.', ''],
  options: (c, has) => {
    expectField(c, 'static_position_embeddings', false);
    expectField(c, 'normalize_embedding', true);
    // The first two rows of the table of positions are not used.
    return stacks(c, has, { positions: 'learned', positionOffset: 2, embedNorm: true });
  },
  names: NAMES,
};

export const marian: Family = {
  name: 'marian',
  types: ['marian'],
  prefixes: ['model.', ''],
  options: (c, has) => {
    expectField(c, 'static_position_embeddings', true);
    expectField(c, 'normalize_embedding', false);
    return stacks({ max_position_embeddings: 1024, ...c }, has, { positions: 'sinusoidal', sinusoids: 'halves' });
  },
  names: NAMES,
  // Early files contain the sines and cosines of the positions.
  constants: ['encoder.embed_positions.weight', 'decoder.embed_positions.weight'],
};

export const published = (): Published => ({
  bart: {
    models: ['BART'],
    heads: 'next token',
    config: { ...STACK_SIZES, max_position_embeddings: 64 },
  },
  marian: {
    models: ['Marian', 'opus-mt'],
    heads: 'next token',
    config: { ...STACK_SIZES, max_position_embeddings: 64 },
  },
});
