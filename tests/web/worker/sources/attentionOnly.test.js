// Tests heads without a language model. The answers of the worker must equal the results of the module.

import assert from 'node:assert/strict';
import test from 'node:test';
import { writeNpy, writeSafetensors } from 'headlight-attention/formats';
import { sentenceFile } from '../../../../src/build/sentence.ts';
import { readSafetensors } from '../../../../src/js/io/safetensors.ts';
import { openTokenizer } from '../../../../src/js/text/tokenizer.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { showHeads } from '../../../../web/worker/sources/attentionOnly.ts';
import { constructHeads, wordsIn } from '../../../../web/worker/sources/handmadeHeads.ts';
import { patches } from '../../../../web/worker/sources/handmadePatches.ts';
import { CONTEXT, sentenceEncoder } from '../../../../web/worker/sources/universalEncoder.ts';
import { hl } from '../../../support/headlight.js';

const FILE = sentenceFile('int8');
let messages = [];
let count = 0;
const fetched = [];
const answer = createAnswerer({
  load: async () => hl,
  async fetchBeside(name, onProgress, signal) {
    fetched.push(name);
    onProgress(1, 2);
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    return FILE;
  },
  post: (message) => messages.push(message),
});
async function ask(verb, patch, fields = {}) {
  messages = [];
  await answer({ verb, id: ++count, state: change(initialState, patch), ...fields });
  const error = messages.find(({ error }) => error !== undefined);
  if (error) throw Object.assign(new Error(error.error), error);
  return Object.fromEntries(messages.filter(({ part }) => part).map((part) => [part.part, part]));
}
const near = (actual, expected, what = '', tolerance = 1e-5) => {
  assert.equal(actual.length, expected.length, what);
  actual.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= tolerance, `${what} ${i}: ${x}, not ${expected[i]}`));
};
const sums = (weights, S) => {
  for (let at = 0; at < weights.length; at += S)
    assert.ok(Math.abs(weights.subarray(at, at + S).reduce((a, w) => a + w, 0) - 1) < 1e-5);
};
/** Returns reproducible numbers. */
const numbers = (n, seed = 1) => Float32Array.from({ length: n }, (_, i) => Math.sin(seed * 37 + i * 1.7));
const fileOf = (path, bytes) => ({ path, file: new File([bytes], path) });
/** The text that the page shows first. */
const FIRST = 'In the house by the sea lives a cat, and it is hungry.';
const SENTENCE = 'The cat sat on the mat because it was tired.';

test('words, signs and characters are tokens; equal words have equal numbers', () => {
  const { words, ids, offsets } = wordsIn('The cat, the 鲸鱼!');
  assert.deepEqual(words, ['the', 'cat', ',', 'the', '鲸', '鱼', '!']);
  assert.deepEqual([ids[3], offsets[1]], [0, [4, 7]]);
  assert.equal(wordsIn('so '.repeat(60)).cut, true);
  assert.equal(constructHeads(['so']).count, 8);
});

test('each of the eight heads made by hand has its role', async () => {
  const { source, run, roles } = await ask('show', { model: 'constructed', text: SENTENCE, layer: 0, head: 5 });
  const { T, weights } = run;
  assert.deepEqual([source.about.kind, source.about.heads, T], ['layer', 8, 11]);
  assert.equal(source.about.predicts, false);
  sums(weights, T);
  const strongest = (head, t) => {
    const row = weights.subarray((head * T + t) * T, (head * T + t + 1) * T);
    return row.indexOf(Math.max(...row));
  };
  const [names] = roles.roles;
  const keyOf = { previous: 3, next: 5, itself: 4, first: 0, near: 4 };
  for (const [name, s] of Object.entries(keyOf)) assert.equal(strongest(names.indexOf(name), 4), s, name);
  // "it" attends to the nearest noun.
  assert.equal(strongest(names.indexOf('pronoun'), 7), 5);
  // Other words attend to themselves, as in the head "itself".
  for (let i = 0; i < T * T; i++) {
    if (Math.floor(i / T) === 7) continue;
    const [own, same] = ['pronoun', 'itself'].map((name) => weights[names.indexOf(name) * T * T + i]);
    assert.ok(Math.abs(own - same) < 1e-6, `${i}: ${own}, ${same}`);
  }
  assert.ok(Math.abs(weights[names.indexOf('even') * T * T] - 1 / T) < 1e-6);
  for (const name of names)
    if (!['previous', 'itself', 'first', 'duplicate'].includes(name))
      for (const language of ['en', 'zh']) assert.equal(source.about.terms[language][name].length, 2, name);
});

