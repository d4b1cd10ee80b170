// Tests the training tasks, and their settings in the address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { formedAt, framesOf, namedLines, parted, valueAt, watched } from '../../../../web/features/train/chartLines.ts';
import { texts as inEnglish } from '../../../../web/features/train/train.en.ts';
import { texts as inChinese } from '../../../../web/features/train/train.zh.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { extended, nearest, noCurves } from '../../../../web/model/training/curves.ts';
import { LESSONS, partnerScore, signTokenizer, taughtTask } from '../../../../web/model/training/lessons.ts';
import {
  CHOICES,
  keyOf,
  readTraining,
  settingsOf,
  TASK_NAMES,
  usualTraining,
  writeTraining,
} from '../../../../web/model/training/settings.ts';
import { readAddress, writeAddress } from '../../../../web/store/address.ts';
import { LANGUAGES, loadLanguage } from '../../../../web/texts/languages.ts';

await loadLanguage('zh');

const taught = (task) => taughtTask({ task });

test('settings of training are written to the address and read back', () => {
  const training = { task: 'brackets', layers: 3, heads: 8, width: 32, rate: 0.0012, seed: 7 };
  assert.deepEqual(readTraining(writeTraining(training)), training);
  const state = change(initialState, { panel: 'train', training });
  assert.equal(state.model, 'trained');
  const read = readAddress(writeAddress(state));
  assert.deepEqual(read.training, training);
  assert.equal(read.panel, 'train');
  assert.equal(read.model, 'trained');
});

test('a short text to learn is a part of the address', () => {
  const training = usualTraining('whale');
  const short = change(initialState, { panel: 'train', training, lesson: 'to be or not to be, to be' });
  assert.equal(readAddress(writeAddress(short)).lesson, short.lesson);
  const long = change(short, { lesson: 'to be or not to be '.repeat(1000) });
  assert.ok(writeAddress(long).length < 400);
});

test('invalid settings throw; in the address they are ignored', () => {
  assert.throws(() => change(initialState, { training: { ...initialState.training, layers: 9 } }), RangeError);
  for (const written of ['repeat.9.4.64.1.0.003', 'whale.2.4.64.1.0.003', 'text.2.4.64.1.0.003'])
    assert.deepEqual(readAddress(`panel=train&training=${written}`).training, initialState.training);
});

test('every number of heads divides every width, and can be in the address', () => {
  for (const heads of CHOICES.heads)
    for (const width of CHOICES.width) {
      assert.equal(width % heads, 0, `${width} / ${heads}`);
      const training = { ...usualTraining('repeat'), heads, width };
      assert.deepEqual(readTraining(writeTraining(training)), training);
    }
});

test('training shows an existing head; another model closes training', () => {
  const state = change(initialState, { panel: 'train' });
  assert.deepEqual([state.layer, state.head], [1, 2]);
  assert.equal(change(state, { model: 'whale' }).panel, 'reading');
});

test('the answer to every query is at the position of its partners', () => {
  for (const name of TASK_NAMES) {
    const { partners } = LESSONS[name];
    if (!partners) continue;
    const task = taught(name);
    for (let seed = 0; seed < 20; seed++) {
      const { tokens, targets } = task.sequence(uniformSource(seed));
      targets.forEach((target, t) => {
        if (target < 0) return;
        const at = partners(tokens, t);
        assert.ok(at.length > 0, `${name} ${seed}: ${t} has a partner`);
        for (const s of at) assert.equal(tokens[s], target, `${name} ${seed}: the answer to ${t} stands at ${s}`);
      });
    }
  }
});

test('where letters repeat, the answer to every letter is the next one, from the second time on', () => {
  const task = taught('repeat');
  for (let seed = 0; seed < 20; seed++) {
    const { tokens, targets } = task.sequence(uniformSource(seed));
    const period = tokens.indexOf(tokens[0], 1);
    assert.equal(targets.length, tokens.length);
    for (let t = 0; t + 1 < tokens.length; t++) assert.equal(targets[t], t < period ? -100 : tokens[t + 1]);
    assert.equal(targets.at(-1), tokens[tokens.length - period]);
  }
});

