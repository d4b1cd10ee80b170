// The settings of a trace in the state of the page: the task, its pair of sentences, and the measure.

import { MEASURES } from './measures.js';

/** @import { Measure } from './measures.js' */
/** @import { TaskName } from './tasks.js' */
/**
 * pair: number of the pair in the task, ALL for the mean of all pairs. answers: null for the most probable next word of
 * each sentence.
 * @typedef {{ task: string, pair: number, by: Measure, answers: [string, string] | null }} TraceSettings
 */

/** The predefined tasks, in the order of the menu. tasks.js has their sentences. @type {TaskName[]} */
export const TASKS = ['indirect', 'induction', 'greater', 'agreement', 'gender'];
/** The task for two sentences of the visitor. */
export const OWN = 'own';
/** The value of `pair` for all pairs of a task. */
export const ALL = -1;
/** @type {TraceSettings} */
export const usualTrace = { task: OWN, pair: 0, by: 'score', answers: null };
const MAX_ANSWER = 40;

const isAnswer = (/** @type {unknown} */ x) => typeof x === 'string' && x.length <= MAX_ANSWER;
/** @param {any} x */
export const isTrace = (x) =>
  [OWN, ...TASKS].includes(x?.task) &&
  Number.isInteger(x.pair) &&
  x.pair >= ALL &&
  MEASURES.includes(x.by) &&
  (x.answers === null || (Array.isArray(x.answers) && x.answers.length === 2 && x.answers.every(isAnswer)));

const escaped = (/** @type {string} */ text) => encodeURIComponent(text).replaceAll('.', '%2E');
/** @param {TraceSettings} settings */
export const writeTrace = ({ task, pair, by, answers }) => [task, pair, by, ...(answers ?? []).map(escaped)].join('.');
/** @param {string} text @returns {unknown} */
export function readTrace(text) {
  const [task, pair, by, ...answers] = text.split('.');
  try {
    return { task, pair: Number(pair), by, answers: answers.length > 0 ? answers.map(decodeURIComponent) : null };
  } catch {
    return null;
  }
}
