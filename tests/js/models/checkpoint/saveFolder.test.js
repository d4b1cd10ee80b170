// Opens the files of saveFolder again with openModel, and compares them with the files from which the models were
// opened.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { families } from '../../../support/families.js';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { refusesLater } from '../../../support/refuses.js';

const SMALL = { layers: 2, dModel: 12, numHeads: 3, vocab: 9, context: 8, seed: 5 };
const RMS = { norm: 'rms', positions: 'rotary', gated: true, activation: 'silu', bias: false };
const LLAMA3 = { type: 'llama3', factor: 8, originalContext: 4, lowFreqFactor: 1, highFreqFactor: 4 };
const YARN = { type: 'yarn', factor: 4, originalContext: 4, betaFast: 32, betaSlow: 1 };
/** Models: [model_type, options]. */
const MADE = [
  ['gpt2', {}],
  ['gpt2', { tied: true, mlp: 20, normEps: 1e-6 }],
  ['gpt2', { activation: 'relu', dropout: 0.1, scale: 1, context: 5 }],
  ['gpt2', { activation: 'quick-gelu', layers: 1 }],
  ['gpt2', { scale: [0.5, 0.25] }],
  ['llama', RMS],
  ['llama', { ...RMS, tied: true, numHeads: 6, kvHeads: 2, mlp: 7, activation: 'gelu' }],
  ['llama', { ...RMS, headDim: 8, bias: { query: true, key: true, value: true, out: true, mlp: true } }],
  ['llama', { ...RMS, rotary: { theta: 5e5, scaling: { type: 'linear', factor: 2 } }, activation: 'gelu-tanh' }],
  ['llama', { ...RMS, rotary: { scaling: LLAMA3 }, dropout: 0.2 }],
  ['llama', { ...RMS, rotary: { scaling: YARN } }],
  ['mistral', { ...RMS, window: 3 }],
  ['qwen2', { ...RMS, bias: { query: true, key: true, value: true }, window: [null, 4] }],
  ['qwen3', { ...RMS, queryKeyNorm: true, kvHeads: 1 }],
];

/** Builds a model with random biases and norms. */
function build(options) {
  const model = hl.transformer({ ...SMALL, ...options });
  const random = uniformSource(3);
  for (const { data } of Object.values(model.parameters)) data.forEach((x, i) => void (data[i] = x + random() - 0.5));
  return model;
}
const configIn = (files) => JSON.parse(new TextDecoder().decode(files['config.json']));
const logitsOf = (model) =>
  hl.scope(() => Array.from(model.forward([[1, 4, 0, 2, 2]]).logits.data)).map((x) => (Object.is(x, -0) ? 0 : x));

for (const [type, options] of MADE)
  test(`a model is saved as ${type} and opened again with the same bits: ${JSON.stringify(options)}`, async () => {
    const model = build(options);
    const files = await model.saveFolder();
    assert.deepEqual(Object.keys(files), ['config.json', 'model.safetensors', 'train.py']);
    assert.equal(configIn(files).model_type, type);
    const opened = await hl.openModel(files);
    assert.equal(opened.family, type === 'mistral' ? 'llama' : type);
    assert.deepEqual(opened.stateDict(), model.stateDict());
    assert.deepEqual(logitsOf(opened), logitsOf(model));
    for (const one of [model, opened]) one.dispose();
  });

const read = (folder) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith('expected'))
      .map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]),
  );
const tensorsIn = (files) =>
  Object.assign(
    {},
    ...Object.keys(files)
      .filter((name) => name.endsWith('.safetensors'))
      .map((name) => readSafetensors(files[name]).tensors),
  );

const CHECKPOINTS = [
  ...['gpt2-a', 'llama-a', 'qwen2-a', 'gemma2-a', 'bert-a', 't5-a', 'marian-a'].map((name) => ({
    name,
    files: read(join(GOLDEN, 'models', name)),
  })),
  ...families.filter(({ input }) => 'ids' in input),
];
/** Tolerance for Gemma, whose norms are the stored values plus 1. Subtracting 1 again may lose the last bit. */
const LAST_BIT = 1e-7;

