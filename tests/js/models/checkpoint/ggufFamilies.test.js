// Converts checkpoints of every architecture to GGUF. They must give the same values as before.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readGguf, readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../../support/families.js';
import { convert, encode, fuse, gguf, separate, splitGguf } from '../../../support/gguf.js';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';

/** Largest allowed error, relative to the largest value. GGUF files round norms and frequency factors once more. */
const LIMIT = 2e-6;
const IDS = { data: Int32Array.of(5, 17, 21, 3, 9, 11, 4, 20, 6, 13), shape: [2, 5] };

const fromFamilies = Object.fromEntries(families.map(({ name, files, input }) => [name, { files, input }]));
const golden = (name, change = {}) => {
  const read = (file) => readFileSync(join(GOLDEN, 'models', name, file));
  const config = { ...JSON.parse(read('config.json')), ...change };
  const files = { 'config.json': Buffer.from(JSON.stringify(config)), 'model.safetensors': read('model.safetensors') };
  return { files, input: { ids: IDS } };
};

const CASES = {
  'llama with the frequencies of llama 3': golden('llama-a'),
  'gemma 2': golden('gemma2-a', { query_pre_attn_scalar: 8 }),
  'gemma 3': golden('gemma3-a', {
    query_pre_attn_scalar: 16,
    rope_local_base_freq: 300,
    rope_scaling: { rope_type: 'linear', factor: 8 },
    layer_types: ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'],
  }),
  'gpt-2': golden('gpt2-a'),
};
for (const name of [
  'SmolLM',
  'Mistral',
  'Llama, linear',
  'Llama, yarn',
  'Mistral, yarn with two scales',
  'Qwen2, types of layers',
  'Qwen3',
  'Gemma',
  'Phi',
  'Phi-3',
  'Phi-3 beyond the context of its training',
  'Phi-3 with rope_parameters, part of a head rotated',
  'GPT-NeoX',
  'GPT-NeoX without parallel parts',
  'BLOOM',
  'MiniLM',
  'T5, relu and a tied head',
  "T5's encoder alone",
])
  CASES[name] = fromFamilies[name];

const contentOf = ({ files }) => {
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { config, ...readSafetensors(files['model.safetensors']) };
};

async function valuesOf(files, input, options) {
  const model = await hl.openModel(files, options);
  const stacks = model.options.encoder ? ['', 'encoder.'] : [''];
  const capture = stacks.flatMap((at) => ['in', 'out', 'query', 'weights'].map((name) => `${at}blocks.*.${name}`));
  const result = model.forward(input, { capture: [...capture, 'final'] });
  const values = Object.fromEntries(Object.entries(result.captured).map(([name, tensor]) => [name, tensor.copy()]));
  values.hidden = result.hidden.copy();
  if (result.logits) values.logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return values;
}

function compare(got, expected, limit = LIMIT) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(expected).sort());
  for (const [name, values] of Object.entries(expected)) {
    let [most, difference] = [0, 0];
    values.forEach((x, i) => {
      most = Math.max(most, Math.abs(x));
      difference = Math.max(difference, Math.abs(got[name][i] - x));
    });
    assert.ok(difference <= limit * most, `${name} is off by ${difference / most}`);
  }
}

for (const [name, c] of Object.entries(CASES))
  test(`${name}: a GGUF file gives the values of the checkpoint`, async () => {
    const { config, tensors } = contentOf(c);
    const { metadata, tensors: converted } = convert(config, tensors);
    const got = await valuesOf({ 'x.gguf': gguf(metadata, converted) }, c.input);
    compare(got, await valuesOf(c.files, c.input));
  });

/** Returns the numbers of rows of the query, key and value projections. */
function rowsOf(config) {
  const heads = config.num_attention_heads ?? config.n_head;
  const headDim = (config.hidden_size ?? config.n_embd ?? config.n_embed) / heads;
  const kvHeads = config.num_key_value_heads ?? heads;
  return [heads, kvHeads, kvHeads].map((count) => count * headDim);
}

test('q, k and v may be one tensor or three, in any architecture', async () => {
  for (const name of ['llama with the frequencies of llama 3', 'Qwen2, types of layers', 'Gemma', 'MiniLM']) {
    const c = CASES[name];
    const { config, tensors } = contentOf(c);
    const { metadata, tensors: converted } = fuse(convert(config, tensors));
    compare(await valuesOf({ 'x.gguf': gguf(metadata, converted) }, c.input), await valuesOf(c.files, c.input));
  }
  for (const name of ['gpt-2', 'GPT-NeoX', 'BLOOM', 'Phi-3']) {
    const c = CASES[name];
    const { config, tensors } = contentOf(c);
    const { metadata, tensors: converted } = separate(convert(config, tensors), rowsOf(config));
    compare(await valuesOf({ 'x.gguf': gguf(metadata, converted) }, c.input), await valuesOf(c.files, c.input));
  }
});

test('a model in parts gives the same values, whatever the order of its files', async () => {
  const c = CASES['llama with the frequencies of llama 3'];
  const { config, tensors } = contentOf(c);
  const parts = splitGguf(convert(config, tensors), 3);
  const expected = await valuesOf(c.files, c.input);
  compare(await valuesOf(Object.fromEntries(Object.entries(parts).reverse()), c.input), expected);
});

