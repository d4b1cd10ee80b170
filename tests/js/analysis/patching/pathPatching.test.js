// Tests path patching against its definition and against golden vectors.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { logitDifference, patch, pathPatch } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import { build, hl } from '../../../support/headlight.js';
import { plainModel } from '../../../support/plain_model.js';
import { plainPath } from '../../../support/plain_paths.js';
import { inTier } from '../../../support/tier.js';

const CLEAN = [[1, 5, 2, 7]];
const CORRUPTED = [[1, 6, 2, 3]];
const metric = logitDifference(3, 8);
const close = (actual, expected, most = 1e-4) => {
  const off = difference([...actual], [...expected]);
  assert.ok(off <= most, `off by ${off}: ${[...actual]}, expected ${[...expected]}`);
};
/**
 * Compares effects. Below 0.1 the tolerance is absolute, because a small difference of logits has the float32 error of
 * the logits.
 */
const closeDifference = (got, expected) => {
  const off = Math.abs(got - expected) / Math.max(Math.abs(expected), 0.1);
  assert.ok(off <= 1e-5, `off by ${off}: ${got}, expected ${expected}`);
};
const effectsOf = ({ values, corrupted }) => Array.from(values.data, (x) => x - corrupted);

/**
 * Computes path patching by the definition: the metric of the corrupted run in which the receivers read the outputs of
 * some heads from the clean run.
 */
function plainPatch(model, senders, receivers, through) {
  const { layers, headDim } = model.options;
  const names = ['in', 'heads', 'mlp', 'query', 'key', 'value', 'norm2'].map((name) => `blocks.*.${name}`);
  const [clean, corrupted] = [CLEAN, CORRUPTED].map((input) => model.forward(input, { capture: names }).captured);
  const sent = Array.from({ length: layers }, (_, l) => {
    const name = `blocks.${l}.heads`;
    const width = clean[name].shape[2] * headDim;
    return corrupted[name].data.map((x, i) => {
      const isSent = senders.some(({ layer, head }) => layer === l && head === Math.floor(i / width));
      return isSent ? clean[name].data[i] : x;
    });
  });
  const path = plainPath(model, corrupted, sent, through);
  if (receivers.length === 0)
    return metric({ logits: { data: path.logits, shape: [1, CLEAN[0].length, model.options.vocab] } });
  const edit = receivers.map(({ layer, head, input }) => {
    const at = `blocks.${layer}.${input === 'mlp' ? 'norm2' : input}`;
    return { at, head, set: { data: path.of(layer, input), shape: corrupted[at].shape } };
  });
  return metric(model.forward(CORRUPTED, { edit }));
}

const FORMS = [
  {},
  { norm: 'rms', bias: false, kvHeads: 1 },
  { mlp: 0 },
  { normPlace: 'parallel', tied: true },
  { normPlace: 'both', norm: 'rms', layers: 3 },
  { normPlace: 'outputs', norm: 'rms' },
  { normPlace: 'after', causal: false },
  { normPlace: 'stream' },
];
for (const form of FORMS)
  test(`paths through residuals and feed-forwards equal their definition: ${JSON.stringify(form)}`, async (t) => {
    for (let seed = 1; seed <= inTier(6, 2); seed++) {
      t.diagnostic(`seed ${seed}`);
      const model = plainModel(form, seed);
      const { layers, numHeads, kvHeads, mlp, normPlace } = model.options;
      const random = uniformSource(seed);
      const below = (count) => Math.floor(random() * count);
      const last = layers - 1;
      const query = { layer: last, head: below(numHeads), input: 'query' };
      const key = { layer: last, head: below(kvHeads), input: 'key' };
      const value = { layer: last, head: below(kvHeads), input: 'value' };
      const targets = ['logits', query, key, value, [query, key, { ...value, layer: 1 }]];
      const hasReceiver = mlp > 0 && normPlace !== 'after' && normPlace !== 'stream';
      if (hasReceiver) targets.push({ layer: last, input: 'mlp' }, { layer: 0, input: 'mlp' });
      for (const through of ['residual', 'mlps'])
        for (const to of targets) {
          const list = to === 'logits' ? [] : [to].flat();
          const result = await pathPatch(model, CLEAN, CORRUPTED, metric, { to, through });
          assert.deepEqual(result.values.shape, [layers, numHeads]);
          result.values.data.forEach((got, i) => {
            const sender = { layer: Math.floor(i / numHeads), head: i % numHeads };
            const reaches = list.every(
              ({ layer, input }) =>
                layer > sender.layer || (input === 'mlp' && layer === sender.layer && normPlace !== 'parallel'),
            );
            assert.equal(Number.isNaN(got), !reaches);
            if (reaches) closeDifference(got, plainPatch(model, [sender], list, through));
            const share = (got - result.corrupted) / (result.clean - result.corrupted);
            assert.ok(!reaches || Math.abs(result.recovered.data[i] - share) < 1e-5 * Math.max(1, Math.abs(share)));
          });
        }
      const from = [
        { layer: 0, head: 1 },
        { layer: 0, head: 0 },
      ];
      const one = await pathPatch(model, CLEAN, CORRUPTED, metric, { from, to: [query, value] });
      assert.deepEqual([one.values.shape, one.recovered.shape, one.values.data.length], [[], [], 1]);
      close(one.values.data, [plainPatch(model, from, [query, value], 'mlps')], 1e-5);
    }
  });

