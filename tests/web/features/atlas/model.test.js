// Tests the numbers of the map of all heads: axes, usual roles, the slider, strips, names, and the texts of visitors.

import assert from 'node:assert/strict';
import test from 'node:test';
import { axesOf, scaleOf, valuesOn } from '../../../../web/features/atlas/axes.ts';
import { barsOf } from '../../../../web/features/atlas/distanceBins.ts';
import { mapCsv, mapSvg } from '../../../../web/features/atlas/map/exportMap.ts';
import { settledHeads } from '../../../../web/features/atlas/movement.ts';
import { headsIn, nearestHeads, nextHead, overlap, placeNames } from '../../../../web/features/atlas/placeLabels.ts';
import { boxOfPicture, LINE, placePictures } from '../../../../web/features/atlas/placePictures.ts';
import { passagesAt } from '../../../../web/features/atlas/quantile.ts';
import { fittingStrip, rowOf, stripOf, strongestOf } from '../../../../web/features/atlas/strip.ts';

/** Returns a map of one layer with two heads. */
const mapOf = (fields = {}) => ({
  layers: 1,
  heads: 2,
  measures: {
    selfAttention: [0.1, 0.9],
    previous: [0.2, 0],
    entropy: [0, Math.log(4)],
    distance: [3, 1],
    distanceVariance: [4, 9],
    induction: [0.5, Number.NaN],
    first: [0, 0],
    duplicate: [0, 0],
  },
  means: {},
  chances: {},
  ...fields,
});

test('an axis in tokens doubles at each step, and begins at 0 for distances and at 1 for the spread', () => {
  const distance = scaleOf('distance', [0, 3, 60], 0, 600);
  assert.deepEqual(
    distance.ticks.map(({ value }) => value),
    [0, 1, 2, 4, 8, 16, 32, 64],
  );
  assert.equal(distance.at(0), 0);
  assert.equal(distance.at(64), 600);
  assert.ok(Math.abs(distance.at(3) - (600 * 2) / Math.log2(65)) < 1e-9);
  const spread = scaleOf('spread', [1, 5], 500, 0);
  assert.deepEqual(
    spread.ticks.map(({ value, at }) => [value, Math.round(at)]),
    [
      [1, 500],
      [2, 333],
      [4, 167],
      [8, 0],
    ],
  );
});

test('an axis of shares has few ticks, and no value lies beyond its ends', () => {
  for (const values of [[0.03], [0.2, 0.97], [0, 0], [0.5, Number.NaN]]) {
    const { ticks, at, least, most } = scaleOf('induction', values, 0, 100);
    assert.ok(ticks.length >= 2 && ticks.length <= 12, String(ticks.length));
    for (const value of values.filter(Number.isFinite)) assert.ok(value >= least && value <= most, `${value}`);
    assert.ok(at(ticks[0].value) === 0 && Math.abs(at(ticks.at(-1).value) - 100) < 1e-9);
  }
  const cost = scaleOf('cost', [-0.02, 0.3], 0, 100);
  assert.ok(cost.least <= -0.02 && cost.most >= 0.3);
});

test('the values of the axes are those of HeadVis, the spread in tokens', () => {
  const map = mapOf();
  assert.deepEqual(valuesOn(map, 'variation'), [2, 3]);
  assert.deepEqual(
    valuesOn(map, 'spread').map((x) => Math.round(x)),
    [1, 4],
  );
  // Neither the cost nor the induction score can be an axis, because costs are not measured and only one head has an
  // induction score.
  assert.deepEqual(axesOf(map), ['distance', 'variation', 'spread', 'previous', 'itself', 'duplicate', 'first']);
});

test('axes of roles show the measures that the names are based on, where they are known', () => {
  const map = mapOf({ means: { previous: [0.3, 0.25], induction: [0.6, Number.NaN] } });
  assert.deepEqual(valuesOn(map, 'previous'), [0.3, 0.25]);
  assert.deepEqual(valuesOn(map, 'itself'), [0.1, 0.9]);
  assert.deepEqual(valuesOn(mapOf(), 'previous'), [0.2, 0]);
});

test('the files of a map have the roles of the page with their numbers', () => {
  const named = { roles: [['induction', null]], weights: [[0.71, null]] };
  const [names, first, second] = mapCsv(mapOf(), named).split('\n');
  assert.equal(names, 'layer,head,role,role_weight,distance,variation,spread,previous,itself,duplicate,first');
  assert.match(first, /^0,0,induction,0\.71,3,/);
  assert.match(second, /^0,1,,,1,/);
  const texts = { axes: { distance: 'd', spread: 's' }, roles: { induction: 'finds <more>' } };
  const svg = mapSvg(mapOf(), named, ['distance', 'spread'], 'light', texts);
  assert.match(svg, />0\.0 finds &lt;more&gt;<\/text>.*>0\.1<\/text>/s);
  // The letters of the reader may be wider, so each name keeps the width that it has in the page.
  const inPage = mapSvg(mapOf(), named, ['distance', 'spread'], 'light', texts, (name) => 7 * name.length);
  assert.match(inPage, /textLength="21\.0"[^>]*>0\.1<\/text>/);
  assert.match(inPage, /font-family="[^"]*'DejaVu Sans', sans-serif"/);
});

