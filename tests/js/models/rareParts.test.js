// Tests the parts of the module that implement mechanisms which only few models have.

import assert from 'node:assert/strict';
import test from 'node:test';
import { loadRareParts } from '../../../src/js/models/loadRareParts.ts';
import { rarePart } from '../../../src/js/models/rareParts.ts';
import { hl } from '../../support/headlight.js';

test('a part is loaded for the models that need it, and missed by name before', async () => {
  const needs = { sound: { input: 'sound' }, disentangled: { disentangled: {} }, attentionPool: { pool: 'attention' } };
  await loadRareParts({ input: 'tokens', pool: 'first' });
  for (const [name, options] of Object.entries(needs)) {
    const message = new RegExp(`^test: the part for ${name} is not loaded; first call hl.openModel`);
    assert.throws(() => rarePart(name, 'test'), { code: 'STATE', parameter: name, message });
    await loadRareParts(options);
    assert.ok(Object.keys(rarePart(name, 'test')).length > 0);
  }
});

test('a model of sound is made with its options, which are checked', () => {
  const sound = { widths: [2], kernels: [3], strides: [2], positions: { kernel: 2, groups: 1 } };
  const options = { layers: 0, dModel: 4, numHeads: 1, context: 9, input: 'sound', sound, head: 'none', causal: false };
  const make = () => hl.transformer({ ...options, positions: 'none' });
  const model = make();
  assert.deepEqual(model.forward({ samples: [1, 2, 3, 4, 5] }).hidden.shape, [2, 4]);
  for (const [changed, parameter] of [
    [{ sound: undefined }, 'options'],
    [{ sound: { ...sound, kernels: [3, 3] } }, 'kernels'],
    [{ sound: { ...sound, strides: [0] } }, 'strides[0]'],
    [{ sound: { ...sound, norm: 'batch' } }, 'norm'],
    [{ sound: { ...sound, positions: { kernel: 2, groups: 3 } } }, 'positions.groups'],
    [{ sound: { ...sound, width: 2 } }, 'width'],
  ])
    assert.throws(() => hl.transformer({ ...options, ...changed }), { code: 'ARGUMENT', parameter });
  model.dispose();
});