for (const name of ['gpt2-a', 'llama-a'])
  test(`${name}: the effects along all paths equal golden vectors`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', name));
    model.forward([1]).dispose();
    const before = hl.info.memory.used;
    const { inputs, outputs, options } = readPack(name, join(GOLDEN, 'heads')).find(({ kind }) => kind === 'paths');
    const { layers: L, numHeads: H, kvHeads: G } = model.options;
    const m = logitDifference(options.label, options.against, options.token);
    const run = (more) => pathPatch(model, inputs.clean.data, inputs.corrupted.data, m, more);
    for (const through of ['residual', 'mlps', 'all']) {
      const logits = await run({ to: 'logits', through });
      close([logits.clean, logits.corrupted], [outputs.clean.data[0], outputs.corrupted.data[0]]);
      close(effectsOf(logits), outputs[`${through}.logits`].data);
      for (const [input, heads] of [
        ['query', H],
        ['key', G],
        ['value', G],
      ]) {
        const got = new Float32Array(L * H * L * heads);
        for (let layer = 0; layer < L; layer++)
          for (let head = 0; head < heads; head++)
            effectsOf(await run({ to: { layer, head, input }, through })).forEach((effect, i) => {
              got[(i * L + layer) * heads + head] = Number.isNaN(effect) ? 0 : effect;
            });
        close(got, outputs[`${through}.${input}`].data);
      }
      const mlp = effectsOf(await run({ to: { layer: L - 1, input: 'mlp' }, through }));
      close(mlp.slice(0, H), outputs[`${through}.mlp`].data);
      close(mlp.slice(-H), outputs[`${through}.mlpOwn`].data);
      const to = [
        { layer: L - 1, head: 0, input: 'query' },
        { layer: L - 1, head: 1, input: 'query' },
        { layer: L - 1, head: 0, input: 'key' },
      ];
      const from = [
        { layer: 0, head: 0 },
        { layer: 0, head: H - 1 },
      ];
      close(effectsOf(await run({ from, to, through })), outputs[`${through}.list`].data);
    }
    assert.equal(hl.info.memory.used, before);
    model.dispose();
  });

test('through everything to the logits, a path is a patched head', async () => {
  const model = build(hl, { layers: 3, dModel: 12, numHeads: 3, vocab: 9, context: 8, mlp: 8 });
  const paths = await pathPatch(model, CLEAN, CORRUPTED, metric, { to: 'logits', through: 'all' });
  const patched = await patch(model, CLEAN, CORRUPTED, metric, { at: 'blocks.*.heads' });
  assert.deepEqual(paths, patched);
  model.dispose();
});

test('without feed-forwards, paths through residual connections and through feed-forwards are the same', async () => {
  const model = build(hl, { layers: 3, dModel: 12, numHeads: 3, vocab: 9, context: 8, mlp: 0 });
  const to = { layer: 2, head: 1, input: 'value' };
  const of = async (through) => effectsOf(await pathPatch(model, CLEAN, CORRUPTED, metric, { to, through }));
  const [residual, mlps, all] = [await of('residual'), await of('mlps'), await of('all')];
  assert.deepEqual(residual, mlps);
  // Only paths from block 0 can pass through the heads of block 1, so only their effects differ.
  assert.notDeepEqual(all.slice(0, 3), residual.slice(0, 3));
  close(all.slice(3, 6), residual.slice(3, 6), 1e-5);
  model.dispose();
});

test('with attention to an encoder, its heads are not on the path', async () => {
  const model = plainModel({ cross: true });
  const to = { layer: 1, head: 0, input: 'query' };
  const seen = [];
  const forward = (input, options) => {
    seen.push(options.edit?.map(({ at }) => at) ?? []);
    return model.forward(input, options);
  };
  await pathPatch({ ...model, forward }, CLEAN, CORRUPTED, metric, { from: { layer: 0, head: 1 }, to });
  const fixed = ['blocks.0.heads', 'blocks.0.cross.heads', 'blocks.1.heads', 'blocks.1.cross.heads'];
  assert.deepEqual(seen, [[], [], [...fixed, 'blocks.0.heads'], ['blocks.1.query']]);
});

