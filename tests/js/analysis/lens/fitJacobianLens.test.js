// Tests the fitting of Jacobian lenses to models.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { fitJacobianLens, jacobianLens, mergeJacobianLenses } from 'headlight-attention/analysis';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import { build, hl } from '../../../support/headlight.js';

const SIZES = { layers: 3, dModel: 8, numHeads: 2, vocab: 11, context: 16, seed: 3 };
const SEQUENCES = [
  [1, 4, 2, 9, 3, 3, 7],
  [5, 0, 8, 8, 2],
  [10, 2, 6, 1, 5, 9, 4, 3, 7, 0],
];
const SKIP = 2;

/** Converts a matrix of ids, with −1 after the end of each sequence, to lists of ids. */
const listsOf = ({ ids, lengths }) =>
  Array.from(lengths.data, (n, i) => Array.from(ids.data.subarray(i * ids.shape[1], i * ids.shape[1] + n)));

for (const { name, model: folder, options, inputs, outputs } of readPack('lens', join(GOLDEN, 'lens')).filter(
  ({ kind }) => kind === 'lens',
))
  test(`${folder}, ${name}: matrices, changes and logits are those of PyTorch`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', folder));
    const steps = [];
    const onProgress = (step) => void steps.push(step);
    const lens = await fitJacobianLens(model, listsOf(inputs), { ...options, onProgress });
    const { matrices, used, change, logits } = outputs;
    assert.deepEqual([lens.layers, lens.prompts, lens.width], [options.layers, used.data.length, matrices.shape[2]]);
    const all = lens.layers.flatMap((layer) => [...lens.matrices[layer].data]);
    assert.ok(difference(all, matrices.data) < 1e-5);
    assert.ok(Number.isNaN(lens.changes[0]));
    assert.ok(difference([-1, ...lens.changes.slice(1)], change.data) < 1e-5);
    const total = lens.prompts;
    assert.deepEqual(
      steps,
      lens.changes.map((change, i) => ({ done: i + 1, total, change })),
    );
    const read = [...inputs.read.data];
    const result = model.forward(read, { capture: ['blocks.*.out'] });
    const labels = Array.from({ length: logits.shape[2] }, (_, label) => label);
    const guesses = jacobianLens(model, result, lens, { token: read.map((_, t) => t), labels });
    const seen = guesses.flatMap(({ tokens }) => tokens.flatMap((row) => row.labels.map(({ logit }) => logit)));
    assert.ok(difference(seen, logits.data) < 1e-4);
    result.dispose();
    model.dispose();
  });

for (const options of [
  {},
  { causal: false, normPlace: 'after' },
  { norm: 'rms', positions: 'rotary', kvHeads: 1, gated: true },
  { normPlace: 'parallel' },
  { normPlace: 'outputs', residualScale: 0.7 },
])
  test(`a matrix is the mean of central differences: ${JSON.stringify(options)}`, async () => {
    const model = build(hl, { ...SIZES, ...options });
    const C = SIZES.dModel;
    const lens = await fitJacobianLens(model, SEQUENCES, { skip: SKIP, layers: [1, 0] });
    assert.deepEqual(lens.layers, [0, 1]);
    const step = 1e-2;
    /**
     * Returns the mean output of the last block over the tokens, when a step is added to one channel of a block's
     * output at each token.
     */
    const moved = (ids, layer, channel, size) => {
      const token = ids.slice(SKIP, -1).map((_, i) => SKIP + i);
      const add = { data: Float32Array.from({ length: C }, (_, i) => (i === channel ? size : 0)), shape: [C] };
      const edit = [{ at: `blocks.${layer}.out`, token, add }];
      const result = model.forward(ids, { capture: ['blocks.2.out'], edit });
      const out = result.captured['blocks.2.out'].copy();
      result.dispose();
      return Array.from({ length: C }, (_, i) => token.reduce((sum, t) => sum + out[t * C + i], 0) / token.length);
    };
    for (const layer of lens.layers) {
      const expected = new Float64Array(C * C);
      for (const ids of SEQUENCES)
        for (let j = 0; j < C; j++) {
          const [above, below] = [step, -step].map((size) => moved(ids, layer, j, size));
          for (let i = 0; i < C; i++) expected[i * C + j] += (above[i] - below[i]) / (2 * step) / SEQUENCES.length;
        }
      assert.ok(difference(lens.matrices[layer].data, expected) < 2e-3);
    }
    model.dispose();
  });

test('batches of channels give the same bits, parts can be merged, and no memory is left', async () => {
  const model = build(hl, SIZES);
  model.forward(SEQUENCES[0]).dispose();
  const before = hl.info.memory.used;
  const options = { skip: SKIP };
  const lens = await fitJacobianLens(model, SEQUENCES, options);
  assert.deepEqual(lens.layers, [0, 1]);
  const runs = [];
  const batched = { ...options, batch: 3, onRun: (run) => void runs.push(run) };
  assert.deepEqual(await fitJacobianLens(model, SEQUENCES, batched), lens);
  assert.deepEqual(
    runs,
    Array.from({ length: 9 }, (_, i) => ({ done: i + 1, total: 9 })),
  );
  const parts = [SEQUENCES.slice(0, 1), SEQUENCES.slice(1)];
  const merged = mergeJacobianLenses(await Promise.all(parts.map((part) => fitJacobianLens(model, part, options))));
  assert.equal(merged.prompts, 3);
  for (const layer of lens.layers) assert.ok(difference(merged.matrices[layer].data, lens.matrices[layer].data) < 1e-6);
  assert.equal(hl.info.memory.used, before);
  model.dispose();
});

