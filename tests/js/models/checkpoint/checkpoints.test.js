import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { flavours, hl } from '../../../support/headlight.js';
import { checkpoints, off, torchCases } from '../../../support/models.js';

/** Largest allowed error, relative to the largest value. */
const LIMIT = 1e-5;
const CAPTURE = ['embed', 'blocks.*.in', 'blocks.*.out', 'blocks.*.weights', 'final'];
const ENCODER = ['encoder.blocks.*.in', 'encoder.blocks.*.out', 'encoder.blocks.*.weights', 'encoder.final'];
const captureOf = (model) => (model.options.encoder ? [...CAPTURE, ...ENCODER, 'blocks.*.cross.weights'] : CAPTURE);

/** Compares every output of a case. */
function check(model, c) {
  const result = model.forward(c.input, { capture: captureOf(model) });
  const tensors = { ...result.captured, logits: result.logits, pooled: result.pooled };
  tensors.seq_relationship_logits = result.relationship;
  for (const [output, name] of Object.entries(c.names)) {
    const difference = off(c, output, tensors[name].copy());
    assert.ok(difference <= LIMIT, `${c.name}: ${output} (${name}) is off by ${difference}`);
    assert.deepEqual([...tensors[name].shape], c.outputs[output].shape);
  }
  assert.ok(result.hidden.data.every(Number.isFinite), 'rows of padding are finite');
  result.dispose();
}

/** Runs a case with a cache: the first tokens in one call, then one token per call. */
function checkCached(model, c, type) {
  const { ids, encoder } = { ids: c.input.ids, encoder: c.input.encoder };
  const [, length] = ids.shape;
  const [, , vocab] = c.outputs.logits.shape;
  const cache = model.cache({ length, type });
  const rows = new Float32Array(length * vocab);
  let at = 0;
  for (const count of [c.cache.prefill, ...new Array(c.cache.steps).fill(1)]) {
    const part = { data: ids.data.slice(at, at + count), shape: [1, count] };
    const { logits } = model.forward({ ...(encoder && at === 0 && { encoder }), ids: part }, { cache });
    rows.set(logits.data, at * vocab);
    at += count;
    assert.equal(cache.length, at);
  }
  cache.dispose();
  return off(c, 'logits', rows);
}

/** Runs fn in a scope and checks that no memory is lost. */
function within(instance, fn) {
  const before = instance.info.memory.used;
  instance.scope(fn);
  assert.equal(instance.info.memory.used, before, 'memory was not given back');
}

for (const { folder, name, cases } of checkpoints) {
  test(`${name}: hidden states, weights, logits, with and without a cache`, async () => {
    for (const instance of flavours) {
      const model = await instance.openModel(folder);
      for (const c of cases.filter(({ kind }) => kind === 'forward')) {
        // The tables of rotary positions grow with the longest sequence and are kept.
        model.forward(c.input).dispose();
        within(instance, () => check(model, c));
        if (!c.cache) continue;
        within(instance, () => assert.ok(checkCached(model, c, 'float32') <= LIMIT));
        within(instance, () => {
          const [half, bytes] = [checkCached(model, c, 'float16'), checkCached(model, c, 'int8')];
          assert.ok(half > 1e-7 && half < 2e-3, `with a cache of float16 off by ${half}`);
          assert.ok(bytes > 1e-6 && bytes < 5e-2, `with a cache of int8 off by ${bytes}`);
        });
      }
      model.dispose();
    }
  });

  test(`${name}: generates the expected tokens`, async () => {
    const model = await hl.openModel(folder);
    for (const c of cases.filter(({ kind }) => kind === 'greedy')) {
      const { encoder, ids } = c.input;
      const prompt = encoder ? { encoder, ids: [...ids.data] } : [...ids.data];
      const { data } = c.outputs.generated_ids;
      const given = [];
      const result = await model.generate(prompt, { max: data.length, stop: [], onToken: ({ id }) => given.push(id) });
      assert.deepEqual(result.ids, [...data]);
      assert.deepEqual(given, result.ids);
      assert.equal(result.ended, 'max');
      const stopped = await model.generate(prompt, { max: data.length, stop: [data[2]] });
      assert.deepEqual(stopped.ids, [...data.slice(0, [...data].indexOf(data[2]))]);
      assert.equal(stopped.ended, 'stop');
    }
    model.dispose();
  });
}

for (const c of torchCases) {
  test(`${c.name} (${c.features.join(', ')}) equals PyTorch`, async () => {
    const model = await hl.openModel(c.folder);
    if (c.outputs.generated_ids) {
      const [ids, start] = [c.outputs.generated_ids.data, c.input.ids.data.length];
      const result = await model.generate([...c.input.ids.data], { max: ids.length - start, stop: [] });
      assert.deepEqual(result.ids, [...ids.slice(start)]);
    } else check(model, c);
    model.dispose();
  });
}

test('two threads give the same bits as one', async () => {
  for (const { info } of flavours) {
    const bits = [];
    for (const threads of [1, 2]) {
      const instance = await load({ simd: info.simd, threads });
      const values = [];
      for (const { folder, cases } of checkpoints) {
        const model = await instance.openModel(folder);
        const { logits, hidden } = model.forward(cases[0].input);
        values.push(...logits.data, ...hidden.data);
        model.dispose();
      }
      bits.push(values);
      instance.dispose();
    }
    assert.deepEqual(bits[0], bits[1]);
  }
});
