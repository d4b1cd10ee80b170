import assert from 'node:assert/strict';
import test from 'node:test';
import {
  edgeAttribution,
  edgeGraph,
  findCircuit,
  logitDifference,
  logProbability,
  meanContributions,
  probability,
  runEdges,
} from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { FORMS, SMALL } from '../../../support/forms.js';
import { hl } from '../../../support/headlight.js';

const SEED = 13;
console.log(`seed ${SEED}`);
const PAIRS = [
  { clean: [0, 3, 1, 4, 2], corrupted: [2, 6, 0, 4, 5], metric: logitDifference(3, 5) },
  { clean: [1, 1, 6], corrupted: [5, 0, 6], metric: logProbability(2) },
];

/** Builds a model with random parameters, because zeros and ones would hide mistakes. */
function build(form) {
  const model = hl.transformer({ ...SMALL, ...form });
  const random = uniformSource(SEED);
  for (const { data } of Object.values(model.parameters))
    data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
  return model;
}

/** Returns the mean metric of the pairs with only these edges active. */
function meanOf(model, active, cutOf, pairs = PAIRS) {
  const values = pairs.map((pair) => {
    const result = runEdges(model, pair.clean, active, { cut: cutOf(pair) });
    const value = pair.metric(result);
    result.dispose();
    return value;
  });
  return values.reduce((a, b) => a + b) / values.length;
}
const close = (got, expected, limit = 1e-5) =>
  assert.ok(Math.abs(got - expected) < limit, `${got}, expected ${expected}`);

for (const form of ['GPT-2', 'Llama', 'GPT-NeoX', 'BLOOM'])
  for (const kind of ['corrupted', 'zero', 'mean'])
    test(`${form}: with cut edges that carry ${kind}, each step is verified by runs`, async () => {
      const model = build(FORMS[form]);
      const mean = await meanContributions(model, [
        [1, 2, 3, 4],
        [6, 5],
      ]);
      const cut = kind === 'mean' ? { mean } : kind;
      const cutOf = ({ corrupted }) => (kind === 'corrupted' ? { run: corrupted } : cut);
      const used = hl.info.memory.used;
      const circuit = await findCircuit(model, PAIRS, { cut, share: 0.8 });
      assert.ok(hl.info.memory.used <= used);
      const { sources, targets, curve, scores, edges, active } = circuit;
      const graph = edgeGraph(model);
      assert.deepEqual([sources, targets], [graph.sources, graph.targets]);
      const total = graph.edges.data.reduce((a, b) => a + b);
      const V = targets.length;
      // Edges are added in the order of their absolute scores.
      const order = [...scores.data.keys()].filter((i) => graph.edges.data[i] === 1);
      order.sort((a, b) => Math.abs(scores.data[b]) - Math.abs(scores.data[a]) || a - b);
      assert.ok(scores.data.every((x, i) => Number.isNaN(x) === (graph.edges.data[i] === 0)));
      assert.deepEqual([curve[0].edges, curve.at(-1).edges], [0, total]);
      close(curve[0].faithfulness, 0);
      close(curve.at(-1).faithfulness, 1);
      close(curve[0].value, circuit.empty);
      close(curve.at(-1).value, circuit.whole);
      for (const [i, { edges: count, value, faithfulness }] of curve.entries()) {
        assert.ok(i === 0 || count > curve[i - 1].edges);
        const mask = new Float32Array(scores.data.length);
        for (const at of order.slice(0, count)) mask[at] = 1;
        close(value, meanOf(model, { data: mask, shape: scores.shape }, cutOf));
        close(faithfulness, (value - circuit.empty) / (circuit.whole - circuit.empty));
      }
      // The circuit has the edges of the first point of the curve whose faithfulness is high enough, without edges that
      // have no effect.
      const first = curve.findIndex(({ faithfulness }) => faithfulness >= 0.8);
      assert.equal(curve[first].edges - curve[first - 1].edges, 1);
      assert.ok(circuit.faithfulness >= 0.8 - 1e-5 && edges.length <= curve[first].edges);
      close(circuit.value, curve[first].value);
      close(circuit.value, meanOf(model, active, cutOf));
      assert.equal(active.data.filter((x) => x === 1).length, edges.length);
      for (const [i, { source, target, score }] of edges.entries()) {
        assert.equal(active.data[source * V + target], 1);
        assert.equal(score, scores.data[source * V + target]);
        assert.ok(i === 0 || Math.abs(score) <= Math.abs(edges[i - 1].score));
      }
      model.dispose();
    });

test('the scores are the means of those of edgeAttribution', async () => {
  const model = build(FORMS.Llama);
  for (const options of [{ steps: 0 }, { steps: 3, rule: 'middle' }]) {
    const { scores } = await findCircuit(model, PAIRS, { ...options, counts: [] });
    const each = [];
    for (const { clean, corrupted, metric } of PAIRS)
      each.push(await edgeAttribution(model, clean, corrupted, metric, options));
    scores.data.forEach((score, i) => {
      if (!Number.isNaN(score)) close(score, (each[0].scores.data[i] + each[1].scores.data[i]) / 2);
    });
  }
});

