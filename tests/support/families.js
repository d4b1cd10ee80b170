// Tiny random checkpoints of the families without golden vectors, with the names and layouts that Hugging Face's
// modules save, and their expected results: each architecture is implemented again, in float64, from the names of the
// tensors.

import { uniformSource } from '../../src/js/ops/random.ts';
import { bartCases } from './bartFamilies.js';
import { decoderCases } from './decoderFamilies.js';
import { encoderCases } from './encoderFamilies.js';
import { safetensors } from './files.js';
import {
  ACTIVATIONS,
  add,
  angles,
  attend,
  columns,
  concat,
  convolve,
  linear,
  multiply,
  norm,
  rotate,
  times,
} from './float64.js';
import { m2mCases } from './m2mFamilies.js';
import { soundCases } from './soundFamilies.js';
import { inTier } from './tier.js';
import { towerCases } from './towerFamilies.js';

const [C, H, D, MLP, V, L, T] = [16, 4, 4, 24, 23, 2, 7];
const PLACES = 12;
const BATCH = 2;

// Functions that return shapes of tensors by name. Norm scales are around 1, unless the model adds 1 to them.
const lin = (name, out, inside, bias = true) => ({
  [`${name}.weight`]: { shape: [out, inside] },
  ...(bias && { [`${name}.bias`]: { shape: [out] } }),
});
const scale = (name, width = C, around = 1) => ({ [`${name}.weight`]: { shape: [width], around } });
const layerNorm = (name, width = C) => ({ ...scale(name, width), [`${name}.bias`]: { shape: [width] } });
const table = (name, rows, width = C) => ({ [`${name}.weight`]: { shape: [rows, width], spread: 1 } });
const each = (names, make) => Object.assign({}, ...names.map(make));
const blocks = (make, count = L) => each([...Array(count).keys()], make);

/** Returns random float32 tensors by name, from a seed. */
function fill(shapes, seed) {
  const next = uniformSource(seed);
  const between = (low, high) => low + (high - low) * next();
  return Object.fromEntries(
    Object.entries(shapes).map(([name, { shape, around = 0, spread = 0.4 }]) => {
      const size = shape.reduce((a, b) => a * b, 1);
      return [name, { shape, data: Float32Array.from({ length: size }, () => around + between(-spread, spread)) }];
    }),
  );
}

/** Returns the bytes of a model.safetensors. Integer tensors are buffers that older files contain. */
function bytesOf(tensors) {
  const header = {};
  let at = 0;
  const parts = Object.entries(tensors).map(([name, { shape, data }]) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const dtype = data instanceof BigInt64Array ? 'I64' : 'F32';
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
    return bytes;
  });
  const all = new Uint8Array(at);
  at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return safetensors(header, all);
}

/** A run of a model on one sequence, with the tensors of the model by name and the intermediate values. */
class Pass {
  /** change(name, numbers) returns the numbers that replace those of a value. */
  constructor(tensors, config, { ids, keep, typeIds, numbers }, change = (_, value) => value) {
    Object.assign(this, { tensors, config, ids, typeIds, numbers, change });
    this.keep = keep ?? ids?.map(() => 1);
    this.values = {};
  }

  get(name) {
    if (!this.tensors[name]) throw new Error(`the checkpoint has no ${name}`);
    return this.tensors[name];
  }

  rows(name, which) {
    const { data, shape } = this.get(name);
    return concat(...Array.from(which, (i) => data.subarray(i * shape[1], (i + 1) * shape[1])));
  }

  linear(name, x) {
    return linear(x, this.get(`${name}.weight`), this.tensors[`${name}.bias`]);
  }

  layerNorm(name, x, eps = this.config.layer_norm_eps ?? 1e-5) {
    const plain = this.config.layer_norm_elementwise_affine === false;
    const scale = plain ? new Float64Array(C).fill(1) : this.get(`${name}.weight`).data;
    return norm(x, scale, this.tensors[`${name}.bias`]?.data, { eps, mean: true });
  }

  rmsNorm(name, x, eps = this.config.rms_norm_eps, plus = 0) {
    const { data } = this.get(`${name}.weight`);
    return norm(
      x,
      Float64Array.from(data, (w) => w + plus),
      undefined,
      { eps, mean: false },
    );
  }

  /** Returns a function of a query and a key that is true if the query sees the key. */
  sees({ causal = true, left = Infinity, right = Infinity } = {}) {
    return (t, s) => this.keep[s] === 1 && !(causal && s > t) && t - s <= left && s - t <= right;
  }

  /** Runs all blocks by block(x, i, record), and records the input and output of each block. */
  stack(x, block, { prefix = '', count = L } = {}) {
    for (let i = 0; i < count; i++) {
      const at = `${prefix}blocks.${i}.`;
      x = this.values[`${at}in`] = this.change(`${at}in`, x);
      x = block(x, i, (name, value) => {
        this.values[at + name] = value;
      });
      x = this.values[`${at}out`] = this.change(`${at}out`, x);
    }
    return x;
  }

  /** Returns functions that change the weights and heads of one attention, for attend. */
  editAt(at) {
    return Object.fromEntries(['weights', 'heads'].map((name) => [name, (x) => this.change(at + name, x)]));
  }
}

const HEADS = { heads: H, width: D };
const pairs = (width) => angles(10000, width);

// ---- text encoders

/** Names of the parts of a block of BERT that begins with `b`, which other families change. */
const bertNames = (b) => ({
  ...{ query: `${b}.attention.self.query`, key: `${b}.attention.self.key`, value: `${b}.attention.self.value` },
  ...{ out: `${b}.attention.output.dense`, attentionNorm: `${b}.attention.output.LayerNorm` },
  ...{ up: `${b}.intermediate.dense`, down: `${b}.output.dense`, norm: `${b}.output.LayerNorm` },
});

/** Returns the shapes of a block whose norms come after the attention and after the MLP. */
const postNormShapes = ({ query, key, value, out, attentionNorm, up, down, norm }) => ({
  ...each([query, key, value, out], (name) => lin(name, C, C)),
  ...{ ...layerNorm(attentionNorm), ...lin(up, MLP, C), ...lin(down, C, MLP), ...layerNorm(norm) },
});

/** Runs the blocks of postNormShapes on x. namesOf(i) returns the names of block i. */
function postNorm(p, x, namesOf, { activation = ACTIVATIONS.gelu, causal = false, eps, bias } = {}) {
  p.values.embed = x;
  p.values.final = p.stack(x, (x, i, record) => {
    const { query, key, value, out, attentionNorm, up, down, norm } = namesOf(i);
    const [q, k, v] = [query, key, value].map((name) => p.linear(name, x));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see: p.sees({ causal }), bias });
    record('weights', weights);
    const mid = p.layerNorm(attentionNorm, add(x, p.linear(out, heads)), eps);
    return p.layerNorm(norm, add(mid, p.linear(down, p.linear(up, mid).map(activation))), eps);
  });
  return p.values.final;
}

/** Returns the shapes of the embeddings of BERT. */
const bertEmbeddings = (at, { types = 2, places = PLACES, width = C } = {}) => ({
  ...table(`${at}embeddings.word_embeddings`, V, width),
  ...table(`${at}embeddings.position_embeddings`, places, width),
  ...(types > 0 && table(`${at}embeddings.token_type_embeddings`, types, width)),
  ...layerNorm(`${at}embeddings.LayerNorm`, width),
});

/** Runs the embeddings of BERT. `positions` has a row of the position table for every token. */
function embedBert(p, at, positions = counted(p.ids), eps = undefined) {
  const [words, places, types] = ['word', 'position', 'token_type'].map((name) => `${at}embeddings.${name}_embeddings`);
  const x = add(p.rows(`${words}.weight`, p.ids), p.rows(`${places}.weight`, positions));
  const typed = p.tensors[`${types}.weight`];
  const all = typed ? add(x, p.rows(`${types}.weight`, p.typeIds ?? p.ids.map(() => 0))) : x;
  return p.layerNorm(`${at}embeddings.LayerNorm`, all, eps);
}

const bertShapes = (at, { pooler = false, ...embeddings } = {}) => ({
  ...bertEmbeddings(at, embeddings),
  ...blocks((i) => postNormShapes(bertNames(`${at}encoder.layer.${i}`))),
  ...(pooler && lin(`${at}pooler.dense`, C, C)),
});

const bert = (p, at, positions, activation = ACTIVATIONS.gelu) =>
  postNorm(p, embedBert(p, at, positions), (i) => bertNames(`${at}encoder.layer.${i}`), {
    ...{ activation, causal: p.config.is_decoder ?? false },
  });

const BERT = {
  model_type: 'bert',
  vocab_size: V,
  hidden_size: C,
  num_hidden_layers: L,
  num_attention_heads: H,
  intermediate_size: MLP,
  hidden_act: 'gelu',
  max_position_embeddings: PLACES,
  type_vocab_size: 2,
  layer_norm_eps: 1e-12,
  pad_token_id: 0,
  position_embedding_type: 'absolute',
  tie_word_embeddings: true,
};
const counted = (ids) => ids.map((_, i) => i);
const first = (x) => x.subarray(0, C);
/** Returns the mean of the rows that are not padding. */
const meanOf = (x, keep) =>
  Float64Array.from({ length: C }, (_, c) => {
    const kept = [...keep.keys()].filter((t) => keep[t] === 1);
    return kept.reduce((sum, t) => sum + x[t * C + c], 0) / kept.length;
  });

const ROBERTA = {
  ...BERT,
  model_type: 'roberta',
  type_vocab_size: 1,
  layer_norm_eps: 1e-5,
  pad_token_id: 1,
  bos_token_id: 0,
  eos_token_id: 2,
  max_position_embeddings: PLACES + 2,
};
/** Applies the masked language modelling head to the last output. `weight` is the name of the output table. */
function masked(p, { dense, norm, activation = ACTIVATIONS.gelu, eps, weight, bias }) {
  const head = p.layerNorm(norm, p.linear(dense, p.values.final).map(activation), eps);
  p.values.logits = linear(head, p.get(weight), p.get(bias));
}
const maskedShapes = (dense, norm, head) => ({ ...lin(dense, C, C), ...layerNorm(norm), ...head });
const untied = { tie_word_embeddings: false };
/** Returns positions, which count from 2 for tokens that are not padding. Padding has the position 1. */
const robertaPositions = (ids) => {
  let seen = 1;
  return ids.map((id) => (id === 1 ? 1 : ++seen));
};

const distilNames = (i, b = `distilbert.transformer.layer.${i}`) => ({
  ...{ query: `${b}.attention.q_lin`, key: `${b}.attention.k_lin`, value: `${b}.attention.v_lin` },
  ...{ out: `${b}.attention.out_lin`, attentionNorm: `${b}.sa_layer_norm` },
  ...{ up: `${b}.ffn.lin1`, down: `${b}.ffn.lin2`, norm: `${b}.output_layer_norm` },
});
const distilShapes = {
  ...bertEmbeddings('distilbert.', { types: 0 }),
  ...blocks((i) => postNormShapes(distilNames(i))),
};
const DISTIL = {
  model_type: 'distilbert',
  activation: 'gelu',
  dim: C,
  hidden_dim: MLP,
  n_heads: H,
  n_layers: L,
  vocab_size: V,
  max_position_embeddings: PLACES,
  sinusoidal_pos_embds: false,
  pad_token_id: 0,
  tie_weights_: true,
};
const distil = (p) => postNorm(p, embedBert(p, 'distilbert.', undefined, 1e-12), distilNames, { eps: 1e-12 });

