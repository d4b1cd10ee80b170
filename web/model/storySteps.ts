// The story has nine steps. A step sets the state of the page and has acts for the visitor. A log stores the
// predictions and the observations of each step, see observations.ts.

import { UNCHANGED } from './runInput.ts';
import { OPENING, type State } from './state.ts';

/** The observations of a step. Each step has fields of its own, which observations.ts writes. */
export type Seen = any;
/**
 * Observations by the name of a step. said: the visitor's choices by step and act. held: true while a knob is pressed.
 */
export type Log = Record<string, Seen> & { said?: Record<string, number>; held?: boolean };
export type Step = {
  name: string;
  /** parts of the page that a phone shows in addition to the text */
  shows: string[];
  /** differences from BEGIN when the step begins */
  begin?: Partial<State>;
  /** true if the numbers inside the head replace the model */
  inside?: boolean;
  /** step whose second half this step is */
  half?: number;
  /** true for the questions before and after the story */
  quiz?: boolean;
  /** height in CSS pixels of the gap that opens in the model for the line between two heads */
  gap?: number;
};

const BEGIN: Partial<State> = {
  model: 'whale',
  part: 'decoder',
  text: OPENING,
  layer: 4,
  head: 2,
  cell: null,
  token: null,
  view: 'heatmap',
  scope: 'all',
  pinned: null,
  ...UNCHANGED,
};

/** A text with words of several tokens, which the opening does not have. Its first word, a common one, is one token. */
const SPLIT = 'The harpoon was darted; the stricken whale flew forward.';

/** The cell of the token that is copied as the prediction, and the cell of a token that attends to itself. */
const [COPIED, OWN] = [
  { t: 13, s: 4 },
  { t: 7, s: 7 },
];

/** All steps. The first nine have numbers; the others are shown between them, in the order of ROUTE. */
export const STEPS: Step[] = [
  { name: 'next', shows: ['prediction'], begin: { text: 'The white' } },
  { name: 'tokens', shows: [], begin: { text: SPLIT } },
  { name: 'back', shows: ['picture'], begin: { cell: OWN } },
  { name: 'why', shows: ['whatif'], begin: { cell: COPIED, scope: 'head' }, inside: true },
  { name: 'fetched', shows: ['prediction'], begin: { cell: COPIED } },
  { name: 'ahead', shows: ['picture', 'whatif'] },
  { name: 'many', shows: ['model'], begin: { layer: 0, head: 0 } },
  { name: 'matter', shows: ['model', 'prediction', 'whatif'] },
  { name: 'train', shows: ['model'] },
  { name: 'cut', shows: ['model', 'prediction'], begin: { cell: COPIED }, half: 7, gap: 64 },
  { name: 'before', shows: [], begin: { cell: OWN }, quiz: true },
  { name: 'after', shows: [], begin: { cell: OWN }, quiz: true },
];
export const COUNT = 9;

const indexOf = (name: string) => STEPS.findIndex((step) => step.name === name);
/** The steps in the order in which they are shown. */
const ROUTE = [indexOf('before'), 0, 1, 2, 3, 4, 5, 6, 7, indexOf('cut'), 8, indexOf('after')];
/** The questions before the story. */
export const BEFORE = ROUTE[0];

/** Returns the step before and the step after a step; null at both ends. */
export const neighbours = (step: number) => {
  const at = ROUTE.indexOf(step);
  return { before: ROUTE[at - 1] ?? null, after: ROUTE[at + 1] ?? null };
};
export const hasInside = ({ panel, step }: State) => panel === 'story' && Boolean(STEPS[step].inside);
export const gapIn = ({ panel, step }: State) => (panel === 'story' && STEPS[step].gap) || 0;
/** Returns the numbered step to which a step belongs; null for the questions. */
export const numberedStep = (step: number) => (STEPS[step].quiz ? null : (STEPS[step].half ?? step));
/** Returns 1 or 2 for the parts of a step that has two parts, otherwise 0. */
export const partOf = (step: number) =>
  STEPS[step].half !== undefined ? 2 : STEPS.some(({ half }) => half === step) ? 1 : 0;
/** The steps that have a dot, in the order in which they are shown. */
export const DOTS = ROUTE.filter((step) => !STEPS[step].quiz);
/** Returns true if a step is shown before another one. */
export const isBefore = (step: number, other: number) => ROUTE.indexOf(step) < ROUTE.indexOf(other);
/** The parts of the page that a phone shows in each question. */
const SHOWN_IN_QUIZ = [['picture'], ['model'], ['model', 'prediction', 'whatif']];
export const shownParts = (step: number, log: Log): string[] => {
  const { name, quiz, shows } = STEPS[step];
  return quiz ? ['quiz', ...(SHOWN_IN_QUIZ[log[name]?.answers.length ?? 0] ?? [])] : shows;
};

/** Returns the changes to the state when a step begins. */
export function beginning(step: number): Partial<State> {
  const at = Math.min(Math.max(step, 0), STEPS.length - 1);
  return { ...BEGIN, ...STEPS[at].begin, panel: 'story', step: at };
}

/**
 * Returns the change of the prediction's probability without each head, in percentage points, in the step about
 * ablation.
 */
export const costsOf = (step: number, log: Log) => (STEPS[step].name === 'matter' ? (log.matter?.costs ?? null) : null);

/** Returns false for a role that the visitor must still find in the step, and for all roles during the questions. */
export const isRevealed = (step: number, log: Log, role: string | null | undefined) =>
  !STEPS[step].quiz &&
  (STEPS[step].name !== 'many' || (role !== 'previous' && role !== 'induction') || Boolean(log.many?.[role]));
