// Compares the output, the weights and every gradient with those of torch.nn.MultiheadAttention in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { difference, expectedGradients, gradientDifference, gradientState, readPack } from '../../support/golden.js';
import { everywhere } from '../../support/headlight.js';

const TOLERANCE = 1e-5;

/** Transposes the default layout of torch, (N,B,C), to (B,N,C). */
function batchFirst(x, { batch_first: already, batched }) {
  if (!x || already || !batched) return x;
  const [n, b, c] = x.shape;
  const data = new x.data.constructor(x.data.length);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < b; j++) data.set(x.data.subarray((i * b + j) * c, (i * b + j + 1) * c), (j * n + i) * c);
  return { data, shape: [b, n, c] };
}

/**
 * Converts a mask of torch. A float mask is added to the scores. A boolean mask is true for masked keys, the inverse of
 * `mask` here.
 */
function readMask(x, shape) {
  if (!x) return {};
  if (x.dtype === 'float32') return { bias: { data: x.data, shape } };
  return { mask: { data: x.data.map((hidden) => 1 - hidden), shape } };
}

function run(hl, c, train) {
  const a = c.attributes;
  const { in_proj_weight, in_proj_bias, q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v } = c.inputs;
  const state = {
    in_proj_weight,
    in_proj_bias,
    q_proj_weight,
    k_proj_weight,
    v_proj_weight,
    bias_k,
    bias_v,
    'out_proj.weight': c.inputs['out_proj.weight'],
    'out_proj.bias': c.inputs['out_proj.bias'],
  };
  const layer = hl.multiHeadAttention({
    embedDim: a.embed_dim,
    numHeads: a.num_heads,
    bias: a.bias,
    keyDim: a.kdim ?? undefined,
    valueDim: a.vdim ?? undefined,
    biasKV: a.add_bias_kv,
    zeroAttention: a.add_zero_attn,
  });
  layer.loadStateDict(Object.fromEntries(Object.entries(state).filter(([, tensor]) => tensor)), 'torch');
  const [query, key, value] = ['query', 'key', 'value'].map((name) => batchFirst(c.inputs[name], a));
  const B = query.shape.length === 3 ? query.shape[0] : 1;
  const T = query.shape.at(-2);
  const S = (key ?? query).shape.at(-2);
  const attend = readMask(c.inputs.attn_mask, c.inputs.attn_mask?.shape.length === 3 ? [B, a.num_heads, T, S] : [T, S]);
  const padding = readMask(c.inputs.key_padding_mask, [B, 1, 1, S]);
  const keep = c.inputs.keep_mask;
  const options = {
    ...padding,
    ...attend,
    weights: a.average_attn_weights ? 'mean' : true,
    train,
    ...(keep && { dropout: { p: a.dropout, keep } }),
  };
  if (padding.mask && attend.mask) Object.assign(options, { keyPadding: { data: padding.mask.data, shape: [B, S] } });
  const result = layer.forward(query, key, value, options);
  return { layer, result, expected: { output: batchFirst(c.outputs64.output, a), weights: c.outputs64.weights } };
}

for (const c of [
  ...readPack('mha'),
  ...readPack('dropout').filter(({ features }) => !features.includes('dropout-op')),
]) {
  test(
    `${c.name} (${c.features.join(', ')}) equals torch`,
    everywhere((hl) => {
      const { layer, result, expected } = run(hl, c, true);
      assert.deepEqual(result.output.shape, expected.output.shape);
      const d = difference(result.output.data, expected.output.data);
      assert.ok(d <= TOLERANCE, `output differs by ${d} of the largest value`);
      const {
        dQuery: query,
        dKey: key,
        dValue: value,
      } = layer.backward(batchFirst(c.inputs.grad_output, c.attributes), { dWeights: c.inputs.grad_weights });
      const inputs = Object.fromEntries(
        Object.entries({ query, key, value }).flatMap(([name, x]) => (x ? [[name, x.data]] : [])),
      );
      const gradients = Object.fromEntries(
        Object.entries(expectedGradients(c)).map(([name, x]) => [
          name,
          name in inputs ? batchFirst(x, c.attributes) : x,
        ]),
      );
      const g = gradientDifference({ ...inputs, ...gradientState(hl, layer, 'torch') }, gradients);
      assert.ok(g <= TOLERANCE, `a gradient differs by ${g} of the largest`);
      if (!expected.weights) return;
      const w = difference(result.weights.data, expected.weights.data);
      assert.ok(w <= TOLERANCE, `weights differ by ${w} of the largest value`);
    }),
  );
}

for (const c of readPack('mha-nan')) {
  test(
    `${c.name}: rows without a visible key, for which torch gives NaN, have weights 0`,
    everywhere((hl) => {
      const { result, expected } = run(
        hl,
        { ...c, attributes: { ...c.attributes, average_attn_weights: false } },
        false,
      );
      const [B, H, T, S] = result.weights.shape;
      const { data: weights } = result.weights;
      const { data: output } = result.output;
      const bias = c.inputs['out_proj.bias'].data;
      const C = bias.length;
      let dead = 0;
      for (let row = 0; row < B * T; row++) {
        const [b, t] = [Math.floor(row / T), row % T];
        const sums = Array.from({ length: H }, (_, h) =>
          weights.subarray(((b * H + h) * T + t) * S, ((b * H + h) * T + t + 1) * S).reduce((x, y) => x + y),
        );
        for (const sum of sums) assert.ok(sum === 0 || Math.abs(sum - 1) < 1e-6, `a row of weights sums to ${sum}`);
        const want = expected.output.data.subarray(row * C, row * C + C);
        const got = output.subarray(row * C, row * C + C);
        if (sums.includes(0)) {
          dead++;
          assert.ok(want.every(Number.isNaN));
          assert.ok(got.every(Number.isFinite));
          if (sums.every((sum) => sum === 0)) assert.deepEqual([...got], [...bias]);
        } else assert.ok(difference(got, want) <= TOLERANCE);
      }
      assert.ok(dead > 0);
    }),
  );
}
