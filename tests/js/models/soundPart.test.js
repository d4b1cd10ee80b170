// The part of the module for models of sound is loaded by openModel. In a file of its own, as each file of tests has a
// module of its own.

import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

test('a model of sound needs openModel once before', async () => {
  const sound = { widths: [2], kernels: [3], strides: [2], positions: { kernel: 2, groups: 1 } };
  const options = { layers: 0, dModel: 4, numHeads: 1, context: 9, input: 'sound', sound, head: 'none', causal: false };
  const make = () => hl.transformer({ ...options, positions: 'none' });
  assert.throws(make, { code: 'STATE', message: /transformer: .*hl\.openModel with a model of sound/ });
  (await hl.openModel(families.find(({ name }) => name === 'wav2vec 2.0').files)).dispose();
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
