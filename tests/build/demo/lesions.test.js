// Checks the training steps in which random parts of a model are off.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { cutRandomParts } from '../../../src/build/demo/lesions.ts';
import { fillRefrain } from '../../../src/build/demo/refrains.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';

const SEED = 3;
const options = {
  layers: 2,
  dModel: 8,
  numHeads: 2,
  mlp: 12,
  vocab: 16,
  context: 8,
  norm: 'rms',
  gated: true,
  bias: false,
};
const isZero = (data) => data.every((x) => x === 0);

test('all parts but the kept ones are off, and get their weights back and no gradients', async () => {
  const hl = await load();
  const model = hl.transformer({ ...options, positions: 'rotary', seed: SEED });
  const before = model.stateDict();
  const lesions = { share: 1, all: 1, kept: [[1, 0]], keptMlps: [0], windows: {} };
  const restore = cutRandomParts(model, lesions, true, uniformSource(SEED));
  const columns = (data, from) =>
    Array.from({ length: 8 }, (_, r) => [...data.slice(r * 8 + from, r * 8 + from + 4)]).flat();
  const wo = (l) => model.parameters[`blocks.${l}.attention.wo`].data;
  assert.ok(isZero(wo(0)) && isZero(columns(wo(1), 4)) && !isZero(columns(wo(1), 0)));
  assert.ok(
    isZero(model.parameters['blocks.1.down.weight'].data) && !isZero(model.parameters['blocks.0.down.weight'].data),
  );
  const ids = { data: [1, 2, 3, 4], shape: [1, 4] };
  model.learn(ids, { data: [2, 3, 4, 5], shape: [1, 4] });
  restore();
  for (const [name, { data }] of Object.entries(model.stateDict())) assert.deepEqual(data, before[name].data, name);
  assert.ok(isZero(model.gradients['blocks.0.attention.wo'].data));
  assert.ok(!isZero(columns(model.gradients['blocks.1.attention.wo'].data, 0)));
  hl.dispose();
});

test('in the other steps only the heads are off that often are', async () => {
  const hl = await load();
  const model = hl.transformer({ ...options, positions: 'rotary', seed: SEED });
  const lesions = { share: 0, all: 1, kept: [], keptMlps: [], often: [[0, 1]], rest: 1, windows: {} };
  cutRandomParts(model, lesions, false, uniformSource(SEED));
  const { data } = model.parameters['blocks.0.attention.wo'];
  for (let row = 0; row < 8; row++) {
    assert.ok(isZero(data.slice(row * 8 + 4, row * 8 + 8)));
    assert.ok(!isZero(data.slice(row * 8, row * 8 + 4)));
  }
  assert.ok(!isZero(model.parameters['blocks.1.attention.wo'].data));
  hl.dispose();
});

test(`a refrain says a passage twice at its beginning, then continues with text (seed ${SEED})`, () => {
  const random = uniformSource(SEED);
  const train = Int32Array.from({ length: 4000 }, (_, i) => i);
  const words = Int32Array.from({ length: 400 }, (_, i) => 4000 + i);
  const texts = { train, heldOut: new Int32Array(0), start: -1, whole: new Uint16Array(4000).fill(30), words };
  for (let n = 0; n < 40; n++) {
    const [labels, targets] = [new Int32Array(128), new Int32Array(128)];
    fillRefrain(texts, { labels, targets }, random);
    for (let t = 0; t + 1 < 128; t++) if (targets[t] !== -100) assert.equal(targets[t], labels[t + 1]);
    const again = labels.findIndex((token, t) => labels.indexOf(token) < t);
    assert.ok(again > 6 && again < 35, `${again}`);
    const rest = labels.slice(100);
    assert.ok(rest.every((token, i) => i === 0 || token === rest[i - 1] + 1));
  }
});
