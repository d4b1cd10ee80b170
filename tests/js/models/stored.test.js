// Tests weights that are kept in 16 bits, as they are stored in the file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { beforeEach } from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { someFamilies } from '../../support/families.js';
import { GOLDEN } from '../../support/golden.js';
import { collectGarbage, hl, someFlavours } from '../../support/headlight.js';

beforeEach(collectGarbage);

const STORED = { weights: 'stored' };
const FLOATS = new Set(['F32', 'F16', 'BF16']);

/** Converts the numbers of a checkpoint to another type. */
function as(dtype, files) {
  const { tensors } = readSafetensors(files['model.safetensors']);
  const given = Object.entries(tensors).map(([name, tensor]) => [
    name,
    FLOATS.has(tensor.dtype) ? { ...tensor, dtype } : tensor,
  ]);
  return { ...files, 'model.safetensors': writeSafetensors(Object.fromEntries(given)) };
}

const llama = Object.fromEntries(
  ['config.json', 'model.safetensors'].map((name) => [
    name,
    new Uint8Array(readFileSync(join(GOLDEN, 'models', 'llama-a', name))),
  ]),
);
const bfloat = as('BF16', llama);
const IDS = [5, 17, 80, 3, 9];

/** Returns the largest difference, relative to the largest value. */
function off(got, expected) {
  assert.equal(got.length, expected.length);
  const most = expected.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return got.reduce((a, b, i) => Math.max(a, Math.abs(b - expected[i])), 0) / most;
}

/** Returns copies of the tensors that a result contains without capturing. */
const resultsOf = (result) =>
  ['logits', 'hidden', 'pooled', 'relationship'].filter((name) => result[name]).map((name) => result[name].copy());

for (const { name, files, input } of someFamilies)
  test(`${name}: 16-bit weights have the values of the float32 model and give the same results`, async () => {
    for (const dtype of ['F16', 'BF16']) {
      const given = as(dtype, files);
      for (const flavour of someFlavours) {
        const [half, whole] = [await flavour.openModel(given, STORED), await flavour.openModel(given)];
        const [state, expected] = [half.stateDict(), whole.stateDict()];
        assert.deepEqual(state, expected);
        const kinds = [...half.weights.values()];
        assert.ok(kinds.some(({ packed }) => packed?.kind === dtype));
        assert.ok(kinds.every(({ tensor, packed }) => Boolean(tensor) !== Boolean(packed)));
        const [got, same] = [half.forward(input), whole.forward(input)].map(resultsOf);
        got.forEach((numbers, i) => assert.ok(off(numbers, same[i]) < 2e-6, `${dtype}: ${off(numbers, same[i])}`));
        half.dispose();
        whole.dispose();
      }
    }
  });

/** Returns copies of the gradients of a weighted sum of the final hidden states, as [name, data]. */
function gradientsOf(model, input) {
  const at = ['embed', 'blocks.*.*', 'final'];
  const { gradients, ...result } = model.differentiate(input, {
    of: { final: [1, ...new Array(model.options.dModel - 1).fill(0.5)] },
    at,
  });
  const copies = Object.entries(gradients).map(([name, x]) => [name, x.copy()]);
  for (const x of [...Object.values(result.captured), ...Object.values(gradients)]) x.dispose();
  return copies;
}

for (const { name, files, input } of someFamilies)
  test(`${name}: with 16-bit weights, gradients of values are those of the float32 model`, async () => {
    for (const flavour of someFlavours) {
      const before = flavour.info.memory.used;
      const given = as('BF16', files);
      const [half, whole] = [await flavour.openModel(given, STORED), await flavour.openModel(given)];
      const [got, expected] = [gradientsOf(half, input), gradientsOf(whole, input)];
      const most = Math.max(...expected.map(([, x]) => x.reduce((a, b) => Math.max(a, Math.abs(b)), 0)));
      got.forEach(([value, x], i) => {
        const difference = x.reduce((a, b, j) => Math.max(a, Math.abs(b - expected[i][1][j])), 0);
        assert.ok(difference < 1e-5 * most, `${value}: ${difference / most}`);
      });
      half.dispose();
      whole.dispose();
      assert.equal(flavour.info.memory.used, before);
    }
  });

test('the gradient of a large 16-bit matrix is computed in parts', async () => {
  const [vocab, dModel] = [50_000, 64];
  const made = hl.transformer({ vocab, dModel, layers: 1, numHeads: 2, mlp: 8, context: 4, std: 0.5, seed: 2 });
  const given = as('BF16', await made.saveFolder());
  made.dispose();
  const [half, whole] = [await hl.openModel(given, STORED), await hl.openModel(given)];
  const of = Object.assign(({ logits }) => logits.data.reduce((sum, x, i) => sum + (i % 7) * x, 0), {
    gradient: ({ logits }) => ({
      data: Float32Array.from({ length: logits.size }, (_, i) => i % 7),
      shape: logits.shape,
    }),
  });
  const [got, expected] = [half, whole].map(
    (model) => model.differentiate([1, 2], { of, at: ['final'] }).gradients.final,
  );
  assert.ok(off(got.copy(), expected.copy()) < 1e-5);
});

