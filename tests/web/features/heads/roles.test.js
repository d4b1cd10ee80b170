// What heads do, and where they find nothing to do.

import assert from 'node:assert/strict';
import test from 'node:test';
import { actingThrough } from '../../../../web/features/flow/contributions.js';
import { attendsToFirst, findsNothing, rowsWithNothing } from '../../../../web/features/heads/roles.js';

test('a head that looks for an earlier token like its own finds nothing where there is none', () => {
  const ids = [7, 8, 9, 7, 5, 9];
  assert.deepEqual(rowsWithNothing('induction', ids), [0, 1, 2, 4]);
  assert.deepEqual(rowsWithNothing('duplicate', ids), [0, 1, 2, 4]);
  for (const trade of ['previous', 'first', null]) assert.deepEqual(rowsWithNothing(trade, ids), []);
});

test('where nothing repeats, a role measured on other texts finds nothing', () => {
  const run = (ids) => ({ pieces: ids.map((id) => ({ id })), T: ids.length, S: ids.length });
  assert.equal(findsNothing('induction', run([3, 4])), true);
  assert.equal(findsNothing('induction', run([])), true);
  assert.equal(findsNothing('induction', run([3, 4, 3])), false);
  assert.equal(findsNothing('previous', run([3, 4])), false);
  assert.equal(findsNothing('induction', run([-1, -1])), false, 'it is not known which tokens are alike');
});

test('such rows are said to attend to the first tokens only where they do', () => {
  const T = 10;
  const weights = new Float32Array(T * T);
  for (let t = 0; t < T; t++) weights[t * T + (t === 8 ? 7 : 1)] = 1;
  assert.equal(attendsToFirst(weights, T, [7, 9]), true);
  assert.equal(attendsToFirst(weights, T, [8]), false);
  assert.equal(attendsToFirst(weights, T, [1]), false, 'it can see nothing else');
});

test('a head that adds little and is needed all the same acts through others', () => {
  const added = { heads: Float32Array.of(0.1, 8, -0.2, 0.3), sum: 10 };
  const tried = [
    { layer: 0, head: 0, probability: 0.02 },
    { layer: 0, head: 1, probability: 0.01 },
    { layer: 1, head: 0, probability: 0.85 },
    { layer: 1, head: 1, probability: 0.6 },
  ];
  const found = actingThrough({ before: 0.86, tried }, /** @type {any} */ (added), { heads: 2 });
  assert.deepEqual(
    found.map(({ layer, head }) => [layer, head]),
    [
      [0, 0],
      [1, 1],
    ],
  );
  assert.deepEqual(actingThrough(null, /** @type {any} */ (added), { heads: 2 }), []);
});
