// The state is one plain object with everything that the address contains. This file changes the state, and writes and
// reads the address. Layers, heads, tokens and entries of a batch are counted from 0, also on the page and in the
// address. Only the steps of the story are counted from 1 on the page and in the address.
//
// Changes of the model are stored by place. A place is 'all', a layer such as '3', or a head such as '3.1'. Places in
// an encoder begin with e, in cross-attention with c, and in the tower for pictures with v. So 'e3.1' is a head of the
// encoder, and 'call' is all cross-attention.

import { cut, quote } from '../../src/js/check/quote.ts';
import { type CircuitSettings, isCircuit, readCircuit, usualCircuit, writeCircuit } from './circuit/settings.ts';
import { isLinked, isPainted } from './hiddenCells.ts';
import type { AttentionPart } from './protocol/protocol.ts';
import { joinsWords, RUN, type Run, runOf, TRAINED, UNCHANGED } from './runInput.ts';
import { isTrace, readTrace, type TraceSettings, usualTrace, writeTrace } from './trace/settings.ts';
import {
  firstHead,
  isTraining,
  readTraining,
  type Training,
  usualTraining,
  writeTraining,
} from './training/settings.ts';
/** the positions of a query and a key */
export type Cell = { t: number; s: number };
export type { Run } from './runInput.ts';
/**
 * entry: the entry of a batch, or the sentence that is compared with a picture. token: the label whose probability is
 * shown, null for the likeliest. view: the kind of the large picture. versus: how the view `compare` shows two runs.
 * colours: the colour scale. mean: the heads whose mean is shown. panel: the content of the reading column. axes: the
 * two measures of the map of all heads, across and up. step: the step of the story. hide: the smallest value that the
 * view `flow` draws. scope: the places that the what-if line changes. training: the settings of the model `trained`.
 * lesson: the text that the model `trained` learns, if the task is the visitor's own text. written: index of the first
 * character that the model has written. sum: the rows or columns that are added, '' for none: see features/sums. units:
 * the units of the picture's rows and columns. first: the step of the first visit, null once it is over. circuit: null
 * if the view `flow` shows contributions. trial: changes inside a head that a step of the story tries, see trial.ts;
 * the address does not contain them.
 */
export type State = Run & {
  model: string;
  entry: number;
  layer: number;
  head: number;
  cell: Cell | null;
  token: number | null;
  part: AttentionPart;
  view: string;
  versus: 'beside' | 'difference';
  colours: 'fixed' | 'head' | 'log';
  mean: 'head' | 'layer' | 'all' | 'rollout';
  panel: string;
  step: number;
  hide: number;
  axes: string;
  written: number | null;
  sum: string;
  units: 'tokens' | 'words';
  scope: 'all' | 'layer' | 'head';
  pinned: Run | null;
  training: Training;
  lesson: string;
  first: number | null;
  trace: TraceSettings;
  trial: Record<string, number>;
  circuit: CircuitSettings | null;
};

/** The demo model gives the next word of this text 95%, or 2% if the head that is shown first is switched off. */
export const OPENING = 'In port the first mate cried to his men. At sea the first';
/** The model that a program has passed to the page. */
export const PROGRAM_MODEL = 'given';
/** The scales of the colours of weights. */
export const SCALES = ['fixed', 'head', 'log'] as const;
export const SCOPES = ['all', 'layer', 'head'] as const;
export const MAX_TEXT = 100_000;
/** Maximum characters of a lesson in an address. */
const MAX_WRITTEN = 2000;

export const initialState: State = {
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
  axes: 'distance.spread',
  scope: 'all',
  temperature: {},
  mask: {},
  painted: {},
  scale: {},
  off: 'zero',
  patch: {},
  pinned: null,
  training: usualTraining('repeat'),
  lesson: '',
  first: null,
  trace: usualTrace,
  trial: {},
  circuit: null,
  written: null,
  sum: '',
  units: 'tokens',
};
/** Fields about positions in a text, as they are reset for another text. */
const NOWHERE = { cell: null, token: null, written: null, sum: '' };
/** Fields whose changes do not end the first visit. */
const KEEPS_FIRST = new Set(['first', 'layer', 'head', 'cell', 'token', 'scale']);

/** Fields whose changes end a trial. */
const ENDS_TRIAL = ['model', 'text', 'panel', 'step'] as const;

