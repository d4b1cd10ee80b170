// Tests the edits of a run that uses values of the pinned run.

import assert from 'node:assert/strict';
import test from 'node:test';
import { initialState } from '../../../../web/model/state.ts';
import { allEdits } from '../../../../web/worker/run/runModel.ts';

const stackOf = (tokens) => ({ part: 'decoder', layers: 2, heads: 2, causal: true, tokens });
const [WIDTH, C] = [2, 3];
/**
 * Returns the values of a pinned run of T tokens. The values of head h in layer l at token t begin with 1000 l + 100 h
 * + 10 t.
 */
function pinnedOf(T) {
  const captured = {};
  for (const l of [0, 1]) {
    const heads = Array.from({ length: 2 * T * WIDTH }, (_, i) => {
      const [h, t, d] = [Math.floor(i / (T * WIDTH)), Math.floor(i / WIDTH) % T, i % WIDTH];
      return 1000 * l + 100 * h + 10 * t + d;
    });
    captured[`blocks.${l}.heads`] = { data: Float32Array.from(heads), shape: [1, 2, T, WIDTH] };
    for (const [part, first] of [
      ['mlp', 3000],
      ['out', 5000],
    ])
      captured[`blocks.${l}.${part}`] = rows(first + 1000 * l, T);
  }
  return { captured: { ...captured, embed: rows(7000, T) }, logits: null };
}
const rows = (first, T) => ({
  data: Float32Array.from({ length: T * C }, (_, i) => first + 10 * Math.floor(i / C) + (i % C)),
  shape: [1, T, C],
});
const editsOf = (patch, T, partners, from) =>
  allEdits(
    [stackOf(T)],
    { ...initialState, patch },
    () => pinnedOf(from),
    () => partners,
  ).map(({ set, ...edit }) => ({ ...edit, set: [...set.data], shape: set.shape }));

test('a head of a pinned run with as many tokens is taken as a whole', () => {
  assert.deepEqual(editsOf({ 1.1: 1 }, 2, [0, 1], 2), [
    { at: 'blocks.1.heads', head: 1, set: [1100, 1101, 1110, 1111], shape: [2, WIDTH] },
  ]);
});

test('of one with other tokens the head is taken at each token with a partner, the first one included', () => {
  const at = 'blocks.0.heads';
  assert.deepEqual(
    editsOf({ 0.1: 1 }, 3, [0, -1, 1], 2).toSorted((a, b) => a.token - b.token),
    [
      { at, head: 1, token: 0, set: [100, 101], shape: [WIDTH] },
      { at, head: 1, token: 2, set: [110, 111], shape: [WIDTH] },
    ],
  );
  assert.deepEqual(editsOf({ 0.1: 1 }, 3, [], 0), [], 'a pinned run without a text has no values');
});

test('a part at a token is taken from its partner, if it has one', () => {
  const taken = (place) => editsOf({ [place]: 1 }, 3, [0, -1, 1], 2).map(({ at, token, set }) => [at, token, set]);
  assert.deepEqual(taken('mlp.1.0'), [['blocks.1.mlp', 0, [4000, 4001, 4002]]]);
  assert.deepEqual(taken('heads.1.2'), [['blocks.1.heads', 2, [1010, 1011, 1110, 1111]]]);
  assert.deepEqual(taken('stream.1.2'), [['blocks.1.in', 2, [5010, 5011, 5012]]]);
  assert.deepEqual(taken('stream.0.2'), [['blocks.0.in', 2, [7010, 7011, 7012]]]);
  for (const place of ['mlp.1.1', 'mlp.1.3', 'mlp.2.0']) assert.deepEqual(taken(place), [], place);
});
