// Runs train.py, which saveFolder writes with a model, and which continues the training of Headlight in PyTorch.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { promisify } from 'node:util';
import { writeSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { hl } from '../../../support/headlight.js';

const run = promisify(execFile);
const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import torch']).status === 0);
const skip = python ? false : 'no PyTorch here (Debian: python3-torch)';

const [STEPS, BATCH, LENGTH] = [10, 4, 6];
const SMALL = { layers: 2, dModel: 12, numHeads: 3, vocab: 9, context: 8, seed: 5 };
const RMS = { ...SMALL, norm: 'rms', positions: 'rotary', gated: true, activation: 'silu', bias: false };
const LLAMA3 = { type: 'llama3', factor: 8, originalContext: 4, lowFreqFactor: 1, highFreqFactor: 4 };
const YARN = { type: 'yarn', factor: 4, originalContext: 4, betaFast: 32, betaSlow: 1 };
const BIASED = { query: true, key: true, value: true };
const adamW = (model) => hl.adamW([model], { lr: 0.01, betas: [0.8, 0.95], eps: 1e-6, weightDecay: 0.1 });
const CASES = [
  ['gpt2', SMALL, adamW],
  ['gpt2', { ...SMALL, tied: true, mlp: 20, scale: 1, activation: 'relu' }, (m) => hl.adam([m], { lr: 0.003 })],
  ['gpt2', { ...SMALL, mlp: 0, layers: 1 }, adamW],
  ['llama', { ...RMS, numHeads: 6, kvHeads: 2, tied: true, bias: { ...BIASED, out: true, mlp: true } }, adamW],
  ['llama', { ...RMS, headDim: 8, rotary: { theta: 5e3, scaling: LLAMA3 } }, (m) => hl.sgd([m], { lr: 0.1 })],
  ['llama', { ...RMS, rotary: { scaling: { type: 'linear', factor: 2 } }, activation: 'quick-gelu' }, adamW],
  ['mistral', { ...RMS, headDim: 8, rotary: { scaling: YARN }, window: 3 }, adamW],
  [
    'qwen2',
    { ...RMS, bias: BIASED, window: [null, 3], activation: 'gelu' },
    (m) => hl.sgd([m], { lr: 0.05, momentum: 0.9, nesterov: true, weightDecay: 0.01 }),
  ],
  ['qwen3', { ...RMS, headDim: 6, queryKeyNorm: true, kvHeads: 1, activation: 'gelu-tanh' }, adamW],
];

/** Returns rows of random tokens and targets. Some of the targets are ignored. */
function makeRows(count, vocab = SMALL.vocab) {
  const random = uniformSource(11);
  const shape = [count, LENGTH];
  const tokens = Int32Array.from({ length: count * LENGTH }, () => Math.floor(random() * vocab));
  const targets = Int32Array.from(tokens, (_, i) => (random() < 0.2 ? -100 : tokens[(i + 1) % tokens.length]));
  return { tokens: { data: tokens, shape }, targets: { data: targets, shape } };
}
const batchAt = ({ tokens, targets }, step) => {
  const size = BATCH * LENGTH;
  const at = (step * size) % tokens.data.length;
  return [tokens, targets].map(({ data }) => ({ data: data.slice(at, at + size), shape: [BATCH, LENGTH] }));
};
/** Trains with Headlight and returns the loss of each step. */
const learn = (model, optimizer, rows, steps) =>
  Array.from({ length: steps }, (_, step) => {
    const { loss } = model.zeroGrad().learn(...batchAt(rows, step));
    optimizer.step();
    return loss;
  });

let root;
before(async () => void (root = await mkdtemp(join(tmpdir(), 'headlight-train-'))));
after(() => rm(root, { recursive: true }));

async function writeFolder(files) {
  const folder = await mkdtemp(join(root, 'model-'));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  return folder;
}
/** Runs train.py and returns the steps and losses that it prints. */
async function train(folder, launcher, ...options) {
  const { stdout } = await run(python, [...launcher, join(folder, 'train.py'), ...options], {
    env: { ...process.env, OMP_NUM_THREADS: '1', GLOO_SOCKET_IFNAME: 'lo' },
  });
  return [...stdout.matchAll(/\bstep (\d+) loss (\S+)$/gm)].map(([, step, loss]) => ({ step: +step, loss: +loss }));
}
const assertNear = (found, expected) => {
  assert.equal(found.length, expected.length);
  found.forEach((loss, i) =>
    assert.ok(Math.abs(loss - expected[i]) <= 1e-5, `loss ${i} is ${loss}, expected ${expected[i]}`),
  );
};

/** Trains a model for some steps and writes it to a folder. Also returns the losses of the next steps. */
async function writeTrained(options, makeOptimizer) {
  const rows = makeRows(BATCH * STEPS);
  const model = hl.transformer(options);
  const optimizer = makeOptimizer(model);
  learn(model, optimizer, rows, 3);
  const files = await model.saveFolder({ optimizer });
  const folder = await writeFolder({ ...files, 'tokens.safetensors': writeSafetensors(rows) });
  const expected = learn(model, optimizer, rows, STEPS);
  const parameters = model.stateDict();
  for (const one of [optimizer, model]) one.dispose();
  return { folder, files, expected, parameters };
}
const argumentsFor = (folder, steps = STEPS) => [
  '--tokens',
  join(folder, 'tokens.safetensors'),
  '--steps',
  `${steps}`,
  '--batch',
  `${BATCH}`,
];

for (const [type, options, makeOptimizer] of CASES)
  test(`PyTorch continues the training of a ${type}: ${JSON.stringify(options)}`, { skip }, async () => {
    const { folder, files, expected, parameters } = await writeTrained(options, makeOptimizer);
    assert.equal(JSON.parse(new TextDecoder().decode(files['config.json'])).model_type, type);
    const losses = await train(folder, [], ...argumentsFor(folder), '--out', join(folder, 'trained'));
    assertNear(
      losses.map(({ loss }) => loss),
      expected,
    );
    assert.deepEqual(
      losses.map(({ step }) => step),
      expected.map((_, i) => 4 + i),
    );
    // Opens the files that PyTorch wrote. The parameters must be those of the same training in Headlight.
    const back = await hl.openModel(join(folder, 'trained'));
    for (const [name, { data }] of Object.entries(back.stateDict())) {
      // The gradient of a key bias is only rounding errors, which Adam amplifies.
      if (name.endsWith('.bk')) continue;
      data.forEach((x, i) => assert.ok(Math.abs(x - parameters[name].data[i]) < 1e-3, `${name}[${i}]`));
    }
    back.dispose();
  });

test('two processes have the same losses as one, and training continues from the written folder', {
  skip,
}, async () => {
  const { folder, expected } = await writeTrained(SMALL, adamW);
  // Without these options, torchrun of PyTorch 1.13 fails with Python 3.11.
  const output = ['--redirects', '1', '--tee', '1', '--log_dir', join(folder, 'log')];
  const two = ['-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', ...output];
  const trained = join(folder, 'trained');
  const first = await train(folder, two, ...argumentsFor(folder, 6), '--out', trained);
  const tokens = writeSafetensors(
    Object.fromEntries(
      Object.entries(makeRows(BATCH * STEPS)).map(([name, { data, shape }]) => {
        const from = 6 * BATCH * LENGTH;
        const turned = Int32Array.from(data, (_, i) => data[(i + from) % data.length]);
        return [name, { data: turned, shape }];
      }),
    ),
  );
  await writeFile(join(trained, 'tokens.safetensors'), tokens);
  const rest = await train(trained, two, ...argumentsFor(trained, 4));
  assertNear(
    [...first, ...rest].map(({ loss }) => loss),
    expected,
  );
  assert.equal(rest.at(-1).step, 13);
});

test('one long text is cut into rows; a text that is too short is refused', { skip }, async () => {
  const model = hl.transformer(SMALL);
  const tokens = Int32Array.from({ length: 25 }, (_, i) => i % 9);
  const file = writeSafetensors({ tokens: { data: tokens, shape: [25] } });
  const folder = await writeFolder({ ...(await model.saveFolder()), 'tokens.safetensors': file });
  const cut = [0, 6, 12, 18].map((at) => tokens.slice(at, at + LENGTH + 1));
  const { loss } = model.learn(
    cut.map((row) => [...row.slice(0, LENGTH)]),
    cut.map((row) => [...row.slice(1)]),
  );
  const [{ loss: found }] = await train(folder, [], ...argumentsFor(folder, 1), '--length', `${LENGTH}`);
  assertNear([found], [loss]);
  await assert.rejects(train(folder, [], ...argumentsFor(folder), '--length', '30'), /25 tokens are not one row of 30/);
  const other = { labels: { data: tokens, shape: [25] } };
  await writeFile(join(folder, 'tokens.safetensors'), writeSafetensors(other));
  await assert.rejects(train(folder, [], ...argumentsFor(folder)), /no tensor called tokens, but labels/);
  model.dispose();
});
