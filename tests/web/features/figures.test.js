// Tests numbers and lists as panels of the page show them: rounding, thresholds and order.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  bitsText,
  percentText as shareOfTime,
  timeText,
  valueText,
  weightText,
} from '../../../web/features/atlas/numbers.ts';
import { pointsText } from '../../../web/features/circuit/circuitState.ts';
import { actingThrough, allParts, partsAdding } from '../../../web/features/flow/contributions.ts';
import { isPicked, nameOf, pick, sameComposition } from '../../../web/features/flow/pickedPart.ts';
import {
  bitsOf,
  changeOf,
  costOf,
  differs,
  largestCosts,
  meansOf,
  summaryOf,
  unbroken,
} from '../../../web/features/text/measured.ts';
import { chooseToken, otherName, tokenIn } from '../../../web/features/text/textState.ts';
import { nextPlace, figureOf as shareFigure, shareText, shownShare } from '../../../web/features/trace/shares.ts';
import { byChange, figureOf, likelierFirst, perToken } from '../../../web/features/train/changes.ts';
import { shownRows, showRows, writtenWords } from '../../../web/features/written/writtenWords.ts';
import { percentText } from '../../../web/model/numbers.ts';
import { hasTrial, lineKey, numberKey, readTrial, TRICK } from '../../../web/model/trial.ts';
import { writtenFrom } from '../../../web/model/written.ts';

const signal = (value) => ({ value });

test('the atlas: values, shares, weights, bits and times', () => {
  assert.deepEqual(
    ['distance', 'variation', 'spread', 'previous'].map((axis) => valueText(axis, 9.96)),
    ['10.0', '10.0', '10.0', '9.96'],
  );
  assert.deepEqual([valueText('distance', 10), valueText('spread', Number.NaN)], ['10', '–']);
  assert.deepEqual([0.126, Number.NaN].map(shareOfTime), ['13%', '–']);
  assert.deepEqual([0.994, 0.995, 0.051].map(weightText), ['.99', '1.00', '.05']);
  assert.deepEqual([0.0004, 0.0005, 0.094, 0.095, -2].map(bitsText), ['0', '0.001', '0.094', '0.10', '2.00']);
  const words = { seconds: (n) => `${n} s`, minutes: (n) => `${n} min` };
  assert.deepEqual(
    [0, 9400, 9600, 12_600, 89_400, 89_600, 150_000].map((time) => timeText(words, time)),
    ['1 s', '9 s', '10 s', '15 s', '90 s', '2 min', '3 min'],
  );
});

test('points and probabilities', () => {
  assert.deepEqual([-34.4, -0.04, 0.44, 9.94, 9.96, -2].map(pointsText), ['−34', '0', '+0.4', '+9.9', '+10', '−2']);
  assert.deepEqual([1, 0.0149, 0.0099, 0.001, 0.00099, 0.00009, 0].map(percentText), [
    '100%',
    '1%',
    '1.0%',
    '0.1%',
    '0.10%',
    '<0.01%',
    '0%',
  ]);
});

test('the parts of a logit: largest first, those beyond the count or the threshold as one sum', () => {
  const added = { embed: 1, heads: [4, -3, 0, 0.5], mlps: [2, -0.1], bias: -0.25, sum: 4.15 };
  const size = { layers: 2, heads: 2, mlps: true };
  const parts = allParts(added, size);
  assert.deepEqual(parts.map(nameOf), [
    'embed-1',
    'head0.0',
    'head0.1',
    'mlp0',
    'head1.0',
    'head1.1',
    'mlp1',
    'bias-1',
  ]);
  const both = allParts({ ...added, others: [7, 8, 9, 10] }, size);
  assert.deepEqual(
    both.filter(({ of }) => of === 'cross').map(({ value }) => value),
    [7, 8, 9, 10],
  );
  const { positive, negative, others, most } = partsAdding(added, size, { hide: 0.5, count: 4 });
  assert.deepEqual(
    [positive, negative].map((list) => list.map(({ value }) => value)),
    [[4, 2, 1], [-3]],
  );
  assert.deepEqual([others.count, others.value.toFixed(2), most], [3, '0.15', 4]);
  const few = partsAdding(added, size, { hide: 0.5, count: 9 });
  assert.deepEqual([few.positive.length, few.others.count], [4, 2]);
  assert.equal(partsAdding(added, size, { hide: 9, count: 9 }).most, 1);
});

