// Cases of families.js for later decoders, each with its architecture in float64.

import { gatedFeed, masks, project, sizeFields } from './decoderParts.js';
import { ACTIVATIONS, add, angles, attend, linear, rotate, times } from './float64.js';
import { llamaCases } from './llamaDecoders.js';
import { parallelCases } from './parallelDecoders.js';

/** @import { Case } from './families.js' */

/**
 * Returns the cases.
 * @param {object} parts sizes, and functions that make shapes and cases, from families.js
 * @returns {Case[]}
 */
export function decoderCases(parts) {
  return [
    ...gemma3Cases(parts),
    ...olmo2Cases(parts),
    ...gptneoCases(parts),
    ...parallelCases(parts),
    ...llamaCases(parts),
  ];
}

// ---- Gemma 3

function gemma3Cases({ sizes: { C, H, KV, MLP, V, L, PLACES }, lin, scale, table, blocks, forClasses }) {
  const width = 6;
  const shapesAt = (at) => ({
    ...table(`${at}embed_tokens`, V),
    ...blocks((i) => {
      const b = `${at}layers.${i}`;
      return {
        ...lin(`${b}.self_attn.q_proj`, H * width, C, false),
        ...lin(`${b}.self_attn.k_proj`, KV * width, C, false),
        ...lin(`${b}.self_attn.v_proj`, KV * width, C, false),
        ...lin(`${b}.self_attn.o_proj`, C, H * width, false),
        ...scale(`${b}.self_attn.q_norm`, width, 0),
        ...scale(`${b}.self_attn.k_norm`, width, 0),
        ...lin(`${b}.mlp.gate_proj`, MLP, C, false),
        ...lin(`${b}.mlp.up_proj`, MLP, C, false),
        ...lin(`${b}.mlp.down_proj`, C, MLP, false),
        ...scale(`${b}.input_layernorm`, C, 0),
        ...scale(`${b}.post_attention_layernorm`, C, 0),
        ...scale(`${b}.pre_feedforward_layernorm`, C, 0),
        ...scale(`${b}.post_feedforward_layernorm`, C, 0),
      };
    }),
    ...scale(`${at}norm`, C, 0),
  });
  const config = {
    model_type: 'gemma3_text',
    vocab_size: V,
    hidden_size: C,
    intermediate_size: MLP,
    num_hidden_layers: L,
    num_attention_heads: H,
    num_key_value_heads: KV,
    head_dim: width,
    hidden_activation: 'gelu_pytorch_tanh',
    max_position_embeddings: PLACES,
    rms_norm_eps: 1e-6,
    query_pre_attn_scalar: 24,
    attn_logit_softcapping: null,
    final_logit_softcapping: null,
    sliding_window: 3,
    sliding_window_pattern: 2,
    rope_theta: 500,
    rope_local_base_freq: 100,
    rope_scaling: { rope_type: 'linear', factor: 4 },
  };
  /**
   * Runs the model. `local` is the layer with a window; `near` has the rotary angles of this layer, `far` those of the
   * other layer.
   */
  function run(p, { at = 'model.', local = 0, near = angles(100, width), far, head = true }) {
    const rms = (name, x) => p.rmsNorm(name, x, 1e-6, 1);
    let x = (p.values.embed = times(p.rows(`${at}embed_tokens.weight`, p.ids), Math.sqrt(C)));
    x = p.stack(x, (x, i, record) => {
      const b = `${at}layers.${i}`;
      const [q, k, v] = project(p, `${b}.self_attn`, rms(`${b}.input_layernorm`, x));
      const turns = i === local ? near : far;
      const turn = (name, part, heads) => rotate(rms(`${b}.self_attn.${name}_norm`, part), { heads, width, turns });
      const see = p.sees({ left: i === local ? 2 : Infinity });
      const how = { heads: H, kvHeads: KV, width, see, scale: 24 ** -0.5 };
      const { heads, weights } = attend(turn('q', q, H), turn('k', k, KV), v, how);
      record('weights', weights);
      x = add(x, rms(`${b}.post_attention_layernorm`, p.linear(`${b}.self_attn.o_proj`, heads)));
      const read = rms(`${b}.pre_feedforward_layernorm`, x);
      return add(x, rms(`${b}.post_feedforward_layernorm`, gatedFeed(p, `${b}.mlp`, read, ACTIVATIONS.tanhGelu)));
    });
    x = p.values.final = rms(`${at}norm`, x);
    if (head) p.values.logits = linear(x, p.get(`${at}embed_tokens.weight`));
  }
  const scaled = angles(500, width).map((angle) => angle / 4);
  const text = {
    ...config,
    sliding_window_pattern: undefined,
    layer_types: ['full_attention', 'sliding_attention'],
    rope_theta: undefined,
    rope_local_base_freq: undefined,
    rope_scaling: undefined,
    rope_parameters: {
      full_attention: { rope_type: 'linear', rope_theta: 500, factor: 4 },
      sliding_attention: { rope_type: 'default', rope_theta: 500 },
    },
  };
  return [
    {
      name: 'Gemma 3',
      config,
      shapes: shapesAt('model.'),
      padding: 'left',
      causal: true,
      run: (p) => run(p, { far: scaled }),
    },
    {
      name: 'Gemma 3 below text_config, with rope_parameters and types of layers',
      config: { model_type: 'gemma3', text_config: text, vision_config: { image_size: 896 } },
      shapes: shapesAt('language_model.model.'),
      padding: 'left',
      causal: true,
      run: (p) => run(p, { at: 'language_model.model.', local: 1, near: angles(500, width), far: scaled }),
    },
    forClasses('Gemma 3', { config, shapes: shapesAt('model.'), run: (p) => run(p, { far: scaled, head: false }) }),
  ];
}

