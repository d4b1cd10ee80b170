// OPT.

import { attentionBias, type Family, projections, readActivation } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

export const opt: Family = {
  name: 'opt',
  types: ['opt'],
  prefixes: ['model.decoder.', 'decoder.'],
  options: decoder((c, has) => {
    const bias = c.enable_bias ?? true;
    const affine = c.layer_norm_elementwise_affine ?? true;
    const before = c.do_layer_norm_before ?? true;
    const tied = c.tie_word_embeddings ?? true;
    return {
      layers: c.num_hidden_layers,
      dModel: c.hidden_size,
      embedDim: c.word_embed_proj_dim ?? c.hidden_size,
      headWidth: c.word_embed_proj_dim ?? c.hidden_size,
      numHeads: c.num_attention_heads,
      vocab: c.vocab_size,
      context: c.max_position_embeddings,
      positionOffset: 2,
      mlp: c.ffn_dim,
      normPlace: before ? 'before' : 'after',
      finalNorm: before && !c._remove_final_layer_norm,
      activation: readActivation('activation_function', c.activation_function ?? 'relu'),
      normScale: affine,
      bias: { ...attentionBias(bias), mlp: bias, norm: affine },
      tied,
      head: lmHeadKind(has, tied),
    };
  }),
  names: {
    'embedding.table': 'embed_tokens.weight',
    'embedding.position': 'embed_positions.weight',
    'embedding.project': 'project_in',
    'head.project': 'project_out',
    pooler: 'project_out',
    'blocks.L.norm1': 'layers.L.self_attn_layer_norm',
    ...projections('blocks.L.attention', 'layers.L.self_attn', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    'blocks.L.norm2': 'layers.L.final_layer_norm',
    'blocks.L.up': 'layers.L.fc1',
    'blocks.L.down': 'layers.L.fc2',
    norm: 'final_layer_norm',
    head: causalHead('/lm_head'),
  },
  others: ['project_out'],
};

export const published = (): Published => ({
  opt: {
    models: ['OPT'],
    heads: DECODER_HEADS,
    config: { ...SIZES, ffn_dim: 128 },
  },
});
