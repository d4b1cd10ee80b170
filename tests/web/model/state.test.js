// The page's model, without a page.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  attentionOptions,
  constructHeads,
  EXAMPLES,
  PAINT_STRIDE,
  SENTENCE,
  tokenize,
} from '../../../web/model/examples.js';
import { formatWeight, makeScale } from '../../../web/model/scale.js';
import {
  change,
  checkPatch,
  follow,
  headChoices,
  initialState,
  mark,
  paint,
  regionOf,
  step,
  zoom,
} from '../../../web/model/state.js';
import { LANGUAGES } from '../../../web/model/strings.js';
import { hl } from '../../support/headlight.js';

const strings = LANGUAGES.en;

const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

test('every example has a name and a paragraph, every constructed head too', () => {
  assert.deepEqual(Object.keys(strings.examples), Object.keys(EXAMPLES));
  assert.deepEqual(Object.keys(strings.about), Object.keys(EXAMPLES));
  for (const [kind, count] of [
    ['words', 8],
    ['patches', 6],
  ]) {
    assert.equal(strings.heads[kind].length, count);
    assert.equal(strings.headAbout[kind].length, count);
  }
});

test('text becomes words and signs, in any script', () => {
  assert.deepEqual(tokenize('The cat, it’s here!'), ['The', 'cat', ',', 'it’s', 'here', '!']);
  assert.deepEqual(tokenize('注意力 機制'), ['注', '意', '力', '機', '制']);
  assert.deepEqual(tokenize('שלום עולם'), ['שלום', 'עולם']);
  assert.deepEqual(tokenize('हिन्दी'), ['हिन्दी']);
  assert.deepEqual(tokenize('a👩‍🚀b'), ['a', '👩‍🚀', 'b']);
  assert.deepEqual(tokenize('<img src=x>'), ['<', 'img', 'src', '=', 'x', '>']);
  assert.deepEqual(tokenize(' \n '), []);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) =>
      assert.equal(tokenize(text).join(''), text.replace(/\s/gu, '')),
    ),
    { seed: 4 },
  );
});

test('the constructed heads do what they are called', () => {
  const tokens = tokenize(SENTENCE);
  const n = tokens.length;
  const { x, wq, wk, width, headDim, count } = constructHeads(tokens);
  hl.scope(() => {
    const layer = hl.multiHeadAttention({
      embedDim: count * headDim,
      numHeads: count,
      headDim,
      queryDim: width,
      keyDim: width,
      valueDim: width,
      bias: false,
      outProjection: false,
    });
    layer.loadStateDict({
      wq: { data: wq, shape: [count * headDim, width] },
      wk: { data: wk, shape: [count * headDim, width] },
      wv: { data: wk, shape: [count * headDim, width] },
    });
    const { weights } = layer.forward({ data: x, shape: [n, width] }, { weights: true });
    const row = (h, t) => [...weights.data.subarray((h * n + t) * n, (h * n + t + 1) * n)];
    const top = (h, t) => row(h, t).indexOf(Math.max(...row(h, t)));
    for (let t = 0; t < n; t++) {
      if (t > 0) assert.equal(top(0, t), t - 1);
      if (t < n - 1) assert.equal(top(1, t), t + 1);
      assert.equal(top(2, t), t);
      assert.equal(top(3, t), 0);
      tokens.forEach((token, s) => assert.equal(row(4, t)[s] > 0.2, token.toLowerCase() === tokens[t].toLowerCase()));
      assert.equal(top(6, t), t);
      assert.ok(row(7, t).every((w) => Math.abs(w - 1 / n) < 1e-6));
    }
    assert.equal(tokens[top(5, tokens.indexOf('it'))], 'mat');
    assert.equal(tokens[top(5, tokens.lastIndexOf('it'))], 'dog');
    assert.equal(top(5, 1), 1);
  });
});

