import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { adamStep, sgdStep } from '../../support/layers.js';

const [OK, BAD_ARGUMENT] = [0, 3];
const zeros = (count) => new Float32Array(count);

test(
  'SGD equals its formula in float64 over 20 steps, with momentum, Nesterov and decay, for every length',
  kernels((k) => {
    for (const count of [0, 1, 3, 4, 5, 8191, 8197]) {
      for (const options of [
        { rate: 0.1 },
        { rate: 0.1, momentum: 0.9 },
        { rate: 0.05, momentum: 0.8, nesterov: true, decay: 0.02 },
        { rate: 0.1, decay: 0.1 },
      ]) {
        const [parameter, velocity] = [k.block(numbers(count, 1)), k.block(zeros(count))];
        let expected = Array.from(numbers(count, 1));
        const state = {};
        for (let step = 0; step < 20; step++) {
          const gradient = numbers(count, 2 + step);
          const { rate, momentum = 0, decay = 0, nesterov = false } = options;
          assert.equal(
            k.core.hl_sgd_step(
              parameter.at,
              velocity.at,
              k.block(gradient).at,
              count,
              rate,
              momentum,
              decay,
              Number(nesterov),
            ),
            OK,
          );
          expected = sgdStep(expected, gradient, state, options);
        }
        assertClose(k.view(parameter), expected, 2e-6, JSON.stringify(options));
        k.close();
      }
    }
  }),
);

test(
  'Adam and AdamW equal their formulas in float64 over 20 steps, for every length',
  kernels((k) => {
    for (const count of [0, 1, 3, 4, 5, 8191, 8197]) {
      for (const decoupled of [false, true]) {
        const options = { rate: 0.01, betas: [0.9, 0.95], eps: 1e-8, decay: 0.1, decoupled };
        const [parameter, mean, square] = [k.block(numbers(count, 1)), k.block(zeros(count)), k.block(zeros(count))];
        let expected = Array.from(numbers(count, 1));
        const state = {};
        for (let step = 1; step <= 20; step++) {
          const gradient = numbers(count, 2 + step);
          const { rate, betas, eps, decay } = options;
          assert.equal(
            k.core.hl_adam_step(
              parameter.at,
              mean.at,
              square.at,
              k.block(gradient).at,
              count,
              step,
              rate,
              ...betas,
              eps,
              decay,
              Number(decoupled),
            ),
            OK,
          );
          expected = adamStep(expected, gradient, state, options);
        }
        assertClose(k.view(parameter), expected, 3e-6, `${count}, decoupled ${decoupled}`);
        k.close();
      }
    }
  }),
);

test(
  'hl_square_sum adds in double precision and in a fixed order',
  kernels((k) => {
    for (const count of [0, 1, 3, 4, 5, 1009, 100003]) {
      const x = numbers(count, 5).map((v, i) => (i === 7 ? 1e20 : v));
      const block = k.block(x);
      const exact = x.reduce((total, v) => total + v * v, 0);
      const sum = k.core.hl_square_sum(block.at, count);
      assert.ok(Math.abs(sum - exact) <= 1e-14 * exact);
      assert.equal(k.core.hl_square_sum(block.at, count), sum);
      assert.equal(k.core.hl_scale(block.at, count, 0.5), OK);
      assert.deepEqual(
        k.view(block),
        x.map((v) => v / 2),
      );
      k.close();
    }
  }),
);

test(
  'numbers that are not finite, betas of 1 and a step of 0 are refused before anything is written',
  kernels((k) => {
    const [p, m, s, g] = [1, 2, 3, 4].map((seed) => k.block(numbers(5, seed)));
    for (const wrong of [
      [NaN, 0, 0],
      [0.1, Infinity, 0],
      [0.1, 0, NaN],
    ]) {
      assert.equal(k.core.hl_sgd_step(p.at, m.at, g.at, 5, ...wrong, 0), BAD_ARGUMENT);
    }
    for (const wrong of [
      [0, 0.1, 0.9, 0.9, 0, 0],
      [1, NaN, 0.9, 0.9, 0, 0],
      [1, 0.1, 1, 0.9, 0, 0],
      [1, 0.1, 0.9, 1.5, 0, 0],
      [1, 0.1, 0.9, 0.9, NaN, 0],
      [1, 0.1, 0.9, 0.9, 0, Infinity],
    ]) {
      assert.equal(k.core.hl_adam_step(p.at, m.at, s.at, g.at, 5, ...wrong, 0), BAD_ARGUMENT);
    }
    assert.deepEqual(
      [p, m, s].map((block) => [...k.view(block)]),
      [1, 2, 3].map((seed) => [...numbers(5, seed)]),
    );
  }),
);
