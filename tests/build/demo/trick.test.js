// Checks that the demo model repeats a passage by a circuit of two heads: the connection between the two heads, and the
// smallest circuit.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, before } from 'node:test';
import { load } from 'headlight-attention';
import { edgeAttribution, findCircuit, logitDifference } from 'headlight-attention/analysis';
import { cutKey, probabilities } from '../../../src/build/demo/copying.ts';
import { OPENING } from '../../../web/model/state.ts';

let hl, model;
before(async () => {
  hl = await load();
  model = await hl.openModel('demo');
});
after(() => hl.dispose());

const idOf = (word) => model.encode(` ${word}`).ids[0];
const [INDUCTION, PREVIOUS] = [
  { layer: 4, head: 2 },
  { layer: 3, head: 3 },
];
const isHead = (node, { layer, head }) => node.layer === layer && node.head === head;

test('the first edge from a head into the induction head is from the previous-token head into its keys', async () => {
  const other = OPENING.replace('first', 'second');
  const metric = logitDifference(idOf('mate'), idOf('man'));
  const { scores, sources, targets } = await edgeAttribution(model, OPENING, other, metric, { steps: 5 });
  const edges = sources.flatMap((source, u) =>
    targets.map((target, v) => ({ source, target, score: scores.data[u * targets.length + v] })),
  );
  const into = edges.filter(
    ({ source, target, score }) => source.kind === 'head' && isHead(target, INDUCTION) && !Number.isNaN(score),
  );
  const [{ source, target }] = into.sort((a, b) => b.score - a.score);
  assert.ok(isHead(source, PREVIOUS) && target.kind === 'key', JSON.stringify([source, target]));
});

test('twenty of 761 edges keep nine tenths of the lead of "mate" over "man"', async () => {
  const pair = {
    clean: OPENING,
    corrupted: OPENING.replace('mate', 'man'),
    metric: logitDifference(idOf('mate'), idOf('man')),
  };
  const { edges, faithfulness, whole } = await findCircuit(model, [pair], {
    share: 0.9,
    counts: [8, 10, 12],
    refine: true,
  });
  assert.ok(edges.length <= 20 && faithfulness >= 0.9 && whole > 5, `${edges.length} edges keep ${faithfulness}`);
});

test('cutting only the line between the heads costs six tenths of switching the induction head off', () => {
  const ids = [...model.encode(OPENING).ids];
  const off = { at: 'blocks.4.heads', head: 2, set: 'zero' };
  const [on, without, cut] = [[], [off], [cutKey(hl, model, ids, PREVIOUS, INDUCTION)]].map(
    (edit) => probabilities(hl, model, ids, edit)[idOf('mate')],
  );
  assert.ok(on - without > 0.8 && on - cut >= 0.6 * (on - without), `${[on, without, cut]}`);
});

test('README says how far the probability falls without the induction head', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const said = /the probability of \*mate\* falls from (\d+)% to (\d\.\d)%/.exec(readme)?.slice(1).map(Number);
  const ids = [...model.encode(OPENING).ids];
  const off = { at: 'blocks.4.heads', head: 2, set: 'zero' };
  const percent = (edit, digits) => Number((100 * probabilities(hl, model, ids, edit)[idOf('mate')]).toFixed(digits));
  assert.deepEqual(said, [percent([], 0), percent([off], 1)]);
});
