import assert from 'node:assert/strict';
import test from 'node:test';
import { attributionPatching, logitDifference, patch } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { casesOf, off } from '../../../support/attributionCases.js';
import { FORMS, SMALL } from '../../../support/forms.js';
import { everywhere, hl } from '../../../support/headlight.js';

const SEED = 11;
console.log(`seed ${SEED}`);
const CLEAN = [0, 3, 1, 4, 2];
const CORRUPTED = [2, 6, 0, 4, 5];
const metric = logitDifference(3, 5);

/** Builds a model with random parameters, because zeros and ones would hide mistakes. */
function build(hl, form) {
  const model = hl.transformer({ ...SMALL, ...form });
  const random = uniformSource(SEED);
  for (const { data } of Object.values(model.parameters))
    data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
  return model;
}
const inputOf = ({ options }, ids) => (options.encoder ? { encoder: [6, 1, 5, 0], ids } : ids);
const inputsOf = (model) => [inputOf(model, CLEAN), inputOf(model, CORRUPTED)];
const close = (got, expected, limit, text) => {
  assert.deepEqual(got.shape, expected.shape, text);
  assert.ok(off(got, expected) <= limit, `${text}: ${off(got, expected)}`);
};

for (const { model: name, name: title, checkpoint, clean, corrupted, options, outputs } of casesOf('attribution'))
  test(`${name}, ${title}: estimates and effects equal those computed in float64`, async () => {
    const model = await hl.openModel(checkpoint);
    const judged = logitDifference(options.label, options.against, options.token);
    // The first run allocates the tables of rotary positions, which the model keeps.
    model.forward(clean).dispose();
    const used = hl.info.memory.used;
    for (const place of ['heads', 'query', 'key', 'value', 'mlp', 'embed']) {
      const at = place === 'embed' ? place : `blocks.*.${place}`;
      const run = (more) => attributionPatching(model, clean, corrupted, judged, { at, ...more });
      const check = (result, ...pairs) => {
        for (const [member, golden] of pairs) close(result[member], outputs[`${place}.${golden}`], 2e-5, golden);
        assert.ok(Math.abs(result.clean - outputs.clean.data[0]) < 1e-5);
        assert.ok(Math.abs(result.corrupted - outputs.corrupted.data[0]) < 1e-5);
      };
      check(await run({ exact: true }), ['values', 'atp'], ['exact', 'exact'], ['exactSums', 'exactSums']);
      check(await run({ drop: true }), ['values', 'star'], ['sums', 'starSums'], ['drops', 'drops']);
      if (place !== 'query' && place !== 'key') continue;
      check(await run({ fix: true }), ['values', 'fixed.atp']);
      check(
        await run({ fix: true, drop: true }),
        ['values', 'fixed.star'],
        ['sums', 'fixed.starSums'],
        ['drops', 'fixed.drops'],
      );
    }
    assert.ok(hl.info.memory.used <= used);
    model.dispose();
  });

/** Computes Σ (A′ − A) · ∂m/∂A, where A′ are the attention weights of a run in which one query or key is clean. */
function fixedByEdits(model, at, layer) {
  const [clean, corrupted] = inputsOf(model);
  const weights = `blocks.${layer}.${at.replace(/(query|key)$/, 'weights')}`;
  const name = `blocks.${layer}.${at}`;
  const { captured } = model.forward(clean, { capture: [name] });
  const before = model.differentiate(corrupted, { of: metric, at: [weights] });
  const [gradient, a] = [before.gradients[weights].copy(), before.captured[weights].copy()];
  const [, heads, tokens] = captured[name].shape;
  const data = [];
  for (let head = 0; head < heads; head++)
    for (let token = 0; token < tokens; token++) {
      const edit = [{ at: name, head, token, set: captured[name] }];
      const after = model.forward(corrupted, { edit, capture: [weights] });
      data.push(after.captured[weights].data.reduce((sum, x, i) => sum + (x - a[i]) * gradient[i], 0));
      after.dispose();
    }
  return { data, shape: [heads, tokens] };
}

for (const [name, form] of Object.entries(FORMS).filter(
  ([, { input, encoder, head, disentangled }]) => !input && !encoder?.input && !head && !disentangled,
))
  test(`${name}: the QK fix recomputes the softmax with a clean query or key`, async () => {
    const model = build(hl, { ...form, scale: form.scale ?? 1 });
    const [clean, corrupted] = inputsOf(model);
    for (const at of ['query', 'key', ...(form.encoder ? ['cross.query'] : [])]) {
      const { values } = await attributionPatching(model, clean, corrupted, metric, {
        at: `blocks.*.${at}`,
        fix: true,
      });
      const layers = [0, 1].map((layer) => fixedByEdits(model, at, layer));
      const data = layers.flatMap((layer) => layer.data);
      close(values, { data, shape: [2, ...layers[0].shape] }, 1e-4, at);
    }
    model.dispose();
  });

