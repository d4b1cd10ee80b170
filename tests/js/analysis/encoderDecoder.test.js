// Tests attribution, logit lens, ablation and patching of T5, BART, Marian and Whisper against implementations of the
// architectures in float64. Also tests the angle by which an edit rotates the hidden states of a model without logits.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ablateHeads,
  attribution,
  hiddenAngle,
  knockOut,
  logitDifference,
  logitLens,
  patch,
  probability,
} from 'headlight-attention/analysis';
import { families } from '../../support/families.js';
import { flavours, hl } from '../../support/headlight.js';

const familyOf = (name) => families.find((family) => family.name === name);
const FAMILIES = ['T5, relu and a tied head', 'BART', 'Marian', 'Whisper'].map(familyOf);
const [LAYERS, HEADS] = [2, 4];
const CAPTURE = ['embed', 'blocks.*.heads', 'blocks.*.cross.heads', 'blocks.*.mlp', 'blocks.*.out'];
const near = (actual, expected, what, limit = 1e-5) =>
  assert.ok(
    Math.abs(actual - expected) <= limit * Math.max(1, Math.abs(expected)),
    `${what}: ${actual}, not ${expected}`,
  );

test('the contributions of self-attention, cross-attention and feed-forward parts sum to every logit', async () => {
  for (const { name, files, input, expected } of FAMILIES)
    for (const instance of flavours) {
      const model = await instance.openModel(files);
      const { vocab } = model.options;
      const { captured } = model.forward(input, { capture: CAPTURE });
      const rows = input.ids.shape[1];
      for (const [batch, token] of [
        [0, 0],
        [0, rows - 1],
        [1, rows - 2],
      ])
        for (let label = 0; label < vocab; label += 3) {
          const { embed, heads, cross, mlps, bias, sum } = attribution(model, { captured }, { batch, token, label });
          const parts = [embed, bias, ...heads.data, ...cross.data, ...mlps.data];
          const logit = expected.logits[(batch * rows + token) * vocab + label];
          near(
            parts.reduce((a, x) => a + x, 0),
            logit,
            `${name}, ${batch}, ${token}, ${label}`,
          );
          near(sum, logit, name);
          assert.ok(cross.data.every((x) => x !== 0));
        }
      model.dispose();
    }
});

test('the logit lens of a decoder ends with the logits, and begins before attention to the encoder', async () => {
  for (const { name, files, input, expected } of FAMILIES) {
    const model = await hl.openModel(files);
    const { vocab } = model.options;
    const labels = Array.from({ length: vocab }, (_, i) => i);
    const lensOf = (edit) =>
      logitLens(model, model.forward(input, { capture: ['embed', 'blocks.*.out'], edit }), { batch: 1, labels });
    const [first, middle, last] = lensOf([]).map(({ tokens: [{ labels }] }) => labels);
    const row = expected.logits.slice(-vocab);
    for (const { label, logit } of last) near(logit, row[label], `${name}, ${label}`);
    const changed = lensOf([{ at: 'encoder.final', scale: -1 }]).map(({ tokens: [{ labels }] }) => labels);
    assert.deepEqual(changed[0], first);
    for (const [i, stage] of [middle, last].entries()) assert.notDeepEqual(changed[i + 1], stage, name);
    model.dispose();
  }
});

/** Functions for the three attentions. Each returns the name of the outputs of the heads in a layer. */
const AT = {
  encoder: (layer) => `encoder.blocks.${layer}.heads`,
  decoder: (layer) => `blocks.${layer}.heads`,
  cross: (layer) => `blocks.${layer}.cross.heads`,
};

