// Tests the text, head and cell with which a model is first shown.

import assert from 'node:assert/strict';
import test from 'node:test';
import { initialState } from '../../../web/model/state.ts';
import { firstTextOf, firstViewOf } from '../../../web/store/firstViews.ts';

const about = (more) => ({
  kind: 'transformer',
  reads: 'text',
  mask: null,
  sums: true,
  words: true,
  parts: [],
  ...more,
});

test('each model of the menu and each kind of opened model begins with its own text', () => {
  assert.deepEqual(firstTextOf('whale', null), { text: initialState.text, second: '' });
  assert.match(firstTextOf('sentence', null).second, /whale/);
  assert.equal(firstTextOf('patches', null), null, 'a picture');
  assert.equal(firstTextOf('opened-1', null), null, 'a model that is not known');
  const textOf = (more) => firstTextOf('opened-1', about(more))?.text;
  assert.match(textOf({ mask: '[MASK]' }), /\[MASK\]/);
  assert.match(textOf({ reads: 'numbers' }), /^[\d ]+$/);
  assert.match(textOf({ reads: 'pair', words: false }), /^[\d ]+$/);
  assert.match(textOf({ reads: 'pair' }), /^translate/);
  assert.equal(textOf({ kind: 'layer' }), undefined);
  const pair = firstTextOf('opened-1', about({ compares: 'mean', mask: '[MASK]' }));
  assert.deepEqual(pair, firstTextOf('sentence', null), 'a sentence encoder begins with two sentences');
});

test('an opened model is shown with what it can show, and with the text that it had before', () => {
  const last = { text: 'again', second: '' };
  const seen = firstViewOf('opened-1', about({ sums: false, parts: ['encoder', 'decoder'] }), last);
  assert.deepEqual(seen, { view: 'heatmap', ...last, part: 'encoder', layer: 0, head: 0 });
  assert.deepEqual(firstViewOf('opened-1', about({ folder: true, reads: 'nothing' })), {
    ...{ view: 'atlas', part: 'decoder', layer: 0, head: 0 },
  });
  assert.equal(firstViewOf('whale', null).view, undefined);
  const { view, layer, head, cell } = firstViewOf('constructed', null);
  assert.deepEqual([view, layer, head, cell], ['heatmap', 0, 5, { t: 11, s: 8 }]);
});
