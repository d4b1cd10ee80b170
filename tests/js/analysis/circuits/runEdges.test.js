import assert from 'node:assert/strict';
import test from 'node:test';
import { edgeAttribution, edgeGraph, logitDifference, meanContributions, runEdges } from 'headlight-attention/analysis';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { FORMS, SMALL } from '../../../support/forms.js';
import { hl } from '../../../support/headlight.js';

const SEED = 9;
console.log(`seed ${SEED}`);
const CLEAN = [0, 3, 1, 4, 2];
const CORRUPTED = [2, 6, 0, 4, 5];
const metric = logitDifference(3, 5);

/** Builds a model with random parameters, because zeros and ones would hide mistakes. */
function build(form) {
  const model = hl.transformer({ ...SMALL, ...form });
  const random = uniformSource(SEED);
  for (const { data } of Object.values(model.parameters))
    data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
  return model;
}
const filled = (shape, value) => ({ data: new Float32Array(shape[0] * shape[1]).fill(value), shape });
/** Returns the logits of a run, and frees the run. */
function logitsOf(result) {
  const logits = result.logits.copy();
  result.dispose();
  return logits;
}
function close(got, expected, limit = 2e-5) {
  const most = expected.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  got.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= limit * most, `${x}, expected ${expected[i]}`));
}

const ADDS_UP = Object.entries(FORMS).filter(
  ([, { normPlace = 'before', encoder, input, head }]) =>
    !encoder && !input && !head && /before|parallel/.test(normPlace),
);
for (const [name, form] of ADDS_UP) {
  test(`${name}: without cuts the logits are those of the run, with all edges cut those of the other run`, () => {
    const rotary = { ...form.rotary, layers: undefined };
    const model = build({ ...form, layers: 3, window: undefined, scale: undefined, rotary });
    const { shape } = edgeGraph(model).edges;
    const [clean, corrupted] = [CLEAN, CORRUPTED].map((ids) => logitsOf(model.forward(ids)));
    const cut = { run: CORRUPTED };
    const used = hl.info.memory.used;
    assert.deepEqual(logitsOf(runEdges(model, CLEAN, filled(shape, 1), { cut })), clean);
    close(logitsOf(runEdges(model, CLEAN, filled(shape, 0), { cut })), corrupted);
    close(logitsOf(runEdges(model, CLEAN, filled(shape, 0), { cut: { run: CLEAN } })), clean);
    const random = uniformSource(SEED);
    const half = { data: filled(shape, 0).data.map(() => Number(random() < 0.5)), shape };
    close(logitsOf(runEdges(model, CLEAN, half, { cut: { run: CLEAN } })), clean);
    assert.ok(hl.info.memory.used <= used);
    model.dispose();
  });

  test(`${name}: a run with one cut edge has the effect of this edge`, async () => {
    const model = build(form);
    const { exact, sources, targets, corrupted } = await edgeAttribution(model, CLEAN, CORRUPTED, metric, {
      exact: true,
    });
    const most = exact.data.reduce((a, b) => (Number.isNaN(b) ? a : Math.max(a, Math.abs(b))), 0);
    for (let i = 0; i < exact.data.length; i++) {
      if (Number.isNaN(exact.data[i])) continue;
      const active = filled(exact.shape, 1);
      active.data[i] = 0;
      const result = runEdges(model, CORRUPTED, active, { cut: { run: CLEAN } });
      const effect = metric(result) - corrupted;
      result.dispose();
      const edge = JSON.stringify([sources[Math.floor(i / targets.length)], targets[i % targets.length]]);
      assert.ok(Math.abs(effect - exact.data[i]) < 1e-5 * most + 1e-5, `${edge}: ${effect}, expected ${exact.data[i]}`);
    }
    model.dispose();
  });
}

/**
 * Compares a run with few active edges with a run in which the outputs of all other heads and feed-forwards are set to
 * zero by edits.
 */
test('a part whose incoming edges are cut contributes what it computes from the values of cut edges', () => {
  const model = build(FORMS['GPT-2']);
  const { sources, targets, edges } = edgeGraph(model);
  const V = targets.length;
  // Only edges between the embedding, the feed-forward of block 0 and the logits are active.
  const active = filled(edges.shape, 0);
  const at = (kind, layer) => sources.findIndex((node) => node.kind === kind && node.layer === layer);
  const to = (kind, layer) => targets.findIndex((node) => node.kind === kind && node.layer === layer);
  active.data[at('embed') * V + to('mlp', 0)] = 1;
  active.data[at('embed') * V + to('logits', 2)] = 1;
  active.data[at('mlp', 0) * V + to('logits', 2)] = 1;
  const got = logitsOf(runEdges(model, CLEAN, active, { cut: 'zero' }));
  const biases = ['blocks.0.attention.bo', 'blocks.1.attention.bo'].map((name) => model.parameters[name].copy());
  const zero = (name, add) => ({ at: name, set: 'zero', add });
  const edit = [zero('blocks.0.attention', biases[0]), zero('blocks.1.attention', biases[1]), zero('blocks.1.mlp')];
  close(got, logitsOf(model.forward(CLEAN, { edit })));
});

