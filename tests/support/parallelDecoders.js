// The cases of families.js that are decoders with attention and feed-forward in parallel.

import { attentionShapes, feedShapes, gatedFeed, masks, project, rotateNeighbours } from './decoderParts.js';
import { ACTIVATIONS, add, angles, attend, linear, rotate } from './float64.js';

/** @import { Case } from './families.js' */

/** @param {object} parts as decoderFamilies.js gets them @returns {Case[]} */
export const parallelCases = (parts) => [...gptjCases(parts), ...stablelmCases(parts)];

// ---- GPT-J

function gptjCases({ sizes: { C, H, MLP, V, L, PLACES }, lin, layerNorm, table, blocks, forClasses }) {
  const [heads, width] = [2, C / 2];
  const shapes = {
    ...table('transformer.wte', V),
    ...blocks((i) => {
      const b = `transformer.h.${i}`;
      return {
        ...layerNorm(`${b}.ln_1`),
        ...lin(`${b}.attn.k_proj`, C, C, false),
        ...lin(`${b}.attn.v_proj`, C, C, false),
        ...lin(`${b}.attn.q_proj`, C, C, false),
        ...lin(`${b}.attn.out_proj`, C, C, false),
        ...lin(`${b}.mlp.fc_in`, MLP, C),
        ...lin(`${b}.mlp.fc_out`, C, MLP),
      };
    }),
    ...layerNorm('transformer.ln_f'),
  };
  const config = {
    model_type: 'gptj',
    vocab_size: V,
    n_embd: C,
    n_layer: L,
    n_head: heads,
    n_inner: MLP,
    n_positions: PLACES,
    rotary_dim: H,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: false,
  };
  function run(p, head) {
    const turns = angles(10000, H);
    let x = (p.values.embed = p.rows('transformer.wte.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `transformer.h.${i}`;
      const read = p.layerNorm(`${b}.ln_1`, x);
      const [q, k, v] = project(p, `${b}.attn`, read);
      const turn = (part) => rotateNeighbours(part, { heads, width, turns });
      const mixed = attend(turn(q), turn(k), v, { heads, width, see: p.sees() });
      record('weights', mixed.weights);
      const inside = p.linear(`${b}.mlp.fc_in`, read).map(ACTIVATIONS.tanhGelu);
      return add(add(x, p.linear(`${b}.attn.out_proj`, mixed.heads)), p.linear(`${b}.mlp.fc_out`, inside));
    });
    x = p.values.final = p.layerNorm('transformer.ln_f', x);
    if (head === 'own') p.values.logits = p.linear('lm_head', x);
    if (head === 'tied') p.values.logits = linear(x, p.get('transformer.wte.weight'));
  }
  return [
    {
      name: 'GPT-J',
      config,
      shapes: { ...shapes, ...lin('lm_head', V, C) },
      extra: masks('transformer.h.0.attn', PLACES),
      padding: 'left',
      causal: true,
      run: (p) => run(p, 'own'),
    },
    {
      name: 'GPT-J with a tied head',
      config: { ...config, tie_word_embeddings: true },
      shapes,
      causal: true,
      run: (p) => run(p, 'tied'),
    },
    forClasses('GPT-J', { config, shapes, run: (p) => run(p) }),
  ];
}

// ---- StableLM

function stablelmCases({ sizes: { C, H, KV, MLP, V, L, PLACES }, lin, layerNorm, table, blocks, forClasses }) {
  const width = 8;
  const sizes = { C, H, KV, MLP, width };
  const shapesOf = ({ parallel = false, bias = '' } = {}) => ({
    ...table('model.embed_tokens', V),
    ...blocks((i) => {
      const b = `model.layers.${i}`;
      return {
        ...attentionShapes(lin, `${b}.self_attn`, { ...sizes, bias }),
        ...feedShapes(lin, `${b}.mlp`, sizes),
        ...layerNorm(`${b}.input_layernorm`),
        ...(!parallel && layerNorm(`${b}.post_attention_layernorm`)),
      };
    }),
    ...layerNorm('model.norm'),
  });
  const head = lin('lm_head', V, C, false);
  const config = {
    model_type: 'stablelm',
    vocab_size: V,
    hidden_size: C,
    head_dim: width,
    intermediate_size: MLP,
    num_hidden_layers: L,
    num_attention_heads: H,
    num_key_value_heads: KV,
    hidden_act: 'silu',
    max_position_embeddings: PLACES,
    layer_norm_eps: 1e-5,
    rope_theta: 500,
    partial_rotary_factor: 0.5,
    use_qkv_bias: false,
    qk_layernorm: false,
    use_parallel_residual: false,
    tie_word_embeddings: false,
  };
  function run(p, { parallel = false, turned = 4, head = true } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const read = p.layerNorm(`${b}.input_layernorm`, x);
      const [q, k, v] = project(p, `${b}.self_attn`, read);
      const turn = (part, heads) => rotate(part, { heads, width, turns: angles(500, turned) });
      const how = { heads: H, kvHeads: KV, width, see: p.sees() };
      const { heads, weights } = attend(turn(q, H), turn(k, KV), v, how);
      record('weights', weights);
      const mid = add(x, p.linear(`${b}.self_attn.o_proj`, heads));
      const second = parallel ? read : p.layerNorm(`${b}.post_attention_layernorm`, mid);
      return add(mid, gatedFeed(p, `${b}.mlp`, second, ACTIVATIONS.silu));
    });
    x = p.values.final = p.layerNorm('model.norm', x);
    if (head) p.values.logits = p.linear('lm_head', x);
  }
  return [
    {
      name: 'StableLM',
      config,
      shapes: { ...shapesOf(), ...head },
      padding: 'left',
      causal: true,
      run: (p) => run(p),
    },
    {
      name: 'StableLM with parallel parts and biases',
      config: { ...config, use_parallel_residual: true, use_qkv_bias: true, partial_rotary_factor: 0.25 },
      shapes: { ...shapesOf({ parallel: true, bias: 'qkv' }), ...head },
      padding: 'left',
      causal: true,
      run: (p) => run(p, { parallel: true, turned: 2 }),
    },
    forClasses('StableLM', { config, shapes: shapesOf(), run: (p) => run(p, { head: false }) }),
  ];
}