test('a change of example puts everything in range', () => {
  for (const example of Object.keys(EXAMPLES)) {
    const state = change({ ...initialState, heads: 8, head: 7, batch: 2, mask: 'causal' }, { example });
    assert.ok(headChoices(state).includes(state.heads));
    assert.ok(state.head < state.heads);
    if (example !== 'sentence') assert.equal(state.mask, 'none');
  }
  assert.equal(change(initialState, { heads: 3 }).head, 2);
  assert.deepEqual(change({ ...initialState, off: [1, 7] }, { heads: 4 }).off, [1]);
  assert.equal(change({ ...initialState, locked: true }, { cell: null }).locked, false);
  assert.equal(change(initialState, { temperature: 1e9 }).temperature, 10);
  assert.equal(change(initialState, { seed: NaN }).seed, initialState.seed);
});

test('masks and temperature become options of attention', () => {
  const problem = EXAMPLES.sentence.problem(initialState);
  const n = problem.keys.length;
  assert.ok(
    Math.abs(attentionOptions({ ...initialState, temperature: 2 }, problem).scale - 1 / (2 * Math.sqrt(2 * n))) < 1e-12,
  );
  assert.equal(attentionOptions({ ...initialState, mask: 'causal' }, problem).causal, true);
  assert.deepEqual(
    [...attentionOptions({ ...initialState, mask: 'padding', keys: 2 }, problem).mask.data].slice(0, 3),
    [1, 1, 0],
  );
  assert.deepEqual(attentionOptions({ ...initialState, mask: 'window', window: 3 }, problem).window, [3, 3]);
  const { mask } = attentionOptions({ ...initialState, painted: [2, PAINT_STRIDE + 1] }, problem);
  assert.deepEqual(
    [mask.shape, [...mask.data.keys()].filter((i) => !mask.data[i])],
    [
      [n, n],
      [2, n + 1],
    ],
  );
});

test('arrow keys walk the cells and stop at the edges', () => {
  assert.deepEqual(step(null, 'ArrowUp', 3, 4), { query: 0, key: 0 });
  assert.deepEqual(step({ query: 0, key: 0 }, 'ArrowLeft', 3, 4), { query: 0, key: 0 });
  assert.deepEqual(step({ query: 1, key: 1 }, 'ArrowDown', 3, 4), { query: 2, key: 1 });
  assert.deepEqual(step({ query: 1, key: 1 }, 'End', 3, 4), { query: 1, key: 3 });
  assert.equal(step({ query: 1, key: 1 }, 'a', 3, 4), null);
});

test('a query is marked, and marked no more', () => {
  const marked = mark(mark(mark(initialState, 4), 2), 9);
  assert.deepEqual(marked.also, [2, 4, 9]);
  assert.deepEqual(mark(marked, 4).also, [2, 9]);
});

test('a cell is hidden by hand, and shown again', () => {
  const hidden = paint(paint(initialState, { query: 2, key: 1 }, true), { query: 0, key: 3 }, true);
  assert.deepEqual(hidden.painted, [3, 2 * PAINT_STRIDE + 1]);
  assert.deepEqual(paint(hidden, { query: 0, key: 3 }, false).painted, [2 * PAINT_STRIDE + 1]);
});

test('what is enlarged lies within the picture, holds its cell, and follows who walks out of it', () => {
  const whole = { queries: { from: 0, to: 100 }, keys: { from: 0, to: 60 } };
  assert.deepEqual(regionOf(initialState, 100, 60), whole);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.tuple(fc.constantFrom(0.5, 0.8, 1.25, 2), fc.nat(499), fc.nat(499)), { maxLength: 8 }),
      (T, S, steps) => {
        let state = initialState;
        for (const [factor, query, key] of steps) {
          const cell = { query: query % T, key: key % S };
          state = follow(zoom(state, factor, cell, T, S), cell, T, S);
          for (const [{ from, to }, at, all] of [
            [regionOf(state, T, S).queries, cell.query, T],
            [regionOf(state, T, S).keys, cell.key, S],
          ]) {
            assert.ok(
              from >= 0 && to <= all && from <= at && at < to && to - from >= Math.min(8, all),
              `${from}–${to} of ${all}, ${at}`,
            );
          }
        }
        let out = state;
        for (let i = 0; i < 12; i++) out = zoom(out, 0.5, null, T, S);
        assert.deepEqual(regionOf(out, T, S), { queries: { from: 0, to: T }, keys: { from: 0, to: S } });
      },
    ),
    { seed: 8 },
  );
});

