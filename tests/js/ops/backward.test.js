// Tests backward of attention() against a float64 reference, whose gradients are compared with central differences, and
// backward of a layer against central differences of the layer in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { load } from 'headlight-attention';
import { difference, gradientDifference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { array, build, choices, sizes, zeroOne } from '../../support/problems.js';
import { attentionGradients, attention as reference, slope } from '../../support/reference.js';
import { inTier } from '../../support/tier.js';

const SEED = 2018;
const TOLERANCE = 5e-6;

const sum = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
const entries = (object) => Object.entries(object).filter(([, x]) => x);
const ofHeads = (dMean, [B, H, T, S]) => ({
  shape: [B, H, T, S],
  data: Float64Array.from(
    { length: B * H * T * S },
    (_, i) => dMean.data[Math.floor(i / (H * T * S)) * T * S + (i % (T * S))] / H,
  ),
});

/** Random sizes, some of them near those of the tiles (8 and 96 queries) and of the blocks (120 keys). */
const wide = fc.record({
  B: fc.integer({ min: 1, max: 2 }),
  G: fc.integer({ min: 1, max: 2 }),
  group: fc.integer({ min: 1, max: 3 }),
  T: fc.constantFrom(1, 95, 96, 97, 200, 410),
  S: fc.constantFrom(1, 119, 120, 121, 300),
  D: fc.integer({ min: 1, max: 9 }),
  Dv: fc.integer({ min: 1, max: 9 }),
  seed: fc.nat(1e6),
});

test(`the gradients of the reference equal its central differences (seed ${SEED})`, () => {
  const small = sizes.map((size) => ({
    ...size,
    B: 1 + (size.B % 2),
    T: Math.min(size.T, 4),
    S: Math.min(size.S, 5),
    D: Math.min(size.D, 3),
    Dv: Math.min(size.Dv, 3),
  }));
  fc.assert(
    fc.property(small, choices, (size, choice) => {
      const { inputs, plain } = build(size, choice);
      const [B, H, T] = inputs[0].shape;
      const [S, Dv] = [inputs[1].shape[2], inputs[2].shape[3]];
      const [dOutput, dWeights] = [array([B, H, T, Dv], 5), array([B, H, T, S], 6)];
      const more = ['bias', 'sinks'].filter((name) => plain[name]);
      const given = [...inputs, ...more.map((name) => plain[name])];
      const loss = ([q, k, v, ...rest]) => {
        const options = { ...plain, ...Object.fromEntries(more.map((name, i) => [name, rest[i]])) };
        const { output, weights } = reference(q, k, v, options);
        return sum(output, dOutput.data) + sum(weights, dWeights.data);
      };
      const gradients = attentionGradients(...inputs, plain, dOutput, dWeights);
      Object.values(gradients).forEach((gradient, which) =>
        gradient.forEach((g, i) => {
          const expected = slope(loss, given, which, i);
          assert.ok(Math.abs(g - expected) < 1e-5 * (1 + Math.abs(expected)), `${g}, expected ${expected}`);
        }),
      );
    }),
    { seed: SEED, numRuns: inTier(40, 15) },
  );
});

for (const [name, shapes, runs] of [
  ['small', sizes, inTier(200, 20)],
  ['wide', wide, inTier(25, 3)],
]) {
  test(
    `gradients of attention equal the reference, for any ${name} shape and options (seed ${SEED})`,
    everywhere((hl) => {
      fc.assert(
        fc.property(shapes, choices, fc.constantFrom(false, true, 'mean'), (size, choice, weights) => {
          const { inputs, options, plain } = build(size, choice);
          const [B, H, T] = inputs[0].shape;
          const [S, Dv] = [inputs[1].shape[2], inputs[2].shape[3]];
          const dOutput = array([B, H, T, Dv], size.seed + 5);
          const dWeights = weights ? array(weights === 'mean' ? [B, T, S] : [B, H, T, S], size.seed + 6) : undefined;
          const result = hl.attention(...inputs, { ...options, weights, train: true });
          const found = result.backward(dOutput, { dWeights });
          const expected = attentionGradients(
            ...inputs,
            plain,
            dOutput,
            weights === 'mean' ? ofHeads(dWeights, [B, H, T, S]) : dWeights,
          );
          const differ = gradientDifference(
            Object.fromEntries([...entries(found).map(([key, x]) => [key, x.copy()]), ['scale', [1]]]),
            Object.fromEntries([
              ...Object.entries(expected).map(([key, data]) => [key, { data }]),
              ['scale', { data: [1] }],
            ]),
          );
          assert.ok(differ <= TOLERANCE, `${differ}`);
          for (const [, tensor] of entries(found)) tensor.dispose();
          result.dispose();
        }),
        { seed: SEED, numRuns: runs },
      );
    }),
  );
}

test(
  'packed inputs have packed gradients with the same bits',
  everywhere((hl) => {
    const [B, H, G, T, S, D] = [2, 4, 2, 30, 20, 6];
    const unpack = ({ data, shape: [b, n, c] }, heads) => ({
      shape: [b, heads, n, c / heads],
      data: Float32Array.from({ length: data.length }, (_, i) => {
        const d = c / heads;
        const [bi, h, row, j] = [
          Math.floor(i / (n * c)),
          Math.floor(i / (n * d)) % heads,
          Math.floor(i / d) % n,
          i % d,
        ];
        return data[(bi * n + row) * c + h * d + j];
      }),
    });
    const [q, k, v, dOutput] = [
      array([B, T, H * D], 1),
      array([B, S, G * D], 2),
      array([B, S, G * D], 3),
      array([B, T, H * D], 4),
    ];
    const packed = hl.attention(q, k, v, { heads: H, kvHeads: G, train: true }).backward(dOutput);
    const plain = hl.attention(unpack(q, H), unpack(k, G), unpack(v, G), { train: true }).backward(unpack(dOutput, H));
    for (const [name, heads] of [
      ['dQuery', H],
      ['dKey', G],
      ['dValue', G],
    ]) {
      const { data, shape } = packed[name];
      assert.deepEqual(unpack({ data: data.slice(), shape }, heads).data, plain[name].copy(), name);
    }
  }),
);

test(
  'the seeded mask of dropout is the same in backward',
  everywhere((hl) => {
    const [q, k, v, dOutput] = [
      array([2, 4, 130, 8], 1),
      array([2, 2, 150, 8], 2),
      array([2, 2, 150, 5], 3),
      array([2, 4, 130, 5], 4),
    ];
    const seeded = hl.attention(q, k, v, { dropout: { p: 0.4, seed: 77 }, weights: true, train: true });
    const keep = { data: Uint8Array.from(seeded.weights.data, (w) => Number(w !== 0)), shape: seeded.weights.shape };
    const given = hl.attention(q, k, v, { dropout: { p: 0.4, keep }, train: true }).backward(dOutput);
    for (const [name, gradient] of Object.entries(seeded.backward(dOutput)))
      assert.ok(difference(gradient.data, given[name].data) < 1e-6, name);
  }),
);

test(
  'training changes no bit of the output; with p = 0 gradients are unchanged, with p = 1 they are 0',
  everywhere((hl) => {
    const [x, dOutput] = [array([1, 2, 9, 8]), array([1, 2, 9, 8], 2)];
    const outputs = [true, false].map((train) => [
      hl.attention(x, x, x, { train }),
      hl.multiHeadAttention({ embedDim: 8, numHeads: 2 }).forward(array([9, 8]), { train }),
    ]);
    assert.deepEqual(...outputs.map((results) => results.map(({ output }) => output.copy())));
    const gradients = (dropout) =>
      Object.values(hl.attention(x, x, x, { dropout, train: true }).backward(dOutput)).map((g) => g.copy());
    assert.deepEqual(gradients({ p: 0, seed: 3 }), gradients(undefined));
    assert.ok(gradients({ p: 1, seed: 3 }).every((g) => g.every((y) => y === 0)));
  }),
);

test(
  'a hidden key contributes to no gradient, and a query that sees no key has none',
  everywhere((hl) => {
    for (const poison of [NaN, Infinity, -Infinity]) {
      const [q, k, v, dOutput] = [
        array([1, 2, 20, 8], 1),
        array([1, 2, 15, 8], 2),
        array([1, 2, 15, 7], 3),
        array([1, 2, 20, 7], 4),
      ];
      const visible = zeroOne([20, 15], 5);
      for (let t = 0; t < 20; t++) visible.data[t * 15 + 4] = 0;
      visible.data.fill(0, 3 * 15, 4 * 15);
      const bias = array([20, 15], 6);
      for (let t = 0; t < 20; t++) bias.data[t * 15 + 9] = -Infinity;
      const options = { mask: visible, softcap: 3, bias, train: true };
      const clean = hl.attention(q, k, v, options).backward(dOutput);
      for (const [x, width] of [
        [k, 8],
        [v, 7],
      ])
        for (let h = 0; h < 2; h++)
          for (const key of [4, 9]) x.data.fill(poison, (h * 15 + key) * width, (h * 15 + key + 1) * width);
      const dirty = hl.attention(q, k, v, options).backward(dOutput);
      for (const [name, gradient] of Object.entries(clean))
        assert.ok(difference(dirty[name].data, gradient.data) < 1e-6, `${name} with ${poison}`);
      for (let h = 0; h < 2; h++) {
        assert.ok(clean.dQuery.data.subarray((h * 20 + 3) * 8, (h * 20 + 4) * 8).every((g) => g === 0));
        assert.ok(clean.dValue.data.subarray((h * 15 + 4) * 7, (h * 15 + 5) * 7).every((g) => g === 0));
      }
      assert.ok(clean.dBias.data.subarray(3 * 15, 4 * 15).every((g) => g === 0));
    }
  }),
);

test(
  'with sizes of 0 gradients are zeros or empty',
  everywhere((hl) => {
    for (const [B, T, S] of [
      [0, 3, 3],
      [1, 0, 3],
      [1, 3, 0],
    ]) {
      const { dQuery, dKey, dValue } = hl
        .attention(array([B, 2, T, 4]), array([B, 2, S, 4]), array([B, 2, S, 4]), { train: true })
        .backward(array([B, 2, T, 4]));
      assert.deepEqual(
        [dQuery.shape, dKey.shape, dValue.shape],
        [
          [B, 2, T, 4],
          [B, 2, S, 4],
          [B, 2, S, 4],
        ],
      );
      for (const { data } of [dQuery, dKey, dValue]) assert.ok(data.every((g) => g === 0));
    }
  }),
);

test(
  'the gradient of a bias whose rows end before the last key has the shape of the bias',
  everywhere((hl) => {
    const [q, k, dOutput] = [array([2, 1, 4, 8], 1), array([2, 1, 9, 8], 2), array([2, 1, 4, 8], 3)];
    const bias = array([4, 6], 4);
    const { dBias } = hl.attention(q, k, k, { bias, validLens: [6, 3], train: true }).backward(dOutput);
    const expected = attentionGradients(
      q,
      k,
      k,
      {
        bias: {
          shape: [4, 9],
          data: Float32Array.from({ length: 36 }, (_, i) =>
            i % 9 < 6 ? bias.data[Math.floor(i / 9) * 6 + (i % 9)] : 0,
          ),
        },
        validLens: [6, 3],
      },
      dOutput,
    ).dBias;
    assert.deepEqual(dBias.shape, [4, 6]);
    assert.equal(
      hl.attention(q, k, k, { bias: array([4, 9], 4), train: true }).backward(dOutput, { dBias: false }).dBias,
      undefined,
    );
    assert.ok(
      difference(
        dBias.data,
        expected.filter((_, i) => i % 9 < 6),
      ) < TOLERANCE,
    );
  }),
);

// ---- the layer ----

/** Returns the float64 loss of the layer, a function of the inputs and then the parameters in the order `names`. */
function layerLoss(options, names, { rows, keys }, dOutput) {
  const { numHeads: H, kvHeads: G, headDim: D, zeroAttention } = options;
  const linear = (x, w, b, n) =>
    Float64Array.from({ length: n * w.shape[0] }, (_, i) => {
      const [r, j] = [Math.floor(i / w.shape[0]), i % w.shape[0]];
      let total = b ? b.data[j] : 0;
      for (let c = 0; c < w.shape[1]; c++) total += x[r * w.shape[1] + c] * w.data[j * w.shape[1] + c];
      return total;
    });
  const split = (x, n, heads) => ({
    shape: [1, heads, n, D],
    data: Float64Array.from(
      { length: x.length },
      (_, i) => x[(Math.floor(i / D) % n) * heads * D + Math.floor(i / (n * D)) * D + (i % D)],
    ),
  });
  return ([query, key, value, ...rest]) => {
    const p = Object.fromEntries(names.map((name, i) => [name, rest[i]]));
    const appended = (x, learned) => [
      ...x,
      ...(learned ? learned.data : []),
      ...(zeroAttention ? new Float64Array(G * D) : []),
    ];
    const k = appended(linear(key.data, p.wk, p.bk, keys), p.biasK);
    const v = appended(linear(value.data, p.wv, p.bv, keys), p.biasV);
    const all = k.length / (G * D);
    const { output } = reference(
      split(linear(query.data, p.wq, p.bq, rows), rows, H),
      split(k, all, G),
      split(v, all, G),
    );
    const heads = Float64Array.from(
      { length: output.length },
      (_, i) => output[(Math.floor(i / D) % H) * rows * D + Math.floor(i / (H * D)) * D + (i % D)],
    );
    return sum(p.wo ? linear(heads, p.wo, p.bo, rows) : heads, dOutput.data);
  };
}

test(
  'every gradient of a layer equals a central difference in float64',
  everywhere((hl) => {
    for (const given of [
      { embedDim: 6, numHeads: 2 },
      {
        embedDim: 8,
        numHeads: 4,
        kvHeads: 2,
        headDim: 3,
        queryDim: 5,
        keyDim: 7,
        valueDim: 4,
        biasKV: true,
        zeroAttention: true,
      },
      { embedDim: 6, numHeads: 2, bias: false, outProjection: false, zeroAttention: true },
      { embedDim: 6, numHeads: 3, kvHeads: 1, bias: false, outBias: true, biasKV: true },
    ]) {
      const layer = hl.multiHeadAttention({ ...given, seed: 4 });
      const { options, parameters } = layer;
      for (const name of ['bq', 'bk', 'bv', 'bo']) parameters[name]?.data.set(array([parameters[name].size], 9).data);
      const inputs = [
        array([1, 4, options.queryDim], 1),
        array([1, 5, options.keyDim], 2),
        array([1, 5, options.valueDim], 3),
      ];
      const names = Object.keys(parameters);
      const { output } = layer.train().forward(...inputs);
      const dOutput = array(output.shape, 8);
      const { dQuery, dKey, dValue } = layer.backward(dOutput);
      const found = [dQuery, dKey, dValue, ...names.map((name) => layer.gradients[name])].map((x) => x.copy());
      const values = [
        ...inputs,
        ...names.map((name) => ({ data: parameters[name].copy(), shape: parameters[name].shape })),
      ];
      const loss = layerLoss(options, names, { rows: 4, keys: 5 }, dOutput);
      found.forEach((gradient, which) =>
        gradient.forEach((g, i) => {
          const expected = slope(loss, values, which, i);
          assert.ok(
            Math.abs(g - expected) < 2e-5 * (1 + Math.abs(expected)),
            `${['query', 'key', 'value', ...names][which]} ${i}: ${g}, expected ${expected}`,
          );
        }),
      );
    }
  }),
);

test(
  'the gradient of a defaulted input is added to that of the input it defaults to',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 4 }).train();
    const [x, y, dOutput] = [array([2, 7, 16], 1), array([2, 7, 16], 2), array([2, 7, 16], 3)];
    const train = (...inputs) => {
      layer.forward(...inputs);
      return layer.backward(dOutput);
    };
    const sumOf = (...gradients) =>
      gradients[0].data.map((_, i) => gradients.reduce((total, { data }) => total + data[i], 0));
    const three = train(x, x, x);
    assert.deepEqual(Object.keys(three), ['dQuery', 'dKey', 'dValue']);
    const one = train(x);
    assert.deepEqual(Object.keys(one), ['dQuery']);
    assert.ok(difference(one.dQuery.data, sumOf(three.dQuery, three.dKey, three.dValue)) < 1e-6);
    const separate = train(x, y, y);
    const two = train(x, y);
    assert.deepEqual(Object.keys(two), ['dQuery', 'dKey']);
    assert.ok(difference(two.dKey.data, sumOf(separate.dKey, separate.dValue)) < 1e-6);
  }),
);

