// Tests positions and sizes of drawings, computed without a browser, with cases for every arrangement that a function
// supports.

import test from 'node:test';
import { bent } from '../../web/drawing/flowLines.ts';
import { scaleOf } from '../../web/features/atlas/axes.ts';
import { mapCsv, mapSvg } from '../../web/features/atlas/map/exportMap.ts';
import { sizeOf } from '../../web/features/atlas/shapes.ts';
import { planOf } from '../../web/features/compare/alignedLayout.ts';
import { arcOf } from '../../web/features/first/arc.ts';
import { feetOf, isSlanted } from '../../web/features/flow/flowTokens.ts';
import { labelStep, layoutOf as traceLayout } from '../../web/features/trace/traceLayout.ts';
import { framesOf, parted, smoothed } from '../../web/features/train/chartLines.ts';
import { barsOf } from '../../web/parts/bars.ts';
import { layoutOf as headLayout } from '../../web/parts/headLayout.ts';
import {
  labelSize,
  labelsAbove,
  namesWithRoom,
  nameWidth,
  patchesOf,
  pictureOf,
  rowsOf,
  screenOf,
  thumbnailSize,
  thumbnailsOf,
  topOf,
} from '../../web/ui/layout.ts';
import { assertSame } from '../support/same.js';

/** Returns the values of a function for named lists of arguments. */
const each = (of, cases) => Object.fromEntries(Object.entries(cases).map(([name, given]) => [name, of(...given)]));
/** Returns the values of a function for each of several arguments. */
const along = (of, list) => Object.fromEntries(list.map((given) => [given, of(given)]));
const ROOMS = { desk: [684, 640], phone: [328, 420], low: [500, 250], wide: [1100, 900] };

test('screens, labels and names', () => {
  assertSame('labels', {
    ...along((width) => screenOf(width), [559, 560, 899, 900, 1199, 1200, 1699, 1700, 2199, 2200]),
    ...along((width) => screenOf(Number(width.slice(4)), true), ['low 559', 'low 560', 'low 999', 'low 1000']),
    sizes: [8.9, 9, 20, 40].map((cell) => labelSize(cell, 15)),
    above: [labelsAbove(14, 12, 20), labelsAbove(15, 12, 20), labelsAbove(40, 12, 20), labelsAbove(1, 1, 2)],
    widths: [nameWidth('itself'), nameWidth('上一个', 15), nameWidth('')],
    kept: [namesWithRoom([40, 40, 0, 40, 60], 45, -1), namesWithRoom([60, 60, 60, 60], 45, 1)],
    inDistance: [namesWithRoom([45, 45, 45], 45, -1), namesWithRoom([46, 45, 45], 45, -1)],
  });
});

test('the large picture and its margins', () => {
  const widest = (size) => 4 * size;
  const beyond = (size, cell) => 3 * size - cell;
  const given = { most: 15, widest };
  const cases = {};
  for (const [name, [width, height]] of Object.entries(ROOMS))
    for (const tokens of [0, 1, 5, 6, 17, 40, 41, 200, 1000])
      for (const more of [{}, { full: true }, { beyond }, { bare: true }])
        if (tokens < 20 || !more.bare)
          cases[`${name} ${tokens} ${Object.keys(more).join(' ')}`.trim()] = [
            { ...given, full: false, width, height, tokens, ...more },
          ];
  cases.keys = [{ ...given, full: true, width: 684, height: 640, tokens: 3, keys: 40 }];
  cases.tallest = [{ ...given, full: false, width: 328, height: 900, tokens: 9, tallest: 120 }];
  assertSame('picture', each(pictureOf, cases));
  assertSame('pictureTop', {
    ...along((side) => topOf(600, { side, top: 40 }), [100, 290, 299, 300, 301, 590]),
  });
});

test('patches above or beside the same patches with their weights', () => {
  const lengths = { paneLine: 30, paneGap: 20, paneTitle: 60, besidePanes: 240 };
  const cases = {};
  for (const [name, [width, height]] of Object.entries({ ...ROOMS, flat: [1100, 300] }))
    for (const [rows, columns] of [
      [10, 14],
      [16, 16],
      [37, 37],
    ])
      cases[`${name} ${rows} ${columns}`] = [{ width, height, rows, columns }, lengths];
  assertSame('patches', each(patchesOf, cases));
});

