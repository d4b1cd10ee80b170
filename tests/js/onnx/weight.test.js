// Checks that weights in ONNX files are rounded like in the core.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { quantize } from '../../../src/js/onnx/weight.ts';
import { rounded } from '../../support/onnx.js';

const hl = await load();

test('integers and scales equal those of an int8 model, for the original and for the dequantized weights', () => {
  const model = hl.transformer({ layers: 1, dModel: 300, numHeads: 2, vocab: 10, context: 8, mlp: 140, seed: 3 });
  const before = model.stateDict();
  model.quantize();
  const after = model.stateDict();
  const names = Object.keys(before).filter((name) => before[name].data.some((x, i) => x !== after[name].data[i]));
  assert.ok(names.length >= 6);
  for (const name of names) {
    const { shape } = before[name];
    assert.deepEqual(rounded(before[name].data, shape), after[name].data, name);
    assert.deepEqual(rounded(after[name].data, shape), after[name].data, name);
  }
});

test('a group of zeros has integers of 0', () => {
  const { integers, scales } = quantize(new Float32Array(130), 1, 130);
  assert.ok(integers.every((x) => x === 0) && scales.every((scale) => scale > 0));
});
