import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight';
import { tokenize } from '../../../web/model/examples.js';
import { LEARNED, labelsOf } from '../../../web/model/learned.js';
import { change, initialState } from '../../../web/model/state.js';
import { headScores } from '../../../web/model/stats.js';
import { createSolver } from '../../../web/worker/solve.js';
import { difference } from '../../support/golden.js';

const hl = await load();
const bytes = readFileSync(new URL('../../../web/train/learned.safetensors', import.meta.url));
const text = 'one small step for a man and one small step for a dog and one small step';
const solve = (patch) =>
  createSolver(
    () => hl,
    async () => bytes,
  ).solve(change(initialState, { example: 'learned', text, ...patch }));

test('tokens are told apart by nothing but whether they are the same', () => {
  const labels = labelsOf(['The', 'cat', 'the', 'dog', 'Cat']);
  assert.equal(labels[0], labels[2]);
  assert.equal(labels[1], labels[4]);
  assert.equal(new Set(labels).size, 3);
  assert.equal(new Set(labelsOf(Array.from({ length: LEARNED.vocab }, (_, i) => String(i)))).size, LEARNED.vocab);
});

test("the weights shown are the trained model's own, layer after layer", async () => {
  const solved = await solve({});
  const model = hl.loadTransformer(bytes);
  const labels = labelsOf(tokenize(text));
  const T = labels.length;
  const { captured } = model.forward({ data: labels, shape: [1, T] }, { capture: ['blocks.*.weights'] });
  for (let h = 0; h < 8; h++) {
    const own = captured[`blocks.${Math.floor(h / 4)}.weights`].data.subarray((h % 4) * T * T, ((h % 4) + 1) * T * T);
    assert.ok(difference(solved.headOf(h).weights, own) < 2e-6, `head ${h}`);
  }
  model.dispose();
});

test('a head of the first layer looks one back, one of the second is an induction head', async () => {
  const solved = await solve({});
  const labels = Array.from(labelsOf(tokenize(text)));
  const scores = Array.from({ length: 8 }, (_, h) => headScores(solved.headOf(h), labels));
  assert.ok(Math.max(...scores.slice(0, 4).map(({ previous }) => previous)) > 0.6, JSON.stringify(scores));
  assert.ok(Math.max(...scores.slice(4).map(({ induction }) => induction)) > 0.6, JSON.stringify(scores));
  const model = hl.loadTransformer(bytes);
  const { logits } = model.forward({ data: Int32Array.from(labels), shape: [1, labels.length] });
  const likeliest = (t) => {
    const row = logits.data.subarray(t * LEARNED.vocab, (t + 1) * LEARNED.vocab);
    return row.indexOf(Math.max(...row));
  };
  const again = labels.lastIndexOf(labels[0]);
  for (const t of [again, again + 1]) assert.equal(likeliest(t), labels[t - again + 1]);
  model.dispose();
});

test('heads of two layers are joined by both output projections', async () => {
  const solved = await solve({ off: [0, 1, 2, 3] });
  const e = solved.cell(5, { query: 4, key: 2 });
  assert.equal(e.concat.length, 128);
  assert.ok(e.concat.subarray(0, 64).every((x) => x === 0));
  assert.equal(e.output.length, 64);
});