const MODELS = [
  [5, 4],
  [1, 8],
  [1, 1],
  [2, 32],
  [12, 12],
  [32, 32],
];
const MODEL_ROOMS = { desk: [318, 440], phone: [180, 195], tablet: [192, 500], large: [900, 1100] };
test('the heads of a model', () => {
  const [heads, thumbnails] = [{}, {}];
  for (const [name, [width, height]] of Object.entries(MODEL_ROOMS))
    for (const [layers, count] of MODELS)
      for (const names of [true, false]) {
        const key = `${name} ${layers} ${count}${names ? ' names' : ''}`;
        thumbnails[key] = thumbnailsOf({ width, height, tokens: 17, layers, heads: count, names });
        const room = { width, height, names, letter: name === 'large' ? 15 : 12 };
        const gap = { size: name === 'tablet' ? 46 : 0, below: 4 };
        const { rowTop, middle, ...layout } = headLayout({ layers, heads: count, name: 50 }, room, gap);
        const rows = [0, layers - 1].flatMap((layer) => [rowTop(layer), rowTop(layer, count - 1), middle(layer)]);
        heads[key] = { ...layout, rows };
      }
  assertSame('heads', heads);
  assertSame('thumbnails', {
    ...thumbnails,
    sizes: [
      [50, 0],
      [50, 17],
      [20, 17],
      [26, 17],
      [71, 24],
      [71, 25],
    ].map(([most, tokens]) => thumbnailSize(most, tokens)),
    oneRow: rowsOf({ width: 400, height: 300, tokens: 9, layers: 1, heads: 8, names: true, name: 120 }),
    noName: rowsOf({ width: 400, height: 300, tokens: 9, layers: 1, heads: 8, names: false }),
  });
});

test('the arc over the first sentence', () => {
  const box = (left, top, width) => ({ left, right: left + width, top, bottom: top + 40 });
  const cases = {};
  for (const on of [true, false])
    for (const endsLine of [true, false])
      for (const [line, width, from, to] of [
        ['one line', 1376, box(200, 200, 20), box(1200, 200, 90)],
        ['near', 1376, box(200, 200, 20), box(300, 219, 90)],
        ['two lines', 328, box(150, 60, 90), box(120, 200, 80)],
        ['lines below each other', 328, box(150, 60, 90), box(120, 80, 80)],
      ])
        for (const room of [60, 200])
          cases[`${line} ${on} ${endsLine} ${room}`] = [{ from, to, width, thickness: 8, room, on, endsLine }];
  assertSame('arc', each(arcOf, cases));
});

test('tokens below the flow, and bent lines', () => {
  const flow = (width, S) => ({ side: 76, width, run: { S } });
  const row = Float32Array.from({ length: 40 }, (_, i) => ((i * 7) % 11) / 11);
  const cases = {};
  for (const [width, S] of [
    [1048, 1],
    [1048, 17],
    [1048, 22],
    [1048, 40],
    [328, 17],
    [328, 3],
    [150, 9],
  ])
    cases[`${S} in ${width}`] = [flow(width, S), row];
  assertSame('feet', {
    ...each(feetOf, cases),
    slanted: Object.values(cases).map(([one]) => isSlanted(one)),
    bent: [
      bent(
        [
          [0, 0],
          [40, 0],
          [40, 30],
          [44, 30],
          [44, 80],
        ],
        6,
      ),
    ],
  });
});

test('bars of numbers and of weights', () => {
  const numbers = [0, 2, -4, 1, 0.001, -0.001, Number.NaN];
  const weights = [0, 1, 0.25, 0.001, 0.5];
  const of = (values, isWeights) => values.map(barsOf(values, isWeights));
  const many = Array.from({ length: 64 }, (_, i) => i - 20);
  assertSame('bars', { numbers: of(numbers, false), weights: of(weights, true), many: of(many, false).slice(0, 5) });
});

test('the grid of a trace', () => {
  const found = {};
  for (const layers of [2, 5, 24, 80])
    for (const rows of [['stream', 'heads', 'mlp'], ['mlp'], []])
      for (const count of [3, 24, 25]) {
        const places = Array.from({ length: count }, (_, i) => (i === 1 ? -1 : i));
        const layout = traceLayout({ layers, places, heads: 6, rows }, { width: 600, height: 400, headsWidth: 90 });
        const parts = [...rows, 'head'].flatMap((part) =>
          [0, layers - 1].map((layer) => layout.boxOf({ part, layer, place: 2 })),
        );
        const points = [
          [0, 0],
          [599, 399],
          [250, 12],
          [250, 399.5],
          [450, 130],
          [5, 400],
          [5, -1],
        ];
        found[`${layers} ${rows} ${count}`] = [
          layout.step,
          parts,
          points.map(([x, y]) => layout.placeAt(x, y)),
          points.map(([x, y]) => layout.headAt(x / 6, y)),
        ];
      }
  const shown = Object.fromEntries(
    Object.entries(found).filter(([name]) => !/^(24|80) .*(24|25)$/.test(name) || /^80 stream.*25/.test(name)),
  );
  assertSame('traceGrid', { ...shown, steps: [4, 9, 15, 20, 40].map((step) => labelStep(step, 12)) });
});

