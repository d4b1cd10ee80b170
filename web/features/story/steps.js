// The story: nine steps that set the state of the page, each with acts for the visitor. A log keeps the predictions and
// the observations of each step: see observations.js.

import { UNCHANGED } from '../../store/runInput.js';
import { change, initialState, OPENING, readAddress, writeAddress } from '../../store/state.js';
import { beginningOf } from '../first/firstSteps.js';
import { ROLES } from '../heads/roles.js';

/** @import { State } from '../../store/state.js' */
/**
 * Observations by the name of a step. said: the choices of the visitor, by step and act. held: a knob is pressed.
 * @typedef {Record<string, any> & { said?: Record<string, number>, held?: boolean }} Log
 */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} shows parts of the page that a phone shows besides the text
 * @property {Partial<State>} [begin] differences from BEGIN when the step begins
 * @property {boolean} [inside] true if the numbers inside the head take the place of the model
 * @property {number} [half] the step that it is the second half of
 * @property {boolean} [quiz] true for the questions before and after the story
 * @property {number} [gap] CSS pixels that open in the model for the line between two heads
 */

/** @type {Partial<State>} */
const BEGIN = {
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

/** A text with words of several tokens. The opening has none. */
const SPLIT = 'To the last I grapple with thee, Moby Dick.';

/** The cell that the guess is copied from, and one of a token that looks at itself. */
const [COPIED, OWN] = [
  { t: 13, s: 4 },
  { t: 7, s: 7 },
];

/** The first nine have numbers; the others are shown between them: see ROUTE. @type {Step[]} */
export const STEPS = [
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

const indexOf = (/** @type {string} */ name) => STEPS.findIndex((step) => step.name === name);
/** The steps in their order. */
const ROUTE = [indexOf('before'), 0, 1, 2, 3, 4, 5, 6, 7, indexOf('cut'), 8, indexOf('after')];
/** The questions before the story. */
export const BEFORE = ROUTE[0];

/** The step before and the step after one; null at the ends. @param {number} step */
export const neighbours = (step) => {
  const at = ROUTE.indexOf(step);
  return { before: ROUTE[at - 1] ?? null, after: ROUTE[at + 1] ?? null };
};
/** True if the numbers inside the head take the place of the model. @param {State} state */
export const hasInside = ({ panel, step }) => panel === 'story' && Boolean(STEPS[step].inside);
/** The gap in the model for the line between two heads. @param {State} state */
export const gapIn = ({ panel, step }) => (panel === 'story' && STEPS[step].gap) || 0;
/** The numbered step that a step belongs to; null for the questions. @param {number} step */
export const numberedStep = (step) => (STEPS[step].quiz ? null : (STEPS[step].half ?? step));

/** The parts that a phone shows in each question. */
const SHOWN_IN_QUIZ = [['picture'], ['model'], ['model', 'prediction', 'whatif']];
/**
 * The parts of the page that a phone shows besides the text.
 * @param {number} step @param {Log} log
 * @returns {string[]}
 */
export const shownParts = (step, log) => {
  const { name, quiz, shows } = STEPS[step];
  return quiz ? ['quiz', ...(SHOWN_IN_QUIZ[log[name]?.answers.length ?? 0] ?? [])] : shows;
};

/** The changes to the state when a step begins. @param {number} step @returns {Partial<State>} */
export function beginning(step) {
  const at = Math.min(Math.max(step, 0), STEPS.length - 1);
  return { ...BEGIN, ...STEPS[at].begin, panel: 'story', step: at };
}

/**
 * The state that links omit: the beginning of the step of the story or of the first visit, or of the page.
 * @param {State} state @returns {State}
 */
function defaultOf({ panel, step, first }) {
  if (panel === 'story') return change(initialState, beginning(step));
  return first === null ? initialState : { ...initialState, ...beginningOf(first), first: null };
}

/** The part of an address after #. @param {State} state */
export const writeLink = (state) => writeAddress(state, { ...defaultOf(state), panel: 'reading', step: 0 });

/** A link to the step that asks to find heads must not choose one of them. @param {string} link @returns {State} */
export function readLink(link) {
  const written = readAddress(link);
  const base = defaultOf(written);
  const state = readAddress(link, base);
  const findsHeads = state.panel === 'story' && STEPS[state.step].name === 'many';
  return {
    ...state,
    // The step's cell belongs to the step's text.
    ...(state.text !== base.text && { cell: written.cell }),
    ...(findsHeads && { layer: base.layer, head: base.head }),
  };
}

/**
 * The effect of heads on the guess, in percentage points, during the step about ablation.
 * @param {number} step @param {Log} log
 */
export const costsOf = (step, log) => (STEPS[step].name === 'matter' ? (log.matter?.costs ?? null) : null);

/**
 * False for a role that the step asks to find, until it is found, and for all during the questions.
 * @param {number} step
 * @param {Log} log
 * @param {string | null | undefined} role
 */
export const isRevealed = (step, log, role) =>
  !STEPS[step].quiz &&
  (STEPS[step].name !== 'many' ||
    !ROLES.some(([name]) => name === role && (name === 'previous' || name === 'induction')) ||
    Boolean(log.many?.[/** @type {string} */ (role)]));
