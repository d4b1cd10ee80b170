// Tests the means of heads, and the HTML that embeds a heatmap in another page.

import assert from 'node:assert/strict';
import test from 'node:test';
import { rollout } from 'headlight-attention/analysis';
import { isEmbeddable, snippetOf } from '../../../web/features/export/embedSnippet.ts';
import { canMean, MEANS, shownWeights } from '../../../web/model/meanOfHeads.ts';
import { change, initialState } from '../../../web/model/state.ts';

const [layers, heads, T] = [2, 2, 3];
const weights = Float32Array.from({ length: layers * heads * T * T }, (_, i) => {
  const [t, s] = [Math.floor(i / T) % T, i % T];
  return s > t ? 0 : (s + 1 + (i % 5)) / 10;
});
const run = { weights, T, S: T, layer: 1, head: 0, about: { layers, heads } };
const at = (l, h, i) => weights[(l * heads + h) * T * T + i];
const near = (actual, expected) =>
  actual.forEach((x, i) => assert.ok(Math.abs(x - expected(i)) < 1e-6, `${i}: ${x}, not ${expected(i)}`));

test('the mean of a layer, of all heads, and rollout equal those of the analysis module', () => {
  near(shownWeights(run, 'head'), (i) => at(1, 0, i));
  near(shownWeights(run, 'layer'), (i) => (at(1, 0, i) + at(1, 1, i)) / 2);
  near(shownWeights(run, 'all'), (i) => (at(0, 0, i) + at(0, 1, i) + at(1, 0, i) + at(1, 1, i)) / 4);
  const blocks = [0, 1].map((l) => ({ data: weights.slice(l * 18, (l + 1) * 18), shape: [heads, T, T] }));
  const { data } = rollout(blocks).at(-1);
  near(shownWeights(run, 'rollout'), (i) => data[i]);
  assert.equal(shownWeights(run, 'all'), shownWeights(run, 'all'), 'it is computed once');
});

test('without the weights of all heads, or with other keys, the shown head is used', () => {
  assert.equal(canMean({ ...run, large: true }, 'all'), false);
  assert.equal(canMean({ ...run, S: 4 }, 'rollout'), false);
  assert.ok(MEANS.every((mean) => canMean(run, mean)));
});

test('choosing a head ends the mean', () => {
  const state = change(initialState, { mean: 'rollout' });
  assert.equal(state.mean, 'rollout');
  assert.equal(change(state, { layer: 0, head: 1 }).mean, 'head');
});

test('the HTML contains head and changes, and does not end the script', () => {
  const state = change(initialState, { text: 'a </script> b', layer: 3, head: 1, scale: { 3.1: 0 } });
  const snippet = snippetOf(state);
  assert.equal(snippet.match(/<\/script>/g)?.length, 1);
  assert.match(snippet, /layer: 3,\n {4}head: 1,/);
  assert.match(snippet, /state: "scale=3\.1%3A0"/);
  assert.ok(isEmbeddable(state) && !isEmbeddable(change(state, { model: 'opened-1' })));
});
