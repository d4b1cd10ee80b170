// Tests the analysis of whole models that Headlight runs.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  attribution,
  composition,
  headScores,
  logitDifference,
  logitLens,
  patch,
  rollout,
  valueWeighted,
} from 'headlight-attention/analysis';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { checkpoints } from '../../support/models.js';
import { inTier } from '../../support/tier.js';

const [B, T, V] = [2, 4, 11];
const IDS = { data: Int32Array.of(1, 4, 2, 9, 3, 3, 7, 0), shape: [B, T] };
const SIZES = { layers: 2, dModel: 16, numHeads: 4, vocab: V, context: 8 };
const LLAMA = { norm: 'rms', positions: 'rotary', gated: true, activation: 'silu', kvHeads: 2, bias: false };

/** Makes a model in which no parameter is exactly zero or one. */
function makeModel(hl, options) {
  const model = hl.transformer({ ...SIZES, ...options });
  const random = uniformSource(5);
  for (const { data } of Object.values(model.parameters)) data.forEach((x, i) => (data[i] = x + 0.4 * random() - 0.2));
  return model;
}
const total = ({ embed, heads, cross, mlps, bias }) =>
  [embed, bias, ...heads.data, ...(cross?.data ?? []), ...mlps.data].reduce((a, x) => a + x, 0);

for (const options of [
  {},
  { norm: 'rms' },
  { norm: 'none' },
  { bias: false },
  { mlp: 0 },
  { tied: true, logitSoftcap: 5 },
  { tied: true, embedDim: 8 },
  { embedDim: 6, headWidth: 5 },
  { normPlace: 'parallel' },
  { normPlace: 'parallel', sharedNorm: true, positions: 'alibi' },
  { normPlace: 'both', norm: 'rms' },
  { normPlace: 'after', causal: false },
  { normPlace: 'stream' },
  { layerScale: true },
  { sharedBlocks: true, normPlace: 'after' },
  { normPlace: 'outputs', norm: 'rms', positions: 'rotary', queryKeyNorm: 'all' },
  { normScale: false, normPlace: 'outputs' },
  { residualScale: 0.3 },
  { residualScale: 0.3, normPlace: 'after' },
  { normScale: false, normPlace: 'after' },
  { normScale: false, bias: { norm: false, query: true } },
  LLAMA,
])
  test(
    `the contributions sum to every logit, and the logit lens ends with the same logits: ${JSON.stringify(options)}`,
    everywhere((hl) => {
      const model = makeModel(hl, options);
      const capture = ['embed', 'blocks.*.heads', 'blocks.*.out', ...(options.mlp === 0 ? [] : ['blocks.*.mlp'])];
      const result = model.forward(IDS, { capture });
      const logit = (batch, token, label) => result.logits.data[(batch * T + token) * V + label];
      for (let batch = 0; batch < B; batch++)
        for (let token = 0; token < T; token++) {
          for (let label = 0; label < V; label++) {
            const off = total(attribution(model, result, { batch, token, label })) - logit(batch, token, label);
            assert.ok(Math.abs(off) < 1e-5, `${batch}, ${token}, ${label}: off by ${off}`);
          }
          const [{ top }] = logitLens(model, result, { batch, token, top: V }).at(-1).tokens;
          const seen = top.map(({ label }) => logit(batch, token, label));
          assert.ok(
            difference(
              top.map((guess) => guess.logit),
              seen,
            ) < 1e-5,
          );
        }
      model.dispose();
    }),
  );

test('a norm without a weight equals a norm whose weight is 1', () => {
  const [one, plain] = [true, false].map((normScale) => hl.transformer({ ...SIZES, normScale, bias: false }));
  const ends = [
    { layer: 0, head: 1 },
    { layer: 1, head: 2 },
  ];
  assert.deepEqual(composition(plain, ...ends), composition(one, ...ends));
  const logitsOf = (model) => hl.scope(() => model.forward(IDS).logits.copy());
  const same = () => assert.deepEqual(logitsOf(plain), logitsOf(one));
  same();
  for (const model of [one, plain]) model.quantize();
  same();
  assert.deepEqual(
    Object.keys(plain.parameters).filter((name) => /norm.*weight/.test(name)),
    [],
  );
  for (const model of [one, plain]) model.dispose();
});

