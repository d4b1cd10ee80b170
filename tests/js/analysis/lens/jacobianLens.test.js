// Tests the logits that a Jacobian lens computes from the output of a block.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { jacobianLens, logitLens, mergeJacobianLenses, readJacobianLens } from 'headlight-attention/analysis';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { plainModel } from '../../../support/plain_model.js';

const FOLDER = join(GOLDEN, 'lens');
const CAPTURE = ['embed', 'blocks.*.out'];
const IDS = [[1, 5, 2, 7]];

const lensOf = (width, layers, at, prompts = 1) => ({
  layers,
  prompts,
  width,
  changes: [],
  matrices: Object.fromEntries(
    layers.map((layer) => [
      layer,
      { data: Float32Array.from({ length: width ** 2 }, (_, i) => at(i, layer)), shape: [width, width] },
    ]),
  ),
});
const identity = (width) => (i) => (i % (width + 1) === 0 ? 1 : 0);

for (const { model: name, inputs, outputs } of readPack('lens', FOLDER).filter(({ kind }) => kind === 'lens-file'))
  test(`${name}: the logits of a lens are those of PyTorch`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', name));
    const lens = readJacobianLens(readFileSync(join(FOLDER, `${name}.pt`)));
    const ids = [...inputs.read.data];
    const result = model.forward(ids, { capture: ['blocks.*.out'] });
    const [layers, rows, classes] = outputs.logits.shape;
    const token = ids.map((_, t) => t);
    const labels = Array.from({ length: classes }, (_, label) => label);
    const read = jacobianLens(model, result, lens, { token, labels });
    assert.deepEqual(
      read.map(({ at }) => at),
      ['blocks.0.out'],
    );
    const logits = read.flatMap(({ tokens }) => tokens.flatMap((row) => row.labels.map(({ logit }) => logit)));
    assert.equal(logits.length, layers * rows * classes);
    assert.ok(difference(logits, outputs.logits.data) < 2e-5);
    result.dispose();
    model.dispose();
  });

test('the identity gives the logit lens, and a multiple of it is undone by the norm', () => {
  const model = plainModel({});
  const result = model.forward(IDS, { capture: CAPTURE });
  const options = { token: [0, -1], top: 3, labels: [4] };
  const plain = logitLens(model, result, options).slice(1);
  assert.deepEqual(jacobianLens(model, result, lensOf(6, [0, 1], identity(6)), options), plain);
  const [scaled] = jacobianLens(
    model,
    result,
    lensOf(6, [1], (i) => 3 * identity(6)(i)),
    options,
  );
  for (const [t, { top }] of scaled.tokens.entries())
    for (const [n, guess] of top.entries()) {
      assert.equal(guess.label, plain[1].tokens[t].top[n].label);
      assert.ok(Math.abs(guess.logit - plain[1].tokens[t].top[n].logit) < 1e-4);
    }
});

test('row i of the matrix gives channel i', () => {
  const model = plainModel({ norm: 'none' });
  const result = model.forward(IDS, { capture: CAPTURE });
  const matrix = lensOf(6, [0], (i) => Math.sin(i));
  const { data, shape } = result.captured['blocks.0.out'];
  const h = data.subarray((shape[1] - 1) * 6);
  const moved = Float32Array.from({ length: 6 }, (_, i) => h.reduce((sum, x, j) => sum + Math.sin(6 * i + j) * x, 0));
  const captured = { 'blocks.0.out': { data: moved, shape: [1, 1, 6] } };
  const read = (lens, run) => jacobianLens(model, run, lens)[0].tokens[0].top.map(({ logit }) => logit);
  assert.ok(difference(read(matrix, result), read(lensOf(6, [0], identity(6)), { captured })) < 1e-6);
});

test('a lens that does not fit the model, and a model that logitLens refuses, are refused', () => {
  const model = plainModel({});
  const result = model.forward(IDS, { capture: CAPTURE });
  const wrong = (lens, code, parameter, options) =>
    assert.throws(() => jacobianLens(model, result, lens, options), { code, parameter });
  wrong(lensOf(5, [0], identity(5)), 'SHAPE', 'lens');
  wrong(lensOf(6, [0, 2], identity(6)), 'SHAPE', 'lens');
  wrong(undefined, 'ARGUMENT', 'lens');
  wrong({ ...lensOf(6, [0], identity(6)), matrices: {} }, 'ARGUMENT', 'lens.matrices[0]');
  const lens = lensOf(6, [0], identity(6));
  wrong(lens, 'ARGUMENT', 'labels', { labels: [9] });
  wrong(lens, 'ARGUMENT', 'token', { token: 4 });
  wrong(lens, 'ARGUMENT', 'batch', { batch: 1 });
  wrong(lens, 'ARGUMENT', 'layer', { layer: 1 });
  assert.throws(() => jacobianLens(model, { captured: {} }, lens), {
    code: 'ARGUMENT',
    parameter: 'result',
    message: /call forward with capture: \['blocks.\*.out'\]/,
  });
  for (const options of [{ head: 'none' }, { headTransform: 'gelu' }]) {
    const other = { ...model, options: { ...model.options, ...options } };
    assert.throws(() => jacobianLens(other, result, lens), { code: 'ARGUMENT', parameter: 'model' });
  }
});

test('merging weights the matrices by the numbers of prompts', () => {
  const parts = [2, 6].map((prompts, n) => lensOf(3, [1, 4], (i, layer) => i * layer + 10 * n, prompts));
  const merged = mergeJacobianLenses(parts);
  assert.deepEqual([merged.layers, merged.prompts, merged.width, merged.changes], [[1, 4], 8, 3, []]);
  for (const layer of [1, 4])
    assert.deepEqual(
      [...merged.matrices[layer].data],
      Array.from({ length: 9 }, (_, i) => i * layer + 7.5),
    );
  assert.deepEqual(mergeJacobianLenses(parts.slice(0, 1)), parts[0]);
  const wrong = (lenses, code, parameter) => assert.throws(() => mergeJacobianLenses(lenses), { code, parameter });
  wrong([], 'ARGUMENT', 'lenses');
  wrong(parts[0], 'ARGUMENT', 'lenses');
  wrong([parts[0], lensOf(2, [1, 4], () => 0)], 'SHAPE', 'lenses[1]');
  wrong([parts[0], lensOf(3, [1], () => 0)], 'SHAPE', 'lenses[1]');
  wrong([parts[0], { ...parts[1], prompts: -1 }], 'ARGUMENT', 'lenses[1].prompts');
  wrong([parts[0], { ...parts[1], prompts: Number.MAX_SAFE_INTEGER }], 'ARGUMENT', 'lenses');
});