const modernShapes = (bias, head = { 'decoder.bias': { shape: [V] } }, normed = scale) => ({
  ...table('model.embeddings.tok_embeddings', V),
  ...normed('model.embeddings.norm'),
  ...blocks(
    (i) => ({
      ...(i > 0 && normed(`model.layers.${i}.attn_norm`)),
      ...lin(`model.layers.${i}.attn.Wqkv`, 3 * C, C, bias),
      ...lin(`model.layers.${i}.attn.Wo`, C, C, bias),
      ...normed(`model.layers.${i}.mlp_norm`),
      ...lin(`model.layers.${i}.mlp.Wi`, 2 * MLP, C, bias),
      ...lin(`model.layers.${i}.mlp.Wo`, C, MLP, bias),
    }),
    4,
  ),
  ...normed('model.final_norm'),
  ...lin('head.dense', C, C, bias),
  ...normed('head.norm'),
  ...head,
});
const MODERN = {
  model_type: 'modernbert',
  vocab_size: V,
  hidden_size: C,
  intermediate_size: MLP,
  num_hidden_layers: 4,
  num_attention_heads: H,
  hidden_activation: 'gelu',
  classifier_activation: 'gelu',
  max_position_embeddings: PLACES,
  norm_eps: 1e-5,
  norm_bias: false,
  attention_bias: false,
  mlp_bias: false,
  decoder_bias: true,
  classifier_bias: false,
  classifier_pooling: 'cls',
  global_rope_theta: 160000,
  local_rope_theta: 10000,
  global_attn_every_n_layers: 3,
  local_attention: 4,
  pad_token_id: 0,
};
const third = (i) => i % 3 !== 0;
function modernBase(p, { local = third, theta = 160000, localTheta = 10000 } = {}) {
  const eps = 1e-5;
  let x = p.rows('model.embeddings.tok_embeddings.weight', p.ids);
  x = p.values.embed = p.layerNorm('model.embeddings.norm', x, eps);
  x = p.stack(
    x,
    (x, i, record) => {
      const b = `model.layers.${i}`;
      const qkv = p.linear(`${b}.attn.Wqkv`, i > 0 ? p.layerNorm(`${b}.attn_norm`, x, eps) : x);
      const turns = angles(local(i) ? localTheta : theta, D);
      const [q, k] = [0, 1].map((n) => rotate(columns(qkv, 3 * C, n * C, (n + 1) * C), { ...HEADS, turns }));
      const side = local(i) ? 2 : Infinity;
      const see = p.sees({ causal: false, left: side, right: side });
      const { heads, weights } = attend(q, k, columns(qkv, 3 * C, 2 * C, 3 * C), { ...HEADS, see });
      record('weights', weights);
      x = add(x, p.linear(`${b}.attn.Wo`, heads));
      const wide = p.linear(`${b}.mlp.Wi`, p.layerNorm(`${b}.mlp_norm`, x, eps));
      const gate = columns(wide, 2 * MLP, 0, MLP).map(ACTIVATIONS.gelu);
      return add(x, p.linear(`${b}.mlp.Wo`, multiply(gate, columns(wide, 2 * MLP, MLP, 2 * MLP))));
    },
    { count: 4 },
  );
  x = p.values.final = p.layerNorm('model.final_norm', x, eps);
  return x;
}
const modernHead = (p, x, activation = ACTIVATIONS.gelu) =>
  p.layerNorm('head.norm', p.linear('head.dense', x).map(activation), 1e-5);
function modern(p, how = {}) {
  const head = modernHead(p, modernBase(p, how), how.activation);
  const { weight = 'model.embeddings.tok_embeddings.weight' } = how;
  p.values.logits = linear(head, p.get(weight), p.tensors['decoder.bias']);
}

// ---- decoders older than Llama

const gptShapes = {
  ...table('transformer.wte', V),
  ...table('transformer.wpe', PLACES),
  ...blocks((i) => {
    const b = `transformer.h.${i}`;
    const turned = (name, inside, out) => ({
      [`${b}.${name}.weight`]: { shape: [inside, out] },
      [`${b}.${name}.bias`]: { shape: [out] },
    });
    return {
      ...layerNorm(`${b}.ln_1`),
      ...turned('attn.c_attn', C, 3 * C),
      ...turned('attn.c_proj', C, C),
      ...layerNorm(`${b}.ln_2`),
      ...turned('mlp.c_fc', C, MLP),
      ...turned('mlp.c_proj', MLP, C),
    };
  }),
  ...layerNorm('transformer.ln_f'),
};
const GPT = {
  model_type: 'gpt2',
  vocab_size: V,
  n_embd: C,
  n_layer: L,
  n_head: H,
  n_inner: MLP,
  n_positions: PLACES,
  layer_norm_epsilon: 1e-5,
  activation_function: 'gelu_new',
};
/** Runs GPT-2. scale(block) returns the factor of the scores. */
function gpt(p, scale) {
  const product = (name, x) => {
    const { data, shape } = p.get(`${name}.weight`);
    const [inside, out] = shape;
    const turned = data.map((_, i) => data[(i % inside) * out + Math.floor(i / inside)]);
    return linear(x, { data: turned, shape: [out, inside] }, p.get(`${name}.bias`));
  };
  let place = -1;
  const places = p.keep.map((keep) => (keep ? ++place : 0));
  let x = add(p.rows('transformer.wte.weight', p.ids), p.rows('transformer.wpe.weight', places));
  p.values.embed = x;
  x = p.stack(x, (x, i, record) => {
    const b = `transformer.h.${i}`;
    const qkv = product(`${b}.attn.c_attn`, p.layerNorm(`${b}.ln_1`, x));
    const [q, k, v] = [0, 1, 2].map((n) => columns(qkv, 3 * C, n * C, (n + 1) * C));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see: p.sees(), scale: scale(i) });
    record('weights', weights);
    x = add(x, product(`${b}.attn.c_proj`, heads));
    const up = product(`${b}.mlp.c_fc`, p.layerNorm(`${b}.ln_2`, x)).map(ACTIVATIONS.tanhGelu);
    return add(x, product(`${b}.mlp.c_proj`, up));
  });
  x = p.values.final = p.layerNorm('transformer.ln_f', x);
  p.values.logits = linear(x, p.get('transformer.wte.weight'));
}

