import assert from 'node:assert/strict';
import test from 'node:test';
import { assertClose, kernels, numbers } from '../../support/kernels.js';
import { rotary } from '../../support/layers.js';

const [OK, BAD_SHAPE, BAD_ARGUMENT] = [0, 2, 3];

const angleOf = (position, n) => position * 0.7 ** n;

/** Returns the table (count, 2, rotated/2) of cosines and sines. */
const tableOf = (count, rotated) =>
  Float32Array.from({ length: count * rotated }, (_, i) => {
    const half = rotated / 2;
    const angle = angleOf(Math.floor(i / rotated), i % half);
    return i % rotated < half ? Math.cos(angle) : Math.sin(angle);
  });

function integers(k, values) {
  const block = k.block(values.length);
  new Int32Array(k.core.memory.buffer, block.at, values.length).set(values);
  return block;
}

const SIZES = [
  { B: 2, H: 3, T: 5, D: 8, rotated: 8 },
  { B: 1, H: 1, T: 1, D: 2, rotated: 2 },
  { B: 2, H: 2, T: 3, D: 7, rotated: 6 },
  { B: 1, H: 2, T: 4, D: 20, rotated: 10 },
  { B: 1, H: 2, T: 4, D: 64, rotated: 64 },
  { B: 3, H: 5, T: 31, D: 80, rotated: 32 },
  { B: 1, H: 2, T: 3, D: 5, rotated: 0 },
  { B: 0, H: 2, T: 3, D: 4, rotated: 4 },
  { B: 2, H: 0, T: 3, D: 4, rotated: 4 },
  { B: 2, H: 2, T: 0, D: 4, rotated: 4 },
  { B: 2, H: 2, T: 3, D: 0, rotated: 0 },
];

/** Returns the strides of (B,T,H,D) if the heads are joined in a row, or of (B,H,T,D). */
const stridesOf = ({ H, T, D }, joined) => (joined ? [T * H * D, D, H * D] : [H * T * D, T * D, D]);

function rotate(k, size, x, positions, { count, neighbours, reverse, joined, inPlace }) {
  const { B, H, T, D, rotated } = size;
  const from = k.block(x);
  const to = inPlace ? from : k.block(x.length);
  const table = k.block(tableOf(count, rotated));
  const [sizes, flags] = [
    [B, H, T, D, rotated, count],
    [Number(neighbours), Number(reverse)],
  ];
  const at = integers(k, positions).at;
  const status = k.core.hl_rotary(to.at, from.at, table.at, at, ...sizes, ...flags, ...stridesOf(size, joined));
  assert.equal(status, OK);
  return k.view(to).slice();
}

test(
  'rotary positions equal float64 for both pairings and layouts, partial, reversed and in place',
  kernels((k) => {
    for (const size of SIZES) {
      const { B, H, T, D, rotated } = size;
      const count = 40;
      const x = numbers(B * H * T * D, 1);
      const positions = Array.from({ length: B * T }, (_, i) => (i * 7) % count);
      for (let form = 0; form < 16; form++) {
        const [neighbours, reverse, joined, inPlace] = [1, 2, 4, 8].map((bit) => Boolean(form & bit));
        const got = rotate(k, size, x, positions, { count, neighbours, reverse, joined, inPlace });
        const [perBatch, perHead, perRow] = stridesOf(size, joined);
        const expected = new Float64Array(x.length);
        for (let i = 0; i < B * H * T; i++) {
          const [b, h, t] = [Math.floor(i / T / H), Math.floor(i / T) % H, i % T];
          const at = b * perBatch + h * perHead + t * perRow;
          const angles = Array.from({ length: rotated / 2 }, (_, n) => angleOf(positions[b * T + t], n));
          expected.set(rotary(x.subarray(at, at + D), angles, { neighbours, reverse }), at);
        }
        assertClose(got, expected, 3e-7, JSON.stringify({ ...size, neighbours, reverse, joined, inPlace }));
        k.close();
      }
    }
  }),
);

test(
  'rotating a row forward and in reverse restores it, and position 0 changes no bit',
  kernels((k) => {
    const size = { B: 1, H: 2, T: 9, D: 36, rotated: 28 };
    const x = numbers(2 * 9 * 36, 3);
    const positions = Array.from({ length: 9 }, (_, i) => i);
    for (const neighbours of [false, true]) {
      const forward = rotate(k, size, x, positions, { count: 9, neighbours });
      assertClose(rotate(k, size, forward, positions, { count: 9, neighbours, reverse: true }), x, 3e-7);
      assert.deepEqual(rotate(k, size, x, new Array(9).fill(0), { count: 9, neighbours }), x);
    }
  }),
);

test(
  'an invalid position, an odd or too large width and an invalid flag are refused before anything is written',
  kernels((k) => {
    const x = numbers(2 * 3 * 4, 1);
    const [block, table] = [k.block(x), k.block(tableOf(5, 4))];
    const call = (positions, { width = 4, rotated = 4, neighbours = 0, reverse = 0, count = 5 } = {}) =>
      k.core.hl_rotary(
        ...[block.at, block.at, table.at, integers(k, positions).at],
        ...[1, 2, 3, width, rotated, count, neighbours, reverse, 24, 12, 4],
      );
    for (const wrong of [-1, 5, 2 ** 31 - 1]) assert.equal(call([0, 1, wrong]), BAD_ARGUMENT);
    assert.equal(call([0, 1, 2], { neighbours: 2 }), BAD_ARGUMENT);
    assert.equal(call([0, 1, 2], { reverse: 2 }), BAD_ARGUMENT);
    assert.equal(call([0, 1, 2], { rotated: 3 }), BAD_SHAPE);
    assert.equal(call([0, 1, 2], { rotated: 6 }), BAD_SHAPE);
    assert.deepEqual(k.view(block), x);
    assert.equal(call([0, 1, 4]), OK);
  }),
);
