import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../support/kernels.js';

const COLS = 8;
const column = (panel, c) => Array.from({ length: panel.length / COLS }, (_, s) => panel[s * COLS + c]);

function softmax(scores) {
  const most = Math.max(...scores);
  if (most === -Infinity) return scores.map(() => 0);
  const e = scores.map((x) => Math.exp(x - most));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

test('softmax_panel equals softmax in float64, each column of its own', kernels((k) => {
  for (const keys of [0, 1, 2, 63, 64, 65, 251, 1009]) {
    for (const range of [0.1, 5, 80]) {
      const scores = numbers(keys * COLS, keys + 1).map((x) => x * range);
      const panel = k.block(scores);
      k.core.softmax_panel(panel.at, keys);
      for (let c = 0; c < COLS; c++) assertClose(column(k.view(panel), c), softmax(column(scores, c)), 5e-7, `${keys} keys, range ${range}`);
      k.close();
    }
  }
}));

test('a column of −∞ becomes zeros, one NaN makes its own column NaN and no other', kernels((k) => {
  const scores = numbers(5 * COLS);
  for (let s = 0; s < 5; s++) scores[s * COLS + 2] = -Infinity;
  scores[3 * COLS + 6] = NaN;
  for (let s = 0; s < 5; s++) scores[s * COLS + 7] = s === 4 ? NaN : -Infinity;
  const panel = k.block(scores);
  k.core.softmax_panel(panel.at, 5);
  for (let c = 0; c < COLS; c++) {
    const weights = column(k.view(panel), c);
    if (c === 2) assert.deepEqual(weights, [0, 0, 0, 0, 0]);
    else if (c > 5) assert.ok(weights.every(Number.isNaN));
    else assertClose(weights, softmax(column(scores, c)), 5e-7);
  }
}));

test('softmax_block over parts, rescaled, equals softmax of the whole, −∞ first or last', kernels((k) => {
  const keys = 90;
  for (const hidden of [[], [[0, 30]], [[60, 90]], [[0, 30], [60, 90]], [[0, 90]]]) {
    const scores = numbers(keys * COLS, 3).map((x) => x * 20);
    for (const [from, to] of hidden) scores.fill(-Infinity, from * COLS, to * COLS);
    const state = k.block(2 * COLS);
    const factor = k.block(COLS);
    k.core.softmax_begin(state.at);
    const parts = new Float64Array(keys * COLS);
    for (let s = 0; s < keys; s += 30) {
      const panel = k.block(scores.subarray(s * COLS, (s + 30) * COLS));
      k.core.softmax_block(panel.at, 30, state.at, factor.at);
      for (let i = 0; i < s * COLS; i++) parts[i] *= k.view(factor)[i % COLS];
      parts.set(k.view(panel), s * COLS);
    }
    k.core.softmax_end(state.at, factor.at);
    for (let i = 0; i < parts.length; i++) parts[i] *= k.view(factor)[i % COLS];
    for (let c = 0; c < COLS; c++) assertClose(column(parts, c), softmax(column(scores, c)), 1e-6);
    k.close();
  }
}));

test('the exponential is as exact as its argument, falls to 0 below 2⁻⁸⁰, and is monotonic at its seams', kernels((k) => {
  const count = 20000;
  const x = Float32Array.from({ length: count }, (_, i) => -(55.4 * i) / count);
  const scores = new Float32Array((count + 1) * COLS);
  x.forEach((value, i) => scores.fill(value, (i + 1) * COLS, (i + 2) * COLS));
  const [panel, state, factor] = [k.block(scores), k.block(2 * COLS), k.block(COLS)];
  k.core.softmax_begin(state.at);
  k.core.softmax_block(panel.at, count + 1, state.at, factor.at);
  const e = k.view(panel);
  let worst = 0;
  for (let i = 0; i < count; i++) {
    const exact = Math.exp(x[i]);
    const ulp = 2 ** (Math.floor(Math.log2(exact)) - 23);
    worst = Math.max(worst, Math.abs(e[(i + 1) * COLS] - exact) / (ulp * (1 - x[i])));
    assert.ok(e[(i + 1) * COLS] <= e[i * COLS] * (1 + 2 ** -22));
  }
  assert.ok(worst <= 3, `${worst} ulp of 1 + |x|`);
  const low = k.block([0, -55.5, -1e4, -Infinity].flatMap((value) => Array(COLS).fill(value)));
  k.core.softmax_begin(state.at);
  k.core.softmax_block(low.at, 4, state.at, factor.at);
  assert.deepEqual(column(k.view(low), 0), [1, 0, 0, 0]);
}));
