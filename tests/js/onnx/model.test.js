import assert from 'node:assert/strict';
import test from 'node:test';
import { hl } from '../../support/headlight.js';
import { int8Tolerance, TOLERANCE } from '../../support/onnx.js';
import { compareCached, compareModel, familyCases, feedsOf, off, randomModel } from '../../support/onnx_models.js';
import { openOnnx } from '../../support/onnxruntime.js';
import { inTier } from '../../support/tier.js';

const RANDOM = inTier(30, 5);

const SETS = [{ opset: 17 }, { opset: 23, weights: false }];

/**
 * Compares a model in several forms of ONNX files, and with a cache if it supports one; ./build.sh onnx runs all forms.
 * If weights are outputs, the operator Attention is replaced by simpler ones.
 */
async function check(model, input, sets = SETS) {
  for (const options of sets) {
    const { difference, at } = await compareModel(model, input, options);
    assert.ok(difference <= TOLERANCE, `${JSON.stringify(options)}: ${at} is off by ${difference}`);
  }
  if (!model.options.causal || model.options.head !== 'logits') return;
  const { difference } = await compareCached(model, input, Math.min(3, input.ids.shape[1]), { opset: 23 });
  assert.ok(difference <= TOLERANCE, `with a cache off by ${difference}`);
}

for (const [i, { name, open, input }] of familyCases.entries()) {
  test(`${name}: onnxruntime gives the results of forward, including weights and intermediate values`, async () => {
    const model = await open(hl);
    // In the default tier each family is tested with only one of the operator sets; successive families have different
    // sets.
    await check(model, input, inTier(SETS, [SETS[i % 2]]));
    model.dispose();
  });
}

test('onnxruntime gives the results of forward for models with random options', async () => {
  for (let seed = 1; seed <= RANDOM; seed++) {
    const { options, input } = randomModel(seed);
    const model = hl.transformer(options);
    await check(model, input).catch((error) => {
      throw new Error(`seed ${seed}: ${JSON.stringify(options)}`, { cause: error });
    });
    model.dispose();
  }
});

const SMALL = { layers: 2, dModel: 16, numHeads: 2, vocab: 11, context: 12, seed: 3 };
const ids = (batch, length) => ({
  data: Int32Array.from({ length: batch * length }, (_, i) => (i * 7 + 3) % 11),
  shape: [batch, length],
});
const valuesOf = (tensor) => ({ data: tensor.copy(), shape: tensor.shape });

test('one file accepts any batch and any length', async () => {
  const model = hl.transformer(SMALL);
  const files = await model.toOnnx();
  assert.deepEqual(Object.keys(files), ['model.onnx']);
  const session = await openOnnx(files);
  assert.deepEqual([session.inputs, session.outputs], [['ids'], ['logits']]);
  for (const [batch, length] of [
    [1, 1],
    [3, 5],
    [2, 12],
  ]) {
    const { logits } = await session.run({ ids: ids(batch, length) });
    assert.ok(off(logits, valuesOf(model.forward(ids(batch, length)).logits)) <= TOLERANCE);
  }
  await session.close();
});

test('external parameters are aligned and have their names', async () => {
  const model = hl.transformer(SMALL);
  const files = await model.toOnnx({ external: true });
  assert.deepEqual(Object.keys(files), ['model.onnx', 'model.onnx.data']);
  const weight = model.parameters['blocks.1.up.weight'].copy();
  const beside = new Float32Array(files['model.onnx.data'].slice().buffer);
  assert.ok(files['model.onnx'].length < files['model.onnx.data'].length);
  const at = beside.findIndex((_, i) => i % 16 === 0 && weight.every((x, j) => beside[i + j] === x));
  assert.notEqual(at, -1, 'its offset is a multiple of 64 bytes');
  const session = await openOnnx(files);
  const { logits } = await session.run({ ids: ids(2, 4) });
  assert.ok(off(logits, valuesOf(model.forward(ids(2, 4)).logits)) <= TOLERANCE);
  await session.close();
});

