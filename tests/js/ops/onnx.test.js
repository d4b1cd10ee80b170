// Runs the cases for Attention of the test suite of ONNX. They are not part of this repository. The environment
// variable ONNX_CASES is a folder of packs (see support/golden.js) made from them.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { difference, readPack } from '../../support/golden.js';
import { everywhere } from '../../support/headlight.js';

const folder = process.env.ONNX_CASES;
const TOLERANCE = { float64: 5e-6, float32: 5e-6, float16: 1.5e-3 };
/** The `scores` options for the first modes of qk_matmul_output. Mode 3 returns the weights. */
const STEPS = ['scaled', 'capped', 'masked'];

const DELIBERATE = {
  x_mask_last_dim_one: 'a mask whose last axis is 1 is broadcast over the keys; the reference operator pads it with −∞',
};

function optionsOf({ attributes: a, inputs, outputs }) {
  const options = {
    heads: a.q_num_heads,
    kvHeads: a.kv_num_heads,
    scale: a.scale,
    softcap: a.softcap,
    causal: a.is_causal === 1,
  };
  if (a.left_window_size !== undefined || a.right_window_size !== undefined)
    options.window = [a.left_window_size ?? -1, a.right_window_size ?? -1];
  if (inputs.attn_mask) options[inputs.attn_mask.dtype === 'bool' ? 'mask' : 'bias'] = inputs.attn_mask;
  if (inputs.nonpad_kv_seqlen) {
    options.validLens = [...inputs.nonpad_kv_seqlen.data];
    options.offset = options.validLens.map((length) => length - inputs.Q.shape.at(-2));
  }
  if (outputs.present_key) {
    const empty = ({ shape: [B, G, , D] }) => ({ data: [], shape: [B, G, 0, D] });
    options.pastKey = inputs.past_key ?? empty(outputs.present_key);
    options.pastValue = inputs.past_value ?? empty(outputs.present_value);
  }
  if (outputs.qk_matmul_output) {
    const mode = a.qk_matmul_output_mode ?? 0;
    if (mode === 3) options.weights = true;
    else options.scores = STEPS[mode];
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function check(hl, c, options) {
  const { Q, K, V } = c.inputs;
  const result = hl.attention(Q, K, V, options);
  const named = {
    Y: result.output,
    present_key: result.presentKey,
    present_value: result.presentValue,
    qk_matmul_output: result.scores ?? result.weights,
  };
  for (const [name, { shape, dtype }] of Object.entries(c.outputs)) {
    assert.deepEqual(named[name].shape, shape, name);
    const d = difference(named[name].data, (c.outputs64[name] ?? c.outputs[name]).data);
    assert.ok(d <= TOLERANCE[dtype], `${name} differs by ${d} of the largest value`);
  }
}

for (const pack of folder
  ? readdirSync(folder).filter((file) => file.endsWith('share.json') || file.endsWith('holdout.json'))
  : []) {
  for (const c of readPack(pack.slice(0, -'.json'.length), folder)) {
    test(
      `ONNX ${c.name}`,
      { skip: DELIBERATE[c.name] },
      everywhere((hl) => {
        const options = optionsOf(c);
        check(hl, c, options);
        if (!options.scores) check(hl, c, { ...options, weights: true });
      }),
    );
  }
}
