import assert from 'node:assert/strict';
import test from 'node:test';
import { edgeAttribution, logitDifference } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { casesOf, off } from '../../../support/attributionCases.js';
import { FORMS, SMALL } from '../../../support/forms.js';
import { hl } from '../../../support/headlight.js';
import { inTier } from '../../../support/tier.js';

const SEED = 5;
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
/** Replaces NaN, the score of a pair without an edge, by 0. */
const filled = ({ data, shape }) => ({ data: data.map((x) => (Number.isNaN(x) ? 0 : x)), shape });

for (const { model: name, name: title, checkpoint, clean, corrupted, options, outputs, ...golden } of casesOf('edges'))
  test(`${name}, ${title}: scores and effects of edges equal those computed in float64`, async () => {
    const model = await hl.openModel(checkpoint);
    const judged = logitDifference(options.label, options.against, options.token);
    model.forward(clean).dispose();
    const used = hl.info.memory.used;
    const run = (more) => edgeAttribution(model, clean, corrupted, judged, more);
    const plain = await run({ exact: true, byToken: true });
    const named = (nodes) => nodes.map(({ kind, layer = -1, head = -1 }) => [kind, layer, head]);
    assert.deepEqual(named(plain.sources), golden.sources);
    assert.deepEqual(named(plain.targets), golden.targets);
    plain.scores.data.forEach((x, i) => assert.equal(Number.isNaN(x), outputs.mask.data[i] === 0));
    const { steps } = options;
    for (const [got, expected] of [
      [plain.scores, outputs.eap],
      [plain.exact, outputs.exact],
      [(await run({ steps })).scores, outputs.eapig],
      [(await run({ steps, rule: 'left' })).scores, outputs.eapigLeft],
    ]) {
      assert.deepEqual(got.shape, expected.shape);
      assert.ok(off(filled(got), expected) < 2e-5, `${off(filled(got), expected)}`);
    }
    const tokens = clean.length;
    assert.deepEqual(plain.terms.shape, [...plain.scores.shape, tokens]);
    const sums = plain.scores.data.map((_, i) =>
      plain.terms.data.slice(i * tokens, (i + 1) * tokens).reduce((a, b) => a + b),
    );
    assert.ok(off(filled({ data: sums }), filled(plain.scores)) < 1e-6);
    assert.ok(hl.info.memory.used <= used);
    model.dispose();
  });

/** Computes what a source (a head, a feed-forward or the embedding) adds to the residual stream, (T,C). */
function contribution(model, captured, { kind, layer, head }) {
  if (kind !== 'head') return captured[kind === 'embed' ? kind : `blocks.${layer}.mlp`].copy();
  const own = model.options.sharedBlocks ? 0 : layer;
  const { data: wo, shape } = model.parameters[`blocks.${own}.attention.wo`];
  const scale = model.parameters[`blocks.${own}.scale1`];
  const { data, shape: heads } = captured[`blocks.${layer}.heads`];
  const [T, D] = heads.slice(2);
  return Float32Array.from({ length: T * shape[0] }, (_, i) => {
    const [t, c] = [Math.floor(i / shape[0]), i % shape[0]];
    let sum = 0;
    for (let d = 0; d < D; d++) sum += data[(head * T + t) * D + d] * wo[c * shape[1] + head * D + d];
    return sum * (scale?.data[c] ?? 1) * model.options.residualScale;
  });
}

const ADDS_UP = Object.entries(FORMS).filter(
  ([, { normPlace = 'before', encoder, input, head }]) =>
    !encoder && !input && !head && /before|parallel/.test(normPlace),
);
assert.ok(ADDS_UP.length > 10);
for (const [name, form] of ADDS_UP)
  test(`${name}: scores are the slopes of the metric, and effects those of edited inputs`, async () => {
    const model = build(form);
    const capture = ['embed', 'blocks.*.*'];
    const [clean, corrupted] = [CLEAN, CORRUPTED].map((ids) => model.forward(ids, { capture }).captured);
    const result = await edgeAttribution(model, CLEAN, CORRUPTED, metric, { exact: true });
    const { scores, exact, sources, targets } = result;
    const [U, V] = scores.shape;
    assert.deepEqual([sources.length, targets.length], [U, V]);
    const most = Math.max(...filled(scores).data.map(Math.abs));
    const changes = sources.map((source) => {
      const [to, from] = [contribution(model, clean, source), contribution(model, corrupted, source)];
      return to.map((x, i) => x - from[i]);
    });
    const random = uniformSource(SEED);
    for (let n = 0; n < 30; n++) {
      const i = Math.floor(random() * U * V);
      const [source, target] = [sources[Math.floor(i / V)], targets[i % V]];
      const [from, to] = [source.layer ?? -1, target.layer];
      const own = form.normPlace !== 'parallel' && source.kind === 'head' && target.kind === 'mlp';
      assert.equal(!Number.isNaN(scores.data[i]), from < to || (from === to && own), `${n}`);
      if (Number.isNaN(scores.data[i])) continue;
      const at = target.kind === 'logits' ? 'blocks.1.out' : `blocks.${target.layer}.${target.kind}.in`;
      const valueAt = (share) => {
        const add = { data: changes[Math.floor(i / V)].map((x) => x * share), shape: [5, 8] };
        return metric(
          model.forward(CORRUPTED, {
            edit: [{ at, ...(target.kind !== 'mlp' && target.kind !== 'logits' && { head: target.head }), add }],
          }),
        );
      };
      assert.ok(Math.abs(exact.data[i] - (valueAt(1) - result.corrupted)) < 1e-5 * (1 + most));
      const slopes = [0.02, 0.005, 0.001].map(
        (h) => (8 * (valueAt(h) - valueAt(-h)) - (valueAt(2 * h) - valueAt(-2 * h))) / (12 * h),
      );
      assert.ok(
        slopes.some((slope) => Math.abs(slope - scores.data[i]) < 2e-3 * most),
        `${JSON.stringify([source, target])}: ${scores.data[i]}, by differences ${slopes}, the largest ${most}`,
      );
    }
    model.dispose();
  });

