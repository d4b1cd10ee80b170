// The fields of the state, each with its initial value, its check, its form in the address, whether the model must run
// again after a change, and what resets it. Layers, heads, tokens and entries of a batch are counted from 0, also on
// the page and in the address. Only the steps of the story are counted from 1 on the page and in the address.
//
// Changes of the model are stored by place. A place is 'all', a layer such as '3', or a head such as '3.1'. Places in
// an encoder begin with e, in cross-attention with c, and in the tower for pictures with v. So 'e3.1' is a head of the
// encoder, and 'call' is all cross-attention.

import { type CircuitSettings, isCircuit, readCircuit, usualCircuit, writeCircuit } from './circuit/settings.ts';
import { isLinked, isPainted } from './hiddenCells.ts';
import type { AttentionPart } from './protocol/protocol.ts';
import { RUN, type Run, runOf } from './runInput.ts';
import { isTrace, readTrace, usualTrace, writeTrace } from './trace/settings.ts';
import { isTraining, readTraining, usualTraining, writeTraining } from './training/settings.ts';

/** The positions of a query and a key. */
export type Cell = { t: number; s: number };
/** Returns true for a valid value. It gets values of any type, because addresses and programs are not trusted. */
type Check = (value: any) => boolean;
/** How the address writes and reads a field. */
type Format<T> = { write: (value: T) => string; read: (text: string) => unknown };
type Rules<T> = {
  /** false: the model need not run again */
  rerun?: false;
  /** 'text': reset by another text or model; 'model': reset by another model */
  reset?: 'text' | 'model';
  /** the value after a reset; default: the initial value */
  restart?: (value: T) => T;
};
/** A field without a form is not in the address. */
export type Field<T> = Rules<T> & { initial: T; check: Check; form?: Format<T> };

/** The demo model gives the next word of this text 95%, or 2% if the head that is shown first is switched off. */
export const OPENING = 'In port the first mate cried to his men. At sea the first';
/** The scales of the ramp: from 0 to 1, from 0 to the largest weight of the head, or logarithmic. */
export const SCALES = ['fixed', 'head', 'log'] as const;
export const SCOPES = ['all', 'layer', 'head'] as const;
export const MAX_TEXT = 100_000;
/** Maximum characters of a lesson in an address. */
const MAX_WRITTEN = 2000;
const HUB_NAME = /^[\w./-]{1,200}@[\w./-]{1,200}$/;

const isCount = (x: unknown) => Number.isSafeInteger(x) && Number(x) >= 0;
const isWord = (x: unknown) => typeof x === 'string' && /^[\w-]{1,40}$/.test(x);
const isText = (x: unknown) => typeof x === 'string' && x.length <= MAX_TEXT;
const oneOf =
  (...words: readonly unknown[]): Check =>
  (x) =>
    words.includes(x);
const orNull =
  (check: Check): Check =>
  (x) =>
    x === null || check(x);
const isNumber =
  (least: number, most: number): Check =>
  (x) =>
    typeof x === 'number' && x >= least && x <= most;
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
const text: Format<any> = { write: String, read: String };
const count: Format<any> = { write: String, read: Number };
const fromOne: Format<number> = { write: (n) => String(n + 1), read: (n) => Number(n) - 1 };
const numbers: Format<Record<string, number>> = { write: writeMap, read: (map) => readMap(map, Number) };
const words: Format<Record<string, string>> = { write: writeMap, read: (map) => readMap(map, String) };
const place: Format<Cell | null> = {
  write: (cell) => (cell ? `${cell.t}.${cell.s}` : ''),
  read(written) {
    const [t, s] = written.split('.').map(Number);
    return { t, s };
  },
};

const field = <T>(initial: T, check: Check, form?: Format<T>, rules: Rules<T> = {}): Field<T> => ({
  initial,
  check,
  ...(form && { form }),
  ...rules,
});
const MODEL = { reset: 'model' } as const;