test('the contributions in a model with int8 weights sum to its logits, within the rounding', () => {
  const model = makeModel(hl, { dModel: 128 });
  const heads = [
    { layer: 0, head: 1 },
    { layer: 1, head: 2 },
  ];
  const before = composition(model, ...heads);
  model.quantize();
  const result = model.forward(IDS, { capture: ['embed', 'blocks.*.heads', 'blocks.*.mlp'] });
  const [actual, expected] = [[], []];
  for (let label = 0; label < V; label++) {
    actual.push(total(attribution(model, result, { label })));
    expected.push(result.logits.data[(T - 1) * V + label]);
  }
  // The tolerance is large because the core may round the inputs of int8 products to 1800 levels. Attribution uses
  // inputs that are not rounded.
  assert.ok(difference(actual, expected) < 5e-3);
  for (const [name, share] of Object.entries(composition(model, ...heads)))
    assert.ok(Math.abs(share - before[name]) < 1e-3);
  result.dispose();
  model.dispose();
});

test('head scores, rollout and value-weighted weights accept captured weights and values', () => {
  const model = makeModel(hl, LLAMA);
  const ids = { data: Int32Array.of(1, 4, 1, 4, 3, 6, 7, 3), shape: [B, T] };
  const { captured, ...result } = model.forward(ids, { capture: ['blocks.*.weights', 'blocks.*.value'] });
  const weights = [0, 1].map((l) => captured[`blocks.${l}.weights`]);
  const scores = headScores(weights, { ids });
  for (const { data, shape } of Object.values(scores)) {
    assert.deepEqual(shape, [2, 4]);
    assert.ok(data.every((x) => x >= 0));
  }
  assert.deepEqual(
    rollout(weights).map(({ shape }) => shape),
    [
      [B, T, T],
      [B, T, T],
    ],
  );
  const wo = model.parameters['blocks.0.attention.wo'];
  assert.deepEqual(valueWeighted(weights[0], captured['blocks.0.value'], wo).shape, [B, 4, T, T]);
  for (const tensor of [...Object.values(captured), result.logits, result.hidden]) tensor.dispose();
  model.dispose();
});

test('patching the differing token before the first block gives the clean run', async () => {
  const model = makeModel(hl, LLAMA);
  // The first run allocates a table of angles, which the model keeps.
  model.forward(IDS).dispose();
  const before = hl.info.memory.used;
  const metric = logitDifference(1, 2);
  const [clean, corrupted] = [
    [1, 2, 3, 4],
    [1, 5, 3, 4],
  ];
  const { recovered } = await patch(model, clean, corrupted, metric, { at: 'blocks.*.in' });
  assert.ok(Math.abs(recovered.data[1] - 1) < 1e-4);
  assert.ok(Math.abs(recovered.data[0]) < 1e-4);
  const byHead = await patch(model, clean, corrupted, metric, { at: 'blocks.*.heads' });
  assert.deepEqual(byHead.values.shape, [2, 4]);
  assert.ok(byHead.recovered.data.some((share) => Math.abs(share) > 1e-3));
  assert.equal(hl.info.memory.used, before);
  model.dispose();
});

/** Step between the labels that are compared. */
const STEP = inTier(1, 7);
for (const { folder, name, cases } of checkpoints)
  test(`${name}: the contributions sum to the logits of the original library`, async () => {
    const model = await hl.openModel(folder);
    const { cross, headTransform, head, pool } = model.options;
    const capture = ['embed', 'blocks.*.heads', 'blocks.*.mlp', ...(cross ? ['blocks.*.cross.heads'] : [])];
    for (const { input, outputs, name: of } of cases.filter(({ kind }) => kind === 'forward')) {
      const { captured, ...rest } = model.forward(input, { capture });
      const run = { captured };
      if (headTransform !== 'none' || pool === 'first-mean') {
        assert.throws(() => attribution(model, run, { label: 0 }), { code: 'ARGUMENT', parameter: 'model' });
      } else {
        const { data, shape } = outputs.logits;
        const [count, classes] = [shape.length === 2 ? 1 : shape[1], shape.at(-1)];
        const scale = data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        for (let row = 0; row < data.length / classes; row++) {
          if (input.keep?.data[row] === 0) continue;
          for (let label = row % STEP; label < classes; label += STEP) {
            const place = head === 'pooled' ? {} : { token: row % count };
            const parts = attribution(model, run, { label, batch: Math.floor(row / count), ...place });
            const off = total(parts) - data[row * classes + label];
            assert.ok(Math.abs(off) < 1e-4 * scale, `${of}, row ${row}, label ${label}: off by ${off} of ${scale}`);
          }
        }
      }
      for (const tensor of [...Object.values(captured), ...Object.values(rest)]) tensor?.dispose?.();
    }
    model.dispose();
  });