for (const { name, files: given, input } of CHECKPOINTS)
  test(`${name} is saved with the tensors of its file`, async () => {
    const model = await hl.openModel(given);
    const files = await model.saveFolder();
    // One tower of CLIP is saved as a separate model, with the config.json of a model that has only this tower.
    const config = configIn(given).model_type === 'clip' ? model.config : configIn(given);
    assert.deepEqual(configIn(files), { ...config, torch_dtype: 'float32' });
    const [before, after] = [tensorsIn(given), tensorsIn(files)];
    for (const [key, { data, shape }] of Object.entries(after)) {
      assert.deepEqual(shape, before[key]?.shape, key);
      const off = model.family.startsWith('gemma') ? LAST_BIT : 0;
      data.forEach((x, i) => assert.ok(Math.abs(x - before[key].data[i]) <= off, `${key}[${i}]: ${x}`));
    }
    const opened = await hl.openModel(files);
    assert.deepEqual(opened.stateDict(), model.stateDict());
    if (input?.encoder) {
      const [first, second] = [model, opened].map((one) => hl.scope(() => one.forward(input).logits.copy()));
      assert.deepEqual(second, first);
    }
    for (const one of [model, opened]) one.dispose();
  });

test('an encoder–decoder is saved in the shapes and with the settings of its file', async () => {
  const { files: given, input } = families.find(({ name }) => name === 'Marian');
  const generation = { forced_eos_token_id: 0, num_beams: 4 };
  const files = { ...given, 'generation_config.json': new TextEncoder().encode(JSON.stringify(generation)) };
  const model = await hl.openModel(files);
  const saved = await model.saveFolder();
  assert.deepEqual(tensorsIn(saved).final_logits_bias.shape, [1, model.options.vocab]);
  assert.equal('train.py' in saved, false);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(saved['generation_config.json'])), generation);
  // Changes a weight of each kind of attention. The changes must be saved.
  for (const at of ['encoder.blocks.0.attention.wv', 'blocks.1.attention.wo', 'blocks.0.cross.wq'])
    model.parameters[at].data[1] += 1;
  const opened = await hl.openModel(await model.saveFolder());
  assert.deepEqual(opened.stateDict(), model.stateDict());
  const [first, second] = [model, opened].map((one) => hl.scope(() => one.forward(input).logits.copy()));
  assert.deepEqual(second, first);
  for (const one of [model, opened]) one.dispose();
});

test('models of pictures or audio, and models with an encoder that were not opened whole, are refused', async () => {
  for (const { files } of families.filter(({ input }) => !('ids' in input))) {
    const model = await hl.openModel(files);
    await refusesLater(model.saveFolder(), 'ARGUMENT', 'input', /saveFolder: .* written/);
    model.dispose();
  }
  const made = build({ encoder: { ...SMALL, causal: false, head: 'none' } });
  const cut = await hl.openModel(families.find(({ name }) => name === 'BART').files, { layers: 1 });
  for (const model of [made, cut]) {
    await refusesLater(model.saveFolder(), 'ARGUMENT', 'encoder', /saveFolder: .* opened whole from a config.json/);
    model.dispose();
  }
});

test('a model opened from its saved folder continues training like the original', async () => {
  const model = build({ tied: true });
  const labels = [[1, 2, 3, 4, 5]];
  const targets = [[2, 3, 4, 5, 6]];
  const step = (one) => {
    const optimizer = hl.sgd([one], { lr: 0.1 });
    const { loss } = one.zeroGrad().learn(labels, targets);
    optimizer.step();
    optimizer.dispose();
    return loss;
  };
  step(model);
  const opened = await hl.openModel(await model.saveFolder());
  assert.deepEqual([step(opened), step(opened)], [step(model), step(model)]);
  for (const one of [model, opened]) one.dispose();
});

test('int8 weights are saved with their rounded values', async () => {
  const model = build(RMS).quantize();
  const opened = await hl.openModel(await model.saveFolder());
  assert.deepEqual(opened.stateDict(), model.stateDict());
  for (const one of [model, opened]) one.dispose();
});

test('saveFolder writes the given tokenizer, or the one with which the model was opened', async () => {
  const tokenizer = readFileSync(new URL('../../../../web/demo/tokenizer.json', import.meta.url), 'utf8');
  const model = build({});
  const files = await model.saveFolder({ tokenizer });
  const opened = await hl.openModel(files);
  assert.deepEqual(opened.encode('Call me').ids.length > 0, true);
  assert.deepEqual((await opened.saveFolder())['tokenizer.json'], files['tokenizer.json']);
  assert.equal('tokenizer.json' in (await model.saveFolder()), false);
  for (const one of [model, opened]) one.dispose();
});

