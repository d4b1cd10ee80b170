import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight';
import { writeNpy, writeSafetensors } from 'headlight/formats';
import { compute } from '../../web/compute.js';
import { attentionOptions, EXAMPLES } from '../../web/examples.js';
import { change, initialState } from '../../web/state.js';
import { LANGUAGES } from '../../web/strings.js';
import { readTensors, TensorProblem } from '../../web/tensors.js';
import { difference } from '../support/golden.js';
import { numbers } from '../support/kernels.js';

const hl = await load();
const x = (...shape) => ({ data: numbers(shape.reduce((a, b) => a * b, 1), 3), shape });
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const problem = (fn) => {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof TensorProblem, error.stack);
    for (const { fileProblems } of Object.values(LANGUAGES)) assert.ok(fileProblems[error.code](...error.values).length > 10);
    return [error.code, ...error.values];
  }
  return assert.fail('accepted');
};

test('npy, safetensors and JSON give the same tensors', () => {
  const q = x(2, 5, 6);
  const nested = Array.from({ length: 2 }, (_, b) => Array.from({ length: 5 }, (_, t) => [...q.data.subarray((b * 5 + t) * 6, (b * 5 + t + 1) * 6)]));
  for (const bytes of [writeNpy(q), writeSafetensors({ 'model.q': q }), json(nested), json({ query: { data: [...q.data], shape: q.shape } })]) {
    const { query, key } = readTensors(bytes);
    assert.deepEqual([query.shape, query.data, key], [[2, 5, 6], q.data, undefined]);
  }
  assert.deepEqual(readTensors(json([[1, 2], [3, 4], [5, 6]])).query.shape, [1, 3, 2]);
});

test('what does not fit says what was expected', () => {
  assert.deepEqual(problem(() => readTensors(json([[1, 2], [3]]))), ['ragged', 'x']);
  assert.deepEqual(problem(() => readTensors(json([1, 2]))), ['rank', 'x', '[2]']);
  assert.deepEqual(problem(() => readTensors(writeSafetensors({ a: x(2, 2), b: x(2, 2) }))), ['noQuery', 'a, b']);
  assert.deepEqual(problem(() => readTensors(writeSafetensors({ q: x(3, 4), k: x(5, 6) }))), ['misfit', 'k', '[1,5,6]', '[1,5,4]']);
  assert.deepEqual(problem(() => readTensors(writeSafetensors({ q: x(3, 4), k: x(5, 4), v: x(6, 4) }))), ['misfit', 'v', '[1,6,4]', '[1,5,4]']);
  assert.deepEqual(problem(() => readTensors(writeNpy(x(600, 2)))), ['large', 600, 512]);
  assert.deepEqual(problem(() => readTensors(writeNpy(x(1, 17, 2, 2)))), ['manyHeads', 17, 16]);
  assert.equal(problem(() => readTensors(new Uint8Array([1, 2, 3])))[0], 'unreadable');
  assert.equal(problem(() => readTensors(json({}).subarray(0, 1)))[0], 'unreadable');
});

test('given tensors are attended: packed heads, heads of their own, rectangular, with their tokens', () => {
  const packed = { query: x(2, 4, 6), key: x(2, 7, 6), value: x(2, 7, 6) };
  const bytes = writeSafetensors({ q: packed.query, k: packed.key, v: packed.value }, { keys: JSON.stringify([...'abcdefg']) });
  const state = change(initialState, { example: 'file', heads: 3, mask: 'causal' });
  const given = readTensors(bytes);
  const result = compute(hl, state, given);
  assert.deepEqual([result.shape, result.keys.join(''), result.queries[3]], [[2, 3, 4, 7], 'abcdefg', 'q4']);
  const options = attentionOptions(state, EXAMPLES.file.problem(state, given));
  hl.scope(() => {
    const { weights, output } = hl.attention(packed.query, packed.key, packed.value, { ...options, heads: 3, weights: true });
    assert.ok(difference(result.weights, weights.data) < 1e-6);
    assert.ok(difference(result.steps.concat.data, output.data) < 1e-6);
  });
  const four = compute(hl, change(initialState, { example: 'file', heads: 8 }), readTensors(writeNpy(x(1, 2, 5, 4))));
  assert.deepEqual(four.shape, [1, 2, 5, 5]);
  assert.throws(() => compute(hl, state, readTensors(writeNpy(x(4, 5)))), /width 5 is not a multiple of 3 heads/);
  assert.equal(compute(hl, state), null);
});
