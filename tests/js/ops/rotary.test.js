// Tests rotary positions, ALiBi and sinks as options of attention() and of the layer, against separate steps and
// float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { alibiSlopes, rotaryTable } from '../../../src/js/ops/rotary.ts';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { rotary } from '../../support/layers.js';
import { array } from '../../support/problems.js';
import { attention as reference } from '../../support/reference.js';

const TOLERANCE = 5e-6;
const close = (actual, expected, what) => assert.ok(difference([...actual, 1], [...expected, 1]) <= TOLERANCE, what);
const sum = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

/** Returns the angle by which pair n is rotated per position. */
const plainAngle = (n, width, theta = 10000) => theta ** ((-2 * n) / width);

/** Rotates each row of (B,N,R,W) by the position place(b, r). */
function turned({ data, shape }, place, { theta, width = shape[3], pairing } = {}) {
  const [, heads, rows, D] = shape;
  const to = new Float64Array(data.length);
  for (let i = 0; i < data.length / D; i++) {
    const position = place(Math.floor(i / rows / heads), i % rows);
    const angles = Array.from({ length: width / 2 }, (_, n) => position * plainAngle(n, width, theta));
    to.set(rotary(data.slice(i * D, (i + 1) * D), angles, { neighbours: pairing === 'neighbours' }), i * D);
  }
  return { data: to, shape };
}

/** Transposes (B,N,R,W) to (B,R,N·W). */
const pack = ({ data, shape: [B, N, R, W] }) => ({
  shape: [B, R, N * W],
  data: Float32Array.from(data, (_, i) => {
    const [w, n, r, b] = [i % W, Math.floor(i / W) % N, Math.floor(i / W / N) % R, Math.floor(i / W / N / R)];
    return data[((b * N + n) * R + r) * W + w];
  }),
});

const FORMS = [
  {},
  { theta: 500 },
  { width: 4 },
  { width: 0 },
  { pairing: 'neighbours' },
  { pairing: 'neighbours', width: 6, theta: 1e6 },
];

test(
  'attention with rotary positions equals attention of rotated queries and keys, for every pairing, layout and offset',
  everywhere((hl) => {
    const [B, H, G, T, S, D] = [2, 4, 2, 5, 7, 8];
    const [q, k, v] = [array([B, H, T, D], 1), array([B, G, S, D], 2), array([B, G, S, D], 3)];
    for (const form of FORMS) {
      for (const offset of [undefined, 0, 3, [0, 9], [40, 1]]) {
        const from = (b) => (Array.isArray(offset) ? offset[b] : (offset ?? 0));
        const options = { rotary: form, offset, causal: true };
        const [tq, tk] = [turned(q, (b, t) => from(b) + t, form), turned(k, (_, s) => s, form)];
        const expected = reference(tq, tk, v, { causal: true, offset });
        const what = JSON.stringify({ form, offset });
        close(hl.attention(q, k, v, options).output.data, expected.output, what);
        const explicit = hl.attention(q, k, v, { ...options, weights: true });
        close(explicit.weights.data, expected.weights, what);
        const packed = hl.attention(pack(q), pack(k), pack(v), { ...options, heads: H, kvHeads: G }).output;
        close(packed.data, pack({ data: expected.output, shape: [B, H, T, D] }).data, `packed, ${what}`);
      }
    }
  }),
);