test('in the first sentence the head "who is meant" attends from "it" to "cat"', async () => {
  const { run } = await ask('show', { model: 'constructed', text: FIRST, layer: 0, head: 5 });
  const [t, s] = ['it', 'cat'].map((word) => run.pieces.findIndex(({ name }) => name === word));
  const weight = run.weights[(5 * run.T + t) * run.T + s];
  assert.ok(weight > 0.75, `${weight}`);
});

test('the arithmetic of a cell gives its weight; temperature, masks and scale change it', async () => {
  const state = { model: 'constructed', text: SENTENCE, layer: 0, head: 5 };
  const { run } = await ask('show', state);
  const { T, values, weights } = run;
  const { width, query, key, scores } = values;
  const row = (x, t) => x.subarray(t * width, (t + 1) * width);
  const [t, s] = [7, 5];
  const product = row(query, t).reduce((sum, x, i) => sum + x * row(key, s)[i], 0);
  assert.ok(Math.abs(product / Math.sqrt(width) - scores[t * T + s]) < 1e-4);
  const expected = (keys, temperature = 1) => {
    const powers = Array.from({ length: T }, (_, k) => (keys(k) ? Math.exp(scores[t * T + k] / temperature) : 0));
    const sum = powers.reduce((a, x) => a + x, 0);
    return powers.map((x) => x / sum);
  };
  const shown = (weights) => weights.subarray((5 * T + t) * T, (5 * T + t + 1) * T);
  near(
    shown(weights),
    expected(() => true),
  );
  const hot = await ask('show', { ...state, temperature: { all: 2 } });
  near(
    shown(hot.run.weights),
    expected(() => true, 2),
    'temperature',
  );
  const past = await ask('show', { ...state, mask: { 0.5: 'past' } });
  near(
    shown(past.run.weights),
    expected((k) => k <= t),
    'past',
  );
  const near1 = await ask('show', { ...state, mask: { all: '1' } });
  near(
    shown(near1.run.weights),
    expected((k) => Math.abs(k - t) <= 1),
    'window',
  );
  const painted = await ask('show', { ...state, painted: { 0: '7.5_3.0-10' } });
  near(
    shown(painted.run.weights),
    expected((k) => k !== 5),
    'painted',
  );
  assert.ok(
    painted.run.weights.subarray(3 * T, 4 * T).every((w) => w === 0),
    'a row without keys is 0, not NaN',
  );
  const off = await ask('show', { ...state, scale: { 0.5: 0 } });
  assert.ok(off.run.values.mixture.every((x) => x === 0));
});

test('patches attend to patches: those of the row head to their row', async () => {
  const data = new Uint8ClampedArray(4 * 112 * 80).map((_, i) => (i * 7) % 256);
  const source = patches({ data: new Float32Array(0), shape: [], image: { data, width: 112, height: 80 } });
  const parts = {};
  await showHeads(hl, source, change(initialState, { model: 'patches', layer: 0, head: 2 }), {
    send: (part, fields) => (parts[part] = fields),
    checkCancelled: async () => false,
  });
  const { T, weights, image, patch } = parts.run;
  assert.deepEqual([T, image.width, patch.size, parts.roles.roles[0][2]], [140, 112, 8, 'row']);
  const row = weights.subarray(2 * T * T, 2 * T * T + T);
  assert.ok(row[13] > 0.06 && row[14] < 0.001);
});

test('a patch attends to patches of its own colour, the mean of its pixels', async () => {
  // The picture has rows of patches in two colours, in turn, which differ by 90 in red.
  const data = new Uint8ClampedArray(4 * 112 * 80).map((_, i) =>
    i % 4 === 0 ? 60 + 90 * (Math.floor(i / (4 * 112 * 8)) % 2) : 0,
  );
  const source = patches({ data: new Float32Array(0), shape: [], image: { data, width: 112, height: 80 } });
  const parts = {};
  await showHeads(hl, source, change(initialState, { model: 'patches', layer: 0, head: 0 }), {
    send: (part, fields) => (parts[part] = fields),
    checkCancelled: async () => false,
  });
  const { T, weights } = parts.run;
  const expected = (s) => (Math.floor(s / 14) % 2 === 0 ? 1 : Math.exp(-(90 ** 2) / 1500)) / (70 + 70 * Math.exp(-5.4));
  near(
    weights.subarray(0, T),
    Array.from({ length: T }, (_, s) => expected(s)),
    'patch 0',
    1e-6,
  );
});

