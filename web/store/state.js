// What is shown, as one plain object that fits into the address, and what one may change in it. Layers, heads, tokens
// and entries of a batch are counted from 0 here and wherever a visitor reads them, the address included. Only the
// steps of the story are counted from 1 there.
//
// A place says where something is changed: 'all', a layer '3', or one head '3.1'.

import { cut, quote } from '../../src/js/check/quote.js';
import { SCALES } from '../features/heatmap/colourRamp.js';
import { isLinked, isPainted } from '../features/mask/hiddenCells.js';
import { firstHead, isTraining, readTraining, usualTraining, writeTraining } from '../features/train/lessons.js';
import { RUN, runOf, TRAINED, UNCHANGED } from './runInput.js';

/** @import { Training } from '../features/train/lessons.js' */
/** @typedef {{ t: number, s: number }} Cell the token that asks, the token that answers */
/** @typedef {import('./runInput.js').Run} Run */
/**
 * @typedef {Run & {
 *   model: string, entry: number, layer: number, head: number, cell: Cell | null, token: number | null,
 *   part: string, view: string, versus: 'beside' | 'difference', colours: 'fixed' | 'head' | 'log',
 *   mean: 'head' | 'layer' | 'all' | 'rollout', panel: string, step: number, hide: number,
 *   scope: 'all' | 'layer' | 'head', pinned: Run | null, training: Training, lesson: string,
 * }} State
 * training: what the model `trained` is taught; lesson: the text that it learns where that is the task.
 * entry: of a batch. token: the guess that is followed, null for the likeliest. view: of the large picture; versus: how
 * it compares. colours: how weights become colours. mean: of which heads the picture is. panel: what the reading column
 * shows. step: of the story. hide: what is smaller flow does not draw.
 * scope: where the what-if line changes temperature and mask.
 */

/**
 * Ahab's words, said once and begun again: the model guesses the next word at 86%, and at 1% without the head that is
 * shown first.
 */
export const OPENING = 'To the last I grapple with thee, Moby Dick. To the last';
/** The model that a program has passed to the page. */
export const PROGRAM_MODEL = 'given';
export const SCOPES = /** @type {const} */ (['all', 'layer', 'head']);
export const MAX_TEXT = 100_000;
/** A longer lesson does not fit into an address. */
const MOST_WRITTEN = 2000;

/** @type {State} */
export const initialState = {
  model: 'whale',
  entry: 0,
  text: OPENING,
  layer: 4,
  head: 2,
  second: '',
  part: 'decoder',
  cell: null,
  token: null,
  view: 'heatmap',
  versus: 'beside',
  colours: 'fixed',
  mean: 'head',
  panel: 'reading',
  step: 0,
  hide: 0.12,
  scope: 'all',
  temperature: {},
  mask: {},
  painted: {},
  scale: {},
  patch: {},
  pinned: null,
  training: usualTraining('repeat'),
  lesson: '',
};

const isCount = (/** @type {unknown} */ x) => Number.isSafeInteger(x) && Number(x) >= 0;
const isWord = (/** @type {unknown} */ x) => typeof x === 'string' && /^[\w-]{1,40}$/.test(x);
/** @param {(value: any) => boolean} each */
const byPlace = (each) => (/** @type {unknown} */ map) =>
  typeof map === 'object' &&
  map !== null &&
  Object.entries(map).every(([place, value]) => /^(all|\d+(\.\d+)?)$/.test(place) && each(value));
const isNumber = (/** @type {number} */ least, /** @type {number} */ most) => (/** @type {unknown} */ x) =>
  typeof x === 'number' && x >= least && x <= most;

/** @type {Record<string, (value: any) => boolean>} */
const OF_RUN = {
  text: (x) => typeof x === 'string' && x.length <= MAX_TEXT,
  second: (x) => x === undefined || (typeof x === 'string' && x.length <= MAX_TEXT),
  temperature: byPlace(isNumber(0.01, 100)),
  mask: byPlace((x) => ['causal', 'none', 'past'].includes(x) || /^\d+$/.test(x)),
  painted: (x) => x === undefined || byPlace(isPainted)(x),
  scale: byPlace(isNumber(-10, 10)),
  patch: byPlace((x) => x === 1 || x === 0),
};
/** @type {Record<string, (value: any) => boolean>} */
const FIELDS = {
  ...OF_RUN,
  model: isWord,
  entry: isCount,
  layer: isCount,
  head: isCount,
  part: (x) => ['encoder', 'decoder', 'cross'].includes(x),
  cell: (x) => x === null || (isCount(x?.t) && isCount(x?.s)),
  token: (x) => x === null || isCount(x),
  view: isWord,
  versus: (x) => x === 'beside' || x === 'difference',
  colours: (x) => SCALES.includes(x),
  mean: (x) => ['head', 'layer', 'all', 'rollout'].includes(x),
  panel: isWord,
  step: (x) => isCount(x) && x < 9,
  hide: isNumber(0, 100),
  scope: (x) => SCOPES.includes(x),
  pinned: (x) => x === null || RUN.every((name) => OF_RUN[name](x?.[name])),
  training: isTraining,
  lesson: (x) => typeof x === 'string' && x.length <= MAX_TEXT,
};

