// Tests changes of an encoder–decoder and of models without a prediction in the worker. The answers must equal the
// results of the module for the same edits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'headlight-attention';
import { ablateHeads, attribution, hiddenAngle, logitLens, probability } from 'headlight-attention/analysis';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { actingThrough, allParts } from '../../../../web/features/flow/contributions.ts';
import { families } from '../../../support/families.js';
import { createWorker } from '../../../support/pageWorker.js';

const hl = await load();
const family = (name) => families.find((one) => one.name === name).files;
const near = (got, expected, what, limit = 1e-6) =>
  assert.ok(Math.abs(got - expected) <= limit * Math.max(1, Math.abs(expected)), `${what}: ${got}, not ${expected}`);
const NAMES = ['T5, relu and a tied head', 'BART', 'Marian'];
const TEXT = { text: '3 4 5 6', second: '7 8' };
const AT = { encoder: 'encoder.blocks.1.', decoder: 'blocks.1.', cross: 'blocks.1.cross.' };
const PLACE = { encoder: 'e1.2', decoder: '1.2', cross: 'c1.2' };

/** Opens a model in the worker and in the module. Also returns the input that the page uses. */
async function openBoth(name, files = family(name)) {
  const worker = createWorker(hl);
  await worker.open(Object.entries(files).map(([path, bytes]) => ({ path, file: new File([bytes], path) })));
  const model = await hl.openModel(files);
  const start = model.config.decoder_start_token_id ?? model.config.pad_token_id ?? 0;
  const input = { encoder: { ids: [[3, 4, 5, 6]] }, ids: [[start, 7, 8]] };
  return { worker, model, input };
}

for (const name of NAMES)
  test(`${name}: a change of a head of each attention changes the guess as in the module`, async () => {
    const { worker, model, input } = await openBoth(name);
    const chances = (edit, label, given = input) => {
      const result = model.forward(given, { edit });
      const value = probability(label)(result);
      result.dispose();
      return value;
    };
    const [{ top: plain }] = (await worker.show(TEXT)).run;
    for (const { id, now } of plain) near(now, chances([], id), 'unchanged');
    for (const part of ['encoder', 'decoder', 'cross']) {
      const view = { ...TEXT, part, layer: 1, head: 2 };
      const off = { at: `${AT[part]}heads`, head: 2, set: 'zero' };
      for (const [change, edits] of [
        [{ scale: { [PLACE[part]]: 0 } }, [off]],
        [{ temperature: { [PLACE[part]]: 3 } }, [{ at: `${AT[part]}scores`, head: 2, temperature: 3 }]],
        [
          { painted: { [PLACE[part]]: '2.0-1' } },
          [{ at: `${AT[part]}scores`, head: 2, token: 2, mask: [[0, 0, 1, 1]] }],
        ],
      ]) {
        if (part === 'decoder' && change.painted) edits[0].mask = [[0, 0, 1]];
        const { run, comparison } = await worker.show({ ...view, ...change });
        for (const { id, now } of run[0].top) near(now, chances(edits, id), `${part} ${JSON.stringify(change)}`);
        assert.notDeepEqual(
          run[0].top.map(({ now }) => now),
          plain.map(({ now }) => now),
        );
        run[0].top.forEach(({ id }, i) => near(comparison[0].top[i], chances([], id), 'before'));
      }
      // While the pointer is over the switch, the worker computes the prediction without the head.
      const { run, comparison } = await worker.show(view);
      assert.equal(comparison[0].kind, 'without');
      run[0].top.forEach(({ id }, i) => near(comparison[0].top[i], chances([off], id), 'without'));
      // The output of the head is replaced by that of a run with other texts.
      const other = { ...TEXT, text: '9 4 5 6', second: '7 2' };
      const pinned = { ...other, temperature: {}, mask: {}, painted: {}, scale: {}, patch: {} };
      const patched = (await worker.show({ ...view, pinned, patch: { [PLACE[part]]: 1 } })).run[0];
      const otherInput = { encoder: { ids: [[9, 4, 5, 6]] }, ids: [[input.ids[0][0], 7, 2]] };
      const { data, shape } = model.forward(otherInput, { capture: [off.at] }).captured[off.at];
      const size = shape[2] * shape[3];
      const set = { data: data.slice(2 * size, 3 * size), shape: shape.slice(2) };
      for (const { id, now } of patched.top)
        near(now, chances([{ at: off.at, head: 2, set }], id), `${part} from the pinned run`);
    }
    model.dispose();
  });

