// Tests the requests of the map of all heads to the worker. Each request is sent once, and again after the model or the
// map has changed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { initialState } from '../../../../web/model/state.ts';
import { createAtlas } from '../../../../web/store/measured/atlas.ts';

function start() {
  const asked = [];
  const requests = {
    send: ({ verb, state: _, ...fields }) => asked.push([verb, ...Object.values(fields)]),
    cancel: (verb) => asked.push(['cancel', verb]),
  };
  const state = signal(initialState);
  const atlas = createAtlas({ requests, state, about: signal({ layers: 1 }) });
  /** Returns the requests since the last call. */
  const since = () => asked.splice(0);
  return { atlas, state, since };
}
const map = { key: 'a', state: 'scanning', source: 'scan', done: 19, layers: 1, heads: 1 };

test('a stored scan is asked for once for each model, and not while there is a map', () => {
  const { atlas, state, since } = start();
  atlas.enter();
  atlas.enter();
  assert.deepEqual(since(), [['storedScan', true]]);
  state.value = { ...initialState, model: 'another' };
  atlas.enter();
  assert.deepEqual(since(), [['storedScan', true]]);
  atlas.clear();
  atlas.parts.atlasMap({ map });
  atlas.enter();
  assert.deepEqual(since(), []);
  atlas.clear();
  assert.equal(atlas.map.value, null);
  atlas.enter();
  assert.deepEqual(since(), [['storedScan', true]]);
});

test('the page of a head and its cost are asked for once, and again with another map', () => {
  const { atlas, since } = start();
  atlas.readHead(0, 1);
  atlas.measure(0, 1, null);
  assert.deepEqual(since(), [], 'without a map');
  for (const key of ['a', 'b']) {
    atlas.parts.atlasMap({ map: { ...map, key } });
    for (let i = 0; i < 2; i++) {
      atlas.readHead(0, 1, 5);
      atlas.measure(0, 1, 'itself');
    }
    assert.deepEqual(since(), [
      ['scannedHead', key, 0, 1],
      ['headCost', key, 0, 1, 'itself'],
    ]);
  }
  atlas.parts.atlasMap({ map: { ...map, key: 'b', done: 20 } });
  atlas.readHead(0, 1, 5);
  atlas.measure(0, 1, 'itself');
  assert.deepEqual(since(), [], 'the same map');
  atlas.readHead(0, 1, 6);
  assert.equal(since().length, 1, 'after more passages');
});

test('pages and costs of another map are ignored; only a complete cost is kept', () => {
  const { atlas, since } = start();
  atlas.parts.atlasMap({ map });
  const cost = { key: 'a', layer: 0, head: 1, measured: 3, total: 4, mean: 0.5 };
  atlas.parts.atlasHead({ key: 'b' });
  atlas.parts.atlasCost({ ...cost, key: 'b' });
  assert.deepEqual([atlas.head.value, atlas.cost.value], [null, null]);
  atlas.parts.atlasCost(cost);
  assert.deepEqual([atlas.cost.value, atlas.measured.value], [cost, {}]);
  atlas.measure(0, 1, null);
  atlas.parts.atlasCost(cost);
  since();
  atlas.stopMeasuring();
  assert.deepEqual([atlas.cost.value, since()], [null, [['cancel', 'headCost']]]);
  const whole = { ...cost, measured: 4 };
  atlas.parts.atlasCost(whole);
  atlas.stopMeasuring();
  assert.deepEqual([atlas.cost.value, atlas.measured.value, since()], [whole, { 0.1: 0.5 }, []]);
});
