// Tests attention() against a float64 reference for random shapes and options, and tests properties that hold for any
// numbers.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { difference } from '../../support/golden.js';
import { everywhere, flavours, hl } from '../../support/headlight.js';
import { array, build, choices, sizes } from '../../support/problems.js';
import { attention as reference } from '../../support/reference.js';
import { inTier } from '../../support/tier.js';

const SEED = 2017;
const TOLERANCE = 5e-6;
/**
 * Compares numbers of up to 2. The error is relative to at least 1, because the relative error of an output near 0 may
 * be large.
 */
const close = (actual, expected) => difference([...actual, 1], [...expected, 1]) <= TOLERANCE;

test(
  `attention equals its float64 reference, on both paths, for any shape and options (seed ${SEED})`,
  everywhere((hl) => {
    fc.assert(
      fc.property(sizes, choices, (size, choice) => {
        const { inputs, options, plain } = build(size, choice);
        const expected = reference(...inputs, plain);
        const streamed = hl.attention(...inputs, options);
        assert.ok(close(streamed.output.data, expected.output), 'streaming');
        const explicit = hl.attention(...inputs, { ...options, weights: true });
        assert.ok(close(explicit.output.data, expected.output), 'explicit');
        assert.ok(close(explicit.weights.data, expected.weights), 'weights');
        streamed.dispose();
        explicit.dispose();
      }),
      { seed: SEED, numRuns: inTier(300, 20) },
    );
  }),
);

test(
  `scores at every step equal the reference, the mean is the mean over heads (seed ${SEED})`,
  everywhere((hl) => {
    fc.assert(
      fc.property(sizes, choices, (size, choice) => {
        const { inputs, options, plain } = build({ ...size, S: Math.min(size.S, 13) }, choice);
        const expected = reference(...inputs, plain);
        for (const step of ['raw', 'scaled', 'capped', 'masked']) {
          const result = hl.attention(...inputs, { ...options, scores: step });
          assert.ok(close(result.scores.data, expected.scores[step]), step);
          assert.ok(close(result.output.data, expected.output), `output with scores ${step}`);
          result.dispose();
        }
        const { weights } = hl.attention(...inputs, { ...options, weights: 'mean' });
        const [B, H, T] = inputs[0].shape;
        const S = inputs[1].shape[2];
        const mean = new Float64Array(B * T * S);
        for (let i = 0; i < expected.weights.length; i++)
          mean[Math.floor(i / (H * T * S)) * T * S + (i % (T * S))] += expected.weights[i] / H;
        assert.deepEqual(weights.shape, [B, T, S]);
        assert.ok(close(weights.data, mean));
      }),
      { seed: SEED, numRuns: inTier(60, 20) },
    );
  }),
);

test(
  `rows of weights sum to 1, or are 0 without visible keys (seed ${SEED})`,
  everywhere((hl) => {
    fc.assert(
      fc.property(sizes, choices, (size, choice) => {
        const { inputs, options } = build(size, { ...choice, dropout: false, sinks: false });
        const { weights } = hl.attention(...inputs, { ...options, weights: true });
        const S = inputs[1].shape[2];
        for (let i = 0; i < weights.size; i += S) {
          const row = weights.data.subarray(i, i + S);
          const sum = row.reduce((a, b) => a + b, 0);
          assert.ok(row.every((w) => w >= 0) && (sum === 0 || Math.abs(sum - 1) < 1e-5), `${sum}`);
        }
        weights.dispose();
      }),
      { seed: SEED, numRuns: inTier(60, 20) },
    );
  }),
);

test(
  'packed (B,T,H·D) gives the same bits as (B,H,T,D)',
  everywhere((hl) => {
    const [B, H, G, T, S, D, Dv] = [2, 6, 2, 11, 13, 5, 7];
    const pack = ({ data, shape: [b, h, n, d] }) => {
      const packed = new Float32Array(data.length);
      for (let i = 0; i < data.length; i++) {
        const [x, t, y, z] = [i % d, Math.floor(i / d) % n, Math.floor(i / d / n) % h, Math.floor(i / d / n / h)];
        packed[((z * n + t) * h + y) * d + x] = data[i];
      }
      return { data: packed, shape: [b, n, h * d] };
    };
    const [q, k, v] = [array([B, H, T, D], 1), array([B, G, S, D], 2), array([B, G, S, Dv], 3)];
    for (const options of [{}, { weights: true }, { causal: true }]) {
      const split = hl.attention(q, k, v, options).output;
      const packed = hl.attention(pack(q), pack(k), pack(v), { ...options, heads: H, kvHeads: G }).output;
      assert.deepEqual(packed.shape, [B, T, H * Dv]);
      assert.deepEqual(packed.copy(), pack({ data: split.copy(), shape: split.shape }).data);
    }
  }),
);

