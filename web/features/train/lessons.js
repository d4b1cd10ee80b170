// The lessons of the training panel: for each task of tasks.js the length of its training, the position of the answer
// and the roles of its heads.

import { TRAINED } from '../../store/runInput.js';
import { CHOICES, isLongEnough, MIN_CHARACTERS, TASK_NAMES, TASKS, taskOf } from './tasks.js';

/** @import { Random, Settings, Task, TaskKind } from '../../store/types.js' */

/**
 * @typedef {object} Training the settings that are a part of the address
 * @property {Task} task
 * @property {number} layers
 * @property {number} heads
 * @property {number} width
 * @property {number} rate
 * @property {number} seed
 */
/**
 * @typedef {object} Lesson
 * @property {number} batch
 * @property {number} rate
 * @property {number} steps training pauses after this many
 * @property {string[]} watch the scores in chart 3: the roles that the task needs
 * @property {(labels: number[], t: number) => number[]} [partners] positions of the answer to a token
 * @property {number} [head] of the last layer: it is shown first because it learns the role best
 * @property {TaskKind} [task] if it differs from that of tasks.js
 */

/** True if the page shows training. @param {{ model: string, panel: string }} state */
export const isOpen = ({ model, panel }) => model === TRAINED && panel === 'train';

const NONE = -100;

/** @param {Random} random @param {number} count */
function drawn(random, count) {
  const list = Array.from(TASKS.repeat.tokens.keys());
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (list.length - i));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list.slice(0, count);
}

/**
 * Six to seventeen letters, repeated up to 42 tokens: short enough that every cell is visible.
 * @type {TaskKind}
 */
const REPEAT = {
  ...TASKS.repeat,
  context: 42,
  sequence(random) {
    const period = 6 + Math.floor(random() * 12);
    const letters = drawn(random, period);
    const all = Array.from({ length: 43 }, (_, t) => letters[t % period]);
    return { tokens: all.slice(0, -1), targets: all.slice(1).map((label, t) => (t < period ? NONE : label)) };
  },
  suits: (labels) => labels.lastIndexOf(labels[0]) === 28,
};

/** Positions of the digit that is next in the sorted list. @param {number[]} labels @param {number} t */
function sortPartners(labels, t) {
  const mark = labels.indexOf(10);
  if (mark < 0 || t < mark) return [];
  const read = labels.slice(0, mark);
  const next = read.toSorted((a, b) => a - b)[t - mark];
  return read.flatMap((label, s) => (label === next ? [s] : []));
}

/** The opener that the closer at t closes. @param {number[]} labels @param {number} t */
function opener(labels, t) {
  if (labels[t] !== 3) return [];
  const open = [];
  for (let s = 0; s < t; s++) {
    if (labels[s] === 3) open.pop();
    else open.push(s);
  }
  return open.slice(-1);
}

/** From the mark on: a position in the part before the mark. @param {(step: number, read: number) => number} place */
const inRead = (place) => (/** @type {number[]} */ labels, /** @type {number} */ t) => {
  const mark = labels.indexOf(26);
  return mark < 0 || t < mark || t - mark >= mark ? [] : [place(t - mark, mark)];
};

/** The position of the digit after the letter's first occurrence. @param {number[]} labels @param {number} t */
function digitOf(labels, t) {
  const before = labels.indexOf(labels[t]);
  return labels[t] < 8 && before < t ? [before + 1] : [];
}

/** @type {Record<Task, Lesson>} */
export const LESSONS = {
  repeat: { batch: 16, rate: 0.003, steps: 400, watch: ['previous', 'induction'], head: 2, task: REPEAT },
  previous: { batch: 16, rate: 0.003, steps: 200, watch: ['previous'] },
  copy: { batch: 32, rate: 0.003, steps: 600, watch: ['partner'], partners: inRead((step) => step) },
  reverse: {
    batch: 32,
    rate: 0.003,
    steps: 600,
    watch: ['partner'],
    partners: inRead((step, read) => read - 1 - step),
  },
  sort: { batch: 32, rate: 0.003, steps: 800, watch: ['partner'], partners: sortPartners },
  brackets: { batch: 32, rate: 0.003, steps: 1200, watch: ['partner'], partners: opener },
  recall: { batch: 32, rate: 0.003, steps: 600, watch: ['previous', 'partner'], partners: digitOf },
  // The roles that a text needs are not known in advance: there is no third chart.
  text: { batch: 16, rate: 0.003, steps: 2000, watch: [] },
};

/** The task with the lesson's batch and steps. @param {{ task: Task, text: string }} settings @returns {TaskKind} */
export function taughtTask(settings) {
  const lesson = LESSONS[settings.task];
  const kind = lesson.task ?? taskOf(settings);
  return { ...kind, training: { ...kind.training, batch: lesson.batch, steps: lesson.steps } };
}

/**
 * The mean weight of a head on the answers; NaN if no token has one.
 * @param {Task} task
 * @param {Float32Array} weights (T,T)
 * @param {number[]} labels
 */