test('sequences are truncated to length and to the context, and too short ones are left out', async () => {
  const model = build(hl, { ...SIZES, context: 6 });
  const fit = (sequences, options) => fitJacobianLens(model, sequences, { skip: SKIP, ...options });
  const [long] = SEQUENCES;
  assert.deepEqual(await fit([long]), await fit([long.slice(0, 6)]));
  assert.deepEqual(await fit([long], { length: 5 }), await fit([Int32Array.from(long.slice(0, 5)), [1, 2, 3]]));
  model.dispose();
});

test('another target differentiates the output of an earlier block', async () => {
  const model = build(hl, SIZES);
  const short = hl.transformer({ ...SIZES, layers: 2 });
  for (const [name, { data }] of Object.entries(short.parameters)) data.set(model.parameters[name].data);
  const options = { skip: SKIP, target: 1 };
  const lens = await fitJacobianLens(model, SEQUENCES, options);
  assert.deepEqual(lens.layers, [0]);
  assert.deepEqual(lens, await fitJacobianLens(short, SEQUENCES, { skip: SKIP }));
  for (const each of [model, short]) each.dispose();
});

test('texts are encoded, and until stops at the first small change', async () => {
  const model = build(hl, SIZES);
  model.tokenizer = {
    encode: (text) => ({ ids: [...text].map((c) => c.charCodeAt(0) - 97), typeIds: [], tokens: [], offsets: [] }),
    decode: () => '',
  };
  const text = 'abcdefgh';
  const ids = [...text].map((_, i) => i);
  const lens = await fitJacobianLens(model, [text], { skip: SKIP });
  assert.deepEqual(lens, await fitJacobianLens(model, [ids], { skip: SKIP }));
  const many = [...SEQUENCES, ...SEQUENCES, ...SEQUENCES];
  const { changes } = await fitJacobianLens(model, many, { skip: SKIP });
  assert.ok(changes.slice(1).every((x) => x > 0));
  const until = changes.slice(1).sort((a, b) => b - a)[3];
  const stopped = await fitJacobianLens(model, many, { skip: SKIP, until: until * 1.0001 });
  assert.equal(stopped.prompts, changes.findIndex((x) => x <= until) + 1);
  assert.deepEqual(stopped.changes, changes.slice(0, stopped.prompts));
  model.dispose();
});

test('an abort takes effect between runs, and every result is freed', async () => {
  const model = build(hl, SIZES);
  const before = hl.info.memory.used;
  const controller = new AbortController();
  let calls = 0;
  const onRun = ({ done }) => {
    calls++;
    if (done === 2) controller.abort(new Error('enough'));
  };
  const options = { skip: SKIP, batch: 2, onRun, signal: controller.signal };
  await assert.rejects(fitJacobianLens(model, SEQUENCES, options), /enough/);
  assert.equal(calls, 2);
  const failing = async () => Promise.reject(new Error('mine'));
  await assert.rejects(fitJacobianLens(model, SEQUENCES, { skip: SKIP, onProgress: failing }), /mine/);
  assert.equal(hl.info.memory.used, before);
  model.dispose();
});

test('invalid arguments are refused before the first run', async () => {
  const model = build(hl, SIZES);
  model.differentiate = () => assert.fail('differentiate was called');
  const refused = (sequences, options, parameter, message = /fitJacobianLens: /, of = model) =>
    assert.rejects(fitJacobianLens(of, sequences, options), { code: 'ARGUMENT', parameter, message });
  for (const [name, ...values] of [
    ['layers', [], [2], [-1], [0.5], 0, 'all'],
    ['target', 0, 3, -1, 1.5],
    ['skip', -1, 0.5, Number.NaN],
    ['length', 0, 17],
    ['batch', 0, 1.5],
    ['until', -1, 'x'],
    ['onProgress', 5],
    ['onRun', {}],
    ['signal', {}],
    ['at', 'embed'],
  ])
    for (const value of values) await refused(SEQUENCES, { [name]: value }, name);
  await refused(SEQUENCES, { target: 1, layers: [1] }, 'layers');
  for (const sequences of [[], 'text', undefined]) await refused(sequences, {}, 'sequences');
  await refused(SEQUENCES, {}, 'sequences', /no sequence has 18 tokens, the minimum with skip 16/);
  for (const wrong of [[1, 11, 2], [0.5, 1, 2], [-1], 5, null])
    await refused(
      [SEQUENCES[0], wrong],
      { skip: 1 },
      'sequences',
      /sequences\[1\] is .*expected a text or token ids from 0/,
    );
  for (const options of [{ layers: 1 }, { input: 'patches' }, { cross: true }]) {
    const other = { ...model, options: { ...model.options, ...options } };
    await refused(SEQUENCES, { skip: SKIP }, 'model', /fitJacobianLens: this model/, other);
  }
  model.dispose();
});