test('a refined circuit has fewer edges and keeps its share', async () => {
  const model = build(FORMS.Llama);
  const seen = [];
  const plain = await findCircuit(model, PAIRS, { share: 0.7 });
  const options = { share: 0.7, refine: true, onProgress: (step) => void seen.push(step) };
  const refined = await findCircuit(model, PAIRS, options);
  assert.ok(refined.edges.length < plain.edges.length);
  assert.ok(refined.faithfulness >= 0.7);
  close(
    refined.value,
    meanOf(model, refined.active, ({ corrupted }) => ({ run: corrupted })),
  );
  assert.ok(seen.every(({ done, total }, i) => done === i + 1 && done <= total));
});

test('edges of parts that add nothing are not in a circuit', async () => {
  const model = build(FORMS.Llama);
  // Head 1 of block 0 and the feed-forward of block 1 add zeros to the residual stream.
  const wo = model.parameters['blocks.0.attention.wo'].data;
  for (let c = 0; c < 8; c++) wo.fill(0, c * 8 + 4, c * 8 + 8);
  model.parameters['blocks.1.down.weight'].data.fill(0);
  const { edges, sources, targets, faithfulness } = await findCircuit(model, PAIRS, { share: 1 });
  assert.ok(faithfulness > 1 - 1e-5);
  for (const { source, target } of edges) {
    const { kind, layer, head } = sources[source];
    assert.ok(!(kind === 'head' && layer === 0 && head === 1), 'it adds nothing');
    assert.ok(
      !(targets[target].kind === 'query' && targets[target].layer === 0 && targets[target].head === 1),
      'nobody reads it',
    );
    assert.ok(!(targets[target].kind === 'mlp' && targets[target].layer === 1));
    assert.ok(!(kind === 'mlp' && layer === 1));
  }
});

test('the probability and its logarithm have gradients', () => {
  const model = build({});
  const result = model.forward([1, 2, 3, 4]);
  const [T, V] = result.logits.shape;
  const logits = { data: result.logits.copy(), shape: [T, V] };
  for (const make of [probability, logProbability])
    for (const token of [-1, 1]) {
      const metric = make(4, token);
      const { data, shape } = metric.gradient({ logits });
      assert.deepEqual(shape, [T, V]);
      for (const i of [1 * V + 4, 1 * V + 5, 3 * V + 4, 3 * V]) {
        const at = (step) => {
          const moved = Float64Array.from(logits.data);
          moved[i] += step;
          return metric({ logits: { data: moved, shape } });
        };
        close(data[i], (at(1e-4) - at(-1e-4)) / 2e-4, 1e-6);
      }
    }
  const sum = [...new Array(V).keys()].reduce((total, label) => total + probability(label)({ logits }), 0);
  close(sum, 1, 1e-12);
  close(logProbability(2)({ logits }), Math.log(probability(2)({ logits })), 1e-12);
  assert.equal(logProbability(0)({ logits: { data: Float32Array.of(-1000, 1000), shape: [1, 2] } }), -2000);
  assert.throws(() => probability('a'), { code: 'ARGUMENT', parameter: 'label' });
  assert.throws(() => probability(7)({ logits }), { code: 'ARGUMENT', parameter: 'label' });
  assert.throws(() => logProbability(0, 4)({ logits }), { code: 'ARGUMENT', parameter: 'token' });
});

test('invalid arguments are refused, by name, and an abort takes effect before the next run', async () => {
  const model = build({});
  const used = hl.info.memory.used;
  const refuses = (parameter, options, pairs = PAIRS, code = 'ARGUMENT') =>
    assert.rejects(findCircuit(model, pairs, options), { code, parameter });
  await refuses('pairs', {}, []);
  await refuses('pairs', {}, 3);
  await refuses('pairs[0].corrupted', {}, [{ clean: [1], metric: PAIRS[0].metric }]);
  await refuses('pairs[0].metric', {}, [{ ...PAIRS[0], metric: () => 1 }]);
  await refuses('other', {}, [{ ...PAIRS[0], other: 1 }]);
  await refuses('cut.run', {}, [{ ...PAIRS[0], corrupted: [1] }], 'SHAPE');
  await refuses('pairs', { counts: [] }, [{ ...PAIRS[0], corrupted: PAIRS[0].clean }]);
  for (const [name, value] of Object.entries({
    share: 2,
    steps: -1,
    rule: 'end',
    cut: 'mean',
    counts: [1e6],
    refine: 1,
    at: 1,
  }))
    await refuses(name, { [name]: value });
  const controller = new AbortController();
  const options = { signal: controller.signal, onProgress: ({ done }) => done === 20 && controller.abort() };
  await assert.rejects(findCircuit(model, PAIRS, options), { name: 'AbortError' });
  // Less memory may be in use, because models of earlier tests may be garbage-collected meanwhile.
  assert.ok(hl.info.memory.used <= used);
});

test('a model without logits is refused', async () => {
  const headless = build({ head: 'none' });
  await assert.rejects(findCircuit(headless, PAIRS), { code: 'ARGUMENT', parameter: 'model', message: /no logits/ });
});