test(
  'past keys are not rotated again, fresh keys follow them, and the present is the past of the next call',
  everywhere((hl) => {
    const [H, G, N, D] = [4, 2, 9, 8];
    const [q, k, v] = [array([1, H, N, D], 1), array([1, G, N, D], 2), array([1, G, N, D], 3)];
    const rows = ({ data, shape: [, heads, n, d] }, from, to) => ({
      shape: [1, heads, to - from, d],
      data: Float32Array.from({ length: heads * (to - from) * d }, (_, i) => {
        const [h, r] = [Math.floor(i / ((to - from) * d)), Math.floor(i / d) % (to - from)];
        return data[(h * n + from + r) * d + (i % d)];
      }),
    });
    const options = { rotary: { theta: 50 }, causal: true };
    const whole = hl.attention(q, k, v, options).output;
    let past = { pastKey: array([1, G, 0, D]), pastValue: array([1, G, 0, D]) };
    const parts = [0, 4, 5, 9].flatMap((to, i, all) => {
      if (i === 0) return [];
      const inputs = [q, k, v].map((x) => rows(x, all[i - 1], to));
      const { output, presentKey, presentValue } = hl.attention(...inputs, { ...options, ...past });
      past = { pastKey: presentKey, pastValue: presentValue };
      return [{ output, from: all[i - 1], to }];
    });
    for (const { output, from, to } of parts)
      close(output.data, rows({ data: whole.data, shape: whole.shape }, from, to).data, `${from}..${to}`);
  }),
);

/** Returns the central differences of the loss with respect to every number of the input with the index `which`. */
function slopes(loss, inputs, which, step = 1e-4) {
  return Array.from(inputs[which].data, (_, i) => {
    const at = (by) => {
      const data = Float64Array.from(inputs[which].data);
      data[i] += by;
      return loss(inputs.map((input, j) => (j === which ? { data, shape: input.shape } : input)));
    };
    return (at(step) - at(-step)) / (2 * step);
  });
}

test(
  'the gradients of attention with rotary positions, ALiBi and sinks equal central differences in float64',
  everywhere((hl) => {
    const [B, H, G, T, S, D] = [2, 4, 2, 3, 5, 4];
    const [q, k, v, sinks] = [array([B, H, T, D], 1), array([B, G, S, D], 2), array([B, G, S, D], 3), array([H], 4)];
    const dOutput = array([B, H, T, D], 5);
    for (const form of [{}, { width: 2, pairing: 'neighbours', theta: 10 }]) {
      for (const offset of [2, [0, 4]]) {
        const from = (b) => (Array.isArray(offset) ? offset[b] : offset);
        const loss = ([query, key, value, sink]) => {
          const [tq, tk] = [turned(query, (b, t) => from(b) + t, form), turned(key, (_, s) => s, form)];
          const given = { sinks: sink, slopes: alibiSlopes(H), offset, causal: true };
          return sum(reference(tq, tk, value, given).output, dOutput.data);
        };
        const options = { rotary: form, alibi: true, sinks, offset, causal: true, train: true };
        const found = hl.attention(q, k, v, options).backward(dOutput);
        ['dQuery', 'dKey', 'dValue', 'dSinks'].forEach((name, which) =>
          close(
            found[name].data,
            slopes(loss, [q, k, v, sinks], which),
            `${name}, ${JSON.stringify({ form, offset })}`,
          ),
        );
        assert.deepEqual(found.dSinks.shape, [H]);
      }
    }
  }),
);

test(
  'one tensor may be query, key and value: values are not rotated, and the tensor is unchanged',
  everywhere((hl) => {
    const x = array([1, 2, 6, 8], 1);
    const tensor = hl.tensor(x);
    const expected = reference(
      turned(x, (_, t) => t),
      turned(x, (_, t) => t),
      x,
    ).output;
    for (const train of [false, true]) {
      const result = hl.attention(tensor, tensor, tensor, { rotary: {}, train });
      close(result.output.data, expected, `train: ${train}`);
      if (train) result.backward(array([1, 2, 6, 8], 2));
    }
    assert.deepEqual(tensor.copy(), x.data);
  }),
);

