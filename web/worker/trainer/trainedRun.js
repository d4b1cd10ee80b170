// Makes a source of a model in training, and shows the model's run on the probe sequence during training.

import { partnerScore, signTokenizer, textOf } from '../../features/train/lessons.js';
import { TASK_ROLES } from '../../features/train/settings.js';
import { TRAINED, UNCHANGED } from '../../store/runInput.js';
import { describe } from '../run/describeRun.js';
import { weightsOf } from '../run/headScores.js';
import { readRun } from '../run/modelInput.js';
import { measureRoles } from '../run/roleMeasurement.js';
import { capturesFor, forward } from '../run/runModel.js';
import { NUMBERS, transformerSource } from '../sources/sources.js';

/** @import { Frame, HeadPlace, HeadScores } from '../../store/protocol.js' */
/** @import { Task } from '../../store/types.js' */
/** @import { Hl, Numbers, TransformerSource } from '../sources/types.js' */
/** @import { Send } from '../types.js' */
/** @import { Trainer } from './trainer.js' */

/** @param {Trainer} trainer @param {number} version @returns {TransformerSource} */
export function trainedSource({ model, task, settings, probe, steps }, version) {
  const tokenizer = task.base?.tokenizer ?? { ...NUMBERS, ...signTokenizer(task.tokens) };
  const source = transformerSource(TRAINED, { model, tokenizer, bytes: 0 });
  const trained = { settings, tokens: task.tokens, probe: probeText({ task, probe }), steps };
  return {
    ...source,
    about: { ...source.about, trained },
    partnerOf: (weights, labels) => partnerScore(settings.task, weights, labels),
    version,
    // The roles of heads are measured on the probe, because a new model has learned nothing about random passages.
    ...(task.base ? {} : { exemplar: probe.labels }),
  };
}

/** @param {Pick<Trainer, 'task' | 'probe'>} trainer */
const probeText = ({ task, probe }) => task.shown?.text ?? textOf(task.tokens, probe.labels);

/** Returns a run of the unchanged model on the probe. @param {Trainer} trainer */
export const probeRun = (trainer) => ({ text: probeText(trainer), second: '', ...UNCHANGED });

/**
 * Computes the frames of the film from the snapshots taken so far.
 * @param {Hl} hl @param {Trainer} trainer @returns {Frame[]}
 */
export function framesOf(hl, trainer) {
  const source = trainedSource(trainer, 0);
  const { input } = readRun(source, probeRun(trainer));
  const frames = trainer.snapshots.map((step, i) => {
    trainer.goBack(i);
    const { captured } = forward(hl, source, input, [], ['blocks.*.weights']);
    const layers = Array.from({ length: source.about.layers }, (_, l) => captured[`blocks.${l}.weights`]);
    return { step, weights: weightsOf(layers) };
  });
  trainer.resume();
  return frames;
}

/**
 * Runs the model on the probe, and sends the run to the page.
 * @param {Hl} hl
 * @param {Trainer} trainer
 * @param {number} version
 * @param {HeadPlace} chosen
 * @param {Send} send
 * @returns {{ weights: Float32Array, scores: HeadScores }} scores: the scores that the chart shows
 */
export function showProbe(hl, trainer, version, chosen, send) {
  const source = trainedSource(trainer, version);
  const { about } = source;
  const { task, settings, probe } = trainer;
  const { labels, targets } = probe;
  const [layer, head] = [Math.min(chosen.layer, about.layers - 1), Math.min(chosen.head, about.heads - 1)];
  const { pieces, input } = readRun(source, probeRun(trainer));
  const values = forward(hl, source, input, [], capturesFor(source, 'decoder', layer));
  const name = (/** @type {number | null} */ id) => (id === null ? '' : (task.tokens[id] ?? ''));
  const { fields } = describe(source, values, {
    ids: labels,
    layers: about.layers,
    layer,
    head,
    token: null,
    place: labels.length - 1,
    part: 'decoder',
    other: false,
    name,
  });
  const guesses = guessesOf(/** @type {Numbers} */ (values.logits), targets).map(({ label, wanted }) => ({
    text: name(label),
    wanted,
    right: label === wanted,
  }));
  const weights = fields.weights.slice();
  const scores = fields.scores ?? [];
  send('source', { about });
  send('roles', measureRoles(hl, source));
  send('run', { ...fields, pieces, cut: false, T: labels.length, layer, head, guesses }, [fields.weights.buffer]);
  return { weights, scores: chartScores(settings.task, scores) };
}

/** Returns the likeliest and the correct next token of each token. @param {Numbers} logits @param {number[]} targets */
function guessesOf({ data, shape }, targets) {
  const V = shape[2];
  return targets.map((wanted, t) => {
    const row = data.subarray(t * V, (t + 1) * V);
    return { wanted, label: row.reduce((best, x, i) => (x > row[best] ? i : best), 0) };
  });
}

/**
 * Returns the scores of all heads in one record. The name of a field, such as 'induction 1.0', consists of the name of
 * the score, the layer and the head.
 * @param {Task} task
 * @param {HeadScores[][]} scores
 * @returns {HeadScores}
 */
const chartScores = (task, scores) =>
  Object.fromEntries(
    scores.flatMap((row, l) =>
      row.flatMap((one, h) => TASK_ROLES[task].map((kind) => [`${kind} ${l}.${h}`, one[kind]])),
    ),
  );