test(
  'gradients of parameters accumulate until zeroGrad(), in the same tensors',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 4, biasKV: true });
    const [x, dOutput] = [array([7, 16], 1), array([7, 16], 3)];
    const train = () => {
      layer.forward(x, { train: true });
      layer.backward(dOutput).dQuery.dispose();
    };
    train();
    const { gradients } = layer;
    assert.deepEqual(Object.keys(gradients), Object.keys(layer.parameters));
    const once = Object.values(gradients).map((g) => g.copy());
    train();
    assert.equal(layer.gradients, gradients);
    Object.values(gradients).forEach((g, i) =>
      assert.ok(
        difference(
          g.data,
          once[i].map((y) => 2 * y),
        ) < 1e-6,
      ),
    );
    layer.zeroGrad();
    assert.ok(Object.values(gradients).every(({ data }) => data.every((y) => y === 0)));
    train();
    Object.values(gradients).forEach((g, i) => assert.deepEqual(g.copy(), once[i]));
  }),
);

test(
  'backward uses the inputs as they were at forward, even if they have changed since',
  everywhere((hl) => {
    const [x, mask, bias] = [
      hl.tensor(array([2, 5, 16], 1)),
      hl.tensor(zeroOne([5, 5], 2, 0.9)),
      hl.tensor(array([5, 5], 3)),
    ];
    const dOutput = array([2, 5, 16], 4);
    const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 4, outProjection: false });
    const runs = [false, true].map((spoil) => {
      const copies = [x, mask, bias].map((tensor) => hl.tensor(tensor));
      const layered = layer.forward(copies[0], { mask: copies[1], bias: copies[2], train: true });
      const bare = hl.attention(copies[0], copies[0], copies[0], {
        heads: 2,
        mask: copies[1],
        bias: copies[2],
        train: true,
      });
      if (spoil) {
        layered.output.data.fill(NaN);
        bare.output.data.fill(NaN);
        for (const tensor of copies) {
          tensor.data.fill(NaN);
          tensor.dispose();
        }
        hl.randn([20, 100], { seed: 4 });
      }
      return [layer.backward(dOutput), bare.backward(dOutput)].flatMap((gradients) =>
        Object.values(gradients).map((g) => g.copy()),
      );
    });
    assert.deepEqual(runs[0], runs[1]);
  }),
);

