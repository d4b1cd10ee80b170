// Changes that the circuit makes to the page's state, and the values that its components read.

import type { Node } from '../../../src/js/analysis/circuits/edges.ts';
import { type CircuitSettings, MAX_LINES, usualCircuit } from '../../model/circuit/settings.ts';
import { countOf, curveOf, fewLines, type ShownLine, shownLines } from '../../model/circuit/shownLines.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { texts as inEnglish } from './circuit.en.ts';
import { texts as inChinese } from './circuit.zh.ts';

export type Texts = typeof inEnglish;
const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session: Session): Texts => TEXTS[session.language.value as 'en' | 'zh'];

export const settingsIn = ({ state }: Session): CircuitSettings => state.value.circuit ?? usualCircuit;

export const change = (session: Session, fields: Partial<CircuitSettings>, gesture?: string) =>
  session.update({ circuit: { ...settingsIn(session), ...fields } }, gesture);

/** Returns the circuit, the edges that are kept and those that are drawn (by default few); null until measured. */
export function useCircuit() {
  const session = useSession();
  const circuit = session.circuit.shown.value;
  if (!circuit) return null;
  const { lines: chosen } = settingsIn(session);
  const count = countOf(circuit, chosen);
  const all = shownLines(circuit, count);
  return { circuit, count, all, lines: chosen === null ? fewLines(all) : all };
}

export function nodeName(own: Texts, { kind, layer = 0, head = 0 }: Node) {
  if (kind === 'embed') return own.words;
  if (kind === 'mlp') return own.mlp(layer);
  if (kind === 'head') return own.head(layer, head);
  if (kind === 'logits') return own.guess;
  return own.inputOf(own.inputs[kind], own.head(layer, head));
}
export const lineText = (own: Texts, { from, to }: Pick<ShownLine, 'from' | 'to'>) =>
  `${nodeName(own, from)} → ${nodeName(own, to)}`;

/** Cuts an edge, or reconnects it if it is cut. */
export function toggleCut(session: Session, name: string) {
  const { cut } = settingsIn(session);
  const isCut = cut.includes(name);
  change(session, { cut: isCut ? cut.filter((other) => other !== name) : [...cut, name] });
  session.circuit.point(name);
  if (isCut) session.announce(textsIn(session).reconnected);
}

/** Sets the number of edges that are kept, at most the number of measured edges. */
export function keepLines(session: Session, count: number) {
  const most = session.circuit.shown.value?.lines.length || MAX_LINES;
  change(session, { lines: Math.min(Math.max(count, 1), most) }, 'lines');
}

/** Handles the keys of the drawing and of the list; returns true for a key with a function here. */
export function onKey(session: Session, { lines, count }: { lines: ShownLine[]; count: number }, key: string): boolean {
  const own = textsIn(session);
  const pointed = session.circuit.pointed.value;
  const at = lines.findIndex(({ name }) => name === pointed);
  const walk = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (walk && lines.length > 0) {
    const line = lines[at < 0 ? 0 : Math.min(Math.max(at + walk, 0), lines.length - 1)];
    session.circuit.point(line.name);
    session.announce(spokenLine(own, line));
    return true;
  }
  const more = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (more) {
    keepLines(session, count + more);
    announceKept(session);
  } else if (key === 'x' && at >= 0) toggleCut(session, lines[at].name);
  else if (key === 'Escape' && pointed) session.circuit.point(null);
  else if (key === 'Escape') session.update({ view: 'heatmap' });
  else if (key === ' ' && session.circuit.running.value) session.circuit.stop();
  else return false;
  return true;
}

/** Announces to a screen reader how much of the prediction the kept edges preserve. */
function announceKept(session: Session) {
  const circuit = session.circuit.shown.value;
  if (!circuit) return;
  const count = countOf(circuit, settingsIn(session).lines);
  const point = curveOf(circuit).find((one) => one.count === count);
  if (point) session.announce(textsIn(session).keep(count, Math.round(100 * point.kept)));
}

export const spokenLine = (own: Texts, line: ShownLine) =>
  line.isCut ? own.spokenCut(lineText(own, line)) : own.spoken(lineText(own, line), pointsText(line.cost));

/** Returns a number of percentage points as a text, with one decimal below ten: −34, −0.4. */
export const pointsText = (cost: number) => {
  const figure = Math.abs(cost).toFixed(Math.abs(cost) < 9.95 ? 1 : 0);
  return Number(figure) === 0 ? '0' : `${cost < 0 ? '−' : '+'}${figure.replace(/\.0$/, '')}`;
};