test(
  'permuting the keys changes nothing, permuting the queries permutes the output',
  everywhere((hl) => {
    const [q, k, v] = [array([1, 2, 9, 4], 1), array([1, 2, 10, 4], 2), array([1, 2, 10, 3], 3)];
    const reverse = ({ data, shape: [b, h, n, d] }) => {
      const to = new Float32Array(data.length);
      for (let i = 0; i < b * h; i++)
        for (let r = 0; r < n; r++)
          to.set(data.subarray((i * n + r) * d, (i * n + r + 1) * d), (i * n + n - 1 - r) * d);
      return { data: to, shape: [b, h, n, d] };
    };
    const output = hl.attention(q, k, v).output.copy();
    assert.ok(close(hl.attention(q, reverse(k), reverse(v)).output.data, output));
    assert.ok(close(hl.attention(reverse(q), k, v).output.data, reverse({ data: output, shape: [1, 2, 9, 3] }).data));
  }),
);

test(
  'hiding the last keys, by any option, equals leaving them out',
  everywhere((hl) => {
    const [B, H, T, S, cut, D] = [2, 2, 7, 300, 260, 4];
    const cutKeys = ({ data, shape: [b, h, n, d] }) => ({
      data: Float32Array.from(
        { length: b * h * cut * d },
        (_, i) => data[Math.floor(i / (cut * d)) * n * d + (i % (cut * d))],
      ),
      shape: [b, h, cut, d],
    });
    const [q, k, v] = [array([B, H, T, D], 1), array([B, H, S, D], 2), array([B, H, S, D], 3)];
    const expected = hl.attention(q, cutKeys(k), cutKeys(v)).output.copy();
    const shown = { data: Uint8Array.from({ length: S }, (_, s) => Number(s < cut)), shape: [S] };
    const ways = {
      mask: { mask: shown },
      keyPadding: { keyPadding: shown },
      validLens: { validLens: [cut, cut] },
      bias: { bias: { data: Float32Array.from(shown.data, (x) => (x ? 0 : -Infinity)), shape: [S] } },
    };
    for (const [name, options] of Object.entries(ways)) {
      for (const weights of [false, true])
        assert.ok(close(hl.attention(q, k, v, { ...options, weights }).output.data, expected), name);
    }
  }),
);

test('dispose() of a result frees all of its tensors', () => {
  const { used } = hl.info.memory;
  const x = array([1, 1, 3, 4], 1);
  const result = hl.attention(x, x, x, { weights: true, scores: 'raw', pastKey: x, pastValue: x });
  result.dispose();
  const tensors = Object.values(result);
  assert.deepEqual([tensors.length, tensors.every(({ disposed }) => disposed)], [5, true]);
  assert.equal(hl.info.memory.used, used);
});

test(
  'decoding step by step with a cache equals the whole sequence',
  everywhere((hl) => {
    const [B, H, G, N, D] = [2, 4, 2, 9, 6];
    const [q, k, v] = [array([B, H, N, D], 1), array([B, G, N, D], 2), array([B, G, N, D], 3)];
    const rows = ({ data, shape: [b, h, n, d] }, from, to) => ({
      data: Float32Array.from(
        { length: b * h * (to - from) * d },
        (_, i) => data[(Math.floor(i / ((to - from) * d)) * n + from) * d + (i % ((to - from) * d))],
      ),
      shape: [b, h, to - from, d],
    });
    const whole = hl.attention(q, k, v, { causal: true }).output;
    let past = { pastKey: { data: [], shape: [B, G, 0, D] }, pastValue: { data: [], shape: [B, G, 0, D] } };
    for (const [from, to] of [
      [0, 4],
      [4, 5],
      [5, 9],
    ]) {
      const step = hl.attention(rows(q, from, to), rows(k, from, to), rows(v, from, to), { causal: true, ...past });
      assert.ok(close(step.output.data, rows({ data: whole.data, shape: whole.shape }, from, to).data));
      past = { pastKey: step.presentKey, pastValue: step.presentValue };
    }
    assert.deepEqual(past.pastKey.shape, [B, G, N, D]);
    assert.deepEqual(past.pastKey.copy(), k.data);
    assert.deepEqual(past.pastValue.copy(), v.data);
  }),
);

