import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const COLS = 8;
const [OF_2, OF_E] = [0, 1];
const column = (panel, c) => Array.from({ length: panel.length / COLS }, (_, s) => panel[s * COLS + c]);

function softmax(scores) {
  const max = Math.max(...scores);
  if (max === -Infinity) return scores.map(() => 0);
  const e = scores.map((x) => Math.exp(x - max));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

test(
  'softmax_panel equals softmax in float64, for each column, either base and scores of any magnitude',
  kernels((k) => {
    for (const keys of [0, 1, 2, 63, 64, 65, 251, 1009]) {
      for (const range of [0.1, 5, 80]) {
        for (const base of [OF_2, OF_E]) {
          for (const middle of [0, -14, 17, -300, 9000]) {
            // Only some columns have scores of another magnitude. The results of the other columns must not change.
            const scores = numbers(keys * COLS, keys + 1).map(
              (x, i) => Math.fround(x * range) + (i % 3 === 1 ? middle : 0),
            );
            const panel = k.block(scores);
            k.core.softmax_panel(panel.at, COLS, keys, base, -Infinity, k.block(2 * COLS).at, k.block(COLS).at);
            for (let c = 0; c < COLS; c++) {
              const exact = softmax(column(scores, c).map((x) => x * (base === OF_2 ? Math.LN2 : 1)));
              assertClose(
                column(k.view(panel), c),
                exact,
                6e-7,
                `${keys} keys, range ${range} about ${middle}, base ${base}`,
              );
            }
            k.close();
          }
        }
      }
    }
  }),
);

test(
  'softmax_recompute gives the same weights for any block, softmax_backward the gradient of its scores',
  kernels((k) => {
    for (const base of [OF_2, OF_E]) {
      const keys = 37;
      const scores = numbers(keys * COLS, 4).map((x, i) => (i % COLS === 3 ? -Infinity : 5 * x));
      const [panel, state, inverse] = [k.block(scores), k.block(2 * COLS), k.block(COLS)];
      k.core.softmax_panel(panel.at, COLS, keys, base, -Infinity, state.at, inverse.at);
      const recomputed = k.block(scores.subarray(10 * COLS, 30 * COLS));
      k.core.softmax_recompute(recomputed.at, 20, base, state.at, inverse.at);
      assert.deepEqual(k.view(recomputed).slice(), k.view(panel).slice(10 * COLS, 30 * COLS));
      const [gradient, delta] = [numbers(20 * COLS, 6), numbers(COLS, 7)];
      const found = k.block(gradient);
      k.core.softmax_backward(found.at, recomputed.at, 20, k.block(delta).at);
      assertClose(
        k.view(found),
        gradient.map((d, i) => k.view(recomputed)[i] * (d - delta[i % COLS])),
        1e-6,
      );
      k.close();
    }
  }),
);

test(
  'the bits of a column do not depend on the other columns',
  kernels((k) => {
    const keys = 70;
    const scores = numbers(keys * COLS, 4).map((x) => x * 3);
    const compute = (values) => {
      const panel = k.block(values);
      k.core.softmax_panel(panel.at, COLS, keys, OF_2, -Infinity, k.block(2 * COLS).at, k.block(COLS).at);
      return column(k.view(panel), 2);
    };
    const alone = compute(scores);
    assert.deepEqual(compute(scores.map((x, i) => (i % COLS === 2 ? x : x * 100 + 50))), alone);
  }),
);

test(
  'one to four columns have the same bits as in a full panel, and the others are not written',
  kernels((k) => {
    const [keys, scores] = [21, numbers(21 * COLS, 5)];
    const compute = (columns) => {
      const [panel, state, inverse] = [k.block(scores), k.block(2 * COLS), k.block(COLS)];
      k.core.softmax_begin(state.at, -Infinity);
      k.core.softmax_block(panel.at, columns, keys, OF_2, state.at, inverse.at);
      return { panel: k.view(panel), rescale: k.view(inverse) };
    };
    const full = compute(COLS);
    for (const columns of [1, 3, 4, 5]) {
      const counted = columns > 4 ? COLS : columns > 1 ? 4 : 1;
      const { panel, rescale } = compute(columns);
      assert.deepEqual(
        panel,
        full.panel.map((x, i) => (i % COLS < counted ? x : scores[i])),
      );
      assert.deepEqual(
        rescale,
        full.rescale.map((x, c) => (c < counted ? x : 0)),
      );
    }
  }),
);

test(
  'a single column has the same weights, max and sum as among others, for any number of keys',
  kernels((k) => {
    for (const keys of [0, 1, 3, 4, 5, 63, 64, 65, 130, 4099]) {
      for (const change of [(x) => x, () => -Infinity, (x, i) => (i === 2 * COLS ? NaN : x)]) {
        const scores = numbers(keys * COLS, keys + 1).map(change);
        const compute = (columns) => {
          const [panel, state, inverse] = [k.block(scores), k.block(2 * COLS), k.block(COLS)];
          k.core.softmax_panel(panel.at, columns, keys, OF_E, 0.5, state.at, inverse.at);
          return { weights: column(k.view(panel), 0), max: k.view(state)[0], sum: k.view(state)[COLS] };
        };
        const [alone, full] = [compute(1), compute(COLS)];
        if (Number.isNaN(full.sum)) assert.ok(Number.isNaN(alone.sum));
        else {
          assertClose(alone.weights, full.weights, 5e-7);
          assertClose([alone.max, alone.sum], [full.max, full.sum], 5e-7);
        }
      }
    }
  }),
);

test(
  'a column of −∞ becomes zeros; a NaN makes only its own column NaN',
  kernels((k) => {
    const scores = numbers(5 * COLS);
    for (let s = 0; s < 5; s++) scores[s * COLS + 2] = -Infinity;
    scores[3 * COLS + 6] = NaN;
    for (let s = 0; s < 5; s++) scores[s * COLS + 7] = s === 4 ? NaN : -Infinity;
    const panel = k.block(scores);
    k.core.softmax_panel(panel.at, COLS, 5, OF_E, -Infinity, k.block(2 * COLS).at, k.block(COLS).at);
    for (let c = 0; c < COLS; c++) {
      const weights = column(k.view(panel), c);
      if (c === 2) assert.deepEqual(weights, [0, 0, 0, 0, 0]);
      else if (c > 5) assert.ok(weights.every(Number.isNaN));
      else assertClose(weights, softmax(column(scores, c)), 5e-7);
    }
  }),
);

test(
  'softmax_block in parts, rescaled, equals softmax of all keys, also with −∞ first or last',
  kernels((k) => {
    const keys = 90;
    const drifts = [0, 1, -1, 5, -5]; // increase of the score per key: later blocks have larger or smaller maxima
    for (const [hidden, drift] of [
      [],
      [[0, 30]],
      [[60, 90]],
      [
        [0, 30],
        [60, 90],
      ],
      [[0, 90]],
    ].flatMap((hidden) => drifts.map((drift) => [hidden, drift]))) {
      const scores = numbers(keys * COLS, 3).map((x, i) => x * 20 + (i % COLS > 3 ? drift * Math.floor(i / COLS) : 0));
      for (const [from, to] of hidden) scores.fill(-Infinity, from * COLS, to * COLS);
      const state = k.block(2 * COLS);
      const factor = k.block(COLS);
      k.core.softmax_begin(state.at, -Infinity);
      const parts = new Float64Array(keys * COLS);
      for (let s = 0; s < keys; s += 30) {
        const panel = k.block(scores.subarray(s * COLS, (s + 30) * COLS));
        k.core.softmax_block(panel.at, COLS, 30, OF_E, state.at, factor.at);
        for (let i = 0; i < s * COLS; i++) parts[i] *= k.view(factor)[i % COLS];
        parts.set(k.view(panel), s * COLS);
      }
      k.core.softmax_end(state.at, factor.at);
      for (let i = 0; i < parts.length; i++) parts[i] *= k.view(factor)[i % COLS];
      for (let c = 0; c < COLS; c++) assertClose(column(parts, c), softmax(column(scores, c)), 1e-6);
      k.close();
    }
  }),
);

test(
  '2ˣ is within 2.7 ulp, 0 below 2⁻⁸⁰ and monotonic where its pieces meet',
  kernels((k) => {
    const count = 100000;
    const x = Float32Array.from({ length: count }, (_, i) => -(79.9 * i) / count);
    const scores = new Float32Array(count * COLS);
    x.forEach((value, i) => scores.fill(value, i * COLS, (i + 1) * COLS));
    const weights = (values, keys) => {
      const [panel, state, factor] = [k.block(values), k.block(2 * COLS), k.block(COLS)];
      k.core.softmax_begin(state.at, -Infinity);
      k.core.softmax_block(panel.at, COLS, keys, OF_2, state.at, factor.at);
      return column(k.view(panel), 0);
    };
    const y = weights(scores, count);
    let worst = 0;
    for (let i = 0; i < count; i++) {
      const exact = 2 ** x[i];
      worst = Math.max(worst, Math.abs(y[i] - exact) / 2 ** (Math.floor(x[i]) - 23));
      assert.ok(i === 0 || y[i] <= y[i - 1] * (1 + 2 ** -22));
    }
    assert.ok(worst <= 2.7, `${worst} ulp`);
    assert.deepEqual(
      weights(
        [0, -1, -2, -81, -100, -126.5, -1e4, -Infinity].flatMap((value) => Array(COLS).fill(value)),
        8,
      ),
      [1, 0.5, 0.25, 0, 0, 0, 0, 0],
    );
  }),
);
