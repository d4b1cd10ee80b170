// Tests a HeadVis folder as a source, for a state whose layer, head or passage does not exist in the folder.

import assert from 'node:assert/strict';
import test from 'node:test';
import { showHeadvis } from '../../../../web/worker/sources/headvisSource.ts';

/** A scan of two layers of three heads, with two passages for each head. */
const headvis = {
  heads: [0, 1].flatMap((layer) => [0, 1, 2].map((head) => ({ layer, head }))),
  head: async (layer, head) => ({
    sequences: [
      { interval: 1, max: 0.5, tokens: ['weak', 'er'], indices: [0], values: [0.5] },
      { interval: 2, max: 1, tokens: [`${layer}`, `${head}`, ' '], indices: [0, 5], values: [0.75, 0.25] },
    ],
    distances: { edges: [0, 1], values: [0] },
    queryTokens: [],
    keyTokens: [],
  }),
};

test('a head and a passage beyond the last ones are the last ones; the strongest passage is the first', async () => {
  const show = async (state) => {
    const parts = {};
    const send = (part, fields) => Object.assign(parts, { [part]: fields });
    const reply = { send, checkCancelled: async () => false };
    await showHeadvis({ about: { layers: 2, heads: 3 }, headvis, named: { names: [], weights: [] } }, state, reply);
    return parts.run;
  };
  const first = await show({ layer: 0, head: 1, entry: 0 });
  assert.deepEqual([first.layer, first.head, first.T], [0, 1, 3]);
  assert.deepEqual(
    first.pieces.map(({ name }) => name),
    ['0', '1', '␣'],
  );
  assert.deepEqual([...first.weights], [0.75, 0, 0, 0, 0, 0.25, 0, 0, 0]);
  const last = await show({ layer: 9, head: 9, entry: 9 });
  assert.deepEqual([last.layer, last.head, last.T], [1, 2, 2]);
  assert.deepEqual([...last.weights], [0.5, 0, 0, 0]);
});