// ---- OLMo 2 and 3

function olmo2Cases({ sizes: { C, H, KV, D, MLP, V, L, PLACES }, lin, scale, table, blocks, forClasses }) {
  const shapes = {
    ...table('model.embed_tokens', V),
    ...blocks((i) => {
      const b = `model.layers.${i}`;
      return {
        ...lin(`${b}.self_attn.q_proj`, C, C, false),
        ...lin(`${b}.self_attn.k_proj`, KV * D, C, false),
        ...lin(`${b}.self_attn.v_proj`, KV * D, C, false),
        ...lin(`${b}.self_attn.o_proj`, C, C, false),
        ...scale(`${b}.self_attn.q_norm`, C),
        ...scale(`${b}.self_attn.k_norm`, KV * D),
        ...lin(`${b}.mlp.gate_proj`, MLP, C, false),
        ...lin(`${b}.mlp.up_proj`, MLP, C, false),
        ...lin(`${b}.mlp.down_proj`, C, MLP, false),
        ...scale(`${b}.post_attention_layernorm`),
        ...scale(`${b}.post_feedforward_layernorm`),
      };
    }),
    ...scale('model.norm'),
  };
  const head = lin('lm_head', V, C, false);
  const config = {
    model_type: 'olmo2',
    ...sizeFields({ C, H, KV, MLP, V, L, PLACES }),
    hidden_act: 'silu',
    rms_norm_eps: 1e-6,
    rope_theta: 500,
    rope_scaling: null,
    attention_bias: false,
    tie_word_embeddings: false,
  };
  /**
   * Runs the model. `window` is the window of the first layer; `far` has the rotary angles of the layers without a
   * window.
   */
  function run(p, { window = Infinity, far = angles(500, D), head = true } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      let [q, k, v] = project(p, `${b}.self_attn`, x);
      const turns = i === 0 && window < Infinity ? angles(500, D) : far;
      // Queries and keys are normalized before they are split into heads.
      q = rotate(p.rmsNorm(`${b}.self_attn.q_norm`, q), { heads: H, width: D, turns });
      k = rotate(p.rmsNorm(`${b}.self_attn.k_norm`, k), { heads: KV, width: D, turns });
      const see = p.sees({ left: i === 0 ? window - 1 : Infinity });
      const { heads, weights } = attend(q, k, v, { heads: H, kvHeads: KV, width: D, see });
      record('weights', weights);
      x = add(x, p.rmsNorm(`${b}.post_attention_layernorm`, p.linear(`${b}.self_attn.o_proj`, heads)));
      return add(x, p.rmsNorm(`${b}.post_feedforward_layernorm`, gatedFeed(p, `${b}.mlp`, x, ACTIVATIONS.silu)));
    });
    x = p.values.final = p.rmsNorm('model.norm', x);
    if (head) p.values.logits = p.linear('lm_head', x);
  }
  return [
    { name: 'OLMo 2', config, shapes: { ...shapes, ...head }, padding: 'left', causal: true, run: (p) => run(p) },
    {
      name: 'OLMo 3',
      config: {
        ...config,
        model_type: 'olmo3',
        sliding_window: 3,
        layer_types: ['sliding_attention', 'full_attention'],
        rope_scaling: { rope_type: 'linear', factor: 4 },
      },
      shapes: { ...shapes, ...head },
      padding: 'left',
      causal: true,
      run: (p) => run(p, { window: 3, far: angles(500, D).map((angle) => angle / 4) }),
    },
    forClasses('OLMo 2', { config, shapes, run: (p) => run(p, { head: false }) }),
  ];
}