const optShapes = (at, { wide = C, after = false, bias = true, normed = layerNorm } = {}) => ({
  ...table(`${at}embed_tokens`, V, wide),
  ...table(`${at}embed_positions`, PLACES + 2),
  ...(wide !== C && { ...lin(`${at}project_in`, C, wide, false), ...lin(`${at}project_out`, wide, C, false) }),
  ...(!after && normed(`${at}final_layer_norm`)),
  ...blocks((i) => {
    const b = `${at}layers.${i}`;
    return {
      ...each(['k', 'v', 'q', 'out'], (name) => lin(`${b}.self_attn.${name}_proj`, C, C, bias)),
      ...normed(`${b}.self_attn_layer_norm`),
      ...lin(`${b}.fc1`, MLP, C, bias),
      ...lin(`${b}.fc2`, C, MLP, bias),
      ...normed(`${b}.final_layer_norm`),
    };
  }),
});
const OPT = {
  model_type: 'opt',
  vocab_size: V,
  hidden_size: C,
  word_embed_proj_dim: C,
  num_hidden_layers: L,
  num_attention_heads: H,
  ffn_dim: MLP,
  max_position_embeddings: PLACES,
  do_layer_norm_before: true,
  _remove_final_layer_norm: false,
  activation_function: 'relu',
  enable_bias: true,
  layer_norm_elementwise_affine: true,
  pad_token_id: 1,
};
function opt(p, at, { wide = C, after = false, head = `${at}embed_tokens.weight` } = {}) {
  let seen = 0;
  const places = p.keep.map((keep) => {
    seen += keep;
    return keep ? seen + 1 : 1;
  });
  const tokens = p.rows(`${at}embed_tokens.weight`, p.ids);
  const inside = wide === C ? tokens : p.linear(`${at}project_in`, tokens);
  let x = (p.values.embed = add(inside, p.rows(`${at}embed_positions.weight`, places)));
  x = p.stack(x, (x, i, record) => {
    const b = `${at}layers.${i}`;
    const normed = (name, x, yes) => (yes ? p.layerNorm(`${b}.${name}`, x) : x);
    const read = normed('self_attn_layer_norm', x, !after);
    const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.self_attn.${name}_proj`, read));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see: p.sees() });
    record('weights', weights);
    x = normed('self_attn_layer_norm', add(x, p.linear(`${b}.self_attn.out_proj`, heads)), after);
    const up = p.linear(`${b}.fc1`, normed('final_layer_norm', x, !after)).map(ACTIVATIONS.relu);
    return normed('final_layer_norm', add(x, p.linear(`${b}.fc2`, up)), after);
  });
  if (!after) x = p.layerNorm(`${at}final_layer_norm`, x);
  p.values.final = x;
  p.values.logits = linear(wide === C ? x : p.linear(`${at}project_out`, x), p.get(head));
}

const bloomShapes = {
  ...table('transformer.word_embeddings', V, 24),
  ...layerNorm('transformer.word_embeddings_layernorm', 24),
  ...blocks((i) => {
    const b = `transformer.h.${i}`;
    return {
      ...layerNorm(`${b}.input_layernorm`, 24),
      ...lin(`${b}.self_attention.query_key_value`, 72, 24),
      ...lin(`${b}.self_attention.dense`, 24, 24),
      ...layerNorm(`${b}.post_attention_layernorm`, 24),
      ...lin(`${b}.mlp.dense_h_to_4h`, 96, 24),
      ...lin(`${b}.mlp.dense_4h_to_h`, 24, 96),
    };
  }),
  ...layerNorm('transformer.ln_f', 24),
};
const BLOOM = {
  model_type: 'bloom',
  vocab_size: V,
  hidden_size: 24,
  n_layer: L,
  n_head: 6,
  layer_norm_epsilon: 1e-5,
  apply_residual_connection_post_layernorm: false,
  slow_but_exact: false,
  tie_word_embeddings: true,
};
/** Takes queries, keys or values out of rows in which the query, key and value of each head are adjacent. */
const split = (qkv, heads, width, which) =>
  Float64Array.from({ length: qkv.length / 3 }, (_, i) => {
    const [row, h, d] = [Math.floor(i / (heads * width)), Math.floor(i / width) % heads, i % width];
    return qkv[((row * heads + h) * 3 + which) * width + d];
  });
/** Runs BLOOM. `normed` is true if norms replace the residual stream. */
function bloom(p, { normed = false } = {}) {
  // The ALiBi slopes of six heads are the slopes of four heads, followed by every second slope of eight heads.
  const slopes = [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125];
  const sizes = { heads: 6, width: 4 };
  let place = -1;
  const places = p.keep.map((keep) => (keep ? ++place : 0));
  let x = p.rows('transformer.word_embeddings.weight', p.ids);
  x = p.values.embed = p.layerNorm('transformer.word_embeddings_layernorm', x);
  x = p.stack(x, (x, i, record) => {
    const b = `transformer.h.${i}`;
    const read = p.layerNorm(`${b}.input_layernorm`, x);
    const qkv = p.linear(`${b}.self_attention.query_key_value`, read);
    const [q, k, v] = [0, 1, 2].map((n) => split(qkv, 6, 4, n));
    const bias = (h, _, s) => slopes[h] * places[s];
    const { heads, weights } = attend(q, k, v, { ...sizes, see: p.sees(), bias });
    record('weights', weights);
    x = add(normed ? read : x, p.linear(`${b}.self_attention.dense`, heads));
    const second = p.layerNorm(`${b}.post_attention_layernorm`, x);
    const up = p.linear(`${b}.mlp.dense_h_to_4h`, second);
    return add(normed ? second : x, p.linear(`${b}.mlp.dense_4h_to_h`, up.map(ACTIVATIONS.tanhGelu)));
  });
  x = p.values.final = p.layerNorm('transformer.ln_f', x);
  p.values.logits = linear(x, p.get('transformer.word_embeddings.weight'));
}

const neoxShapes = {
  ...table('gpt_neox.embed_in', V),
  ...blocks((i) => {
    const b = `gpt_neox.layers.${i}`;
    return {
      ...layerNorm(`${b}.input_layernorm`),
      ...layerNorm(`${b}.post_attention_layernorm`),
      ...lin(`${b}.attention.query_key_value`, 3 * C, C),
      ...lin(`${b}.attention.dense`, C, C),
      ...lin(`${b}.mlp.dense_h_to_4h`, MLP, C),
      ...lin(`${b}.mlp.dense_4h_to_h`, C, MLP),
    };
  }),
  ...layerNorm('gpt_neox.final_layer_norm'),
};
const neoxHead = lin('embed_out', V, C, false);
const NEOX = {
  model_type: 'gpt_neox',
  vocab_size: V,
  hidden_size: C,
  num_hidden_layers: L,
  num_attention_heads: 2,
  intermediate_size: MLP,
  hidden_act: 'gelu',
  rotary_pct: 0.25,
  rotary_emb_base: 10000,
  max_position_embeddings: PLACES,
  layer_norm_eps: 1e-5,
  use_parallel_residual: true,
  attention_bias: true,
  tie_word_embeddings: false,
};
function neox(p, { parallel = true, turned = 2, theta = 10000, head = true } = {}) {
  const sizes = { heads: 2, width: 8 };
  let x = (p.values.embed = p.rows('gpt_neox.embed_in.weight', p.ids));
  x = p.stack(x, (x, i, record) => {
    const b = `gpt_neox.layers.${i}`;
    const qkv = p.linear(`${b}.attention.query_key_value`, p.layerNorm(`${b}.input_layernorm`, x));
    const [q, k, v] = [0, 1, 2].map((n) => split(qkv, 2, 8, n));
    const turn = (part) => rotate(part, { ...sizes, turns: angles(theta, turned) });
    const { heads, weights } = attend(turn(q), turn(k), v, { ...sizes, see: p.sees() });
    record('weights', weights);
    const mid = add(x, p.linear(`${b}.attention.dense`, heads));
    const read = p.layerNorm(`${b}.post_attention_layernorm`, parallel ? x : mid);
    const inside = p.linear(`${b}.mlp.dense_h_to_4h`, read).map(ACTIVATIONS.gelu);
    return add(mid, p.linear(`${b}.mlp.dense_4h_to_h`, inside));
  });
  x = p.values.final = p.layerNorm('gpt_neox.final_layer_norm', x);
  if (head) p.values.logits = p.linear('embed_out', x);
}

// ---- Llama and related decoders

const KV = 2;
const llamaShapes = (
  at,
  { width = D, bias = false, fused = false, keyNorm = false, around = 1, tied = false } = {},
) => ({
  ...table(`${at}embed_tokens`, V),
  ...blocks((i) => {
    const b = `${at}layers.${i}`;
    const attention = fused
      ? lin(`${b}.self_attn.qkv_proj`, (H + 2 * KV) * width, C, false)
      : {
          ...lin(`${b}.self_attn.q_proj`, H * width, C, bias),
          ...lin(`${b}.self_attn.k_proj`, KV * width, C, bias),
          ...lin(`${b}.self_attn.v_proj`, KV * width, C, bias),
        };
    const feed = fused
      ? lin(`${b}.mlp.gate_up_proj`, 2 * MLP, C, false)
      : { ...lin(`${b}.mlp.gate_proj`, MLP, C, false), ...lin(`${b}.mlp.up_proj`, MLP, C, false) };
    return {
      ...attention,
      ...(keyNorm && { ...scale(`${b}.self_attn.q_norm`, width), ...scale(`${b}.self_attn.k_norm`, width) }),
      ...lin(`${b}.self_attn.o_proj`, C, H * width, false),
      ...feed,
      ...lin(`${b}.mlp.down_proj`, C, MLP, false),
      ...scale(`${b}.input_layernorm`, C, around),
      ...scale(`${b}.post_attention_layernorm`, C, around),
    };
  }),
  ...scale(`${at}norm`, C, around),
  ...(!tied && lin('lm_head', V, C, false)),
});
const LLAMA = {
  model_type: 'llama',
  vocab_size: V,
  hidden_size: C,
  intermediate_size: MLP,
  num_hidden_layers: L,
  num_attention_heads: H,
  num_key_value_heads: KV,
  hidden_act: 'silu',
  max_position_embeddings: PLACES,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  rope_scaling: null,
  attention_bias: false,
  mlp_bias: false,
  tie_word_embeddings: false,
};

function llama(p, how = {}) {
  const { at = 'model.', width = D, fused, keyNorm, plus = 0, embedScale = 1, window = () => Infinity, tied } = how;
  const { activation = ACTIVATIONS.silu, turns = pairs(width), factor = 1 } = how;
  const rms = (name, x) => p.rmsNorm(name, x, 1e-6, plus);
  const eachHead = (name, x) => p.rmsNorm(name, x, 1e-6);
  let x = (p.values.embed = times(p.rows(`${at}embed_tokens.weight`, p.ids), embedScale));
  x = p.stack(x, (x, i, record) => {
    const b = `${at}layers.${i}`;
    const read = rms(`${b}.input_layernorm`, x);
    const all = (H + 2 * KV) * width;
    const qkv = fused && p.linear(`${b}.self_attn.qkv_proj`, read);
    let [q, k, v] = fused
      ? [
          columns(qkv, all, 0, H * width),
          columns(qkv, all, H * width, (H + KV) * width),
          columns(qkv, all, (H + KV) * width, all),
        ]
      : ['q', 'k', 'v'].map((name) => p.linear(`${b}.self_attn.${name}_proj`, read));
    if (keyNorm) [q, k] = [eachHead(`${b}.self_attn.q_norm`, q), eachHead(`${b}.self_attn.k_norm`, k)];
    q = rotate(q, { heads: H, width, turns, factor });
    k = rotate(k, { heads: KV, width, turns, factor });
    const see = p.sees({ left: window(i) - 1 });
    const { heads, weights } = attend(q, k, v, { heads: H, kvHeads: KV, width, see });
    record('weights', weights);
    x = add(x, p.linear(`${b}.self_attn.o_proj`, heads));
    const second = rms(`${b}.post_attention_layernorm`, x);
    const wide = fused && p.linear(`${b}.mlp.gate_up_proj`, second);
    const [gate, up] = fused
      ? [columns(wide, 2 * MLP, 0, MLP), columns(wide, 2 * MLP, MLP, 2 * MLP)]
      : [p.linear(`${b}.mlp.gate_proj`, second), p.linear(`${b}.mlp.up_proj`, second)];
    return add(x, p.linear(`${b}.mlp.down_proj`, multiply(gate.map(activation), up)));
  });
  x = p.values.final = rms(`${at}norm`, x);
  p.values.logits = tied ? linear(x, p.get(`${at}embed_tokens.weight`)) : p.linear('lm_head', x);
}

/** Returns the angles of YaRN (Peng et al. 2023), with a ramp from 32 rotations in the training context to 1. */
function yarn(width, theta, factor, context) {
  const pairOf = (turns) => (width * Math.log(context / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const low = Math.max(Math.floor(pairOf(32)), 0);
  const high = Math.min(Math.ceil(pairOf(1)), width - 1);
  return angles(theta, width).map((angle, n) => {
    const ramp = Math.min(1, Math.max(0, (n - low) / (high - low || 0.001)));
    return (angle / factor) * ramp + angle * (1 - ramp);
  });
}

const PHI = {
  ...LLAMA,
  model_type: 'phi3',
  sliding_window: 5,
  max_position_embeddings: 4 * PLACES,
  original_max_position_embeddings: PLACES,
  partial_rotary_factor: 1,
  rope_scaling: { type: 'longrope', short_factor: [1.1, 1.7], long_factor: [3, 9] },
};
const phiTurns = pairs(D).map((angle, n) => angle / [1.1, 1.7][n]);
const phiFactor = Math.sqrt(1 + Math.log(4) / Math.log(PLACES));

const phiOldShapes = {
  ...table('model.embed_tokens', V),
  ...blocks((i) => {
    const b = `model.layers.${i}`;
    return {
      ...lin(`${b}.self_attn.q_proj`, C, C),
      ...lin(`${b}.self_attn.k_proj`, KV * D, C),
      ...lin(`${b}.self_attn.v_proj`, KV * D, C),
      ...lin(`${b}.self_attn.dense`, C, C),
      ...lin(`${b}.mlp.fc1`, MLP, C),
      ...lin(`${b}.mlp.fc2`, C, MLP),
      ...layerNorm(`${b}.input_layernorm`),
    };
  }),
  ...layerNorm('model.final_layernorm'),
};
const PHI_OLD = {
  model_type: 'phi',
  vocab_size: V,
  hidden_size: C,
  intermediate_size: MLP,
  num_hidden_layers: L,
  num_attention_heads: H,
  num_key_value_heads: KV,
  hidden_act: 'gelu_new',
  max_position_embeddings: PLACES,
  layer_norm_eps: 1e-5,
  partial_rotary_factor: 0.5,
  qk_layernorm: false,
  rope_theta: 10000,
  tie_word_embeddings: false,
};
/** Runs Phi-1.5 and Phi-2, in which attention and feed-forward have the same norm. */
function phi(p, { theta = 10000, turned = 2, head = true, normed = false } = {}) {
  let x = (p.values.embed = p.rows('model.embed_tokens.weight', p.ids));
  x = p.stack(x, (x, i, record) => {
    const b = `model.layers.${i}`;
    const read = p.layerNorm(`${b}.input_layernorm`, x);
    const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.self_attn.${name}_proj`, read));
    const turn = (part, heads, name) => {
      const own = normed ? p.layerNorm(`${b}.self_attn.${name}_layernorm`, part) : part;
      return rotate(own, { heads, width: D, turns: angles(theta, turned) });
    };
    const how = { heads: H, kvHeads: KV, width: D, see: p.sees() };
    const { heads, weights } = attend(turn(q, H, 'q'), turn(k, KV, 'k'), v, how);
    record('weights', weights);
    const inside = p.linear(`${b}.mlp.fc1`, read).map(ACTIVATIONS.tanhGelu);
    return add(add(x, p.linear(`${b}.self_attn.dense`, heads)), p.linear(`${b}.mlp.fc2`, inside));
  });
  x = p.values.final = p.layerNorm('model.final_layernorm', x);
  if (head) p.values.logits = p.linear('lm_head', x);
}