test('with an encoder and a cache there are two files, each with its own parameters', async () => {
  const encoder = { layers: 1, dModel: 12, numHeads: 2, vocab: 7, context: 9, causal: false, head: 'none' };
  const model = hl.transformer({ ...SMALL, encoder });
  const files = await model.toOnnx({ cache: true, external: true, opset: 23 });
  assert.deepEqual(Object.keys(files).sort(), [
    'decoder.onnx',
    'decoder.onnx.data',
    'encoder.onnx',
    'encoder.onnx.data',
  ]);
  const input = { encoder: { ids: { data: [1, 2, 3], shape: [1, 3] } }, ids: ids(1, 5) };
  const { difference } = await compareCached(model, input, 2, { external: true });
  assert.ok(difference <= TOLERANCE);
});

test('last: true gives logits of the last token only', async () => {
  const model = hl.transformer(SMALL);
  const session = await openOnnx(await model.toOnnx({ last: true }));
  const { logits } = await session.run({ ids: ids(2, 6) });
  assert.deepEqual([...logits.shape], [2, 1, 11]);
  assert.ok(off(logits, valuesOf(model.forward(ids(2, 6), { last: true }).logits)) <= TOLERANCE);
  await session.close();
});

test('weights are outputs of all blocks, or of some', async () => {
  const model = hl.transformer(SMALL);
  for (const [weights, expected] of [
    [true, ['blocks.0.weights', 'blocks.1.weights', 'logits']],
    [[1], ['blocks.1.weights', 'logits']],
    [false, ['logits']],
  ]) {
    const session = await openOnnx(await model.toOnnx({ weights }));
    assert.deepEqual(session.outputs, expected);
    await session.close();
  }
});

test('the factors of rotary positions depend on the length, in both sets of operators', async () => {
  const factors = (...factors) => ({ type: 'factors', factors, attentionFactor: 1.2 });
  const rotary = { scaling: factors(1.1, 1.7, 1, 2), long: { beyond: 5, scaling: factors(3, 9, 2, 4) } };
  const model = hl.transformer({ ...SMALL, positions: 'rotary', rotary });
  for (const opset of [17, 23]) {
    const session = await openOnnx(await model.toOnnx({ opset }));
    for (const length of [1, 5, 6, 12]) {
      const { logits } = await session.run({ ids: ids(2, length) });
      const difference = off(logits, valuesOf(model.forward(ids(2, length)).logits));
      assert.ok(difference <= TOLERANCE, `opset ${opset}, ${length} tokens: off by ${difference}`);
    }
    await session.close();
    for (const [first, length] of [
      [2, 5],
      [6, 9],
    ]) {
      const { difference } = await compareCached(model, { ids: ids(2, length) }, first, { opset });
      assert.ok(difference <= TOLERANCE, `opset ${opset}, with a cache: off by ${difference}`);
    }
  }
  model.dispose();
});

test('positions are counted like in forward', async () => {
  const input = { ids: ids(2, 6), keep: { data: [0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1], shape: [2, 6] } };
  for (const options of [
    { causal: true },
    { causal: true, positionOffset: 2 },
    { causal: false },
    { causal: false, positionOffset: 2 },
    { causal: false, positionOffset: 2, padToken: 3 },
    { causal: false, positionOffset: 2, padToken: 3, positions: 'sinusoidal', sinusoids: 'inclusive' },
  ]) {
    const model = hl.transformer({ ...SMALL, ...options });
    const { difference, at } = await compareModel(model, input);
    assert.ok(difference <= TOLERANCE, `${JSON.stringify(options)}: ${at} is off by ${difference}`);
  }
});