test('heads that act through others have a large effect and a small contribution', () => {
  const added = { heads: [0.9, 1, 5, 0], others: [0, 0.99, 0, 0], sum: 10 };
  const off = (part, layer, head, value) => ({ part, layer, head, value });
  const switchedOff = [
    off('decoder', 0, 0, 0.44),
    off('decoder', 0, 1, 0.2),
    off('decoder', 1, 1, 0.46),
    off('cross', 0, 1, 0.1),
    off('encoder', 1, 0, 0.4),
  ];
  const found = actingThrough({ before: 0.5, switchedOff }, added, { heads: 2 });
  assert.deepEqual(
    found.map(({ part, layer, head }) => `${part} ${layer}.${head}`),
    ['cross 0.1', 'encoder 1.0', 'decoder 0.0'],
  );
  assert.deepEqual(actingThrough(null, added, { heads: 2 }), []);
});

test('a ribbon or line of flow is chosen; without one the current head is', () => {
  const head = { kind: 'head', layer: 4, head: 2 };
  const state = { layer: 4, head: 2 };
  assert.equal(isPicked(head, null, state), true);
  for (const other of [{ of: 'cross' }, { layer: 3 }, { head: 1 }, { kind: 'mlp' }])
    assert.equal(isPicked({ ...head, ...other }, null, state), false);
  assert.equal(isPicked({ kind: 'mlp', layer: 3 }, { kind: 'mlp', layer: 3 }, state), true);
  assert.equal(isPicked({ kind: 'mlp', layer: 3 }, { kind: 'mlp', layer: 2 }, state), false);
  assert.equal(isPicked(head, { kind: 'mlp', layer: 4 }, state), false);
  const done = [];
  const session = { update: (...given) => done.push(given), pick: (part) => done.push(part) };
  pick(session, head);
  pick(session, { ...head, of: 'cross' });
  pick(session, { kind: 'mlp', layer: 3, head: -1 });
  assert.deepEqual(done, [
    [{ layer: 4, head: 2 }, 'head'],
    null,
    [{ layer: 4, head: 2, part: 'cross', cell: null }, 'head'],
    null,
    { kind: 'mlp', layer: 3 },
  ]);
  const line = { kind: 'q', from: { layer: 1, head: 2 }, to: { layer: 3, head: 4 } };
  assert.equal(sameComposition(line, structuredClone(line)), true);
  const others = [
    { kind: 'k' },
    { from: { layer: 0, head: 2 } },
    { from: { layer: 1, head: 0 } },
    { to: { layer: 0, head: 4 } },
    { to: { layer: 3, head: 0 } },
  ];
  for (const other of others) assert.equal(sameComposition(line, { ...line, ...other }), false);
});

const token = (t, probability, first = false) => ({ t, probability, first });
test('surprise: bits, their mean, and where the other case differs', () => {
  assert.deepEqual([bitsOf(token(0, 0.25)), bitsOf(token(0, 1)), bitsOf(undefined)], [2, 0, Number.NaN]);
  const now = [undefined, token(1, 0.5, true), token(2, 0.25), token(3, 0.5), token(4, 1, true)];
  const other = [undefined, token(1, 0.25), token(2, 0.125, true), token(3, 0.5 / 2 ** 0.49)];
  const measured = { now, other, kind: 'without' };
  assert.equal(costOf(measured, 1), 1);
  assert.deepEqual(
    ['without', 'with', 'before', 'pinned'].map((kind) => changeOf({ now, other, kind }, 1)),
    [1, -1, -1, -1],
  );
  assert.equal(summaryOf({ now: other, other: now, kind: 'with' }).dearer, 2);
  assert.deepEqual(
    [1, 2, 3, 4].map((t) => differs(measured, t)),
    [true, true, false, false],
  );
  const { count, dearer, ...both } = summaryOf(measured);
  assert.deepEqual([count, dearer], [3, 2]);
  assert.deepEqual([both.now.bits, both.now.first.toFixed(3), both.other.first.toFixed(3)], [4 / 3, '0.333', '0.333']);
  const alone = summaryOf({ now, other: [] });
  assert.deepEqual([alone.count, alone.now, alone.other, alone.dearer], [4, { bits: 1, first: 0.5 }, null, 0]);
  const cheaper = { now, other: [undefined, token(1, 1), token(2, 0.0625), token(3, 0.25), token(4, 0.125)] };
  assert.deepEqual(largestCosts(cheaper, { count: 9, both: false }), [4, 2, 3]);
  assert.deepEqual(largestCosts(cheaper, { count: 3, both: true }), [4, 2, 1]);
  const flat = Array.from({ length: 13 }, (_, t) => (t === 0 ? undefined : token(t, t === 6 ? 2 ** -11 : 1)));
  const means = meansOf(flat, 14);
  assert.deepEqual([means[0], means[1], means[6], means[11], means[12]], [0, 11 / 6, 1, 11 / 7, 0]);
  assert.ok(Number.isNaN(meansOf([], 1)[0]));
});

