// Opens the files of saveGguf again with openModel, and compares the models with those that were saved.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readGguf } from 'headlight-attention/formats';
import { families } from '../../../support/families.js';
import { encode } from '../../../support/gguf.js';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { readTokenizer } from '../../../support/tokenizers.js';

const IDS = [[5, 17, 21, 3, 9, 11, 4, 20, 6, 13]];
const RMS = { norm: 'rms', positions: 'rotary', gated: true, activation: 'silu', bias: false };
const SMALL = { layers: 2, dModel: 64, numHeads: 4, kvHeads: 2, mlp: 96, vocab: 430, context: 32, seed: 5 };
const TEXTS = ['The lamp is old.', " it's  2026 <|endoftext|>\n\nx", 'naïve ½ 北京'];

const fromFamilies = Object.fromEntries(families.map(({ name, files }) => [name, files]));
const golden = (name, change = {}) => {
  const read = (file) => readFileSync(join(GOLDEN, 'models', name, file));
  const config = { ...JSON.parse(read('config.json')), ...change };
  return { 'config.json': Buffer.from(JSON.stringify(config)), 'model.safetensors': read('model.safetensors') };
};
const goldenGguf = (name) => readFileSync(join(GOLDEN, 'gguf', `${name}.gguf`));

/** Checkpoints: [architecture, files]. */
const OPENED = {
  'GPT-2': ['gpt2', golden('gpt2-a')],
  'Gemma 2': ['gemma2', golden('gemma2-a', { query_pre_attn_scalar: 8 })],
  SmolLM: ['llama', fromFamilies.SmolLM],
  Mistral: ['llama', fromFamilies.Mistral],
  'Llama, linear': ['llama', fromFamilies['Llama, linear']],
  'Llama, yarn': ['llama', fromFamilies['Llama, yarn']],
  'Qwen2, types of layers': ['qwen2', fromFamilies['Qwen2, types of layers']],
  Qwen3: ['qwen3', fromFamilies.Qwen3],
  Gemma: ['gemma', fromFamilies.Gemma],
};
const OF_ALL = { query: true, key: true, value: true, out: true, mlp: true };
/** Options of models: [architecture, options]. */
const MADE = [
  ['gpt2', { kvHeads: 4, tied: true }],
  ['gpt2', { kvHeads: 4, mlp: 40, normEps: 1e-6, layers: 1 }],
  ['llama', RMS],
  ['llama', { ...RMS, tied: true, headDim: 8, bias: OF_ALL, rotary: { theta: 5e5 } }],
  ['llama', { ...RMS, window: 3, rotary: { scaling: { type: 'yarn', factor: 4, originalContext: 8 } } }],
  ['llama', { ...RMS, rotary: { scaling: { type: 'factors', factors: [1, 2, 2, 3, 4, 4, 8, 8] } } }],
  ['qwen3', { ...RMS, headDim: 32, queryKeyNorm: true, window: [null, 4] }],
];

const open = (bytes, options) => hl.openModel({ 'x.gguf': bytes }, options);
const logitsOf = (model) => hl.scope(() => model.forward(IDS).logits.copy());
const architectureOf = (bytes) => readGguf(bytes).metadata['general.architecture'];

/** Checks that a saved model gives the same logits, with the same bits unless there is a limit. */
async function sameLogits(model, architecture, limit = 0) {
  const bytes = await model.saveGguf({ type: 'F32' });
  assert.equal(architectureOf(bytes), architecture);
  const opened = await open(bytes);
  const [a, b] = [logitsOf(model), logitsOf(opened)];
  const most = Math.max(...a.map(Math.abs));
  a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) <= limit * most, `logit ${i}: ${x} became ${b[i]}`));
  opened.dispose();
  model.dispose();
}

for (const [name, [architecture, files]] of Object.entries(OPENED))
  test(`${name}: F32 gives the same bits of logits`, async () => sameLogits(await hl.openModel(files), architecture));

for (const [architecture, options] of MADE)
  test(`a model is saved as ${architecture}: ${JSON.stringify(options)}`, () =>
    sameLogits(hl.transformer({ ...SMALL, ...options }), architecture));

test("Llama 3's frequencies are rounded to float32", async () => {
  const model = await hl.openModel(golden('llama-a'));
  assert.equal(model.options.rotary.scaling.type, 'llama3');
  await sameLogits(model, 'llama', 2e-6);
});

test("yarn's factor is rounded to float32", () => {
  const scaling = { type: 'yarn', factor: 4, originalContext: 8, betaFast: 16, betaSlow: 2, attentionFactor: 1.7 };
  return sameLogits(hl.transformer({ ...SMALL, ...RMS, rotary: { scaling } }), 'llama', 2e-6);
});

