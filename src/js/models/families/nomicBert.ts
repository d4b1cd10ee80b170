// Nomic's BERT, which has rotary positions and a gated feed-forward.

import { ALL_BIASES, type Config, expectField, type Family, fusedProjections, UnsupportedField } from './common.ts';
import type { Published } from './published.ts';

const GATES: Record<string, 'silu' | 'gelu'> = { swiglu: 'silu', geglu: 'gelu' };

/** Refuses values of fields that would change the results. */
function checkFields(c: Config) {
  for (const field of ['prenorm', 'parallel_block', 'use_rms_norm', 'causal', 'scale_attn_by_inverse_layer_idx'])
    expectField(c, field, false);
  for (const field of ['num_experts', 'moe_every_n_layers']) expectField(c, field, 0);
  expectField(c, 'scale_attn_weights', true);
  expectField(c, 'rotary_emb_scale_base', null);
  expectField(c, 'mlp_fc2_bias', c.mlp_fc1_bias ?? true);
  if (!(c.rotary_emb_fraction > 0))
    throw new UnsupportedField('rotary_emb_fraction', c.rotary_emb_fraction, 'a number above 0');
  if (!Object.hasOwn(GATES, c.activation_function))
    throw new UnsupportedField('activation_function', c.activation_function, Object.keys(GATES).join(' or '));
}

export const nomicBert: Family = {
  name: 'nomic_bert',
  types: ['nomic_bert'],
  prefixes: ['bert.', ''],
  options: (c) => {
    checkFields(c);
    const { qkv_proj_bias: query = true, pad_vocab_size_multiple: multiple = 1, rotary_emb_interleaved } = c;
    // The context of a scaled model ends at the trained positions, because beyond them the angles depend on the length.
    const context = c.rotary_scaling_factor ? (c.max_trained_positions ?? c.n_positions) : c.n_positions;
    return {
      layers: c.n_layer,
      dModel: c.n_embd,
      numHeads: c.n_head,
      vocab: Math.ceil(c.vocab_size / multiple) * multiple,
      context,
      mlp: c.n_inner ?? 4 * c.n_embd,
      causal: false,
      normEps: c.layer_norm_epsilon ?? 1e-5,
      normPlace: 'after',
      embedNorm: true,
      positions: 'rotary',
      rotary: {
        theta: c.rotary_emb_base ?? 10000,
        width: (c.n_embd / c.n_head) * c.rotary_emb_fraction,
        pairing: rotary_emb_interleaved ? 'neighbours' : 'halves',
      },
      activation: GATES[c.activation_function],
      gated: true,
      tokenTypes: c.type_vocab_size ?? 2,
      bias: { ...ALL_BIASES, query, key: query, value: query, out: query, mlp: c.mlp_fc1_bias ?? true },
      head: 'none',
    };
  },
  names: {
    'embedding.table': 'embeddings.word_embeddings.weight',
    'embedding.type': 'embeddings.token_type_embeddings.weight',
    'embedding.norm': 'emb_ln',
    ...fusedProjections('blocks.L.attention', 'rows', 'encoder.layers.L.attn.Wqkv'),
    'blocks.L.attention.o': 'encoder.layers.L.attn.out_proj',
    'blocks.L.norm1': 'encoder.layers.L.norm1',
    'blocks.L.up': 'encoder.layers.L.mlp.fc11',
    'blocks.L.gate': 'encoder.layers.L.mlp.fc12',
    'blocks.L.down': 'encoder.layers.L.mlp.fc2',
    'blocks.L.norm2': 'encoder.layers.L.norm2',
  },
};

export const published = (): Published => ({
  nomic_bert: {
    models: ['Nomic Embed (1 and 1.5)'],
    heads: 'none: vectors of sentences',
    config: {
      n_layer: 2,
      n_embd: 64,
      n_head: 4,
      n_inner: 128,
      vocab_size: 100,
      n_positions: 64,
      activation_function: 'swiglu',
      rotary_emb_fraction: 1,
    },
  },
});