// ---- pictures, captions, audio, text to text

const SIDE = 8;
const PATCH = 4;
const vitShapes = (at, extra) => ({
  [`${at}embeddings.cls_token`]: { shape: [1, 1, C] },
  [`${at}embeddings.distillation_token`]: { shape: [1, 1, C] },
  [`${at}embeddings.position_embeddings`]: { shape: [1, 6, C] },
  [`${at}embeddings.patch_embeddings.projection.weight`]: { shape: [C, 3, PATCH, PATCH], spread: 0.2 },
  [`${at}embeddings.patch_embeddings.projection.bias`]: { shape: [C] },
  ...blocks((i) => {
    const b = `${at}encoder.layer.${i}`;
    return {
      ...lin(`${b}.attention.attention.query`, C, C),
      ...lin(`${b}.attention.attention.key`, C, C),
      ...lin(`${b}.attention.attention.value`, C, C),
      ...lin(`${b}.attention.output.dense`, C, C),
      ...lin(`${b}.intermediate.dense`, MLP, C),
      ...lin(`${b}.output.dense`, C, MLP),
      ...layerNorm(`${b}.layernorm_before`),
      ...layerNorm(`${b}.layernorm_after`),
    };
  }),
  ...layerNorm(`${at}layernorm`),
  ...extra,
});
const DEIT = {
  model_type: 'deit',
  hidden_size: C,
  num_hidden_layers: L,
  num_attention_heads: H,
  intermediate_size: MLP,
  hidden_act: 'gelu',
  layer_norm_eps: 1e-12,
  image_size: SIDE,
  patch_size: PATCH,
  num_channels: 3,
  qkv_bias: true,
  id2label: { 0: 'a', 1: 'b', 2: 'c' },
};
function deit(p, at) {
  const { data, shape } = p.get(`${at}embeddings.patch_embeddings.projection.weight`);
  const flat = { data, shape: [shape[0], shape[1] * shape[2] * shape[3]] };
  const patches = [];
  for (let y = 0; y < SIDE; y += PATCH)
    for (let x = 0; x < SIDE; x += PATCH)
      for (let c = 0; c < 3; c++)
        for (let i = 0; i < PATCH; i++)
          for (let j = 0; j < PATCH; j++) patches.push(p.numbers[(c * SIDE + y + i) * SIDE + x + j]);
  const made = linear(patches, flat, p.get(`${at}embeddings.patch_embeddings.projection.bias`));
  const start = ['cls_token', 'distillation_token'].map((name) => p.get(`${at}embeddings.${name}`).data);
  let x = add(concat(...start, made), p.get(`${at}embeddings.position_embeddings`).data);
  p.values.embed = x;
  x = p.stack(x, (x, i, record) => {
    const b = `${at}encoder.layer.${i}`;
    const read = p.layerNorm(`${b}.layernorm_before`, x);
    const [q, k, v] = ['query', 'key', 'value'].map((name) => p.linear(`${b}.attention.attention.${name}`, read));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see: () => true });
    record('weights', weights);
    x = add(x, p.linear(`${b}.attention.output.dense`, heads));
    const inside = p.linear(`${b}.intermediate.dense`, p.layerNorm(`${b}.layernorm_after`, x));
    return add(x, p.linear(`${b}.output.dense`, inside.map(ACTIVATIONS.gelu)));
  });
  p.values.final = p.layerNorm(`${at}layernorm`, x);
}

