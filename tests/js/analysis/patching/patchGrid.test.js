// Tests grids of activation patching on a transformer in float64.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logitDifference, patchGrid } from 'headlight-attention/analysis';
import { hl } from '../../../support/headlight.js';
import { plainModel } from '../../../support/plain_model.js';

const CLEAN = [[1, 5, 2, 7]];
const CORRUPTED = [[1, 6, 2, 7]];
const [L, T, H] = [2, 4, 2];
const VALUES = { stream: 'in', heads: 'heads', mlp: 'mlp', head: 'heads' };
const metric = logitDifference(3, 8);
const keyOf = ({ part, layer, place }) => `${part} ${layer} ${place}`;

/** Returns a model that counts its runs. */
function counting(options = {}) {
  const model = plainModel(options);
  const made = [];
  return {
    ...model,
    made,
    forward(...given) {
      const entry = { edit: given[1].edit, freed: 0 };
      made.push(entry);
      return { ...model.forward(...given), dispose: () => entry.freed++ };
    },
  };
}

test('every place has the effect of its clean value, and places with equal values are not run', async () => {
  const model = counting();
  const seen = new Map();
  const onProgress = (step) => seen.set(keyOf(step), step);
  const { clean, corrupted, grids } = await patchGrid(model, CLEAN, CORRUPTED, metric, { onProgress });
  assert.equal(clean, metric(model.forward(CLEAN, {})));
  assert.equal(corrupted, metric(model.forward(CORRUPTED, {})));
  assert.deepEqual(Object.keys(grids), ['stream', 'heads', 'mlp', 'head']);
  const { captured } = model.forward(CLEAN, { capture: ['blocks.*.in', 'blocks.*.heads', 'blocks.*.mlp'] });
  for (const [part, { effects, recovered, same }] of Object.entries(grids)) {
    const count = part === 'head' ? H : T;
    for (const { shape } of [effects, recovered, same]) assert.deepEqual(shape, [L, count]);
    for (let layer = 0; layer < L; layer++)
      for (let place = 0; place < count; place++) {
        const i = layer * count + place;
        const at = `blocks.${layer}.${VALUES[part]}`;
        const edit = [{ at, [part === 'head' ? 'head' : 'token']: place, set: captured[at] }];
        const value = metric(model.forward(CORRUPTED, { edit }));
        const step = seen.get(keyOf({ part, layer, place }));
        assert.equal(effects.data[i], Math.fround(value - corrupted), `${part} ${layer} ${place}`);
        const share = (value - corrupted) / (clean - corrupted);
        assert.equal(recovered.data[i], Math.fround(share));
        // Token 0 precedes the first token that differs. The inputs of the first layer differ only in token 1.
        const isSame = part !== 'head' && (place === 0 || (part === 'stream' && layer === 0 && place !== 1));
        assert.equal(same.data[i], Number(isSame), `${part} ${layer} ${place}`);
        assert.equal(step === undefined, isSame);
        if (!step) continue;
        assert.deepEqual([step.value, step.effect, step.recovered], [value, value - corrupted, share]);
      }
  }
  assert.equal(seen.size, [...seen.values()].at(-1).total);
});