test('with a cache the padding token has its own row of positions', async () => {
  const model = hl.transformer({ ...SMALL, positionOffset: 2, padToken: 3 });
  const input = { ids: { data: Int32Array.of(4, 5, 6, 7, 3, 8, 9, 1, 2, 3), shape: [2, 5] } };
  for (const opset of [17, 23]) {
    const { difference } = await compareCached(model, input, 3, { opset });
    assert.ok(difference <= TOLERANCE, `opset ${opset}: off by ${difference}`);
  }
  model.dispose();
});

test('the input positions replaces counted positions', async () => {
  const input = { ids: ids(2, 4), positions: { data: [3, 0, 7, 7, 1, 2, 11, 0], shape: [2, 4] } };
  for (const positions of ['learned', 'sinusoidal', 'rotary']) {
    const model = hl.transformer({ ...SMALL, positions });
    for (const opset of [17, 23]) {
      const { difference, at } = await compareModel(model, input, { opset });
      assert.ok(difference <= TOLERANCE, `${positions}, opset ${opset}: ${at} is off by ${difference}`);
    }
  }
});

test('a model with the names of Hugging Face gives the same results', async () => {
  const padded = { data: [1, 1, 1, 1, 0, 1, 1, 1], shape: [2, 4] };
  const given = { ids: ids(2, 4), keep: padded, typeIds: { data: [0, 1, 1, 0, 1, 0, 0, 1], shape: [2, 4] } };
  const model = hl.transformer({ ...SMALL, causal: false, tokenTypes: 2, pooler: 'tanh', poolDim: 6, pool: 'first' });
  const session = await openOnnx(await model.toOnnx({ names: 'hugging-face', weights: true, capture: ['embed'] }));
  assert.deepEqual(session.inputs, ['input_ids', 'attention_mask', 'token_type_ids']);
  assert.deepEqual(session.outputs, ['embed', 'attentions.0', 'attentions.1', 'logits', 'pooler_output']);
  const got = await session.run({
    input_ids: given.ids,
    attention_mask: given.keep,
    token_type_ids: given.typeIds,
  });
  const { logits, pooled, captured } = model.forward(given, { capture: ['blocks.*.weights'] });
  assert.ok(off(got.logits, valuesOf(logits)) <= TOLERANCE);
  assert.ok(off(got.pooler_output, valuesOf(pooled)) <= TOLERANCE);
  assert.ok(off(got['attentions.1'], valuesOf(captured['blocks.1.weights'])) <= TOLERANCE);
  await session.close();
});

test('a decoder with the names of Hugging Face has a cache and external parameters', async () => {
  const model = hl.transformer(SMALL);
  const files = await model.toOnnx({ names: 'hugging-face', cache: true, external: true });
  assert.deepEqual(Object.keys(files), ['model.onnx', 'model.onnx_data']);
  assert.ok(Buffer.from(files['model.onnx']).includes('batch_size'), 'transformers.js requires this axis');
  const session = await openOnnx(files);
  const pair = (name, i) => [`${name}.${i}.key`, `${name}.${i}.value`];
  const past = [...pair('past_key_values', 0), ...pair('past_key_values', 1)];
  assert.deepEqual(session.inputs, [...past, 'input_ids', 'attention_mask']);
  assert.deepEqual(session.outputs, ['logits', ...pair('present', 0), ...pair('present', 1)]);
  const none = { data: [], shape: [1, 2, 0, 8] };
  const feeds = { input_ids: ids(1, 4), attention_mask: { data: [1, 1, 1, 1], shape: [1, 4] } };
  const { logits } = await session.run({ ...feeds, ...Object.fromEntries(past.map((name) => [name, none])) });
  assert.ok(off(logits, valuesOf(model.forward(ids(1, 4)).logits)) <= TOLERANCE);
  await session.close();
});

