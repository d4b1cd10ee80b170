// Cases of families.js for decoders with parallel attention and feed-forward.

import {
  attentionShapes,
  feedShapes,
  gatedFeed,
  masks,
  project,
  rotateNeighbours,
  sizeFields,
} from './decoderParts.js';
import { ACTIVATIONS, add, angles, attend, concat, linear, rotate, times } from './float64.js';

/** @import { Case } from './families.js' */

/** @param {object} parts the same as for decoderFamilies.js @returns {Case[]} */
export const parallelCases = (parts) => [
  ...gptjCases(parts),
  ...stablelmCases(parts),
  ...falconCases(parts),
  ...cohereCases(parts),
];

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
  const norms = (name, heads) =>
    Array.from({ length: heads }, (_, i) => [`${name}.norms.${i}.weight`, { shape: [width], around: 1 }]);
  const headNorms = blocks((i) => {
    const at = `model.layers.${i}.self_attn`;
    return Object.fromEntries([...norms(`${at}.q_layernorm`, H), ...norms(`${at}.k_layernorm`, KV)]);
  });
  const head = lin('lm_head', V, C, false);
  const config = {
    model_type: 'stablelm',
    ...sizeFields({ C, H, KV, MLP, V, L, PLACES }),
    head_dim: width,
    hidden_act: 'silu',
    layer_norm_eps: 1e-5,
    rope_theta: 500,
    partial_rotary_factor: 0.5,
    use_qkv_bias: false,
    qk_layernorm: false,
    use_parallel_residual: false,
    tie_word_embeddings: false,
  };
  /** Normalizes each head of queries or keys with its own weights, which have no bias. */
  const normHeads = (p, name, x, heads) =>
    concat(
      ...Array.from({ length: x.length / width }, (_, row) =>
        p.layerNorm(`${name}.norms.${row % heads}`, x.subarray(row * width, (row + 1) * width)),
      ),
    );
  function run(p, { parallel = false, turned = 4, head = true, normed = false } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const read = p.layerNorm(`${b}.input_layernorm`, x);
      const [q, k, v] = project(p, `${b}.self_attn`, read);
      const turn = (part, heads, name) => {
        const own = normed ? normHeads(p, `${b}.self_attn.${name}_layernorm`, part, heads) : part;
        return rotate(own, { heads, width, turns: angles(500, turned) });
      };
      const how = { heads: H, kvHeads: KV, width, see: p.sees() };
      const { heads, weights } = attend(turn(q, H, 'q'), turn(k, KV, 'k'), v, how);
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
    {
      name: 'StableLM with norms of each head',
      config: { ...config, use_parallel_residual: true, qk_layernorm: true },
      shapes: { ...shapesOf({ parallel: true }), ...headNorms, ...head },
      padding: 'left',
      causal: true,
      late: true,
      run: (p) => run(p, { parallel: true, normed: true }),
    },
    forClasses('StableLM', { config, shapes: shapesOf(), run: (p) => run(p, { head: false }) }),
  ];
}

// ---- Falcon

/** Splits rows that have, for each key head, the queries, the key and the value. */
function splitGroups(qkv, { heads, kvHeads, width }) {
  const queries = heads / kvHeads;
  const all = (queries + 2) * width;
  const take = (from, count) => {
    const rows = [];
    for (let at = 0; at < qkv.length; at += all) rows.push(...qkv.subarray(at + from, at + from + count));
    return Float64Array.from(rows);
  };
  return [take(0, queries * width), take(queries * width, width), take((queries + 1) * width, width)];
}