const HUB_NAME = /^[\w./-]{1,200}@[\w./-]{1,200}$/;
const isCount = (x: unknown) => Number.isSafeInteger(x) && Number(x) >= 0;
/** The name of a model of the Hub: owner/name@revision, with or without a file. */
export const isOfHub = (model: string) => model.includes('@');
const isWord = (x: unknown) => typeof x === 'string' && /^[\w-]{1,40}$/.test(x);
/** true for a valid value, of any type */
export type Check = (value: any) => boolean;

/** Makes a check of a record with a value for each place. */
const byPlace =
  (each: Check): Check =>
  (map) =>
    typeof map === 'object' &&
    map !== null &&
    Object.entries(map).every(([place, value]) => /^[ecv]?(all|\d+(\.\d+)?)$/.test(place) && each(value));
/** Shortens places of a trace such as 'mlp.3.1' to '3.1', so that byPlace accepts them. */
const withoutParts = (map: any) =>
  map &&
  Object.fromEntries(Object.entries(map).map(([key, on]) => [key.replace(/^(stream|heads|mlp)\.(?=\d)/, ''), on]));
const isNumber =
  (least: number, most: number): Check =>
  (x) =>
    typeof x === 'number' && x >= least && x <= most;

const OF_RUN: Record<string, Check> = {
  text: (x) => typeof x === 'string' && x.length <= MAX_TEXT,
  second: (x) => x === undefined || (typeof x === 'string' && x.length <= MAX_TEXT),
  temperature: byPlace(isNumber(0.01, 100)),
  mask: byPlace((x) => ['causal', 'none', 'past'].includes(x) || /^\d+$/.test(x)),
  painted: (x) => x === undefined || byPlace(isPainted)(x),
  scale: byPlace(isNumber(-10, 10)),
  off: (x) => x === undefined || x === 'zero' || x === 'mean',
  // A patch may also be at a place of a trace, such as 'mlp.3.1': the MLP of layer 3 at token 1.
  patch: (map) => byPlace((x) => x === 1 || x === 0)(withoutParts(map)),
};
const FIELDS: Record<string, Check> = {
  ...OF_RUN,
  model: (x) => isWord(x) || (typeof x === 'string' && HUB_NAME.test(x)),
  entry: isCount,
  layer: isCount,
  head: isCount,
  part: (x) => ['encoder', 'decoder', 'cross', 'text', 'vision'].includes(x),
  cell: (x) => x === null || (isCount(x?.t) && isCount(x?.s)),
  token: (x) => x === null || isCount(x),
  view: isWord,
  versus: (x) => x === 'beside' || x === 'difference',
  colours: (x) => SCALES.includes(x),
  mean: (x) => ['head', 'layer', 'all', 'rollout'].includes(x),
  panel: isWord,
  step: (x) => isCount(x) && x < 12,
  hide: isNumber(0, 100),
  axes: (x) => typeof x === 'string' && /^\w{1,20}\.\w{1,20}$/.test(x),
  scope: (x) => SCOPES.includes(x),
  pinned: (x) => x === null || RUN.every((name) => OF_RUN[name](x?.[name])),
  training: isTraining,
  lesson: (x) => typeof x === 'string' && x.length <= MAX_TEXT,
  first: (x) => x === null || (isCount(x) && x < 4),
  trace: isTrace,
  trial: (map) => Object.values(map).every(isNumber(-1000, 1000)),
  circuit: isCircuit,
  written: (x) => x === null || isCount(x),
  sum: (x) => /^((row|column)s(\.\d{1,4}){1,200})?$/.test(x),
  units: (x) => x === 'tokens' || x === 'words',
};

/** Chooses the first head if the model in training does not have the chosen one. */
function withinTraining(state: State) {
  const { model, training, layer, head } = state;
  if (model !== TRAINED || (layer < training.layers && head < training.heads)) return state;
  return { ...state, ...firstHead(training) };
}