test(
  'ALiBi equals a bias by distance, on both paths, for any number of queries and keys',
  everywhere((hl) => {
    for (const [T, S, offset] of [
      [1, 300, 299],
      [5, 5, 0],
      [9, 70, [3, 61]],
      [30, 250, 100],
      [2, 3, -4],
    ]) {
      const [B, H] = [2, 6];
      const [q, k, v] = [array([B, H, T, 8], 1), array([B, H, S, 8], 2), array([B, H, S, 5], 3)];
      const from = (b) => (Array.isArray(offset) ? offset[b] : offset);
      const bias = {
        shape: [B, H, T, S],
        data: Float32Array.from({ length: B * H * T * S }, (_, i) => {
          const [s, t, h, b] = [i % S, Math.floor(i / S) % T, Math.floor(i / S / T) % H, Math.floor(i / S / T / H)];
          return -alibiSlopes(H)[h] * Math.abs(t + from(b) - s);
        }),
      };
      for (const more of [{}, { weights: true }]) {
        const expected = hl.attention(q, k, v, { ...more, bias, offset }).output.data;
        close(hl.attention(q, k, v, { ...more, alibi: true, offset }).output.data, expected, `${T} × ${S}`);
        close(hl.attention(q, k, v, { ...more, alibi: [...alibiSlopes(H)], offset }).output.data, expected, 'given');
      }
    }
  }),
);

test('the slopes of ALiBi equal those of its paper', () => {
  assert.deepEqual([...alibiSlopes(8)], [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]);
  assert.deepEqual([...alibiSlopes(1)], [2 ** -8]);
  const twelve = [...Array.from({ length: 8 }, (_, h) => 2 ** -(h + 1)), ...[0.5, 1.5, 2.5, 3.5].map((x) => 2 ** -x)];
  assert.deepEqual([...alibiSlopes(12)], Array.from(twelve, Math.fround));
});

test(
  'a sink takes part in the softmax of every row, and without keys has the whole weight',
  everywhere((hl) => {
    const [q, k] = [array([1, 2, 4, 8], 1), array([1, 2, 6, 8], 2)];
    const sinks = [1.5, -0.5];
    const plain = hl.attention(q, k, k, { weights: true, scores: 'masked' });
    const { weights, output } = hl.attention(q, k, k, { sinks, weights: true });
    for (let row = 0; row < 8; row++) {
      const scores = plain.scores.data.subarray(row * 6, row * 6 + 6);
      const all = scores.reduce((total, x) => total + Math.exp(x), 0);
      const share = all / (all + Math.exp(sinks[Math.floor(row / 4)]));
      close(
        weights.data.subarray(row * 6, row * 6 + 6),
        plain.weights.data.subarray(row * 6, row * 6 + 6).map((w) => w * share),
        `row ${row}`,
      );
    }
    close(hl.attention(q, k, k, { sinks }).output.data, output.data, 'streaming');
    const none = hl.attention(q, k, k, { sinks: [-Infinity, -Infinity] }).output;
    assert.deepEqual(none.copy(), hl.attention(q, k, k).output.copy());
    const blind = hl.attention(q, k, k, { sinks, validLens: [0], train: true });
    assert.ok(blind.output.data.every((y) => y === 0));
    assert.ok(blind.backward(array([1, 2, 4, 8], 3)).dSinks.data.every((g) => g === 0));
    const empty = array([1, 2, 0, 8]);
    assert.ok(hl.attention(q, empty, empty, { sinks }).output.data.every((y) => y === 0));
  }),
);

/** Computes the layer in float64: projections, attention with rotated queries and keys, and the output projection. */
function layerOutput(p, { H, G, D }, x, place, options) {
  const [rows, width] = x.shape;
  const project = (w, b) =>
    Float64Array.from({ length: rows * w.shape[0] }, (_, i) => {
      const [r, j] = [Math.floor(i / w.shape[0]), i % w.shape[0]];
      let total = b ? b.data[j] : 0;
      for (let c = 0; c < width; c++) total += x.data[r * width + c] * w.data[j * width + c];
      return total;
    });
  const split = (data, heads) => ({
    shape: [1, heads, rows, D],
    data: Float64Array.from(data, (_, i) => {
      const [h, r] = [Math.floor(i / D / rows), Math.floor(i / D) % rows];
      return data[(r * heads + h) * D + (i % D)];
    }),
  });
  const { rotary: form, ...rest } = options;
  const q = turned(split(project(p.wq, p.bq), H), place, form);
  const k = turned(split(project(p.wk, p.bk), G), place, form);
  const { output } = reference(q, k, split(project(p.wv, p.bv), G), rest);
  return Float64Array.from({ length: rows * p.wo.shape[0] }, (_, i) => {
    const [r, j] = [Math.floor(i / p.wo.shape[0]), i % p.wo.shape[0]];
    let total = p.bo ? p.bo.data[j] : 0;
    for (let c = 0; c < H * D; c++)
      total += output[(Math.floor(c / D) * rows + r) * D + (c % D)] * p.wo.data[j * H * D + c];
    return total;
  });
}