test('an encoder with more layers than the decoder is changed, patched and ablated in every layer', async () => {
  const all = family(NAMES[0]);
  const config = JSON.parse(new TextDecoder().decode(all['config.json']));
  const { tensors } = readSafetensors(all['model.safetensors']);
  const kept = Object.entries(tensors).filter(([name]) => !name.startsWith('decoder.block.1.'));
  const { worker, model, input } = await openBoth('T5 with a short decoder', {
    'config.json': new TextEncoder().encode(JSON.stringify({ ...config, num_decoder_layers: 1 })),
    'model.safetensors': writeSafetensors(Object.fromEntries(kept)),
  });
  const pinned = { ...TEXT, text: '9 4 5 6', temperature: {}, mask: {}, painted: {}, scale: {}, patch: {} };
  const state = { ...TEXT, part: 'encoder', layer: 1, head: 2 };
  const at = 'encoder.blocks.1.heads';
  const other = { encoder: { ids: [[9, 4, 5, 6]] }, ids: input.ids };
  const { data, shape } = model.forward(other, { capture: [at] }).captured[at];
  const size = shape[2] * shape[3];
  const set = { data: data.slice(2 * size, 3 * size), shape: shape.slice(2) };
  const { run } = await worker.show({ ...state, pinned, patch: { 'e1.2': 1 } });
  for (const { id, now } of run[0].top)
    near(now, probability(id)(model.forward(input, { edit: [{ at, head: 2, set }] })), 'patched');
  const { ablation } = await worker.askOf('ablate', state);
  assert.deepEqual([ablation.at(-1).total, ablation.at(-1).switchedOff.length], [16, 16]);
  model.dispose();
});

test('every head of the three attentions is ablated, the shown attention first', async () => {
  for (const name of NAMES) {
    const { worker, model, input } = await openBoth(name);
    const state = { ...TEXT, part: 'cross', layer: 1, head: 2 };
    const [{ chosen }] = (await worker.show(state)).run;
    const parts = await worker.askOf('ablate', state);
    const { measure, before, total, switchedOff } = parts.ablation.at(-1);
    const expected = await ablateHeads(model, input, probability(chosen.id));
    assert.deepEqual([measure, total, switchedOff.length], ['probability', 24, 24]);
    assert.deepEqual(switchedOff[0].part, 'cross');
    near(before, expected.value, name);
    for (const { part, layer, head, value } of switchedOff)
      near(value, expected.parts[part].data[layer * 4 + head], `${name}, ${part} ${layer}.${head}`);
    model.dispose();
  }
});

const CAPTURE = ['embed', 'blocks.*.heads', 'blocks.*.cross.heads', 'blocks.*.mlp', 'blocks.*.out'];

