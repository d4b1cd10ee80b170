// What the page shows, as plain data, and how it changes. Nothing here knows of the page itself.

import { argumentError } from '../../src/js/check/errors.js';
import { EXAMPLES, PAINT_STRIDE } from './examples.js';
import { TASK_NAMES } from './tasks.js';

/** @import { Cell, LineRule, Region, Span, State } from './types.js' */

export const TEMPERATURE = { least: 0.1, most: 10 };
/** An example takes the next two seeds as well. */
const MOST_SEED = 2 ** 32 - 3;
export const MASKS = ['none', 'causal', 'padding', 'window'];
export const SCALES = ['linear', 'sqrt', 'log', 'row'];
export const VIEWS = ['cells', 'lines', 'grid'];
/** Which keys a line goes to: those that make up a share of the row, or the largest few. */
/** @type {Record<State['lines'], LineRule>} */
export const LINES = {
  most: { kind: 'mass', share: 0.9 },
  half: { kind: 'mass', share: 0.5 },
  three: { kind: 'top', count: 3 },
  one: { kind: 'top', count: 1 },
};
/** No fewer tokens than these fill the picture. */
const LEAST_REGION = 8;
/** Lines are drawn between no more tokens than these. */
const MOST_LINED = 64;

export const PAGES = ['explore', 'train'];

/** @type {State} */
export const initialState = {
  page: 'explore',
  /** The task of the Train view. */
  task: 'repeat',
  example: 'sentence',
  text: 'She said that she saw the cat , but the cat saw her first .',
  heads: 8,
  head: 5,
  mask: 'none',
  keys: 8,
  temperature: 1,
  seed: 1,
  batch: 0,
  /** How many tokens an example of any length has. */
  tokens: 512,
  /** Keys to either side that the window mask leaves. */
  window: 2,
  /** Whether scores are divided by √D. */
  scaled: true,
  /** 0: none. */
  softcap: 0,
  /** Cells hidden by hand, in rising order. */
  painted: [],
  /** Heads whose output is taken as 0. */
  off: [],
  scale: 'linear',
  view: 'cells',
  lines: 'most',
  /** The cell being read: { query, key }, or null; locked, it stays whatever the pointer does. */
  cell: { query: 7, key: 5 },
  locked: false,
  /** Further queries whose rows are marked, in rising order. */
  also: [],
  /** Which of the visitor's own files, by the number that it got when it was read. */
  file: 0,
  /** The part that is enlarged, [first query, first key, tokens across]; empty: all. */
  region: [],
};

/** @type {Record<string, number>} */
const usualHeads = {
  sentence: 8,
  own: 8,
  learned: 8,
  equal: 1,
  lengths: 5,
  padded: 2,
  cross: 8,
  wide: 4,
  patches: 6,
  long: 12,
  file: 1,
};
/** @type {Record<string, State['view']>} */
const usualViews = { patches: 'grid' };

const isIndex = (/** @type {any} */ x) => Number.isSafeInteger(x) && x >= 0;
/** @param {readonly unknown[]} names */
const oneOf = (names) => ({
  holds: (/** @type {unknown} */ x) => names.includes(x),
  expected: `one of ${names.join(', ')}`,
});
/** @typedef {{ holds: (x: any) => boolean, expected: string }} Field */
/** @type {Field} */
const INDEX = { holds: isIndex, expected: 'a whole number, 0 or more' };
/** @type {Field} */
const INDICES = { holds: (x) => Array.isArray(x) && x.every(isIndex), expected: 'an array of whole numbers' };
/** @type {Field} */
const YES_OR_NO = { holds: (x) => typeof x === 'boolean', expected: 'true or false' };
/** @type {Field} */
const TEXT = { holds: (x) => typeof x === 'string', expected: 'a text' };

/**
 * What may stand under each name, wherever it comes from: an address, whoever mounts the page, a field of the form.
 * @type {Record<string, Field>}
 */
const FIELDS = {
  page: oneOf(PAGES),
  task: oneOf(TASK_NAMES),
  example: oneOf(Object.keys(EXAMPLES)),
  text: TEXT,
  heads: { holds: (x) => isIndex(x) && x > 0, expected: 'a whole number, 1 or more' },
  head: INDEX,
  mask: oneOf(MASKS),
  keys: INDEX,
  temperature: { holds: Number.isFinite, expected: 'a number' },
  seed: { holds: (x) => isIndex(x) && x <= MOST_SEED, expected: `a whole number from 0 to ${MOST_SEED}` },
  batch: INDEX,
  tokens: INDEX,
  window: INDEX,
  scaled: YES_OR_NO,
  softcap: { holds: (x) => x >= 0 && x <= 100, expected: 'a number from 0 to 100' },
  painted: INDICES,
  off: INDICES,
  scale: oneOf(SCALES),
  view: oneOf(VIEWS),
  lines: oneOf(Object.keys(LINES)),
  cell: {
    holds: (x) => x === null || (typeof x === 'object' && isIndex(x.query) && isIndex(x.key)),
    expected: 'null or { query, key }, whole numbers',
  },
  locked: YES_OR_NO,
  also: INDICES,
  file: INDEX,
  region: INDICES,
};

/** The part of a patch that may stand in a state. @param {object} patch @returns {Partial<State>} */
export const validate = (patch) =>
  Object.fromEntries(
    Object.entries(patch).filter(([name, value]) => Object.hasOwn(FIELDS, name) && FIELDS[name].holds(value)),
  );

/**
 * The same for programs: an invalid field is an error, where in an address it is ignored.
 * @param {string} caller
 * @param {unknown} patch
 */
