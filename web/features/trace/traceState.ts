// Changes that the trace makes to the page's state, and values that it reads from the state.

import type { GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { usualCircuit } from '../../model/circuit/settings.ts';
import { runOf, UNCHANGED } from '../../model/runInput.ts';
import { keyOf, placesIn, type Trace } from '../../model/trace/places.ts';
import { ALL, OWN } from '../../model/trace/settings.ts';
import type { Pair } from '../../model/trace/tasks.ts';
import type { Session } from '../../store/session.ts';
import { cellAt, headsOf } from './shares.ts';
import { texts as inEnglish } from './trace.en.ts';
import { texts as inChinese } from './trace.zh.ts';

export type Texts = typeof inEnglish;

const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session: Session) => TEXTS[session.language.value as 'en' | 'zh'];

/**
 * Returns the place that is patched; null if there is none, or if another view of the page has patched several heads.
 */
export const chosenIn = ({ state }: Session) => placesIn(state.value.patch).at(-1) ?? null;

export const pairsIn = ({ state, traceTasks }: Session): Pair[] =>
  traceTasks.value?.tasks.find(({ name }) => name === state.value.trace.task)?.pairs ?? [];

/** Shows a pair of a task, or the mean of all pairs, and undoes all changes to the model. */
export function showPair(session: Session, task: string, pairs: readonly Pair[], pair: number) {
  const { upper, lower, answers } = pairs[Math.max(pair, 0)];
  const { trace } = session.state.value;
  const run = { ...runOf(session.state.value), ...UNCHANGED };
  session.update({
    text: lower,
    pinned: { ...run, text: upper },
    ...UNCHANGED,
    trace: { ...trace, task, pair: pair === ALL ? ALL : pair, answers },
  });
}

/** Opens the trace of the text, with the pinned text as the upper sentence. */
export function openTrace(session: Session) {
  const { text, pinned, trace } = session.state.value;
  const isPair = pairsIn(session).some(({ upper, lower }) => upper === pinned?.text && lower === text);
  session.update({ view: 'trace', trace: isPair ? trace : { ...trace, task: OWN, pair: 0, answers: null } });
}

/** Opens the circuit of the same two sentences and answers, without the patch. */
export function openCircuit(session: Session) {
  session.pointTrace(null);
  session.update({ view: 'flow', circuit: usualCircuit, patch: {} });
}

/** Begins with the visitor's own sentences: the current text, and the pinned one if there is one. */
export function beginOwn(session: Session) {
  const state = session.state.value;
  session.update({
    pinned: state.pinned ?? runOf(state),
    patch: {},
    trace: { ...state.trace, task: OWN, pair: 0, answers: null },
  });
}

export function writeSentence(session: Session, side: 'upper' | 'lower', text: string) {
  const state = session.state.value;
  const { trace } = state;
  const pinned = state.pinned ?? runOf(state);
  session.update({
    ...(side === 'upper' ? { pinned: { ...pinned, text } } : { text }),
    patch: {},
    trace: { ...trace, task: OWN, pair: 0, answers: trace.task === OWN ? trace.answers : null },
  });
}

export function compareWords(session: Session, answers: [string, string] | null) {
  const { trace } = session.state.value;
  // The visitor's words are the answers for the shown sentences only, not for all pairs of a task.
  const own = answers !== null || trace.pair === ALL ? { task: OWN, pair: 0 } : {};
  session.update({ trace: { ...trace, ...own, answers }, patch: {} });
}

/** Returns the word of a place: the name of its token, or the number of its head. */
export const wordOf = ({ lower }: Trace, { part, place }: GridPlace) =>
  part === 'head' ? String(place) : (lower.pieces[place]?.name ?? String(place));

/** Patches a place, or undoes the patch if the place is patched. */
export function togglePatch(session: Session, place: GridPlace) {
  const own = textsIn(session);
  const key = keyOf(place);
  const trace = session.trace.value;
  if (session.state.value.patch[key] === 1) {
    session.update({ patch: {} });
    return session.announce(own.undone);
  }
  session.update({ patch: { [key]: 1 } });
  const cell = trace && cellAt(trace, place);
  const { percent } = session.words.value;
  if (trace && cell) session.announce(own.nowPatched(trace.answers[0], percent(trace.lower.both[0]), percent(cell.a)));
}

/** Returns the key with the largest weight of a query. */
function strongestKey(session: Session, layer: number, head: number, t: number) {
  const run = session.run.value;
  if (!run || run.large || t >= run.T) return t;
  const from = ((layer * run.about.heads + head) * run.T + t) * run.S;
  const row = run.weights.subarray(from, from + run.S);
  return Math.max(row.indexOf(row.reduce((a, b) => Math.max(a, b), 0)), 0);
}

export function openInstrument(session: Session, place: GridPlace) {
  const trace = session.trace.value;
  const { part, layer } = place;
  const [strongest] = trace ? headsOf(trace, layer) : [];
  const head = part === 'head' ? place.place : (strongest?.head ?? 0);
  const last = trace ? trace.lower.pieces.length - 1 : 0;
  const t = part === 'head' ? last : place.place;
  session.pointTrace(null);
  session.update({
    view: 'heatmap',
    patch: { [keyOf(place)]: 1 },
    layer,
    head,
    cell: { t, s: strongestKey(session, layer, head, t) },
  });
}

export function spokenPlace(session: Session, trace: Trace, place: GridPlace, shareText: (share: number) => string) {
  const own = textsIn(session);
  const cell = cellAt(trace, place);
  const name = own.placeName(place.part, place.layer, wordOf(trace, place));
  return `${name}: ${cell ? own.returns(shareText(cell.share)) : own.notYet}.`;
}