test('cut edges carry zero, or the mean over a corpus', async () => {
  const model = build(FORMS.Llama);
  const { sources, edges } = edgeGraph(model);
  const texts = [CLEAN, [1, 2, 3], [6]];
  const seen = [];
  const onProgress = (step) => void seen.push(step);
  const mean = await meanContributions(model, texts, { onProgress });
  assert.deepEqual(
    seen,
    [1, 2, 3].map((done) => ({ done, total: 3 })),
  );
  assert.deepEqual(mean.sources, sources);
  assert.deepEqual(mean.means.shape, [sources.length, 8]);
  const sum = new Float64Array(8);
  for (const ids of texts) {
    const { captured } = model.forward(ids, { capture: ['embed'] });
    captured.embed.data.forEach((x, i) => void (sum[i % 8] += x));
  }
  close(
    mean.means.data.slice(0, 8),
    sum.map((x) => x / 9),
  );
  // If all edges are cut, the input of the last norm is the sum of the mean contributions.
  const all = sources.map((_, u) => mean.means.data.slice(u * 8, u * 8 + 8));
  const total = all.reduce((a, b) => a.map((x, c) => x + b[c]));
  for (const [cut, set] of [
    [{ mean }, total],
    ['zero', new Float32Array(8)],
  ]) {
    const got = runEdges(model, CLEAN, filled(edges.shape, 0), { cut, capture: ['blocks.1.out'] });
    close(got.captured['blocks.1.out'].data.slice(8, 16), set);
    close(got.logits.copy(), logitsOf(model.forward(CLEAN, { edit: [{ at: 'blocks.1.out', set }] })));
    got.dispose();
  }
});

test('models with 16-bit weights have edges as well', async () => {
  const made = build({ layers: 2, norm: 'rms', positions: 'rotary', bias: false, gated: true, activation: 'silu' });
  const files = await made.saveFolder();
  const { tensors } = readSafetensors(files['model.safetensors']);
  const halves = Object.entries(tensors).map(([name, tensor]) => [name, { ...tensor, dtype: 'BF16' }]);
  files['model.safetensors'] = writeSafetensors(Object.fromEntries(halves));
  const model = await hl.openModel(files, { weights: 'stored' });
  assert.ok(!('blocks.0.attention.wo' in model.parameters));
  const { shape } = edgeGraph(model).edges;
  close(
    logitsOf(runEdges(model, CLEAN, filled(shape, 0), { cut: { run: CORRUPTED } })),
    logitsOf(model.forward(CORRUPTED)),
  );
});

test('invalid arguments are refused, by name', async () => {
  const model = build({});
  const { shape } = edgeGraph(model).edges;
  const all = filled(shape, 1);
  const none = filled(shape, 0);
  const refuses = (call, code, parameter) => assert.throws(call, { code, parameter });
  refuses(() => runEdges(model, CLEAN, filled([2, 3], 1)), 'SHAPE', 'active');
  refuses(() => runEdges(model, [CLEAN, CLEAN], all), 'SHAPE', 'input');
  refuses(() => runEdges(model, CLEAN, none, { cut: 'mean' }), 'ARGUMENT', 'cut');
  refuses(() => runEdges(model, CLEAN, none, { cut: { mean: [1] } }), 'SHAPE', 'cut.mean');
  refuses(() => runEdges(model, CLEAN, none, { cut: { run: [1] } }), 'SHAPE', 'cut.run');
  refuses(() => runEdges(model, CLEAN, none, { cut: null }), 'ARGUMENT', 'cut');
  refuses(() => runEdges(model, CLEAN, none, { at: 1 }), 'ARGUMENT', 'at');
  refuses(() => edgeGraph(build({ normPlace: 'after' })), 'ARGUMENT', 'model');
  await assert.rejects(meanContributions(model, []), { code: 'ARGUMENT', parameter: 'sequences' });
  await assert.rejects(meanContributions(model, [CLEAN, [CLEAN, CLEAN]]), { code: 'SHAPE', parameter: 'sequences[1]' });
  const signal = AbortSignal.abort();
  await assert.rejects(meanContributions(model, [CLEAN], { signal }), { name: 'AbortError' });
  // The model still runs after these errors.
  close(logitsOf(runEdges(model, CLEAN, all)), logitsOf(model.forward(CLEAN)));
});
