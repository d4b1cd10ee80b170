// Checks that the circuit of the worker equals edgeAttribution, runEdges and the metrics of
// headlight-attention/analysis.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  edgeAttribution,
  edgeGraph,
  findCircuit,
  logitDifference,
  meanContributions,
  probability,
  runEdges,
} from 'headlight-attention/analysis';
import { lineName } from '../../../../web/model/circuit/lineNames.ts';
import { usualCircuit } from '../../../../web/model/circuit/settings.ts';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState, OPENING } from '../../../../web/model/state.ts';
import { usualTrace } from '../../../../web/model/trace/settings.ts';
import { createAnswerer } from '../../../../web/worker/requests.ts';
import { transformerSource } from '../../../../web/worker/sources/sources.ts';
import { fullTest } from '../../../support/tier.js';
import { loadWhale, whaleFile } from '../../../support/whale.js';

const { hl, whale, tokenizer } = await loadWhale();
const messages = [];
let onMessage = () => {};
const answer = createAnswerer({
  load: async () => hl,
  fetchBeside: (name) => whaleFile(name.replace('whale.tokenizer', 'tokenizer')),
  post(message) {
    messages.push(message);
    onMessage(message);
  },
});
after(() => hl.dispose());

const SHIP = 'They gave the ship to me. They gave the';
const WHALE = SHIP.replace('ship', 'whale');
const idsOf = (text) => tokenizer.encode(text).ids;
const idOf = (word) => idsOf(`the ${word}`).at(-1);
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 1e-4 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);

let count = 0;
async function ask(verb, fields) {
  messages.length = 0;
  await answer({ verb, id: ++count, ...fields });
  assert.equal(messages.find(({ error }) => error)?.error, undefined);
  const parts = messages.filter(({ part }) => part === 'circuit');
  return {
    begun: parts.find(({ begun }) => begun)?.begun,
    lines: parts.flatMap(({ lines = [] }) => lines),
    needed: parts.find(({ needed }) => needed)?.needed,
    points: parts.flatMap(({ points = [] }) => points),
    cuts: parts.at(-1)?.cuts,
    stage: parts.findLast(({ work }) => work)?.work.stage,
  };
}
const stateOf = (text, { circuit = {}, other, words, ...more } = {}) =>
  change(initialState, {
    ...{ view: 'flow', text, ...more },
    circuit: { ...usualCircuit, ...circuit },
    ...(other && { pinned: runOf({ ...initialState, text: other }) }),
    trace: { ...usualTrace, answers: words ?? null },
  });

const graph = edgeGraph(whale);
const names = new Map();
graph.sources.forEach((from, u) => {
  graph.targets.forEach((to, v) => {
    const place = u * graph.targets.length + v;
    if (graph.edges.data[place] === 1) names.set(lineName(from, to), place);
  });
});
/** Returns the value of a metric in a run with changed edges. */
function valueWith(text, metric, cut, change) {
  const data = graph.edges.data.slice();
  change(data);
  const result = runEdges(whale, idsOf(text), { data, shape: graph.edges.shape }, { cut });
  const value = metric(result);
  result.dispose();
  return value;
}
const without = (list) => (data) => {
  for (const name of list) data[names.get(name)] = 0;
};
const only = (list) => (data) => {
  data.fill(0);
  for (const name of list) data[names.get(name)] = 1;
};
async function demoMean() {
  const passages = String(await whaleFile('whale.passages.txt'))
    .split('\n')
    .filter(Boolean);
  return {
    mean: await meanContributions(
      whale,
      passages.slice(0, 32).map((text) => idsOf(text).slice(0, 64)),
    ),
  };
}