test('inputs of different lengths are aligned: a token without a partner keeps its values', async () => {
  const longer = [[1, 5, 4, 2, 7]];
  const align = [0, 1, 3, 4];
  const model = plainModel({});
  const { clean, corrupted, grids } = await patchGrid(model, longer, CORRUPTED, metric, { align });
  assert.equal(clean, metric(model.forward(longer, {})));
  const { captured } = model.forward(longer, { capture: ['blocks.*.in', 'blocks.*.heads', 'blocks.*.mlp'] });
  for (const [part, { effects, same }] of Object.entries(grids)) {
    const count = part === 'head' ? H : T;
    assert.deepEqual(effects.shape, [L, count]);
    for (let i = 0; i < L * count; i++) {
      const [layer, place] = [Math.floor(i / count), i % count];
      const { data, shape } = captured[`blocks.${layer}.${VALUES[part]}`];
      const D = shape.at(-1);
      const rows = shape.length === 4 ? H : 1;
      const valuesIn = (row) => align.map((s) => [...data.slice((row * 5 + s) * D, (row * 5 + s + 1) * D)]);
      const values = Float64Array.from(Array.from({ length: rows }, (_, row) => valuesIn(row)).flat(2));
      const edit = {
        at: `blocks.${layer}.${VALUES[part]}`,
        [part === 'head' ? 'head' : 'token']: place,
        set: { data: values, shape: shape.length === 4 ? [1, H, T, D] : [1, T, D] },
      };
      const value = same.data[i] ? corrupted : metric(model.forward(CORRUPTED, { edit: [edit] }));
      assert.equal(effects.data[i], Math.fround(value - corrupted), `${part} ${layer} ${place}`);
    }
  }
  const alone = await patchGrid(model, longer, CORRUPTED, metric, { align: [-1, -1, -1, -1] });
  for (const { same } of Object.values(alone.grids)) assert.ok(same.data.every((x) => x === 1));
  for (const wrong of [[0, 1, 2], [0, 1, 2, 5], [0, 1, 2, -2], [0, 1, 2, 0.5], 'no'])
    await assert.rejects(patchGrid(model, longer, CORRUPTED, metric, { align: wrong }), { parameter: 'align' });
});

test('onRuns knows both metrics and the equal places before the first place is measured', async () => {
  const told = [];
  const onRuns = ({ clean, corrupted, grids }) => told.push(clean, corrupted, [...grids.stream.same.data]);
  const onProgress = () => assert.equal(told.length, 3);
  const { clean, corrupted, grids } = await patchGrid(plainModel({}), CLEAN, CORRUPTED, metric, { onRuns, onProgress });
  assert.deepEqual(told, [clean, corrupted, [...grids.stream.same.data]]);
  await assert.rejects(patchGrid(plainModel({}), CLEAN, CORRUPTED, metric, { onRuns: 1 }), { parameter: 'onRuns' });
});

test('the order is stream, heads, feed-forward, single heads, each from the top layer down', async () => {
  const order = [];
  await patchGrid(plainModel({}), CLEAN, CORRUPTED, metric, { onProgress: (step) => void order.push(step) });
  assert.deepEqual(
    order.map(({ done }) => done),
    order.map((_, i) => i + 1),
  );
  const rank = ({ part, layer }) => Object.keys(VALUES).indexOf(part) * L + (L - 1 - layer);
  const ranks = order.map(rank);
  assert.deepEqual(
    ranks,
    [...ranks].sort((a, b) => a - b),
  );
  assert.deepEqual(
    order.slice(0, 4).map(({ layer, place }) => [layer, place]),
    [
      [1, 1],
      [1, 2],
      [1, 3],
      [0, 1],
    ],
  );
});

test('next chooses the place to measure next, and places that are known or do not exist are ignored', async () => {
  const wanted = [
    { part: 'head', layer: 0, place: 1 },
    undefined,
    { part: 'head', layer: 0, place: 1 },
    { part: 'stream', layer: 0, place: 0 },
    { part: 'mlp', layer: 9, place: 0 },
    { part: 'mlp', layer: 0, place: 3 },
  ];
  const order = [];
  const seen = { next: async () => wanted.shift(), onProgress: (step) => void order.push(keyOf(step)) };
  const given = await patchGrid(plainModel({}), CLEAN, CORRUPTED, metric, seen);
  const first = ['head 0 1', 'stream 1 1', 'stream 1 2', 'stream 1 3', 'stream 0 1', 'mlp 0 3', 'heads 1 1'];
  assert.deepEqual(order.slice(0, 7), first);
  assert.equal(new Set(order).size, order.length);
  assert.deepEqual(await patchGrid(plainModel({}), CLEAN, CORRUPTED, metric), given);
});

test('parts can be chosen, and a model without feed-forward layers has no such part', async () => {
  const parts = ['head', 'stream'];
  const { grids } = await patchGrid(plainModel({}), CLEAN, CORRUPTED, metric, { parts });
  assert.deepEqual(Object.keys(grids), ['stream', 'head']);
  const narrow = plainModel({ mlp: 0 });
  const all = await patchGrid(narrow, CLEAN, CORRUPTED, metric);
  assert.deepEqual(Object.keys(all.grids), ['stream', 'heads', 'head']);
  await assert.rejects(patchGrid(narrow, CLEAN, CORRUPTED, metric, { parts: ['mlp'] }), {
    code: 'ARGUMENT',
    parameter: 'parts',
    message: /a list of parts of this model: stream, heads, head/,
  });
});

