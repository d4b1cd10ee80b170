// Tests the files that a trace is saved as: a program that computes the measures, a table of the cells, and a picture.
// Also tests the view of one place.

import assert from 'node:assert/strict';
import test from 'node:test';
import { paintCells } from '../../../../web/features/trace/paintTrace.ts';
import { texts } from '../../../../web/features/trace/trace.en.ts';
import { fileOf, traceCsv, traceProgram } from '../../../../web/features/trace/traceFiles.ts';
import { layoutOf } from '../../../../web/features/trace/traceLayout.ts';
import { openInstrument } from '../../../../web/features/trace/traceState.ts';
import { runOf } from '../../../../web/model/runInput.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { startTrace, withCells } from '../../../../web/model/trace/places.ts';
import { assertSame } from '../../../support/same.js';

const [T, L, H] = [3, 2, 2];
const side = {
  pieces: ['a', 'b', 'c'].map((name, id) => ({ id, name, space: ' ', text: name })),
  value: 0,
  both: [0.5, 0.5],
  guess: '',
};
const traceOf = (more = {}) =>
  startTrace({
    layers: L,
    heads: H,
    upper: side,
    lower: side,
    total: 20,
    same: { mlp: new Uint8Array(L * T), head: new Uint8Array(L * H) },
    answers: ['ship', 'whale'],
    ids: [[1], [2]],
    places: [2, 2],
    first: 0,
    columns: [
      { from: 0, into: 0 },
      { from: 1, into: 1 },
      { from: 2, into: 2 },
    ],
    ...more,
  });
const cell = (part, layer, place, share) => ({ part, layer, place, share, value: 0.5, a: 0.25, b: 0.125 });
const stateOf = (by, more = {}) => {
  const state = change(initialState, { text: 'lower', pinned: runOf({ ...initialState, text: 'upper' }), ...more });
  return { ...state, trace: { ...state.trace, by } };
};
const programOf = (by, trace = {}, more = {}) =>
  traceProgram(traceOf(trace), stateOf(by, more), { title: 'x', layers: L, heads: H, parts: [], reads: 'text' });

test('the program names the answers, both sentences, and the parts that were measured', () => {
  const program = programOf('score');
  assert.match(program, /^\/\/ How much of “ship” against “whale” returns/);
  assert.match(program, /const upper = .*upper.*\nconst lower = .*lower/);
  assert.match(program, /const metric = logitDifference\(1, 2\);/);
  assert.match(program, /patchGrid\(model, upper, lower, metric\);/);
  assert.match(programOf('score', { places: [1, 1] }), /const metric = logitDifference\(1, 2, -2\);/);
  assert.match(programOf('score', { answers: ['a\nb', 'c'] }), /^\/\/ How much of “a b” against “c”/);
  assert.match(programOf('score', {}, { scale: { 0.1: 0 } }), /patchGrid\(changed, upper, lower, metric\);/);
});

test('the measure of the program is that of its row of logits', () => {
  const data = Float32Array.of(9, 9, 9, 9, Math.log(1), Math.log(2), Math.log(3), Math.log(4), 9, 9, 9, 9);
  const result = { logits: { data, shape: [1, 3, 4] } };
  for (const [by, ids, expected] of [
    ['score', [[1, 3], [2]], Math.log(6 / 3)],
    ['probability', [[1], [2]], 2 / 10],
    ['log', [[1, 0], [2]], Math.log(3 / 10)],
  ])
    for (const [place, at] of [
      [1, result],
      [2, { logits: { data: data.subarray(0, 8), shape: [1, 2, 4] } }],
    ]) {
      const lines = programOf(by, { ids, places: [place, place] }).match(/^const (sum|rowOf|metric) = .*$/gm);
      const metric = new Function(`${lines.join('\n')}\nreturn metric;`)();
      assert.ok(Math.abs(metric(at) - expected) < 1e-6, `${by} at ${place}`);
    }
});

test('the table has a line for each place that was measured', () => {
  const trace = withCells(traceOf(), {
    cells: [cell('mlp', 1, 2, 0.75), cell('head', 1, 0, -0.5)],
    done: 2,
    total: 20,
    left: 0,
  });
  assert.deepEqual(traceCsv(trace, 'score').split('\r\n'), [
    'part,layer,token,word,head,share,score,p(ship),p(whale)',
    'mlp,1,2,c,,0.75,0.5,0.25,0.125',
    'head,1,,,0,-0.5,0.5,0.25,0.125',
    '',
  ]);
});

/** Returns a trace with every cell measured. The share of a cell is its index in hundredths. */
function wholeTrace() {
  const same = { stream: new Uint8Array(L * T), mlp: new Uint8Array(L * T), head: new Uint8Array(L * H) };
  const cells = [
    ...['stream', 'mlp'].flatMap((part, i) =>
      Array.from({ length: L * T }, (_, n) => cell(part, Math.floor(n / T), n % T, (10 * i + n + 7) / 100)),
    ),
    ...Array.from({ length: L * H }, (_, n) => cell('head', Math.floor(n / H), n % H, (n + 30) / 100)),
  ];
  return withCells(traceOf({ same }), { cells, done: 16, total: 16, left: 0 });
}
/**
 * Labels of the cells of the residual stream, which show their share if it is at least 10 per cent. Other cells show it
 * only if it is above 100 per cent.
 */
const FIGURES = ['10', '11', '12'];

