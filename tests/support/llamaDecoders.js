// Cases of families.js for decoders with few differences from Llama.

import { attentionShapes, feedShapes, gatedFeed, project, sizeFields } from './decoderParts.js';
import { ACTIVATIONS, add, angles, attend, linear, rotate, times } from './float64.js';

/** @import { Case } from './families.js' */

/** @param {object} parts the same as for decoderFamilies.js @returns {Case[]} */
export const llamaCases = (parts) => [...starcoderCases(parts), ...graniteCases(parts), ...smollmCases(parts)];

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
    ...sizeFields({ C, H, KV, MLP, V, L, PLACES }),
    hidden_act: 'gelu_pytorch_tanh',
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

// ---- Granite and SmolLM 3

const llamaShapes = ({ sizes, lin, scale, table, blocks }, bias = false) => ({
  ...table('model.embed_tokens', sizes.V),
  ...blocks((i) => {
    const b = `model.layers.${i}`;
    return {
      ...attentionShapes(lin, `${b}.self_attn`, { ...sizes, width: sizes.D, bias: bias ? 'qkvo' : '' }),
      ...feedShapes(lin, `${b}.mlp`, sizes, bias),
      ...scale(`${b}.input_layernorm`),
      ...scale(`${b}.post_attention_layernorm`),
    };
  }),
  ...scale('model.norm'),
});
const llamaConfig = ({ C, H, KV, MLP, V, L, PLACES }) => ({
  ...sizeFields({ C, H, KV, MLP, V, L, PLACES }),
  hidden_act: 'silu',
  rms_norm_eps: 1e-6,
  rope_theta: 500,
  attention_bias: false,
  mlp_bias: false,
});

function graniteCases(parts) {
  const { lin, forClasses } = parts;
  const { H, KV, D, C, V } = parts.sizes;
  const config = {
    ...llamaConfig(parts.sizes),
    model_type: 'granite',
    embedding_multiplier: 12,
    residual_multiplier: 0.22,
    attention_multiplier: 0.3,
    logits_scaling: 8,
    tie_word_embeddings: true,
  };
  function run(p, head) {
    const turns = angles(500, D);
    let x = (p.values.embed = times(p.rows('model.embed_tokens.weight', p.ids), 12));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const [q, k, v] = project(p, `${b}.self_attn`, p.rmsNorm(`${b}.input_layernorm`, x));
      const turn = (part, heads) => rotate(part, { heads, width: D, turns });
      const how = { heads: H, kvHeads: KV, width: D, see: p.sees(), scale: 0.3 };
      const { heads, weights } = attend(turn(q, H), turn(k, KV), v, how);
      record('weights', weights);
      x = add(x, times(p.linear(`${b}.self_attn.o_proj`, heads), 0.22));
      const read = p.rmsNorm(`${b}.post_attention_layernorm`, x);
      return add(x, times(gatedFeed(p, `${b}.mlp`, read, ACTIVATIONS.silu), 0.22));
    });
    x = p.values.final = p.rmsNorm('model.norm', x);
    if (head) p.values.logits = times(linear(x, p.get(head)), 1 / 8);
  }
  const shapes = llamaShapes(parts);
  return [
    {
      name: 'Granite',
      config,
      shapes,
      padding: 'left',
      causal: true,
      run: (p) => run(p, 'model.embed_tokens.weight'),
    },
    {
      name: 'Granite with biases and a head that is not tied',
      config: { ...config, attention_bias: true, mlp_bias: true, tie_word_embeddings: false },
      shapes: { ...llamaShapes(parts, true), ...lin('lm_head', V, C, false) },
      causal: true,
      run: (p) => run(p, 'lm_head.weight'),
    },
    forClasses('Granite', { config, shapes, run: (p) => run(p) }),
  ];
}

function smollmCases(parts) {
  const { lin, forClasses } = parts;
  const { H, KV, D, C, V } = parts.sizes;
  const config = { ...llamaConfig(parts.sizes), model_type: 'smollm3', no_rope_layer_interval: 2 };
  /** Runs the model. Only the layer `rotated` rotates queries and keys; `window` is the window of the other layers. */
  function run(p, { rotated = 0, window = Infinity, head } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const [q, k, v] = project(p, `${b}.self_attn`, p.rmsNorm(`${b}.input_layernorm`, x));
      const turn = (part, heads) => (i === rotated ? rotate(part, { heads, width: D, turns: angles(500, D) }) : part);
      const see = p.sees({ left: i === rotated ? Infinity : window - 1 });
      const { heads, weights } = attend(turn(q, H), turn(k, KV), v, { heads: H, kvHeads: KV, width: D, see });
      record('weights', weights);
      x = add(x, p.linear(`${b}.self_attn.o_proj`, heads));
      return add(x, gatedFeed(p, `${b}.mlp`, p.rmsNorm(`${b}.post_attention_layernorm`, x), ACTIVATIONS.silu));
    });
    x = p.values.final = p.rmsNorm('model.norm', x);
    if (head) p.values.logits = linear(x, p.get(head));
  }
  const shapes = llamaShapes(parts);
  return [
    {
      name: 'SmolLM 3',
      config,
      shapes,
      padding: 'left',
      causal: true,
      run: (p) => run(p, { head: 'model.embed_tokens.weight' }),
    },
    {
      name: 'SmolLM 3 with a list of layers, windows and a head that is not tied',
      config: {
        ...config,
        no_rope_layers: [0, 1],
        use_sliding_window: true,
        sliding_window: 3,
        tie_word_embeddings: false,
      },
      shapes: { ...shapes, ...lin('lm_head', V, C, false) },
      padding: 'left',
      causal: true,
      run: (p) => run(p, { rotated: 1, window: 3, head: 'lm_head.weight' }),
    },
    forClasses('SmolLM 3', { config, shapes, run: (p) => run(p) }),
  ];
}
