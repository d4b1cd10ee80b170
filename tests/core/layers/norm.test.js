import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { differences, dot, norm } from '../../support/layers.js';

const [OK, BAD_ARGUMENT] = [0, 3];
const EPS = 1e-5;
const SEED = 22;

function forward(k, x, weight, bias, { eps = EPS, mean: subtract }) {
  const width = weight.length;
  const rows = width ? x.length / width : 3;
  const blocks = {
    x: k.block(x),
    weight: k.block(weight),
    output: k.block(x.length),
    mean: k.block(rows),
    rstd: k.block(rows),
  };
  const status = k.core.hl_norm_forward(
    blocks.output.at,
    subtract ? blocks.mean.at : 0,
    blocks.rstd.at,
    blocks.x.at,
    blocks.weight.at,
    bias ? k.block(bias).at : 0,
    rows,
    width,
    eps,
  );
  assert.equal(status, OK);
  return { rows, width, ...blocks };
}

test(
  'layer norm and RMS norm equal float64, with and without a bias, for every width',
  kernels((k) => {
    for (const [rows, width] of [
      [0, 4],
      [3, 0],
      [3, 1],
      [1, 2],
      [5, 3],
      [7, 4],
      [2, 5],
      [13, 67],
      [300, 64],
      [2, 8209],
    ]) {
      for (const mean of [true, false]) {
        for (const biased of [true, false]) {
          const [x, weight, bias] = [numbers(rows * width, 1), numbers(width, 2), biased ? numbers(width, 3) : null];
          const { output } = forward(k, x, weight, bias, { mean });
          assertClose(k.view(output), norm(x, weight, bias, { eps: EPS, mean }), 1e-6, `${rows} × ${width}`);
          k.close();
        }
      }
    }
  }),
);

test(
  'a row with a large mean has an exact variance, and a constant row gives the bias',
  kernels((k) => {
    const width = 61;
    const weight = numbers(width, 2).map((x) => x + 2);
    const x = numbers(width, 4).map((v) => 10000 + v);
    const average = x.reduce((total, v) => total + v, 0) / width;
    const { output, rstd } = forward(k, x, weight, null, { mean: true });
    const exact = norm(x, weight, null, { eps: EPS, mean: true });
    // The remaining error is the rounding of the mean to float32: 5e-4 at 10000, with a standard deviation of 0.6.
    assertClose(k.view(output), exact, 1e-3);
    const spread = Math.sqrt(x.reduce((total, v) => total + (v - average) ** 2, 0) / width + EPS);
    assertClose(k.view(rstd), [1 / spread], 1e-6);
    const constant = forward(k, new Float32Array(width).fill(3), weight, numbers(width, 5), { mean: true });
    assert.deepEqual(k.view(constant.output), numbers(width, 5));
  }),
);

test(
  `the gradients of both norms equal central differences in float64 (seed ${SEED})`,
  kernels((k) => {
    const sizes = fc.record({
      rows: fc.integer({ min: 0, max: 40 }),
      width: fc.integer({ min: 1, max: 11 }),
      mean: fc.boolean(),
      biased: fc.boolean(),
    });
    fc.assert(
      fc.property(sizes, ({ rows, width, mean, biased }) => {
        const [x, weight, bias, dOutput] = [
          numbers(rows * width, 1),
          numbers(width, 2),
          numbers(width, 3),
          numbers(rows * width, 4),
        ];
        const [oldWeight, oldBias] = [numbers(width, 5), numbers(width, 6)];
        const eps = 0.05;
        const saved = forward(k, x, weight, biased ? bias : null, { eps, mean });
        const [dx, dWeight, dBias] = [k.block(rows * width), k.block(oldWeight), k.block(oldBias)];
        const status = k.core.hl_norm_backward(
          dx.at,
          dWeight.at,
          biased ? dBias.at : 0,
          k.block(dOutput).at,
          saved.x.at,
          mean ? saved.mean.at : 0,
          saved.rstd.at,
          saved.weight.at,
          rows,
          width,
        );
        assert.equal(status, OK);
        const loss = (a, w, b) => dot(dOutput, norm(a, w, b, { eps, mean }));
        assertClose(
          k.view(dx),
          differences((a) => loss(a, weight, bias), x),
          3e-6,
          'dx',
        );
        assertClose(
          k.view(dWeight),
          differences((w) => loss(x, w, bias), weight).map((g, i) => g + oldWeight[i]),
          3e-6,
          'dWeight',
        );
        assertClose(
          k.view(dBias),
          differences((b) => loss(x, weight, b), bias).map((g, i) => (biased ? g : 0) + oldBias[i]),
          3e-6,
          'dBias',
        );
        k.close();
      }),
      { seed: SEED, numRuns: 40 },
    );
  }),
);

test(
  'parameter gradients of many rows and columns are sums over all of them',
  kernels((k) => {
    const [rows, width] = [517, 131];
    const [x, weight, dOutput] = [numbers(rows * width, 1), numbers(width, 2), numbers(rows * width, 4)];
    const saved = forward(k, x, weight, null, { mean: true });
    const [dx, dWeight, dBias] = [
      k.block(rows * width),
      k.block(new Float32Array(width)),
      k.block(new Float32Array(width)),
    ];
    k.core.hl_norm_backward(
      dx.at,
      dWeight.at,
      dBias.at,
      k.block(dOutput).at,
      saved.x.at,
      saved.mean.at,
      saved.rstd.at,
      saved.weight.at,
      rows,
      width,
    );
    const normal = norm(x, new Float32Array(width).fill(1), null, { eps: EPS, mean: true });
    const columns = (values) =>
      Array.from({ length: width }, (_, c) => values.reduce((total, v, i) => (i % width === c ? total + v : total), 0));
    assertClose(k.view(dWeight), columns(normal.map((n, i) => n * dOutput[i])), 2e-6);
    assertClose(k.view(dBias), columns([...dOutput]), 2e-6);
  }),
);

test(
  'a negative eps and NaN are refused',
  kernels((k) => {
    for (const eps of [-1, NaN]) assert.equal(k.core.hl_norm_forward(0, 0, 0, 0, 0, 0, 0, 0, eps), BAD_ARGUMENT);
  }),
);