// ---- GPT-Neo

function gptneoCases({ sizes: { C, H, D, MLP, V, L, PLACES }, lin, layerNorm, table, blocks, forClasses }) {
  const shapes = {
    ...table('transformer.wte', V),
    ...table('transformer.wpe', PLACES),
    ...blocks((i) => {
      const b = `transformer.h.${i}`;
      return {
        ...layerNorm(`${b}.ln_1`),
        ...lin(`${b}.attn.attention.k_proj`, C, C, false),
        ...lin(`${b}.attn.attention.v_proj`, C, C, false),
        ...lin(`${b}.attn.attention.q_proj`, C, C, false),
        ...lin(`${b}.attn.attention.out_proj`, C, C),
        ...layerNorm(`${b}.ln_2`),
        ...lin(`${b}.mlp.c_fc`, MLP, C),
        ...lin(`${b}.mlp.c_proj`, C, MLP),
      };
    }),
    ...layerNorm('transformer.ln_f'),
  };
  const config = {
    model_type: 'gpt_neo',
    vocab_size: V,
    hidden_size: C,
    num_layers: L,
    num_heads: H,
    intermediate_size: MLP,
    attention_types: [[['global', 'local'], L / 2]],
    window_size: 3,
    max_position_embeddings: PLACES,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
  };
  /** Runs the model. isLocal(layer) returns true if a layer has a window. */
  function run(p, { isLocal = (i) => i % 2 === 1, head = true } = {}) {
    let place = -1;
    const places = p.keep.map((keep) => (keep ? ++place : 0));
    let x = add(p.rows('transformer.wte.weight', p.ids), p.rows('transformer.wpe.weight', places));
    p.values.embed = x;
    x = p.stack(x, (x, i, record) => {
      const b = `transformer.h.${i}`;
      const [q, k, v] = project(p, `${b}.attn.attention`, p.layerNorm(`${b}.ln_1`, x));
      // GPT-Neo does not scale scores.
      const how = { heads: H, width: D, scale: 1, see: p.sees({ left: isLocal(i) ? 2 : Infinity }) };
      const { heads, weights } = attend(q, k, v, how);
      record('weights', weights);
      x = add(x, p.linear(`${b}.attn.attention.out_proj`, heads));
      const inside = p.linear(`${b}.mlp.c_fc`, p.layerNorm(`${b}.ln_2`, x)).map(ACTIVATIONS.tanhGelu);
      return add(x, p.linear(`${b}.mlp.c_proj`, inside));
    });
    x = p.values.final = p.layerNorm('transformer.ln_f', x);
    if (head) p.values.logits = linear(x, p.get('transformer.wte.weight'));
  }
  return [
    {
      name: 'GPT-Neo',
      config,
      shapes,
      extra: masks('transformer.h.0.attn.attention', PLACES),
      padding: 'left',
      causal: true,
      run: (p) => run(p),
    },
    {
      name: 'GPT-Neo, two lists of types of layers',
      config: {
        ...config,
        attention_types: [
          [['local'], 1],
          [['global'], 1],
        ],
      },
      shapes,
      causal: true,
      run: (p) => run(p, { isLocal: (i) => i === 0 }),
    },
    forClasses('GPT-Neo', { config, shapes, run: (p) => run(p, { head: false }) }),
  ];
}
