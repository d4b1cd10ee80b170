// GPT-2.

import { type Config, expectField, type Family, fusedProjections, perLayer, readActivation } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';

function attentionScale(c: Config) {
  const scale = (c.scale_attn_weights ?? true) ? (c.n_embd / c.n_head) ** -0.5 : 1;
  return c.scale_attn_by_inverse_layer_idx ? perLayer(c.n_layer, (i) => scale / (i + 1)) : scale;
}

export const gpt2: Family = {
  name: 'gpt2',
  prefixes: ['transformer.', ''],
  options: decoder((c, has) => {
    expectField(c, 'add_cross_attention', false);
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.n_layer,
      dModel: c.n_embd,
      numHeads: c.n_head,
      vocab: c.vocab_size,
      context: c.n_positions ?? c.n_ctx,
      mlp: c.n_inner ?? 4 * c.n_embd,
      normEps: c.layer_norm_epsilon,
      activation: readActivation('activation_function', c.activation_function ?? 'gelu_new'),
      ...((c.scale_attn_weights === false || c.scale_attn_by_inverse_layer_idx) && { scale: attentionScale(c) }),
      tied,
      head: lmHeadKind(has, tied),
    };
  }),
  names: {
    'embedding.table': 'wte.weight',
    'embedding.position': 'wpe.weight',
    'blocks.L.norm1': 'h.L.ln_1',
    ...fusedProjections('blocks.L.attention', 'rows', 'h.L.attn.c_attn', { transposed: true }),
    'blocks.L.attention.o': { from: 'h.L.attn.c_proj', transposed: true },
    'blocks.L.norm2': 'h.L.ln_2',
    'blocks.L.up': { from: 'h.L.mlp.c_fc', transposed: true },
    'blocks.L.down': { from: 'h.L.mlp.c_proj', transposed: true },
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
  constants: ['h.L.attn.bias'],
};
