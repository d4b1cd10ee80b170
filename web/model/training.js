// What the Train view has in mind: the settings, the newest report of the worker, and the curves so far.

import { HIDDEN } from './shrink.js';
import { isLongEnough, usualSettings } from './tasks.js';

const noCurves = () => ({ loss: [], accuracy: [], validLoss: [], validAccuracy: [], scores: [] });

export const startTraining = (settings) => ({
  settings,
  /** What is trained: { probe, tokens, settings, info }; null before the worker has begun. */
  begun: null,
  /** The newest report: { steps, perSecond, seen, cells, snapshots, at … }. */
  report: null,
  curves: noCurves(),
  head: { layer: 0, head: 0 },
  /** The cell of the large picture that is read. */
  cell: null,
  playing: false,
  /** 'broken', 'badModel', 'shortText', { failed: message }, or null. */
  message: null,
  /** How often the worker was told something, and which of these it has answered last. */
  asked: 0,
  answered: 0,
});

/** The settings of a task; of the text task with the visitor's text, or with a sample where that is too short. */
export const settingsFor = (task, text, sample) => usualSettings(task, isLongEnough(text) ? text : sample);

/** The weights of every head of every layer as pictures: what the causal mask hides is hidden. */
function cellsOf({ weights }, T, heads) {
  return weights.map((layer) =>
    Array.from({ length: heads }, (_, h) => {
      const values = layer.slice(h * T * T, (h + 1) * T * T);
      for (let t = 0; t < T; t++) values.fill(HIDDEN, t * T + t + 1, (t + 1) * T);
      return { rows: T, columns: T, values };
    }),
  );
}

/** The curves with the newest points: [step, loss, accuracy] and, now and then, the same on validation sequences. */
function extend(curves, { points = [], seen, at, steps }) {
  const next = { ...curves };
  const add = (name, point) => {
    if (next[name] === curves[name]) next[name] = [...curves[name]];
    next[name].push(point);
  };
  for (const [step, loss, accuracy, validLoss, validAccuracy] of points) {
    add('loss', [step, loss]);
    add('accuracy', [step, accuracy]);
    if (validLoss === undefined) continue;
    add('validLoss', [step, validLoss]);
    add('validAccuracy', [step, validAccuracy]);
  }
  if (seen && at === undefined)
    next.scores = [...curves.scores.filter(({ step }) => step !== steps), { step: steps, scores: seen.scores }];
  return next;
}

/** A training that has heard what the worker says. */
export function hear(training, { order = training.asked, error, verb, started, info, ...report }) {
  const next = { ...training, answered: order };
  if (error) {
    next.message = verb === 'load' ? 'badModel' : { failed: error };
    return next;
  }
  if (started) {
    next.settings = started.settings;
    next.begun = { ...started, info };
    next.curves = noCurves();
    next.head = { layer: started.settings.layers - 1, head: 0 };
    next.cell = null;
    next.message = null;
  }
  next.report = { ...next.report, at: undefined, ...report };
  if (report.seen) {
    const { probe, settings } = next.begun;
    next.report.cells = cellsOf(report.seen, probe.labels.length, settings.heads);
  }
  // A report that was on its way when the visitor pressed a button is not about that.
  if (order === training.asked) next.playing = report.playing ?? training.playing;
  if (report.broken) {
    next.message = 'broken';
    next.playing = false;
  }
  next.curves = extend(next.curves, report);
  return next;
}
