import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];

function integers(k, values) {
  const block = k.block(values.length);
  new Int32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block;
}

const SIZES = [
  [3, 2, 4, 5],
  [1, 1, 1, 1],
  [8, 3, 1, 9],
  [8, 3, 9, 1],
  [32, 12, 65, 130],
  [4, 0, 3, 3],
  [4, 2, 0, 3],
  [4, 2, 3, 0],
  [0, 2, 0, 0],
];

const bucketsOf = (T, S, buckets) => Array.from({ length: T && S ? T + S - 1 : 0 }, (_, i) => (i * i) % buckets);

test(
  'the bias of each relative position is that of its bucket, and gradients are summed by bucket',
  kernels((k) => {
    for (const [buckets, H, T, S] of SIZES) {
      const table = numbers(buckets * H, 1);
      const bucket = bucketsOf(T, S, buckets);
      const [bias, bucketBlock] = [k.block(H * T * S), integers(k, bucket)];
      assert.equal(k.core.hl_relative_forward(bias.at, k.block(table).at, bucketBlock.at, buckets, H, T, S), OK);
      const at = (i) => {
        const [h, t, s] = [Math.floor(i / S / T), Math.floor(i / S) % T, i % S];
        return bucket[s - t + T - 1] * H + h;
      };
      const expected = Float32Array.from({ length: H * T * S }, (_, i) => table[at(i)]);
      assert.deepEqual(k.view(bias), expected);
      const [dBias, before] = [numbers(H * T * S, 2), numbers(buckets * H, 3)];
      const dTable = k.block(before);
      assert.equal(k.core.hl_relative_backward(dTable.at, k.block(dBias).at, bucketBlock.at, buckets, H, T, S), OK);
      const sums = Float64Array.from(before);
      dBias.forEach((d, i) => {
        sums[at(i)] += d;
      });
      assertClose(k.view(dTable), sums, 2e-6, `${buckets}, ${H}, ${T}, ${S}`);
      k.close();
    }
  }),
);

test(
  'a bucket outside the table is refused before anything is written',
  kernels((k) => {
    const [bias, table, dTable] = [k.block(new Float32Array(18)), k.block(numbers(8)), k.block(numbers(8))];
    for (const wrong of [-1, 4, 2 ** 31 - 1]) {
      const bucket = integers(k, [0, 1, 2, 3, wrong]).at;
      assert.equal(k.core.hl_relative_forward(bias.at, table.at, bucket, 4, 2, 3, 3), BAD_ARGUMENT);
      assert.equal(k.core.hl_relative_backward(dTable.at, bias.at, bucket, 4, 2, 3, 3), BAD_ARGUMENT);
    }
    assert.equal(k.core.hl_relative_forward(bias.at, table.at, 0, 4, 2, 3, 3), BAD_SHAPE);
    assert.deepEqual(k.view(bias), new Float32Array(18));
    assert.deepEqual(k.view(dTable), numbers(8));
  }),
);
