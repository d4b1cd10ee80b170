// Tests numbers that the worker computes from weights and hidden states, with models made of a few numbers.

import assert from 'node:assert/strict';
import test from 'node:test';
import { meanPictures } from '../../../web/worker/atlas/meanPictures.ts';
import { encodePassages } from '../../../web/worker/atlas/passages.ts';
import { fingerprintOf, hashOf } from '../../../web/worker/atlas/scanKey.ts';
import { scoreHeads, weightsOf } from '../../../web/worker/run/headScores.ts';
import { RoleCache } from '../../../web/worker/run/roleMeasurement.ts';
import { optionsOf, sinkOf, stepsOf } from '../../../web/worker/run/scoreSteps.ts';
import { turnedFrom } from '../../../web/worker/run/turned.ts';

const P = 16;

test('the mean picture is that of the passages which are long enough, 96 at most', () => {
  const heads = 2;
  const asked = [];
  let disposed = 0;
  const model = {
    forward(input) {
      asked.push(input);
      const data = Float32Array.from({ length: input.length * heads * P * P }, (_, i) => i);
      const captured = { 'blocks.0.weights': { data }, 'blocks.2.weights': { data: data.map((x) => 2 * x) } };
      return { captured, dispose: () => disposed++ };
    },
  };
  const source = { model, about: { layers: 3, heads } };
  const passage = (length) => Int32Array.from({ length }, (_, i) => i);
  assert.equal(meanPictures(source, [passage(P - 1)]), undefined);
  const size = heads * P * P;
  const sums = meanPictures(source, [passage(P), passage(3), passage(P + 5)]);
  assert.deepEqual(asked[0], [Array.from(passage(P)), Array.from(passage(P))]);
  assert.deepEqual([sums[0], sums[1], sums[size - 1]], [size / 2, size / 2 + 1, 1.5 * size - 1]);
  assert.deepEqual([sums[size], sums[2 * size + 1], sums.length], [0, size + 2, 3 * size]);
  meanPictures(source, Array(100).fill(passage(P)));
  assert.deepEqual([asked[1].length, disposed], [96, 2]);
});

test('passages are cut to the length of a scan and of the model, without ids that it does not have', async () => {
  const source = {
    tokenizer: { encode: (text) => ({ ids: [...text].map(Number) }) },
    about: { context: 4 },
    model: { options: { vocab: 9 } },
  };
  let asked = 0;
  const reply = { checkCancelled: async () => ++asked > 2 };
  const { ids, truncated } = await encodePassages(source, ['123456', '1239', '1', '98765'], 100, reply);
  assert.deepEqual([ids.map((list) => [...list]), truncated], [[[1, 2, 3, 4], [1, 2, 3], [1], [8, 7, 6, 5]], 1]);
  const short = await encodePassages(source, ['123456', '12'], 2, reply);
  assert.deepEqual(
    [short.ids.map((list) => [...list]), short.truncated],
    [
      [
        [1, 2],
        [1, 2],
      ],
      1,
    ],
  );
  asked = 0;
  const { length } = (await encodePassages(source, Array(100).fill('1'), 2, reply)).ids;
  assert.equal(length, 64, 'a cancelled scan stops after the passages at hand');
});

test('a model is known by its sizes and some of its numbers', () => {
  assert.equal(hashOf(''), '811c9dc59e3779b9');
  const hashes = ['a', 'b', 'ab', 'ba', 'aa'].map(hashOf);
  assert.equal(new Set(hashes).size, 5);
  assert.ok(hashes.every((hash) => /^[0-9a-f]{16}$/.test(hash)));
  const of = (change = () => {}, about = {}) => {
    const data = Float32Array.from({ length: 64 }, (_, i) => i);
    change(data);
    const model = {
      options: { vocab: 5 },
      parameters: { w: { data, shape: [8, 8] }, b: { data: data.slice(0, 3), shape: [3] } },
    };
    return fingerprintOf({ model, about: { layers: 1, heads: 2, width: 4, family: 'f', ...about } });
  };
  assert.equal(of(), of());
  assert.notEqual(
    of(),
    of((data) => void (data[60] = 0)),
    'the sixteenth sample',
  );
  assert.equal(
    of(),
    of((data) => void (data[61] = 0)),
    'between two samples',
  );
  for (const about of [{ layers: 2 }, { heads: 3 }, { width: 5 }, { family: 'g' }])
    assert.notEqual(
      of(),
      of(() => {}, about),
    );
});

test('how far hidden states turn: the mean angle and the five largest', () => {
  const states = (...angles) => ({
    data: Float32Array.from(angles.flatMap((a) => [Math.cos((a * Math.PI) / 180), Math.sin((a * Math.PI) / 180)])),
    shape: [1, angles.length, 2],
  });
  const pieces = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
  const { mean, most } = turnedFrom(states(0, 0, 0, 0, 0, 0), states(10, 60, 0, 20, 30, 90), pieces);
  assert.ok(Math.abs(mean - 35) < 1e-4);
  assert.deepEqual(
    most.map(({ text, angle }) => [text, Math.round(angle)]),
    [
      ['5', 90],
      ['b', 60],
      ['e', 30],
      ['d', 20],
      ['a', 10],
    ],
  );
  assert.equal(turnedFrom(states(0), states(0, 1), pieces), null);
});