test('the words of the drawing keep the width that they have in the page, and fit into their columns', () => {
  const widths = { a: 9, b: 500, c: 7 };
  const measure = (text) => widths[text] ?? 11;
  const svg = fileOf('svg', wholeTrace(), {
    state: stateOf('score'),
    about: null,
    own: texts,
    theme: 'light',
    measure,
  });
  const fixedAt = (word) =>
    [...svg.matchAll(new RegExp(`textLength="([\\d.]+)"[^>]*>${word}</text>`, 'g'))].map((all) => all[1]);
  assert.deepEqual(
    [fixedAt('a'), fixedAt('b'), fixedAt('c')],
    [
      ['9.0', '9.0'],
      ['58.0', '58.0'],
      ['7.0', '7.0'],
    ],
  );
  const families = [...svg.matchAll(/font-family="([^"]*)"/g)].map((all) => all[1]);
  assert.ok(families.length > 1 && families.every((family) => /, (sans-)?serif$/.test(family)));
});

test('the drawing has a rectangle for each cell, which overlaps no other, and its texts are in it', () => {
  const shown = { state: stateOf('score'), about: null, own: texts, theme: 'light' };
  const svg = fileOf('svg', wholeTrace(), shown);
  assertSame('traceFigure', { svg: svg.split('\n') });
  const numbers = (tag) => [...tag.matchAll(/="(-?[\d.]+)"/g)].map(([, number]) => Number(number));
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg).map(Number);
  const rects = [...svg.matchAll(/<rect x=[^>]*>/g)].map(([tag]) => numbers(tag));
  const scale = Math.min(...rects.filter(([, , , h]) => h === 10).map(([, y]) => y));
  const boxes = rects.filter(([, y]) => y < scale);
  assert.equal(boxes.length, 2 * L * T + L * H);
  boxes.forEach(([x, y, w, h], i) => {
    assert.ok(w > 0 && h > 0 && x >= 0 && x + w <= width && y >= 0 && y + h < scale);
    for (const [x2, y2, w2, h2] of boxes.slice(i + 1))
      assert.ok(x + w <= x2 + 0.11 || x2 + w2 <= x + 0.11 || y + h <= y2 + 0.11 || y2 + h2 <= y + 0.11);
  });
  const written = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)" [^>]*font-size="(\d+)"[^>]*>([^<]*)/g)];
  for (const [, x, y, size, words] of written)
    assert.ok(x < width && y < height && [12, 13, 15].includes(Number(size)), `${words}: ${x} ${y} ${size}`);
  // The name of a layer is in the row of the cells of that layer. Layer 0 is the lowest.
  const ys = [...new Set(boxes.map(([, y]) => y))].sort((a, b) => b - a);
  const names = [0, 1].map((layer) => Number(written.find(([, , , , words]) => words === texts.layer(layer))[2]));
  assert.ok(names[0] > ys.at(-1) + 46 && names[0] < scale && names[1] > ys.at(-1) && names[1] < ys.at(-1) + 46);
  assert.deepEqual(
    written.map(([, , , , words]) => words).filter((words) => /^1\d$/.test(words)),
    FIGURES,
  );
});

test('in the grid the parts of the stream have figures from ten per cent on, others none', () => {
  const trace = wholeTrace();
  const rows = ['stream', 'mlp'];
  const sizes = { width: 186, height: 92, headsWidth: 32 };
  const layout = layoutOf({ layers: L, places: [0, 1, 2], heads: H, rows }, sizes);
  const [texts, boxes] = [[], []];
  const context = { fillText: (text) => texts.push(text), fillRect: (...box) => boxes.push(box) };
  const how = { theme: 'light', ink: '#000', font: 'serif', size: 12 };
  paintCells(context, trace, layout, { ...how, parts: rows, places: [0, 1, 2] });
  assert.deepEqual([texts, boxes.length], [FIGURES, 2 * L * T]);
  paintCells(context, trace, layout, { ...how, parts: ['head'], places: [0, 1] });
  assert.deepEqual([texts, boxes.length], [FIGURES, 2 * L * T + L * H]);
});

test('the instrument opens at the token of a place, for a head at the last one, and at its strongest key', () => {
  const trace = withCells(traceOf(), { cells: [cell('head', 1, 1, 0.9)], done: 1, total: 20, left: 0 });
  const weights = new Float32Array(L * H * T * T);
  const peak = (layer, head, t, s) => (weights[((layer * H + head) * T + t) * T + s] = 1);
  peak(1, 1, 1, 1);
  peak(1, 0, 2, 1);
  const open = (place, run = { T, S: T, weights, about: { heads: H } }) => {
    const made = [];
    openInstrument(
      {
        trace: { value: trace },
        run: { value: run },
        pointTrace: (at) => made.push(at),
        update: (all) => made.push(all),
      },
      place,
    );
    assert.equal(made[0], null);
    return made[1];
  };
  const view = 'heatmap';
  assert.deepEqual(open({ part: 'mlp', layer: 1, place: 1 }), {
    view,
    patch: { 'mlp.1.1': 1 },
    layer: 1,
    head: 1,
    cell: { t: 1, s: 1 },
  });
  assert.deepEqual(open({ part: 'head', layer: 1, place: 0 }), {
    view,
    patch: { '1.0': 1 },
    layer: 1,
    head: 0,
    cell: { t: 2, s: 1 },
  });
  assert.deepEqual(open({ part: 'mlp', layer: 0, place: 2 }, null).cell, { t: 2, s: 2 }, 'without weights');
});
