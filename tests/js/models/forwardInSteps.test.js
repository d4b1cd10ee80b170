// Checks that a run block by block has the same bits as forward, and that it can be stopped.

import assert from 'node:assert/strict';
import test from 'node:test';
import { build, hl } from '../../support/headlight.js';

const IDS = { data: Int32Array.from([1, 4, 2, 4, 0]), shape: [1, 5] };
const small = { layers: 3, dModel: 8, numHeads: 4, vocab: 6, context: 8 };
/** One model for each kind of value that a step must keep for the next block. */
const MODELS = {
  'learned positions': { ...small, causal: true },
  'rotary positions and shared keys': { ...small, causal: true, kvHeads: 2, positions: 'rotary', window: [2, null, 3] },
  'slopes of ALiBi': { ...small, causal: true, positions: 'alibi' },
  'relative positions': { ...small, positions: 'none', buckets: { count: 4, distance: 8 } },
  'no causal mask': small,
};
const CAPTURE = ['embed', 'blocks.*.out', 'blocks.*.heads', 'blocks.*.weights', 'blocks.1.scores'];
const edits = {
  none: [],
  some: [
    { at: 'blocks.1.scores', head: 2, temperature: 2 },
    { at: 'blocks.0.heads', head: 1, scale: 0 },
  ],
};

const near = (found, expected) => {
  assert.equal(found.length, expected.length);
  found.forEach((x, i) => assert.ok(x === expected[i] || Math.abs(x - expected[i]) < 1e-5, `${x}, ${expected[i]}`));
};

/** Runs a model in steps and returns copies of everything, with heads joined to layers. */
async function inSteps(model, input, { edit = [], byHead = false, row, pause = () => {} } = {}) {
  const { numHeads } = model.options;
  const captured = {};
  const onHead = (kind, layer, head, view) => {
    const all = (captured[`blocks.${layer}.${kind}`] ??= new Float32Array(numHeads * view.length));
    all.set(view, head * view.length);
  };
  const { hidden, logits } = await model.forwardInSteps(input, {
    capture: CAPTURE,
    edit,
    row,
    ...(byHead && { onHead }),
    onValue: (name, value) => void (captured[name] = value.copy()),
    pause,
  });
  const found = { hidden: hidden.copy(), logits: logits.copy(), captured };
  hidden.dispose();
  logits.dispose();
  return found;
}

for (const [name, options] of Object.entries(MODELS))
  for (const [kind, edit] of Object.entries(edits))
    test(`a run block by block has the bits of forward: ${name}, edits: ${kind}`, async () => {
      const model = build(hl, options);
      const whole = hl.scope(() => {
        const { hidden, logits, captured } = model.forward({ ids: IDS }, { capture: CAPTURE, edit });
        const copies = Object.entries(captured).map(([at, value]) => [at, value.copy()]);
        return { hidden: hidden.copy(), logits: logits.copy(), captured: Object.fromEntries(copies) };
      });
      assert.deepEqual(await inSteps(model, { ids: IDS }, { edit }), whole);
      // The core computes the output in another order if it does not return the weights, so the last bits differ.
      const byHead = await inSteps(model, { ids: IDS }, { edit, byHead: true });
      for (const at of ['hidden', 'logits']) near(byHead[at], whole[at]);
      for (const at of Object.keys(whole.captured)) near(byHead.captured[at], whole.captured[at]);
      model.dispose();
    });

test('a run can continue from the output of any block', async () => {
  const model = build(hl, MODELS['rotary positions and shared keys']);
  const { captured } = await inSteps(model, { ids: IDS });
  const again = {};
  const { hidden } = await model.forwardInSteps(
    { ids: IDS },
    {
      capture: CAPTURE,
      blocks: { from: 1, to: 2, data: captured['blocks.0.out'], shape: [1, 5, 8] },
      onValue: (name, value) => void (again[name] = value.copy()),
      pause() {},
    },
  );
  assert.deepEqual(hidden.copy(), captured['blocks.1.out']);
  assert.deepEqual(again['blocks.1.weights'], captured['blocks.1.weights']);
  assert.deepEqual(
    Object.keys(again).filter((name) => !name.startsWith('blocks.1.')),
    [],
  );
  hidden.dispose();
  model.dispose();
});

test('the logits of one token are those of the whole run', async () => {
  const model = build(hl, MODELS['no causal mask']);
  const { logits } = await inSteps(model, { ids: IDS });
  const one = await inSteps(model, { ids: IDS }, { row: 2 });
  assert.deepEqual(
    [...one.logits].map((x) => x.toFixed(4)),
    [...logits.slice(12, 18)].map((x) => x.toFixed(4)),
  );
  model.dispose();
});

test('a run that is stopped between two blocks leaves no memory allocated', async () => {
  const model = build(hl, MODELS['relative positions']);
  const { used } = hl.info.memory;
  const reached = [];
  const pause = async (done, total) => {
    reached.push([done, total]);
    if (done === 2) throw new Error('stopped');
  };
  await assert.rejects(inSteps(model, { ids: IDS }, { pause }), /stopped/);
  assert.deepEqual(reached, [
    [1, 3],
    [2, 3],
  ]);
  assert.equal(hl.info.memory.used, used);
  await inSteps(model, { ids: IDS });
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});
