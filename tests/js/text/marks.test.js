import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decomposed } from '../../../src/js/text/marks.ts';

const SEED = 23;
const MARKS = ['\u0334', '\u0327', '\u0316', '\u0301', '\u0308', '\u0344', '\u0345', '\u05b0', '\u0f73', '\u034f', '𝅥'];

for (const form of /** @type {const} */ (['NFD', 'NFKD']))
  test(`runs of combining marks are decomposed and ordered like by String.normalize: ${form} (seed ${SEED})`, () => {
    const unit = fc.constantFrom(...MARKS, 'a', '각', 'ﬁ');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
        assert.equal(decomposed(text, form), text.normalize(form));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

test('100,000 marks are ordered in linear time', () => {
  const text = `a${'\u0301\u0316'.repeat(50_000)}`;
  assert.equal(decomposed(text, 'NFD'), `a${'\u0316'.repeat(50_000)}${'\u0301'.repeat(50_000)}`);
});