test('the text: tokens of one line, the token that is read, and the other case', () => {
  const pieces = ['', '', ' ', '', ''].map((space) => ({ space }));
  assert.deepEqual(unbroken(pieces), [
    [0, 2],
    [2, 5],
  ]);
  assert.deepEqual(unbroken([]), []);
  const looked = [];
  const words = {
    headInText: (...head) => head.join('.'),
    other_without: (head) => `without ${head}`,
    other_pinned: 'pinned',
  };
  const session = (hover, cell) => ({
    hover: signal(hover),
    state: signal({ cell, layer: 4, head: 2 }),
    words: signal(words),
    look: (patch) => looked.push(patch.cell),
  });
  assert.deepEqual(
    [session(null, null), session({ t: 1 }, { t: 3 }), session(null, { t: 3 }), session({ t: 9 }, null)].map((one) =>
      tokenIn(one, { pieces }),
    ),
    [4, 1, 3, 4],
  );
  chooseToken(session(null, { t: 4, s: 3 }), 2);
  chooseToken(session(null, null), 2);
  assert.deepEqual(looked, [
    { t: 2, s: 2 },
    { t: 2, s: 0 },
  ]);
  assert.deepEqual(
    ['without', 'pinned', null].map((kind) => otherName(session(null, null), { kind })),
    ['without 4.2', 'pinned', ''],
  );
});

test('shares of a trace: noise, figures, and the way of the arrow keys', () => {
  assert.deepEqual([0.0149, 0.015, -0.0149, 1.2, -1.2].map(shownShare), [0, 0.015, 0, 1, -1]);
  assert.deepEqual([0.104, -0.106, -0.004].map(shareText), ['10', '−11', '0']);
  assert.deepEqual(
    [0.094, 0.095, -0.096, 1.004].map((x) => shareFigure(x, true)),
    ['', '10', '−10', '100'],
  );
  assert.deepEqual(
    [0.5, 1.004, 1.006, -1.01].map((x) => shareFigure(x, false)),
    ['', '', '101', '−101'],
  );
  const grid = { layers: 3, heads: 2, places: [1, 4, 6], rows: ['stream', 'heads', 'mlp'] };
  const go = (part, layer, place, key, byPart = false) =>
    Object.values(nextPlace({ part, layer, place }, key, grid, byPart) ?? {}).join(' ');
  assert.equal(go('stream', 1, 4, 'ArrowLeft'), 'stream 1 1');
  assert.equal(go('stream', 1, 1, 'ArrowLeft'), 'stream 1 1');
  assert.equal(go('stream', 1, 6, 'ArrowRight'), 'head 1 0');
  assert.equal(go('head', 1, 0, 'ArrowRight'), 'head 1 1');
  assert.equal(go('head', 1, 1, 'ArrowRight'), 'head 1 1');
  assert.equal(go('head', 1, 0, 'ArrowLeft'), 'stream 1 6');
  assert.equal(go('mlp', 1, 4, 'ArrowUp'), 'mlp 2 4');
  assert.equal(go('mlp', 2, 4, 'ArrowUp'), 'mlp 2 4');
  assert.equal(go('mlp', 0, 4, 'ArrowDown'), 'mlp 0 4');
  assert.equal(go('mlp', 1, 4, 'ArrowUp', true), 'heads 1 4');
  assert.equal(go('mlp', 1, 4, 'ArrowDown', true), 'mlp 1 4');
  assert.equal(go('stream', 1, 4, 'ArrowUp', true), 'stream 1 4');
  assert.equal(go('head', 1, 1, 'ArrowUp', true), 'head 2 1');
  assert.equal(go('head', 1, 1, 'Enter'), '');
});