fullTest('with another sentence the order is that of edgeAttribution, and each line and point is one run', async () => {
  const state = stateOf(SHIP, { other: WHALE, words: ['whale', 'ship'] });
  const { begun, lines, needed, points, stage } = await ask('circuit', { state });
  assert.equal(stage, 'done');
  assert.deepEqual([begun.answers, begun.carries, begun.paired, begun.total], [['ship', 'whale'], 'other', true, 761]);
  const lead = logitDifference(idOf('ship'), idOf('whale'));
  const { scores, terms } = await edgeAttribution(whale, idsOf(SHIP), idsOf(WHALE), lead, { steps: 5, byToken: true });
  const order = [...names].sort(([, a], [, b]) => Math.abs(scores.data[b]) - Math.abs(scores.data[a]));
  // Only the 60 edges with the largest scores must be in the answer, because rounding may change the order of nearly
  // equal scores.
  const first = new Set(lines.map(({ name }) => name));
  for (const [name] of order.slice(0, 60)) assert.ok(first.has(name), name);
  const cut = { run: idsOf(WHALE) };
  const chance = probability(idOf('ship'));
  for (const { name, value, both, terms: found } of [lines[0], lines[9], lines[63]]) {
    near(value, valueWith(SHIP, lead, cut, without([name])), name);
    near(both[0], valueWith(SHIP, chance, cut, without([name])), name);
    const T = terms.shape[2];
    found.forEach((term, t) => near(term, terms.data[names.get(name) * T + t], `${name} at ${t}`));
  }
  const strongest = [...lines].sort((a, b) => a.value - b.value).map(({ name }) => name);
  const inOrder = [...needed, ...strongest.filter((name) => !needed.includes(name))];
  const [whole, empty] = [begun.whole.value, valueWith(SHIP, lead, cut, only([]))];
  near(
    whole,
    valueWith(SHIP, lead, cut, () => {}),
    'whole',
  );
  for (const n of [1, 7, 32]) {
    const kept = points.find(({ count, random }) => count === n && !random);
    near(kept.value, valueWith(SHIP, lead, cut, only(inOrder.slice(0, n))), `${n} lines`);
    near(kept.kept, (kept.value - empty) / (whole - empty), `share of ${n} lines`);
  }
  const share = (names) => (valueWith(SHIP, lead, cut, only(names)) - empty) / (whole - empty);
  assert.ok(needed.length > 1 && share(needed) >= 0.9, `${needed.length} lines keep ${share(needed)}`);
  assert.deepEqual(
    points.filter(({ random }) => random).map(({ count: n }) => n),
    [1, 2, 4, 8, 16, 32, 64],
  );
  assert.equal(points.filter(({ random }) => !random).length, 64);
});

test('the opening alone: cut lines carry the corpus mean, and head 3.3 writes into the key of 4.2', async () => {
  const { begun, lines, needed, points } = await ask('circuit', { state: stateOf(OPENING) });
  assert.deepEqual([begun.answers, begun.carries, begun.paired], [['mate'], 'mean', false]);
  const cut = await demoMean();
  const { scores } = await findCircuit(whale, [{ clean: idsOf(OPENING), metric: logitDifference(idOf('mate')) }], {
    cut,
    counts: [1],
  });
  const order = [...names].sort(([, a], [, b]) => Math.abs(scores.data[b]) - Math.abs(scores.data[a]));
  const first = new Set(lines.map(({ name }) => name));
  for (const [name] of order.slice(0, 60)) assert.ok(first.has(name), name);
  const trick = lines.find(({ name }) => name === 'h3.3-k4.2');
  near(trick.both[0], valueWith(OPENING, probability(idOf('mate')), cut, without([trick.name])), trick.name);
  assert.ok(100 * (begun.whole.both[0] - trick.both[0]) > 80);
  const kept = points.find(({ count, random }) => count === needed.length && !random)?.kept;
  assert.ok(needed.length <= 12 && kept >= 0.9, `${needed.length} lines keep ${kept}`);
  const rank = [...lines].sort((a, b) => a.value - b.value).indexOf(trick);
  assert.ok(rank < 6, `${rank}`);
  // The largest term of the score is at the word that the model copies.
  assert.equal(begun.pieces[trick.terms.indexOf(Math.max(...trick.terms))].name, 'mate');
});