test(
  'a layer rotates its projections; its gradients and those of sinks equal central differences in float64',
  everywhere((hl) => {
    const [C, H, G, D, T] = [6, 4, 2, 4, 5];
    const layer = hl.multiHeadAttention({ embedDim: C, numHeads: H, kvHeads: G, headDim: D, seed: 3 });
    const names = ['wq', 'wk', 'wv', 'bq', 'bk', 'wo'];
    const [x, sinks, dOutput] = [array([T, C], 1), array([H], 2), array([T, C], 3)];
    for (const form of [{}, { width: 2, pairing: 'neighbours', theta: 20 }]) {
      layer.zeroGrad();
      const { output } = layer.train().forward(x, { rotary: form, alibi: true, sinks, causal: true });
      const found = layer.backward(dOutput);
      const values = [
        x,
        sinks,
        ...names.map((name) => ({
          ...layer.parameters[name],
          data: layer.parameters[name].copy(),
          shape: layer.parameters[name].shape,
        })),
      ];
      const run = ([input, sink, ...rest]) => {
        const p = {
          bv: layer.parameters.bv,
          bo: layer.parameters.bo,
          ...Object.fromEntries(names.map((name, i) => [name, rest[i]])),
        };
        const options = { rotary: form, sinks: sink, slopes: alibiSlopes(H), causal: true };
        return layerOutput(p, { H, G, D }, input, (_, t) => t, options);
      };
      close(output.data, run(values), 'output');
      const loss = (all) => sum(run(all), dOutput.data);
      const gradients = [found.dQuery, found.dSinks, ...names.map((name) => layer.gradients[name])];
      gradients.forEach((gradient, which) => close(gradient.data, slopes(loss, values, which), `gradient ${which}`));
    }
  }),
);

test(
  'a layer with rotary positions gives the same results token by token, in float32 and int8',
  everywhere((hl) => {
    const [C, T] = [16, 12];
    const x = array([1, T, C], 1);
    const rows = (from, to) => ({ data: x.data.subarray(from * C, to * C), shape: [1, to - from, C] });
    for (const weights of ['float32', 'int8']) {
      const layer = hl.multiHeadAttention({ embedDim: C, numHeads: 4, kvHeads: 2, weights });
      const options = { rotary: { pairing: 'neighbours' }, alibi: true, sinks: [1, 2, 3, 4], causal: true };
      const whole = layer.forward(x, options).output.copy();
      let past = { pastKey: hl.zeros([1, 2, 0, 4]), pastValue: hl.zeros([1, 2, 0, 4]) };
      for (let t = 0; t < T; t += 3) {
        const { output, presentKey, presentValue } = layer.forward(rows(t, t + 3), { ...options, ...past });
        past = { pastKey: presentKey, pastValue: presentValue };
        const expected = whole.subarray(t * C, (t + 3) * C);
        assert.ok(difference(output.data, expected) < (weights === 'int8' ? 1e-2 : TOLERANCE), `${weights}, ${t}`);
      }
    }
  }),
);