test('with many steps, the gradients at the ends and in the middle of the steps agree', async () => {
  const model = build(FORMS.Llama);
  const run = (rule, steps) => edgeAttribution(model, CLEAN, CORRUPTED, metric, { rule, steps });
  const steps = inTier(200, 50);
  const [left, middle, right] = [await run('left', steps), await run('middle', steps), await run('right', steps)];
  const mean = { data: left.scores.data.map((x, i) => (x + right.scores.data[i]) / 2), shape: left.scores.shape };
  assert.ok(off(filled(middle.scores), filled(mean)) < 1e-3);
  assert.ok(off(filled(left.scores), filled(right.scores)) > 1e-3);
});

test('models whose parts do not add up are refused, and so are invalid arguments', async () => {
  const refuses = (model, expected, options, judged = metric, clean = CLEAN) =>
    assert.rejects(edgeAttribution(model, clean, CORRUPTED, judged, options), expected);
  const wrong = (parameter, message) => ({ code: 'ARGUMENT', parameter, ...(message && { message }) });
  for (const normPlace of ['after', 'both', 'stream', 'outputs'])
    await refuses(build({ normPlace }), wrong('model', new RegExp(`normPlace of this model is '${normPlace}'`)));
  const encoder = { ...SMALL, causal: false, head: 'none' };
  await refuses(build({ encoder }), wrong('model', /encoder/));
  const model = build({});
  await refuses(model, wrong('steps'), { steps: -1 });
  await refuses(model, wrong('steps'), { steps: 1.5 });
  await refuses(model, wrong('rule'), { steps: 2, rule: 'end' });
  await refuses(model, wrong('exact'), { exact: 1 });
  await refuses(model, wrong('byToken'), { byToken: 1 });
  await refuses(model, wrong('at'), { at: 'embed' });
  await refuses(model, wrong('metric', /gradient/), {}, () => 1);
  const short = edgeAttribution(model, CLEAN, [1, 2], logitDifference(1, 2, 4));
  await assert.rejects(short, { code: 'SHAPE', parameter: 'corrupted' });
  await refuses(model, { code: 'SHAPE', message: /\[1,5,8\].*\[1,2,8\]/ }, {}, metric, [1, 2]);
});

test('progress counts every run, and an abort takes effect before the next one', async () => {
  const model = build({ mlp: 0 });
  const used = hl.info.memory.used;
  const seen = [];
  const onProgress = (step) => void seen.push(step);
  const { scores } = await edgeAttribution(model, CLEAN, CORRUPTED, metric, { steps: 3, exact: true, onProgress });
  assert.deepEqual(scores.shape, [5, 13]);
  const total = 2 + 3 + scores.data.filter((x) => !Number.isNaN(x)).length;
  assert.deepEqual(
    seen,
    Array.from({ length: total }, (_, i) => ({ done: i + 1, total })),
  );
  const controller = new AbortController();
  const stop = ({ done }) => done === 3 && controller.abort();
  const options = { exact: true, onProgress: stop, signal: controller.signal };
  await assert.rejects(edgeAttribution(model, CLEAN, CORRUPTED, metric, options), { name: 'AbortError' });
  assert.ok(hl.info.memory.used <= used);
});

test('a model without logits is refused', async () => {
  const headless = build({ head: 'none' });
  await assert.rejects(edgeAttribution(headless, CLEAN, CORRUPTED, metric), {
    code: 'ARGUMENT',
    parameter: 'model',
    message: /no logits/,
  });
});