export function partnerScore(task, weights, labels) {
  const { partners } = LESSONS[task];
  if (!partners) return Number.NaN;
  const T = labels.length;
  let [sum, count] = [0, 0];
  for (let t = 0; t < T; t++) {
    const keys = partners(labels, t);
    if (keys.length === 0) continue;
    count++;
    for (const s of keys) sum += weights[t * T + s];
  }
  return count > 0 ? sum / count : Number.NaN;
}

/** The settings that a task starts with. @param {Task} task @returns {Training} */
export function usualTraining(task) {
  const { layers, dModel, numHeads } = task === 'text' ? TASKS.repeat.model : TASKS[task].model;
  return { task, layers, heads: numHeads, width: dModel, rate: LESSONS[task].rate, seed: 1 };
}

/** The head that is shown first. @param {{ task: Task, layers: number, heads: number }} training */
export const firstHead = ({ task, layers, heads }) => ({
  layer: layers - 1,
  head: Math.min(LESSONS[task].head ?? 0, heads - 1),
});

/** The choices of the training panel. */
export const LAYERS = [1, 2, 3];
export const HEADS = CHOICES.heads;
export const WIDTHS = CHOICES.width;
/** Steps per second; null: as fast as possible. */
export const SPEEDS = [2, 5, 20, 60, null];
export const USUAL_SPEED = 20;
export const [MIN_RATE, MAX_RATE] = [1e-4, 10];

/** @param {any} x */
export const isTraining = (x) =>
  TASK_NAMES.includes(x?.task) &&
  LAYERS.includes(x.layers) &&
  HEADS.includes(x.heads) &&
  WIDTHS.includes(x.width) &&
  x.rate >= MIN_RATE &&
  x.rate <= MAX_RATE &&
  Number.isSafeInteger(x.seed) &&
  x.seed >= 0;

/** The settings in the form of the address, such as repeat.2.4.64.1.0.003. @param {Training} training */
export const writeTraining = ({ task, layers, heads, width, rate, seed }) =>
  [task, layers, heads, width, seed, rate].join('.');
/** @param {string} written @returns {Training} */
export function readTraining(written) {
  const [, task, layers, heads, width, seed, rate] =
    /^([a-z]+)\.(\d+)\.(\d+)\.(\d+)\.(\d+)\.([\d.e-]+)$/.exec(written) ?? [];
  return {
    task: /** @type {Task} */ (task),
    layers: Number(layers),
    heads: Number(heads),
    width: Number(width),
    rate: Number(rate),
    seed: Number(seed),
  };
}

/** All settings of the trainer. @param {Training} training @param {string} text @returns {Settings} */
export const settingsOf = ({ task, layers, heads, width, rate, seed }, text) => ({
  task,
  text: task === 'text' ? text : '',
  layers,
  heads,
  width,
  rate,
  seed,
  mlp: (task === 'text' ? 256 : TASKS[task].model.mlp) > 0,
  optimizer: 'adamW',
  dropout: 0,
});
/** The settings that are a part of the address. @param {Settings} settings @returns {Training} */
export const trainingOf = ({ task, layers, heads, width, rate, seed }) => ({ task, layers, heads, width, rate, seed });

/** A 32-bit hash of a text (FNV-1a). @param {string} text */
function digest(text) {
  let x = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 0x01000193);
  return (x >>> 0).toString(36);
}

/** The name under which a model is stored. The rate may change during training. @param {Settings} settings */
export const keyOf = ({ task, text, layers, heads, width, seed }) =>
  [task, layers, heads, width, seed, ...(task === 'text' ? [digest(text)] : [])].join('-');

export { isLongEnough, MIN_CHARACTERS, TASK_NAMES };

/** The text of labels, without spaces between letters. @param {string[]} tokens @param {ArrayLike<number>} labels */
export const textOf = (tokens, labels) => Array.from(labels, (label) => tokens[label]).join('');

/**
 * A tokenizer with one token per character. Unknown characters are skipped and belong to the next token.
 * @param {string[]} tokens
 */
export function signTokenizer(tokens) {
  const label = new Map(tokens.map((sign, i) => [sign, i]));
  const known = (/** @type {string} */ sign) =>
    label.get(/\s/.test(sign) ? ' ' : sign) ?? label.get(sign.toLowerCase());
  return {
    /** @param {string} text @returns {{ ids: number[], offsets: [number, number][] }} */
    encode(text) {
      /** @type {number[]} */
      const ids = [];
      /** @type {[number, number][]} */
      const offsets = [];
      let [start, at] = [0, 0];
      for (const sign of text) {
        at += sign.length;
        const id = known(sign);
        // In a text white space is a token; in the other tasks it only separates letters.
        if (id === undefined) continue;
        ids.push(id);
        offsets.push([start, at]);
        start = at;
      }
      return { ids, offsets };
    },
    decode: (/** @type {number[]} */ ids) => ids.map((id) => tokens[id] ?? '').join(''),
  };
}