test('train.py and the state of the optimizer are written for the supported families', async () => {
  const model = build({});
  const optimizer = hl.sgd([model], { lr: 0.5, momentum: 0.9 });
  model.zeroGrad().learn([[1, 2, 3]], [[2, 3, 4]]);
  optimizer.step();
  const files = await model.saveFolder({ optimizer });
  assert.match(new TextDecoder().decode(files['train.py']), /^#!.*python3\n"""/);
  const { tensors, metadata } = readSafetensors(files['optimizer.safetensors']);
  assert.deepEqual(JSON.parse(metadata.headlight), {
    ...{
      optimizer: 'sgd',
      lr: 0.5,
      momentum: 0.9,
      nesterov: false,
      weightDecay: 0,
      dropout: 0,
      steps: 1,
      seed: model.options.seed,
      learned: 1,
    },
  });
  const weights = readSafetensors(files['model.safetensors']).tensors;
  assert.deepEqual(
    Object.entries(tensors).map(([name, { shape }]) => [name, shape]),
    Object.entries(weights).map(([name, { shape }]) => [`${name}.velocity`, shape]),
  );
  // After one step the velocity equals the gradient. In GPT-2 the matrix is transposed, and its key columns follow
  // those of the queries.
  const { data } = tensors['transformer.h.0.attn.c_attn.weight.velocity'];
  assert.equal(data[12], model.gradients['blocks.0.attention.wk'].data[0]);
  assert.equal(data[36 + 12], model.gradients['blocks.0.attention.wk'].data[1]);

  const others = build({});
  const another = hl.adam([others]);
  await refusesLater(model.saveFolder({ optimizer: another }), 'ARGUMENT', 'optimizer', /an optimizer of this model/);
  await refusesLater(model.saveFolder({ optimizer: {} }), 'ARGUMENT', 'optimizer', /hl\.adamW/);
  const bert = await hl.openModel(CHECKPOINTS.find(({ name }) => name === 'bert-a').files);
  assert.equal('train.py' in (await bert.saveFolder()), false);
  const ofBert = hl.adam([bert]);
  await refusesLater(
    bert.saveFolder({ optimizer: ofBert }),
    'ARGUMENT',
    'optimizer',
    /train\.py supports only gpt2, llama/,
  );
  optimizer.dispose();
  await refusesLater(model.saveFolder({ optimizer }), 'DISPOSED', 'layers[0].parameters.embedding.table', /saveFolder/);
  for (const one of [model, others, another, bert, ofBert]) one.dispose();
});

test('train.py is not written for classification heads or models without a head', async () => {
  for (const { name, files: given } of families.filter(({ name }) => /(GPT-2|Llama|Qwen2) for/.test(name))) {
    const model = await hl.openModel(given);
    assert.equal('train.py' in (await model.saveFolder()), false, name);
    const optimizer = hl.adam([model]);
    await refusesLater(model.saveFolder({ optimizer }), 'ARGUMENT', 'optimizer', /train\.py supports only/);
    for (const one of [model, optimizer]) one.dispose();
  }
  const { 'config.json': config, ...files } = CHECKPOINTS.find(({ name }) => name === 'llama-a').files;
  const { tensors } = readSafetensors(files['model.safetensors']);
  delete tensors['lm_head.weight'];
  const model = await hl.openModel({ 'config.json': config, 'model.safetensors': writeSafetensors(tensors) });
  assert.equal('train.py' in (await model.saveFolder()), false);
  model.dispose();
});

test('options that no family has are refused by name', async () => {
  for (const [options, parameter] of [
    [{ positions: 'sinusoidal' }, 'positions'],
    [{ normPlace: 'parallel' }, 'normPlace'],
    [{ ...RMS, sinks: true }, 'sinks'],
    [{ mlp: 0, gated: true }, 'gated'],
  ]) {
    const model = build(options);
    await refusesLater(
      model.saveFolder(),
      'ARGUMENT',
      parameter,
      new RegExp(`saveFolder: none of .* fits this model: .*${parameter}`),
    );
    model.dispose();
  }
  const model = build({});
  for (const tokenizer of [null, 1, {}])
    await refusesLater(model.saveFolder({ tokenizer }), 'ARGUMENT', 'tokenizer', /saveFolder/);
  // saveFolder does not write files that openModel would refuse.
  for (const tokenizer of ['{', '{"model":{}}', Uint8Array.of(0x22, 0xff, 0x22)])
    await refusesLater(
      model.saveFolder({ tokenizer }),
      'FORMAT',
      'tokenizer',
      /saveFolder: the tokenizer could not be opened/,
    );
  await refusesLater(model.saveFolder({ token: 1 }), 'ARGUMENT', 'token', /saveFolder/);
  model.dispose();
  await refusesLater(model.saveFolder(), 'DISPOSED', undefined, /saveFolder/);
});
