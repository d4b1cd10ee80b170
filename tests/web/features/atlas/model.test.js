// Tests the numbers of the map of all heads: axes, usual roles, the slider, strips, names, and the texts of visitors.

import assert from 'node:assert/strict';
import test from 'node:test';
import { axesOf, scaleOf, valuesOn } from '../../../../web/features/atlas/axes.js';
import { barsOf, shareWithin } from '../../../../web/features/atlas/distanceBins.js';
import { settledHeads } from '../../../../web/features/atlas/movement.js';
import {
  densest,
  headsIn,
  nearestHeads,
  nextHead,
  overlap,
  placeHeads,
  placeRoles,
} from '../../../../web/features/atlas/placeLabels.js';
import { passagesAt } from '../../../../web/features/atlas/quantile.js';
import { fittingStrip, rowOf, stripOf, strongestOf } from '../../../../web/features/atlas/strip.js';
import { chanceOf, rolesByLayer, usualRole } from '../../../../web/features/atlas/usualRole.js';

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
  holds: { induction: [0.71, 0], previous: [0.1, 0], itself: [0, 0.9], first: [0.2, 0], duplicate: [0, 0] },
  chance: { induction: 0.05, previous: 0.05, itself: 0.05, first: 0.05, duplicate: 0.05, nearby: 0.2 },
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

test('a role needs more than half of the rows and twice the chance level', () => {
  assert.deepEqual(rolesByLayer(mapOf()), [['induction', 'itself']]);
  assert.deepEqual(rolesByLayer(mapOf({ layers: 2, heads: 1 })), [['induction'], ['itself']]);
  const half = mapOf({ holds: { ...mapOf().holds, induction: [0.5, 0] } });
  assert.equal(usualRole(half, 0), 'nearby');
  const likely = mapOf({ chance: { ...mapOf().chance, induction: 0.4 }, near: [0.9, 0] });
  assert.equal(usualRole(likely, 0), 'nearby');
  const far = mapOf({ chance: { ...mapOf().chance, induction: 0.4 }, near: [0.39, 0] });
  assert.equal(usualRole(far, 0), null);
  const short = mapOf({ chance: { induction: 0.4, nearby: 0.46 }, near: [0.9, 0] });
  assert.equal(usualRole(short, 0), null);
});

test('the chance level is the share of a random choice among the visible keys', () => {
  const { previous, first, itself, induction, nearby } = chanceOf([[1, 2, 1, 2]]);
  const third = (1 / 2 + 1 / 3 + 1 / 4) / 3;
  assert.ok(Math.abs(previous - third) < 1e-12);
  assert.deepEqual([first, itself], [previous, previous]);
  assert.equal(nearby, 1);
  // The third and the fourth token are repeated ones.
  assert.ok(Math.abs(induction - (1 / 3 + 1 / 4) / 2) < 1e-12);
  assert.equal(chanceOf([[1, 2, 3]], false).previous, 1 / 3);
  assert.equal(chanceOf([]).induction, 0);
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
  const strip = stripOf(sample(), 'induction', 1);
  assert.deepEqual([strip.arc, strip.next], [{ t: 9, s: 2, weight: 0.8 }, ' whale']);
  assert.deepEqual(
    strip.parts.map(({ text, folded, space }) => (folded ? folded : `${space ? ' ' : ''}${text}`)),
    ['white', ' whale', '.', 4, 'the', ' white'],
  );
  const whole = stripOf(sample(), 'induction', 3);
  assert.equal(whole.parts.filter(({ folded }) => folded).length, 0);
});

test('a strip has as many words around key and query as there is room for', () => {
  const words = (letters) =>
    fittingStrip(sample(), 'induction', letters)
      .parts.map(({ text, folded }) => folded ?? text)
      .join(' ');
  assert.deepEqual([0, 37].map(words), ['whale 6 white', 'whale 6 white']);
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

test('bars of distances end after the last weight, and the share of near tokens counts whole bins', () => {
  const distances = { edges: [0, 1, 2, 4, 8, 16, 32, 64, 128, 256], values: [1, 2, 0, 1, 4, 0, 0, 0, 0] };
  const bars = barsOf(distances);
  assert.deepEqual(
    bars.map(({ from }) => from),
    [0, 1, 2, 4, 8, 16, 32, 64],
  );
  assert.equal(bars[4].share, 1);
  assert.equal(shareWithin(distances, 8), 0.5);
  assert.ok(Number.isNaN(shareWithin({ edges: [0, 1], values: [0] }, 8)));
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

test('names of roles cover neither each other nor heads, where there is room', () => {
  const cluster = (x, y) =>
    Array.from({ length: 9 }, (_, i) => ({ x: x + 12 * (i % 3), y: y + 12 * Math.floor(i / 3) }));
  const [a, b] = [cluster(60, 60), cluster(250, 180)];
  const points = [...a, ...b];
  const room = { width: 400, height: 300 };
  const size = { width: 70, height: 18 };
  const placed = placeRoles(
    [
      { role: 'itself', points: a, size },
      { role: 'induction', points: b, size },
      { role: 'first', points: [], size },
    ],
    points,
    room,
  );
  assert.deepEqual(
    placed.map(({ role }) => role),
    ['itself', 'induction'],
  );
  assert.ok(!overlap(placed[0].box, placed[1].box));
  for (const { box } of placed)
    for (const { x, y } of points) assert.ok(!overlap(box, { x: x - 6, y: y - 6, width: 12, height: 12 }));
  const names = placeHeads(
    [
      { head: 4, point: points[4], size: { width: 24, height: 14 }, needed: true },
      { head: 3, point: points[3], size: { width: 24, height: 14 }, needed: false },
      { head: 7, point: points[7], size: { width: 24, height: 14 }, needed: false },
    ],
    points,
    placed.map(({ box }) => box),
    room,
  );
  // The chosen head always has a label. Any other head has no label if there is no free space for it.
  assert.equal(names[0].head, 4);
  assert.ok(!names.some(({ head }) => head === 7));
  assert.deepEqual(
    densest([
      { x: 0, y: 0 },
      { x: 10, y: 0 },
      { x: 200, y: 0 },
    ]),
    { x: 5, y: 0 },
  );
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

test('the name of a role is beside its heads where they leave no room above and below', () => {
  const points = Array.from({ length: 16 }, (_, i) => ({ x: 150, y: 10 + 12 * i }));
  const room = { width: 300, height: 200 };
  const [{ box }] = placeRoles([{ role: 'itself', points, size: { width: 40, height: 14 } }], points, room);
  assert.ok(box.x >= 158 || box.x + box.width <= 142, `${box.x}`);
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
