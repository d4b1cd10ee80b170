// Trains small models on their tasks for hundreds of steps.

import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { batchOf, TASKS } from '../../../web/model/training/tasks.ts';
import { hl } from '../../support/headlight.js';
import { teach } from '../../support/teach.js';

test('a small model learns to repeat sequences, and one of its heads becomes an induction head', () => {
  const task = { ...TASKS.repeat, context: 24, sequence: (random) => repeated(random, 24) };
  const model = hl.transformer({ layers: 2, dModel: 32, numHeads: 2, vocab: 26, context: 24, mlp: 0, seed: 1 });
  teach(hl, model, { rate: 0.005, batch: 32, steps: 600 }, task);
  const { labels, targets } = batchOf(task, uniformSource(2), 64);
  const { correct, counted } = model.judge(labels, targets);
  assert.ok(correct / counted > 0.9, `${correct} of ${counted}`);
  const scores = hl.scope(() =>
    Object.values(model.forward(labels, { capture: ['blocks.*.weights'] }).captured).flatMap((weights) =>
      inductionScores(weights, labels),
    ),
  );
  assert.ok(Math.max(...scores) > 0.5, scores.map((score) => score.toFixed(2)).join(' '));
  model.dispose();
});

/** Returns a periodic sequence with a period of 6 to 11 different letters. */
function repeated(random, length) {
  const period = 6 + Math.floor(random() * 6);
  const letters = Array.from({ length: 26 }, (_, i) => [random(), i])
    .sort(([a], [b]) => a - b)
    .map(([, i]) => i);
  const all = Array.from({ length: length + 1 }, (_, t) => letters[t % period]);
  return { tokens: all.slice(0, -1), targets: all.slice(1).map((token, t) => (t < period ? -100 : token)) };
}

/** Returns for each head the mean weight on the token after the previous occurrence of the same token. */
function inductionScores({ data, shape: [B, H, T] }, { data: labels }) {
  return Array.from({ length: H }, (_, h) => {
    let [sum, count] = [0, 0];
    for (let b = 0; b < B; b++)
      for (let t = 1; t < T; t++) {
        const before = labels.lastIndexOf(labels[b * T + t], b * T + t - 1) - b * T;
        if (before < 0) continue;
        sum += data[((b * H + h) * T + t) * T + before + 1];
        count++;
      }
    return sum / count;
  });
}
