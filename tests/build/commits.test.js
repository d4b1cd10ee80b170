// Tests the rule for subjects of commits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongSubject } from '../../src/build/commits.ts';

test('a subject is `area: verb object`, imperative, at most 72 characters', () => {
  for (const subject of [
    'models: read generation_config.json',
    'page: pass rows on',
    'Merge branch x',
    'js/ops: add rotary',
  ])
    assert.equal(wrongSubject(subject), null, subject);
  for (const subject of [
    'Add rotary',
    'page: hides names',
    'page: added names',
    'page: Hide names',
    'page: hide names.',
    `page: ${'x'.repeat(67)}`,
  ])
    assert.notEqual(wrongSubject(subject), null, subject);
});
