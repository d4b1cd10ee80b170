// Falcon.

import { attentionBias, type Config, expectField, type Family, fusedProjections, readActivation } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published } from './published.ts';
import { readRotary } from './rope.ts';

/** Returns where the norms are. In the new architecture attention and feed-forward have a norm each, or share one. */
function normsOf(c: Config) {
  if (!c.new_decoder_architecture && c.parallel_attn === false) return { normPlace: 'before' as const };
  const two = c.new_decoder_architecture && (c.num_ln_in_parallel_attn ?? 2) === 2;
  return { normPlace: 'parallel' as const, sharedNorm: !two };
}

export const falcon: Family = {
  name: 'falcon',
  types: ['falcon'],
  prefixes: ['transformer.', ''],
  options: decoder(
    (c, has) => {
      // ALiBi is not supported, because Hugging Face rounds its biases to bfloat16.
      expectField(c, 'alibi', false);
      const [dModel, numHeads] = [c.hidden_size ?? c.n_embed, c.num_attention_heads ?? c.n_head];
      const bias = !!c.bias;
      const tied = c.tie_word_embeddings ?? true;
      const oldKeys = (c.multi_query ?? true) ? 1 : numHeads;
      return {
        layers: c.num_hidden_layers ?? c.n_layer,
        dModel,
        numHeads,
        kvHeads: c.new_decoder_architecture ? (c.num_kv_heads ?? numHeads) : oldKeys,
        vocab: c.vocab_size,
        context: c.max_position_embeddings,
        mlp: c.ffn_hidden_size ?? 4 * dModel,
        normEps: c.layer_norm_epsilon ?? 1e-5,
        ...normsOf(c),
        positions: 'rotary',
        rotary: readRotary(c, dModel / numHeads),
        activation: readActivation('activation', c.activation ?? 'gelu'),
        bias: { ...attentionBias(bias), mlp: bias },
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { falcon: { max_position_embeddings: 2048 } },
  ),
  names: {
    'embedding.table': 'word_embeddings.weight',
    'blocks.L.norm1': { from: 'h.L.input_layernorm', also: 'h.L.ln_attn' },
    ...fusedProjections('blocks.L.attention', 'heads', 'h.L.self_attention.query_key_value'),
    'blocks.L.attention.o': 'h.L.self_attention.dense',
    'blocks.L.norm2': { from: 'h.L.post_attention_layernorm', also: 'h.L.ln_mlp' },
    'blocks.L.up': 'h.L.mlp.dense_h_to_4h',
    'blocks.L.down': 'h.L.mlp.dense_4h_to_h',
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
};

export const published = (): Published => ({
  falcon: {
    models: ['Falcon (7B, 40B and 11B)'],
    heads: DECODER_HEADS,
    config: { n_layer: 2, hidden_size: 64, n_head: 4, vocab_size: 100, max_position_embeddings: 64 },
  },
});