test('an abort takes effect before the next sender, and every result is freed', async () => {
  const model = plainModel({});
  let [made, freed] = [0, 0];
  const forward = (...given) => {
    made++;
    return { ...model.forward(...given), dispose: () => freed++ };
  };
  const controller = new AbortController();
  const seen = [];
  const options = {
    to: { layer: 1, head: 0, input: 'key' },
    signal: controller.signal,
    async onProgress(progress) {
      await new Promise((resolve) => setTimeout(resolve));
      seen.push(progress);
      if (progress.done === 1) controller.abort(new Error('enough'));
    },
  };
  await assert.rejects(pathPatch({ ...model, forward }, CLEAN, CORRUPTED, metric, options), /enough/);
  assert.deepEqual([made, freed], [4, 4]);
  assert.equal(seen.length, 1);
  assert.deepEqual([seen[0].done, seen[0].total, seen[0].from], [1, 2, [{ layer: 0, head: 0 }]]);
  await assert.rejects(pathPatch({ ...model, forward }, CLEAN, CORRUPTED, metric, options), /enough/);
  assert.equal(made, 4);
  const fails = () => {
    throw new Error('no metric');
  };
  await assert.rejects(pathPatch({ ...model, forward }, CLEAN, CORRUPTED, fails, { to: 'logits' }), /no metric/);
  assert.equal(made, freed);
});

test('invalid arguments are refused before the first run, and the error names them', async () => {
  const model = { ...plainModel({ kvHeads: 1 }), forward: () => assert.fail('forward was called') };
  const query = { layer: 1, head: 0, input: 'query' };
  const refuses = (options, parameter, form = {}, message = /^pathPatch: /) =>
    assert.rejects(
      pathPatch({ ...model, options: { ...model.options, ...form } }, CLEAN, CORRUPTED, metric, options),
      (error) => {
        assert.deepEqual([error.name, error.code, error.parameter], ['HeadlightError', 'ARGUMENT', parameter]);
        assert.match(error.message, message);
        return true;
      },
    );
  for (const to of [undefined, null, 'loss', [], 3, [null]]) await refuses({ to }, 'to');
  await refuses({ to: { ...query, input: 'output' } }, 'to.input');
  await refuses({ to: [query, { ...query, input: undefined }] }, 'to[1].input');
  await refuses({ to: { ...query, layer: 2 } }, 'to.layer');
  await refuses({ to: { ...query, layer: -1 } }, 'to.layer');
  await refuses({ to: { ...query, head: 2 } }, 'to.head');
  await refuses({ to: { ...query, input: 'key', head: 1 } }, 'to.head');
  await refuses({ to: { layer: 1, input: 'value' } }, 'to.head');
  await refuses({ to: { layer: 1, head: 0, input: 'mlp' } }, 'to.head');
  await refuses({ to: { ...query, token: 1 } }, 'token');
  await refuses({ to: query, from: [] }, 'from');
  await refuses({ to: query, from: 3 }, 'from');
  await refuses({ to: query, from: { layer: 0, head: 2 } }, 'from.head');
  await refuses({ to: query, from: [{ layer: 0, head: 0 }, { layer: 5 }] }, 'from[1].layer');
  await refuses({ to: query, from: { layer: 1, head: 1 } }, 'to');
  await refuses({ to: [query, { ...query, layer: 0 }], from: { layer: 0, head: 0 } }, 'to');
  await refuses({ to: { layer: 1, input: 'mlp' }, from: { layer: 1, head: 0 } }, 'to', { normPlace: 'parallel' });
  await refuses({ to: query, through: 'none' }, 'through');
  await refuses({ to: query, through: 'toString' }, 'through');
  await refuses({ to: query, onProgress: 3 }, 'onProgress');
  await refuses({ to: query, signal: {} }, 'signal');
  await refuses({ to: query, at: 'x' }, 'at');
  const mlp = { layer: 1, input: 'mlp' };
  await refuses({ to: mlp }, 'to', { normPlace: 'after' }, /normPlace is 'after'/);
  await refuses({ to: mlp }, 'to', { normPlace: 'stream' }, /normPlace is 'stream'/);
  await refuses({ to: mlp }, 'to', { mlp: 0 }, /none/);
  const call = (...given) => pathPatch(model, ...given);
  await assert.rejects(call(CLEAN, CORRUPTED, 3, { to: query }), { code: 'ARGUMENT', parameter: 'metric' });
  await assert.rejects(call(CLEAN, CORRUPTED, metric), { code: 'ARGUMENT', parameter: 'options' });
});

test('runs of different lengths or batches are refused, with both shapes', async () => {
  const model = plainModel({});
  const options = { to: 'logits' };
  for (const [clean, corrupted, parameter] of [
    [CLEAN, [[1, 6, 2]], 'corrupted'],
    [[[1, 2, 3, 4, 5]], CORRUPTED, 'corrupted'],
    [[CLEAN[0], CLEAN[0]], [CORRUPTED[0], CORRUPTED[0]], 'clean'],
    [CLEAN, [CORRUPTED[0], CORRUPTED[0]], 'corrupted'],
  ])
    await assert.rejects(pathPatch(model, clean, corrupted, metric, options), (error) => {
      assert.deepEqual([error.code, error.parameter], ['SHAPE', parameter]);
      for (const input of [clean, corrupted]) assert.ok(error.message.includes(`[${input.length},${input[0].length}]`));
      return true;
    });
  for (const value of ['a', Number.NaN, undefined])
    await assert.rejects(
      pathPatch(model, CLEAN, CORRUPTED, () => value, options),
      { code: 'ARGUMENT' },
    );
});
