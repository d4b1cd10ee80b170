import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { differences, dot, embedding } from '../../support/layers.js';
import { inTier } from '../../support/tier.js';

const [OK, BAD_ARGUMENT] = [0, 3];
const SEED = 21;

const labelBlock = (k, labels) => {
  const block = k.block(labels.length);
  new Int32Array(k.core.memory.buffer, block.at, labels.length).set(labels);
  return block;
};
const someLabels = (count, below, seed) =>
  Int32Array.from(numbers(count, seed), (x) => Math.floor(((x + 1) / 2) * below));

test(
  'an embedding returns rows of the table plus positions, for every width',
  kernels((k) => {
    for (const [B, T, C, count, first] of [
      [0, 3, 4, 5, 0],
      [2, 0, 4, 5, 0],
      [2, 3, 0, 5, 1],
      [1, 1, 1, 1, 0],
      [2, 5, 3, 7, 2],
      [3, 4, 4, 7, 0],
      [2, 7, 5, 11, 3],
      [1, 3, 8209, 4, 0],
      [3, 61, 67, 97, 1],
    ]) {
      const [table, position, labels] = [
        numbers(count * C, 1),
        numbers((first + T) * C, 2),
        someLabels(B * T, count, 3),
      ];
      const [t, p, l] = [k.block(table), k.block(position), labelBlock(k, labels)];
      for (const positionTable of [position, null]) {
        const output = k.block(B * T * C);
        assert.equal(
          k.core.hl_embedding_forward(output.at, t.at, positionTable ? p.at : 0, l.at, B, T, C, count, first),
          OK,
        );
        assert.deepEqual(
          [...k.view(output)],
          embedding(table, positionTable, labels, { rows: T, width: C, first }).map(Math.fround),
        );
      }
      k.close();
    }
  }),
);

test(
  `the gradient of an embedding is summed over equal labels and equal positions (seed ${SEED})`,
  kernels((k) => {
    const sizes = fc.record({
      B: fc.integer({ min: 0, max: 3 }),
      T: fc.integer({ min: 0, max: 6 }),
      C: fc.integer({ min: 0, max: 70 }),
      count: fc.integer({ min: 1, max: 5 }),
      first: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(sizes, ({ B, T, C, count, first }) => {
        const labels = someLabels(B * T, count, 5);
        const dOutput = numbers(B * T * C, 6);
        const [before, beforePosition] = [numbers(count * C, 7), numbers((first + T) * C, 8)];
        const [dTable, dPosition] = [k.block(before), k.block(beforePosition)];
        assert.equal(
          k.core.hl_embedding_backward(
            dTable.at,
            dPosition.at,
            k.block(dOutput).at,
            labelBlock(k, labels).at,
            B,
            T,
            C,
            count,
            first,
          ),
          OK,
        );
        const [table, position] = [numbers(count * C, 9), numbers((first + T) * C, 10)];
        const ofTable = differences(
          (x) => dot(dOutput, embedding(x, position, labels, { rows: T, width: C, first })),
          table,
        );
        const ofPosition = differences(
          (x) => dot(dOutput, embedding(table, x, labels, { rows: T, width: C, first })),
          position,
        );
        assertClose(
          k.view(dTable),
          ofTable.map((g, i) => g + before[i]),
          1e-6,
        );
        assertClose(
          k.view(dPosition),
          ofPosition.map((g, i) => g + beforePosition[i]),
          1e-6,
        );
        k.close();
      }),
      { seed: SEED, numRuns: inTier(30, 8) },
    );
  }),
);

test(
  'a label outside the table is refused before anything is written',
  kernels((k) => {
    for (const bad of [-1, 3, 2 ** 31 - 1, -(2 ** 31)]) {
      const labels = labelBlock(k, [0, 2, bad]);
      const [output, table, dTable] = [k.block([7, 7, 7, 7, 7, 7]), k.block(numbers(6)), k.block([1, 2, 3, 4, 5, 6])];
      assert.equal(k.core.hl_embedding_forward(output.at, table.at, 0, labels.at, 1, 3, 2, 3, 0), BAD_ARGUMENT);
      assert.equal(k.core.hl_embedding_backward(dTable.at, 0, output.at, labels.at, 1, 3, 2, 3, 0), BAD_ARGUMENT);
      assert.deepEqual([...k.view(output)], [7, 7, 7, 7, 7, 7]);
      assert.deepEqual([...k.view(dTable)], [1, 2, 3, 4, 5, 6]);
      k.close();
    }
  }),
);
