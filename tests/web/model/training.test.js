import assert from 'node:assert/strict';
import test from 'node:test';
import { CHOICES, checkSettings, usualSettings } from '../../../web/model/tasks.js';
import { hear, settingsFor, startTraining } from '../../../web/model/training.js';

const T = 3;
const begun = {
  probe: { labels: [0, 1, 0] },
  tokens: ['a', 'b'],
  settings: { ...usualSettings('copy'), layers: 2, heads: 1 },
};
const seen = (score) => ({
  weights: [new Float32Array(T * T).fill(0.5), new Float32Array(T * T).fill(0.25)],
  scores: [[{ previous: score, induction: 0 }], [{ previous: 0, induction: score }]],
  examples: [],
});
const report = (steps, more = {}) => ({ order: 1, steps, playing: false, points: [], snapshots: [0], ...more });
const first = { ...startTraining(usualSettings('copy')), asked: 1 };
const started = hear(first, report(0, { started: begun, info: { threads: 1 }, seen: seen(0) }));

test('what has begun is shown: its settings, its last layer, no curves', () => {
  assert.deepEqual(started.settings, begun.settings);
  assert.deepEqual(started.head, { layer: 1, head: 0 });
  assert.deepEqual(started.curves.scores, [{ step: 0, scores: seen(0).scores }]);
  const [[cells], [other]] = started.report.cells;
  assert.deepEqual([...cells.values], [0.5, NaN, NaN, 0.5, 0.5, NaN, 0.5, 0.5, 0.5]);
  assert.equal(other.values[3], 0.25);
  assert.equal(first.report, null);
});

test('curves grow with what is reported; a step that is reported twice is there once', () => {
  let training = hear(started, report(1, { points: [[1, 2, 0.1]] }));
  training = hear(training, report(2, { points: [[2, 1, 0.2, 1.5, 0.3]], seen: seen(0.5) }));
  training = hear(training, report(2, { seen: seen(0.6) }));
  assert.deepEqual(training.curves.loss, [
    [1, 2],
    [2, 1],
  ]);
  assert.deepEqual(training.curves.validAccuracy, [[2, 0.3]]);
  assert.deepEqual(
    training.curves.scores.map(({ step, scores }) => [step, scores[0][0].previous]),
    [
      [0, 0],
      [2, 0.6],
    ],
  );
  assert.deepEqual(started.curves.loss, []);
  const back = hear(training, report(2, { at: 0, seen: seen(0) }));
  assert.equal(back.report.at, 0);
  assert.deepEqual(back.curves, training.curves);
  assert.equal(hear(back, report(3, { points: [] })).report.at, undefined);
});

test('a report that was on its way when a button was pressed does not undo that', () => {
  const pressed = { ...started, asked: 2, playing: true };
  assert.equal(hear(pressed, report(4, { order: 1, playing: false })).playing, true);
  assert.equal(hear(pressed, report(4, { order: 2, playing: false })).playing, false);
});

test('NaN stops it with a message; a bad model file leaves everything as it is', () => {
  const broken = hear({ ...started, playing: true }, report(4, { broken: true, playing: false }));
  assert.deepEqual([broken.message, broken.playing], ['broken', false]);
  const bad = hear({ ...started, playing: true }, { order: 1, error: 'no settings', verb: 'load' });
  assert.deepEqual(bad, { ...started, playing: true, answered: 1, message: 'badModel' });
  assert.deepEqual(hear(started, { error: 'no core' }).message, { failed: 'no core' });
});

test('a text that is too short gives way to the sample when the task is chosen', () => {
  const sample = 'to be, or not to be, that is the question';
  assert.equal(settingsFor('text', '', sample).text, sample);
  assert.equal(settingsFor('text', `${sample}!`, sample).text, `${sample}!`);
});

test('settings that the page could not have made are refused by name', () => {
  const good = usualSettings('copy');
  checkSettings(good);
  for (const [name, value] of [
    ...Object.keys(CHOICES).map((name) => [name, 3.5]),
    ['width', 2 ** 20],
    ['rate', NaN],
    ['rate', 0],
    ['seed', -1],
    ['task', '__proto__'],
  ])
    assert.throws(() => checkSettings({ ...good, [name]: value }), { code: 'ARGUMENT', parameter: `settings.${name}` });
  for (const text of [undefined, 5, '', 'short'])
    assert.throws(() => checkSettings({ ...good, task: 'text', text }), { parameter: 'settings.text' });
  for (const settings of [null, 5, undefined]) assert.throws(() => checkSettings(settings), { code: 'ARGUMENT' });
});
