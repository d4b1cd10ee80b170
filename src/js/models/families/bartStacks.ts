// The two stacks of BART and of related models, which have the same fields of config.json and nearly the same names.

import type { TransformerOptions } from '../options.ts';
import { type Config, type Names, prefixKeys, projections } from './common.ts';

const ENDS = ['q_proj', 'k_proj', 'v_proj', 'out_proj'] as const;

/** @param shared options of both stacks */
export const bartStacks = (c: Config, shared: Omit<TransformerOptions, 'layers' | 'numHeads'>): TransformerOptions => ({
  ...shared,
  layers: c.decoder_layers ?? 12,
  numHeads: c.decoder_attention_heads ?? 16,
  mlp: c.decoder_ffn_dim ?? 4096,
  tied: true,
  encoder: {
    ...shared,
    layers: c.encoder_layers ?? 12,
    numHeads: c.encoder_attention_heads ?? 16,
    mlp: c.encoder_ffn_dim ?? 4096,
    causal: false,
    head: 'none',
    sharedEmbedding: true,
  },
});

/**
 * Returns the names of both stacks.
 * @param namesOf names of a stack besides its projections
 */
export function bartNames(namesOf: (stack: string) => Names): Names {
  const stack = (name: string) => ({
    ...namesOf(name),
    ...projections('blocks.L.attention', `${name}.layers.L.self_attn`, ENDS),
    'blocks.L.up': `${name}.layers.L.fc1`,
    'blocks.L.down': `${name}.layers.L.fc2`,
  });
  return {
    // One table for both stacks; some files contain copies of it.
    'embedding.table': {
      from: 'shared.weight',
      also: ['encoder.embed_tokens.weight', 'decoder.embed_tokens.weight'],
    },
    head: '/lm_head',
    ...stack('decoder'),
    'blocks.L.cross.norm': 'decoder.layers.L.encoder_attn_layer_norm',
    ...projections('blocks.L.cross', 'decoder.layers.L.encoder_attn', ENDS),
    ...prefixKeys('encoder', stack('encoder')),
  };
}