test('the sentence encoder: weights and similarity equal those of the model, and change with its heads', async () => {
  const text = 'How do whales sleep?';
  const second = 'When does a whale rest?';
  const { tensors, metadata } = readSafetensors(FILE);
  const tokenizer = openTokenizer(new TextEncoder().encode(metadata.tokenizer));
  const encoder = sentenceEncoder(hl, tensors);
  const state = { model: 'sentence', text, second, layer: 1, head: 2 };
  const { run, source, progress } = await ask('show', state);
  assert.deepEqual([source.about.layers, source.about.heads, progress.total], [2, 4, 2]);
  const [whole, other] = [text, second].map((one) => {
    const { vectors, weights } = encoder.forward([tokenizer.encode(one).ids]);
    return { vector: vectors.copy(), weights: weights.map((x) => x.copy()) };
  });
  near(run.weights, [...whole.weights[0], ...whole.weights[1]]);
  const cosine = whole.vector.reduce((sum, x, i) => sum + x * other.vector[i], 0);
  assert.ok(Math.abs(run.likeness - cosine) < 1e-5, `${run.likeness}, not ${cosine}`);
  const off = await ask('show', { ...state, scale: { all: 0 } });
  assert.ok(Math.abs(off.run.likeness - cosine) > 0.01);
  assert.equal(fetched.length, 1, 'the file is read once');
  assert.equal((await ask('show', { ...state, second: '' })).run.likeness, null);
  assert.equal((await ask('show', { ...state, text: '' })).run.T, 0);
  // A text that is exactly as long as the context is not truncated.
  const words = (/** @type {number} */ count) => Array(count).fill('whale').join(' ');
  const each = tokenizer.encode(words(10)).ids.length / 10;
  for (const more of [0, 1]) {
    const { run } = await ask('show', { ...state, second: '', text: words(CONTEXT / each + more) });
    assert.deepEqual([run.T, run.cut], [CONTEXT, more > 0]);
  }
  encoder.dispose();
});

test('reading a model can be cancelled and started again', async () => {
  await ask('close', {}, { name: 'sentence' });
  const reading = ask('show', { model: 'sentence', text: 'So' });
  const closing = answer({ verb: 'close', id: ++count, name: 'sentence' });
  await assert.rejects(reading, /abort/i);
  await closing;
  assert.equal((await ask('show', { model: 'sentence', text: 'So' })).run.layer, 1);
});

test('q, k and v in a file: the attention of the module, for any number of heads', async () => {
  const [T, S, C] = [5, 7, 12];
  const [q, k, v] = [numbers(T * C, 1), numbers(S * C, 2), numbers(S * C, 3)];
  const bytes = writeSafetensors({
    query: { data: q, shape: [T, C] },
    key: { data: k, shape: [1, S, C] },
    value: { data: v, shape: [S, C] },
  });
  const { opened } = await ask('open', {}, { name: 'own', title: 'own', files: [fileOf('own.safetensors', bytes)] });
  assert.deepEqual(
    [opened.about.kind, opened.summary.kind, opened.summary.T, opened.summary.S],
    ['layer', 'layer', T, S],
  );
  assert.deepEqual(opened.about.choices, [1, 2, 3, 4, 6, 12]);
  for (const heads of [3, 4]) {
    await ask('split', {}, { name: 'own', heads });
    const { run } = await ask('show', { model: 'own', layer: 0, head: 1 });
    const { output, weights } = hl.attention(
      { data: q, shape: [1, T, C] },
      { data: k, shape: [1, S, C] },
      { data: v, shape: [1, S, C] },
      { heads, weights: true },
    );
    near(run.weights, weights.copy(), `${heads} heads`);
    assert.deepEqual([run.T, run.S, run.keys.length], [T, S, S]);
    const D = C / heads;
    const joined = output.copy();
    near(run.values.mixture.subarray(0, D), joined.subarray(D, 2 * D), 'mixture');
  }
});

