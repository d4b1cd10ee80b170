// The settings of a training: the defaults of each task, the valid values, and the format in the address. The page
// needs them to read its address, long before it trains, so this file contains nothing else of a task.

import { TRAINED } from '../runInput.ts';

import type { Settings, Task } from '../types.ts';

/** settings that are a part of the address */
export type Training = {
  task: Task;
  layers: number;
  heads: number;
  width: number;
  rate: number;
  seed: number;
};

export const isOpen = ({ model, panel }: { model: string; panel: string }) => model === TRAINED && panel === 'train';

/** The initial size of the model of each task. */
export const MODELS = {
  repeat: { layers: 2, dModel: 64, numHeads: 4, mlp: 0 },
  previous: { layers: 1, dModel: 64, numHeads: 2, mlp: 0 },
  copy: { layers: 2, dModel: 64, numHeads: 4, mlp: 0 },
  reverse: { layers: 2, dModel: 64, numHeads: 4, mlp: 0 },
  sort: { layers: 2, dModel: 64, numHeads: 4, mlp: 128 },
  brackets: { layers: 2, dModel: 64, numHeads: 4, mlp: 128 },
  recall: { layers: 2, dModel: 64, numHeads: 4, mlp: 0 },
  // The demo model, which is fine-tuned, so its sizes are fixed.
  whale: { layers: 5, dModel: 128, numHeads: 4, mlp: 344 },
};
export const TASK_NAMES = Object.keys(MODELS) as Task[];

/** The task that fine-tunes the demo model on the visitor's own text. */
export const OWN_TEXT = 'whale';

/** The initial learning rate of a new model, and of a trained model, which a larger rate would make forget. */
const [USUAL_RATE, FURTHER_RATE] = [0.003, 0.0005];

/** The roles of heads that a task needs. The third chart shows their scores. */
export const TASK_ROLES: Record<Task, string[]> = {
  repeat: ['previous', 'induction'],
  previous: ['previous'],
  copy: ['partner'],
  reverse: ['partner'],
  sort: ['partner'],
  brackets: ['partner'],
  recall: ['previous', 'partner'],
  // The roles that a text needs are not known in advance, so there is no third chart.
  whale: [],
};

/** Returns the settings with which a task starts. */
export function usualTraining(task: Task): Training {
  const { layers, dModel, numHeads } = MODELS[task];
  return { task, layers, heads: numHeads, width: dModel, rate: task === OWN_TEXT ? FURTHER_RATE : USUAL_RATE, seed: 1 };
}

/** Returns the head of the last layer that is shown first. In `repeat` head 2 learns the role best. */
export const firstHead = ({ task, layers, heads }: { task: Task; layers: number; heads: number }) => ({
  layer: layers - 1,
  head: Math.min(task === 'repeat' ? 2 : 0, heads - 1),
});

export const OPTIMIZERS: Settings['optimizer'][] = ['adamW', 'adam', 'sgd'];

/** The valid values of each setting. */
export const CHOICES = {
  task: TASK_NAMES,
  layers: [1, 2, 3, 4, 5],
  heads: [1, 2, 4, 8],
  width: [16, 32, 64, 128],
  optimizer: OPTIMIZERS,
  dropout: [0, 0.1, 0.2, 0.4],
  mlp: [false, true],
};

/** The sizes that the training panel offers. */
export const LAYERS = [1, 2, 3];
export const HEADS = CHOICES.heads;
export const WIDTHS = CHOICES.width;
/** Training steps per second; null for as fast as possible. */
export const SPEEDS = [2, 5, 20, 60, null];
export const USUAL_SPEED = 20;
export const [MIN_RATE, MAX_RATE] = [1e-4, 10];

export const charactersOf = (text: string) => [...text.replace(/\s+/g, ' ').trim()];
/** Minimum length of a text in characters. */
export const MIN_CHARACTERS = 20;
export const isLongEnough = (text: string) => charactersOf(text).length >= MIN_CHARACTERS;

const hasFixedSizes = ({ task, layers, heads, width }: Pick<Training, 'task' | 'layers' | 'heads' | 'width'>) =>
  layers === MODELS[task].layers && heads === MODELS[task].numHeads && width === MODELS[task].dModel;

export const isTraining = (x: any) =>
  TASK_NAMES.includes(x?.task) &&
  (x.task === OWN_TEXT
    ? hasFixedSizes(x)
    : LAYERS.includes(x.layers) && HEADS.includes(x.heads) && WIDTHS.includes(x.width)) &&
  x.rate >= MIN_RATE &&
  x.rate <= MAX_RATE &&
  Number.isSafeInteger(x.seed) &&
  x.seed >= 0;

/** Writes settings as in the address, such as repeat.2.4.64.1.0.003. */
export const writeTraining = ({ task, layers, heads, width, rate, seed }: Training) =>
  [task, layers, heads, width, seed, rate].join('.');
export function readTraining(written: string): Training {
  const [, task, layers, heads, width, seed, rate] =
    /^([a-z]+)\.(\d+)\.(\d+)\.(\d+)\.(\d+)\.([\d.e-]+)$/.exec(written) ?? [];
  return {
    task: task as Task,
    layers: Number(layers),
    heads: Number(heads),
    width: Number(width),
    rate: Number(rate),
    seed: Number(seed),
  };
}

export const settingsOf = ({ task, layers, heads, width, rate, seed }: Training, text: string): Settings => ({
  task,
  text: task === OWN_TEXT ? text : '',
  layers,
  heads,
  width,
  rate,
  seed,
  mlp: MODELS[task].mlp > 0,
  optimizer: 'adamW',
  dropout: 0,
});
export const trainingOf = ({ task, layers, heads, width, rate, seed }: Settings): Training => ({
  task,
  layers,
  heads,
  width,
  rate,
  seed,
});

/** Returns a 32-bit hash of a text (FNV-1a). */
function digest(text: string) {
  let x = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 0x01000193);
  return (x >>> 0).toString(36);
}

/** Returns the name under which a model is stored. It does not include the rate, which may change during training. */
export const keyOf = ({ task, text, layers, heads, width, seed }: Settings) =>
  [task, layers, heads, width, seed, ...(task === OWN_TEXT ? [digest(text)] : [])].join('-');