test('with lines cut, the guess and the costs of the others are those of runs without them', async () => {
  const cutLines = ['h3.3-k4.2', 'm0-v4.2'];
  const state = stateOf(OPENING, { circuit: { carries: 'zero', cut: [...cutLines, 'h9.9-l'] } });
  const { cuts } = await ask('circuitCut', { state, lines: ['h4.2-l', 'h3.3-k4.2'] });
  assert.deepEqual(cuts.cut, cutLines);
  const chance = probability(idOf('mate'));
  near(cuts.now.both[0], valueWith(OPENING, chance, 'zero', without(cutLines)), 'now');
  assert.deepEqual(Object.keys(cuts.lines), ['h4.2-l']);
  near(cuts.lines['h4.2-l'].both[0], valueWith(OPENING, chance, 'zero', without([...cutLines, 'h4.2-l'])), 'more');
  const ofSource = [...names.keys()].filter((name) => name.startsWith('m0-'));
  near(cuts.sourceOff.both[0], valueWith(OPENING, chance, 'zero', without([...cutLines, ...ofSource])), 'source');
  const at = 'blocks.4.weights';
  const rowOf = (data) => {
    const result = runEdges(whale, idsOf(OPENING), { data, shape: graph.edges.shape }, { capture: [at] });
    const [T, row] = [idsOf(OPENING).length, result.captured[at].copy()];
    result.dispose();
    return row.slice((2 * T + T - 1) * T, 3 * T * T);
  };
  const [before, now] = [() => {}, without(cutLines)].map((change) => {
    const data = graph.edges.data.slice();
    change(data);
    return rowOf(data);
  });
  const { key, head } = cuts.looks;
  assert.deepEqual(head, { layer: 4, head: 2 });
  assert.equal(before[key], Math.max(...before));
  near(cuts.looks.before, before[key], 'weight before');
  near(cuts.looks.now, now[key], 'weight now');
});

test('a measurement that is stopped keeps its lines, and goes on', async () => {
  const state = stateOf(SHIP, { circuit: { carries: 'zero' } });
  onMessage = ({ part, lines }) => {
    if (part === 'circuit' && lines?.length > 0) answer({ verb: 'cancel', id: ++count, of: 'circuit' });
  };
  const some = await ask('circuit', { state });
  onMessage = () => {};
  assert.ok(some.lines.length > 0 && some.lines.length < 64 && some.points.length === 0);
  const all = await ask('circuit', { state });
  assert.deepEqual([all.lines.length, all.stage], [64, 'done']);
  assert.deepEqual(all.lines.slice(0, some.lines.length), some.lines);
});

test('why there is no circuit: other lengths, a word of several tokens, a family without edges', async () => {
  const problemOf = async (state) => (await ask('circuit', { state })).begun;
  const longer = await problemOf(stateOf(SHIP, { other: `${WHALE} old`, circuit: { carries: 'other' } }));
  assert.deepEqual([longer.problem, longer.lengths], ['length', [idsOf(SHIP).length, idsOf(SHIP).length + 1]]);
  const usual = await problemOf(stateOf(SHIP, { other: `${WHALE} old` }));
  assert.deepEqual([usual.problem, usual.carries], [null, 'mean']);
  const word = await problemOf(stateOf(SHIP, { other: WHALE, words: ['whale', 'xylophone'] }));
  assert.deepEqual([word.problem, word.cause], ['noAnswer', 'xylophone']);
  const model = hl.transformer({ layers: 2, dModel: 16, numHeads: 2, vocab: 9, context: 8, normPlace: 'after' });
  const source = transformerSource('opened-1', { model, bytes: 0, title: 'norms after' });
  const worker = { core: async () => hl, sourceOf: async () => source, runs: { edits: () => [] } };
  const { circuit } = await import('../../../../web/worker/verbs/circuit.ts');
  const sent = [];
  const reply = {
    send: (_part, fields) => sent.push(fields),
    isCancelled: () => false,
    checkCancelled: async () => false,
  };
  await circuit.answer({ state: { ...stateOf('1 2 3'), model: 'opened-1' } }, reply, worker);
  assert.deepEqual([sent[0].begun.problem, sent[0].begun.cause], ['refused', 'norms after']);
});

test('a model that flow cannot show has no circuit, and no error', async () => {
  const state = change(stateOf('The cat sat'), { model: 'constructed', circuit: usualCircuit });
  assert.equal((await ask('circuit', { state })).begun, undefined);
});