test('the state that forward saves is freed by backward, the next forward, and dispose', () => {
  const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 4 });
  const [x, dOutput] = [array([2, 50, 16], 1), array([2, 50, 16], 2)];
  const forward = (train) => layer.forward(x, { train }).dispose();
  forward(true);
  hl.scope(() => void layer.backward(dOutput));
  const { used } = hl.info.memory;
  forward(true);
  assert.ok(hl.info.memory.used > used);
  forward(false);
  assert.equal(hl.info.memory.used, used);
  forward(true);
  hl.scope(() => void layer.backward(dOutput));
  assert.equal(hl.info.memory.used, used);
  hl.attention(x, x, x, { train: true }).dispose();
  hl.scope(() => void hl.attention(x, x, x, { train: true }));
  hl.scope(() => void hl.attention(x, x, x, { train: true }).backward(dOutput));
  assert.equal(hl.info.memory.used, used);
  assert.throws(() => layer.forward(x, { train: true, validLens: [1] }), { code: 'SHAPE' });
  assert.throws(() => hl.attention(x, x, x, { train: true, out: hl.zeros([1]) }), { code: 'SHAPE' });
  forward(true);
  layer.dispose();
  assert.ok(hl.info.memory.used < used);
});

test(
  'backward without a forward, or with wrong arguments, is an error',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
    const [x, past] = [array([1, 3, 8]), array([1, 2, 3, 4])];
    assert.throws(() => layer.backward(x), {
      code: 'STATE',
      message: /^backward: there is no forward with train: true/,
    });
    layer.forward(x);
    assert.throws(() => layer.backward(x), { code: 'STATE' });
    layer.train().forward(x);
    assert.throws(() => layer.backward(array([1, 3, 7])), { code: 'SHAPE', parameter: 'dOutput' });
    assert.throws(() => layer.backward(x, { dWeights: array([1, 2, 3, 3]) }), {
      code: 'ARGUMENT',
      parameter: 'dWeights',
      message: /forward returned no weights/,
    });
    assert.throws(() => layer.backward(x, { dWeight: x }), { code: 'ARGUMENT', parameter: 'dWeight' });
    layer.backward(x);
    assert.throws(() => layer.backward(x), { code: 'STATE' });
    layer.forward(x, { weights: 'mean' });
    assert.throws(() => layer.backward(x, { dWeights: array([1, 2, 3, 3]) }), { code: 'SHAPE', parameter: 'dWeights' });
    assert.throws(() => layer.forward(x, { pastKey: past, pastValue: past }), {
      code: 'ARGUMENT',
      parameter: 'pastKey',
      message: /train: true/,
    });
    assert.throws(() => hl.attention(past, past, past, { pastKey: past, pastValue: past, train: true }), {
      code: 'ARGUMENT',
      parameter: 'pastKey',
    });
    assert.throws(() => hl.attention(past, past, past).backward(past), { code: 'STATE', message: /train: true/ });
    const result = hl.attention(past, past, past, { train: true });
    assert.throws(() => result.backward(x), { code: 'SHAPE', parameter: 'dOutput' });
    result.backward(past);
    assert.throws(() => result.backward(past), { code: 'STATE', message: /freed/ });
    const quick = layer.quantize();
    assert.throws(() => quick.backward(x), { code: 'STATE', message: /int8/ });
    layer.dispose();
  }),
);

test('memory grows with T and S, not with their product', { timeout: 300_000 }, async () => {
  const longest = inTier(16384, 8192);
  const [least, most] = await Promise.all(
    [longest / 4, longest].map(async (n) => {
      const hl = await load();
      const [q, k, v, dOutput] = [1, 2, 3, 4].map((seed) => hl.uniform([1, 1, n, 64], { seed, low: -1 }));
      const before = hl.info.memory.reserved;
      const gradients = hl.attention(q, k, v, { train: true }).backward(dOutput);
      const grown = hl.info.memory.reserved - before;
      assert.ok(Object.values(gradients).every(({ data }) => Number.isFinite(data[n * 64 - 1])));
      hl.dispose();
      return grown;
    }),
  );
  assert.ok(most < 4.5 * least, `${least} and ${most} bytes`);
  assert.ok(most < inTier(0.2, 0.25) * 4 * longest ** 2, `${most / 2 ** 20} MiB`);
});
