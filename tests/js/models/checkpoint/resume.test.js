import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { hl } from '../../../support/headlight.js';

const SIZE = { layers: 2, dModel: 16, numHeads: 4, vocab: 13, context: 12 };
const LLAMA = {
  norm: 'rms',
  positions: 'rotary',
  kvHeads: 2,
  activation: 'silu',
  gated: true,
  bias: false,
  tied: false,
};
const KINDS = {
  'GPT-2 with AdamW and dropout': [
    { dropout: 0.2, seed: 7 },
    (model) => hl.adamW([model], { lr: 3e-3, betas: [0.8, 0.99] }),
  ],
  'GPT-2 with Adam': [{}, (model) => hl.adam([model], { weightDecay: 0.1 })],
  'Llama with SGD and momentum': [LLAMA, (model) => hl.sgd([model], { lr: 0.1, momentum: 0.9, nesterov: true })],
};
const learn = (model, optimizer, steps) =>
  Array.from({ length: steps }, (_, step) => {
    const row = Array.from({ length: 9 }, (_, i) => (i * (step + 2)) % SIZE.vocab);
    const { loss } = model.zeroGrad().learn([row.slice(0, -1)], [row.slice(1)]);
    optimizer.step();
    return loss;
  });

for (const [name, [options, makeOptimizer]] of Object.entries(KINDS))
  test(`openModel continues a training bit for bit: ${name}`, async () => {
    const { used } = hl.info.memory;
    const model = hl.transformer({ ...SIZE, ...options });
    const optimizer = makeOptimizer(model);
    learn(model, optimizer, 3);
    const files = await model.saveFolder({ optimizer });
    const expected = learn(model, optimizer, 4);
    const state = optimizer.stateDict();
    const weights = model.stateDict();
    for (const one of [optimizer, model]) one.dispose();

    const folder = await mkdtemp(join(tmpdir(), 'headlight-resume-'));
    for (const [file, bytes] of Object.entries(files)) await writeFile(join(folder, file), bytes);
    for (const source of [files, folder]) {
      const opened = await hl.openModel(source);
      const { optimizer: own } = opened;
      assert.deepEqual([own.name, own.lr, own.options], [optimizer.name, optimizer.lr, optimizer.options]);
      assert.deepEqual(learn(opened, own, 4), expected);
      assert.deepEqual(own.stateDict(), state);
      assert.deepEqual(opened.stateDict(), weights);
      opened.dispose();
      assert.equal(hl.info.memory.used, used);
    }
    await rm(folder, { recursive: true });
  });

test('without a training, and for weights that cannot be trained, there is no optimizer', async () => {
  const model = hl.transformer(SIZE);
  const optimizer = hl.adam([model]);
  learn(model, optimizer, 1);
  const files = await model.saveFolder({ optimizer });
  const { 'optimizer.safetensors': state, ...plain } = files;
  const foreign = {
    ...plain,
    'optimizer.safetensors': writeSafetensors({ a: { data: Float32Array.of(1), shape: [1] } }),
  };
  for (const [source, options] of [
    [plain, {}],
    [foreign, {}],
    [files, { weights: 'int8' }],
    [files, { layers: 1 }],
  ]) {
    const opened = await hl.openModel(source, options);
    assert.equal(opened.optimizer, undefined);
    opened.dispose();
  }
  assert.ok(state.length > 0);
  for (const one of [optimizer, model]) one.dispose();
});

test('a wrong file of the optimizer is refused, and all memory is freed', async () => {
  const model = hl.transformer(SIZE);
  const optimizer = hl.sgd([model], { momentum: 0.9 });
  learn(model, optimizer, 1);
  const files = await model.saveFolder({ optimizer });
  for (const one of [optimizer, model]) one.dispose();
  const { tensors, metadata } = readSafetensors(files['optimizer.safetensors']);
  const settings = JSON.parse(metadata.headlight);
  const { used } = hl.info.memory;
  const refused = async (changed, given, message) => {
    const headlight = typeof given === 'string' ? given : JSON.stringify({ ...settings, ...given });
    const file = writeSafetensors({ ...tensors, ...changed }, { headlight });
    await assert.rejects(hl.openModel({ ...files, 'optimizer.safetensors': file }), {
      code: 'FORMAT',
      parameter: 'optimizer.safetensors',
      message,
    });
    assert.equal(hl.info.memory.used, used);
  };
  const bias = 'transformer.ln_f.bias.velocity';
  await refused(
    { [bias]: { data: Float32Array.of(1), shape: [1] } },
    {},
    /ln_f\.bias\.velocity is missing, or is not F32 of shape \[16\]/,
  );
  await refused({}, { optimizer: 'adam' }, /\.mean is missing/);
  await refused({}, { optimizer: 'lion' }, /there is no optimizer "lion"/);
  await refused({}, { lr: -1 }, /sgd: lr is -1/);
  await refused({}, '{', /its metadata is not JSON/);
});