test("a layer's weights with its input: PyTorch's names; heads that are already split", async () => {
  const [T, C] = [4, 8];
  const x = numbers(T * C, 4);
  const [weight, bias, out] = [numbers(3 * C * C, 5), numbers(3 * C, 6), numbers(C * C, 7)];
  const bytes = writeSafetensors({
    hidden_states: { data: x, shape: [T, C] },
    in_proj_weight: { data: weight, shape: [3 * C, C] },
    in_proj_bias: { data: bias, shape: [3 * C] },
    'out_proj.weight': { data: out, shape: [C, C] },
    'out_proj.bias': { data: numbers(C, 8), shape: [C] },
  });
  const { opened } = await ask('open', {}, { name: 'layer', title: 'l', files: [fileOf('layer.safetensors', bytes)] });
  assert.equal(opened.summary.projected, true);
  await ask('split', {}, { name: 'layer', heads: 2 });
  const { run } = await ask('show', { model: 'layer', layer: 0, head: 0 });
  const layer = hl.multiHeadAttention({ embedDim: C, numHeads: 2 });
  layer.loadStateDict({
    in_proj_weight: { data: weight, shape: [3 * C, C] },
    in_proj_bias: { data: bias, shape: [3 * C] },
    'out_proj.weight': { data: out, shape: [C, C] },
    'out_proj.bias': { data: numbers(C, 8), shape: [C] },
  });
  near(run.weights, layer.forward({ data: x, shape: [1, T, C] }, { weights: true }).weights.copy());
  assert.equal(run.keys, undefined, 'queries and keys are the same tokens');
  const four = numbers(2 * T * 3, 9);
  const files = ['q', 'k', 'v'].map((name) => fileOf(`${name}.npy`, writeNpy({ data: four, shape: [1, 2, T, 3] })));
  const heads = await ask('open', {}, { name: 'four', title: 'f', files });
  assert.deepEqual([heads.opened.about.heads, heads.opened.about.choices.length], [2, 0]);
});

test('any entry of a batch of queries, keys and values is shown, for any number of heads', async () => {
  const [N, T, C] = [3, 4, 6];
  const [q, k] = [numbers(N * T * C, 1), numbers(N * T * C, 2)];
  const tensors = { query: { data: q, shape: [N, T, C] }, key: { data: k, shape: [N, T, C] } };
  const files = [fileOf('many.safetensors', writeSafetensors(tensors))];
  const { opened } = await ask('open', {}, { name: 'many', title: 'm', files });
  assert.deepEqual([opened.about.batch, opened.summary.batch], [N, N]);
  const entry = (data, n) => ({ data: data.slice(n * T * C, (n + 1) * T * C), shape: [1, T, C] });
  const expected = (n, heads) =>
    hl.attention(entry(q, n), entry(k, n), entry(k, n), { heads, weights: true }).weights.copy();
  const shown = async (n) => (await ask('show', { model: 'many', entry: n, layer: 0, head: 0 })).run.weights;
  near(await shown(2), expected(2, 1));
  await ask('split', {}, { name: 'many', heads: 2 });
  near(await shown(2), expected(2, 2));
  near(await shown(0), expected(0, 2));
  const wrong = { ...tensors, key: { data: k.slice(0, 2 * T * C), shape: [2, T, C] } };
  const misfit = [fileOf('wrong.safetensors', writeSafetensors(wrong))];
  await assert.rejects(ask('open', {}, { name: 'wrong', title: 'w', files: misfit }), { code: 'layerMisfit' });
});

test('queries whose rows sum to 1 are still queries, unless the file has attention weights', async () => {
  const even = new Float32Array(16).fill(0.25);
  const shape = [4, 4];
  const tensors = { query: { data: even, shape }, key: { data: even, shape } };
  const open = (tensors) =>
    ask('open', {}, { name: 'even', title: 'e', files: [fileOf('even.safetensors', writeSafetensors(tensors))] });
  assert.equal((await open(tensors)).opened.about.kind, 'layer');
  const attn_weights = { data: new Float32Array(32).fill(0.25), shape: [2, 4, 4] };
  assert.equal((await open({ ...tensors, attn_weights })).opened.about.kind, 'weights');
  assert.equal((await open({ attn_weights })).opened.about.kind, 'weights');
});

test('shapes, widths and weights that do not fit are refused', async () => {
  const open = (tensors) =>
    ask('open', {}, { name: 'no', title: 'n', files: [fileOf('no.safetensors', writeSafetensors(tensors))] });
  const of = (...shape) => ({ data: numbers(shape.reduce((a, b) => a * b)), shape });
  await assert.rejects(open({ query: of(4, 8), key: of(4, 6) }), { code: 'layerMisfit' });
  await assert.rejects(open({ x: of(8) }), { code: 'layerShape' });
  await assert.rejects(open({ query: of(4, 8), wq: of(8, 7) }), { code: 'layerWeights' });
  await assert.rejects(open({ query: of(1, 2, 4, 8), wq: of(8, 8) }), { code: 'layerShape' });
});
