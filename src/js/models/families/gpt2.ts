// GPT-2.

import { type Config, expectField, type Family, fusedProjections, perLayer, readActivation } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published } from './published.ts';

function attentionScale(c: Config) {
  const scale = (c.scale_attn_weights ?? true) ? (c.n_embd / c.n_head) ** -0.5 : 1;
  return c.scale_attn_by_inverse_layer_idx ? perLayer(c.n_layer, (i) => scale / (i + 1)) : scale;
}

export const gpt2: Family = {
  name: 'gpt2',
  types: ['gpt2'],
  gguf: {
    gpt2: {
      type: 'gpt2',
      names: {
        token_embd: 'transformer.wte',
        position_embd: 'transformer.wpe',
        output_norm: 'transformer.ln_f',
        output: 'lm_head',
        'blk.L.attn_norm': 'transformer.h.L.ln_1',
        'blk.L.attn_output': 'transformer.h.L.attn.c_proj',
        'blk.L.ffn_norm': 'transformer.h.L.ln_2',
        'blk.L.ffn_up': 'transformer.h.L.mlp.c_fc',
        'blk.L.ffn_down': 'transformer.h.L.mlp.c_proj',
      },
      qkv: 'transformer.h.L.attn.c_attn',
    },
  },
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

export const published = (): Published => ({
  gpt2: {
    models: ['GPT-2', 'DistilGPT2'],
    heads: DECODER_HEADS,
    config: { n_layer: 2, n_embd: 64, n_head: 4, n_inner: 128, vocab_size: 100, n_positions: 64 },
  },
});
