// Writes GGUF files, and converts checkpoints of Hugging Face to them as convert_hf_to_gguf.py of llama.cpp does, with
// the same names of tensors and of metadata entries, and the same orders of rows.

import { join } from './files.js';

const KINDS = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'array', 'u64', 'i64', 'f64'];
const SIZES = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, f32: 4, bool: 1, u64: 8, i64: 8, f64: 8 };

/** Types of tensors: [id of the type in a file, number of values in a block, bytes of a block]. */
export const TYPES = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  Q4_0: [2, 32, 18],
  Q8_0: [8, 32, 34],
  Q8_1: [9, 32, 36],
  Q4_K: [12, 256, 144],
  IQ2_XXS: [16, 256, 66],
  I32: [26, 1, 4],
  BF16: [30, 1, 2],
};

const utf8 = new TextEncoder();

export function number(kind, value) {
  const bytes = new Uint8Array(SIZES[kind]);
  const view = new DataView(bytes.buffer);
  const long = kind === 'u64' || kind === 'i64';
  const method = { u: 'Uint', i: 'Int', f: 'Float', b: 'Uint' }[kind[0]];
  const name = `set${long ? 'Big' : ''}${method}${8 * SIZES[kind]}`;
  view[name](0, long ? BigInt(value) : Number(value), true);
  return bytes;
}

export const string = (text) => {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text;
  return join(number('u64', bytes.length), bytes);
};

function kindOf(value) {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? (value < 0 ? 'i32' : 'u32') : 'f32';
  return { string: 'string', boolean: 'bool', bigint: 'u64' }[typeof value];
}

/**
 * Returns the bytes of a metadata value with its kind. The kind is given by { kind, value }, or follows from the value;
 * that of an array follows from its first element.
 */
function valueBytes(given) {
  const { kind, value } = given?.kind ? given : { kind: kindOf(given), value: given };
  return join(number('u32', KINDS.indexOf(kind)), contentBytes(kind, value));
}

function contentBytes(kind, value) {
  if (kind === 'string') return string(value);
  if (kind !== 'array') return number(kind, value);
  const inner = value[0]?.kind ?? kindOf(value[0] ?? 0);
  const parts = value.map((item) => contentBytes(inner, item?.kind ? item.value : item));
  return join(number('u32', KINDS.indexOf(inner)), number('u64', value.length), ...parts);
}

const product = (shape) => shape.reduce((a, b) => a * b, 1);

/** Returns the bits of the nearest float16. */
function halfBits(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const size = Math.abs(x);
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14);
  const scaled = size / 2 ** (exponent - 10);
  const rounded = scaled + 2 ** 52 - 2 ** 52;
  return sign | (size < 2 ** -14 ? rounded : (exponent + 14) * 1024 + rounded);
}

const halves = (numbers) => new Uint8Array(Uint16Array.from(numbers, halfBits).buffer);

/** Returns the bytes of float32 numbers in a type. The scale of a block follows from the largest value of the block. */
export function encode(type, data) {
  if (type === 'F32') return new Uint8Array(Float32Array.from(data).buffer);
  if (type === 'F16') return halves(data);
  if (type === 'BF16') {
    const wide = new Uint32Array(Float32Array.from(data).buffer);
    return new Uint8Array(Uint16Array.from(wide, (bits) => (bits + 0x8000) >>> 16).buffer);
  }
  if (type !== 'Q8_0') throw new Error(`no encoder for ${type}`);
  const blocks = [];
  for (let at = 0; at < data.length; at += 32) {
    const values = [...data.slice(at, at + 32)];
    const scale = Math.max(...values.map(Math.abs)) / 127 || 1;
    blocks.push(
      halves([scale]),
      Uint8Array.from(values, (x) => Math.max(-127, Math.min(127, Math.round(x / scale)))),
    );
  }
  return join(...blocks);
}