test('the QK fix is refused with disentangled attention', async () => {
  const model = build(hl, FORMS.DeBERTa);
  const [clean, corrupted] = inputsOf(model);
  const run = (at) => attributionPatching(model, clean, corrupted, metric, { at, fix: true });
  for (const at of ['blocks.*.query', 'blocks.*.key'])
    await assert.rejects(run(at), { code: 'ARGUMENT', parameter: 'fix', message: /disentangled/ });
  model.dispose();
});

test('the fix is finite where a key is new to a saturated softmax', async () => {
  const model = build(hl, { positions: 'learned', scale: 400 });
  for (const at of ['blocks.*.query', 'blocks.*.key']) {
    const { values } = await attributionPatching(model, CLEAN, CORRUPTED, metric, { at, fix: true });
    assert.ok(values.data.every(Number.isFinite), at);
  }
});

test('every value of a block is a place, and exact effects are those of patch', async () => {
  const model = build(hl, FORMS.Llama);
  for (const name of [
    'in',
    'norm1',
    'query',
    'key',
    'value',
    'heads',
    'attention',
    'mid',
    'norm2',
    'hidden',
    'mlp',
    'out',
  ]) {
    const at = `blocks.*.${name}`;
    const { values, sums, exact, exactSums, corrupted } = await attributionPatching(model, CLEAN, CORRUPTED, metric, {
      at,
      exact: true,
    });
    const count = { query: [2], heads: [2], key: [1], value: [1] }[name] ?? [];
    assert.deepEqual(values.shape, [2, ...count, 5]);
    assert.deepEqual(exact.shape, values.shape);
    assert.deepEqual(
      [sums.shape, exactSums.shape],
      [
        [2, ...count],
        [2, ...count],
      ],
    );
    const patched = await patch(model, CLEAN, CORRUPTED, metric, { at });
    const effects = { data: patched.values.data.map((x) => x - corrupted), shape: patched.values.shape };
    close(count.length > 0 ? exactSums : exact, effects, 1e-5, at);
  }
});

test('patch takes keys, values and embeddings', async () => {
  const model = build(hl, FORMS.Llama);
  const { captured } = model.forward(CLEAN, { capture: ['embed', 'blocks.1.key'] });
  const seen = [];
  const onProgress = (step) => seen.push(step);
  const { values } = await patch(model, CLEAN, CORRUPTED, metric, { at: 'embed', onProgress });
  assert.deepEqual(values.shape, [5]);
  for (let token = 0; token < 5; token++) {
    const edit = [{ at: 'embed', token, set: captured.embed }];
    assert.equal(values.data[token], Math.fround(metric(model.forward(CORRUPTED, { edit }))));
    assert.equal(seen[token].place, token);
  }
  const keys = await patch(model, CLEAN, CORRUPTED, metric, { at: 'blocks.*.key' });
  assert.deepEqual(keys.values.shape, [2, 1]);
  const edit = [{ at: 'blocks.1.key', set: captured['blocks.1.key'] }];
  assert.equal(keys.values.data[1], Math.fround(metric(model.forward(CORRUPTED, { edit }))));
  assert.deepEqual(
    (await patch(model, CLEAN, CORRUPTED, metric, { at: 'blocks.*.value', each: 'token' })).values.shape,
    [2, 5],
  );
  await assert.rejects(patch(model, CLEAN, CORRUPTED, metric, { at: 'embed', each: 'head' }), {
    code: 'ARGUMENT',
    parameter: 'each',
  });
});

test('where the model is linear in a value, the estimates of the last block are exact', async () => {
  const model = build(hl, { norm: 'none', positions: 'learned' });
  const { sums, exactSums, values, exact } = await attributionPatching(model, CLEAN, CORRUPTED, metric, {
    at: 'blocks.*.mlp',
    exact: true,
  });
  close({ data: values.data.slice(5), shape: [5] }, { data: exact.data.slice(5), shape: [5] }, 1e-4, 'values');
  assert.ok(Math.abs(sums.data[1] - exactSums.data[1]) < 1e-4 * Math.abs(exactSums.data[1]));
});

test('equal runs have no effects', async () => {
  const model = build(hl, FORMS['Gemma 2']);
  for (const options of [
    {},
    { drop: true },
    { at: 'blocks.*.key', fix: true, drop: true },
    { at: 'embed', exact: true },
  ]) {
    const result = await attributionPatching(model, CLEAN, CLEAN, metric, options);
    for (const { data } of [result.values, result.sums]) assert.ok(data.every((x) => Math.abs(x) < 1e-6));
  }
});