test(
  'a mask may end before the last key only if validLens hides the others',
  everywhere((hl) => {
    const [q, k, v] = [array([2, 1, 3, 4], 1), array([2, 1, 7, 4], 2), array([2, 1, 7, 4], 3)];
    const bias = array([3, 5], 4);
    const padded = {
      data: Float32Array.from({ length: 21 }, (_, i) => (i % 7 < 5 ? bias.data[Math.floor(i / 7) * 5 + (i % 7)] : 0)),
      shape: [3, 7],
    };
    assert.deepEqual(
      hl.attention(q, k, v, { bias, validLens: [5, 3] }).output.copy(),
      hl.attention(q, k, v, { bias: padded, validLens: [5, 3] }).output.copy(),
    );
    assert.throws(() => hl.attention(q, k, v, { bias, validLens: [6, 3] }), { code: 'SHAPE', parameter: 'bias' });
    assert.throws(() => hl.attention(q, k, v, { bias }), { code: 'SHAPE', parameter: 'bias' });
  }),
);

test(
  'NaN and infinity in hidden keys and values reach no output; in visible ones they reach their rows',
  everywhere((hl) => {
    const [T, S, D] = [12, 300, 4];
    for (const bad of [NaN, Infinity, -Infinity]) {
      for (const weights of [false, true]) {
        const [q, k, v] = [array([1, 1, T, D], 1), array([1, 1, S, D], 2), array([1, 1, S, D], 3)];
        const clean = hl.attention(q, k, v, { causal: true, offset: 270, weights }).output.copy();
        for (const x of [k, v]) x.data.fill(bad, 275 * D, 276 * D);
        const { data } = hl.attention(q, k, v, { causal: true, offset: 270, weights }).output;
        for (let t = 0; t < T; t++) {
          for (let d = 0; d < D; d++) {
            if (t < 5)
              assert.ok(Math.abs(data[t * D + d] - clean[t * D + d]) < 1e-5, `query ${t} does not see key 275`);
            else assert.ok(!Number.isFinite(data[t * D + d]) || !Number.isNaN(bad), `query ${t} sees key 275`);
          }
        }
        if (Number.isNaN(bad)) assert.ok(data.subarray(5 * D).every(Number.isNaN));
      }
    }
    const [q, k, v] = [array([1, 1, 10, 3], 1), array([1, 1, 5, 3], 2), array([1, 1, 5, 3], 3)];
    q.data[3 * 3] = NaN;
    const { output, weights } = hl.attention(q, k, v, { weights: true });
    for (let t = 0; t < 10; t++)
      assert.equal(Number.isNaN(output.data[t * 3]) && Number.isNaN(weights.data[t * 5]), t === 3);
  }),
);

test(
  'a few queries have the same bits alone and among many, and NaN in a hidden key or value does not affect them',
  everywhere((hl) => {
    for (const [T, S, D, Dv] of [
      [2, 1, 6, 8],
      [4, 7, 1, 1],
      [5, 5, 2, 7],
      [3, 5, 4, 9],
      [5, 5, 32, 32],
      [8, 20, 7, 20],
      [11, 64, 6, 15],
      [24, 63, 64, 64],
      [7, 130, 3, 20],
      [4, 517, 6, 5],
      [8, 301, 16, 33],
      [2, 240, 8, 8],
    ]) {
      const [many, k, v] = [array([2, 4, 40, D], 1), array([2, 2, S, D], 2), array([2, 2, S, Dv], 3)];
      const some = (data, width) =>
        Float32Array.from(
          { length: 8 * T * width },
          (_, i) => data[Math.floor(i / (T * width)) * 40 * width + (i % (T * width))],
        );
      const q = { data: some(many.data, D), shape: [2, 4, T, D] };
      const poisoned = ({ data, shape }) => ({
        data: data.map((x, i) => (Math.floor(i / shape[3]) % S === S - 1 ? NaN : x)),
        shape,
      });
      const mask = { data: Uint8Array.from({ length: S }, (_, s) => Number(s < S - 1)), shape: [S] };
      for (const options of [{}, { causal: true }, { mask }, { weights: true, validLens: [S - 1, S - 1] }]) {
        const expected = some(hl.attention(many, k, v, options).output.data, Dv);
        assert.deepEqual(hl.attention(q, k, v, options).output.copy(), expected);
        if (options.mask || options.validLens)
          assert.ok(close(hl.attention(q, poisoned(k), poisoned(v), options).output.data, expected));
      }
    }
  }),
);