const sample = (fields = {}) => ({
  sequence: 0,
  interval: 5,
  tokens: [' the', ' white', ' whale', '.', ' The', ' old', ' man', ' saw', ' the', ' white', ' whale', ' again'],
  max: 0.9,
  // The second "white" attends to the first "whale", and to itself.
  indices: [9 * 12 + 2, 9 * 12 + 9, 10 * 12 + 0],
  values: [0.8, 0.9, 0.95],
  ...fields,
});

test('a strip shows the words around key and query, folds those between, and names the word that came next', () => {
  const at = (role) => strongestOf(sample(), role);
  const strip = stripOf(sample(), at('induction'), 'induction', 1);
  assert.deepEqual([strip.arc, strip.next], [{ t: 9, s: 2, weight: 0.8 }, ' whale']);
  assert.deepEqual(
    strip.parts.map(({ text, folded, space }) => (folded ? folded : `${space ? ' ' : ''}${text}`)),
    ['white', ' whale', '.', 4, 'the', ' white'],
  );
  const whole = stripOf(sample(), at('induction'), 'induction', 3);
  assert.equal(whole.parts.filter(({ folded }) => folded).length, 0);
});

test('a strip of an induction head shows the earlier occurrence, however few words fit', () => {
  const tokens = [' an', ' old', ' whale', ' b', ' c', ' d', ' e', ' f', ' g', ' h', ' i', ' old', ' man'];
  const passage = { tokens, indices: [11 * 13 + 2], values: [0.9] };
  for (const letters of [0, 30, 60, 500]) {
    const { parts, same, arc } = fittingStrip(passage, 'induction', letters);
    assert.deepEqual([same, arc.s], [[1, 11], 2]);
    assert.deepEqual(
      parts.filter(({ text }) => text === 'old').map(({ at }) => at),
      [1, 11],
      `${letters} letters`,
    );
  }
  // The key does not follow the earlier occurrence: both are shown.
  const other = fittingStrip({ tokens, indices: [11 * 13 + 7], values: [0.9] }, 'induction', 0);
  assert.deepEqual(
    other.parts.map(({ text, folded }) => folded ?? text),
    ['old', 5, 'f', 3, 'old'],
  );
  const none = fittingStrip(passage, 'previous', 0);
  assert.deepEqual([none.same, none.parts[0].text], [[], 'whale']);
});

test('a strip has as many words around key and query as there is room for', () => {
  const words = (letters) =>
    fittingStrip(sample(), 'induction', letters)
      .parts.map(({ text, folded }) => folded ?? text)
      .join(' ');
  assert.deepEqual([0, 37].map(words), ['white whale 6 white', 'white whale 6 white']);
  assert.deepEqual([38, 47].map(words), ['white whale . 4 the white', 'white whale . 4 the white']);
  assert.equal(words(48), 'the white whale . The old man saw the white');
});

test('a weight on the token itself or on the first one counts only for a head that usually looks there', () => {
  assert.deepEqual(strongestOf(sample(), 'itself'), { t: 9, s: 9, weight: 0.9 });
  assert.deepEqual(strongestOf(sample(), 'first'), { t: 10, s: 0, weight: 0.95 });
  assert.deepEqual(strongestOf(sample({ indices: [9 * 12 + 9], values: [0.9] }), 'induction').s, 9);
  assert.deepEqual(strongestOf(sample({ indices: [], values: [] }), null), { t: 0, s: 0, weight: 0 });
  assert.deepEqual([...rowOf(sample(), 9)].map((x) => Math.round(10 * x)).slice(0, 10), [0, 0, 8, 0, 0, 0, 0, 0, 0, 9]);
});

test('the slider goes from the strongest interval to the weakest one, ten passages at each position', () => {
  const samples = [1, 2, 3, 4, 5].flatMap((interval) =>
    Array.from({ length: interval === 5 ? 12 : 3 }, (_, n) => sample({ interval, sequence: 10 * interval + n })),
  );
  const strength = ({ sequence }) => sequence;
  assert.deepEqual(
    passagesAt(samples, 0, strength).map(({ sequence }) => sequence),
    [61, 60, 59, 58, 57, 56, 55, 54, 53, 52],
  );
  assert.deepEqual(
    passagesAt(samples, 2, strength).map(({ interval }) => interval),
    [3, 3, 3],
  );
  assert.deepEqual(passagesAt(samples, 99, strength)[0].interval, 1);
  assert.deepEqual(passagesAt([], 0, strength), []);
});

test('bars of distances end after the last weight', () => {
  const distances = { edges: [0, 1, 2, 4, 8, 16, 32, 64, 128, 256], values: [1, 2, 0, 1, 4, 0, 0, 0, 0] };
  const bars = barsOf(distances);
  assert.deepEqual(
    bars.map(({ from }) => from),
    [0, 1, 2, 4, 8, 16, 32, 64],
  );
  assert.equal(bars[4].share, 1);
});

