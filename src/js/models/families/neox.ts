// GPT-NeoX.

import { attentionBias, type Family, fusedProjections, readActivation } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';
import { readRotary } from './rope.ts';

export const neox: Family = {
  name: 'gpt_neox',
  types: ['gpt_neox'],
  gguf: {
    gptneox: {
      type: 'gpt_neox',
      names: {
        token_embd: 'gpt_neox.embed_in',
        output_norm: 'gpt_neox.final_layer_norm',
        output: 'embed_out',
        'blk.L.attn_norm': 'gpt_neox.layers.L.input_layernorm',
        'blk.L.attn_output': 'gpt_neox.layers.L.attention.dense',
        'blk.L.ffn_norm': 'gpt_neox.layers.L.post_attention_layernorm',
        'blk.L.ffn_up': 'gpt_neox.layers.L.mlp.dense_h_to_4h',
        'blk.L.ffn_down': 'gpt_neox.layers.L.mlp.dense_4h_to_h',
      },
      qkv: 'gpt_neox.layers.L.attention.query_key_value',
    },
  },
  prefixes: ['gpt_neox.', ''],
  options: decoder(
    (c, has) => {
      const bias = c.attention_bias ?? true;
      const tied = c.tie_word_embeddings ?? false;
      return {
        layers: c.num_hidden_layers,
        dModel: c.hidden_size,
        numHeads: c.num_attention_heads,
        vocab: c.vocab_size,
        context: c.max_position_embeddings,
        mlp: c.intermediate_size,
        normEps: c.layer_norm_eps,
        normPlace: (c.use_parallel_residual ?? true) ? 'parallel' : 'before',
        positions: 'rotary',
        rotary: readRotary({ partial_rotary_factor: 0.25, ...c }, c.hidden_size / c.num_attention_heads),
        activation: readActivation('hidden_act', c.hidden_act ?? 'gelu'),
        bias: { ...attentionBias(bias), mlp: true },
        tied,
        head: lmHeadKind(has, tied, '/embed_out'),
      };
    },
    { gpt_neox: { max_position_embeddings: 2048 } },
  ),
  names: {
    'embedding.table': 'embed_in.weight',
    'blocks.L.norm1': 'layers.L.input_layernorm',
    ...fusedProjections('blocks.L.attention', 'heads', 'layers.L.attention.query_key_value'),
    'blocks.L.attention.o': 'layers.L.attention.dense',
    'blocks.L.norm2': 'layers.L.post_attention_layernorm',
    'blocks.L.up': 'layers.L.mlp.dense_h_to_4h',
    'blocks.L.down': 'layers.L.mlp.dense_4h_to_h',
    norm: 'final_layer_norm',
    head: causalHead('/embed_out'),
  },
  constants: ['layers.L.attention.bias'],
};

export const published = (): Published => ({
  gpt_neox: {
    models: ['Pythia', 'GPT-NeoX'],
    heads: DECODER_HEADS,
    config: SIZES,
  },
});
