// The three questions before and after the story. The visitor answers by actions on the page. The page records all
// attempts, including the wrong ones. The answers are stored only in this browser.

import { OPENING, type State } from '../../model/state.ts';

import type { Answers } from './observations.ts';
export type Question = 'most' | 'previous' | 'guess';
/** An action that answers a question. what: description that needs no language, such as 4.2 or a12 → b3. */
export type Act = { what: string; right: boolean };
/** The answer to a question. what: description of the action, null if there was none. */
export type Answer = { question: Question; what: string | null; right: boolean; tries: string[] };
export type Quiz = {
  /** answers so far */
  answers: Answer[];
  /** descriptions of the actions for the current question */
  tries: string[];
  /** action that becomes the answer */
  now: Act | null;
  /** most probable token of the unchanged model */
  base: number | null;
};
export type Stored = { before: Answer[]; after: Answer[] };

export const QUESTIONS: Question[] = ['most', 'previous', 'guess'];
export const TIMES = ['before', 'after'] as const;
/** The position in the opening of the token that the first question is about. */
export const ASKED_TOKEN = 12;
/** Maximum number of attempts that are recorded for a question. */
const MAX_TRIES = 40;
/** The name under which the browser stores the answers, and the version of their format. */
export const STORED = 'story';
const VERSION = 1;

export const START: Quiz = { answers: [], tries: [], now: null, base: null };

const ACTS: Record<Question, (quiz: Quiz, state: State, answers: Answers) => Act | null> = {
  most(_, { cell, layer, head, text }, { run }) {
    if (!cell || cell.t >= run.T || cell.t === cell.s || text !== OPENING) return null;
    const first = ((layer * run.about.heads + head) * run.T + cell.t) * run.T;
    const row = run.weights.subarray(first, first + run.T);
    const isMost = row.every((weight) => weight <= row[cell.s]);
    const nameAt = (t: number) => `${run.pieces[t].name}${subscript(t)}`;
    return { what: `${nameAt(cell.t)} → ${nameAt(cell.s)}`, right: cell.t === ASKED_TOKEN && isMost };
  },
  previous(_, { layer, head }, { roles }) {
    if (layer === 4 && head === 2) return null;
    return { what: `${layer}.${head}`, right: roles?.[layer]?.[head] === 'previous' };
  },
  guess({ base }, state, { run }) {
    const changes = changesOf(state);
    if (changes.length === 0 || !run.top || base === null) return null;
    const [{ id, text }] = run.top;
    return { what: `${changes.join(', ')} → ${text.trim()}`, right: state.text === OPENING && id !== base };
  },
};

const subscript = (n: number) => String(n).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)]);

/** Describes the changes to the model and its text, each in a few characters. */
function changesOf({ text, scale, temperature, mask, painted }: State) {
  const each = (map: Record<string, unknown>, sign: string) =>
    Object.entries(map).map(([place, value]) => `${place} ${sign} ${value}`);
  return [
    ...each(scale, '×'),
    ...each(temperature, 'T ='),
    ...each(mask, 'mask'),
    ...each(painted, 'mask'),
    ...(text === OPENING ? [] : [`“${text.slice(0, 80)}”`]),
  ];
}

/** Returns the quiz after the visitor's current action; the same object if there is nothing new. */
export function observeQuiz(before: Quiz | undefined, state: State, answers: Answers): Quiz | undefined {
  const quiz = before ?? START;
  const question = QUESTIONS[quiz.answers.length];
  if (!question) return before;
  const base = quiz.base ?? (changesOf(state).length === 0 ? (answers.run.top?.[0].id ?? null) : null);
  const now = ACTS[question]({ ...quiz, base }, state, answers);
  const isNew = now && !quiz.tries.includes(now.what) && quiz.tries.length < MAX_TRIES;
  return { ...quiz, base, now, tries: isNew ? [...quiz.tries, now.what] : quiz.tries };
}

/** Returns the quiz after an answer, which is the current action or none. */
export function answered({ answers, tries, base }: Quiz, act: Act | null): Quiz {
  const question = QUESTIONS[answers.length];
  const answer = { question, what: act?.what ?? null, right: act?.right ?? false, tries };
  return { answers: [...answers, answer], tries: [], now: null, base };
}

export const writeAnswers = ({ before, after }: Stored) => JSON.stringify({ version: VERSION, before, after });

const isList = (list: any) =>
  Array.isArray(list) &&
  list.length <= QUESTIONS.length &&
  list.every(
    (one, i) =>
      one?.question === QUESTIONS[i] &&
      (one.what === null || typeof one.what === 'string') &&
      typeof one.right === 'boolean' &&
      Array.isArray(one.tries) &&
      one.tries.every((what: unknown) => typeof what === 'string'),
  );

/** Reads stored answers. There are none if they have another format. */
export function readAnswers(text: string | undefined): Stored {
  try {
    const { version, before, after } = JSON.parse(text ?? '');
    if (version === VERSION && isList(before) && isList(after)) return { before, after };
  } catch {
    // There are no stored answers, or they are damaged.
  }
  return { before: [], after: [] };
}

export type ResultTexts = {
  result: string;
  when: Record<'before' | 'after', string>;
  questions: Record<Question, { ask: string; right: string; wrong: string }>;
  none: string;
  marks: { right: string; wrong: string; none: string };
  right: (right: number, all: number) => string;
  tried: (tries: string) => string;
  colon: string;
};

export function answerText({ questions, none, marks }: ResultTexts, answer: Answer | undefined) {
  if (!answer || answer.what === null) return `${marks.none} ${none}`;
  const { right, wrong } = questions[answer.question];
  return `${answer.right ? marks.right : marks.wrong} ${answer.right ? right : wrong} (${answer.what})`;
}

export const countText = ({ right }: ResultTexts, answers: Answer[]) =>
  right(answers.filter((answer) => answer.right).length, QUESTIONS.length);

export function plainResult(texts: ResultTexts, stored: Stored, more: string[] = []) {
  const lines = (i: number) =>
    TIMES.map((when) => {
      const answer = stored[when][i];
      const tried = answer && answer.tries.length > 0 ? ` ${texts.tried(answer.tries.join('; '))}` : '';
      return `   ${texts.when[when]}${texts.colon}${answerText(texts, answer)}${tried}`;
    });
  const each = QUESTIONS.map((question, i) =>
    [`${i + 1}. ${texts.questions[question].ask.replaceAll('*', '')}`, ...lines(i)].join('\n'),
  );
  const counts = TIMES.map((when) => `${texts.when[when]}${texts.colon}${countText(texts, stored[when])}`);
  return `${[texts.result, ...each, ...counts, ...more].join('\n')}\n`;
}