test('where tokens see later ones, the tokens before the first that differs are run too', async () => {
  const { grids } = await patchGrid(plainModel({ causal: false }), CLEAN, CORRUPTED, metric, { parts: ['heads'] });
  assert.deepEqual([...grids.heads.same.data], new Array(L * T).fill(0));
  // The metric reads the last token, so in the last layer the other tokens have no effect.
  assert.ok(grids.heads.effects.data.subarray(0, T).every((x) => x !== 0));
});

test('equal inputs take two runs', async () => {
  const model = counting();
  const { grids } = await patchGrid(model, CLEAN, CLEAN, metric);
  assert.equal(model.made.length, 2);
  for (const { effects, recovered } of Object.values(grids))
    assert.ok([...effects.data, ...recovered.data].every((x) => x === 0));
});

test('an abort takes effect before the next run, and every result is freed', async () => {
  const model = counting();
  const controller = new AbortController();
  const onProgress = ({ done }) => done === 3 && controller.abort();
  const options = { onProgress, signal: controller.signal };
  await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, metric, options), { name: 'AbortError' });
  assert.equal(model.made.length, 5);
  await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, metric, options), { name: 'AbortError' });
  assert.equal(model.made.length, 5);
  const failing = async () => Promise.reject(new Error('mine'));
  await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, metric, { next: failing }), /mine/);
  await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, metric, { onProgress: failing }), /mine/);
  assert.ok(model.made.every(({ freed }) => freed === 1));
});

test('invalid arguments are refused', async () => {
  const model = plainModel({});
  for (const [name, value] of [
    ['parts', []],
    ['parts', ['query']],
    ['parts', 'stream'],
    ['next', 5],
    ['onProgress', {}],
    ['signal', {}],
    ['at', 'embed'],
  ])
    await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, metric, { [name]: value }), {
      code: 'ARGUMENT',
      parameter: name,
    });
  await assert.rejects(patchGrid(model, CLEAN, CORRUPTED, 5), { code: 'ARGUMENT', parameter: 'metric' });
  await assert.rejects(
    patchGrid(model, CLEAN, CORRUPTED, () => Number.NaN),
    { code: 'ARGUMENT', message: /patchGrid: the value of metric is NaN/ },
  );
  const batch = [...CLEAN, ...CLEAN];
  const shapes = (message) => ({ code: 'SHAPE', parameter: 'corrupted', message });
  await assert.rejects(
    patchGrid(model, CLEAN, [[1, 2]], metric),
    shapes(/has shape \[1,2,6\], expected \[1,4,6\], the shape of blocks.0.in in the clean run/),
  );
  await assert.rejects(patchGrid(model, batch, batch, metric), shapes(/has shape \[2,4,6\], expected one sequence/));
});

test('in a model that Headlight runs, equal tokens have equal bits, and no memory is left behind', async () => {
  const sizes = { layers: 2, dModel: 16, numHeads: 4, vocab: 11, context: 16 };
  for (const options of [{}, { norm: 'rms', positions: 'rotary', kvHeads: 2 }, { normPlace: 'parallel', window: 5 }]) {
    const model = hl.transformer({ ...sizes, ...options });
    const [clean, corrupted] = [5, 6].map((id) => [1, 2, 3, 4, 9, 8, id, 4, 7, 7, 1, 0, 3]);
    model.forward(clean).dispose();
    const before = hl.info.memory.used;
    const { grids, ...ends } = await patchGrid(model, clean, corrupted, metric);
    for (const part of ['stream', 'heads', 'mlp'])
      assert.deepEqual(
        [...grids[part].same.data].map((same, i) => (i % 13 < 6 ? 1 - same : 0)),
        new Array(26).fill(0),
        part,
      );
    assert.equal(grids.heads.same.data[6], 0);
    assert.ok(Math.abs(grids.stream.recovered.data[6] - 1) < 1e-4, `${ends.clean}, ${ends.corrupted}`);
    assert.equal(hl.info.memory.used, before);
    model.dispose();
  }
});
