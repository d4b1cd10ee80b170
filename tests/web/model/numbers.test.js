// Tests the numbers that the page displays.

import assert from 'node:assert/strict';
import test from 'node:test';
import { weightText as atlasText } from '../../../web/features/atlas/numbers.ts';
import { cellText, fineShareText, plain, signed, sumText, weightText } from '../../../web/model/numbers.ts';

test('weights have two digits; in cells and on the map they have no zero before them', () => {
  const weights = [0, 0.004, 0.005, 0.126, 0.994, 0.995, 1, Number.NaN];
  assert.deepEqual(weights.map(weightText), ['0.00', '0.00', '0.01', '0.13', '0.99', '0.99', '1.00', 'NaN']);
  assert.deepEqual(weights.map(cellText), ['.00', '.00', '.01', '.13', '.99', '1.0', '1.0', '']);
  assert.deepEqual(weights.slice(3, 7).map(atlasText), ['.13', '.99', '1.00', '1.00']);
});

test('a sign is as wide as a digit, and a number that is rounded to zero has none', () => {
  assert.deepEqual(
    [1.918, -1.918, 0.004, -0.004, -0.006].map((x) => signed(x)),
    ['+1.92', '−1.92', '0.00', '0.00', '−0.01'],
  );
  assert.deepEqual([signed(-12.5, 0), signed(0.04, 1)], ['−13', '0.0']);
  assert.deepEqual([plain(-1.918), plain(1.918, 1)], ['−1.92', '1.9']);
});

test('a sum has fewer digits the larger it is', () => {
  assert.deepEqual([0, 0.00999, 0.01, 52.314, 99.994, 100, 1234.56, 99_999, 1e5, 123_456].map(sumText), [
    '0.00e0',
    '9.99e-3',
    '0.01',
    '52.31',
    '99.99',
    '100.0',
    '1234.6',
    '99999.0',
    '1.00e5',
    '1.23e5',
  ]);
});

test('a share is 100% only if nothing is missing', () => {
  assert.deepEqual([0, 0.034, 0.999, 0.99999, 1].map(fineShareText), ['0.0%', '3.4%', '99.9%', '99.9%', '100.0%']);
});
