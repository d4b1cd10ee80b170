import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { crossEntropy, differences } from '../../support/layers.js';

const [OK, BAD_ARGUMENT] = [0, 3];
const SEED = 23;

function computeLoss(k, logits, labels, { smoothing = 0, ignore = -100, gradient = true, inPlace = false } = {}) {
  const rows = labels.length;
  const ints = (block) => new Int32Array(k.core.memory.buffer, block.at, block.length);
  const blocks = {
    result: k.block(3),
    dLogits: k.block(logits.length),
    losses: k.block(rows),
    best: k.block(rows),
    logits: k.block(logits),
    labels: k.block(rows),
  };
  ints(blocks.labels).set(labels);
  if (inPlace) blocks.dLogits = blocks.logits;
  const { result, dLogits, losses, best } = blocks;
  const status = k.core.hl_cross_entropy(
    result.at,
    gradient ? dLogits.at : 0,
    losses.at,
    best.at,
    blocks.logits.at,
    blocks.labels.at,
    rows,
    rows ? logits.length / rows : 0,
    smoothing,
    ignore,
  );
  return {
    status,
    loss: k.view(result)[0],
    counted: ints(result)[1],
    correct: ints(result)[2],
    dLogits: k.view(dLogits),
    losses: k.view(losses),
    best: [...ints(best)],
  };
}

test(
  `loss and gradient equal float64 and its central differences, smoothed or not, ignored rows left out (seed ${SEED})`,
  kernels((k) => {
    const problem = fc.record({
      rows: fc.integer({ min: 0, max: 9 }),
      classes: fc.integer({ min: 1, max: 13 }),
      smoothing: fc.constantFrom(0, 0.1, 1),
      ignored: fc.constantFrom(0, 0.3, 1),
      range: fc.constantFrom(1, 8),
    });
    fc.assert(
      fc.property(problem, ({ rows, classes, smoothing, ignored, range }) => {
        const logits = numbers(rows * classes, 1).map((x) => x * range);
        const [draw, drop] = [numbers(rows, 2), numbers(rows, 3)];
        const labels = Array.from(draw, (x, r) =>
          (drop[r] + 1) / 2 < ignored ? -100 : Math.floor(((x + 1) / 2) * classes),
        );
        const actual = computeLoss(k, logits, labels, { smoothing });
        const expected = crossEntropy(logits, labels, { smoothing });
        assert.equal(actual.status, OK);
        assert.equal(actual.counted, expected.counted);
        assert.ok(Math.abs(actual.loss - expected.loss) <= 4e-7 * (1 + range));
        actual.losses.forEach((loss, r) => assert.ok(Math.abs(loss - expected.losses[r]) <= 4e-7 * (1 + range)));
        const gradient = differences((x) => crossEntropy(x, labels, { smoothing }).loss, logits);
        actual.dLogits.forEach((d, i) => assert.ok(Math.abs(d - gradient[i]) <= 3e-7, `${d}, ${gradient[i]}`));
        assert.deepEqual(
          [...computeLoss(k, logits, labels, { smoothing, inPlace: true }).dLogits],
          [...actual.dLogits],
        );
        const alone = computeLoss(k, logits, labels, { smoothing, gradient: false });
        assert.deepEqual([alone.loss, alone.correct], [actual.loss, actual.correct]);
        k.close();
      }),
      { seed: SEED, numRuns: 60 },
    );
  }),
);

test(
  'the loss equals float64 for many classes and many rows',
  kernels((k) => {
    for (const [rows, classes] of [
      [3, 50257],
      [2003, 5],
    ]) {
      const logits = numbers(rows * classes, 4).map((x) => x * 6);
      const labels = Array.from({ length: rows }, (_, r) => (r * 7) % classes);
      const actual = computeLoss(k, logits, labels);
      assert.ok(Math.abs(actual.loss - crossEntropy(logits, labels).loss) <= 2e-6);
      for (let r = 0; r < rows; r++) {
        const total = actual.dLogits.subarray(r * classes, (r + 1) * classes).reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(total) < 1e-6, 'the gradient of a row adds up to 0');
      }
      k.close();
    }
  }),
);

test(
  'large logits do not overflow; a certain and correct prediction has loss 0',
  kernels((k) => {
    const { loss, losses, dLogits, correct, best } = computeLoss(k, [1e4, -1e4, 3e38, 0, 1e4, -Infinity], [0, 1, 0]);
    assert.deepEqual([...losses], [0, Math.fround(3e38), 0]);
    assert.ok(loss > 9e37);
    assertClose(dLogits, [0, 0, 1 / 3, -1 / 3, 0, 0], 1e-6);
    assert.equal(correct, 2);
    assert.deepEqual(best, [0, 0, 0]);
  }),
);

test(
  'without counted rows the loss is 0 and the gradient is zero; the ignored label may have any value',
  kernels((k) => {
    const none = computeLoss(k, numbers(6), [-100, -100]);
    assert.deepEqual([none.loss, none.counted, none.correct], [0, 0, 0]);
    assert.deepEqual([...none.dLogits], [0, 0, 0, 0, 0, 0]);
    assert.equal(computeLoss(k, [], []).loss, 0);
    assert.deepEqual(computeLoss(k, [1, 2, 3, 4], [1, 0], { ignore: 0 }).counted, 1);
  }),
);

test(
  'the first of equal logits is the best; a row of NaN has none and affects no other row',
  kernels((k) => {
    const { best, correct, losses } = computeLoss(k, [2, 5, 5, NaN, NaN, NaN, -Infinity, -Infinity, 1], [1, 0, 2]);
    assert.deepEqual(best, [1, -1, 2]);
    assert.equal(correct, 2);
    assert.ok(losses[0] < 1 && Number.isNaN(losses[1]) && losses[2] === 0);
  }),
);

test(
  'an invalid label and a smoothing outside [0, 1] are refused before anything is written',
  kernels((k) => {
    for (const [label, smoothing] of [
      [3, 0],
      [-1, 0],
      [0, -0.1],
      [0, 1.1],
      [0, NaN],
    ]) {
      const { status, dLogits, losses } = computeLoss(k, [1, 2, 3], [label], { smoothing });
      assert.equal(status, BAD_ARGUMENT);
      assert.ok([...dLogits, ...losses].every((x) => x === Math.fround(12345.678)));
      k.close();
    }
  }),
);
