import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const SIZES = [
  [0, 3, 3],
  [3, 0, 3],
  [3, 3, 0],
  [1, 1, 1],
  [2, 3, 5],
  [5, 8, 9],
  [6, 7, 8],
  [7, 9, 17],
  [31, 13, 16],
  [61, 65, 33],
  [130, 20, 75],
  [200, 193, 70],
];

/** Computes the product of a (n,m) and b (m,p) in float64. a and b are functions that return an element. */
const product = (n, m, p, a, b) =>
  Float64Array.from({ length: n * p }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < m; k++) sum += a(Math.floor(i / p), k) * b(k, i % p);
    return sum;
  });

test(
  'hl_linear_backward writes dx and adds to the gradients of the parameters',
  kernels((k) => {
    for (const [rows, out, inside] of SIZES) {
      const [dy, x, w] = [numbers(rows * out, 1), numbers(rows * inside, 2), numbers(out * inside, 3)];
      const [dw, db] = [numbers(out * inside, 4), numbers(out, 5)];
      const blocks = { dx: k.block(rows * inside), dw: k.block(dw), db: k.block(db) };
      const status = k.core.hl_linear_backward(
        blocks.dx.at,
        blocks.dw.at,
        blocks.db.at,
        k.block(dy).at,
        k.block(x).at,
        k.block(w).at,
        rows,
        out,
        inside,
      );
      assert.equal(status, 0);
      const label = `${rows}×${inside}×${out}`;
      assertClose(
        k.view(blocks.dx),
        product(
          rows,
          out,
          inside,
          (r, j) => dy[r * out + j],
          (j, i) => w[j * inside + i],
        ),
        1e-6,
        `dx ${label}`,
      );
      assertClose(
        k.view(blocks.dw),
        product(
          out,
          rows,
          inside,
          (j, r) => dy[r * out + j],
          (r, i) => x[r * inside + i],
        ).map((g, i) => g + dw[i]),
        1e-6,
        `dweight ${label}`,
      );
      assertClose(
        k.view(blocks.db),
        product(
          1,
          rows,
          out,
          () => 1,
          (r, j) => dy[r * out + j],
        ).map((g, i) => g + db[i]),
        1e-6,
        `dbias ${label}`,
      );
      k.close();
    }
  }),
);

test(
  'hl_linear_forward uses a weight that is not packed, with or without a bias',
  kernels((k) => {
    for (const [rows, out, inside] of SIZES) {
      const [x, w, bias] = [numbers(rows * inside, 2), numbers(out * inside, 3), numbers(out, 4)];
      for (const at of [0, k.block(bias).at]) {
        const y = k.block(rows * out);
        assert.equal(k.core.hl_linear_forward(y.at, k.block(x).at, k.block(w).at, at, rows, out, inside), 0);
        assertClose(
          k.view(y),
          product(
            rows,
            inside,
            out,
            (r, i) => x[r * inside + i],
            (i, j) => w[j * inside + i],
          ).map((v, i) => v + (at ? bias[i % out] : 0)),
          1e-6,
          `${rows}×${inside}×${out}`,
        );
      }
      k.close();
    }
  }),
);

test(
  'any gradient can be NULL; inputs that the others need must be given',
  kernels((k) => {
    const [dy, x, w] = [k.block(numbers(12, 1)), k.block(numbers(15, 2)), k.block(numbers(20, 3))];
    const [dx, dw, db] = [k.block(15), k.block(new Float32Array(20)), k.block(new Float32Array(4))];
    const backward = (...pointers) => k.core.hl_linear_backward(...pointers, 3, 4, 5);
    assert.equal(backward(dx.at, 0, 0, dy.at, 0, w.at), 0);
    assert.equal(backward(0, dw.at, 0, dy.at, x.at, 0), 0);
    assert.equal(backward(0, 0, db.at, dy.at, 0, 0), 0);
    assert.equal(backward(dx.at, 0, 0, dy.at, x.at, 0), 2);
    assert.equal(backward(0, dw.at, 0, dy.at, 0, w.at), 2);
    assert.equal(backward(0, 0, db.at, 0, 0, 0), 2);
  }),
);