test('the partner score is the mean weight on the answers', () => {
  // In ( · [ ·, the closers at 1 and 3 close the openers at 0 and 2.
  const labels = [0, 3, 1, 3];
  const weights = new Float32Array(16);
  weights[1 * 4 + 0] = 1;
  weights[3 * 4 + 2] = 0.5;
  assert.equal(partnerScore('brackets', weights, labels), 0.75);
  assert.ok(Number.isNaN(partnerScore('repeat', weights, labels)));
});

test('letters are tokens; unknown characters are skipped', () => {
  const { encode, decode } = signTokenizer(taught('repeat').tokens);
  const { ids, offsets } = encode('a b!C');
  assert.deepEqual(ids, [0, 1, 2]);
  assert.deepEqual(offsets, [
    [0, 1],
    [1, 3],
    [3, 5],
  ]);
  assert.equal(decode(ids), 'abc');
});

test('stored models have a name for every text and size, independent of the rate', () => {
  const key = (patch, text = '') => keyOf(settingsOf({ ...usualTraining('repeat'), ...patch }, text));
  assert.equal(key({}), key({ rate: 1 }));
  assert.notEqual(key({}), key({ heads: 2 }));
  assert.notEqual(key({ task: 'whale' }, 'one'), key({ task: 'whale' }, 'two'));
});

test('curves grow, and marks after a repeated step are replaced', () => {
  let curves = extended(noCurves(), {
    points: [
      [1, 3, 0.1],
      [2, 2],
    ],
    step: 2,
    scores: { 'induction 1.0': 0.2 },
  });
  curves = extended(curves, { points: [[3, 1, 0.5]], step: 3, scores: { 'induction 1.0': 0.6 } });
  assert.deepEqual(curves.loss, [
    [1, 3],
    [2, 2],
    [3, 1],
  ]);
  assert.equal(formedAt(curves, ['previous', 'induction']), 3);
  assert.equal(valueAt(curves.right, 2), 0.1);
  assert.deepEqual(extended(curves, { points: [[2, 5]] }).loss, [
    [1, 3],
    [2, 5],
  ]);
  assert.deepEqual(
    watched(curves, ['induction']).map(({ layer, head }) => [layer, head]),
    [[1, 0]],
  );
});

test('the chart has a line for every head with a role, and names as many as fit, the best of each role first', () => {
  const scores = { 'induction 1.0': 0.9, 'induction 1.1': 0.8, 'induction 1.2': 0.7, 'induction 1.3': 0.49 };
  const all = extended(noCurves(), { step: 1, scores: { ...scores, 'previous 0.1': 0.6, 'itself 0.0': 1 } });
  const lines = watched(all, ['previous', 'induction']);
  const named = (room) => namedLines(lines, room).map(({ name }) => name);
  assert.deepEqual(named(9), ['previous 0.1', 'induction 1.0', 'induction 1.1', 'induction 1.2']);
  assert.deepEqual(named(3), ['previous 0.1', 'induction 1.0', 'induction 1.1']);
  assert.deepEqual(named(0), ['previous 0.1']);
});

test('a film shows the nearest frame at each position, and none after the current step', () => {
  const film = [0, 10, 20, 30].map((step) => ({ step }));
  assert.deepEqual(framesOf(film, 60, 7, 30), [0, 1, 2, 3, null, null, null]);
});

test('labels that would overlap are moved apart, within the plot', () => {
  assert.deepEqual(parted([10, 12, 80], 18, 90), [10, 28, 80]);
  assert.deepEqual(parted([85, 88], 18, 90), [72, 90]);
});

test('every task has a name and words in both languages', () => {
  for (const { about, probe } of [inEnglish, inChinese])
    for (const texts of [about, probe]) assert.deepEqual(Object.keys(texts), TASK_NAMES);
  for (const { train } of Object.values(LANGUAGES)) assert.deepEqual(Object.keys(train.tasks), TASK_NAMES);
});

test('the nearest snapshot is the earlier one of two that are equally near', () => {
  const film = [0, 10, 20].map((step) => ({ step }));
  assert.deepEqual(
    [-3, 4, 5, 6, 15, 99].map((step) => nearest(film, step)),
    [0, 0, 0, 1, 1, 2],
  );
});
