// Makes a source of a model in training, and shows the model's run on the probe sequence during training.

import type { Frame, HeadPlace, HeadScores } from '../../model/protocol/protocol.ts';
import { TRAINED, UNCHANGED } from '../../model/runInput.ts';
import { partnerScore, signTokenizer, textOf } from '../../model/training/lessons.ts';
import { TASK_ROLES } from '../../model/training/settings.ts';
import type { Task } from '../../model/types.ts';
import { describe } from '../run/describeRun.ts';
import { weightsOf } from '../run/headScores.ts';
import { readRun } from '../run/modelInput.ts';
import { measureRoles } from '../run/roleMeasurement.ts';
import { capturesFor, forward } from '../run/runModel.ts';
import { NUMBERS, transformerSource } from '../sources/sources.ts';
import type { Hl, Numbers, TransformerSource } from '../sources/types.ts';
import type { Send } from '../types.ts';
import type { Trainer } from './trainer.ts';

export function trainedSource({ model, task, settings, probe, steps }: Trainer, version: number): TransformerSource {
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

const probeText = ({ task, probe }: Pick<Trainer, 'task' | 'probe'>) =>
  task.shown?.text ?? textOf(task.tokens, probe.labels);

/** Returns a run of the unchanged model on the probe. */
export const probeRun = (trainer: Trainer) => ({ text: probeText(trainer), second: '', ...UNCHANGED });

/** Computes the frames of the film from the snapshots taken so far. */
export function framesOf(hl: Hl, trainer: Trainer): Frame[] {
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

/** Runs the model on the probe and sends the run. scores: those that the chart shows. */
export function showProbe(
  hl: Hl,
  trainer: Trainer,
  version: number,
  chosen: HeadPlace,
  send: Send,
): { weights: Float32Array; scores: HeadScores } {
  const source = trainedSource(trainer, version);
  const { about } = source;
  const { task, settings, probe } = trainer;
  const { labels, targets } = probe;
  const [layer, head] = [Math.min(chosen.layer, about.layers - 1), Math.min(chosen.head, about.heads - 1)];
  const { pieces, input } = readRun(source, probeRun(trainer));
  const values = forward(hl, source, input, [], capturesFor(source, 'decoder', layer));
  const name = (id: number | null) => (id === null ? '' : (task.tokens[id] ?? ''));
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
  const guesses = guessesOf(values.logits as Numbers, targets).map(({ label, wanted }) => ({
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

/** Returns the likeliest and the correct next token of each token. */
function guessesOf({ data, shape }: Numbers, targets: number[]) {
  const V = shape[2];
  return targets.map((wanted, t) => {
    const row = data.subarray(t * V, (t + 1) * V);
    return { wanted, label: row.reduce((best, x, i) => (x > row[best] ? i : best), 0) };
  });
}

/** Returns all heads' scores in one record, by names such as 'induction 1.0': score, layer and head. */
const chartScores = (task: Task, scores: HeadScores[][]): HeadScores =>
  Object.fromEntries(
    scores.flatMap((row, l) =>
      row.flatMap((one, h) => TASK_ROLES[task].map((kind) => [`${kind} ${l}.${h}`, one[kind]])),
    ),
  );