test(
  'a single query: NaN in hidden keys and values has no effect, in visible ones it reaches the output',
  everywhere((hl) => {
    for (const [S, D, Dv] of [
      [5, 4, 3],
      [300, 6, 70],
      [40, 33, 32],
    ]) {
      const [q, k, v] = [array([2, 2, 1, D], 1), array([2, 1, S, D], 2), array([2, 1, S, Dv], 3)];
      const hidden = S - 2;
      const mask = { data: Uint8Array.from({ length: S }, (_, s) => Number(s !== hidden)), shape: [S] };
      const shown = hl.attention(q, k, v, { mask, weights: true });
      const expected = reference(q, k, v, { mask });
      assert.ok(close(shown.output.data, expected.output) && close(shown.weights.data, expected.weights));
      for (const x of [k, v]) {
        const width = x.shape[3];
        const bad = { data: x.data.slice(), shape: x.shape };
        for (const b of [0, 1]) bad.data.fill(NaN, (b * S + hidden) * width, (b * S + hidden + 1) * width);
        const [key, value] = x === k ? [bad, v] : [k, bad];
        for (const weights of [false, true]) {
          assert.ok(close(hl.attention(q, key, value, { mask, weights }).output.data, expected.output));
          assert.ok(hl.attention(q, key, value, { weights }).output.data.every(Number.isNaN));
        }
      }
    }
  }),
);

test(
  'a bias of −∞ hides a key like a mask: NaN and infinity in the key or its value reach no output',
  everywhere((hl) => {
    for (const T of [1, 5, 30]) {
      for (const [S, hidden] of [
        [9, 4],
        [300, 270],
      ]) {
        const [q, k, v] = [array([1, 2, T, 4], 1), array([1, 1, S, 4], 2), array([1, 1, S, 3], 3)];
        const bias = array([S], 4);
        bias.data[hidden] = -Infinity;
        const expected = reference(q, k, v, { bias }).output;
        for (const bad of [NaN, Infinity, -Infinity]) {
          for (const x of [k, v]) x.data.fill(bad, hidden * x.shape[3], (hidden + 1) * x.shape[3]);
          for (const weights of [false, true])
            assert.ok(close(hl.attention(q, k, v, { bias, weights }).output.data, expected), `${T} × ${S}, ${bad}`);
        }
      }
    }
  }),
);

test(
  'with a finite maskFill the value of a hidden key has a weight: NaN in it reaches the output',
  everywhere((hl) => {
    const mask = { data: Uint8Array.of(1, 0, 1), shape: [3] };
    for (const T of [1, 5, 30]) {
      const [q, k, v] = [array([1, 1, T, 4], 1), array([1, 1, 3, 4], 2), array([1, 1, 3, 4], 3)];
      k.data.fill(NaN, 4, 8);
      assert.ok(hl.attention(q, k, v, { mask, maskFill: -1 }).output.data.every(Number.isFinite));
      v.data.fill(NaN, 4, 8);
      assert.ok(hl.attention(q, k, v, { mask, maskFill: -1 }).output.data.every(Number.isNaN));
    }
  }),
);

test(
  'a window of one key with maskFill 0 gives the expected weights',
  everywhere((hl) => {
    const [q, k, v] = [array([1, 1, 5, 4], 1), array([1, 1, 5, 4], 2), array([1, 1, 5, 4], 3)];
    const { weights } = hl.attention(q, k, v, { window: [0, 0], maskFill: 0, weights: true });
    for (let t = 0; t < 5; t++) {
      let score = 0;
      for (let d = 0; d < 4; d++) score += (q.data[4 * t + d] * k.data[4 * t + d]) / 2;
      const total = Math.exp(score) + 4;
      const expected = Array.from({ length: 5 }, (_, s) => (s === t ? Math.exp(score) : 1) / total);
      assert.ok(close(weights.data.subarray(5 * t, 5 * t + 5), expected));
    }
  }),
);

test(
  'the largest float values give their weighted mean, on both paths',
  everywhere((hl) => {
    const most = 3e38;
    for (const T of [1, 5, 30]) {
      for (const S of [3, 70, 600]) {
        const [q, k] = [array([1, 2, T, 4], 1), array([1, 1, S, 4], 2)];
        const signs = array([1, 1, S, 3], 3);
        const v = { data: signs.data.map((x, i) => (i % 3 === 0 || x > -1.5 ? most : -most)), shape: signs.shape };
        for (const options of [{}, { causal: true, offset: 1 }, { bias: array([T, S], 4) }, { softcap: 2 }]) {
          const expected = reference(q, k, v, options).output.map((x) => x / most);
          for (const weights of [false, true]) {
            const output = hl.attention(q, k, v, { ...options, weights }).output.data.map((x) => x / most);
            assert.ok(close(output, expected), `${T} × ${S}, weights ${weights}`);
          }
        }
      }
    }
  }),
);

