// The state of the Train view: the settings, the newest report of the worker, and the curves so far.

import { HIDDEN } from './shrink.js';
import { isLongEnough, usualSettings } from './tasks.js';

/** @import { Curves, Message, Picture, Report, Seen, Settings, Task, Training } from './types.js' */

/** @returns {Curves} */
const noCurves = () => ({ loss: [], accuracy: [], validLoss: [], validAccuracy: [], scores: [] });

/** @param {Settings} settings @returns {Training} */
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
  /** The number of messages sent to the worker, and of the last one that it answered. */
  asked: 0,
  answered: 0,
});

/**
 * The settings of a task; of the text task with the visitor's text, or with a sample where that is too short.
 * @param {Task} task
 * @param {string} text
 * @param {string} sample
 */
export const settingsFor = (task, text, sample) => usualSettings(task, isLongEnough(text) ? text : sample);

/**
 * The weights of every head of every layer as pictures: what the causal mask hides is hidden.
 * @param {Seen} seen
 * @param {number} T
 * @param {number} heads
 * @returns {Picture[][]}
 */
function cellsOf({ weights }, T, heads) {
  return weights.map((layer) =>
    Array.from({ length: heads }, (_, h) => {
      const values = layer.slice(h * T * T, (h + 1) * T * T);
      for (let t = 0; t < T; t++) values.fill(HIDDEN, t * T + t + 1, (t + 1) * T);
      return { rows: T, columns: T, values };
    }),
  );
}

/** The curves with the newest points. @param {Curves} curves @param {Report} report @returns {Curves} */
function extend(curves, { points, seen, at, steps }) {
  /** @param {[number, number][]} curve @param {2 | 1 | 3 | 4} of */
  const longer = (curve, of) => [
    ...curve,
    ...points.flatMap((point) => {
      const value = point[of];
      return value === undefined ? [] : [/** @type {[number, number]} */ ([point[0], value])];
    }),
  ];
  const others = curves.scores.filter(({ step }) => step !== steps);
  return {
    loss: longer(curves.loss, 1),
    accuracy: longer(curves.accuracy, 2),
    validLoss: longer(curves.validLoss, 3),
    validAccuracy: longer(curves.validAccuracy, 4),
    scores: seen && at === undefined ? [...others, { step: steps, scores: seen.scores }] : curves.scores,
  };
}

/**
 * The training after a message of the worker.
 * @param {Training} training
 * @param {Message} message
 * @returns {Training}
 */
export function hear(training, message) {
  const { order = training.asked } = message;
  if ('error' in message) {
    const { verb, error } = message;
    return { ...training, answered: order, message: verb === 'load' ? 'badModel' : { failed: error } };
  }
  if (!('steps' in message)) return { ...training, answered: order };
  return hearReport({ ...training, answered: order }, message, order === training.asked);
}

/**
 * @param {Training} training
 * @param {Report} said
 * @param {boolean} newest whether it answers what was asked last
 * @returns {Training}
 */
function hearReport(training, { started, info, ...report }, newest) {
  const next = { ...training };
  if (started && info) {
    next.settings = started.settings;
    next.begun = { ...started, info };
    next.curves = noCurves();
    next.head = { layer: started.settings.layers - 1, head: 0 };
    next.cell = null;
    next.message = null;
  }
  next.report = { ...next.report, at: undefined, ...report };
  if (report.seen && next.begun)
    next.report.cells = cellsOf(report.seen, next.begun.probe.labels.length, next.begun.settings.heads);
  // A report that was on its way when the visitor pressed a button is not about that.
  if (newest) next.playing = report.playing ?? training.playing;
  if (report.broken) {
    next.message = 'broken';
    next.playing = false;
  }
  next.curves = extend(next.curves, report);
  return next;
}
