// Tests the rules for comments and for subjects of commits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongSubject } from '../../src/build/commits.ts';
import { findWords } from '../../src/build/words.ts';

const linesOf = (text, options) => findWords(text, options).map(({ line }) => line);

test('a comment may not begin with a relative clause', () => {
  for (const word of ['What', 'Of', 'Whoever', 'Those', 'Whether'])
    for (const comment of [`// ${word} is read.`, `/** ${word} is read. */`, `const x = 1; // ${word} is read.`])
      assert.ok(linesOf(comment).includes(1), comment);
  assert.deepEqual(linesOf('/**\n * Reads a file. Whether it is whole is known then.\n */'), [2]);
  assert.deepEqual(linesOf('// The factor\n// Of each row, in order.'), []);
});

test('questions, strings and other words are allowed', () => {
  for (const text of [
    '// What does it read?',
    "const text = 'What is read';",
    '// Offsets of rows.',
    '// True if it was read.',
  ])
    assert.deepEqual(linesOf(text), [], text);
});

test('private words are found in comments, names of limits in code too', () => {
  assert.deepEqual(linesOf(`// The file beside it.\nconst ${'MOST'}_ROWS = 3;\nconst beside = 1;`), [1, 2]);
  assert.deepEqual(linesOf('# What is set\nset -e', { hashes: true }), [1]);
});

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