/** In the order of the address. */
const FIELDS = {
  model: field<string>('whale', (x) => isWord(x) || (typeof x === 'string' && HUB_NAME.test(x)), text),
  text: field<string>(OPENING, isText, text),
  second: field<string | undefined>('', (x) => x === undefined || isText(x), text),
  part: field<AttentionPart>('decoder', oneOf('encoder', 'decoder', 'cross', 'text', 'vision'), text),
  /** The entry of a batch, or the sentence that is compared with a picture. */
  entry: field<number>(0, isCount, count, MODEL),
  layer: field<number>(4, isCount, count),
  head: field<number>(2, isCount, count),
  cell: field<Cell | null>(
    null,
    orNull((x) => isCount(x?.t) && isCount(x?.s)),
    place,
    { rerun: false, reset: 'text' },
  ),
  /** The label whose probability is shown, null for the likeliest. */
  token: field<number | null>(null, orNull(isCount), count, { reset: 'text' }),
  /** The kind of the large picture. */
  view: field<string>('heatmap', isWord, text, { rerun: false }),
  /** How the view `compare` shows two runs. */
  versus: field<'beside' | 'difference'>('beside', oneOf('beside', 'difference'), text, { rerun: false }),
  /** The colour scale. */
  colours: field<(typeof SCALES)[number]>('fixed', oneOf(...SCALES), text, { rerun: false }),
  /** The heads whose mean is shown. */
  mean: field<'head' | 'layer' | 'all' | 'rollout'>('head', oneOf('head', 'layer', 'all', 'rollout'), text, {
    rerun: false,
  }),
  /** The content of the reading column. */
  panel: field<string>('reading', isWord, text, { rerun: false }),
  /** The step of the story. */
  step: field<number>(0, (x) => isCount(x) && x < 12, fromOne, { rerun: false }),
  /** The smallest value that the view `flow` draws. */
  hide: field<number>(0.12, isNumber(0, 100), count, { rerun: false }),
  /** The two measures of the map of all heads, across and up. */
  axes: field<string>('distance.spread', (x) => typeof x === 'string' && /^\w{1,20}\.\w{1,20}$/.test(x), text, {
    rerun: false,
  }),
  /** The places that the what-if line changes. */
  scope: field<(typeof SCOPES)[number]>('all', oneOf(...SCOPES), text, { rerun: false }),
  temperature: field<Record<string, number>>({}, byPlace(isNumber(0.01, 100)), numbers, MODEL),
  mask: field<Record<string, string>>(
    {},
    byPlace((x) => ['causal', 'none', 'past'].includes(x) || /^\d+$/.test(x)),
    words,
    MODEL,
  ),
  painted: field<Record<string, string>>(
    {},
    (x) => x === undefined || byPlace(isPainted)(x),
    // A painted mask that does not fit into an address is left out.
    { ...words, write: (map) => (isLinked(map) ? writeMap(map) : '') },
    MODEL,
  ),
  scale: field<Record<string, number>>({}, byPlace(isNumber(-10, 10)), numbers, MODEL),
  off: field<'zero' | 'mean' | undefined>('zero', oneOf(undefined, 'zero', 'mean'), text, MODEL),
  // A patch may also be at a place of a trace, such as 'mlp.3.1': the MLP of layer 3 at token 1.
  patch: field<Record<string, number>>(
    {},
    (map) => byPlace((x) => x === 1 || x === 0)(withoutParts(map)),
    numbers,
    MODEL,
  ),
  pinned: field<Run | null>(null, orNull(isRun), { write: writeRun, read: readRun }, MODEL),
  /** The settings of the model `trained`. */
  training: field(usualTraining('repeat'), isTraining, { write: writeTraining, read: readTraining }),
  trace: field(usualTrace, isTrace, { write: writeTrace, read: readTrace }, { rerun: false }),
  /** null if the view `flow` shows contributions. */
  circuit: field<CircuitSettings | null>(
    null,
    isCircuit,
    { write: (circuit) => (circuit ? writeCircuit(circuit) : ''), read: readCircuit },
    { rerun: false, reset: 'model', restart: (circuit) => circuit && usualCircuit },
  ),
  /** The text that the model `trained` learns, if the task is the visitor's own text. */
  lesson: field<string>('', isText, { write: (lesson) => (lesson.length > MAX_WRITTEN ? '' : lesson), read: String }),
  /** The step of the first visit, null once it is over. */
  first: field<number | null>(
    null,
    orNull((x) => isCount(x) && x < 4),
    count,
    { rerun: false },
  ),
  /** Index of the first character that the model has written. */
  written: field<number | null>(null, orNull(isCount), count, { rerun: false, reset: 'text' }),
  /** The rows or columns that are added, '' for none: see features/sums. */
  sum: field<string>('', (x) => /^((row|column)s(\.\d{1,4}){1,200})?$/.test(x), text, { rerun: false, reset: 'text' }),
  /** The units of the picture's rows and columns. */
  units: field<'tokens' | 'words'>('tokens', oneOf('tokens', 'words'), text, { rerun: false }),
  /** Changes inside a head that a step of the story tries, see trial.ts. */
  trial: field<Record<string, number>>({}, (map) => Object.values(map).every(isNumber(-1000, 1000))),
};

type Values = { [name in keyof typeof FIELDS]: (typeof FIELDS)[name]['initial'] };
export type State = Run & Omit<Values, keyof Run>;
export type FieldName = keyof State;

export const ALL_FIELDS = new Map<string, Field<any>>(Object.entries(FIELDS));

export const initialValues = () =>
  Object.fromEntries([...ALL_FIELDS].map(([name, { initial }]) => [name, initial])) as State;

function isRun(x: any): boolean {
  return RUN.every((name) => ALL_FIELDS.get(name)?.check(x?.[name]));
}
function writeRun(run: Run | null): string {
  return run ? writeFields(run, initialValues()) : '';
}
function readRun(written: string): Run {
  return runOf(readFields(written, initialValues()));
}

/** Writes the fields that differ from `base` and are neither undefined nor null. */
export function writeFields(state: Run | State, base: State): string {
  const fields = new URLSearchParams();
  const [now, before] = [new Map(Object.entries(state)), new Map(Object.entries(base))];
  for (const [name, { form }] of ALL_FIELDS) {
    const value = now.get(name);
    if (!form || value === undefined || value === null) continue;
    if (JSON.stringify(value) !== JSON.stringify(before.get(name))) fields.set(name, form.write(value));
  }
  // The characters / and @ in the name of a model on the Hub stay readable.
  return fields.toString().replace(/%(2F|40)/g, decodeURIComponent);
}

/** Reads the valid fields. */
export function readFields(written: string, base: State): State {
  let state = base;
  for (const [name, value] of new URLSearchParams(written)) {
    const { form, check } = ALL_FIELDS.get(name) ?? {};
    if (!form || !check) continue;
    const read = form.read(value);
    if (check(read)) state = { ...state, [name]: read };
  }
  return state;
}
