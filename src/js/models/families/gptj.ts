// GPT-J.

import { type Family, projections, readActivation, UnsupportedField } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published } from './published.ts';

/** Blocks compute attention and feed-forward in parallel, after one norm. */
export const gptj: Family = {
  name: 'gptj',
  types: ['gptj'],
  prefixes: ['transformer.', ''],
  options: decoder(
    (c, has) => {
      if (c.rotary_dim === null) throw new UnsupportedField('rotary_dim', null, 'a number');
      const tied = c.tie_word_embeddings ?? false;
      return {
        layers: c.n_layer,
        dModel: c.n_embd,
        numHeads: c.n_head,
        vocab: c.vocab_size,
        context: c.n_positions,
        mlp: c.n_inner ?? 4 * c.n_embd,
        normEps: c.layer_norm_epsilon,
        normPlace: 'parallel',
        sharedNorm: true,
        positions: 'rotary',
        rotary: { width: c.rotary_dim, pairing: 'neighbours' },
        activation: readActivation('activation_function', c.activation_function ?? 'gelu_new'),
        bias: { mlp: true, head: has('/lm_head.bias') },
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { gptj: { n_positions: 2048, rotary_dim: 64 } },
  ),
  names: {
    'embedding.table': 'wte.weight',
    'blocks.L.norm1': 'h.L.ln_1',
    ...projections('blocks.L.attention', 'h.L.attn', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    'blocks.L.up': 'h.L.mlp.fc_in',
    'blocks.L.down': 'h.L.mlp.fc_out',
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
  constants: ['h.L.attn.bias'],
};

export const published = (): Published => ({
  gptj: {
    models: ['GPT-J'],
    heads: DECODER_HEADS,
    config: { n_layer: 2, n_embd: 64, n_head: 4, n_inner: 128, vocab_size: 100, n_positions: 64, rotary_dim: 8 },
  },
});
