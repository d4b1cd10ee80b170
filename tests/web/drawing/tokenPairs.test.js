// Tests the pairs of tokens of two texts, and the colours of a difference.

import assert from 'node:assert/strict';
import test from 'node:test';
import { align, differenceAt, rowDifferences, SIGNED, signedPlace } from '../../../web/drawing/tokenPairs.ts';

const pairsOf = ({ places }) => places.filter(({ now, old }) => now >= 0 && old >= 0).map(Object.values);

test('equal tokens from the beginning and from the end are pairs', () => {
  const found = align([...'abcXYyz'], [...'abcQyz']);
  assert.deepEqual(pairsOf(found), [
    [0, 0],
    [1, 1],
    [2, 2],
    [5, 4],
    [6, 5],
  ]);
  assert.deepEqual(found.places.slice(3, 6), [
    { now: 3, old: -1 },
    { now: 4, old: -1 },
    { now: -1, old: 3 },
  ]);
  assert.deepEqual([found.oldOf(4), found.nowOf(3), found.oldOf(6), found.nowOf(5)], [-1, -1, 5, 6]);
});

test('the tokens of a pair have the same row in both pictures', () => {
  for (const [a, b] of [
    ['abcXYyz', 'abcQyz'],
    ['az', 'abcdz'],
    ['abc', 'abc'],
    ['abcd', 'xy'],
    ['aaa', 'aa'],
  ]) {
    const found = align([...a], [...b]);
    assert.equal(found.n, Math.max(a.length, b.length));
    for (const [now, old] of pairsOf(found)) assert.equal(found.rowNow(now), found.rowOld(old), `${a} ${b} ${now}`);
    const rows = [...a].map((_, i) => found.rowNow(i));
    assert.equal(new Set(rows).size, a.length);
    assert.ok(rows.every((row) => row < found.n));
    assert.equal(found.places.length, a.length + b.length - pairsOf(found).length);
  }
});

test('tokens in between are pairs if both texts have the same number of tokens', () => {
  assert.deepEqual(pairsOf(align([...'aXb'], [...'aYb'])), [
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  assert.equal(pairsOf(align([...'ab'], [...'cde'])).length, 0);
});

test('a row lists the largest differences first, and the keys that only one text has', () => {
  const { places } = align([...'aXb'], [...'acdb']);
  const list = rowDifferences(
    places,
    (s) => [0.1, 0.7, 0.2][s],
    (s) => [0.5, 0.001, 0.3, 0.199][s],
    9,
  );
  assert.deepEqual(
    list.map(({ now, old, by }) => [now, old, by === null ? null : Math.round(1000 * by) / 1000]),
    [
      [1, -1, null],
      [0, 0, -0.4],
      [-1, 2, null],
      [2, 3, 0.001],
    ],
  );
});

test('a row without visible differences lists the largest weights first', () => {
  const { places } = align([...'abc'], [...'abc']);
  const list = rowDifferences(
    places,
    (s) => [0.02, 0.9, 0.05][s],
    (s) => [0.021, 0.9001, 0.0505][s],
    9,
  );
  assert.deepEqual(
    list.map(({ now }) => now),
    [1, 2, 0],
  );
});

test('colours of differences are equally light for both signs, and monotonic in the size', () => {
  const luminance = (css) => {
    const [r, g, b] = css
      .match(/\d+/g)
      .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const theme of ['light', 'dark']) {
    const { css } = SIGNED[theme];
    const sides = [1, -1].map((sign) => [0, 0.05, 0.2, 0.5, 0.8, 1].map((d) => luminance(css(sign * d))));
    for (const side of sides)
      side.slice(1).forEach((x, i) => assert.ok(theme === 'light' ? x < side[i] : x > side[i], `${theme} ${side}`));
    sides[0].forEach((x, i) => assert.ok(Math.abs(x - sides[1][i]) < 0.08, `${theme} ${x} ${sides[1][i]}`));
  }
});

test('a difference of 0 is in the middle of its ramp; opposite differences are equally far from it', () => {
  assert.deepEqual([-1, 0, 1].map(signedPlace), [0, 0.5, 1]);
  for (const d of [0.001, 0.25, 0.9]) {
    assert.ok(signedPlace(d) > 0.5);
    assert.equal(signedPlace(d) + signedPlace(-d), 1);
    for (const one of [d, -d]) assert.ok(Math.abs(differenceAt(signedPlace(one)) - one) < 1e-12, `${one}`);
  }
  assert.equal(differenceAt(0.5), 0);
});