test('16-bit weights take half the memory, and all of it is freed', async () => {
  const used = () => hl.info.memory.used;
  const before = used();
  const whole = await hl.openModel(bfloat);
  const ofWhole = used() - before;
  whole.dispose();
  assert.equal(used(), before);
  const half = await hl.openModel(bfloat, STORED);
  assert.ok(used() - before < 0.56 * ofWhole, `${used() - before} of ${ofWhole}`);
  half.forward(IDS).dispose();
  half.dispose();
  assert.equal(used(), before);
});

test('with a cache, token by token, the results are those of the float32 model', async () => {
  const [half, whole] = [await hl.openModel(bfloat, STORED), await hl.openModel(bfloat)];
  const caches = [half, whole].map((model) => model.cache({ length: 16 }));
  for (const ids of [IDS.slice(0, 3), [3], [9]]) {
    const [got, expected] = [half, whole].map((model, i) => model.forward(ids, { cache: caches[i] }));
    assert.ok(off(got.logits.copy(), expected.logits.copy()) < 2e-6);
    got.dispose();
    expected.dispose();
  }
  const [a, b] = [half, whole].map((model) => model.generate(IDS, { max: 12, stop: [] }));
  assert.deepEqual((await a).ids, (await b).ids);
  for (const thing of [...caches, half, whole]) thing.dispose();
});

test('tensors of other types, also of 8 bits, are stored as float32', async () => {
  for (const dtype of ['F32', 'F8_E4M3', 'F64']) {
    const model = await hl.openModel(as(dtype, llama), STORED);
    assert.ok([...model.weights.values()].every(({ tensor, packed }) => tensor && !packed));
    model.zeroGrad();
    model.dispose();
  }
  const { tensors } = readSafetensors(llama['model.safetensors']);
  const one = { ...tensors, 'model.layers.0.mlp.up_proj.weight': { ...tensors['model.layers.0.mlp.up_proj.weight'] } };
  one['model.layers.0.mlp.up_proj.weight'].dtype = 'BF16';
  const mixed = await hl.openModel({ ...llama, 'model.safetensors': writeSafetensors(one) }, STORED);
  const kept = [...mixed.weights].filter(([, { packed }]) => packed).map(([name]) => name);
  assert.deepEqual(kept, ['blocks.0.up.weight']);
  mixed.dispose();
});

test('16-bit weights cannot be trained or replaced; quantized they equal weights opened as int8', async () => {
  const half = await hl.openModel(bfloat, STORED);
  const state = (error) => error instanceof HeadlightError && error.code === 'STATE' && /16-bit/.test(error.message);
  assert.throws(() => half.forward(IDS, { train: true }), state);
  assert.throws(() => half.loadStateDict(half.stateDict()), state);
  assert.ok(!('blocks.0.up.weight' in half.parameters) && 'norm.weight' in half.parameters);
  const direct = await hl.openModel(bfloat, { weights: 'int8' });
  half.quantize();
  assert.deepEqual(half.stateDict(), direct.stateDict());
  assert.throws(() => half.forward(IDS, { train: true }), /int8/);
  half.dispose();
  direct.dispose();
});

test('16-bit weights are saved and exported as float32; edits give the results of float32', async () => {
  const [half, whole] = [await hl.openModel(bfloat, STORED), await hl.openModel(bfloat)];
  assert.deepEqual(await half.saveFolder(), await whole.saveFolder());
  assert.deepEqual(await half.toOnnx(), await whole.toOnnx());
  const options = { edit: [{ at: 'blocks.0.heads', head: 1, set: 'zero' }], capture: ['blocks.*.weights'] };
  const [got, expected] = [half.forward(IDS, options), whole.forward(IDS, options)];
  assert.ok(off(got.logits.copy(), expected.logits.copy()) < 2e-6);
  for (const [name, tensor] of Object.entries(expected.captured))
    assert.ok(off(got.captured[name].copy(), tensor.copy()) < 2e-6, name);
  for (const thing of [got, expected, half, whole]) thing.dispose();
});

test('float16 that is not finite is refused, but opened as float32; bfloat16 is accepted', async () => {
  const name = 'model.layers.1.mlp.down_proj.weight';
  for (const value of [Infinity, NaN]) {
    const { tensors } = readSafetensors(as('F16', llama)['model.safetensors']);
    const data = Float32Array.from(tensors[name].data);
    data[7] = value;
    const given = (dtype) =>
      as(dtype, {
        ...llama,
        'model.safetensors': writeSafetensors({ ...tensors, [name]: { ...tensors[name], data, dtype: 'F32' } }),
      });
    const used = hl.info.memory.used;
    await assert.rejects(
      hl.openModel(given('F16'), STORED),
      ({ code, parameter, message }) =>
        code === 'FORMAT' && parameter === 'blocks.1.down.weight' && /float32/.test(message),
    );
    assert.equal(hl.info.memory.used, used);
    for (const [dtype, options] of [
      ['F16', {}],
      ['BF16', STORED],
    ]) {
      const model = await hl.openModel(given(dtype), options);
      const result = model.forward(IDS);
      assert.ok(result.logits.copy().some(Number.isNaN));
      result.dispose();
      model.dispose();
    }
  }
});