/**
 * Returns a GGUF file.
 * @param {Record<string, unknown>} metadata
 * @param {Record<string, { shape: number[], type?: string, data?: ArrayLike<number>, bytes?: Uint8Array,
 *   offset?: number }>} tensors shape: the width of a row last
 * @param {{ version?: number, alignment?: number, claims?: { tensors?: unknown, metadata?: unknown } }} [options]
 */
export function gguf(metadata, tensors = {}, { version = 3, alignment = 32, claims = {} } = {}) {
  const keys = Object.entries({ ...metadata, ...(alignment !== 32 && { 'general.alignment': alignment }) });
  const padded = (count) => Math.ceil(count / alignment) * alignment;
  const infos = [];
  const parts = [];
  let at = 0;
  for (const [name, { shape, type = 'F32', data, bytes = encode(type, data), offset = at }] of Object.entries(
    tensors,
  )) {
    const id = typeof type === 'number' ? type : TYPES[type][0];
    const sizes = [...shape].reverse().map((size) => number('u64', size));
    infos.push(string(name), number('u32', shape.length), ...sizes, number('u32', id), number('u64', offset));
    parts.push(bytes, new Uint8Array(padded(bytes.length) - bytes.length));
    at += padded(bytes.length);
  }
  const header = join(
    utf8.encode('GGUF'),
    number('u32', version),
    number('u64', claims.tensors ?? Object.keys(tensors).length),
    number('u64', claims.metadata ?? keys.length),
    ...keys.map(([key, value]) => join(string(key), valueBytes(value))),
    ...infos,
  );
  return join(header, new Uint8Array(padded(header.length) - header.length), ...parts);
}

/** Splits a model into several files like llama-gguf-split. All metadata is in the first file. */
export function splitGguf({ metadata, tensors }, count, stem = 'x') {
  const names = Object.keys(tensors);
  const each = Math.ceil(names.length / count);
  const total = String(count).padStart(5, '0');
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const own = names.slice(i * each, (i + 1) * each).map((name) => [name, tensors[name]]);
      const split = {
        'split.no': { kind: 'u16', value: i },
        'split.count': { kind: 'u16', value: count },
        'split.tensors.count': { kind: 'i32', value: names.length },
      };
      const bytes = gguf({ ...(i === 0 && metadata), ...split }, Object.fromEntries(own));
      return [`${stem}-${String(i + 1).padStart(5, '0')}-of-${total}.gguf`, bytes];
    }),
  );
}

// ---- conversion of checkpoints ----

/**
 * Reorders the rows of query and key projections for a rotation of neighbouring components, which llama.cpp uses for
 * Llama.
 */
function permute({ shape, data }, heads) {
  const [rows, width] = [shape[0], product(shape.slice(1))];
  const headDim = rows / heads;
  const out = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const [head, within] = [Math.floor(row / headDim), row % headDim];
    const to = head * headDim + (within < headDim / 2 ? 2 * within : 2 * (within - headDim / 2) + 1);
    out.set(data.subarray(row * width, (row + 1) * width), to * width);
  }
  return { shape, data: out };
}

function transpose({ shape: [rows, columns], data }) {
  const out = Float32Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]);
  return { shape: [columns, rows], data: out };
}

/** Reorders rows from q, k and v of each head in turn to all q, then all k, then all v. */
function regroup({ shape, data }, heads) {
  const [rows, width] = [shape[0], product(shape.slice(1))];
  const headDim = rows / heads / 3;
  const out = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const [head, part, within] = [Math.floor(row / (3 * headDim)), Math.floor(row / headDim) % 3, row % headDim];
    out.set(data.subarray(row * width, (row + 1) * width), (part * heads * headDim + head * headDim + within) * width);
  }
  return { shape, data: out };
}

const plusOne = ({ shape, data }) => ({ shape, data: data.map((x) => x + 1) });