test('who zooms out far enough sees all, and no region stands in the address', () => {
  const near = zoom(initialState, 4, { query: 50, key: 50 }, 100, 100);
  assert.equal(near.region.length, 3);
  assert.deepEqual(zoom(near, 1 / 8, null, 100, 100).region, []);
});

test('no more than 64 tokens are joined by lines', () => {
  const { queries, keys } = regionOf({ ...initialState, view: 'lines' }, 512, 30);
  assert.deepEqual(
    [queries, keys],
    [
      { from: 0, to: 64 },
      { from: 0, to: 30 },
    ],
  );
});

test('an example of any length has as many heads as there is room for', () => {
  assert.equal(headChoices(change(initialState, { example: 'long', tokens: 512 })).length, 12);
  assert.equal(change(change(initialState, { example: 'long' }), { tokens: 4096 }).heads, 1);
});

test('the scale runs from least to most, evenly in lightness, in both themes', () => {
  for (const theme of ['light', 'dark']) {
    const scale = makeScale(theme, 0.8);
    assert.deepEqual(scale.domain, [0, 0.8]);
    assert.deepEqual(
      scale.ticks.map(({ value }) => value),
      [0, 0.2, 0.4, 0.8 * 0.75, 0.8],
    );
    const steps = Array.from({ length: 21 }, (_, i) => luminance(scale.colour((0.8 * i) / 20)));
    for (let i = 1; i < steps.length; i++)
      assert.ok(theme === 'light' ? steps[i] < steps[i - 1] : steps[i] > steps[i - 1]);
    assert.deepEqual(scale.colour(2), scale.colour(0.8));
  }
  assert.deepEqual(makeScale('light', 0).domain, [0, 1]);
});

test('weights are written with the digits that count', () => {
  assert.deepEqual([0, 1, 0.5, 0.1234, 0.00456, 0.0000123].map(formatWeight), [
    '0',
    '1',
    '0.500',
    '0.123',
    '0.0046',
    '1.2e-5',
  ]);
});

test('what a program gives is checked by the same rules, and it is told what was expected', () => {
  for (const [patch, parameter, expected] of [
    [{ example: 'nope' }, 'state.example', /^one of sentence, own, /],
    [{ head: 1.5 }, 'state.head', /whole number/],
    [{ heads: 0 }, 'state.heads', /1 or more/],
    [{ temperature: '1' }, 'state.temperature', /number/],
    [{ cell: { query: 1 } }, 'state.cell', /query, key/],
    [{ seed: 2 ** 32 }, 'state.seed', /0 to 4294967293/],
    [{ colour: 'red' }, 'state.colour', /^one of the fields page, task/],
    [null, 'state', /object/],
  ])
    assert.throws(
      () => checkPatch('mount', patch),
      (error) =>
        error.name === 'HeadlightError' &&
        error.parameter === parameter &&
        expected.test(error.expected) &&
        /^mount: /.test(error.message),
      parameter,
    );
  checkPatch('mount', {});
  checkPatch('mount', { example: 'wide', seed: 2 ** 32 - 3, cell: null });
  assert.deepEqual(change(initialState, { head: 1.5, example: 'nope', colour: 'red' }), initialState);
  assert.deepEqual(change(initialState, { toString: 1, constructor: 2 }), initialState);
});

test('the largest seed gives numbers', () => {
  const { problem } = EXAMPLES.cross;
  const { layer, query, key } = problem(change(initialState, { example: 'cross', seed: 2 ** 32 - 3 }));
  hl.scope(() => {
    assert.ok(hl.multiHeadAttention(layer).parameters.wq.data.every(Number.isFinite));
    for (const { random, seed } of [query, key]) assert.ok(hl.randn(random, { seed }).data.every(Number.isFinite));
  });
});