test('biases of a Llama are in the order of its rows', async () => {
  const c = CASES['llama with the frequencies of llama 3'];
  const { config, tensors } = contentOf(c);
  const bias = (rows, seed) => ({
    dtype: 'F32',
    shape: [rows],
    data: Float32Array.from({ length: rows }, (_, i) => Math.sin(seed + i)),
  });
  const own = {};
  for (const i of [0, 1])
    for (const [end, rows] of [
      ['q', 64],
      ['k', 32],
      ['v', 32],
      ['o', 64],
    ])
      own[`model.layers.${i}.self_attn.${end}_proj.bias`] = bias(rows, i + rows);
  const all = { ...tensors, ...own };
  const files = {
    'config.json': Buffer.from(JSON.stringify({ ...config, attention_bias: true })),
    'model.safetensors': writeSafetensors(all),
  };
  const expected = await valuesOf(files, c.input);
  const model = convert(config, all);
  for (const i of [0, 1]) model.tensors[`blk.${i}.attn_output.bias`] = own[`model.layers.${i}.self_attn.o_proj.bias`];
  compare(await valuesOf({ 'x.gguf': gguf(model.metadata, model.tensors) }, c.input), expected);
  const fused = fuse(model);
  compare(await valuesOf({ 'x.gguf': gguf(fused.metadata, fused.tensors) }, c.input), expected);
});

test('a BERT with a kind of pooling gives the vector of a text', async () => {
  const c = CASES.MiniLM;
  const { config, tensors } = contentOf(c);
  const { metadata, tensors: converted } = convert(config, tensors);
  for (const [type, rowOf] of [
    [
      1,
      (hidden, i, width, count) =>
        Array.from({ length: count }, (_, t) => hidden[t * width + i]).reduce((a, b) => a + b) / count,
    ],
    [2, (hidden, i) => hidden[i]],
  ]) {
    const model = await hl.openModel({ 'x.gguf': gguf({ ...metadata, 'bert.pooling_type': type }, converted) });
    const result = model.forward([5, 17, 21]);
    const [, count, width] = result.hidden.shape.length === 3 ? result.hidden.shape : [1, ...result.hidden.shape];
    const hidden = result.hidden.copy();
    result.pooled.copy().forEach((x, i) => assert.ok(Math.abs(x - rowOf(hidden, i, width, count)) < 1e-5));
    model.dispose();
  }
});

test('an encoder of T5 may have its own architecture', async () => {
  const c = CASES["T5's encoder alone"];
  const { config, tensors } = contentOf(c);
  const { metadata, tensors: converted } = convert(config, tensors);
  const renamed = Object.entries(metadata).map(([key, value]) => [key.replace(/^t5\./, 't5encoder.'), value]);
  const own = { ...Object.fromEntries(renamed), 'general.architecture': 't5encoder' };
  compare(await valuesOf({ 'x.gguf': gguf(own, converted) }, c.input), await valuesOf(c.files, c.input));
});

test('a head for ranking is listed as not opened', async () => {
  const { config, tensors } = contentOf(CASES.MiniLM);
  const { metadata, tensors: converted } = convert(config, tensors);
  const vector = { shape: [1], data: [0] };
  const model = await hl.openModel({ 'x.gguf': gguf(metadata, { ...converted, 'cls.bias': vector }) });
  assert.deepEqual(model.unread, ['cls.bias']);
  model.dispose();
});

test('q, k and v in tensors of different types are joined', async () => {
  const { config, tensors } = contentOf(CASES['gpt-2']);
  const { metadata, tensors: parts } = separate(convert(config, tensors), rowsOf(config));
  const types = { 'blk.0.attn_q.weight': 'Q8_0', 'blk.0.attn_k.weight': 'F16', 'blk.1.attn_v.weight': 'BF16' };
  for (const [name, type] of Object.entries(types))
    parts[name] = { shape: parts[name].shape, type, bytes: encode(type, parts[name].data) };
  const mixed = gguf(metadata, parts);
  const read = readGguf(mixed).tensors;
  for (const name of Object.keys(types)) parts[name] = { shape: parts[name].shape, data: read[name].data() };
  for (const weights of ['float32', 'stored']) {
    const got = await valuesOf({ 'x.gguf': mixed }, { ids: IDS }, { weights });
    compare(got, await valuesOf({ 'x.gguf': gguf(metadata, parts) }, { ids: IDS }, { weights }));
  }
});

test('the scale of scores of a Gemma 2 is that of the metadata', async () => {
  const c = golden('gemma2-a');
  const { config, tensors } = contentOf(c);
  assert.notEqual(config.query_pre_attn_scalar, config.head_dim);
  const { metadata, tensors: converted } = convert(config, tensors);
  const scale = { kind: 'f32', value: config.query_pre_attn_scalar ** -0.5 };
  const file = gguf({ ...metadata, 'gemma2.attention.scale': scale }, converted);
  compare(await valuesOf({ 'x.gguf': file }, c.input), await valuesOf(c.files, c.input));
});

test('a Gemma 3 has the window pattern and the bases of its family, and must name its window', async () => {
  const { config, tensors } = contentOf(CASES['gemma 3']);
  const plain = { ...config, layer_types: undefined, rope_local_base_freq: undefined };
  const { metadata, tensors: converted } = convert(plain, tensors);
  const model = await hl.openModel({ 'x.gguf': gguf(metadata, converted) });
  assert.equal(model.family, 'gemma3');
  assert.deepEqual(model.options.window, [6, 6, 6, 6]);
  const { theta, localTheta, scaling } = model.options.rotary;
  assert.deepEqual([theta, localTheta, scaling], [1e6, 10000, { type: 'linear', factor: 8 }]);
  model.dispose();
  const key = 'gemma3.attention.sliding_window';
  const { [key]: _, ...without } = metadata;
  await assert.rejects(hl.openModel({ 'x.gguf': gguf(without, converted) }), { code: 'FORMAT', parameter: key });
});
