// The lessons of the training panel: for each task of tasks.ts the length of its training, and the positions of the
// answer.

import type { Random, Task, TaskKind } from '../types.ts';
import { TASKS } from './tasks.ts';

export type Lesson = {
  batch: number;
  /** number of steps after which training pauses */
  steps: number;
  /** positions of the answer to the token t */
  partners?: (labels: number[], t: number) => number[];
  /** task of the lesson, if it differs from the one in tasks.ts */
  task?: TaskKind;
};

const NONE = -100;

function drawn(random: Random, count: number) {
  const list = Array.from(TASKS.repeat.tokens.keys());
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (list.length - i));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list.slice(0, count);
}

/** A sequence of six to seventeen letters, repeated up to 42 tokens. It is so short that every cell is visible. */
const REPEAT: TaskKind = {
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

/** Returns the positions of the digit that is next in the sorted list. */
function sortPartners(labels: number[], t: number) {
  const mark = labels.indexOf(10);
  if (mark < 0 || t < mark) return [];
  const read = labels.slice(0, mark);
  const next = read.toSorted((a, b) => a - b)[t - mark];
  return read.flatMap((label, s) => (label === next ? [s] : []));
}

function opener(labels: number[], t: number) {
  if (labels[t] !== 3) return [];
  const open = [];
  for (let s = 0; s < t; s++) {
    if (labels[s] === 3) open.pop();
    else open.push(s);
  }
  return open.slice(-1);
}

/** Returns a function to the position of a token's answer: the token is the mark or after it, the answer before it. */
const inRead = (place: (step: number, read: number) => number) => (labels: number[], t: number) => {
  const mark = labels.indexOf(26);
  return mark < 0 || t < mark || t - mark >= mark ? [] : [place(t - mark, mark)];
};

/** Returns the position of the digit after the first occurrence of a letter. */
function digitOf(labels: number[], t: number) {
  const before = labels.indexOf(labels[t]);
  return labels[t] < 8 && before < t ? [before + 1] : [];
}

export const LESSONS: Record<Task, Lesson> = {
  repeat: { batch: 16, steps: 400, task: REPEAT },
  previous: { batch: 16, steps: 200 },
  copy: { batch: 32, steps: 600, partners: inRead((step) => step) },
  reverse: { batch: 32, steps: 600, partners: inRead((step, read) => read - 1 - step) },
  sort: { batch: 32, steps: 800, partners: sortPartners },
  brackets: { batch: 32, steps: 1200, partners: opener },
  recall: { batch: 32, steps: 600, partners: digitOf },
  // This many steps take less than five minutes on a laptop.
  whale: { batch: 4, steps: 1200 },
};

/** Returns a task of tasks.ts with the batch and the steps of its lesson. */
export function taughtTask(settings: { task: Task }): TaskKind {
  const lesson = LESSONS[settings.task];
  const kind = lesson.task ?? TASKS[settings.task];
  return { ...kind, training: { ...kind.training, batch: lesson.batch, steps: lesson.steps } };
}

/** Returns a head's mean weight on the answers; NaN if no token has an answer. `weights`: (T,T). */
export function partnerScore(task: Task, weights: Float32Array, labels: number[]) {
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

/** Returns the text of labels, without spaces between letters. */
export const textOf = (tokens: string[], labels: ArrayLike<number>) =>
  Array.from(labels, (label) => tokens[label]).join('');

/** Returns a tokenizer of characters. Unknown ones are skipped; their offsets belong to the next token. */
export function signTokenizer(tokens: string[]) {
  const label = new Map(tokens.map((sign, i) => [sign, i]));
  const known = (sign: string) => label.get(/\s/.test(sign) ? ' ' : sign) ?? label.get(sign.toLowerCase());
  return {
    encode(text: string): { ids: number[]; offsets: [number, number][] } {
      const ids: number[] = [];
      const offsets: [number, number][] = [];
      let [start, at] = [0, 0];
      for (const sign of text) {
        at += sign.length;
        const id = known(sign);
        // In a task with text, white space is a token. In any other task it only separates letters and is skipped.
        if (id === undefined) continue;
        ids.push(id);
        offsets.push([start, at]);
        start = at;
      }
      return { ids, offsets };
    },
    decode: (ids: number[]) => ids.map((id) => tokens[id] ?? '').join(''),
  };
}