test('what training changed: heads and tokens by their change, and the loss for each token', () => {
  const heads = [
    [0.1, 0.5],
    [0.9, 0.2],
  ];
  assert.deepEqual(
    byChange(heads).map(({ layer, head }) => `${layer}.${head}`),
    ['1.0', '0.1', '1.1', '0.0'],
  );
  assert.deepEqual([0.094, 0.095, 0.62].map(figureOf), ['', '.10', '.62']);
  assert.deepEqual(
    [perToken(0), perToken(Math.LN2)],
    [
      { likely: 1, bits: 0 },
      { likely: 0.5, bits: 1 },
    ],
  );
  const order = likelierFirst([
    [0.1, 0.2],
    [0.9, 0.1],
    [0.5, 0.5],
  ]);
  assert.deepEqual(
    order.map(({ t, by }) => [t, by.toFixed(2)]),
    [
      [2, '2.20'],
      [1, '0.69'],
      [3, '0.00'],
    ],
  );
});

test('what the model has written: from its first token on, with the strongest key of the row before', () => {
  const pieces = [0, 3, 6, 9].map((start, i) => ({ start, space: i > 0 ? ' ' : '' }));
  assert.deepEqual(
    [null, 0, 4, 5, 10, 11].map((written) => writtenFrom({ written }, { pieces })),
    [4, 0, 1, 2, 3, 4],
  );
  assert.equal(writtenFrom({ written: 0 }, null), 0);
  const weights = Float32Array.of(1, 0, 0, 0, 0.6, 0.4, 0, 0, 0.1, 0.7, 0.2, 0, 0.25, 0.25, 0.3, 0.2);
  const run = { weights, large: true, about: { heads: 1 }, T: 4, S: 4, layer: 0, head: 0, pieces };
  const [moved, playback] = [[], { value: null }];
  const session = {
    state: signal({ text: 'a', written: 4, mean: 'head', cell: { t: 0, s: 0 } }),
    surprise: { measured: signal({ text: 'a', now: [undefined, token(1, 0.5), token(2, 0.25)] }) },
    playback,
    setPlayback: (now) => moved.push(now),
    look: (patch) => moved.push(patch),
    setHover: (cell) => moved.push(cell),
  };
  const words = () =>
    writtenWords(session, run).map(({ t, s, weight, probability }) => [t, s, weight.toFixed(1), probability]);
  assert.deepEqual(words(), [
    [1, 0, '1.0', 0.5],
    [2, 0, '0.6', 0.25],
    [3, 1, '0.7', null],
  ]);
  session.state.value.written = 0;
  assert.equal(words().length, 3, 'nothing predicts the first token');
  playback.value = { text: 'a', rows: 2 };
  assert.deepEqual([shownRows(session, run), words().length], [2, 1]);
  playback.value = { text: 'another', rows: 2 };
  assert.equal(shownRows(session, run), 4);
  showRows(session, run, 9, true);
  showRows(session, run, 0, true);
  assert.deepEqual(moved, [
    null,
    { cell: null },
    null,
    { text: 'a', rows: 1, plays: true },
    { cell: null },
    { t: 0, s: -1 },
  ]);
});

test('what the story tries inside a head is a key of the state', () => {
  assert.deepEqual([hasTrial({}), hasTrial({ trial: {} }), hasTrial({ trial: { a: 1 } })], [false, false, true]);
  assert.equal(lineKey(TRICK), '3.3-4.2');
  const number = { layer: 4, head: 2, token: 13, index: 29 };
  assert.equal(numberKey(number), '4.2.13.29');
  assert.deepEqual(readTrial({ [numberKey(number)]: -2, [lineKey(TRICK)]: 0 }), {
    numbers: [{ ...number, value: -2 }],
    lines: [TRICK],
  });
});
