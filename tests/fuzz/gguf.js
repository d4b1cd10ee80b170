// Reads valid, damaged and random GGUF files, as bytes and in ranges, and opens them as models. Valid files must be
// read exactly; other files must be read, or refused with a short message and the code FORMAT. A refused model must
// leave no memory allocated.
//
//   node tests/fuzz/gguf.js [count] [seed]

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HeadlightError, load } from 'headlight-attention';
import { readGguf } from 'headlight-attention/formats';
import { join } from '../support/files.js';
import { convert, encode, gguf, number, splitGguf, string, TYPES } from '../support/gguf.js';
import { makeSource } from './source.js';

const KINDS = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'u64', 'i64', 'f64'];
const RANGES = { u8: [0, 255], i8: [-128, 127], u16: [0, 65535], i16: [-32768, 32767], u32: [0, 2 ** 32 - 1] };
Object.assign(RANGES, {
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
});
const NAMES = ['a', 'b', '', '__proto__', 'blk.0.attn_q.weight', 'token_embd.weight', '猫', '"', '\n', 'x'.repeat(300)];
const KEYS = ['general.architecture', 'general.alignment', 'llama.block_count', 'split.count', 'constructor', '猫', ''];
const COUNTS = [
  0,
  1,
  2,
  31,
  32,
  33,
  255,
  256,
  65535,
  2 ** 31,
  2 ** 32,
  2n ** 40n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const FLOAT_TYPES = ['F32', 'F16', 'BF16', 'Q8_0'];

/** Makes a random value of a kind of metadata. */
function makeValue(source, kind) {
  if (kind === 'string') return source.pick(['', 'llama', '▁日本 🙂', '\ufeff', 'x'.repeat(source.below(200))]);
  if (kind === 'bool') return source.chance(0.5);
  if (kind[0] === 'f') return Math.fround(source.pick([0, 1.5, -1e30, 1e-40]));
  const [low, high] = RANGES[kind];
  if (typeof low !== 'bigint') return source.pick([low, high, 0, 1]);
  const value = source.pick([low, high, 2n ** 53n, 2n ** 53n - 1n, 7n]);
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function makeMetadata(source) {
  const metadata = Object.create(null);
  for (let i = source.below(6); i > 0; i--) {
    const kind = source.pick(KINDS);
    const list = source.chance(0.3) && Array.from({ length: source.below(5) }, () => makeValue(source, kind));
    const key = `${source.pick(KEYS.slice(2))}${source.below(3)}`;
    const inner = list ? list.map((value) => ({ kind, value })) : undefined;
    metadata[key] = { given: list ? { kind: 'array', value: inner } : { kind, value: makeValue(source, kind) } };
    metadata[key].expected = list || metadata[key].given.value;
  }
  return metadata;
}

function makeTensors(source) {
  const tensors = Object.create(null);
  for (let i = source.below(5); i > 0; i--) {
    const type = source.pick(FLOAT_TYPES);
    const width = type === 'Q8_0' ? 32 * source.between(1, 3) : source.between(0, 9);
    const shape = [...Array.from({ length: source.below(3) }, () => source.between(0, 3)), width];
    const size = shape.reduce((a, b) => a * b, 1);
    const data = Float32Array.from({ length: size }, () => source.between(-8, 8) / 4);
    tensors[source.pick(NAMES)] = { type, shape, data, bytes: encode(type, data) };
  }
  return tensors;
}

/** Makes a valid file. Also returns its contents. */
function rightFile(source) {
  const entries = makeMetadata(source);
  const tensors = makeTensors(source);
  const metadata = Object.create(null);
  for (const key of Object.keys(entries)) metadata[key] = entries[key].given;
  const alignment = source.pick([1, 8, 32, 32, 64]);
  const bytes = gguf(metadata, tensors, { version: source.between(2, 3), alignment });
  return { bytes, entries, tensors, alignment };
}

const POSITIONS = 400;

/** Changes bytes, mostly in the header. */
function damage(bytes, source) {
  let copy = Uint8Array.from(bytes);
  for (let i = source.between(1, 3); i > 0; i--) {
    if (copy.length === 0) return copy;
    const at = source.below(source.chance(0.8) ? Math.min(copy.length, POSITIONS) : copy.length);
    const change = source.below(6);
    if (change === 0) copy[at] = source.below(256);
    else if (change === 1) copy[at] ^= 1 << source.below(8);
    else if (change === 2) copy = copy.slice(0, at);
    else if (change === 3) copy = join(copy.subarray(0, at), copy.subarray(at + source.between(1, 9)));
    else if (change === 4)
      copy = join(copy.subarray(0, at), copy.subarray(at, at + source.below(40)), copy.subarray(at));
    else
      copy.set(
        number(source.pick(['u32', 'u64']), 0)
          .fill(0)
          .map(() => source.pick([0, 255, 1]))
          .subarray(0, copy.length - at),
        at,
      );
  }
  return copy;
}

/** Makes a file whose header has the usual parts, each of which may be invalid. */
function madeFile(source) {
  const count = () => (source.chance(0.2) ? source.pick(COUNTS) : source.below(4));
  const u64 = (value) => number('u64', BigInt.asUintN(64, BigInt(value)));
  const parts = [
    Buffer.from('GGUF'),
    number('u32', source.chance(0.9) ? 3 : source.below(5)),
    u64(count()),
    u64(count()),
  ];
  for (let i = source.below(5); i > 0; i--) {
    const kind = source.below(14);
    parts.push(source.chance(0.9) ? string(source.pick(KEYS)) : u64(source.pick(COUNTS)), number('u32', kind));
    if (kind === 9)
      for (let d = source.below(6); d >= 0; d--)
        parts.push(number('u32', source.chance(0.5) ? 9 : source.below(13)), u64(count()));
    if (kind === 8) parts.push(source.chance(0.8) ? string('text') : u64(source.pick(COUNTS)));
    parts.push(new Uint8Array(source.below(20)));
  }
  for (let i = source.below(4); i > 0; i--) {
    const axes = source.chance(0.9) ? source.below(5) : source.below(2 ** 16);
    parts.push(string(source.pick(NAMES)), number('u32', axes));
    for (let a = 0; a < Math.min(axes, 6); a++) parts.push(u64(count()));
    const id = source.chance(0.7) ? TYPES[source.pick(Object.keys(TYPES))][0] : source.below(50);
    parts.push(number('u32', id), u64(source.chance(0.7) ? 32 * source.below(4) : source.pick(COUNTS)));
  }
  return join(...parts, new Uint8Array(source.below(300)));
}

/** Returns the result of a call, or undefined if the call is refused with a valid error. */
async function resultOf(call, codes = ['FORMAT']) {
  try {
    return await call();
  } catch (error) {
    assert.ok(error instanceof HeadlightError && codes.includes(error.code), error?.stack);
    assert.ok(error.message.length < 700, `a message of ${error.message.length} characters`);
    assert.doesNotMatch(error.message, /Cannot read|is not a function|not iterable|is undefined,/);
    return undefined;
  }
}

const bitsOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
const rangesOf = (bytes) => ({ size: bytes.length, read: async (begin, end) => bytes.subarray(begin, end) });

/** Reads a file as bytes and in ranges. Both must give the same result. */
async function checkFile(bytes) {
  const whole = await resultOf(() => readGguf(bytes));
  const ranges = await resultOf(() => readGguf(rangesOf(bytes)));
  assert.equal(whole === undefined, ranges === undefined, 'bytes and ranges differ');
  if (!whole) return undefined;
  assert.deepEqual(ranges.metadata, whole.metadata);
  for (const [name, tensor] of Object.entries(whole.tensors)) {
    const data = await resultOf(() => tensor.data());
    const same = await resultOf(() => ranges.tensors[name].data());
    assert.equal(data === undefined, same === undefined);
    if (!data) continue;
    assert.equal(
      data.length,
      tensor.shape.reduce((a, b) => a * b, 1),
    );
    assert.deepEqual(bitsOf(data), bitsOf(same));
    assert.ok(data.length <= 4 * bytes.length, 'more values than the file can hold');
  }
  return whole;
}

async function checkRight({ bytes, entries, tensors, alignment }) {
  const read = await checkFile(bytes);
  assert.ok(read, 'a right file was refused');
  const { 'general.alignment': own = 32, ...metadata } = read.metadata;
  assert.equal(own, alignment);
  assert.deepEqual(Object.keys(metadata).sort(), Object.keys(entries).sort());
  for (const [key, { expected }] of Object.entries(entries)) assert.deepEqual(metadata[key], expected);
  assert.deepEqual(Object.keys(read.tensors).sort(), Object.keys(tensors).sort());
  for (const [name, { type, shape, data }] of Object.entries(tensors)) {
    assert.deepEqual([read.tensors[name].type, read.tensors[name].shape], [type, shape]);
    const tolerance = type === 'Q8_0' ? 0.02 : 0;
    read.tensors[name].data().forEach((x, i) => assert.ok(Math.abs(x - data[i]) <= tolerance));
  }
  return read;
}

/** Makes the GGUF metadata and tensors of a small Llama. */
function makeModel() {
  const next = makeSource(3);
  const of = (...shape) => ({
    shape,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => next.between(-9, 9) / 20),
  });
  const block = (i) => {
    const at = `model.layers.${i}`;
    const linear = { q: [8, 8], k: [4, 8], v: [4, 8], o: [8, 8] };
    return {
      [`${at}.input_layernorm.weight`]: of(8),
      [`${at}.post_attention_layernorm.weight`]: of(8),
      ...Object.fromEntries(
        Object.entries(linear).map(([p, shape]) => [`${at}.self_attn.${p}_proj.weight`, of(...shape)]),
      ),
      [`${at}.mlp.gate_proj.weight`]: of(12, 8),
      [`${at}.mlp.up_proj.weight`]: of(12, 8),
      [`${at}.mlp.down_proj.weight`]: of(8, 12),
    };
  };
  const config = {
    model_type: 'llama',
    hidden_size: 8,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
  };
  Object.assign(config, { intermediate_size: 12, max_position_embeddings: 16, rms_norm_eps: 1e-5, vocab_size: 11 });
  const tensors = { 'model.embed_tokens.weight': of(11, 8), 'model.norm.weight': of(8), ...block(0), ...block(1) };
  return convert(config, tensors);
}

const ODD = [
  0,
  1,
  3,
  -1,
  0.5,
  1e30,
  2 ** 31,
  2n ** 60n,
  '',
  'llama',
  'yarn',
  true,
  false,
  [],
  [1, 2],
  ['a'],
  [true, false],
];
const MORE_KEYS = [
  ...['attention.key_length', 'attention.sliding_window', 'attention.sliding_window_pattern', 'attention.scale'],
  ...['rope.scaling.type', 'rope.scaling.factor', 'rope.scaling.attn_factor', 'rope.scale_linear', 'expert_count'],
  ...['attention.causal', 'attention.head_count_kv', 'vocab_size', 'decoder_block_count', 'pooling_type'],
];
const ARCHITECTURES = [
  'llama',
  'qwen2',
  'qwen3',
  'gemma',
  'gemma2',
  'phi2',
  'phi3',
  'gpt2',
  'gptneox',
  'bloom',
  'bert',
  't5',
];

/**
 * Makes a valid file that describes no model or a different one, because some metadata entries and tensors are changed.
 */
function oddModel(source, { metadata, tensors }) {
  const architecture = source.chance(0.3) ? source.pick(ARCHITECTURES) : 'llama';
  const own = (key) => key.replace(/^llama\./, `${architecture}.`);
  const keys = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [own(key), value]));
  keys['general.architecture'] = architecture;
  for (let i = source.below(4); i > 0; i--) {
    const key = source.chance(0.5) ? source.pick(Object.keys(keys)) : `${architecture}.${source.pick(MORE_KEYS)}`;
    if (source.chance(0.2)) delete keys[key];
    else keys[key] = source.pick(ODD);
  }
  const all = { ...tensors };
  for (let i = source.below(3); i > 0; i--) {
    const name = source.pick(Object.keys(all));
    const tensor = all[name];
    const width = source.between(1, 9);
    const odd = source.chance(0.5) ? [width] : [2, width];
    const change = source.below(3);
    if (change === 0) delete all[name];
    else if (change === 1) all[source.pick(['rope_freqs.weight', 'output.weight', 'blk.0.attn_qkv.weight'])] = tensor;
    else all[name] = { shape: odd, data: new Float32Array(odd.reduce((a, b) => a * b, 1)) };
  }
  return gguf(keys, all);
}