const LLAMA_NAMES = [
  [/^model\.embed_tokens\./, 'token_embd.'],
  [/^model\.(norm|final_layernorm)\./, 'output_norm.'],
  [/^(lm_head|embed_out)\./, 'output.'],
  [/^model\.layers\.(\d+)\.input_layernorm\./, 'blk.$1.attn_norm.'],
  [/^model\.layers\.(\d+)\.self_attn\.([qkv])_proj\./, 'blk.$1.attn_$2.'],
  [/^model\.layers\.(\d+)\.self_attn\.([qk])_norm\./, 'blk.$1.attn_$2_norm.'],
  [/^model\.layers\.(\d+)\.self_attn\.qkv_proj\./, 'blk.$1.attn_qkv.'],
  [/^model\.layers\.(\d+)\.self_attn\.(o_proj|dense)\./, 'blk.$1.attn_output.'],
  [/^model\.layers\.(\d+)\.post_attention_layernorm\./, 'blk.$1.ffn_norm.'],
  [/^model\.layers\.(\d+)\.mlp\.gate_proj\./, 'blk.$1.ffn_gate.'],
  [/^model\.layers\.(\d+)\.mlp\.(up_proj|gate_up_proj|fc1)\./, 'blk.$1.ffn_up.'],
  [/^model\.layers\.(\d+)\.mlp\.(down_proj|fc2)\./, 'blk.$1.ffn_down.'],
];
const GEMMA2_NAMES = [
  [/^model\.layers\.(\d+)\.post_attention_layernorm\./, 'blk.$1.post_attention_norm.'],
  [/^model\.layers\.(\d+)\.pre_feedforward_layernorm\./, 'blk.$1.ffn_norm.'],
  [/^model\.layers\.(\d+)\.post_feedforward_layernorm\./, 'blk.$1.post_ffw_norm.'],
  ...LLAMA_NAMES,
];
const GPT_NAMES = [
  [/^(transformer\.)?(wte|word_embeddings)\./, 'token_embd.'],
  [/^(transformer\.)?word_embeddings_layernorm\./, 'token_embd_norm.'],
  [/^(transformer\.)?wpe\./, 'position_embd.'],
  [/^(transformer\.)?ln_f\./, 'output_norm.'],
  [/^lm_head\./, 'output.'],
  [/^(?:transformer\.)?h\.(\d+)\.(ln_1|input_layernorm)\./, 'blk.$1.attn_norm.'],
  [/^(?:transformer\.)?h\.(\d+)\.(attn\.c_attn|self_attention\.query_key_value)\./, 'blk.$1.attn_qkv.'],
  [/^(?:transformer\.)?h\.(\d+)\.(attn\.c_proj|self_attention\.dense)\./, 'blk.$1.attn_output.'],
  [/^(?:transformer\.)?h\.(\d+)\.(ln_2|post_attention_layernorm)\./, 'blk.$1.ffn_norm.'],
  [/^(?:transformer\.)?h\.(\d+)\.mlp\.(c_fc|dense_h_to_4h)\./, 'blk.$1.ffn_up.'],
  [/^(?:transformer\.)?h\.(\d+)\.mlp\.(c_proj|dense_4h_to_h)\./, 'blk.$1.ffn_down.'],
];
const NEOX_NAMES = [
  [/^gpt_neox\.embed_in\./, 'token_embd.'],
  [/^gpt_neox\.final_layer_norm\./, 'output_norm.'],
  [/^embed_out\./, 'output.'],
  [/^gpt_neox\.layers\.(\d+)\.input_layernorm\./, 'blk.$1.attn_norm.'],
  [/^gpt_neox\.layers\.(\d+)\.attention\.query_key_value\./, 'blk.$1.attn_qkv.'],
  [/^gpt_neox\.layers\.(\d+)\.attention\.dense\./, 'blk.$1.attn_output.'],
  [/^gpt_neox\.layers\.(\d+)\.post_attention_layernorm\./, 'blk.$1.ffn_norm.'],
  [/^gpt_neox\.layers\.(\d+)\.mlp\.dense_h_to_4h\./, 'blk.$1.ffn_up.'],
  [/^gpt_neox\.layers\.(\d+)\.mlp\.dense_4h_to_h\./, 'blk.$1.ffn_down.'],
];
const BERT_NAMES = [
  [/^(bert\.)?embeddings\.word_embeddings\./, 'token_embd.'],
  [/^(bert\.)?embeddings\.position_embeddings\./, 'position_embd.'],
  [/^(bert\.)?embeddings\.token_type_embeddings\./, 'token_types.'],
  [/^(bert\.)?embeddings\.LayerNorm\./, 'token_embd_norm.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.attention\.self\.([qkv])(uery|ey|alue)\./, 'blk.$1.attn_$2.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.dense\./, 'blk.$1.attn_output.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\./, 'blk.$1.attn_output_norm.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.intermediate\.dense\./, 'blk.$1.ffn_up.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.output\.dense\./, 'blk.$1.ffn_down.'],
  [/^(?:bert\.)?encoder\.layer\.(\d+)\.output\.LayerNorm\./, 'blk.$1.layer_output_norm.'],
];
const T5_NAMES = [
  [/^shared\./, 'token_embd.'],
  [/^lm_head\./, 'output.'],
  [/^(enc|dec)oder\.final_layer_norm\./, '$1.output_norm.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.0\.layer_norm\./, '$1.blk.$2.attn_norm.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.0\.SelfAttention\.([qkvo])\./, '$1.blk.$2.attn_$3.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.0\.SelfAttention\.relative_attention_bias\./, '$1.blk.$2.attn_rel_b.'],
  [/^(dec)oder\.block\.(\d+)\.layer\.1\.layer_norm\./, '$1.blk.$2.cross_attn_norm.'],
  [/^(dec)oder\.block\.(\d+)\.layer\.1\.EncDecAttention\.([qkvo])\./, '$1.blk.$2.cross_attn_$3.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.[12]\.layer_norm\./, '$1.blk.$2.ffn_norm.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.[12]\.DenseReluDense\.wi_0\./, '$1.blk.$2.ffn_gate.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.[12]\.DenseReluDense\.wi(_1)?\./, '$1.blk.$2.ffn_up.'],
  [/^(enc|dec)oder\.block\.(\d+)\.layer\.[12]\.DenseReluDense\.wo\./, '$1.blk.$2.ffn_down.'],
];

/** Returns the divisors of the frequencies of `llama3` scaling, as LlamaModel.generate_extra_tensors computes them. */
function llama3Factors(c, width) {
  const scaling = c.rope_scaling;
  const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: old } = scaling;
  return Float32Array.from({ length: width / 2 }, (_, n) => {
    const wavelength = 2 * Math.PI * c.rope_theta ** ((2 * n) / width);
    if (wavelength < old / high) return 1;
    if (wavelength > old / low) return factor;
    const smooth = (old / wavelength - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}

/** Returns the metadata entries of rotary positions, and the tensors with frequency factors. */
function ropeOf(c, headDim) {
  const rope = c.rope_scaling ?? c.rope_parameters ?? {};
  const type = rope.rope_type ?? rope.type;
  const share =
    rope.partial_rotary_factor ?? c.partial_rotary_factor ?? c.rotary_pct ?? DEFAULT_SHARES[c.model_type] ?? 1;
  const width = headDim * share;
  const keys = {
    'rope.dimension_count': width,
    ...(c.rope_local_base_freq && { 'rope.freq_base_swa': { kind: 'f32', value: c.rope_local_base_freq } }),
    'rope.freq_base': { kind: 'f32', value: rope.rope_theta ?? c.rope_theta ?? 10000 },
  };
  const vector = (values) => ({ shape: [values.length], data: Float32Array.from(values) });
  const original = rope.original_max_position_embeddings ?? c.original_max_position_embeddings;
  if (type === 'llama3') return { keys, tensors: { 'rope_freqs.weight': vector(llama3Factors(c, width)) } };
  if (type === 'linear')
    return {
      keys: { ...keys, 'rope.scaling.type': 'linear', 'rope.scaling.factor': { kind: 'f32', value: rope.factor } },
      tensors: {},
    };
  if (type === 'yarn') {
    const usual = 0.1 * Math.log(rope.factor) + 1;
    const magnitude = (scale) => 0.1 * scale * Math.log(rope.factor) + 1;
    const both = rope.mscale && rope.mscale_all_dim;
    const own = rope.attention_factor ?? (both ? magnitude(rope.mscale) / magnitude(rope.mscale_all_dim) : usual);
    return {
      keys: {
        ...keys,
        'rope.scaling.type': 'yarn',
        'rope.scaling.factor': { kind: 'f32', value: rope.factor },
        'rope.scaling.original_context_length': original,
        ...(own !== usual && { 'rope.scaling.attn_factor': { kind: 'f32', value: own / usual } }),
      },
      tensors: {},
    };
  }
  if (type === 'longrope') {
    const scale = c.max_position_embeddings / original;
    const factor = scale > 1 ? Math.sqrt(1 + Math.log(scale) / Math.log(original)) : 1;
    return {
      keys: {
        ...keys,
        'rope.scaling.original_context_length': original,
        'rope.scaling.attn_factor': { kind: 'f32', value: rope.attention_factor ?? factor },
      },
      tensors: {
        'rope_factors_long.weight': vector(rope.long_factor),
        'rope_factors_short.weight': vector(rope.short_factor),
      },
    };
  }
  return { keys, tensors: {} };
}

const DEFAULT_SHARES = { gpt_neox: 0.25, phi: 0.5 };
const ARCHITECTURES = {
  llama: ['llama', LLAMA_NAMES],
  mistral: ['llama', LLAMA_NAMES],
  qwen2: ['qwen2', LLAMA_NAMES],
  qwen3: ['qwen3', LLAMA_NAMES],
  gemma: ['gemma', LLAMA_NAMES],
  gemma2: ['gemma2', GEMMA2_NAMES],
  gemma3_text: ['gemma3', GEMMA2_NAMES],
  phi: ['phi2', LLAMA_NAMES],
  phi3: ['phi3', LLAMA_NAMES],
  gpt2: ['gpt2', GPT_NAMES],
  bloom: ['bloom', GPT_NAMES],
  gpt_neox: ['gptneox', NEOX_NAMES],
  bert: ['bert', BERT_NAMES],
  t5: ['t5', T5_NAMES],
};

/** Converts one tensor as its architecture requires. */
function convertTensor(c, heads, kvHeads, name, tensor) {
  const { model_type: type } = c;
  if (/^(llama|mistral)$/.test(type) && /attn_q\./.test(name)) return permute(tensor, heads);
  if (/^(llama|mistral)$/.test(type) && /attn_k\./.test(name)) return permute(tensor, kvHeads);
  if (/^(bloom|gpt_neox)$/.test(type) && /attn_qkv\./.test(name)) return regroup(tensor, heads);
  if (/^gemma/.test(type) && /norm\.weight$/.test(name)) return plusOne(tensor);
  if (type === 'gpt2' && /(attn_qkv|attn_output|ffn_up|ffn_down)\.weight$/.test(name)) return transpose(tensor);
  return tensor;
}

/**
 * Returns the GGUF metadata and tensors of a checkpoint. Output heads that llama.cpp does not support are omitted.
 * @param {Record<string, any>} c config.json
 * @param {Record<string, { shape: number[], data: Float32Array }>} tensors
 */
export function convert(c, tensors) {
  const [arch, names] = ARCHITECTURES[c.model_type];
  const heads = c.num_attention_heads ?? c.n_head ?? c.num_heads;
  const width = c.hidden_size ?? c.n_embd ?? c.n_embed ?? c.d_model;
  const kvHeads = c.num_key_value_heads ?? heads;
  const headDim = c.head_dim ?? c.d_kv ?? width / heads;
  const float = (value) => value !== undefined && { kind: 'f32', value };
  const rope = /gpt2|bloom|bert|t5/.test(c.model_type) ? { keys: {}, tensors: {} } : ropeOf(c, headDim);
  const types = c.layer_types;
  const keys = {
    block_count: c.num_hidden_layers ?? c.n_layer ?? c.num_layers,
    ...(c.num_decoder_layers && { decoder_block_count: c.num_decoder_layers }),
    context_length: c.max_position_embeddings ?? c.n_positions ?? 2048,
    embedding_length: width,
    feed_forward_length: c.intermediate_size ?? c.n_inner ?? c.d_ff ?? 4 * width,
    'attention.head_count': heads,
    ...(kvHeads !== heads && { 'attention.head_count_kv': kvHeads }),
    ...((c.head_dim ?? c.d_kv) && { 'attention.key_length': headDim, 'attention.value_length': headDim }),
    'attention.layer_norm_rms_epsilon': float(c.rms_norm_eps),
    'attention.layer_norm_epsilon': float(
      c.layer_norm_eps ?? c.layer_norm_epsilon ?? { phi: 1e-5, gpt_neox: 1e-5, gpt2: 1e-5 }[c.model_type],
    ),
    'attention.sliding_window': c.use_sliding_window === false ? undefined : (c.sliding_window ?? undefined),
    'attention.sliding_window_pattern': types?.map((type) => type === 'sliding_attention'),
    attn_logit_softcapping: float(c.attn_logit_softcapping),
    final_logit_softcapping: float(c.final_logit_softcapping),
    use_parallel_residual: c.model_type === 'gpt_neox' ? (c.use_parallel_residual ?? true) : undefined,
    'attention.relative_buckets_count': c.d_kv && (c.relative_attention_num_buckets ?? 32),
    'attention.causal': c.model_type === 'bert' ? false : undefined,
    ...rope.keys,
  };
  const metadata = { 'general.architecture': arch, 'general.name': 'test' };
  for (const [key, value] of Object.entries(keys))
    if (value !== undefined && value !== false) metadata[`${arch}.${key}`] = value;
  if (c.model_type === 'bert') metadata['bert.attention.causal'] = false;
  if (c.use_parallel_residual === false) metadata['gptneox.use_parallel_residual'] = false;
  if (c.eos_token_id !== undefined) metadata['tokenizer.ggml.eos_token_id'] = c.eos_token_id;
  const converted = { ...rope.tensors };
  for (const [name, tensor] of Object.entries(tensors)) {
    const rule = names.find(([pattern]) => pattern.test(name));
    if (!rule || /\.attn\.(masked_)?bias$/.test(name)) continue;
    const own = name.replace(...rule);
    converted[own] = convertTensor(c, heads, kvHeads, own, {
      shape: tensor.shape,
      data: Float32Array.from(tensor.data),
    });
  }
  return { metadata, tensors: converted };
}

/** Joins q, k and v of each block in one tensor. */
export function fuse({ metadata, tensors }) {
  const fused = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const [, stem, letter, end] = /^(.*\.attn_)([qkv])(\.(?:weight|bias))$/.exec(name) ?? [];
    if (!letter) fused[name] = tensor;
    else if (letter === 'q') {
      const parts = ['q', 'k', 'v'].map((other) => tensors[`${stem}${other}${end}`]);
      const data = Float32Array.from(parts.flatMap((part) => [...part.data]));
      const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
      fused[`${stem}qkv${end}`] = { shape: [rows, ...tensor.shape.slice(1)], data };
    }
  }
  return { metadata, tensors: fused };
}

/** Splits each fused tensor into three tensors with the given numbers of rows. */
export function separate({ metadata, tensors }, rows) {
  const parts = {};
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    if (!/attn_qkv\./.test(name)) {
      parts[name] = { shape, data };
      continue;
    }
    const width = product(shape.slice(1));
    let at = 0;
    for (const [i, letter] of ['q', 'k', 'v'].entries()) {
      const own = data.slice(at * width, (at + rows[i]) * width);
      parts[name.replace('qkv', letter)] = { shape: [rows[i], ...shape.slice(1)], data: own };
      at += rows[i];
    }
  }
  return { metadata, tensors: parts };
}
