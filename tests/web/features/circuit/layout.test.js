// Tests the drawing of a circuit: the positions of nodes, and that no edge crosses a node.

import assert from 'node:assert/strict';
import test from 'node:test';
import { columnsOf } from '../../../../web/features/circuit/circuitColumns.ts';
import { layoutOf } from '../../../../web/features/circuit/circuitLayout.ts';
import { footOf, partsOf } from '../../../../web/features/circuit/circuitNodes.ts';
import { freeOf, routesOf, tracksOf } from '../../../../web/features/circuit/circuitRoutes.ts';
import { figuresOf } from '../../../../web/features/circuit/lineFigures.ts';
import { isTooLarge, shownLines, usualCount } from '../../../../web/model/circuit/shownLines.ts';
import { assertSame } from '../../../support/same.js';

const T = 8;
const at = (t, value = 1) => Array.from({ length: T }, (_, i) => (i === t ? value : 0));
const node = (text) => {
  const [, letter, layer, head] = /^([ehmqkvl])(?:(\d+)(?:\.(\d+))?)?$/.exec(text);
  const kind = { e: 'embed', h: 'head', m: 'mlp', q: 'query', k: 'key', v: 'value', l: 'logits' }[letter];
  return { kind, ...(layer && { layer: Number(layer) }), ...(head && { head: Number(head) }) };
};
const line = (name, cost, terms) => {
  const [from, to] = name.split('-').map(node);
  return { name, from, to, terms, cost, was: null, isCut: false, value: cost, both: [0.5] };
};
/** An induction circuit with many further edges between its layers. */
const LINES = [
  line('h3.3-k4.2', -85, at(4)),
  line('h4.2-l', -86, at(7)),
  line('e-v0.1', -87, at(6)),
  line('e-v0.2', -40, at(4)),
  line('h0.1-v4.2', -14, at(4)),
  line('h0.2-v4.2', -13, at(4)),
  line('h0.1-q4.2', -2, at(7, 0.5)),
  line('h0.2-m0', -3, at(4)),
  line('m0-q4.2', -10, at(4)),
  line('m0-v3.3', -3, at(3)),
  line('h0.3-m3', -2, at(1)),
  line('m3-k4.2', -24, at(4, -1)),
  line('h1.0-m4', 1, at(7)),
  line('m4-l', -1, at(7)),
];
const INPUT = {
  ...{ lines: LINES, all: LINES, layers: 5, perGroup: 1, words: new Array(T).fill(40), roleOf: () => null },
  ...{ width: 1000, height: 640, top: 90, bottom: 44, side: 70, pill: 108, letter: 13 },
};

test('a part stands above the token with the largest share of what it writes, or reads', () => {
  const parts = new Map(partsOf(LINES, LINES, { tokens: T, perGroup: 1 }).map((part) => [part.key, part]));
  assert.deepEqual(
    ['h3.3', 'h4.2', 'h0.1', 'm3', 'm4'].map((key) => parts.get(key).token),
    [4, 7, 4, 4, 7],
  );
  assert.equal(parts.get('h0.1').second, 7);
  assert.equal(parts.get('h3.3').second, null);
  assert.equal(parts.size, 9);
  // If only some edges are drawn, nodes have the same positions as if all edges were drawn.
  const few = partsOf(LINES.slice(2, 3), LINES, { tokens: T, perGroup: 1 });
  assert.deepEqual(
    few.map(({ key, token }) => [key, token]),
    [['h0.1', 4]],
  );
  // A key input that several heads share is drawn at the first of these heads.
  const shared = partsOf([line('h0.0-k1.1', -1, at(0))], [line('h0.0-k1.1', -1, at(0))], { tokens: T, perGroup: 4 });
  assert.deepEqual(
    shared.map(({ key }) => key),
    ['h0.0', 'h1.4'],
  );
});

test('a line from the words begins at a token that its target can see', () => {
  assert.equal(footOf(line('e-v0.1', -1, [0, 3, 1, 0, 0, 0, -5, 0])), 6);
  assert.equal(footOf(line('e-v0.1', -1, [0, 3, 1, 0, 0, 0, -5, 0]), 4), 1);
});