test('rows of padding without visible keys give 0, not NaN', async () => {
  const model = hl.transformer({ ...SMALL, positions: 'rotary' });
  const input = { ids: ids(1, 4), keep: { data: [0, 0, 1, 1], shape: [1, 4] } };
  for (const opset of [17, 23]) {
    const session = await openOnnx(
      await model.toOnnx({ weights: true, keep: true, opset, capture: ['blocks.0.heads'] }),
    );
    const got = await session.run(feedsOf(input));
    assert.ok(got['blocks.0.weights'].data.slice(0, 8).every((x) => x === 0));
    assert.ok(got['blocks.0.heads'].data.slice(0, 16).every((x) => x === 0));
    assert.ok(got.logits.data.every(Number.isFinite));
    await session.close();
  }
});

test('an option that cannot be exported is rejected by its name', async () => {
  const model = hl.transformer(SMALL);
  const refused = (options, pattern, of = model) =>
    assert.rejects(of.toOnnx(options), (error) => error.name === 'HeadlightError' && pattern.test(error.message));
  await refused({ opset: 22 }, /opset is 22, expected 17 or 23/);
  await refused({ weight: true }, /unknown option 'weight'/);
  await refused({ weights: [2] }, /weights is 2/);
  await refused({ weights: 'all' }, /weights is 'all'/);
  await refused({ capture: ['blocks.0.nothing'] }, /capture\[0\]/);
  await refused({ capture: ['blocks.*.scores'] }, /capture\[0\].*no scores/);
  await refused({ capture: 'embed' }, /capture/);
  await refused({ external: 1 }, /external is 1/);
  await refused({ typeIds: true }, /no token types/);
  await refused({ positions: true }, /positions/, hl.transformer({ ...SMALL, positions: 'alibi' }));
  await refused({ last: true }, /last/, hl.transformer({ ...SMALL, head: 'none' }));
  await refused({ cache: true }, /cache/, hl.transformer({ ...SMALL, layers: 0 }));
  await refused({}, /encoder/, hl.transformer({ ...SMALL, cross: true }));
  await refused({ names: 'huggingface' }, /names is 'huggingface', expected 'headlight' or 'hugging-face'/);
  const encoder = { layers: 1, dModel: 12, numHeads: 2, vocab: 7, context: 9, causal: false, head: 'none' };
  await refused({ names: 'hugging-face' }, /names.*an encoder/, hl.transformer({ ...SMALL, encoder }));
  const gone = hl.transformer(SMALL);
  gone.dispose();
  await assert.rejects(gone.toOnnx(), { code: 'DISPOSED', message: /^toOnnx: / });
});

test('int8 weights have the same integers and scales as in Headlight', async () => {
  // The expected logits are those of a float32 model with the rounded weights, which does not round inputs.
  const bias = { query: true, key: true, value: true, out: true, mlp: true, head: true };
  const pooled = { causal: false, head: 'pooled', classes: 5, pooler: 'tanh', bias };
  const patches = { input: 'patches', patch: { size: 4, image: [8, 8] }, ...pooled, taught: true };
  const pixels = { data: Float32Array.from({ length: 384 }, (_, i) => (i % 11) / 11), shape: [2, 3, 8, 8] };
  for (const [own, input] of [
    [{ mlp: 150, embedDim: 20, tied: true }, { ids: ids(2, 6) }],
    [pooled, { ids: ids(2, 6) }],
    [{ ...pooled, pool: 'end' }, { ids: ids(2, 6) }],
    [patches, { pixels }],
  ]) {
    const options = { ...SMALL, dModel: 36, ...own };
    const model = hl.transformer(options).quantize();
    const { logits } = hl.transformer(options).loadStateDict(model.stateDict()).forward(input);
    for (const opset of [17, 23]) {
      for (const external of [false, true]) {
        const session = await openOnnx(await model.toOnnx({ opset, external }));
        const got = await session.run(input);
        assert.ok(off(got.logits, valuesOf(logits)) <= TOLERANCE, `opset ${opset}`);
        assert.ok(off(got.logits, valuesOf(model.forward(input).logits)) <= int8Tolerance(hl));
        await session.close();
      }
    }
  }
});
