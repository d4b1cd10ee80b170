// The state of the whole page: what its address holds, and what lasts only as long as the page.

import { EXAMPLES, tokenize } from './examples.js';
import { LEARNED } from './learned.js';
import { change, initialState } from './state.js';

/** @import { Cell, Compare, FileProblem, Session, State, Strings } from './types.js' */

/** @param {State} state @param {Session['language']} language @returns {Session} */
export const startSession = (state, language) => ({
  state,
  language,
  /** The parts of the newest answer; none where there is nothing to compute. */
  shown: {},
  /** Whether anything was answered yet. */
  answered: false,
  /** Why nothing could be computed: { message }, or { cancelled: true }. */
  error: null,
  /** What is wrong with a visitor's files: { code, values }, or { message }. */
  fileProblem: null,
  /** Whether files are being read. */
  reading: false,
  /** Whether the visitor's file has heads of its own. */
  ownHeads: false,
  /** A state to compare with, and how. */
  pinned: null,
  compare: 'none',
  /** Whether the pointer paints a mask. */
  painting: false,
  /** Pixels that the large picture has. */
  large: { rows: 512, columns: 512 },
});

// Changes: each gives the fields of a session that it changes.

/** @param {Session} session @returns {Partial<Session>} */
export const pin = ({ state }) => ({
  pinned: state,
  compare: 'difference',
  state: change(state, { view: 'cells' }),
});

/** @param {Session} session @param {State['view'] | 'side' | 'difference'} view @returns {Partial<Session>} */
export const chooseView = ({ state }, view) =>
  view === 'difference' || view === 'side'
    ? { compare: view, state: change(state, { view: 'cells' }) }
    : { compare: 'none', state: change(state, { view }) };

/** @param {Session} session @param {string} example */
export const chooseExample = ({ state }, example) => ({ fileProblem: null, state: change(state, { example }) });

/** @returns {Partial<Session>} */
export const reset = () => ({
  state: initialState,
  pinned: null,
  compare: 'none',
  painting: false,
  fileProblem: null,
});

/**
 * Files were read: they are what is shown now, or what is wrong with them is.
 * @param {Session} session
 * @param {{ given?: { id: number, heads: number | null }, problem?: FileProblem, error?: string }} answer
 * @param {Partial<State>} [more]
 */
export const openFile = ({ state }, { given, problem, error }, more = {}) => ({
  reading: false,
  fileProblem: problem ?? (error ? { message: error } : null),
  ownHeads: Boolean(given?.heads),
  state: change(state, {
    example: 'file',
    head: 0,
    batch: 0,
    cell: null,
    off: [],
    painted: [],
    region: [],
    file: given?.id ?? 0,
    heads: given?.heads ?? 1,
    ...more,
  }),
});

/** Whether what is shown is a difference from the pinned state. @param {Session} session */
export const differs = ({ shown, compare }) => Boolean(shown.facts?.differs) && compare === 'difference';

/**
 * What stands in the place of the picture; empty where there is one.
 * @param {Session} session
 * @param {Strings} strings
 */
export function whyNothing({ state, shown, answered, error, fileProblem }, strings) {
  if (fileProblem)
    return fileProblem.code !== undefined
      ? strings.fileProblems[fileProblem.code](...fileProblem.values)
      : strings.failed(fileProblem.message);
  if (error) return error.cancelled ? strings.cancelled : strings.failed(error.message);
  const example = EXAMPLES[state.example];
  if (example.text && tokenize(state.text).length === 0) return strings.empty;
  if (shown.picture) return '';
  return answered && example.file ? strings.noFile : strings.loading;
}

/** @param {Strings} strings @param {State} state @param {number} head */
export function headName(strings, { example }, head) {
  if (EXAMPLES[example].learned)
    return strings.train.head(Math.floor(head / LEARNED.numHeads), head % LEARNED.numHeads);
  return EXAMPLES[example].named
    ? strings.heads[example === 'patches' ? 'patches' : 'words'][head]
    : strings.head(head);
}

/** @param {Strings} strings @param {State} state @param {number} head */
export const headAbout = (strings, { example }, head) =>
  EXAMPLES[example].named ? strings.headAbout[example === 'patches' ? 'patches' : 'words'][head] : '';
