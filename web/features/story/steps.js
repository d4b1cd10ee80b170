// The story: nine steps that set the state of the page, each with tasks for the visitor. A log keeps the observations
// of each step: see observations.js.

import { UNCHANGED } from '../../store/runInput.js';
import { change, initialState, OPENING, readAddress, writeAddress } from '../../store/state.js';
import { beginningOf } from '../first/firstSteps.js';
import { ROLES } from '../heads/roles.js';

/** @import { State } from '../../store/state.js' */
/** @typedef {Record<string, any>} Log observations by the name of a step */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} shows parts of the page that a phone shows besides the text
 * @property {Partial<State>} [begin] differences from BEGIN when the step begins
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

/** @type {Step[]} */
export const STEPS = [
  { name: 'next', shows: ['prediction'], begin: { text: 'The white' } },
  { name: 'tokens', shows: [], begin: { text: SPLIT } },
  { name: 'back', shows: ['picture'] },
  { name: 'why', shows: ['whatif'], begin: { cell: { t: 13, s: 4 }, scope: 'head' } },
  { name: 'fetched', shows: ['prediction'], begin: { cell: { t: 13, s: 4 } } },
  { name: 'ahead', shows: ['picture', 'whatif'] },
  { name: 'many', shows: ['model'], begin: { layer: 0, head: 0 } },
  { name: 'matter', shows: ['model', 'prediction', 'whatif'] },
  { name: 'train', shows: ['model'] },
];

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
 * False for a role that the step asks to find, until it is found.
 * @param {number} step
 * @param {Log} log
 * @param {string | null | undefined} role
 */
export const isRevealed = (step, log, role) =>
  STEPS[step].name !== 'many' ||
  !ROLES.some(([name]) => name === role && (name === 'previous' || name === 'induction')) ||
  Boolean(log.many?.[/** @type {string} */ (role)]);