test('axes, sizes and files of the map of heads', () => {
  const values = [0.1, 0.55, 0.9, Number.NaN, 0.31, 0.02];
  const axis = (name, ...scale) => {
    const { at, ...rest } = scaleOf(name, ...scale);
    return [rest, [0, 0.5, 1, 3].map(at)];
  };
  const measures = {
    selfAttention: values,
    previous: [0.2, 0, 0.5, 0.71, 0.3, 0.1],
    entropy: [0, Math.log(4), 1, 2, 3, 0.5],
    distance: [3, 1, 0, 17, 2, 5],
    distanceVariance: [4, 9, 0, 2, 1, 3],
    induction: values.map((x) => 1 - x),
    first: [0, 0, 0.4, 0.9, 0.1, 0.2],
    duplicate: [0, 0, 0, 0, 0.8, 0.1],
  };
  const named = {
    roles: [
      ['induction', null],
      ['itself', 'previous'],
      [null, null],
    ],
    weights: [
      [0.71, null],
      [0.9, 0.8],
      [null, null],
    ],
  };
  const map = { layers: 3, heads: 2, measures, means: {}, chances: {} };
  const texts = {
    axes: { previous: 'before <it>', distance: 'how far & wide' },
    roles: { induction: 'finds it', itself: 'itself', previous: 'before' },
  };
  assertSame('map', {
    shares: axis('previous', [0, 0.3, 0.77], 0, 600),
    negative: axis('induction', [-0.4, 0.2], 500, 0),
    none: axis('previous', [], 0, 600),
    cost: axis('cost', [0.001, 0.004], 0, 600),
    tokens: axis('distance', [0, 3, 60], 0, 600),
    spread: axis('spread', [1, 5], 500, 0),
    csv: mapCsv(map, named).split('\n'),
    svg: mapSvg(map, named, ['previous', 'distance'], 'light', texts).split('\n'),
    sizes: [sizeOf(6, 0, 1), sizeOf(6, 0.5, 1), sizeOf(6, 1, 1), sizeOf(200, 1, 1), sizeOf(2000, 1, 0)],
  });
});

test('two pictures of runs', () => {
  // Only a browser can measure the width of letters, so every text is 20 px wide here.
  globalThis.document ??= { createElement: () => ({ getContext: () => ({ measureText: () => ({ width: 20 }) }) }) };
  const names = (n) => Array.from({ length: n }, (_, i) => `t${i}`);
  const side = (n) => ({ names: names(n), keys: names(n) });
  const found = {};
  for (const [name, [width, height]] of Object.entries(ROOMS))
    for (const n of [5, 17, 40, 150])
      for (const [way, old, count, full, free] of [
        ['beside', side(n), 2, false, false],
        ['other rows', side(n - 1), 2, true, false],
        ['below', side(n), 2, false, true],
        ['one', null, 1, false, false],
      ])
        found[`${name} ${n} ${way}`] = () =>
          planOf({ width, height, most: 15, free }, { rows: { n }, columns: { n }, now: side(n), old, full, count });
  assertSame('aligned', Object.fromEntries(Object.entries(found).map(([name, make]) => [name, make()])));
});

test('curves of training', () => {
  const film = [0, 4, 10, 25].map((step) => ({ step }));
  const frames = (...given) => framesOf(film, ...given).map((frame) => frame?.step ?? frame);
  const marks = Array.from({ length: 30 }, (_, i) => [i, i % 5]);
  assertSame('curves', {
    frames: [frames(30, 4, 30), frames(30, 4, 12), frames(30, 1, 12), frames(30, 4, 0)],
    parted: [parted([10, 12, 30], 8, 100), parted([95, 96, 97], 8, 100), parted([1, 90, 2], 8, 91)],
    smoothed: smoothed(marks),
  });
});