function falconCases({ sizes: { C, H, D, V, L, PLACES }, lin, layerNorm, table, blocks, forClasses }) {
  const shapesOf = ({ kvHeads, norms, bias = false, inside = 4 * C }) => ({
    ...table('transformer.word_embeddings', V),
    ...blocks((i) => {
      const b = `transformer.h.${i}`;
      return {
        ...Object.assign({}, ...norms.map((name) => layerNorm(`${b}.${name}`))),
        ...lin(`${b}.self_attention.query_key_value`, (H + 2 * kvHeads) * D, C, bias),
        ...lin(`${b}.self_attention.dense`, C, C, bias),
        ...lin(`${b}.mlp.dense_h_to_4h`, inside, C, bias),
        ...lin(`${b}.mlp.dense_4h_to_h`, C, inside, bias),
      };
    }),
    ...layerNorm('transformer.ln_f'),
  });
  const config = {
    model_type: 'falcon',
    vocab_size: V,
    hidden_size: C,
    num_hidden_layers: L,
    num_attention_heads: H,
    max_position_embeddings: PLACES,
    layer_norm_epsilon: 1e-5,
    activation: 'gelu',
    rope_theta: 500,
    alibi: false,
    bias: false,
    multi_query: true,
    parallel_attn: true,
    new_decoder_architecture: false,
  };
  /**
   * Runs the model. `norms` has the name of the norm before attention and, if the feed-forward has a separate norm, the
   * name of that norm.
   */
  function run(p, { kvHeads, norms: [first, second], parallel = true, head = true }) {
    let x = (p.values.embed = p.rows('transformer.word_embeddings.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `transformer.h.${i}`;
      const read = p.layerNorm(`${b}.${first}`, x);
      const sizes = { heads: H, kvHeads, width: D };
      const [q, k, v] = splitGroups(p.linear(`${b}.self_attention.query_key_value`, read), sizes);
      const turn = (part, heads) => rotate(part, { heads, width: D, turns: angles(500, D) });
      const { heads, weights } = attend(turn(q, H), turn(k, kvHeads), v, { ...sizes, see: p.sees() });
      record('weights', weights);
      const mid = add(x, p.linear(`${b}.self_attention.dense`, heads));
      const other = second ? p.layerNorm(`${b}.${second}`, parallel ? x : mid) : read;
      const inside = p.linear(`${b}.mlp.dense_h_to_4h`, other).map(ACTIVATIONS.gelu);
      return add(mid, p.linear(`${b}.mlp.dense_4h_to_h`, inside));
    });
    x = p.values.final = p.layerNorm('transformer.ln_f', x);
    if (head) p.values.logits = linear(x, p.get('transformer.word_embeddings.weight'));
  }
  const one = { kvHeads: 1, norms: ['input_layernorm'] };
  const two = { kvHeads: 2, norms: ['ln_attn', 'ln_mlp'] };
  const shared = { kvHeads: 2, norms: ['input_layernorm'] };
  const serial = { kvHeads: H, norms: ['input_layernorm', 'post_attention_layernorm'], parallel: false };
  const newer = { new_decoder_architecture: true, num_kv_heads: 2 };
  const falconCase = (name, fields, how, more = {}) => ({
    name,
    config: { ...config, ...fields },
    shapes: shapesOf({ ...how, ...more }),
    padding: 'left',
    causal: true,
    run: (p) => run(p, how),
  });
  return [
    falconCase('Falcon', {}, one),
    falconCase('Falcon, the new architecture', newer, two),
    falconCase('Falcon, the new architecture with one norm', { ...newer, num_ln_in_parallel_attn: 1 }, shared),
    falconCase(
      'Falcon with keys for each head, biases and no parallel parts',
      { multi_query: false, parallel_attn: false, bias: true, ffn_hidden_size: 24 },
      serial,
      { bias: true, inside: 24 },
    ),
    forClasses('Falcon', { config, shapes: shapesOf(one), run: (p) => run(p, { ...one, head: false }) }),
  ];
}

// ---- Cohere

function cohereCases({ sizes, lin, scale, table, blocks, forClasses }) {
  const { C, H, KV, D, MLP, V, L, PLACES } = sizes;
  const shapesOf = (bias) => ({
    ...table('model.embed_tokens', V),
    ...blocks((i) => {
      const b = `model.layers.${i}`;
      return {
        ...attentionShapes(lin, `${b}.self_attn`, { ...sizes, width: D, bias }),
        ...feedShapes(lin, `${b}.mlp`, sizes),
        ...scale(`${b}.input_layernorm`),
      };
    }),
    ...scale('model.norm'),
  });
  const config = {
    model_type: 'cohere',
    ...sizeFields({ C, H, KV, MLP, V, L, PLACES }),
    hidden_act: 'silu',
    layer_norm_eps: 1e-5,
    logit_scale: 0.25,
    rope_theta: 500,
    attention_bias: false,
    use_qk_norm: false,
  };
  /**
   * Runs the model. isLocal(layer) is true for layers with a window of 3; `only` is true if only these layers have
   * rotary positions.
   */
  function run(p, { isLocal = () => false, only = false, head = true } = {}) {
    let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
    x = p.stack(x, (x, i, record) => {
      const b = `model.layers.${i}`;
      const read = p.layerNorm(`${b}.input_layernorm`, x);
      const [q, k, v] = project(p, `${b}.self_attn`, read);
      const turn = (part, heads) =>
        only && !isLocal(i) ? part : rotateNeighbours(part, { heads, width: D, turns: angles(500, D) });
      const see = p.sees({ left: isLocal(i) ? 2 : Infinity });
      const { heads, weights } = attend(turn(q, H), turn(k, KV), v, { heads: H, kvHeads: KV, width: D, see });
      record('weights', weights);
      const own = gatedFeed(p, `${b}.mlp`, read, ACTIVATIONS.silu);
      return add(add(x, p.linear(`${b}.self_attn.o_proj`, heads)), own);
    });
    x = p.values.final = p.layerNorm('model.norm', x);
    if (head) p.values.logits = times(linear(x, p.get('model.embed_tokens.weight')), 0.25);
  }
  return [
    { name: 'Cohere', config, shapes: shapesOf(''), padding: 'left', causal: true, run: (p) => run(p) },
    {
      name: 'Cohere 2',
      config: { ...config, model_type: 'cohere2', sliding_window: 3, sliding_window_pattern: 2 },
      shapes: shapesOf(''),
      padding: 'left',
      causal: true,
      run: (p) => run(p, { isLocal: (i) => i === 0, only: true }),
    },
    {
      name: 'Cohere 2 with biases and types of layers',
      config: {
        ...config,
        model_type: 'cohere2',
        attention_bias: true,
        sliding_window: 3,
        layer_types: ['full_attention', 'sliding_attention'],
      },
      shapes: shapesOf('qkvo'),
      causal: true,
      run: (p) => run(p, { isLocal: (i) => i === 1, only: true }),
    },
    forClasses('Cohere', { config, shapes: shapesOf(''), run: (p) => run(p, { head: false }) }),
  ];
}
