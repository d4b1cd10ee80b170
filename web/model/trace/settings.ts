// The settings of a trace in the state of the page: the task, its pair of sentences, and the measure.

import { MEASURES, type Measure } from './measures.ts';

import type { TaskName } from './tasks.ts';
/** pair: its number in the task, ALL for the mean; answers: null for the likeliest next word of each sentence */
export type TraceSettings = { task: string; pair: number; by: Measure; answers: [string, string] | null };

/** The predefined tasks, in the order of the menu. tasks.ts has their sentences. */
export const TASKS: TaskName[] = ['indirect', 'induction', 'greater', 'agreement', 'gender'];
/** The task for two sentences of the visitor. */
export const OWN = 'own';
/** The value of `pair` for all pairs of a task. */
export const ALL = -1;
export const usualTrace: TraceSettings = { task: OWN, pair: 0, by: 'score', answers: null };
const MAX_ANSWER = 40;

const isAnswer = (x: unknown) => typeof x === 'string' && x.length <= MAX_ANSWER;
export const isTrace = (x: any) =>
  [OWN, ...TASKS].includes(x?.task) &&
  Number.isInteger(x.pair) &&
  x.pair >= ALL &&
  MEASURES.includes(x.by) &&
  (x.answers === null || (Array.isArray(x.answers) && x.answers.length === 2 && x.answers.every(isAnswer)));

const escaped = (text: string) => encodeURIComponent(text).replaceAll('.', '%2E');
export const writeTrace = ({ task, pair, by, answers }: TraceSettings) =>
  [task, pair, by, ...(answers ?? []).map(escaped)].join('.');
export function readTrace(text: string): unknown {
  const [task, pair, by, ...answers] = text.split('.');
  try {
    return { task, pair: Number(pair), by, answers: answers.length > 0 ? answers.map(decodeURIComponent) : null };
  } catch {
    return null;
  }
}
