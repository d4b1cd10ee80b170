import assert from 'node:assert/strict';
import test from 'node:test';
import { ACTIVATION } from '../../../dist/abi/abi.js';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { activation, differences } from '../../support/layers.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];
const KINDS = Object.keys(ACTIVATION);
const LENGTHS = [0, 1, 3, 4, 5, 8191, 8193, 20011];

const activate = (k, x, kind, dOutput) => {
  const [to, from] = [k.block(x.length), k.block(x)];
  const status = dOutput
    ? k.core.hl_activation_backward(to.at, k.block(dOutput).at, from.at, x.length, ACTIVATION[kind])
    : k.core.hl_activation_forward(to.at, from.at, x.length, ACTIVATION[kind]);
  assert.equal(status, OK);
  return k.view(to);
};

/** Returns the largest error relative to max(1, |x|). */
const worst = (actual, exact, x) =>
  actual.reduce((max, y, i) => Math.max(max, Math.abs(y - exact[i]) / Math.max(1, Math.abs(x[i]))), 0);

for (const kind of KINDS) {
  const limit = kind === 'TANH' ? 4e-7 : 2e-7;
  test(
    `${kind} is within ${limit} of float64 and its gradient within 3e-7, from −20 to 20 and for every length`,
    kernels((k) => {
      for (const count of LENGTHS) {
        const x = Float32Array.from({ length: count }, (_, i) => (40 * i) / count - 20.001 + 1e-3 * Math.sin(i));
        const ones = new Float32Array(count).fill(1);
        const slope = Array.from(x, (v) => differences(([a]) => activation[kind](a), [v], 1e-5)[0]);
        const error = worst(
          activate(k, x, kind),
          Array.from(x, (v) => activation[kind](v)),
          x,
        );
        const slopeError = worst(activate(k, x, kind, ones), slope, x);
        assert.ok(error <= limit, `${count}: ${error}`);
        assert.ok(slopeError <= (kind === 'TANH' ? 8e-7 : 3e-7), `${count}: gradient ${slopeError}`);
        k.close();
      }
    }),
  );

  test(
    `${kind} does not overflow, NaN stays NaN, and the gradient is multiplied by d_output`,
    kernels((k) => {
      const far = [3e38, -3e38, 100, -100, 0];
      const exact = kind === 'TANH' ? [1, -1, 1, -1, 0] : [Math.fround(3e38), -0, 100, -0, 0];
      const slopes = { TANH: [0, -0, 0, -0, 2], RELU: [2, 0, 2, 0, 0] }[kind] ?? [2, 0, 2, 0, 1];
      assert.deepEqual(
        [...activate(k, far, kind)].map((y) => y + 0),
        exact.map((y) => y + 0),
      );
      assert.deepEqual(
        [...activate(k, far, kind, [2, 2, 2, 2, 2])].map((y) => y + 0),
        slopes.map((y) => y + 0),
      );
      assert.ok(Number.isNaN(activate(k, [1, NaN], kind)[1]));
      const [x, d] = [numbers(7, 1), numbers(7, 2)];
      const plain = activate(k, x, kind, new Float32Array(7).fill(1));
      activate(k, x, kind, d).forEach((y, i) => assert.equal(y, Math.fround(plain[i] * d[i])));
    }),
  );

  test(
    `gated ${kind} is the product of activation(gate) and up, in place or not, with the matching gradients`,
    kernels((k) => {
      for (const count of LENGTHS) {
        const [gate, up, d] = [numbers(count, 1).map((x) => 4 * x), numbers(count, 2), numbers(count, 3)];
        const blocks = () => [k.block(count), k.block(gate), k.block(up)];
        const value = activate(k, gate, kind);
        const slope = activate(k, gate, kind, new Float32Array(count).fill(1));
        const expected = [
          up.map((u, i) => u * value[i]),
          d.map((g, i) => Math.fround(g * up[i]) * slope[i]),
          d.map((g, i) => g * value[i]),
        ];
        for (const target of [0, 1, 2]) {
          const at = blocks().map((block) => block);
          assert.equal(k.core.hl_gated_forward(at[target].at, at[1].at, at[2].at, count, ACTIVATION[kind]), OK);
          assert.deepEqual(k.view(at[target]), expected[0]);
        }
        for (const inPlace of [false, true]) {
          const [dGate, x, y] = blocks();
          const dUp = inPlace ? y : k.block(count);
          const to = inPlace ? x : dGate;
          const dOutput = k.block(d);
          assert.equal(k.core.hl_gated_backward(to.at, dUp.at, dOutput.at, x.at, y.at, count, ACTIVATION[kind]), OK);
          assert.deepEqual(k.view(to), expected[1]);
          assert.deepEqual(k.view(dUp), expected[2]);
        }
        k.close();
      }
    }),
  );
}

test(
  'an activation can be computed in place; an unknown kind is refused',
  kernels((k) => {
    const x = numbers(11, 3);
    const expected = [...activate(k, x, 'GELU')];
    const block = k.block(x);
    assert.equal(k.core.hl_activation_forward(block.at, block.at, 11, ACTIVATION.GELU), OK);
    assert.deepEqual([...k.view(block)], expected);
    const beyond = KINDS.length;
    assert.equal(k.core.hl_activation_forward(block.at, block.at, 11, beyond), BAD_ARGUMENT);
    assert.equal(k.core.hl_activation_backward(block.at, block.at, block.at, 11, beyond), BAD_ARGUMENT);
    assert.equal(k.core.hl_gated_forward(block.at, block.at, block.at, 11, beyond), BAD_ARGUMENT);
    assert.equal(k.core.hl_gated_backward(block.at, block.at, block.at, block.at, block.at, 11, beyond), BAD_ARGUMENT);
    assert.deepEqual([...k.view(block)], expected);
  }),
);

test(
  'the soft cap and its gradient equal float64, in place or not, for every length',
  kernels((k) => {
    for (const count of LENGTHS) {
      for (const cap of [0.5, 30]) {
        const [values, d] = [numbers(count, 1).map((x) => 90 * x), numbers(count, 2)];
        const [x, output] = [k.block(values), k.block(count)];
        assert.equal(k.core.hl_softcap_forward(output.at, x.at, count, cap), OK);
        const exact = Array.from(values, (v) => cap * Math.tanh(v / cap));
        assertClose(k.view(output), exact, 5e-7);
        assert.equal(k.core.hl_softcap_forward(x.at, x.at, count, cap), OK);
        assert.deepEqual(k.view(x), k.view(output));
        const [dOutput, dx] = [k.block(d), k.block(count)];
        assert.equal(k.core.hl_softcap_backward(dx.at, dOutput.at, output.at, count, cap), OK);
        const slopes = exact.map((y, i) => d[i] * (1 - (y / cap) ** 2));
        assertClose(k.view(dx), slopes, 2e-6);
        assert.equal(k.core.hl_softcap_backward(dOutput.at, dOutput.at, output.at, count, cap), OK);
        assert.deepEqual(k.view(dOutput), k.view(dx));
        k.close();
      }
    }
  }),
);

test(
  'a cap that is not finite and positive is refused',
  kernels((k) => {
    for (const cap of [0, -1, NaN, Infinity]) {
      assert.equal(k.core.hl_softcap_forward(0, 0, 0, cap), BAD_ARGUMENT);
      assert.equal(k.core.hl_softcap_backward(0, 0, 0, 0, cap), BAD_ARGUMENT);
    }
    assert.equal(k.core.hl_softcap_forward(0, 0, 1, 1), BAD_SHAPE);
  }),
);

test(
  'hl_add adds a residual, in place or not, for every length',
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