test('the table of rotary positions equals its formulas, with every scaling', () => {
  const [width, theta, context] = [16, 1000, 40];
  const angles = Array.from({ length: width / 2 }, (_, n) => plainAngle(n, width, theta));
  const check = (scaling, expected, factor = 1) => {
    const table = rotaryTable({ theta, width, scaling, context });
    for (let p = 0; p < context; p++) {
      expected.forEach((angle, n) => {
        assert.equal(table[p * width + n], Math.fround(factor * Math.cos(p * angle)));
        assert.equal(table[p * width + width / 2 + n], Math.fround(factor * Math.sin(p * angle)));
      });
    }
  };
  check(undefined, angles);
  check(
    { type: 'linear', factor: 4 },
    angles.map((angle) => angle / 4),
  );
  const old = 32;
  const llama3 = { type: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalContext: old };
  const kinds = new Set();
  check(
    llama3,
    angles.map((angle) => {
      const length = (2 * Math.PI) / angle;
      kinds.add(length < old / 4 ? 'fast' : length > old ? 'slow' : 'between');
      if (length < old / 4) return angle;
      if (length > old) return angle / 8;
      const smooth = (old / length - 1) / (4 - 1);
      return ((1 - smooth) * angle) / 8 + smooth * angle;
    }),
  );
  assert.equal(kinds.size, 3);
  const pair = (turns) => (width * Math.log(old / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  for (const [yarn, low, high, factor] of [
    [{ betaFast: 4, betaSlow: 1 }, Math.max(0, Math.floor(pair(4))), Math.ceil(pair(1)), 0.1 * Math.log(8) + 1],
    [{ betaFast: 4, betaSlow: 0.5, truncate: false, attentionFactor: 1.5 }, Math.max(0, pair(4)), pair(0.5), 1.5],
    [{}, Math.max(0, Math.floor(pair(32))), Math.ceil(pair(1)), 0.1 * Math.log(8) + 1],
  ])
    check(
      { type: 'yarn', factor: 8, originalContext: old, ...yarn },
      angles.map((angle, n) => {
        const ramp = Math.min(1, Math.max(0, (n - low) / (high - low)));
        return (angle / 8) * ramp + angle * (1 - ramp);
      }),
      factor,
    );
});

test('invalid positions, slopes and sinks are refused by name', () => {
  const [q, k] = [array([2, 4, 3, 8], 1), array([2, 2, 5, 8], 2)];
  const refuses = (options, parameter, message) =>
    assert.throws(() => hl.attention(q, k, k, options), { parameter, message });
  refuses({ rotary: { width: 3 } }, 'rotary.width', /even number/);
  refuses({ rotary: { width: 10 } }, 'rotary.width', /at most 8/);
  refuses({ rotary: { theta: 0 } }, 'rotary.theta', /finite number/);
  refuses({ rotary: { pairing: 'pairs' } }, 'rotary.pairing', /'halves' or 'neighbours'/);
  refuses({ rotary: { turns: 1 } }, 'turns', /unknown option/);
  refuses({ rotary: true }, 'rotary', /an object/);
  refuses({ rotary: { scaling: { type: 'ntk' } } }, 'rotary.scaling.type', /'linear', 'llama3', 'yarn' or 'factors'/);
  refuses({ rotary: { scaling: { type: 'linear' } } }, 'rotary.scaling.factor', /finite number/);
  refuses({ rotary: { scaling: { type: 'linear', factor: 2, betaFast: 1 } } }, 'betaFast', /unknown option/);
  for (const factors of [
    [1, 2, 3],
    [1, 2, 3, 4, 5],
  ])
    refuses({ rotary: { scaling: { type: 'factors', factors } } }, 'rotary.scaling.factors', /expected 4 numbers/);
  refuses({ rotary: {}, offset: [0, -1] }, 'offset', /at least 0/);
  refuses({ alibi: [1, 2, 3] }, 'alibi', /\[3\], expected \(H\) = \[4\]/);
  refuses({ alibi: 2 }, 'alibi', /one slope per head/);
  refuses({ alibi: [1, 2, 3, NaN] }, 'alibi[3]', /finite/);
  refuses({ sinks: [1, 2] }, 'sinks', /\[2\], expected \(H\) = \[4\]/);
  const odd = array([1, 1, 2, 5]);
  assert.throws(() => hl.attention(odd, odd, odd, { rotary: {} }), { parameter: 'rotary.width' });
});
