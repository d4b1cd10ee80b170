// Writes layers and attention as ONNX files, and runs them with onnxruntime-web.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError, load } from 'headlight-attention';
import { toOnnx } from 'headlight-attention/onnx';
import { difference, int8Tolerance, runOnnx, TOLERANCE } from '../../support/onnx.js';
import { chooseLayer, compareLayer } from '../../support/onnx_layers.js';
import { inTier } from '../../support/tier.js';

const hl = await load();
const tensor = (shape, seed = 1) => ({ data: hl.randn(shape, { seed }).copy(), shape });

for (const opset of [17, 23]) {
  test(`opset ${opset}: random layers and attentions give the results of Headlight`, async () => {
    for (let seed = 1; seed <= inTier(60, 10); seed++) {
      const choice = chooseLayer(seed);
      const { differences, own = {} } = await compareLayer(hl, choice, opset);
      for (const [name, off] of Object.entries(differences))
        assert.ok(off <= TOLERANCE, `${name} is off by ${off}: ${JSON.stringify(choice)}`);
      for (const [name, off] of Object.entries(own))
        assert.ok(off <= int8Tolerance(hl), `${name} is off by ${off}: ${JSON.stringify(choice)}`);
    }
  });

  test(`opset ${opset}: batch and length are dynamic`, async () => {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
    const files = await layer.toOnnx({ causal: true, opset });
    for (const shape of [
      [1, 1, 8],
      [3, 17, 8],
    ]) {
      const query = tensor(shape);
      const { output } = await runOnnx(files, { query });
      assert.ok(difference(output.data, layer.forward(query, { causal: true }).output.data) <= TOLERANCE);
    }
  });

  test(`opset ${opset}: token by token, the present outputs are the next past inputs`, async () => {
    const options = { causal: true, rotary: {}, opset, cache: true };
    const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 4, kvHeads: 2 });
    const whole = tensor([1, 5, 16]);
    const expected = layer.forward(whole, { causal: true, rotary: {} }).output.copy();
    const files = await layer.toOnnx(options);
    let [pastKey, pastValue] = [tensor([1, 2, 0, 4]), tensor([1, 2, 0, 4])];
    for (let t = 0; t < 5; t++) {
      const query = { data: whole.data.slice(16 * t, 16 * t + 16), shape: [1, 1, 16] };
      const results = await runOnnx(files, { query, pastKey, pastValue });
      [pastKey, pastValue] = [results.presentKey, results.presentValue];
      assert.ok(difference(results.output.data, expected.slice(16 * t, 16 * t + 16)) <= TOLERANCE);
    }
    assert.deepEqual(pastKey.shape, [1, 2, 5, 4]);
  });

  test(`opset ${opset}: int8 over groups of 128 inputs, the last of them short`, async () => {
    const layer = hl.multiHeadAttention({ embedDim: 300, numHeads: 3, weights: 'int8' });
    const query = tensor([2, 6, 300]);
    const expected = layer.forward(query).output.copy();
    const { output } = await runOnnx(await layer.toOnnx({ opset }), { query });
    assert.ok(difference(output.data, expected) <= int8Tolerance(hl));
  });
}

/** Options of attention, each with true if the operator Attention of opset 23 has the same semantics. */
const BY_OPERATOR = [
  [{}, true],
  [{ causal: true }, true],
  [{ causal: true, offset: 2 }, true],
  [{ causal: true, offset: -1 }, true],
  [{ causal: true, zero: true }, true],
  [{ causal: true, window: [1, -1] }, true],
  [{ causal: true, alibi: true }, true],
  [{ keyPadding: true }, true],
  [{ causal: true, keyPadding: true }, true],
  [{ bias: true }, true],
  [{ keyPadding: true, bias: true }, true],
  [{ softcap: 0.5 }, true],
  [{ softcap: 0.5, causal: true }, false],
  [{ softcap: 0.5, bias: true }, false],
  [{ maskFill: -1, causal: true }, false],
  [{ sinks: true }, false],
  [{ weights: true }, false],
];

test('opset 23 uses the operator Attention if its semantics are the same', async () => {
  const query = tensor([3, 4, 8]);
  const inputs = {
    keyPadding: { data: Uint8Array.of(1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1), shape: [3, 4] },
    bias: tensor([1, 2, 1, 4], 2),
    sinks: tensor([2], 3),
  };
  for (const [{ zero = false, ...options }, one] of BY_OPERATOR) {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, zeroAttention: zero });
    const own = Object.fromEntries(Object.entries(inputs).filter(([name]) => name in options));
    const files = await layer.toOnnx({ ...options, opset: 23 });
    const { output } = await runOnnx(files, { query, ...own });
    const said = JSON.stringify(options);
    assert.equal(new TextDecoder('latin1').decode(files['model.onnx']).includes('\tAttention'), one, said);
    const off = difference(output.data, layer.forward(query, { ...options, ...own }).output.data);
    assert.ok(off <= TOLERANCE, `${said} is off by ${off}`);
  }
});

