// BLOOM.

import { ANY_LENGTH, type Family, fusedProjections } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published } from './published.ts';

export const bloom: Family = {
  name: 'bloom',
  types: ['bloom'],
  gguf: {
    bloom: {
      type: 'bloom',
      names: {
        token_embd: 'transformer.word_embeddings',
        token_embd_norm: 'transformer.word_embeddings_layernorm',
        output_norm: 'transformer.ln_f',
        output: 'lm_head',
        'blk.L.attn_norm': 'transformer.h.L.input_layernorm',
        'blk.L.attn_output': 'transformer.h.L.self_attention.dense',
        'blk.L.ffn_norm': 'transformer.h.L.post_attention_layernorm',
        'blk.L.ffn_up': 'transformer.h.L.mlp.dense_h_to_4h',
        'blk.L.ffn_down': 'transformer.h.L.mlp.dense_4h_to_h',
      },
      qkv: 'transformer.h.L.self_attention.query_key_value',
    },
  },
  prefixes: ['transformer.', ''],
  options: decoder((c, has) => {
    const dModel = c.n_embed ?? c.hidden_size;
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.n_layer ?? c.num_hidden_layers,
      dModel,
      numHeads: c.n_head ?? c.num_attention_heads,
      vocab: c.vocab_size,
      context: ANY_LENGTH,
      mlp: 4 * dModel,
      normEps: c.layer_norm_epsilon,
      normPlace: c.apply_residual_connection_post_layernorm ? 'stream' : 'before',
      embedNorm: true,
      positions: 'alibi',
      activation: 'gelu-tanh',
      tied,
      head: lmHeadKind(has, tied),
    };
  }),
  names: {
    'embedding.table': 'word_embeddings.weight',
    'embedding.norm': 'word_embeddings_layernorm',
    'blocks.L.norm1': 'h.L.input_layernorm',
    ...fusedProjections('blocks.L.attention', 'heads', 'h.L.self_attention.query_key_value'),
    'blocks.L.attention.o': 'h.L.self_attention.dense',
    'blocks.L.norm2': 'h.L.post_attention_layernorm',
    'blocks.L.up': 'h.L.mlp.dense_h_to_4h',
    'blocks.L.down': 'h.L.mlp.dense_4h_to_h',
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
};

export const published = (): Published => ({
  bloom: {
    models: ['BLOOM'],
    heads: DECODER_HEADS,
    config: { n_layer: 2, hidden_size: 64, n_head: 4, vocab_size: 100 },
  },
});