/** Returns the state after a change. Throws an error with the name of the field if a value is invalid. */
export function change(state: State, patch: Partial<State>): State {
  for (const [name, value] of Object.entries(patch))
    if (!Object.hasOwn(FIELDS, name) || !FIELDS[name](value))
      throw new RangeError(`state: ${cut(name, 80)} cannot be ${quote(value)}`);
  const isOther = patch.text !== undefined && patch.text !== state.text;
  const moved = isOther ? NOWHERE : {};
  // The panel `train` always shows the model `trained`. Changes of one model do not apply to another.
  const model = patch.panel === 'train' ? 'trained' : (patch.model ?? state.model);
  const left = model !== state.model && ['train', 'tried', 'story'].includes(state.panel);
  const panel = patch.panel ?? (left ? 'reading' : state.panel);
  // A chosen head is shown alone, not as a part of a mean.
  const chosen = patch.layer !== undefined || patch.head !== undefined ? { mean: 'head' } : {};
  const tries = panel === 'story' && ENDS_TRIAL.every((name) => (patch[name] ?? state[name]) === state[name]);
  const stays = Object.keys(patch).every((name) => KEEPS_FIRST.has(name));
  const circuit = state.circuit && usualCircuit;
  const other = model === state.model ? {} : { ...NOWHERE, entry: 0, pinned: null, circuit, ...UNCHANGED };
  const next = withinTraining({
    ...state,
    ...moved,
    ...other,
    ...(chosen as Partial<State>),
    first: stays ? state.first : null,
    trial: tries ? state.trial : {},
    ...patch,
    model,
    panel,
  });
  // The index of a word differs from those of its tokens, so a chosen cell or sum is no longer valid.
  return joinsWords(next) === joinsWords(state) ? next : { ...next, cell: null, sum: '' };
}

const writeMap = (map: Record<string, unknown>) =>
  Object.entries(map)
    .map(([place, value]) => `${place}:${value}`)
    .join(',');
const readMap = (text: string, read: (value: string) => unknown) =>
  Object.fromEntries(
    text
      .split(',')
      .filter(Boolean)
      .map((entry) => entry.split(':'))
      .map(([place, value]) => [place, read(value)]),
  );

/** of a field in the address */
export type Format = [write: (value: any) => string, read: (text: string) => unknown];
const text: Format = [String, String];
const count: Format = [String, Number];
const fromOne: Format = [(n) => String(n + 1), (n) => Number(n) - 1];
const numbers: Format = [writeMap, (map) => readMap(map, Number)];
const words: Format = [writeMap, (map) => readMap(map, String)];
const WRITTEN: Record<string, Format> = {
  model: text,
  text,
  second: text,
  part: text,
  entry: count,
  layer: count,
  head: count,
  cell: [
    ({ t, s }: Cell) => `${t}.${s}`,
    (place: string) => {
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
  axes: text,
  scope: text,
  temperature: numbers,
  mask: words,
  // A painted mask that does not fit into an address is left out.
  painted: [
    (map: Record<string, string>) => (isLinked(map) ? writeMap(map) : ''),
    (map: string) => readMap(map, String),
  ],
  scale: numbers,
  off: text,
  patch: numbers,
  pinned: [(run: Run) => writeFields(run), (run: string) => readRun(run)],
  training: [writeTraining, readTraining],
  trace: [writeTrace, readTrace],
  circuit: [writeCircuit, readCircuit],
  lesson: [(lesson: string) => (lesson.length > MAX_WRITTEN ? '' : lesson), String],
  first: [String, Number],
  written: count,
  sum: text,
  units: text,
};

function writeFields(state: Run | State, base: State = initialState) {
  const fields = new URLSearchParams();
  const [now, before] = [new Map(Object.entries(state)), new Map(Object.entries(base))];
  for (const [name, [write]] of Object.entries(WRITTEN)) {
    const value = now.get(name);
    if (value === undefined || value === null) continue;
    if (JSON.stringify(value) !== JSON.stringify(before.get(name))) fields.set(name, write(value));
  }
  // The characters / and @ in the name of a model on the Hub stay readable.
  return fields.toString().replace(/%(2F|40)/g, decodeURIComponent);
}

const readRun = (address: string): Run => runOf(readAddress(address));

/** Writes the fields that differ from `base`, for an address after #. */
export const writeAddress = (state: State, base?: State) => writeFields(state, base);

/** Reads the valid fields of an address. */
export function readAddress(address: string, base: State = initialState): State {
  let state = base;
  for (const [name, value] of new URLSearchParams(address)) {
    if (!Object.hasOwn(WRITTEN, name)) continue;
    const read = WRITTEN[name][1](value);
    if (FIELDS[name](read)) state = { ...state, [name]: read };
  }
  return withinTraining(state.panel === 'train' ? { ...state, model: 'trained' } : state);
}