const clipShapes = (extra) => ({
  ...table('text_model.embeddings.token_embedding', V),
  ...table('text_model.embeddings.position_embedding', PLACES),
  ...blocks((i) => {
    const b = `text_model.encoder.layers.${i}`;
    return {
      ...each(['k', 'v', 'q', 'out'], (name) => lin(`${b}.self_attn.${name}_proj`, C, C)),
      ...layerNorm(`${b}.layer_norm1`),
      ...lin(`${b}.mlp.fc1`, MLP, C),
      ...lin(`${b}.mlp.fc2`, C, MLP),
      ...layerNorm(`${b}.layer_norm2`),
    };
  }),
  ...layerNorm('text_model.final_layer_norm'),
  ...extra,
});
const CLIP = {
  model_type: 'clip_text_model',
  vocab_size: V,
  hidden_size: C,
  intermediate_size: MLP,
  num_hidden_layers: L,
  num_attention_heads: H,
  max_position_embeddings: PLACES,
  hidden_act: 'quick_gelu',
  layer_norm_eps: 1e-5,
  projection_dim: 5,
  bos_token_id: 0,
  eos_token_id: 9,
};
/** Runs the text tower of CLIP. `end` is the position of the token that represents the text. */
function clip(p, end) {
  let x = add(
    p.rows('text_model.embeddings.token_embedding.weight', p.ids),
    p.rows('text_model.embeddings.position_embedding.weight', counted(p.ids)),
  );
  p.values.embed = x;
  x = p.stack(x, (x, i, record) => {
    const b = `text_model.encoder.layers.${i}`;
    const read = p.layerNorm(`${b}.layer_norm1`, x);
    const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.self_attn.${name}_proj`, read));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see: p.sees() });
    record('weights', weights);
    x = add(x, p.linear(`${b}.self_attn.out_proj`, heads));
    const inside = p.linear(`${b}.mlp.fc1`, p.layerNorm(`${b}.layer_norm2`, x)).map(ACTIVATIONS.quickGelu);
    return add(x, p.linear(`${b}.mlp.fc2`, inside));
  });
  x = p.values.final = p.layerNorm('text_model.final_layer_norm', x);
  p.values.pooled = x.subarray(end * C, (end + 1) * C);
  if (p.tensors['text_projection.weight']) p.values.pooled = p.linear('text_projection', p.values.pooled);
}

const [MEL, FRAMES] = [5, 6];
const whisperAttention = (name) => ({
  ...lin(`${name}.q_proj`, C, C),
  ...lin(`${name}.k_proj`, C, C, false),
  ...lin(`${name}.v_proj`, C, C),
  ...lin(`${name}.out_proj`, C, C),
});
const whisperFeed = (b) => ({
  ...lin(`${b}.fc1`, MLP, C),
  ...lin(`${b}.fc2`, C, MLP),
  ...layerNorm(`${b}.self_attn_layer_norm`),
  ...layerNorm(`${b}.final_layer_norm`),
});
const whisperShapes = {
  'model.encoder.conv1.weight': { shape: [C, MEL, 3] },
  'model.encoder.conv1.bias': { shape: [C] },
  'model.encoder.conv2.weight': { shape: [C, C, 3] },
  'model.encoder.conv2.bias': { shape: [C] },
  ...table('model.encoder.embed_positions', FRAMES),
  ...layerNorm('model.encoder.layer_norm'),
  ...table('model.decoder.embed_tokens', V),
  ...table('model.decoder.embed_positions', PLACES),
  ...layerNorm('model.decoder.layer_norm'),
  ...blocks((i) => ({
    ...whisperAttention(`model.encoder.layers.${i}.self_attn`),
    ...whisperFeed(`model.encoder.layers.${i}`),
    ...whisperAttention(`model.decoder.layers.${i}.self_attn`),
    ...whisperAttention(`model.decoder.layers.${i}.encoder_attn`),
    ...layerNorm(`model.decoder.layers.${i}.encoder_attn_layer_norm`),
    ...whisperFeed(`model.decoder.layers.${i}`),
  })),
};
const WHISPER = {
  model_type: 'whisper',
  vocab_size: V,
  num_mel_bins: MEL,
  d_model: C,
  encoder_layers: L,
  encoder_attention_heads: H,
  encoder_ffn_dim: MLP,
  decoder_layers: L,
  decoder_attention_heads: H,
  decoder_ffn_dim: MLP,
  activation_function: 'gelu',
  max_source_positions: FRAMES,
  max_target_positions: PLACES,
  // This scale is in published files, but the modules of Hugging Face do not use it.
  scale_embedding: true,
  tie_word_embeddings: true,
};
function whisper(p, head = 'model.decoder.embed_tokens.weight') {
  const across = (at, name, x, from, see) => {
    const [q, k, v] = [
      p.linear(`${name}.q_proj`, x),
      p.linear(`${name}.k_proj`, from),
      p.linear(`${name}.v_proj`, from),
    ];
    const { heads, weights } = attend(q, k, v, { ...HEADS, see, edit: p.editAt(at) });
    return { weights, out: p.linear(`${name}.out_proj`, heads) };
  };
  const feed = (b, x) => {
    const inside = p.linear(`${b}.fc1`, p.layerNorm(`${b}.final_layer_norm`, x)).map(ACTIVATIONS.gelu);
    return add(x, p.linear(`${b}.fc2`, inside));
  };
  // Transposes (mel, 2N) to (2N, mel).
  const frames = Float64Array.from({ length: 2 * FRAMES * MEL }, (_, i) => {
    return p.numbers[(i % MEL) * 2 * FRAMES + Math.floor(i / MEL)];
  });
  const get = (name) => p.get(`model.encoder.${name}`);
  let x = convolve(frames, get('conv1.weight'), get('conv1.bias'), 1).map(ACTIVATIONS.gelu);
  x = convolve(x, get('conv2.weight'), get('conv2.bias'), 2).map(ACTIVATIONS.gelu);
  x = add(x, get('embed_positions.weight').data);
  const encode = (x, i, record) => {
    const b = `model.encoder.layers.${i}`;
    const read = p.layerNorm(`${b}.self_attn_layer_norm`, x);
    const { out, weights } = across(`encoder.blocks.${i}.`, `${b}.self_attn`, read, read, () => true);
    record('weights', weights);
    return feed(b, add(x, out));
  };
  const memory = p.layerNorm('model.encoder.layer_norm', p.stack(x, encode, { prefix: 'encoder.' }));
  p.values['encoder.final'] = memory;
  const tokens = p.rows('model.decoder.embed_tokens.weight', p.ids);
  x = p.values.embed = add(tokens, p.rows('model.decoder.embed_positions.weight', counted(p.ids)));
  x = p.stack(x, (x, i, record) => {
    const b = `model.decoder.layers.${i}`;
    const read = p.layerNorm(`${b}.self_attn_layer_norm`, x);
    const own = across(`blocks.${i}.`, `${b}.self_attn`, read, read, p.sees());
    record('weights', own.weights);
    x = add(x, own.out);
    const { out, weights } = across(
      `blocks.${i}.cross.`,
      `${b}.encoder_attn`,
      p.layerNorm(`${b}.encoder_attn_layer_norm`, x),
      memory,
      () => true,
    );
    record('cross.weights', weights);
    return feed(b, add(x, out));
  });
  x = p.values.final = p.layerNorm('model.decoder.layer_norm', x);
  p.values.logits = linear(x, p.get(head));
}

const [BUCKETS, FAR] = [8, 20];
const t5Stack = (stack, last) => ({
  [`${stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`]: { shape: [BUCKETS, H], spread: 1 },
  ...blocks((i) => {
    const b = `${stack}.block.${i}.layer`;
    const attention = (name) => ({
      ...each(['q', 'k', 'v'], (letter) => lin(`${name}.${letter}`, H * 3, C, false)),
      ...lin(`${name}.o`, C, H * 3, false),
    });
    return {
      ...attention(`${b}.0.SelfAttention`),
      ...scale(`${b}.0.layer_norm`),
      ...(last === 2 && { ...attention(`${b}.1.EncDecAttention`), ...scale(`${b}.1.layer_norm`) }),
      ...lin(`${b}.${last}.DenseReluDense.wi`, MLP, C, false),
      ...lin(`${b}.${last}.DenseReluDense.wo`, C, MLP, false),
      ...scale(`${b}.${last}.layer_norm`),
    };
  }),
  ...scale(`${stack}.final_layer_norm`),
});
const T5 = {
  model_type: 't5',
  vocab_size: V,
  d_model: C,
  d_kv: 3,
  d_ff: MLP,
  num_layers: L,
  num_decoder_layers: L,
  num_heads: H,
  relative_attention_num_buckets: BUCKETS,
  relative_attention_max_distance: FAR,
  layer_norm_epsilon: 1e-6,
  feed_forward_proj: 'relu',
  is_encoder_decoder: true,
  tie_word_embeddings: true,
};
/**
 * Returns the bucket of a distance. If `both` sides are visible, each side has half of the buckets. Half of the buckets
 * of a side contain one distance each.
 */
function bucket(distance, both) {
  const count = both ? BUCKETS / 2 : BUCKETS;
  const n = both ? Math.abs(distance) : Math.max(0, -distance);
  const exact = count / 2;
  const far = exact + Math.floor((Math.log(n / exact) / Math.log(FAR / exact)) * (count - exact));
  return (both && distance > 0 ? count : 0) + (n < exact ? n : Math.min(far, count - 1));
}
function t5Run(p, stack, ids, { prefix = '', memory, last }) {
  const sizes = { heads: H, width: 3, scale: 1 };
  const see = memory ? (t, s) => s <= t : p.sees({ causal: false });
  const { data } = p.get(`${stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`);
  const bias = (h, t, s) => data[bucket(s - t, !memory) * H + h];
  const across = (at, name, x, from, more) => {
    const [q, k, v] = [p.linear(`${name}.q`, x), p.linear(`${name}.k`, from), p.linear(`${name}.v`, from)];
    const { heads, weights } = attend(q, k, v, { ...sizes, ...more, edit: p.editAt(prefix + at) });
    return { weights, out: p.linear(`${name}.o`, heads) };
  };
  let x = (p.values[`${prefix}embed`] = p.rows('shared.weight', ids));
  x = p.stack(
    x,
    (x, i, record) => {
      const b = `${stack}.block.${i}.layer`;
      const read = p.rmsNorm(`${b}.0.layer_norm`, x, 1e-6);
      const own = across(`blocks.${i}.`, `${b}.0.SelfAttention`, read, read, { see, bias });
      record('weights', own.weights);
      x = add(x, own.out);
      if (memory) {
        const second = p.rmsNorm(`${b}.1.layer_norm`, x, 1e-6);
        const name = `${b}.1.EncDecAttention`;
        const other = across(`blocks.${i}.cross.`, name, second, memory, { see: (_, s) => p.keep[s] === 1 });
        record('cross.weights', other.weights);
        x = add(x, other.out);
      }
      const inside = p.linear(`${b}.${last}.DenseReluDense.wi`, p.rmsNorm(`${b}.${last}.layer_norm`, x, 1e-6));
      return add(x, p.linear(`${b}.${last}.DenseReluDense.wo`, inside.map(ACTIVATIONS.relu)));
    },
    { prefix },
  );
  x = p.rmsNorm(`${stack}.final_layer_norm`, x, 1e-6);
  p.values[`${prefix}final`] = x;
  return x;
}

// ---- the list of families

/** Masks with padding after or before the text. */
const PADDING = { right: [1, 1, 1, 1, 1, 0, 0], left: [0, 0, 1, 1, 1, 1, 1] };

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {object} config
 * @property {object} shapes the shapes of the tensors by name
 * @property {(p: Pass) => void} run fills p.values
 * @property {'right' | 'left'} [padding]
 * @property {boolean} [late] true: comes after all others, so that the seeds of the others stay the same
 * @property {'right'} [unmasked] set if the sequence has padding that no mask marks
 * @property {boolean} [causal] true if it is also run with a cache
 * @property {number[]} [decoded] the decoder ids of a model with an encoder
 * @property {'pixels' | 'features' | 'samples'} [input]
 * @property {{ shape: number[], keep?: number[][], frames: number[][] }} [samples] frames: 1 for real frames
 */
const roberta = (p, activation) => bert(p, 'roberta.', robertaPositions(p.ids), activation);
const ROBERTA_HEAD = { dense: 'lm_head.dense', norm: 'lm_head.layer_norm' };
const BERT_HEAD = { dense: 'cls.predictions.transform.dense', norm: 'cls.predictions.transform.LayerNorm' };
const DISTIL_HEAD = { dense: 'vocab_transform', norm: 'vocab_layer_norm', eps: 1e-12, bias: 'vocab_projector.bias' };
const llamaCase = (name, config, how, shapes) => ({
  name,
  config: { ...LLAMA, ...config },
  shapes: llamaShapes('model.', { ...how, ...shapes }),
  run: (p) => llama(p, how),
  padding: 'left',
  causal: true,
});

/**
 * Makes the case of a decoder with a classification head on the last token that is not padding, according to the mask
 * or, without a mask, to pad_token_id. `width` is that of the input of the head.
 */
const forClasses = (name, { config, shapes, run }, { width = C, padding = 'right', unmasked } = {}) => ({
  name: `${name} for classes`,
  config: { ...config, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
  shapes: { ...shapes, ...lin('score', 3, width, false) },
  padding: unmasked ? undefined : padding,
  unmasked,
  run: (p) => {
    run(p);
    const last = unmasked ? p.ids.findLastIndex((id) => id !== config.pad_token_id) : p.keep.lastIndexOf(1);
    const size = p.values.final.length / T;
    const row = p.values.final.subarray(last * size, (last + 1) * size);
    p.values.pooled = width === size ? row : p.linear('model.decoder.project_out', row);
    p.values.logits = p.linear('score', p.values.pooled);
  },
});
/** Makes the case of a decoder with a head for every token. */
const forTokens = (name, head, classes, { config, shapes, run }, bias = true) => ({
  name,
  config: { ...config, num_labels: classes },
  shapes: { ...shapes, ...lin(head, classes, shapes === bloomShapes ? 24 : C, bias) },
  padding: 'left',
  causal: true,
  run: (p) => {
    run(p);
    p.values.logits = p.linear(head, p.values.final);
  },
});
const ofGpt = { config: GPT, shapes: gptShapes, run: (p) => gpt(p, () => 1 / 2) };
const ofLlama = (config, how, shapes) => llamaCase('', config, { ...how, tied: true }, shapes);

/** @type {Case[]} */
const CASES = [
  {
    name: 'MiniLM',
    config: BERT,
    shapes: bertShapes('', { pooler: true }),
    extra: {
      'embeddings.position_ids': {
        shape: [1, PLACES],
        data: BigInt64Array.from({ length: PLACES }, (_, i) => BigInt(i)),
      },
    },
    padding: 'right',
    types: true,
    run: (p) => {
      p.values.final = bert(p, '', counted(p.ids));
      p.values.pooled = p.linear('pooler.dense', first(p.values.final)).map(Math.tanh);
    },
  },
  {
    name: 'BERT for classes',
    config: { ...BERT, hidden_act: 'relu', num_labels: 2, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: { ...bertShapes('bert.', { pooler: true }), ...lin('classifier', 3, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids), ACTIVATIONS.relu);
      p.values.pooled = p.linear('bert.pooler.dense', first(p.values.final)).map(Math.tanh);
      p.values.logits = p.linear('classifier', p.values.pooled);
    },
  },
  {
    name: 'BERT with a head that is not tied, its bias next to its weight',
    config: { ...BERT, ...untied, hidden_act: 'relu' },
    shapes: {
      ...bertShapes('bert.'),
      ...maskedShapes(BERT_HEAD.dense, BERT_HEAD.norm, lin('cls.predictions.decoder', V, C)),
    },
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids), ACTIVATIONS.relu);
      const [weight, bias] = ['weight', 'bias'].map((part) => `cls.predictions.decoder.${part}`);
      masked(p, { ...BERT_HEAD, activation: ACTIVATIONS.relu, weight, bias });
    },
  },
  {
    name: 'BERT as a decoder',
    config: { ...BERT, is_decoder: true },
    shapes: {
      ...bertShapes('bert.'),
      ...maskedShapes(BERT_HEAD.dense, BERT_HEAD.norm, { 'cls.predictions.bias': { shape: [V] } }),
    },
    padding: 'right',
    causal: true,
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids));
      masked(p, { ...BERT_HEAD, weight: 'bert.embeddings.word_embeddings.weight', bias: 'cls.predictions.bias' });
    },
  },
  {
    name: 'RoBERTa as a decoder',
    config: { ...ROBERTA, is_decoder: true },
    shapes: {
      ...bertShapes('roberta.', { types: 1, places: PLACES + 2 }),
      ...maskedShapes('lm_head.dense', 'lm_head.layer_norm', { 'lm_head.bias': { shape: [V] } }),
    },
    causal: true,
    run: (p) => {
      p.values.final = roberta(p);
      masked(p, { ...ROBERTA_HEAD, weight: 'roberta.embeddings.word_embeddings.weight', bias: 'lm_head.bias' });
    },
  },
  {
    name: 'BERT for the class of each token, with a pooler left over',
    config: { ...BERT, architectures: ['BertForTokenClassification'], id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: { ...bertShapes('bert.', { pooler: true }), ...lin('classifier', 3, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids));
      p.values.logits = p.linear('classifier', p.values.final);
    },
  },
  {
    name: 'BERT for answers',
    config: BERT,
    shapes: { ...bertShapes('bert.'), ...lin('qa_outputs', 2, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids));
      p.values.logits = p.linear('qa_outputs', p.values.final);
    },
  },
  {
    name: 'BERT for choices',
    config: { ...BERT, architectures: ['BertForMultipleChoice'] },
    shapes: { ...bertShapes('bert.', { pooler: true }), ...lin('classifier', 1, C) },
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids));
      p.values.logits = p.linear('classifier', p.linear('bert.pooler.dense', first(p.values.final)).map(Math.tanh));
    },
  },
  {
    name: 'BERT for the next sentence',
    config: BERT,
    shapes: { ...bertShapes('bert.', { pooler: true }), ...lin('cls.seq_relationship', 2, C) },
    padding: 'right',
    types: true,
    run: (p) => {
      p.values.final = bert(p, 'bert.', counted(p.ids));
      p.values.pooled = p.linear('bert.pooler.dense', first(p.values.final)).map(Math.tanh);
      p.values.relationship = p.linear('cls.seq_relationship', p.values.pooled);
    },
  },
  {
    name: 'RoBERTa',
    config: ROBERTA,
    shapes: {
      ...bertShapes('roberta.', { types: 1, places: PLACES + 2 }),
      ...maskedShapes('lm_head.dense', 'lm_head.layer_norm', { 'lm_head.bias': { shape: [V] } }),
    },
    padding: 'right',
    pad: 1,
    run: (p) => {
      p.values.final = roberta(p);
      masked(p, { ...ROBERTA_HEAD, weight: 'roberta.embeddings.word_embeddings.weight', bias: 'lm_head.bias' });
    },
  },
  {
    name: 'RoBERTa with a head that is not tied, and its own activation',
    config: { ...ROBERTA, ...untied, hidden_act: 'relu' },
    shapes: {
      ...bertShapes('roberta.', { types: 1, places: PLACES + 2 }),
      ...maskedShapes('lm_head.dense', 'lm_head.layer_norm', lin('lm_head.decoder', V, C)),
    },
    padding: 'right',
    pad: 1,
    run: (p) => {
      p.values.final = roberta(p, ACTIVATIONS.relu);
      masked(p, { ...ROBERTA_HEAD, weight: 'lm_head.decoder.weight', bias: 'lm_head.decoder.bias' });
    },
  },
  {
    name: 'RoBERTa for classes',
    config: { ...ROBERTA, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: {
      // Older files contain a pooler that is not used.
      ...bertShapes('roberta.', { pooler: true, types: 1, places: PLACES + 2 }),
      ...lin('classifier.dense', C, C),
      ...lin('classifier.out_proj', 3, C),
    },
    // Positions do not count padding tokens, even if no mask marks them.
    unmasked: 'right',
    pad: 1,
    run: (p) => {
      p.values.final = roberta(p);
      p.values.logits = p.linear(
        'classifier.out_proj',
        p.linear('classifier.dense', first(p.values.final)).map(Math.tanh),
      );
    },
  },
  {
    name: 'RoBERTa for the class of each token',
    config: { ...ROBERTA, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: { ...bertShapes('roberta.', { types: 1, places: PLACES + 2 }), ...lin('classifier', 3, C) },
    padding: 'right',
    pad: 1,
    run: (p) => {
      p.values.final = roberta(p);
      p.values.logits = p.linear('classifier', p.values.final);
    },
  },
  {
    name: 'RoBERTa for answers, with a pooler left over',
    config: { ...ROBERTA, architectures: ['RobertaForQuestionAnswering'] },
    shapes: { ...bertShapes('roberta.', { pooler: true, types: 1, places: PLACES + 2 }), ...lin('qa_outputs', 2, C) },
    run: (p) => {
      p.values.final = roberta(p);
      p.values.logits = p.linear('qa_outputs', p.values.final);
    },
  },
  {
    name: 'RoBERTa for choices',
    config: { ...ROBERTA, architectures: ['RobertaForMultipleChoice'] },
    shapes: { ...bertShapes('roberta.', { pooler: true, types: 1, places: PLACES + 2 }), ...lin('classifier', 1, C) },
    run: (p) => {
      p.values.final = roberta(p);
      p.values.logits = p.linear('classifier', p.linear('roberta.pooler.dense', first(p.values.final)).map(Math.tanh));
    },
  },
  {
    name: 'DistilBERT',
    config: DISTIL,
    shapes: {
      ...distilShapes,
      ...maskedShapes('vocab_transform', 'vocab_layer_norm', { 'vocab_projector.bias': { shape: [V] } }),
    },
    padding: 'right',
    run: (p) => {
      p.values.final = distil(p);
      masked(p, { ...DISTIL_HEAD, weight: 'distilbert.embeddings.word_embeddings.weight' });
    },
  },
  {
    name: 'DistilBERT with a head that is not tied',
    config: { ...DISTIL, ...untied },
    shapes: {
      ...distilShapes,
      ...maskedShapes('vocab_transform', 'vocab_layer_norm', lin('vocab_projector', V, C)),
    },
    run: (p) => {
      p.values.final = distil(p);
      masked(p, { ...DISTIL_HEAD, weight: 'vocab_projector.weight' });
    },
  },
  {
    name: 'DistilBERT for classes',
    config: DISTIL,
    shapes: { ...distilShapes, ...lin('pre_classifier', C, C), ...lin('classifier', 2, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = distil(p);
      p.values.pooled = p.linear('pre_classifier', first(p.values.final)).map(ACTIVATIONS.relu);
      p.values.logits = p.linear('classifier', p.values.pooled);
    },
  },
  {
    name: 'DistilBERT for the class of each token',
    config: { ...DISTIL, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: { ...distilShapes, ...lin('classifier', 3, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = distil(p);
      p.values.logits = p.linear('classifier', p.values.final);
    },
  },
  {
    name: 'DistilBERT for answers',
    config: DISTIL,
    shapes: { ...distilShapes, ...lin('qa_outputs', 2, C) },
    padding: 'right',
    run: (p) => {
      p.values.final = distil(p);
      p.values.logits = p.linear('qa_outputs', p.values.final);
    },
  },
  {
    name: 'ModernBERT',
    config: MODERN,
    shapes: modernShapes(false),
    padding: 'right',
    run: (p) => modern(p),
  },
  {
    name: 'ModernBERT with biases, types of layers and rope_parameters',
    config: {
      ...MODERN,
      attention_bias: true,
      mlp_bias: true,
      norm_bias: true,
      classifier_bias: true,
      global_rope_theta: undefined,
      local_rope_theta: undefined,
      global_attn_every_n_layers: undefined,
      layer_types: ['full_attention', 'full_attention', 'sliding_attention', 'full_attention'],
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 500 },
        sliding_attention: { rope_type: 'default', rope_theta: 70 },
      },
    },
    shapes: modernShapes(true, undefined, layerNorm),
    run: (p) => modern(p, { local: (i) => i === 2, theta: 500, localTheta: 70 }),
  },
  {
    name: 'ModernBERT with one theta',
    config: { ...MODERN, local_rope_theta: null },
    shapes: modernShapes(false),
    run: (p) => modern(p, { localTheta: 160000 }),
  },
  {
    name: 'ModernBERT with a head that has no tensor of its own',
    config: { ...MODERN, decoder_bias: false },
    shapes: modernShapes(false, {}),
    run: (p) => modern(p),
  },
  {
    name: 'ModernBERT with a head that is not tied, and its own activation',
    config: { ...MODERN, ...untied, decoder_bias: false, classifier_activation: 'silu' },
    shapes: modernShapes(false, lin('decoder', V, C, false)),
    run: (p) => modern(p, { weight: 'decoder.weight', activation: ACTIVATIONS.silu }),
  },
  {
    name: 'ModernBERT for classes',
    config: { ...MODERN, id2label: { 0: 'a', 1: 'b', 2: 'c' }, classifier_activation: 'relu' },
    shapes: modernShapes(false, lin('classifier', 3, C)),
    padding: 'right',
    run: (p) => {
      p.values.pooled = first(modernBase(p));
      p.values.logits = p.linear('classifier', modernHead(p, p.values.pooled, ACTIVATIONS.relu));
    },
  },
  {
    name: 'ModernBERT for classes, of the mean',
    config: { ...MODERN, classifier_pooling: 'mean', architectures: ['ModernBertForSequenceClassification'] },
    shapes: modernShapes(false, lin('classifier', 2, C)),
    padding: 'right',
    run: (p) => {
      p.values.pooled = meanOf(modernBase(p), p.keep);
      p.values.logits = p.linear('classifier', modernHead(p, p.values.pooled));
    },
  },
  {
    name: 'ModernBERT for classes, of the mean of all',
    config: { ...MODERN, classifier_pooling: 'mean' },
    shapes: modernShapes(false, lin('classifier', 2, C)),
    run: (p) => {
      p.values.pooled = meanOf(modernBase(p), p.keep);
      p.values.logits = p.linear('classifier', modernHead(p, p.values.pooled));
    },
  },
  {
    name: 'ModernBERT for the class of each token',
    config: { ...MODERN, architectures: ['ModernBertForTokenClassification'], id2label: { 0: 'a', 1: 'b', 2: 'c' } },
    shapes: modernShapes(false, lin('classifier', 3, C)),
    padding: 'right',
    run: (p) => {
      p.values.logits = p.linear('classifier', modernHead(p, modernBase(p)));
    },
  },
  {
    name: 'ModernBERT for answers',
    config: { ...MODERN, architectures: ['ModernBertForQuestionAnswering'], classifier_pooling: 'mean' },
    shapes: modernShapes(false, lin('classifier', 2, C)),
    padding: 'right',
    run: (p) => {
      p.values.logits = p.linear('classifier', modernHead(p, modernBase(p)));
    },
  },
  {
    name: 'GPT-2 with scores divided by the number of the layer',
    config: { ...GPT, scale_attn_by_inverse_layer_idx: true, reorder_and_upcast_attn: true },
    shapes: gptShapes,
    padding: 'left',
    causal: true,
    run: (p) => gpt(p, (i) => 1 / 2 / (i + 1)),
  },
  {
    name: 'GPT-2 with scores divided by the number of the layer alone',
    config: { ...GPT, scale_attn_by_inverse_layer_idx: true, scale_attn_weights: false },
    shapes: gptShapes,
    causal: true,
    run: (p) => gpt(p, (i) => 1 / (i + 1)),
  },
  {
    name: 'OPT',
    config: OPT,
    shapes: optShapes('model.decoder.'),
    padding: 'left',
    causal: true,
    run: (p) => opt(p, 'model.decoder.'),
  },
  {
    name: 'OPT with a narrow embedding and norms after',
    config: { ...OPT, do_layer_norm_before: false, word_embed_proj_dim: 6 },
    shapes: optShapes('decoder.', { wide: 6, after: true }),
    padding: 'left',
    causal: true,
    run: (p) => opt(p, 'decoder.', { wide: 6, after: true }),
  },
  {
    name: 'OPT with a narrow embedding and a head that is not tied',
    config: { ...OPT, ...untied, word_embed_proj_dim: 6 },
    shapes: { ...optShapes('model.decoder.', { wide: 6 }), ...lin('lm_head', V, 6, false) },
    padding: 'left',
    causal: true,
    run: (p) => opt(p, 'model.decoder.', { wide: 6, head: 'lm_head.weight' }),
  },
  {
    name: 'OPT without biases and without weights of norms',
    config: { ...OPT, enable_bias: false, layer_norm_elementwise_affine: false },
    shapes: optShapes('model.decoder.', { bias: false, normed: () => ({}) }),
    padding: 'left',
    causal: true,
    run: (p) => opt(p, 'model.decoder.'),
  },
  { name: 'BLOOM', config: BLOOM, shapes: bloomShapes, padding: 'left', causal: true, run: (p) => bloom(p) },
  {
    name: 'BLOOM with its old names',
    config: {
      ...BLOOM,
      hidden_size: 64,
      n_embed: 24,
      n_layer: undefined,
      num_hidden_layers: L,
      n_head: undefined,
      num_attention_heads: 6,
    },
    shapes: bloomShapes,
    padding: 'left',
    causal: true,
    run: (p) => bloom(p),
  },
  {
    name: 'BLOOM whose norms replace the stream',
    config: { ...BLOOM, apply_residual_connection_post_layernorm: true },
    shapes: bloomShapes,
    padding: 'left',
    causal: true,
    run: (p) => bloom(p, { normed: true }),
  },
  {
    name: 'GPT-NeoX',
    config: NEOX,
    shapes: { ...neoxShapes, ...neoxHead },
    padding: 'left',
    causal: true,
    run: (p) => neox(p),
  },
  {
    name: 'GPT-NeoX without parallel parts',
    config: {
      ...NEOX,
      use_parallel_residual: false,
      rotary_pct: undefined,
      rotary_emb_base: undefined,
      rope_parameters: { rope_type: 'default', rope_theta: 300, partial_rotary_factor: 0.5 },
    },
    shapes: { ...neoxShapes, ...neoxHead },
    causal: true,
    run: (p) => neox(p, { parallel: false, turned: 4, theta: 300 }),
  },
  {
    name: 'GPT-NeoX, its own field names take precedence',
    config: { ...NEOX, rotary_pct: 0.5, partial_rotary_factor: 0.25, rotary_emb_base: 300, rope_theta: 10000 },
    shapes: { ...neoxShapes, ...neoxHead },
    causal: true,
    run: (p) => neox(p, { turned: 4, theta: 300 }),
  },
  forClasses('GPT-2', ofGpt),
  forClasses('OPT', { config: OPT, shapes: optShapes('model.decoder.'), run: (p) => opt(p, 'model.decoder.') }),
  forClasses(
    'OPT with a narrow embedding',
    {
      config: { ...OPT, word_embed_proj_dim: 6 },
      shapes: optShapes('model.decoder.', { wide: 6 }),
      run: (p) => opt(p, 'model.decoder.', { wide: 6 }),
    },
    { width: 6 },
  ),
  forClasses('BLOOM', { config: BLOOM, shapes: bloomShapes, run: (p) => bloom(p) }, { width: 24, padding: 'left' }),
  forClasses('GPT-NeoX', { config: NEOX, shapes: neoxShapes, run: (p) => neox(p, { head: false }) }),
  {
    name: 'Phi',
    config: PHI_OLD,
    shapes: { ...phiOldShapes, ...lin('lm_head', V, C) },
    padding: 'left',
    causal: true,
    run: (p) => phi(p),
  },
  {
    name: 'Phi with norms of queries and keys',
    config: { ...PHI_OLD, qk_layernorm: true },
    shapes: {
      ...phiOldShapes,
      ...lin('lm_head', V, C),
      ...blocks((i) => each(['q', 'k'], (name) => layerNorm(`model.layers.${i}.self_attn.${name}_layernorm`, D))),
    },
    padding: 'left',
    causal: true,
    late: true,
    run: (p) => phi(p, { normed: true }),
  },
  {
    name: 'Phi with rope_parameters',
    config: {
      ...PHI_OLD,
      partial_rotary_factor: undefined,
      rope_theta: undefined,
      rope_parameters: { rope_type: 'default', rope_theta: 300, partial_rotary_factor: 1 },
    },
    shapes: { ...phiOldShapes, ...lin('lm_head', V, C) },
    causal: true,
    run: (p) => phi(p, { theta: 300, turned: D }),
  },
  forClasses('Phi', { config: PHI_OLD, shapes: phiOldShapes, run: (p) => phi(p, { head: false }) }),
  forClasses('Llama', ofLlama({}, {})),
  forClasses('Llama with unmasked padding', ofLlama({ pad_token_id: 0 }, {}), { unmasked: 'right' }),
  forClasses('Mistral', ofLlama({ model_type: 'mistral', sliding_window: 3 }, { window: () => 3 }), {
    padding: undefined,
  }),
  forClasses('Qwen2', ofLlama({ model_type: 'qwen2' }, {}, { bias: true })),
  forClasses(
    'Gemma',
    ofLlama(
      { model_type: 'gemma', head_dim: 6, hidden_act: 'gelu', tie_word_embeddings: undefined },
      { width: 6, plus: 1, embedScale: 4, activation: ACTIVATIONS.tanhGelu },
      { around: 0 },
    ),
  ),
  forClasses('Phi-3', ofLlama(PHI, { fused: true, window: () => 5, turns: phiTurns, factor: phiFactor })),
  forTokens('GPT-2 for the class of each token', 'classifier', 4, ofGpt),
  forTokens('BLOOM for the class of each token', 'classifier', 4, {
    config: BLOOM,
    shapes: bloomShapes,
    run: (p) => bloom(p),
  }),
  forTokens('Llama for the class of each token', 'score', 4, ofLlama({}, {})),
  forTokens(
    'Qwen3 for the class of each token, without a bias',
    'score',
    4,
    ofLlama(
      { model_type: 'qwen3', head_dim: 6, architectures: ['Qwen3ForTokenClassification'] },
      { width: 6, keyNorm: true },
    ),
    false,
  ),
  forTokens('Qwen2 for answers', 'qa_outputs', 2, {
    ...ofLlama({ model_type: 'qwen2' }, { at: 'transformer.' }, { bias: true }),
    shapes: llamaShapes('transformer.', { bias: true, tied: true }),
  }),
  llamaCase('Mistral', { model_type: 'mistral', sliding_window: 3, head_dim: 6 }, { width: 6, window: () => 3 }),
  llamaCase('SmolLM', { tie_word_embeddings: true, rope_theta: 100 }, { tied: true, turns: angles(100, D) }),
  llamaCase(
    'Llama, linear',
    { rope_scaling: { type: 'linear', factor: 4 } },
    { turns: pairs(D).map((angle) => angle / 4) },
  ),
  llamaCase(
    'Llama, linear with rope_theta in rope_scaling',
    { rope_theta: 10000, rope_scaling: { rope_type: 'linear', factor: 4, rope_theta: 50 } },
    { turns: angles(50, D).map((angle) => angle / 4) },
  ),
  llamaCase(
    'Llama, linear as rope_parameters with an old type',
    { rope_theta: undefined, rope_parameters: { type: 'linear', factor: 4, rope_theta: 50 } },
    { turns: angles(50, D).map((angle) => angle / 4) },
  ),
  llamaCase(
    'Llama, dynamic',
    { rope_parameters: { rope_type: 'dynamic', factor: 4, rope_theta: 10000 }, rope_theta: undefined },
    {},
  ),
  llamaCase(
    'Llama, yarn',
    {
      rope_theta: 50,
      head_dim: 8,
      max_position_embeddings: 4 * PLACES,
      rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: PLACES },
    },
    { width: 8, turns: yarn(8, 50, 4, PLACES), factor: 0.1 * Math.log(4) + 1 },
  ),
  llamaCase(
    'Llama, yarn as rope_parameters',
    {
      rope_theta: undefined,
      head_dim: 8,
      max_position_embeddings: 2 * 300,
      rope_parameters: {
        rope_type: 'yarn',
        rope_theta: 50,
        factor: 2,
        attention_factor: 1.3,
        original_max_position_embeddings: 300,
      },
    },
    { width: 8, turns: yarn(8, 50, 2, 300), factor: 1.3 },
  ),
  llamaCase(
    'Mistral, yarn with two scales',
    {
      model_type: 'mistral',
      sliding_window: null,
      rope_theta: 50,
      head_dim: 8,
      max_position_embeddings: 4 * PLACES,
      rope_scaling: {
        rope_type: 'yarn',
        factor: 4,
        original_max_position_embeddings: PLACES,
        mscale: 0.7,
        mscale_all_dim: 0.4,
      },
    },
    { width: 8, turns: yarn(8, 50, 4, PLACES), factor: (0.07 * Math.log(4) + 1) / (0.04 * Math.log(4) + 1) },
  ),
  llamaCase(
    'Qwen3, yarn with one of two scales',
    {
      model_type: 'qwen3',
      rope_theta: 50,
      head_dim: 8,
      max_position_embeddings: 4 * PLACES,
      rope_scaling: {
        type: 'yarn',
        factor: 4,
        original_max_position_embeddings: PLACES,
        mscale: 0.7,
        mscale_all_dim: 0,
      },
    },
    { width: 8, keyNorm: true, turns: yarn(8, 50, 4, PLACES), factor: 0.1 * Math.log(4) + 1 },
  ),
  llamaCase(
    'Qwen2, types of layers',
    {
      model_type: 'qwen2',
      use_sliding_window: true,
      sliding_window: 2,
      max_window_layers: 1,
      layer_types: ['full_attention', 'sliding_attention'],
    },
    { window: (i) => (i === 1 ? 2 : Infinity) },
    { bias: true },
  ),
  llamaCase(
    'Qwen3',
    { model_type: 'qwen3', head_dim: 6, use_sliding_window: false, sliding_window: null, max_window_layers: 2 },
    { width: 6, keyNorm: true },
  ),
  llamaCase(
    'Gemma',
    { model_type: 'gemma', head_dim: 6, hidden_act: 'gelu', hidden_activation: null, tie_word_embeddings: undefined },
    { width: 6, plus: 1, embedScale: 4, activation: ACTIVATIONS.tanhGelu, tied: true },
    { around: 0 },
  ),
  {
    ...llamaCase(
      'Phi-3 beyond the context of its training',
      { ...PHI, original_max_position_embeddings: 5, max_position_embeddings: 20 },
      {
        fused: true,
        window: () => 5,
        turns: pairs(D).map((angle, n) => angle / [3, 9][n]),
        factor: Math.sqrt(1 + Math.log(4) / Math.log(5)),
      },
    ),
    // This case is not run with a cache, because a cache would begin with fewer tokens, for which other factors apply.
    causal: false,
  },
  llamaCase('Phi-3', PHI, { fused: true, window: () => 5, turns: phiTurns, factor: phiFactor }),
  llamaCase(
    'Phi-3 with rope_parameters, part of a head rotated',
    {
      ...PHI,
      head_dim: 8,
      partial_rotary_factor: undefined,
      sliding_window: null,
      original_max_position_embeddings: undefined,
      rope_scaling: undefined,
      rope_theta: undefined,
      rope_parameters: {
        rope_type: 'longrope',
        rope_theta: 10000,
        partial_rotary_factor: 0.5,
        short_factor: [1.1, 1.7],
        long_factor: [3, 9],
        original_max_position_embeddings: PLACES,
      },
    },
    { fused: true, width: 8, turns: phiTurns, factor: phiFactor },
  ),
  {
    name: 'DeiT for classes',
    config: DEIT,
    shapes: vitShapes('deit.', lin('classifier', 3, C)),
    input: 'pixels',
    run: (p) => {
      deit(p, 'deit.');
      p.values.logits = p.linear('classifier', first(p.values.final));
    },
  },
  {
    name: 'DeiT with its teacher',
    config: DEIT,
    shapes: vitShapes('deit.', { ...lin('cls_classifier', 3, C), ...lin('distillation_classifier', 3, C) }),
    input: 'pixels',
    run: (p) => {
      deit(p, 'deit.');
      const [own, taught] = [first(p.values.final), p.values.final.subarray(C, 2 * C)];
      const sum = add(p.linear('cls_classifier', own), p.linear('distillation_classifier', taught));
      p.values.logits = times(sum, 1 / 2);
    },
  },
  {
    name: 'DeiT',
    config: DEIT,
    shapes: vitShapes('', lin('pooler.dense', C, C)),
    input: 'pixels',
    run: (p) => {
      deit(p, '');
      p.values.pooled = p.linear('pooler.dense', first(p.values.final)).map(Math.tanh);
    },
  },
  {
    name: 'CLIP text',
    config: CLIP,
    shapes: clipShapes({}),
    end: 9,
    padding: 'right',
    run: (p) => clip(p, p.ids.indexOf(9)),
  },
  {
    name: 'CLIP text with a projection, the end token by its id',
    config: { ...CLIP, eos_token_id: 2 },
    shapes: clipShapes(lin('text_projection', 5, C, false)),
    end: V - 1,
    run: (p) => clip(p, p.ids.indexOf(V - 1)),
  },
  {
    name: 'CLIP, both towers in the file',
    config: { model_type: 'clip', projection_dim: 5, text_config: { ...CLIP, projection_dim: 512 } },
    shapes: clipShapes({
      ...lin('text_projection', 5, C, false),
      ...lin('visual_projection', 5, C, false),
      logit_scale: { shape: [] },
      'vision_model.embeddings.class_embedding': { shape: [C] },
    }),
    end: 9,
    run: (p) => clip(p, p.ids.indexOf(9)),
  },
  {
    name: 'CLIP, its older fields take precedence',
    config: {
      model_type: 'clip',
      text_config: { ...CLIP, hidden_act: 'relu', num_attention_heads: 2 },
      text_config_dict: { ...CLIP, hidden_act: undefined },
    },
    shapes: clipShapes({}),
    end: 9,
    run: (p) => clip(p, p.ids.indexOf(9)),
  },
  { name: 'Whisper', config: WHISPER, shapes: whisperShapes, input: 'features', causal: true, run: (p) => whisper(p) },
  {
    name: 'Whisper with a head that is not tied',
    config: { ...WHISPER, ...untied },
    shapes: { ...whisperShapes, ...lin('proj_out', V, C, false) },
    input: 'features',
    causal: true,
    run: (p) => whisper(p, 'proj_out.weight'),
  },
  {
    name: 'T5, relu and a tied head',
    config: T5,
    shapes: { ...table('shared', V), ...t5Stack('encoder', 1), ...t5Stack('decoder', 2) },
    padding: 'right',
    across: true,
    causal: true,
    run: (p) => {
      const memory = t5Run(p, 'encoder', p.ids, { prefix: 'encoder.', last: 1 });
      const x = t5Run(p, 'decoder', p.config.decoded, { memory, last: 2 });
      p.values.logits = linear(times(x, C ** -0.5), p.get('shared.weight'));
    },
  },
  {
    // Every T5 has tie_word_embeddings: true. scale_decoder_outputs determines whether the head is tied.
    name: 'T5 with a head of its own, as later versions save it',
    config: { ...T5, tie_word_embeddings: true, scale_decoder_outputs: false },
    shapes: {
      ...table('shared', V),
      ...t5Stack('encoder', 1),
      ...t5Stack('decoder', 2),
      ...lin('lm_head', V, C, false),
    },
    across: true,
    causal: true,
    run: (p) => {
      const memory = t5Run(p, 'encoder', p.ids, { prefix: 'encoder.', last: 1 });
      p.values.logits = p.linear('lm_head', t5Run(p, 'decoder', p.config.decoded, { memory, last: 2 }));
    },
  },
  {
    name: 'T5 with a tied head that is not scaled',
    config: { ...T5, tie_word_embeddings: true, scale_decoder_outputs: false },
    shapes: { ...table('shared', V), ...t5Stack('encoder', 1), ...t5Stack('decoder', 2) },
    across: true,
    run: (p) => {
      const memory = t5Run(p, 'encoder', p.ids, { prefix: 'encoder.', last: 1 });
      const x = t5Run(p, 'decoder', p.config.decoded, { memory, last: 2 });
      p.values.logits = linear(x, p.get('shared.weight'));
    },
  },
  {
    name: 'T5 for answers',
    config: T5,
    shapes: { ...table('shared', V), ...t5Stack('encoder', 1), ...t5Stack('decoder', 2), ...lin('qa_outputs', 2, C) },
    padding: 'right',
    across: true,
    causal: true,
    run: (p) => {
      const memory = t5Run(p, 'encoder', p.ids, { prefix: 'encoder.', last: 1 });
      p.values.logits = p.linear('qa_outputs', t5Run(p, 'decoder', p.config.decoded, { memory, last: 2 }));
    },
  },
  {
    name: "T5's encoder alone",
    config: { ...T5, is_encoder_decoder: false },
    shapes: { ...table('shared', V), ...t5Stack('encoder', 1) },
    padding: 'right',
    run: (p) => t5Run(p, 'encoder', p.ids, { last: 1 }),
  },
  ...encoderCases({
    ...{ SIZES: { C, H, D, L, MLP, V, PLACES, SIDE, PATCH }, HEADS, BERT },
    ...{ lin, scale, layerNorm, table, blocks, maskedShapes, masked, first, meanOf, robertaPositions, untied },
    ...{ bertNames, postNormShapes, postNorm, bertEmbeddings, embedBert },
  }),
];

const BARTS = bartCases({ SIZES: { C, L, H, MLP, V, PLACES }, HEADS, lin, layerNorm, table, blocks });
const M2MS = m2mCases({ SIZES: { C, L, H, MLP, V, PLACES }, HEADS, lin, layerNorm, table, blocks });
const SOUNDS = soundCases({ SIZES: { C, L, H, MLP }, HEADS, lin, layerNorm, blocks });
const DECODERS = decoderCases({
  sizes: { C, H, D, KV, MLP, V, L, T, PLACES },
  ...{ lin, scale, layerNorm, table, blocks, forClasses },
});
const TOWERS = towerCases({
  SIZES: { C, H, L, MLP, V, PLACES, SIDE, PATCH },
  ...{ HEADS, lin, layerNorm, table, blocks, meanOf },
});
const DECODED = [3, 8, 1, 4, 11];

/** Returns the ids of two sequences. Padding has the id `pad`; each sequence has the end token, if there is one. */
function makeIds({ padding, unmasked, pad = 0, end }, seed) {
  const next = uniformSource(seed);
  return Array.from({ length: BATCH }, (_, b) => {
    const kept = b === 1 ? PADDING[padding ?? unmasked] : undefined;
    const keep = (padding && kept) || new Array(T).fill(1);
    const ids = keep.map((_, i) => ((kept?.[i] ?? 1) ? 3 + Math.floor((V - 5) * next()) : pad));
    if (end !== undefined) ids.forEach((id, i) => (ids[i] = i === 4 - b ? end : id === end ? 3 : id));
    return { ids, keep };
  });
}

const NUMBERS = { pixels: [3, SIDE, SIDE], features: [MEL, 2 * FRAMES] };
const flat = (rows) => Int32Array.from(rows.flat());

const ALL = [...CASES, ...DECODERS, ...BARTS, ...M2MS, ...SOUNDS, ...TOWERS];
const ORDERED = [...ALL.filter(({ late }) => !late), ...ALL.filter(({ late }) => late)];

/**
 * A family: its files, the input of forward, and the expected values.
 * @returns {{ name, files, input, expected: { [name]: Float64Array }, keep: number[][], causal, rows: number }}
 */
/** Returns a function that calls `make` the first time, and returns the same value later. */
function once(make) {
  let made;
  return () => (made ??= make());
}

/** All families. Each has several forms. */
export const families = ORDERED.map((c, number) => {
  const seed = 1000 + number * 10;
  // Most tests need the files of a few families only.
  const tensors = once(() => fill(c.shapes, seed));
  const files = once(() => ({
    'config.json': new TextEncoder().encode(JSON.stringify(c.config)),
    'model.safetensors': bytesOf({ ...c.extra, ...tensors() }),
  }));
  const text = makeIds(c, seed + 1);
  const kept = c.samples?.frames ?? text.map(({ keep }) => keep);
  const next = uniformSource(seed + 2);
  const shape = c.samples?.shape ?? NUMBERS[c.input];
  const size = shape?.reduce((a, b) => a * b, 1);
  const numbers = text.map(() => Float32Array.from({ length: size ?? 0 }, () => 2 * next() - 1));
  const types = c.types ? text.map(({ ids }) => ids.map((_, i) => Number(i > 3))) : undefined;
  const expectedWith = (change) => {
    const passes = text.map(({ ids }, b) => {
      const config = { ...c.config, decoded: (c.decoded ?? DECODED).map((id) => id + b) };
      const p = new Pass(tensors(), config, { ids, keep: kept[b], typeIds: types?.[b], numbers: numbers[b] }, change);
      c.run(p);
      return p;
    });
    return Object.fromEntries(
      Object.keys(passes[0].values).map((name) => [name, concat(...passes.map(({ values }) => values[name]))]),
    );
  };
  const labels = { data: flat(text.map(({ ids }) => ids)), shape: [BATCH, T] };
  const keep = c.padding && { data: flat(text.map(({ keep }) => keep)), shape: [BATCH, T] };
  const arrays = shape && { data: concat(...numbers), shape: [BATCH, ...shape] };
  const plain = {
    ids: labels,
    ...(keep && { keep }),
    ...(types && { typeIds: { data: flat(types), shape: [BATCH, T] } }),
  };
  const spoken = c.decoded ?? DECODED;
  const decoded = { data: flat([spoken, spoken.map((id) => id + 1)]), shape: [BATCH, spoken.length] };
  return {
    name: c.name,
    type: c.config.model_type,
    causal: c.causal,
    get files() {
      return files();
    },
    input:
      c.input === 'pixels'
        ? { pixels: arrays }
        : c.samples
          ? { samples: arrays, ...(c.samples.keep && { keep: { data: flat(c.samples.keep), shape: arrays.shape } }) }
          : c.input === 'features'
            ? { encoder: { features: arrays }, ids: labels }
            : c.across
              ? { encoder: plain, ids: decoded }
              : plain,
    get expected() {
      return expectedWith();
    },
    /** Computes the expected values of a model with an encoder when a function changes values of each sequence. */
    expectedWith,
    keep: c.padding || c.samples?.keep ? kept : undefined,
    across: c.across,
  };
});

/** The first form of each type of model, in the default tier, for tests that do not depend on the architecture. */
export const someFamilies = inTier(
  families,
  families.filter((family, i) => families.findIndex(({ type }) => type === family.type) === i),
);