test('F16 and BF16 hold the rounded matrices, and everything else unchanged', async () => {
  for (const [, files] of [OPENED['GPT-2'], OPENED['Llama, yarn'], OPENED.Gemma])
    for (const type of ['F16', 'BF16']) {
      const model = await hl.openModel(files);
      const opened = await open(await model.saveGguf({ type }));
      const [before, after] = [model.stateDict(), opened.stateDict()];
      assert.deepEqual(Object.keys(after), Object.keys(before));
      for (const [name, { data, shape }] of Object.entries(before)) {
        const rounds = shape.length > 1 && name !== 'embedding.position';
        const expected = rounds ? rounded(type, data) : data;
        assert.deepEqual(after[name].data, expected, name);
      }
      model.dispose();
      opened.dispose();
    }
});

/** Rounds numbers to the nearest ones of a type, ties to even. */
function rounded(type, data) {
  if (type === 'BF16') {
    const wide = new Uint32Array(Float32Array.from(data).buffer);
    return new Float32Array(wide.map((bits) => ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) << 16).buffer);
  }
  return Float32Array.from(new Uint16Array(encode('F16', data).buffer), (code) => {
    const [sign, exponent, fraction] = [code >> 15 ? -1 : 1, (code >> 10) & 31, code & 1023];
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
}

test('Q8_0 and Q4_0: matrices in blocks, the head in Q8_0, other rows in float16', async () => {
  const model = hl.transformer({ ...SMALL, ...RMS, mlp: 40 });
  for (const [type, matrix] of [
    ['Q8_0', 'Q8_0'],
    ['Q4_0', 'Q4_0'],
  ]) {
    const bytes = await model.saveGguf({ type });
    const { tensors, metadata } = readGguf(bytes);
    const types = Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensor.type]));
    assert.equal(metadata['general.quantization_version'], 2);
    assert.equal(types['blk.1.attn_q.weight'], matrix);
    assert.equal(types['token_embd.weight'], matrix);
    assert.equal(types['output.weight'], 'Q8_0');
    assert.equal(types['blk.0.ffn_up.weight'], matrix);
    assert.equal(types['blk.0.ffn_down.weight'], 'F16');
    assert.equal(types['blk.0.attn_norm.weight'], 'F32');
    const [before, after] = [model.stateDict(), (await open(bytes, { weights: 'float32' })).stateDict()];
    for (const name of ['blocks.0.attention.wq', 'blocks.1.attention.wv', 'embedding.table'])
      inBlocks(before[name].data, after[name].data, matrix === 'Q8_0' ? 127 : 7, name);
    inBlocks(before['head.weight'].data, after['head.weight'].data, 127, 'head');
  }
  model.dispose();
});

/**
 * Checks that the rounding error of each number is within about half a step of the block for 8 bits, or 1.6 steps for 4
 * bits.
 */
function inBlocks(x, y, levels, name) {
  for (let b = 0; b < x.length; b += 32) {
    const step = Math.max(...x.subarray(b, b + 32).map(Math.abs)) / levels;
    for (let i = b; i < b + 32; i++)
      assert.ok(Math.abs(x[i] - y[i]) <= (levels === 127 ? 0.51 : 1.6) * step, `${name}[${i}]: ${x[i]} became ${y[i]}`);
  }
}

for (const name of ['llama-q8_0', 'llama-q4_0', 'gpt2-q8_0', 'gpt2-q4_0'])
  test(`${name}: the file is written again with the same tensors and the same tokenizer`, async () => {
    const before = readGguf(goldenGguf(name));
    const model = await open(goldenGguf(name));
    const after = readGguf(await model.saveGguf({ type: name.endsWith('q8_0') ? 'Q8_0' : 'Q4_0' }));
    assert.deepEqual(Object.keys(after.tensors).sort(), Object.keys(before.tensors).sort());
    for (const [key, tensor] of Object.entries(before.tensors)) {
      const { type, shape, data } = after.tensors[key];
      assert.deepEqual([type, shape], [tensor.type, tensor.shape], key);
      assert.deepEqual(data(), tensor.data(), key);
    }
    for (const [key, value] of Object.entries(before.metadata))
      if (!key.startsWith('general.')) assert.deepEqual(after.metadata[key], value, key);
    assert.equal(after.metadata['general.file_type'], before.metadata['general.file_type']);
    model.dispose();
  });

