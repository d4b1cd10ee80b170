// Phi and Phi 3.

import { ANY_LENGTH, type Family, fusedProjections, readActivation } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_GGUF, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';
import { readRotary, scalingFields } from './rope.ts';

/** Blocks compute attention and feed-forward in parallel, after one norm. */
export const phi: Family = {
  name: 'phi',
  types: ['phi'],
  gguf: {
    phi2: {
      ...LLAMA_GGUF,
      type: 'phi',
      names: {
        ...LLAMA_GGUF.names,
        output_norm: 'model.final_layernorm',
        'blk.L.attn_output': 'model.layers.L.self_attn.dense',
        'blk.L.ffn_up': 'model.layers.L.mlp.fc1',
        'blk.L.ffn_down': 'model.layers.L.mlp.fc2',
      },
    },
  },
  prefixes: ['model.', ''],
  options: decoder(
    (c, has) => {
      const tied = c.tie_word_embeddings ?? false;
      return {
        layers: c.num_hidden_layers,
        dModel: c.hidden_size,
        numHeads: c.num_attention_heads,
        kvHeads: c.num_key_value_heads ?? c.num_attention_heads,
        vocab: c.vocab_size,
        context: Math.min(c.max_position_embeddings, ANY_LENGTH),
        mlp: c.intermediate_size ?? 8192,
        normEps: c.layer_norm_eps ?? 1e-5,
        normPlace: 'parallel',
        sharedNorm: true,
        ...(c.qk_layernorm && { queryKeyNorm: 'layer' }),
        positions: 'rotary',
        rotary: readRotary({ partial_rotary_factor: 0.5, ...c }, c.hidden_size / c.num_attention_heads),
        activation: readActivation('hidden_act', c.hidden_act ?? 'gelu_new'),
        bias: { query: true, key: true, value: true, out: true, mlp: true, head: has('/lm_head.bias') },
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { phi: { max_position_embeddings: 2048 } },
  ),
  names: {
    ...LLAMA,
    'blocks.L.attention.o': 'layers.L.self_attn.dense',
    'blocks.L.attention.normQ': 'layers.L.self_attn.q_layernorm',
    'blocks.L.attention.normK': 'layers.L.self_attn.k_layernorm',
    'blocks.L.up': 'layers.L.mlp.fc1',
    'blocks.L.down': 'layers.L.mlp.fc2',
    norm: 'final_layernorm',
  },
};

export const phi3: Family = {
  name: 'phi3',
  types: ['phi3'],
  gguf: {
    phi3: {
      type: 'phi3',
      names: { ...LLAMA_GGUF.names, 'blk.L.ffn_up': 'model.layers.L.mlp.gate_up_proj' },
      qkv: 'model.layers.L.self_attn.qkv_proj',
    },
  },
  prefixes: ['model.', ''],
  options: decoder(
    (c, has) => ({
      ...llamaOptions(
        scalingFields(c)?.original_max_position_embeddings ? c : { original_max_position_embeddings: 4096, ...c },
      ),
      head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      window: c.sliding_window || null,
    }),
    { phi3: { max_position_embeddings: 4096, rms_norm_eps: 1e-5 } },
  ),
  names: {
    ...LLAMA,
    ...fusedProjections('blocks.L.attention', 'rows', 'layers.L.self_attn.qkv_proj'),
    'blocks.L.gate': { from: 'layers.L.mlp.gate_up_proj', part: ['halves', 0] },
    'blocks.L.up': { from: 'layers.L.mlp.gate_up_proj', part: ['halves', 1] },
  },
};

export const published = (): Published => ({
  phi: {
    models: ['Phi (1, 1.5 and 2)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2 },
  },
  phi3: {
    models: ['Phi (3)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2, sliding_window: 8 },
  },
});