test('the weight of tokens on themselves is the mean over batch and tokens, without token 0', () => {
  const [heads, T] = [2, 3];
  const at = (b, h, t, s) => (s <= t ? (t === s ? (t === 0 ? 1 : 0.2 * (1 + b + h)) : (1 - 0.2 * (1 + b + h)) / t) : 0);
  const data = Float32Array.from({ length: 2 * heads * T * T }, (_, i) => {
    const [s, t, h, b] = [i % T, Math.floor(i / T) % T, Math.floor(i / T / T) % heads, Math.floor(i / T / T / heads)];
    return at(b, h, t, s);
  });
  const layer = { data, shape: [2, heads, T, T] };
  const { scores } = scoreHeads([layer, layer], { data: Int32Array.of(1, 2, 3, 1, 2, 3), shape: [2, T] });
  assert.deepEqual(
    scores.map((row) => row.map(({ itself }) => itself.toFixed(3))),
    [
      ['0.300', '0.500'],
      ['0.300', '0.500'],
    ],
  );
  assert.deepEqual([...weightsOf([{ data: [1, 2] }, { data: [3] }])], [1, 2, 3]);
});

test('roles are measured once for each model and version, and a cancelled measurement continues', async () => {
  let runs = 0;
  const hl = { scope: (act) => act() };
  const forward = ({ ids: { data } }) => {
    runs++;
    const T = data.length;
    const toPrevious = (i) => Number(i % T === Math.max(Math.floor(i / T) - 1, 0));
    return {
      captured: { 'blocks.0.weights': { copy: () => Float32Array.from({ length: T * T }, (_, i) => toPrevious(i)) } },
    };
  };
  const options = { layers: 1, numHeads: 1, vocab: 9, context: 20 };
  const model = { options, weights: new Map(), forward };
  const source = { about: { name: 'a' }, exemplar: [1, 2, 3, 4], model };
  const cache = new RoleCache();
  const reply = { checkCancelled: async () => false };
  assert.deepEqual(await cache.of(hl, source, reply), { roles: [['previous']], weights: [[1]] });
  await cache.of(hl, source, reply);
  assert.equal(runs, 1);
  await cache.of(hl, { ...source, version: 2 }, reply);
  await cache.of(hl, { ...source, about: { name: 'b' } }, reply);
  assert.equal(runs, 3);
  // Without an exemplar the measurement has four passages.
  const other = { about: { name: 'c' }, model };
  assert.equal(await cache.of(hl, other, { checkCancelled: async () => runs === 5 }), null);
  assert.equal(runs, 5);
  assert.deepEqual((await cache.of(hl, other, reply)).roles, [['previous']]);
  assert.equal(runs, 7);
  // A model whose context holds no repetition has no known roles.
  const short = { about: { name: 'd' }, model: { ...model, options: { ...options, context: 7 } } };
  assert.deepEqual(await cache.of(hl, short, reply), { roles: null, weights: null });
  assert.equal(runs, 7);
});

test('the steps from a product to a score: scale, cap, distance, temperature', () => {
  const options = { scale: 0.5, softcap: 0, positions: 'learned', numHeads: 2, causal: true };
  const place = { part: 'decoder', layer: 1, head: 1, T: 2, S: 2 };
  const values = { query: Float32Array.of(1, 2), key: Float32Array.of(3, 4), scores: Float32Array.of(2, 3, 4, 5) };
  const steps = (more, at = {}) =>
    stepsOf({ options: { ...options, ...more }, parameters: {} }, { ...place, ...at }, values);
  assert.deepEqual(steps({}), [{ kind: 'scale', scale: 0.5 }]);
  assert.deepEqual(steps({ scale: [1, 2] }, { temperature: 3 }), [
    { kind: 'scale', scale: 2 },
    { kind: 'temperature', by: 3 },
  ]);
  assert.deepEqual(steps({ softcap: 30 })[1], { kind: 'cap', cap: 30 });
  const [, slope] = steps({ positions: 'alibi' });
  assert.deepEqual([slope.kind, [...slope.added].map((x) => x * 2 ** 8 + 0)], ['distance', [-1, 0, -1]]);
  assert.equal(steps({ positions: 'alibi' }, { part: 'cross' }).length, 1);
  const [, rest] = steps({ disentangled: {} }, { temperature: 2 });
  assert.deepEqual([rest.byCell, ...rest.added], [true, 2.5, 4, 5, 6]);
  assert.equal(optionsOf({ options: { ...options, encoder: { numHeads: 7 } } }, 'encoder').numHeads, 7);
  const model = { options: { ...options, sinks: true }, parameters: { 'blocks.1.attention.sinks': { data: [5, 6] } } };
  assert.deepEqual([sinkOf(model, place), sinkOf(model, { ...place, part: 'cross' })], [6, null]);
  assert.equal(sinkOf({ options }, place), null);
});
