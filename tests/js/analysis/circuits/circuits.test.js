// Tests the composition scores of heads, compared with products of whole matrices.

import assert from 'node:assert/strict';
import test from 'node:test';
import { composition } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';

const [C, H, G, D] = [12, 4, 2, 3];
const random = uniformSource(3);
const matrix = (rows, columns) => ({
  data: Float32Array.from({ length: rows * columns }, () => 2 * random() - 1),
  shape: [rows, columns],
});

function makeModel({ norm = 'none', normPlace = 'before', layerScale = false, int8 = false } = {}) {
  const parameters = {};
  for (let l = 0; l < 3; l++) {
    const at = `blocks.${l}.attention`;
    Object.assign(parameters, {
      [`${at}.wq`]: matrix(H * D, C),
      [`${at}.wk`]: matrix(G * D, C),
      [`${at}.wv`]: matrix(G * D, C),
      [`${at}.wo`]: matrix(C, H * D),
      ...(layerScale && { [`blocks.${l}.scale1`]: { ...matrix(1, C), shape: [C] } }),
      ...(norm !== 'none' && { [`blocks.${l}.norm1.weight`]: { ...matrix(1, C), shape: [C] } }),
    });
  }
  const vectors = Object.fromEntries(Object.entries(parameters).filter(([name]) => !int8 || name.endsWith('weight')));
  return {
    options: { layers: 3, dModel: C, numHeads: H, kvHeads: G, headDim: D, norm, normPlace },
    parameters: vectors,
    stateDict: () => parameters,
  };
}

const rowsOf = ({ data, shape: [rows, columns] }, first = 0, count = rows) =>
  Array.from({ length: count }, (_, i) => Array.from(data.subarray((first + i) * columns, (first + i + 1) * columns)));
const transpose = (a) => a[0].map((_, j) => a.map((row) => row[j]));
const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const size = (a) => Math.hypot(...a.flat());

/** Returns W_QK and W_OV of a head as whole matrices. */
function whole(model, { layer, head }) {
  const state = model.stateDict();
  const { norm, normPlace } = model.options;
  const get = (name) => state[`blocks.${layer}.attention.${name}`];
  const scale = normPlace === 'after' ? undefined : state[`blocks.${layer}.norm1.weight`]?.data;
  // The matrix of the norm without its division, x → scale · (x − mean x).
  const before = Array.from({ length: C }, (_, i) =>
    Array.from({ length: C }, (_, j) =>
      scale ? scale[i] * (Number(i === j) - (norm === 'layer' ? 1 / C : 0)) : Number(i === j),
    ),
  );
  const group = Math.floor(head / (H / G));
  const [q, k, v] = [
    rowsOf(get('wq'), head * D, D),
    rowsOf(get('wk'), group * D, D),
    rowsOf(get('wv'), group * D, D),
  ].map((rows) => multiply(rows, before));
  const factors = state[`blocks.${layer}.scale1`]?.data;
  const o = rowsOf(get('wo')).map((row, c) => row.slice(head * D, (head + 1) * D).map((x) => x * (factors?.[c] ?? 1)));
  return { qk: multiply(transpose(q), k), ov: multiply(o, v) };
}

const [from, to] = [
  { layer: 0, head: 3 },
  { layer: 2, head: 1 },
];

for (const options of [
  {},
  { norm: 'layer' },
  { norm: 'rms' },
  { norm: 'layer', normPlace: 'after' },
  { layerScale: true },
  { int8: true },
])
  test(`composition scores equal those of whole matrices: ${JSON.stringify(options)}`, () => {
    const model = makeModel(options);
    const [writer, reader] = [whole(model, from), whole(model, to)];
    const share = (a) => size(multiply(a, writer.ov)) / (size(a) * size(writer.ov));
    const expected = { q: share(transpose(reader.qk)), k: share(reader.qk), v: share(reader.ov) };
    const actual = composition(model, from, to);
    for (const name of ['q', 'k', 'v']) {
      assert.ok(Math.abs(actual[name] - expected[name]) < 1e-9, `${name}: ${actual[name]} is not ${expected[name]}`);
      assert.ok(actual[name] > 0 && actual[name] < 1);
    }
  });

test('a head of zeros has composition scores of 0', () => {
  const model = makeModel();
  model.parameters['blocks.0.attention.wv'].data.fill(0);
  assert.deepEqual(composition(model, from, to), { q: 0, k: 0, v: 0 });
});

test('missing heads, and a head that is not in a later layer, are refused by name', () => {
  const model = makeModel();
  assert.throws(() => composition(model, to, from), { code: 'ARGUMENT', parameter: 'from.layer' });
  assert.throws(() => composition(model, from, { layer: 2, head: 4 }), { code: 'ARGUMENT', parameter: 'to.head' });
  assert.throws(() => composition(model, from, { layer: 3, head: 0 }), { code: 'ARGUMENT', parameter: 'to.layer' });
});