test('flow: the contributions of both attentions of a decoder add up to the logit; an encoder has none', async () => {
  for (const name of NAMES) {
    const { worker, model, input } = await openBoth(name);
    const { logits, captured } = model.forward(input, { capture: CAPTURE });
    const row = logits.copy().slice(-model.options.vocab);
    for (const part of ['decoder', 'cross']) {
      const { run, source } = await worker.show({ ...TEXT, part, layer: 1, head: 2 });
      assert.equal(source[0].about.sums, true);
      const [{ added, chosen, lens, top, values, weights }] = run;
      const { heads, cross, mlps } = attribution(model, { captured }, { label: chosen.id });
      const [own, others] = part === 'cross' ? [cross, heads] : [heads, cross];
      for (const [got, { data }] of [
        [added.heads, own],
        [added.others, others],
        [added.mlps, mlps],
      ])
        data.forEach((x, i) => near(got[i], x, `${name} ${part} ${i}`, 1e-5));
      const parts = allParts(added, { layers: 2, heads: 4, mlps: true });
      assert.equal(parts.length, 1 + 16 + 2 + 1);
      near(
        parts.reduce((sum, { value }) => sum + value, 0),
        row[chosen.id],
        name,
        1e-4,
      );
      const stages = logitLens(model, { captured }, { labels: [chosen.id] });
      lens.forEach((p, i) => near(p, stages[i].tokens[0].labels[0].probability, 'lens', 1e-5));
      near(lens.at(-1), top[0].now, name, 1e-5);
      // The answer has no directions for the values of a model without a single final norm, such as BART.
      if (!values.directions) continue;
      const [T, S] = [3, part === 'cross' ? 4 : 3];
      let sum = 0;
      for (let s = 0; s < S; s++)
        for (let d = 0; d < values.width; d++)
          sum +=
            weights[(6 * T + T - 1) * S + s] *
            values.value[s * values.width + d] *
            values.directions[(T - 1) * values.width + d];
      near(sum, added.heads[6], `${name}, ${part}: the shares of the tokens`, 1e-4);
    }
    const { run, source } = await worker.show({ ...TEXT, part: 'encoder' });
    assert.deepEqual([source[0].about.sums, run[0].added, run[0].lens], [false, null, null]);
    model.dispose();
  }
});

test('a head of an encoder acts through the decoder, if the guess needs it', () => {
  const added = { embed: 0, heads: [0.1, 5], others: [4, 0.2], mlps: [], bias: 0, sum: 10 };
  const off = (part, head, value) => ({ part, layer: 0, head, value });
  const switchedOff = [off('cross', 0, 0.1), off('cross', 1, 0.3), off('encoder', 0, 0.2), off('decoder', 1, 0.9)];
  const found = (shown) =>
    actingThrough({ before: 0.9, switchedOff }, added, { heads: 2 }, shown).map(({ part, head }) => `${part} ${head}`);
  assert.deepEqual(found('decoder'), ['encoder 0', 'cross 1']);
  assert.deepEqual(found('cross'), ['cross 0', 'encoder 0']);
});

test('without a prediction, a change is the angle by which the hidden states turn', async () => {
  for (const name of ["T5's encoder alone", 'MPNet for sentences', 'BERT for the next sentence']) {
    const files = family(name);
    const worker = createWorker(hl);
    await worker.open(Object.entries(files).map(([path, bytes]) => ({ path, file: new File([bytes], path) })));
    const model = await hl.openModel(files);
    const ids = [[3, 4, 5, 6]];
    const hidden = model.forward(ids).hidden;
    const state = { text: '3 4 5 6', layer: 1, head: 2 };
    const edit = [{ at: 'blocks.1.heads', head: 2, set: 'zero' }];
    const changed = model.forward(ids, { edit });
    const { turned, comparison } = await worker.show({ ...state, scale: { 1.2: 0 } });
    assert.equal(comparison, undefined);
    assert.equal(turned[0].kind, 'with');
    near(turned[0].mean, hiddenAngle(hidden)(changed), name);
    const each = [0, 1, 2, 3].map((t) => hiddenAngle(hidden, t)(changed));
    assert.equal(turned[0].most.length, 4);
    near(turned[0].most[0].angle, Math.max(...each), name);
    // While the pointer is over the switch, the worker computes the angle without the head.
    const [without] = (await worker.show(state)).turned;
    assert.equal(without.kind, 'without');
    near(without.mean, turned[0].mean, name);
    const { ablation } = await worker.askOf('ablate', state);
    const { measure, before, switchedOff } = ablation.at(-1);
    assert.deepEqual([measure, before, switchedOff.length], ['angle', 0, 8]);
    const expected = await ablateHeads(model, ids, hiddenAngle(hidden));
    for (const { layer, head, value } of switchedOff) near(value, expected.parts.decoder.data[layer * 4 + head], name);
    model.dispose();
  }
});
