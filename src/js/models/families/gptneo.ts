// GPT-Neo.

import { type Config, type Family, perLayer, projections, readActivation, UnsupportedField } from './common.ts';
import { causalHead, decoder, lmHeadKind } from './decoder.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/**
 * Returns the attention window of each layer. attention_types has lists of types, each with the number of its
 * repetitions.
 */
function windowsOf({ attention_types: groups, num_layers: layers, window_size: window }: Config) {
  const isKnown = (type: unknown) => type === 'global' || type === 'local';
  const isGroup = ([types, count]: any) => Array.isArray(types) && types.every(isKnown) && count <= layers;
  const types =
    Array.isArray(groups) && groups.every((group) => Array.isArray(group) && isGroup(group))
      ? groups.flatMap(([list, count]) => Array.from({ length: count }, () => list).flat())
      : [];
  if (types.length !== layers)
    throw new UnsupportedField('attention_types', groups, `'global' or 'local' for each of ${layers} layers`);
  return perLayer(layers, (i) => (types[i] === 'local' ? window : null));
}

/** Scores are not divided by the square root of the width of a head. */
export const gptneo: Family = {
  name: 'gpt_neo',
  types: ['gpt_neo'],
  prefixes: ['transformer.', ''],
  options: decoder(
    (c, has) => {
      const tied = c.tie_word_embeddings ?? true;
      return {
        layers: c.num_layers,
        dModel: c.hidden_size,
        numHeads: c.num_heads,
        vocab: c.vocab_size,
        context: c.max_position_embeddings,
        mlp: c.intermediate_size ?? 4 * c.hidden_size,
        normEps: c.layer_norm_epsilon,
        scale: 1,
        window: windowsOf(c),
        activation: readActivation('activation_function', c.activation_function ?? 'gelu_new'),
        bias: { out: true, mlp: true },
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    { gpt_neo: { max_position_embeddings: 2048, attention_types: [[['global', 'local'], 12]], window_size: 256 } },
  ),
  names: {
    'embedding.table': 'wte.weight',
    'embedding.position': 'wpe.weight',
    'blocks.L.norm1': 'h.L.ln_1',
    ...projections('blocks.L.attention', 'h.L.attn.attention', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    'blocks.L.norm2': 'h.L.ln_2',
    'blocks.L.up': 'h.L.mlp.c_fc',
    'blocks.L.down': 'h.L.mlp.c_proj',
    norm: 'ln_f',
    head: causalHead('/lm_head'),
  },
  constants: ['h.L.attn.attention.bias'],
};

export const published = (): Published => ({
  gpt_neo: {
    models: ['GPT-Neo', 'TinyStories'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_layers: 2, num_heads: 4, attention_types: [[['global', 'local'], 1]] },
  },
});
