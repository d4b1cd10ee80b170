// Tests which files the menu Share offers in each view, and the numbers of contributions and of a text.

import assert from 'node:assert/strict';
import test from 'node:test';
import { exportsOf } from '../../../../web/features/export/viewExports.ts';
import { contributionCsv } from '../../../../web/features/flow/contributionFile.ts';
import { allParts } from '../../../../web/features/flow/contributions.ts';
import { textCsv } from '../../../../web/features/text/textFile.ts';
import { initialState } from '../../../../web/model/state.ts';
import { strings as english } from '../../../../web/texts/en.ts';

const ABOUT = {
  ...{ kind: 'transformer', reads: 'text', guess: 'next', parts: [], edits: true, sums: true, layers: 2, heads: 2 },
};
const of = (value) => ({ value });
/** Returns the keys of the files that a view offers. */
function filesOf(view, { state = {}, ...more } = {}) {
  const session = {
    state: of({ ...initialState, view, ...state }),
    run: of({ about: ABOUT, T: 3, S: 3, values: {} }),
    ...{ about: of(ABOUT), words: of(english), trace: of(null), atlas: { map: of(null) } },
    ...{ circuit: { shown: of(null) }, surprise: { measured: of(null) } },
    ...more,
  };
  return exportsOf(session).map(({ key }) => key);
}
const WEIGHTS = Object.keys(english.exports);

test('each view offers the files of what it shows, and none before it has something to save', () => {
  for (const view of ['heatmap', 'lines', 'compare']) assert.deepEqual(filesOf(view), WEIGHTS, view);
  assert.deepEqual(filesOf('atlas'), ['csv', 'svg']);
  assert.deepEqual(filesOf('atlas', { atlas: { map: of({ source: 'scan' }) } }), ['headvis', 'csv', 'svg']);
  assert.deepEqual([filesOf('trace'), filesOf('text')], [[], []]);
  const traced = { trace: of({ problem: null }), state: { pinned: initialState } };
  assert.deepEqual(filesOf('trace', traced), ['svg', 'csv', 'mjs']);
  assert.deepEqual(filesOf('text', { surprise: { measured: of({}) } }), ['csv']);
  assert.deepEqual(filesOf('flow'), ['csv']);
  const circuit = (begun, work) => ({ state: { circuit: {} }, circuit: { shown: of({ begun, work }) } });
  assert.deepEqual(filesOf('flow', circuit({ problem: null }, { stage: 'lines' })), []);
  assert.deepEqual(filesOf('flow', circuit({ problem: null }, { stage: 'done' })), ['csv']);
  assert.deepEqual(filesOf('flow', circuit({ problem: 'close' }, { stage: 'done' })), []);
});

test('a view that is replaced by the heatmap offers the files of the heatmap', () => {
  const training = { state: { model: 'trained', panel: 'train' } };
  assert.deepEqual([filesOf('trace', training), filesOf('text', training)], [WEIGHTS, WEIGHTS]);
  const run = of({ about: { ...ABOUT, kind: 'weights', edits: false }, T: 3, S: 3 });
  const withoutPrograms = WEIGHTS.filter((kind) => kind !== 'mjs' && kind !== 'py');
  for (const view of ['trace', 'text', 'atlas']) assert.deepEqual(filesOf(view, { run }), withoutPrograms, view);
});

test('contributions are saved as one row for each part and their sum', () => {
  const added = { embed: 1, heads: [2, -3, 0.5, 4], mlps: [5, 6], bias: 0.25 };
  const parts = allParts(added, { layers: 2, heads: 2, mlps: true });
  const sum = parts.reduce((total, { value }) => total + value, 0);
  const [titles, ...rows] = contributionCsv(parts, 'decoder', sum).trim().split('\r\n');
  assert.equal(titles, 'part,attention,layer,head,logit');
  assert.deepEqual(rows.slice(0, 4), ['embed,,,,1', 'head,decoder,0,0,2', 'head,decoder,0,1,-3', 'mlp,,0,,5']);
  assert.deepEqual(rows.slice(-2), ['bias,,,,0.25', `sum,,,,${sum}`]);
});

test('a text is saved with the surprise of each token in both cases', () => {
  const token = (probability, text) => ({ probability, guesses: [{ text }] });
  const measured = {
    pieces: [{ name: 'a' }, { name: 'b' }, { name: ',' }],
    now: [undefined, token(0.25, ' c'), token(1, '=d')],
    other: [undefined, undefined, token(0.5, 'e')],
  };
  const [titles, ...rows] = textCsv(measured).trim().split('\r\n');
  assert.equal(titles, 'token,text,probability,bits,first_guess,other_probability,other_bits');
  assert.deepEqual(rows, ['0,a,,,,,', '1,b,0.25,2," c",,', `2,",",1,0,'=d,0.5,1`]);
});