test('invalid arguments are refused, by name', async () => {
  const model = build(hl, FORMS.Llama);
  model.forward(CLEAN).dispose();
  const used = hl.info.memory.used;
  const refuses = (expected, options, clean = CLEAN, judged = metric, corrupted = CORRUPTED) =>
    assert.rejects(attributionPatching(model, clean, corrupted, judged, options), expected);
  const wrong = (parameter) => ({ code: 'ARGUMENT', parameter });
  for (const at of ['logits', 'blocks.0.heads', 'blocks.*.weights', 'blocks.*.cross.scores', 3])
    await refuses(wrong('at'), { at });
  for (const at of [undefined, 'blocks.*.value', 'embed']) await refuses(wrong('fix'), { at, fix: true });
  for (const name of ['fix', 'drop', 'exact']) await refuses(wrong(name), { [name]: 1 });
  await refuses(wrong('steps'), { steps: 1 });
  await refuses(wrong('signal'), { signal: {} });
  await refuses(wrong('onProgress'), { onProgress: 3 });
  await refuses({ ...wrong('metric'), message: /gradient/ }, {}, CLEAN, () => 1);
  await refuses(wrong('metric'), {}, CLEAN, 3);
  await refuses({ code: 'SHAPE', message: /\[1,2,5,4\].*\[1,2,4,4\]/ }, {}, [1, 2, 3, 4]);
  // The lengths are compared before the metric reads a token that exists only in the longer run.
  await refuses({ code: 'SHAPE' }, {}, CLEAN, logitDifference(1, 2, 4), [1, 2, 3]);
  await refuses({ code: 'SHAPE', message: /\[2,2,5,4\]/ }, {}, [CLEAN, CLEAN], metric, [CLEAN, CORRUPTED]);
  assert.ok(hl.info.memory.used <= used);
  const shallow = build(hl, { layers: 1 });
  await assert.rejects(attributionPatching(shallow, CLEAN, CORRUPTED, metric, { drop: true }), {
    ...wrong('drop'),
    message: /this model has 1/,
  });
  const attentionOnly = build(hl, { mlp: 0 });
  await assert.rejects(
    attributionPatching(attentionOnly, CLEAN, CORRUPTED, metric, { at: 'blocks.*.mlp' }),
    wrong('at'),
  );
});

test('progress counts every run, and an abort takes effect before the next one', async () => {
  const model = build(hl, FORMS.Llama);
  model.forward(CLEAN).dispose();
  const used = hl.info.memory.used;
  const seen = [];
  const options = { at: 'blocks.*.key', drop: true, exact: true };
  const onProgress = (step) => void seen.push(step);
  await attributionPatching(model, CLEAN, CORRUPTED, metric, { ...options, onProgress });
  // The steps are the clean run, a gradient for each block, a run for each key, and a run for each head.
  const total = 1 + 2 + 2 * 5 + 2;
  assert.deepEqual(
    seen,
    Array.from({ length: total }, (_, i) => ({ done: i + 1, total })),
  );
  const controller = new AbortController();
  const { signal } = controller;
  const stop = ({ done }) => done === 4 && controller.abort();
  const stopped = attributionPatching(model, CLEAN, CORRUPTED, metric, { ...options, onProgress: stop, signal });
  await assert.rejects(stopped, { name: 'AbortError' });
  await assert.rejects(attributionPatching(model, CLEAN, CORRUPTED, metric, { signal }), { name: 'AbortError' });
  assert.ok(hl.info.memory.used <= used);
});

test(
  'the gradient of a difference of logits is 1 and −1',
  everywhere((hl) => {
    const model = build(hl, {});
    for (const [ids, index] of [
      [CLEAN, 4 * 7],
      [[CLEAN, CORRUPTED], 4 * 7],
    ]) {
      const result = model.forward(ids);
      const { data, shape } = metric.gradient(result);
      assert.deepEqual(shape, [...result.logits.shape]);
      assert.equal(
        metric(result),
        data.reduce((sum, x, i) => sum + x * result.logits.data[i], 0),
      );
      assert.deepEqual([data[index + 3], data[index + 5]], [1, -1]);
      assert.equal(data.filter((x) => x !== 0).length, 2);
      assert.equal(
        logitDifference(3, 3)
          .gradient(result)
          .data.filter((x) => x !== 0).length,
        0,
      );
      assert.equal(
        logitDifference(3)
          .gradient(result)
          .data.filter((x) => x !== 0).length,
        1,
      );
    }
    model.dispose();
  }),
);

test('a model without logits is refused', async () => {
  const headless = build(hl, { head: 'none' });
  await assert.rejects(attributionPatching(headless, CLEAN, CORRUPTED, metric), {
    code: 'ARGUMENT',
    parameter: 'model',
    message: /no logits/,
  });
});