/** A head that the model in training has: otherwise the one that is shown first. @param {State} state */
function withinTraining(state) {
  const { model, training, layer, head } = state;
  if (model !== TRAINED || (layer < training.layers && head < training.heads)) return state;
  return { ...state, ...firstHead(training) };
}

/**
 * The state after a change. What cannot be is refused by name.
 * @param {State} state
 * @param {Partial<State>} patch
 * @returns {State}
 */
export function change(state, patch) {
  for (const [name, value] of Object.entries(patch))
    if (!Object.hasOwn(FIELDS, name) || !FIELDS[name](value))
      throw new RangeError(`state: ${cut(name, 80)} cannot be ${quote(value)}`);
  // Another text has other tokens: what pointed at one of them points at nothing.
  const moved = patch.text !== undefined && patch.text !== state.text ? { cell: null, token: null } : {};
  // One trains one model alone; and nothing that was changed in one model is changed in another.
  const model = patch.panel === 'train' ? 'trained' : (patch.model ?? state.model);
  const left = model !== state.model && ['train', 'tried', 'story'].includes(state.panel);
  const panel = patch.panel ?? (left ? 'reading' : state.panel);
  // A head that is chosen is shown.
  const chosen = patch.layer !== undefined || patch.head !== undefined ? { mean: 'head' } : {};
  const other = model === state.model ? {} : { entry: 0, cell: null, token: null, pinned: null, ...UNCHANGED };
  return withinTraining({
    ...state,
    ...moved,
    ...other,
    .../** @type {Partial<State>} */ (chosen),
    ...patch,
    model,
    panel,
  });
}

const writeMap = (/** @type {Record<string, unknown>} */ map) =>
  Object.entries(map)
    .map(([place, value]) => `${place}:${value}`)
    .join(',');
const readMap = (/** @type {string} */ text, /** @type {(value: string) => unknown} */ read) =>
  Object.fromEntries(
    text
      .split(',')
      .filter(Boolean)
      .map((entry) => entry.split(':'))
      .map(([place, value]) => [place, read(value)]),
  );

/** How fields are written and read. @type {any} */
const text = [String, String];
const count = [String, Number];
const fromOne = [(/** @type {number} */ n) => String(n + 1), (/** @type {string} */ n) => Number(n) - 1];
const numbers = [writeMap, (/** @type {string} */ map) => readMap(map, Number)];
const words = [writeMap, (/** @type {string} */ map) => readMap(map, String)];
/** @type {Record<string, any>} */
const WRITTEN = {
  model: text,
  text,
  second: text,
  part: text,
  entry: count,
  layer: count,
  head: count,
  cell: [
    (/** @type {Cell} */ { t, s }) => `${t}.${s}`,
    (/** @type {string} */ place) => {
      const [t, s] = place.split('.').map(Number);
      return { t, s };
    },
  ],
  token: [String, Number],
  view: text,
  versus: text,
  colours: text,
  mean: text,
  panel: text,
  step: fromOne,
  hide: [String, Number],
  scope: text,
  temperature: numbers,
  mask: words,
  // A longer one does not fit into an address.
  painted: [
    (/** @type {Record<string, string>} */ map) => (isLinked(map) ? writeMap(map) : ''),
    (/** @type {string} */ map) => readMap(map, String),
  ],
  scale: numbers,
  patch: numbers,
  pinned: [(/** @type {Run} */ run) => writeFields(run), (/** @type {string} */ run) => readRun(run)],
  training: [writeTraining, readTraining],
  lesson: [(/** @type {string} */ lesson) => (lesson.length > MOST_WRITTEN ? '' : lesson), String],
};

/** @param {any} state @param {any} [base] @returns {string} */
function writeFields(state, base = initialState) {
  const fields = new URLSearchParams();
  for (const [name, [write]] of Object.entries(WRITTEN)) {
    const value = state[name];
    if (value === undefined || value === null) continue;
    if (JSON.stringify(value) !== JSON.stringify(base[name])) fields.set(name, write(value));
  }
  return fields.toString();
}

/** @param {string} address @returns {Run} */
const readRun = (address) => runOf(readAddress(address));

/** The part of an address after #: what is not as in `base`. @param {State} state @param {State} [base] */
export const writeAddress = (state, base) => writeFields(state, base);

/** An address is read as far as it makes sense. @param {string} address @param {State} [base] @returns {State} */
export function readAddress(address, base = initialState) {
  let state = base;
  for (const [name, value] of new URLSearchParams(address)) {
    if (!Object.hasOwn(WRITTEN, name)) continue;
    const read = WRITTEN[name][1](value);
    if (FIELDS[name](read)) state = { ...state, [name]: read };
  }
  return withinTraining(state.panel === 'train' ? { ...state, model: 'trained' } : state);
}