/** Returns the segments of edges that are inside the box of a node. */
function crossings({ boxes, lines }) {
  const found = [];
  for (const { name, points } of lines)
    for (const box of boxes)
      points.slice(1).forEach(([x, y], i) => {
        const [a, b] = points[i];
        const [left, right, top, bottom] = [Math.min(a, x), Math.max(a, x), Math.min(b, y), Math.max(b, y)];
        if (right > box.x + 1 && left < box.x + box.width - 1 && bottom > box.y + 1 && top < box.y + box.height - 1)
          found.push(`${name} ${box.key}`);
      });
  return found;
}

test('lines run from a part to the base of another, and cross no part', () => {
  for (const [width, height, pill, side] of [
    [1000, 640, 108, 70],
    [700, 640, 108, 70],
    [1400, 900, 108, 70],
    [328, 430, 44, 22],
  ]) {
    const lines = width < 400 ? LINES.slice(0, 6) : LINES;
    const layout = layoutOf({ ...INPUT, lines, width, height, pill, side });
    assert.deepEqual(crossings(layout), [], `${width}`);
    for (const { points } of layout.lines)
      points.slice(1).forEach(([x, y], i) => {
        assert.ok(x === points[i][0] || y === points[i][1], 'lines are level or upright');
      });
    for (const { x, y, width: w, height: h } of layout.boxes)
      assert.ok(x >= 0 && x + w <= width && y >= 0 && y + h <= height);
  }
});

test('query, key and value end at the base of a head from left to right', () => {
  const { lines, boxes } = layoutOf(INPUT);
  const box = boxes.find(({ key }) => key === 'h4.2');
  const end = (name) => lines.find((one) => one.name === name).points.at(-1);
  const [q, k, v] = ['m0-q4.2', 'h3.3-k4.2', 'h0.1-v4.2'].map(end);
  assert.ok(box.x <= q[0] && q[0] < k[0] && k[0] < v[0] && v[0] <= box.x + box.width);
  for (const [, y] of [q, k, v]) assert.ok(y > box.y + box.height && y < box.y + box.height + 6);
});

test('widths are the points lost, and figures do not overlap', () => {
  const { lines } = layoutOf(INPUT);
  const width = (name) => lines.find((one) => one.name === name).width;
  assert.ok(Math.abs(width('h3.3-k4.2') / width('e-v0.2') - 85 / 40) < 1e-9);
  assert.equal(width('h1.0-m4'), width('m4-l'));
  const figures = lines.flatMap(({ figure }) => (figure ? [figure] : []));
  for (const { figure, points, width: thick } of lines) {
    if (!figure) continue;
    const [x, y] = [figure.x + 17, figure.y + 7];
    const away = points.slice(1).map(([bx, by], i) => {
      const [ax, ay] = points[i];
      const beyond = (at, a, b) => Math.max(Math.min(a, b) - at, at - Math.max(a, b), 0);
      return Math.max(beyond(x, ax, bx) - 17, beyond(y, ay, by) - 7);
    });
    assert.ok(Math.min(...away) < thick + 16, `${JSON.stringify(figure)} is not beside ${JSON.stringify(points)}`);
  }
  assert.ok(figures.length >= LINES.length - 4);
  figures.forEach((a, i) => {
    for (const b of figures.slice(i + 1)) assert.ok(Math.abs(a.x - b.x) >= 34 || Math.abs(a.y - b.y) >= 15);
  });
});

test('rows without parts are thin, and tokens without lines are left out where there is no room', () => {
  const { rows } = layoutOf({ ...INPUT, lines: LINES.slice(0, 2), all: LINES.slice(0, 2) });
  assert.deepEqual(
    rows.map(({ layer, isThin }) => [layer, isThin]),
    [
      [0, true],
      [1, true],
      [2, true],
      [3, false],
      [4, false],
    ],
  );
  const input = { words: new Array(40).fill(50), parts: [], feet: [3, 39], widthOfPart: () => 40, left: 20 };
  const { columns, rest } = columnsOf({ ...input, right: 320 });
  assert.ok(columns[3].text && columns[39].text);
  assert.ok(rest.length > 0 && columns.filter(({ text }) => text).length < 10);
  assert.equal(columnsOf({ ...input, right: 4000 }).rest.length, 0);
});

