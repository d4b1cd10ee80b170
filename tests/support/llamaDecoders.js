// The cases of families.js that are decoders with few differences from Llama.

import { attentionShapes, project } from './decoderParts.js';
import { ACTIVATIONS, add, angles, attend, linear, rotate } from './float64.js';

/** @import { Case } from './families.js' */

/** @param {object} parts as decoderFamilies.js gets them @returns {Case[]} */
export const llamaCases = (parts) => [...starcoderCases(parts)];

// ---- StarCoder2

function starcoderCases({ sizes: { C, H, KV, D, MLP, V, L, PLACES }, lin, layerNorm, table, blocks, forClasses }) {
  const shapesOf = (bias) => ({
    ...table('model.embed_tokens', V),
    ...blocks((i) => {
      const b = `model.layers.${i}`;
      return {
        ...attentionShapes(lin, `${b}.self_attn`, { C, H, KV, width: D, bias: bias ? 'qkvo' : '' }),
        ...lin(`${b}.mlp.c_fc`, MLP, C, bias),
        ...lin(`${b}.mlp.c_proj`, C, MLP, bias),
        ...layerNorm(`${b}.input_layernorm`),
        ...layerNorm(`${b}.post_attention_layernorm`),
      };
    }),
    ...layerNorm('model.norm'),
  });
  const config = {
    model_type: 'starcoder2',
    vocab_size: V,
    hidden_size: C,
    intermediate_size: MLP,
    num_hidden_layers: L,
    num_attention_heads: H,
    num_key_value_heads: KV,
    hidden_act: 'gelu_pytorch_tanh',
    max_position_embeddings: PLACES,
    norm_epsilon: 1e-5,
    rope_theta: 500,
    sliding_window: 3,
    use_bias: true,
  };
  function run(p, { window = 3, head } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const [q, k, v] = project(p, `${b}.self_attn`, p.layerNorm(`${b}.input_layernorm`, x));
      const turn = (part, heads) => rotate(part, { heads, width: D, turns: angles(500, D) });
      const how = { heads: H, kvHeads: KV, width: D, see: p.sees({ left: window - 1 }) };
      const { heads, weights } = attend(turn(q, H), turn(k, KV), v, how);
      record('weights', weights);
      x = add(x, p.linear(`${b}.self_attn.o_proj`, heads));
      const inside = p.linear(`${b}.mlp.c_fc`, p.layerNorm(`${b}.post_attention_layernorm`, x));
      return add(x, p.linear(`${b}.mlp.c_proj`, inside.map(ACTIVATIONS.tanhGelu)));
    });
    x = p.values.final = p.layerNorm('model.norm', x);
    if (head) p.values.logits = linear(x, p.get(head));
  }
  return [
    {
      name: 'StarCoder2',
      config,
      shapes: shapesOf(true),
      padding: 'left',
      causal: true,
      run: (p) => run(p, { head: 'model.embed_tokens.weight' }),
    },
    {
      name: 'StarCoder2 without biases, windows and a tied head',
      config: { ...config, use_bias: false, sliding_window: null, tie_word_embeddings: false },
      shapes: { ...shapesOf(false), ...lin('lm_head', V, C, false) },
      padding: 'left',
      causal: true,
      run: (p) => run(p, { window: Infinity, head: 'lm_head.weight' }),
    },
    forClasses('StarCoder2', { config, shapes: shapesOf(true), run: (p) => run(p) }),
  ];
}