test('every head of the three attentions is switched off in turn, as in the architecture', async () => {
  for (const { name, files, input, expected, expectedWith } of FAMILIES) {
    const model = await hl.openModel(files);
    const { vocab, headDim } = model.options;
    const label = 5;
    // Reads the probability in the last row of the first sequence.
    const read = (logits) => {
      const row = logits.subarray((input.ids.shape[1] - 1) * vocab, input.ids.shape[1] * vocab);
      const powers = row.map(Math.exp);
      return powers[label] / powers.reduce((a, x) => a + x, 0);
    };
    const steps = [];
    const first = (array) => ({
      data: array.data.slice(0, array.data.length / 2),
      shape: [1, ...array.shape.slice(1)],
    });
    const one = {
      encoder: Object.fromEntries(Object.entries(input.encoder).map(([key, array]) => [key, first(array)])),
      ids: first(input.ids),
    };
    const { value, parts } = await ablateHeads(model, one, probability(label), { onProgress: (s) => steps.push(s) });
    near(value, read(expected.logits), name);
    assert.deepEqual(Object.keys(parts), ['encoder', 'decoder', 'cross']);
    for (const [part, { data, shape }] of Object.entries(parts)) {
      assert.deepEqual(shape, [LAYERS, HEADS]);
      data.forEach((got, i) => {
        const [layer, head] = [Math.floor(i / HEADS), i % HEADS];
        const { logits } = expectedWith((at, x) =>
          at === AT[part](layer) ? x.map((v, c) => (Math.floor(c / headDim) % HEADS === head ? 0 : v)) : x,
        );
        near(got, read(logits), `${name}, ${part} ${layer}.${head}`);
        const step = steps.find((s) => s.part === part && s.layer === layer && s.head === head);
        assert.equal(Math.fround(step.value), got);
      });
    }
    assert.deepEqual([steps.length, steps.at(-1).done, steps.at(-1).total], [24, 24, 24]);
    model.dispose();
  }
});

test('ablateHeads takes parts, means and other edits, and refuses unknown parts', async () => {
  const { files, input } = familyOf('BART');
  const model = await hl.openModel(files);
  const metric = logitDifference(3, 8);
  const run = (edit) => {
    const result = model.forward(input, { edit });
    const value = metric(result);
    result.dispose();
    return value;
  };
  const edit = [{ at: 'blocks.0.heads', head: 1, scale: 2 }];
  const { value, parts } = await ablateHeads(model, input, metric, { parts: ['cross'], set: 'mean', edit });
  assert.equal(value, run(edit));
  assert.deepEqual(Object.keys(parts), ['cross']);
  parts.cross.data.forEach((got, i) => {
    const off = { at: `blocks.${Math.floor(i / HEADS)}.cross.heads`, head: i % HEADS, set: 'mean' };
    assert.equal(got, Math.fround(run([...edit, off])));
  });
  const refused = { code: 'ARGUMENT', parameter: 'parts' };
  for (const given of [[], ['self'], 'cross'])
    await assert.rejects(ablateHeads(model, input, metric, { parts: given }), refused);
  await assert.rejects(ablateHeads(model, input, metric, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  model.dispose();
  const single = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 9, context: 4 });
  assert.deepEqual(Object.keys((await ablateHeads(single, [[1, 2]], metric)).parts), ['decoder']);
  await assert.rejects(ablateHeads(single, [[1, 2]], metric, { parts: ['encoder'] }), refused);
  single.dispose();
});

test('values of an encoder are patched, by head and by token', async () => {
  const { files } = familyOf('Marian');
  const model = await hl.openModel(files);
  const [clean, corrupted] = [9, 4].map((id) => ({ encoder: { ids: [[5, id, 7, 2]] }, ids: [[3, 8, 1]] }));
  const metric = logitDifference(3, 8);
  const at = 'encoder.blocks.*.heads';
  const { values } = await patch(model, clean, corrupted, metric, { at });
  assert.deepEqual(values.shape, [LAYERS, HEADS]);
  const name = 'encoder.blocks.1.heads';
  const set = model.forward(clean, { capture: [name] }).captured[name];
  const expected = metric(model.forward(corrupted, { edit: [{ at: name, head: 2, set }] }));
  assert.equal(values.data[HEADS + 2], Math.fround(expected));
  const { recovered } = await patch(model, clean, corrupted, metric, { at: 'encoder.embed' });
  assert.deepEqual(recovered.shape, [4]);
  near(recovered.data[1], 1, 'the only token that differs');
  model.dispose();
});