test('the demo model is a Llama with the tokenizer of GPT-2', async () => {
  const model = await hl.openModel('demo');
  const bytes = await model.saveGguf({ type: 'F32', name: 'Moby-Dick' });
  const { metadata } = readGguf(bytes);
  assert.deepEqual(
    ['general.architecture', 'general.name', 'tokenizer.ggml.model', 'tokenizer.ggml.pre'].map((key) => metadata[key]),
    ['llama', 'Moby-Dick', 'gpt2', 'gpt-2'],
  );
  assert.equal(metadata['tokenizer.ggml.eos_token_id'], 2047);
  const opened = await open(bytes);
  for (const text of TEXTS) assert.deepEqual(opened.encode(text).ids, model.encode(text).ids, text);
  assert.deepEqual(logitsOf(opened), logitsOf(model));
  const [a, b] = [await model.generate('Call me', { max: 8 }), await opened.generate('Call me', { max: 8 })];
  assert.deepEqual(b.ids, a.ids);
  for (const each of [model, opened]) each.dispose();
});

test('end tokens and the chat template come from the files of the model', async () => {
  const template = '{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}';
  const tokenizer = JSON.stringify(readTokenizer('bpe'));
  const made = hl.transformer({ ...SMALL, ...RMS });
  const folder = await made.saveFolder({ tokenizer });
  const config = JSON.parse(new TextDecoder().decode(folder['config.json']));
  folder['config.json'] = Buffer.from(JSON.stringify({ ...config, bos_token_id: 3, eos_token_id: [7, 421] }));
  folder['tokenizer_config.json'] = Buffer.from(JSON.stringify({ chat_template: template, eos_token: '(' }));
  const model = await hl.openModel(folder);
  const { metadata } = readGguf(await model.saveGguf());
  const keys = ['bos_token_id', 'eos_token_id', 'eot_token_id', 'add_bos_token'].map((key) => `tokenizer.ggml.${key}`);
  assert.deepEqual(
    keys.map((key) => metadata[key]),
    [3, 7, 421, false],
  );
  assert.equal(metadata['tokenizer.chat_template'], template);
  const opened = await open(await model.saveGguf());
  assert.deepEqual(opened.generation.stop, [7, 421]);
  const again = readGguf(await opened.saveGguf()).metadata;
  assert.deepEqual(again['tokenizer.chat_template'], template);
  const { metadata: other } = readGguf(await model.saveGguf({ tokenizer }));
  assert.equal(other['tokenizer.chat_template'], template);
  const { metadata: plain } = readGguf(await model.saveGguf({ tokenizer: null }));
  assert.equal(plain['tokenizer.ggml.model'], 'none');
  assert.equal(plain['tokenizer.chat_template'], undefined);
  for (const each of [made, model, opened]) each.dispose();
});

const refuses = (promise, parameter, message) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.deepEqual([error.code, error.parameter], ['ARGUMENT', parameter], error.message);
    assert.match(error.message, message);
    return true;
  });

test('models that GGUF cannot hold are refused by name', async () => {
  const of = (options) => hl.transformer({ ...SMALL, ...options }).saveGguf();
  await refuses(of({ ...RMS, normPlace: 'parallel' }), 'normPlace', /normPlace 'parallel'.*llama, gpt2, qwen2/);
  await refuses(of({ kvHeads: 4, activation: 'relu' }), 'activation', /gpt2 in GGUF has no activation 'relu'/);
  await refuses(of({ ...RMS, scale: 0.5 }), 'scale', /no scale 0.5/);
  await refuses(of({ ...RMS, classes: 3, head: 'pooled' }), 'head', /only models that continue a text/);
  const phi = await hl.openModel(fromFamilies.Phi);
  await refuses(
    phi.saveGguf(),
    'family',
    /family phi is not written; the families that can be written are llama, gpt2/,
  );
  phi.dispose();
});

test('arguments are checked, and numbers that a type cannot hold', async () => {
  const model = hl.transformer({ ...SMALL, ...RMS });
  await refuses(model.saveGguf({ type: 'Q4_K' }), 'type', /'F32', 'F16', 'BF16', 'Q8_0'/);
  await refuses(model.saveGguf({ tokenizer: 7 }), 'tokenizer', /text of a tokenizer.json/);
  await refuses(model.saveGguf({ name: 7 }), 'name', /expected a text/);
  model.parameters['blocks.0.up.weight'].data[5] = 1e6;
  await refuses(model.saveGguf({ type: 'F16' }), 'type', /'blk.0.ffn_up.weight' has numbers that F16 cannot hold/);
  model.parameters['blocks.0.up.weight'].data[5] = NaN;
  await refuses(model.saveGguf({ type: 'Q8_0' }), 'type', /Q8_0 cannot hold/);
  assert.ok(await model.saveGguf({ type: 'F16' }));
  model.dispose();
  await assert.rejects(model.saveGguf(), { code: 'DISPOSED' });
});