test(
  'a single query with more keys than one block, in which later keys have larger scores',
  everywhere((hl) => {
    const S = 9701;
    for (const [D, Dv] of [
      [4, 3],
      [37, 70],
      [64, 32],
    ]) {
      const [q, k, v] = [array([1, 2, 1, D], 1), array([1, 1, S, D], 2), array([1, 1, S, Dv], 3)];
      for (let s = 0; s < S; s++) k.data[s * D] = (s / S) * 8 * Math.sign(q.data[0]);
      const mask = { data: Uint8Array.from({ length: S }, (_, s) => Number(s % 7 === 3)), shape: [S] };
      for (const options of [{}, { mask }, { causal: true, offset: S - 20, window: [6000, 0] }, { softcap: 3 }]) {
        const expected = reference(q, k, v, options).output;
        for (const weights of [false, true])
          assert.ok(close(hl.attention(q, k, v, { ...options, weights }).output.data, expected), `${D}, ${weights}`);
      }
    }
  }),
);

test(
  'the weights of very many keys sum to 1',
  everywhere((hl) => {
    const S = inTier(1e6, 1e5);
    for (const T of [1, 3]) {
      const [q, k, v] = [array([1, 1, T, 1], 1, 0.1), array([1, 1, S, 1], 2), array([1, 1, S, 1], 3)];
      const { weights, output } = hl.attention(q, k, v, { weights: true });
      for (let t = 0; t < T; t++) {
        const sum = weights.data.subarray(t * S, (t + 1) * S).reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(sum - 1) < 1e-6, `${sum}`);
      }
      weights.dispose();
      output.dispose();
    }
  }),
);

test(
  'sizes of 0 are allowed',
  everywhere((hl) => {
    const run = (B, T, S, Dv, options) =>
      hl.attention(array([B, 2, T, 4]), array([B, 2, S, 4]), array([B, 2, S, Dv]), options);
    for (const options of [{}, { weights: true, scores: 'raw' }, { causal: true, weights: 'mean' }]) {
      assert.deepEqual(run(0, 3, 3, 4, options).output.shape, [0, 2, 3, 4]);
      assert.deepEqual(run(2, 0, 3, 4, options).output.shape, [2, 2, 0, 4]);
      assert.deepEqual(run(2, 3, 3, 0, options).output.shape, [2, 2, 3, 0]);
      const blind = run(2, 3, 0, 4, options);
      assert.ok(blind.output.data.every((x) => x === 0));
    }
  }),
);

test('the flavours give nearly the same results', {
  skip: flavours.length < 2 && 'this Node has no relaxed SIMD',
}, () => {
  const inputs = [array([2, 4, 50, 32], 1), array([2, 2, 300, 32], 2), array([2, 2, 300, 20], 3)];
  const [plain, relaxed] = flavours.map((hl) => hl.attention(...inputs, { causal: true, offset: 200 }).output);
  assert.ok(difference(plain.data, relaxed.data) < 1e-6);
});

test('without weights, memory grows with the number of keys, not of scores', {
  timeout: 300_000,
}, () => {
  const T = inTier(16384, 4096);
  const shape = [1, 8, T, 64];
  hl.scope(() => {
    const q = hl.uniform(shape, { seed: 1, low: -1 });
    const k = hl.uniform(shape, { seed: 2, low: -1 });
    const v = hl.uniform(shape, { seed: 3, low: -1 });
    const { used } = hl.info.memory;
    const reserved = hl.info.memory.reserved;
    const { output } = hl.attention(q, k, v);
    const extra = hl.info.memory.reserved - Math.max(reserved, used + output.size * 4);
    assert.ok(extra < T * 4096, `${extra / 2 ** 20} MiB beyond inputs and output`);
    const spot = (h, t, d) => {
      const scores = Array.from({ length: T }, (_, s) => {
        let score = 0;
        for (let i = 0; i < 64; i++) score += q.data[(h * T + t) * 64 + i] * k.data[(h * T + s) * 64 + i];
        return Math.exp(score / 8);
      });
      const sum = scores.reduce((a, b) => a + b, 0);
      return scores.reduce((a, e, s) => a + e * v.data[(h * T + s) * 64 + d], 0) / sum;
    };
    for (const [h, t, d] of [
      [0, 0, 0],
      [3, 777, 11],
      [7, T - 1, 63],
    ]) {
      assert.ok(Math.abs(output.data[(h * T + t) * 64 + d] - spot(h, t, d)) < 1e-6);
    }
  });
});
