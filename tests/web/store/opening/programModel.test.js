// Tests the model that a program passes to the page: which requests the worker receives when the model changes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { PROGRAM_MODEL } from '../../../../web/model/state.ts';
import { createProgramModel } from '../../../../web/store/opening/programModel.ts';

const start = (input) => {
  const asked = [];
  const requests = { send: (message) => asked.push(message), show: () => asked.push('show') };
  return { asked, model: createProgramModel(input, requests) };
};

test('another input is sent to the worker, and shown', () => {
  const { asked, model } = start(null);
  model.send();
  assert.deepEqual(asked, []);
  const input = { kind: 'files', files: [] };
  model.replace(input);
  assert.deepEqual(asked, [{ verb: 'openInput', name: PROGRAM_MODEL, input }, 'show']);
  model.send();
  assert.equal(asked.at(-1).input, input);
});

test('weights are transposed: rows become columns, and keys become tokens where their numbers differ', async () => {
  const layers = [{ data: Float32Array.of(0.5, 0.25, 1, 0.5, 0.75, 0), shape: [1, 2, 3] }];
  const { asked, model } = start({ kind: 'weights', tokens: ['a', 'b'], keys: ['x', 'y', 'z'], layers });
  await model.transpose();
  const [{ verb, input }, shown] = asked;
  assert.deepEqual([verb, shown], ['openInput', 'show']);
  assert.deepEqual(
    [input.tokens, input.keys],
    [
      ['x', 'y', 'z'],
      ['a', 'b'],
    ],
  );
  assert.deepEqual(input.layers[0].shape, [1, 3, 2]);
  assert.deepEqual([...input.layers[0].data], [0.5, 0.5, 0.25, 0.75, 1, 0]);
  const files = start({ kind: 'files', files: [] });
  await files.model.transpose();
  assert.deepEqual(files.asked, []);
});