test('a query of each attention gives no weight to a key that is knocked out', async () => {
  const { files } = familyOf('BART');
  const model = await hl.openModel(files);
  const input = { encoder: { ids: [[5, 9, 7]] }, ids: [[3, 8, 1, 4, 6]] };
  for (const [part, at, pair, length] of [
    ['encoder', 'encoder.blocks.1.weights', [0, 2], 3],
    ['decoder', 'blocks.1.weights', [4, 2], 5],
    ['cross', 'blocks.1.cross.weights', [4, 2], 3],
  ]) {
    const edit = knockOut([pair], { part, length, layers: 1, heads: 2 });
    const [plain, changed] = [[], edit].map((edit) => model.forward(input, { capture: [at], edit }).captured[at]);
    const [, , T, S] = plain.shape;
    const rowOf = ({ data }) => [...data.slice((2 * T + pair[0]) * S, (2 * T + pair[0] + 1) * S)];
    const [before, after] = [plain, changed].map(rowOf);
    assert.equal(after[pair[1]], 0, part);
    const rest = 1 - before[pair[1]];
    before.forEach((w, s) => void (s !== pair[1] && near(after[s], w / rest, part)));
  }
  assert.throws(() => knockOut([[4, 3]], { part: 'cross', length: 3 }), { code: 'ARGUMENT' });
  assert.throws(() => knockOut([[4, 2]], { part: 'self', length: 3 }), { parameter: 'part' });
  model.dispose();
});

test('the angle of a hidden state is that of float64, also if it is small; a change of its length is none', () => {
  const turned = (angle, length = 1) => [Math.cos(angle) * length, Math.sin(angle) * length, 0];
  const of = (...rows) => ({ data: Float32Array.from(rows.flat()), shape: [1, rows.length, 3] });
  const unchanged = of(turned(0.3), turned(1, 5), [0, 0, 0], turned(2));
  const changed = of(turned(0.3 + 1e-3, 7), turned(1, 9), [0, 0, 1], turned(2 + Math.PI));
  const angles = [0, 1, 2, 3].map((token) => hiddenAngle(unchanged, token)({ hidden: changed }));
  for (const [i, expected] of [(1e-3 * 180) / Math.PI, 0, 90, 180].entries()) near(angles[i], expected, i, 2e-5);
  near(hiddenAngle(unchanged)({ hidden: changed }), angles.reduce((a, x) => a + x) / 4, 'mean');
  assert.equal(hiddenAngle(unchanged, -1)({ hidden: changed }), angles[3]);
  assert.equal(hiddenAngle(unchanged)({ hidden: unchanged }), 0);
  // The metric has a copy of the reference, so a later change of the reference has no effect.
  const metric = hiddenAngle(unchanged, 0);
  unchanged.data.fill(1);
  assert.equal(metric({ hidden: changed }), angles[0]);
});

test('hiddenAngle refuses tokens that do not exist, other shapes, and results without hidden states', () => {
  const reference = { data: new Float32Array(6), shape: [1, 2, 3] };
  for (const token of [2, -3, 0.5]) assert.throws(() => hiddenAngle(reference, token), { parameter: 'token' });
  assert.throws(() => hiddenAngle({ data: new Float32Array(3), shape: [3] }), {
    code: 'SHAPE',
    parameter: 'reference',
  });
  const metric = hiddenAngle(reference);
  assert.throws(() => metric({ hidden: { data: new Float32Array(9), shape: [1, 3, 3] } }), { code: 'SHAPE' });
  assert.throws(() => metric({}), { code: 'ARGUMENT', parameter: 'hidden' });
});

test('every head of a model without logits is switched off, by the angle of its hidden states', async () => {
  for (const name of ['MPNet', 'DINOv2', "T5's encoder alone", 'BERT for the next sentence']) {
    const { files, input } = familyOf(name) ?? families.find((family) => family.name.startsWith(name));
    const model = await hl.openModel(files);
    const { hidden } = model.forward(input);
    const metric = hiddenAngle(hidden);
    const { value, parts } = await ablateHeads(model, input, metric);
    assert.equal(value, 0, name);
    assert.ok(
      parts.decoder.data.every((angle) => angle > 1e-3 && angle < 180),
      `${name}: ${parts.decoder.data}`,
    );
    const changed = model.forward(input, { edit: [{ at: 'blocks.0.heads', head: 1, set: 'zero' }] });
    assert.equal(parts.decoder.data[1], Math.fround(metric(changed)));
    model.dispose();
  }
});
