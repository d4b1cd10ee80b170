// A text as tokens.

import assert from 'node:assert/strict';
import test from 'node:test';
import { excerptOf } from '../../../../web/features/prompt/tokens.js';

test('an excerpt of a long text is the query and twelve tokens on each side', () => {
  assert.deepEqual(excerptOf(512, 511), [499, 512]);
  assert.deepEqual(excerptOf(512, 0), [0, 13]);
  assert.deepEqual(excerptOf(512, 100), [88, 113]);
  // The query of an earlier run may be after the end of the text.
  assert.deepEqual(excerptOf(30, 99), [17, 30]);
});
