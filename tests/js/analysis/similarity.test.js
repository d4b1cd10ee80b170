// Tests the similarity of two texts, and the shares of their tokens in it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { tokenSimilarity } from 'headlight-attention/analysis';
import { uniformSource } from '../../../src/js/ops/random.ts';

const random = uniformSource(11);
const states = (...shape) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * random() - 1),
  shape,
});
const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} for ${expected}`);
const sum = (numbers) => numbers.reduce((a, x) => a + x, 0);
const row = ({ data, shape }, t) => [...data.subarray(t * shape.at(-1), (t + 1) * shape.at(-1))];
/** Returns the mean of the rows. */
const meanOf = (x) =>
  row(x, 0).map((_, c) => sum(Array.from({ length: x.shape.at(-2) }, (_, t) => row(x, t)[c])) / x.shape.at(-2));
const product = (a, b) => sum(a.map((x, i) => x * b[i]));
const cosine = (a, b) => product(a, b) / Math.sqrt(product(a, a) * product(b, b));

test('the shares of pairs and of tokens sum to the cosine of the means', () => {
  const [a, b] = [states(5, 7), states(1, 3, 7)];
  const { cosine: whole, pairs, first, second } = tokenSimilarity(a, b);
  near(whole, cosine(meanOf(a), meanOf(b)));
  for (const shares of [pairs, first, second]) near(sum([...shares.data]), whole);
  assert.deepEqual([pairs.shape, first.shape, second.shape], [[5, 3], [5], [3]]);
  // The expected share of one pair follows the definition.
  const lengths = [a, b].map((x) => x.shape.at(-2) * Math.sqrt(product(meanOf(x), meanOf(x))));
  near(pairs.data[2 * 3 + 1], product(row(a, 2), row(b, 1)) / (lengths[0] * lengths[1]));
  near(first.data[4], sum([...pairs.data.subarray(12, 15)]));
  near(second.data[0], sum([0, 3, 6, 9, 12].map((i) => pairs.data[i])));
});

test('a text is as similar to itself as can be, to nothing not at all, and shapes are checked', () => {
  const a = states(4, 6);
  near(tokenSimilarity(a, a).cosine, 1);
  assert.equal(tokenSimilarity(a, { data: new Float32Array(12), shape: [2, 6] }).cosine, 0);
  assert.equal(tokenSimilarity(a, { data: new Float32Array(6).fill(NaN), shape: [1, 6] }).cosine, NaN);
  assert.throws(() => tokenSimilarity(a, states(4, 5)), { code: 'SHAPE', parameter: 'second' });
  assert.throws(() => tokenSimilarity(states(2, 4, 6), a), { code: 'SHAPE', parameter: 'first' });
});