export function checkPatch(caller, patch) {
  if (typeof patch !== 'object' || patch === null) throw argumentError(caller, 'state', patch, 'an object or a text');
  for (const [name, value] of Object.entries(patch)) {
    if (!Object.hasOwn(FIELDS, name))
      throw argumentError(caller, `state.${name}`, value, `one of the fields ${Object.keys(FIELDS).join(', ')}`);
    if (!FIELDS[name].holds(value)) throw argumentError(caller, `state.${name}`, value, FIELDS[name].expected);
  }
}

/** The numbers of heads that a state may choose from. @param {State} state */
export const headChoices = (state) => EXAMPLES[state.example].heads(state);

/**
 * A new state with what is valid of the change made, and with everything that it makes impossible put right.
 * @param {State} state
 * @param {object} wanted
 */
export function change(state, wanted) {
  const patch = validate(wanted);
  const next = { ...state, ...patch };
  if (patch.example !== undefined && patch.example !== state.example) {
    Object.assign(next, {
      ...initialState,
      page: next.page,
      task: next.task,
      heads: usualHeads[next.example],
      head: 0,
      cell: null,
      text: next.text,
      scale: next.scale,
      view: usualViews[next.example] ?? (next.view === 'grid' ? 'cells' : next.view),
      lines: next.lines,
      ...patch,
    });
  }
  if (!EXAMPLES[next.example].tokens?.includes(next.tokens)) next.tokens = initialState.tokens;
  const heads = headChoices(next);
  if (!heads.includes(next.heads)) next.heads = heads.findLast((n) => n <= next.heads) ?? heads[0];
  next.head = Math.min(next.head, next.heads - 1);
  next.temperature = Math.min(Math.max(next.temperature, TEMPERATURE.least), TEMPERATURE.most);
  next.off = next.off.filter((head) => head < next.heads);
  if (!next.cell) next.locked = false;
  return next;
}

/**
 * The cell one step on, within the picture; the first one where none is being read.
 * @param {Cell | null} cell
 * @param {string} key of the keyboard
 * @param {number} T
 * @param {number} S
 * @returns {Cell | null}
 */
export function step(cell, key, T, S) {
  if (!cell) return { query: 0, key: 0 };
  /** @type {Record<string, [number, number]>} */
  const moves = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -S],
    End: [0, S],
    PageUp: [-T, 0],
    PageDown: [T, 0],
  };
  if (!moves[key]) return null;
  const clamp = (/** @type {number} */ n, /** @type {number} */ most) => Math.min(Math.max(n, 0), most - 1);
  return { query: clamp(cell.query + moves[key][0], T), key: clamp(cell.key + moves[key][1], S) };
}

/**
 * The state with a cell hidden by hand, or shown again.
 * @param {State} state
 * @param {Cell} cell
 * @param {boolean} hide
 */
export function paint(state, { query, key }, hide) {
  const cell = query * PAINT_STRIDE + key;
  const others = state.painted.filter((painted) => painted !== cell);
  return change(state, { painted: hide ? [...others, cell].sort((a, b) => a - b) : others });
}

/** The state with one more query marked, or with one less. @param {State} state @param {number} query */
export function mark(state, query) {
  const others = state.also.filter((marked) => marked !== query);
  return change(state, { also: others.length < state.also.length ? others : [...others, query].sort((a, b) => a - b) });
}

/**
 * The part of T queries and S keys that a state shows.
 * @param {Pick<State, 'region' | 'view'>} state
 * @param {number} T
 * @param {number} S
 * @returns {Region}
 */
export function regionOf({ region: [query = 0, key = 0, count = Infinity], view }, T, S) {
  const part = (/** @type {number} */ from, /** @type {number} */ all) => {
    const size = Math.min(Math.max(view === 'lines' ? Math.min(count, MOST_LINED) : count, LEAST_REGION), all);
    const first = Math.min(Math.max(from, 0), all - size);
    return { from: first, to: first + size };
  };
  return { queries: part(query, T), keys: part(key, S) };
}

/**
 * The state enlarged by a factor (made smaller below 1) about a cell, as far as that goes.
 * @param {State} state
 * @param {number} factor
 * @param {Cell | null} cell
 * @param {number} T
 * @param {number} S
 */
export function zoom(state, factor, cell, T, S) {
  const { queries, keys } = regionOf(state, T, S);
  const before = Math.max(queries.to - queries.from, keys.to - keys.from);
  const count = Math.round(Math.max(before / factor, LEAST_REGION));
  if (count >= Math.max(T, S)) return change(state, { region: [] });
  const about = cell ?? { query: (queries.from + queries.to) / 2, key: (keys.from + keys.to) / 2 };
  const first = (/** @type {number} */ at, /** @type {number} */ from) =>
    Math.max(Math.round(at - ((at - from) * count) / before), 0);
  return change(state, { region: [first(about.query, queries.from), first(about.key, keys.from), count] });
}

/**
 * The state with the region moved so that the cell lies inside.
 * @param {State} state
 * @param {Cell} cell
 * @param {number} T
 * @param {number} S
 */
export function follow(state, { query, key }, T, S) {
  const { queries, keys } = regionOf(state, T, S);
  const moved = (/** @type {number} */ at, /** @type {Span} */ { from, to }) =>
    Math.min(Math.max(from, at - (to - from) + 1), at);
  const [first, second] = [moved(query, queries), moved(key, keys)];
  if (first === queries.from && second === keys.from) return state;
  return change(state, { region: [first, second, Math.max(queries.to - queries.from, keys.to - keys.from)] });
}
