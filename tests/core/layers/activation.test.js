import assert from 'node:assert/strict';
import test from 'node:test';
import { kernels, numbers } from '../../support/kernels.js';
import { differences, gelu } from '../../support/layers.js';

const [OK, BAD_ARGUMENT] = [0, 3];
const FORMS = ['none', 'tanh'];

const run = (k, x, form, dOutput) => {
  const [to, from] = [k.block(x.length), k.block(x)];
  const status = dOutput
    ? k.core.hl_gelu_backward(to.at, k.block(dOutput).at, from.at, x.length, FORMS.indexOf(form))
    : k.core.hl_gelu_forward(to.at, from.at, x.length, FORMS.indexOf(form));
  assert.equal(status, OK);
  return k.view(to);
};

/** The largest error, as a share of max(1, |x|). */
const worst = (actual, exact, x) =>
  actual.reduce((most, y, i) => Math.max(most, Math.abs(y - exact[i]) / Math.max(1, Math.abs(x[i]))), 0);

for (const form of FORMS) {
  test(
    `gelu, ${form}, is within 2e-7 of float64 and its gradient within 3e-7, from −20 to 20 and of every length`,
    kernels((k) => {
      for (const count of [0, 1, 3, 4, 5, 8191, 8193, 20011]) {
        const x = Float32Array.from({ length: count }, (_, i) => (40 * i) / count - 20 + 1e-3 * Math.sin(i));
        const ones = new Float32Array(count).fill(1);
        const slope = Array.from(x, (v) => differences(([a]) => gelu(a, form), [v], 1e-5)[0]);
        const error = worst(
          run(k, x, form),
          Array.from(x, (v) => gelu(v, form)),
          x,
        );
        const slopeError = worst(run(k, x, form, ones), slope, x);
        assert.ok(error <= 2e-7, `${count}: ${error}`);
        assert.ok(slopeError <= 3e-7, `${count}: gradient ${slopeError}`);
        k.close();
      }
    }),
  );

  test(
    `gelu, ${form}: nothing overflows, NaN stays NaN, the gradient is multiplied by what comes in`,
    kernels((k) => {
      assert.deepEqual([...run(k, [3e38, -3e38, 100, -100, 0], form)], [Math.fround(3e38), -0, 100, -0, 0]);
      assert.deepEqual([...run(k, [3e38, -3e38, 100, -100, 0], form, [2, 2, 2, 2, 2])], [2, 0, 2, 0, 1]);
      assert.ok(Number.isNaN(run(k, [1, NaN], form)[1]));
      const [x, d] = [numbers(7, 1), numbers(7, 2)];
      const plain = run(k, x, form, new Float32Array(7).fill(1));
      run(k, x, form, d).forEach((y, i) => assert.equal(y, Math.fround(plain[i] * d[i])));
    }),
  );
}

test(
  'gelu may be done in place; a form that there is not is refused',
  kernels((k) => {
    const x = numbers(11, 3);
    const expected = [...run(k, x, 'none')];
    const block = k.block(x);
    assert.equal(k.core.hl_gelu_forward(block.at, block.at, 11, 0), OK);
    assert.deepEqual([...k.view(block)], expected);
    assert.equal(k.core.hl_gelu_forward(block.at, block.at, 11, 2), BAD_ARGUMENT);
    assert.deepEqual([...k.view(block)], expected);
  }),
);

test(
  'a residual is added, in place or not, of every length',
  kernels((k) => {
    for (const count of [0, 1, 3, 4, 5, 8192, 8195]) {
      const [a, b] = [k.block(numbers(count, 1)), k.block(numbers(count, 2))];
      const sum = k.block(count);
      const expected = Float32Array.from(k.view(a), (x, i) => x + k.view(b)[i]);
      k.core.hl_add(sum.at, a.at, b.at, count);
      assert.deepEqual(k.view(sum), expected);
      k.core.hl_add(a.at, a.at, b.at, count);
      assert.deepEqual(k.view(a), expected);
      k.close();
    }
  }),
);