test('free spans, and tracks of lines that would overlap', () => {
  const taken = [
    { left: 4, right: 6 },
    { left: 5, right: 8 },
    { left: 0, right: 1 },
  ];
  assert.deepEqual(freeOf(taken, { left: 0, right: 10 }), [
    { left: 1, right: 4 },
    { left: 8, right: 10 },
  ]);
  const way = (name, from, to, low, high) => ({ name, from, to, low, high, width: 4 });
  const ways = [way('a', 0, 50, 1, 1), way('b', 20, 80, 1, 1), way('c', 90, 120, 1, 1)];
  const routes = routesOf(ways, [[], []], { left: 0, right: 200 });
  assert.deepEqual(
    tracksOf(routes, 3).map((tracks) => tracks.length),
    [0, 2, 0],
  );
});

const point = (count, kept, random = false) => ({ count, kept, random, value: kept, both: [kept] });
const CIRCUIT = {
  needed: [],
  begun: { whole: { value: 1, both: [0.8] } },
  work: { stage: 'done' },
  lines: [line('h0.0-l', 0.5, []), line('h0.1-l', 0.1, []), line('h0.2-l', 0.3, [])],
  points: [point(1, 0.1), point(2, 0.95), point(3, 1), point(1, 0, true)],
  cuts: null,
};

test('as many lines are shown as keep 90%, the strongest first', () => {
  assert.equal(usualCount(CIRCUIT), 2);
  assert.equal(usualCount({ ...CIRCUIT, points: [point(1, 0.1), point(2, 0.5), point(3, 0.4)] }), 2);
  assert.equal(usualCount({ ...CIRCUIT, points: [] }), 3);
  const lines = CIRCUIT.lines.map((one) => ({ ...one, both: [one.value] }));
  assert.deepEqual(
    shownLines({ ...CIRCUIT, lines }, 2).map(({ name, cost }) => [name, Math.round(cost)]),
    [
      ['h0.1-l', -70],
      ['h0.2-l', -50],
    ],
  );
  assert.deepEqual(
    shownLines({ ...CIRCUIT, lines, needed: ['h0.2-l'] }, 1).map(({ name }) => name),
    ['h0.2-l'],
  );
  assert.equal(isTooLarge(CIRCUIT), false);
  assert.equal(isTooLarge({ ...CIRCUIT, points: [point(1, 0.1), point(2, 0.18)] }), true);
  assert.equal(isTooLarge({ ...CIRCUIT, work: { stage: 'curve' }, points: [point(1, 0.1)] }), false);
});

test('with cuts each line has its new cost and the old one', () => {
  const lines = CIRCUIT.lines.map((one) => ({ ...one, both: [one.value] }));
  const cuts = { cut: ['h0.1-l'], now: { value: 0.1, both: [0.4] }, lines: { 'h0.2-l': { value: 0, both: [0.3] } } };
  const [cut, other] = shownLines({ ...CIRCUIT, lines, cuts }, 2);
  assert.deepEqual([cut.isCut, other.isCut], [true, false]);
  assert.deepEqual([other.cost, other.was].map(Math.round), [-10, -50]);
});

test('places, ways and figures of a circuit', () => {
  const cases = {
    desk: INPUT,
    phone: { ...INPUT, width: 328, height: 420, side: 20, pill: 84, letter: 12 },
    wide: { ...INPUT, width: 1700, height: 900, words: new Array(T).fill(70) },
    groups: { ...INPUT, perGroup: 2 },
  };
  const found = Object.entries(cases).map(([name, input]) => [name, layoutOf(input)]);
  assertSame('circuit', Object.fromEntries(found));
});

test('a figure is beside the longest part of its line where both ends have no room', () => {
  const points = [
    [20, 300],
    [20, 200],
    [200, 200],
    [200, 40],
  ];
  const ends = [
    { x: 130, y: 10, width: 140, height: 60 },
    { x: -50, y: 270, width: 140, height: 60 },
  ];
  const line = { name: 'one', points, width: 4, cost: 1 };
  const figures = figuresOf([line], ends, [], { left: 0, right: 300, letter: 10 });
  const { x, y } = figures.get('one');
  assert.ok(x > 20 && x < 200 && y < 200 && y > 180, `${x}, ${y}`);
});
