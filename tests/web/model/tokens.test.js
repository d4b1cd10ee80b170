// Tests the display of a text as tokens.

import assert from 'node:assert/strict';
import test from 'node:test';
import { endOf, excerptOf } from '../../../web/model/tokens.ts';

const piece = (text) => ({ space: /^\s*/.exec(text)[0], text: text.trim() });
const end = (...pieces) => endOf(pieces.map(piece));

test('the end of a text is its last two tokens, from where a word begins', () => {
  assert.equal(end('C', 'all', ' me'), 'Call me');
  assert.equal(end('T', 'o', ' the', ' last'), 'the last');
  assert.equal(end('To', ' gr', 'ap', 'ple'), 'grapple');
  assert.equal(end(' thee', ',', ' M'), ', M');
  assert.equal(end('me'), 'me');
  assert.equal(end(), '');
  // Without spaces, a word may be very long.
  assert.equal(end(...'一二三四五六七八'), '三四五六七八');
});

test('an excerpt of a long text is the query and twelve tokens on each side', () => {
  assert.deepEqual(excerptOf(512, 511), [499, 512]);
  assert.deepEqual(excerptOf(512, 0), [0, 13]);
  assert.deepEqual(excerptOf(512, 100), [88, 113]);
  // The query of an earlier run may be after the end of the text.
  assert.deepEqual(excerptOf(30, 99), [17, 30]);
});