async function checkModel(hl, files, weights) {
  const { used } = hl.info.memory;
  const model = await resultOf(() => hl.openModel(files, { weights }), ['FORMAT', 'OUT_OF_MEMORY']);
  if (model) {
    const result = await resultOf(() => model.forward([0, 1]), ['ARGUMENT', 'SHAPE', 'OUT_OF_MEMORY']);
    result?.dispose();
    model.dispose();
  }
  assert.equal(hl.info.memory.used, used, 'memory was lost');
  return model;
}

/**
 * @param {number} total files
 * @param {number} seed
 * @returns {Promise<Record<string, { files: number, read: number, slowest: number }>>} counts by kind of file; slowest
 * in milliseconds
 */
export async function fuzzGguf(total, seed) {
  const hl = await load();
  const right = makeModel();
  const models = [{ 'x.gguf': gguf(right.metadata, right.tensors) }, splitGguf(right, 2)];
  const kinds = {
    right: (source) => {
      const file = rightFile(source);
      return [file.bytes, () => checkRight(file)];
    },
    damaged: (source) => {
      const bytes = damage(rightFile(source).bytes, source);
      return [bytes, () => checkFile(bytes)];
    },
    'made up': (source) => {
      const bytes = madeFile(source);
      return [bytes, () => checkFile(bytes)];
    },
    model: (source) => {
      const files = { ...source.pick(models) };
      const name = source.pick(Object.keys(files));
      files[name] = damage(files[name], source);
      return [files[name], () => checkModel(hl, files, source.pick(['float32', 'stored', 'int8']))];
    },
  };
  kinds['odd model'] = (source) => {
    const file = oddModel(source, right);
    return [file, () => checkModel(hl, { 'x.gguf': file }, source.pick(['float32', 'stored', 'int8']))];
  };
  const names = ['right', 'damaged', 'damaged', 'made up', 'model', 'odd model'];
  const report = Object.fromEntries(Object.keys(kinds).map((name) => [name, { files: 0, read: 0, slowest: 0 }]));
  for (let i = 0; i < total; i++) {
    const name = names[i % names.length];
    const [bytes, check] = kinds[name](makeSource(seed + i));
    const start = performance.now();
    try {
      if ((await check()) !== undefined) report[name].read++;
    } catch (error) {
      const file = Buffer.from(bytes).toString('base64');
      throw new Error(`file ${i} of seed ${seed}, ${name}: ${error.message}\n${file.slice(0, 3000)}`, { cause: error });
    }
    report[name].files++;
    report[name].slowest = Math.max(report[name].slowest, performance.now() - start);
  }
  hl.dispose();
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 100000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${total} files, seed ${seed}`);
  console.table(await fuzzGguf(total, seed));
}