test('a head is settled when it moves by at most two hundredths of the map per passage', () => {
  const before = [
    { x: 0.5, y: 0.5 },
    { x: 0.5, y: 0.5 },
  ];
  const now = [
    { x: 0.53, y: 0.5 },
    { x: 0.55, y: 0.5 },
  ];
  assert.deepEqual(settledHeads(before, now, 2), [true, false]);
  assert.deepEqual(settledHeads(null, now, 1), [false, false]);
});

const cluster = (x, y, step = 12) =>
  Array.from({ length: 9 }, (_, i) => ({ x: x + step * (i % 3), y: y + step * Math.floor(i / 3) }));
const SIZE = { width: 90, height: 18 };

test('names cover neither each other nor heads; a name that is not next to its head has a line to it', () => {
  const points = [...cluster(90, 90), ...cluster(330, 180)];
  const room = { width: 560, height: 340 };
  const placed = placeNames(
    points.map((_, head) => ({ head, size: SIZE })),
    points,
    room,
  );
  assert.ok(placed.length >= 12, `${placed.length} names`);
  for (const { head, box, line } of placed) {
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= room.width && box.y + box.height <= room.height);
    points.forEach(({ x, y }, i) => {
      if (i !== head) assert.ok(!overlap(box, { x: x - 6, y: y - 6, width: 12, height: 12 }), `${head} covers ${i}`);
    });
    for (const other of placed) if (other !== placed.at(-1) && other.head !== head) assert.ok(!overlap(box, other.box));
    if (!line) continue;
    const [from, to] = line;
    assert.ok(Math.hypot(from.x - points[head].x, from.y - points[head].y) < 9, 'the line begins at the head');
    const isAtBox =
      to.x >= box.x - 1 && to.x <= box.x + box.width + 1 && to.y >= box.y - 1 && to.y <= box.y + box.height + 1;
    assert.ok(isAtBox, 'the line ends at the name');
  }
  assert.ok(placed.some(({ line }) => line));
});

test('the name of the chosen head is always shown, others only where there is room', () => {
  const points = cluster(20, 20, 9);
  const room = { width: 60, height: 60 };
  const names = points.map((_, head) => ({ head, size: { width: 30, height: 18 }, needed: head === 4 }));
  const heads = placeNames(names, points, room).map(({ head }) => head);
  assert.ok(heads.includes(4));
  assert.ok(heads.length < 9);
  const near = placeNames([{ head: 4, size: SIZE, near: true }], cluster(200, 200), { width: 500, height: 400 });
  assert.deepEqual(near, [], 'no line for a name that must be near');
});

test('pictures of heads with the same values do not cover each other, at any width', () => {
  for (const [width, height] of [
    [900, 700],
    [420, 480],
    [286, 250],
    [200, 160],
  ]) {
    const points = Array.from({ length: 24 }, (_, i) => ({ x: 60 + (i % 5), y: 80 + (i % 3) }));
    const widths = points.map((_, i) => (i % 2 ? 0 : 70));
    const room = { x: 30, y: 0, width, height };
    const { side, captions, points: placed } = placePictures(points, widths, room);
    const boxes = placed.map((point, i) => {
      const more = captions && widths[i] > 0;
      return boxOfPicture(point, side, { width: more ? widths[i] : side, height: side + LINE * (more ? 2 : 1) });
    });
    boxes.forEach((a, i) => {
      for (const b of boxes.slice(i + 1)) assert.ok(!overlap(a, b), `${width} × ${height}`);
      assert.ok(a.x >= room.x - 1 && a.x + a.width <= room.x + width + 1, `${width} × ${height}: ${a.x}`);
    });
    if (width === 900) assert.ok(captions && side === 32);
  }
  const apart = [
    { x: 100, y: 100 },
    { x: 300, y: 200 },
  ];
  const { points: kept } = placePictures(apart, [0, 0], { x: 30, y: 0, width: 500, height: 400 });
  assert.deepEqual(kept, apart, 'pictures that cover nothing stay where they are');
});

test('arrow keys reach every head, also those at the same place', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 20 },
    { x: Number.NaN, y: 0 },
  ];
  const right = { dx: 1, dy: 0 };
  assert.equal(nextHead(points, 0, right), 1);
  assert.equal(nextHead(points, 1, right), 2);
  assert.equal(nextHead(points, 2, { dx: -1, dy: 0 }), 1);
  assert.equal(nextHead(points, 2, right), 2);
  assert.equal(nextHead(points, 1, { dx: 0, dy: 1 }), 2);
  assert.equal(nextHead(points, 2, { dx: 0, dy: 1 }), 3);
  assert.deepEqual(
    nearestHeads(points, { x: 9, y: 0 }, 5).map(({ head }) => head),
    [1, 2],
  );
});

test('a frame contains the heads inside of it and on its edges', () => {
  const points = [
    { x: 10, y: 5 },
    { x: 14, y: 8 },
    { x: 9, y: 6 },
    { x: 15, y: 6 },
    { x: 12, y: 4 },
    { x: 12, y: 9 },
    { x: 12, y: 6 },
  ];
  assert.deepEqual(headsIn(points, { x: 10, y: 5, width: 4, height: 3 }), [0, 1, 6]);
});
