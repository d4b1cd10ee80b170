import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { graphemesOf } from '../../../src/js/text/precompiled.ts';

const SEED = 29;
const SIGNS = [
  ...['a', 'é', 'e\u0301', '\u0301', '👍', '👍🏽', '👩\u200d👩', '\u200d', '🇩', '🇪', '\r', '\n', '\u0600', '\ud83d'],
  ...['한', '\u1100', '\u1161', '\u11a8', 'क', '्', 'ष'],
];

test(`graphemes found in pieces of a text equal those of the whole text (seed ${SEED})`, () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const list = (segments) => Array.from(segments, ({ segment, index }) => [index, segment]);
  const runs = fc.tuple(fc.constantFrom(...SIGNS), fc.nat(300)).map(([sign, count]) => sign.repeat(count));
  const unit = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...SIGNS) }, { weight: 1, arbitrary: runs });
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 400, size: 'max' }), (parts) => {
      const text = parts.join('');
      assert.deepEqual(list(graphemesOf(text)), list(segmenter.segment(text)));
    }),
    { seed: SEED, numRuns: 100 },
  );
});