test('a query without visible keys has weights and heads of zeros, not NaN', async () => {
  for (const opset of [17, 23]) {
    const files = toOnnx({ numHeads: 2, headDim: 4, mask: true, weights: true }, { opset });
    const [query, key, value] = [1, 2, 3].map((seed) => tensor([1, 2, 3, 4], seed));
    const mask = { data: Uint8Array.of(0, 0, 0, 1, 0, 1, 0, 0, 0), shape: [1, 1, 3, 3] };
    const { output, weights } = await runOnnx(files, { query, key, value, mask });
    assert.deepEqual([...weights.data.slice(0, 3)], [0, 0, 0]);
    assert.deepEqual([...output.data.slice(0, 4)], [0, 0, 0, 0]);
    assert.ok(output.data.slice(4, 8).every((x) => x !== 0 && Number.isFinite(x)));
  }
});

test('parameters have their names, in the model or in a second file, aligned to 64 bytes', async () => {
  const layer = hl.multiHeadAttention({ embedDim: 32, numHeads: 2 });
  const { 'model.onnx': whole } = await layer.toOnnx();
  const { 'model.onnx': model, 'model.onnx.data': data } = await layer.toOnnx({ external: true });
  const text = new TextDecoder('latin1').decode(model);
  for (const name of ['wq', 'wk', 'wv', 'wo', 'bq']) assert.ok(text.includes(name), name);
  assert.ok(whole.length > 4 * 4096 && model.length < 4096);
  assert.deepEqual(
    [...text.matchAll(/offset\x12.(\d+)/g)].map(([, offset]) => Number(offset) % 64),
    [0, 0, 0, 0],
  );
  const bytes = new Uint8Array(layer.parameters.wk.copy().buffer);
  assert.ok(Buffer.from(data).includes(Buffer.from(bytes)));
});

test('if all parameters are small there is no second file', async () => {
  const layer = hl.multiHeadAttention({ embedDim: 4, numHeads: 2 });
  assert.deepEqual(await layer.toOnnx({ external: true }), await layer.toOnnx());
});

test('toOnnx of the entry gives the same files as the methods', async () => {
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 5, context: 4 });
  for (const what of [layer, model]) assert.deepEqual(toOnnx(what), await what.toOnnx());
  assert.deepEqual(toOnnx(model, { opset: 23 }), await model.toOnnx({ opset: 23 }));
});

test('a second export has the same bytes', async () => {
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const [first, second] = [await layer.toOnnx({ causal: true }), await layer.toOnnx({ causal: true })];
  assert.deepEqual(first, second);
});

test('an option that cannot be exported is rejected by its name', async () => {
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const refused = (make, parameter, words) =>
    assert.rejects(
      async () => make(),
      (error) => {
        assert.ok(error instanceof HeadlightError, String(error));
        assert.equal(error.parameter, parameter);
        assert.match(error.message, words);
        return true;
      },
    );
  await refused(() => layer.toOnnx({ opset: 22 }), 'opset', /22, expected 17 or 23/);
  await refused(() => layer.toOnnx({ dropout: { p: 0.1 } }), 'dropout', /cannot be exported to ONNX.*training/);
  await refused(() => layer.toOnnx({ pastKey: true }), 'pastKey', /cache: true/);
  await refused(() => layer.toOnnx({ colour: 1 }), 'colour', /unknown option/);
  await refused(() => layer.toOnnx({ mask: tensor([4, 4]) }), 'mask', /an input of the model/);
  await refused(() => layer.toOnnx({ alibi: [1] }), 'alibi', /2 slopes/);
  await refused(() => layer.toOnnx({ rotary: { width: 6 } }), 'rotary.width', /at most 4/);
  await refused(() => layer.toOnnx({ window: 3 }), 'window', /left, right/);
  await refused(() => toOnnx({ numHeads: 2, rotary: {} }), 'headDim', /width of a head/);
  await refused(() => toOnnx({ numHeads: 4, kvHeads: 3 }), 'kvHeads', /divides/);
  await refused(() => toOnnx(3), 'what', /expected a layer/);
  const apart = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, keyDim: 3 });
  await refused(() => apart.toOnnx({ self: true }), 'self', /differ in width/);
});
