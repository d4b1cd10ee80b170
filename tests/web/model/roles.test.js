// Tests the roles of heads, and rows in which a role has no match.

import assert from 'node:assert/strict';
import test from 'node:test';
import { actingThrough } from '../../../web/features/flow/contributions.ts';
import { attendsToFirst, findsNothing, rowsWithNothing } from '../../../web/model/roles.ts';

test('a role that matches tokens has no match in a row without an earlier equal token', () => {
  const ids = [7, 8, 9, 7, 5, 9];
  assert.deepEqual(rowsWithNothing('induction', ids), [0, 1, 2, 4]);
  assert.deepEqual(rowsWithNothing('duplicate', ids), [0, 1, 2, 4]);
  for (const role of ['previous', 'first', null]) assert.deepEqual(rowsWithNothing(role, ids), []);
});

test('in a text without repeated tokens a role measured on other texts has no match', () => {
  const run = (ids) => ({ pieces: ids.map((id) => ({ id })), T: ids.length, S: ids.length });
  assert.equal(findsNothing('induction', run([3, 4])), true);
  assert.equal(findsNothing('induction', run([])), true);
  assert.equal(findsNothing('induction', run([3, 4, 3])), false);
  assert.equal(findsNothing('previous', run([3, 4])), false);
  assert.equal(findsNothing('induction', run([-1, -1])), false, 'it is not known which tokens are alike');
});

test('unmatched rows are said to attend to the first tokens only if they do', () => {
  const T = 10;
  const weights = new Float32Array(T * T);
  for (let t = 0; t < T; t++) weights[t * T + (t === 8 ? 7 : 1)] = 1;
  assert.equal(attendsToFirst(weights, T, [7, 9]), true);
  assert.equal(attendsToFirst(weights, T, [8]), false);
  assert.equal(attendsToFirst(weights, T, [1]), false, 'it can see nothing else');
});

test('a head with a small contribution and a large ablation is indirect', () => {
  const added = { heads: Float32Array.of(0.1, 8, -0.2, 0.3), sum: 10 };
  const switchedOff = [
    { part: 'decoder', layer: 0, head: 0, value: 0.02 },
    { part: 'decoder', layer: 0, head: 1, value: 0.01 },
    { part: 'decoder', layer: 1, head: 0, value: 0.85 },
    { part: 'decoder', layer: 1, head: 1, value: 0.6 },
  ];
  const found = actingThrough({ before: 0.86, switchedOff }, /** @type {any} */ (added), { heads: 2 });
  assert.deepEqual(
    found.map(({ layer, head }) => [layer, head]),
    [
      [0, 0],
      [1, 1],
    ],
  );
  assert.deepEqual(actingThrough(null, /** @type {any} */ (added), { heads: 2 }), []);
});
