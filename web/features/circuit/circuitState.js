// Changes that the circuit makes to the page's state, and the values that its components read.

import { useSession } from '../../ui/context.js';
import { texts as inEnglish } from './circuit.en.js';
import { texts as inChinese } from './circuit.zh.js';
import { MAX_LINES, usualCircuit } from './settings.js';
import { countOf, curveOf, fewLines, shownLines } from './shownLines.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Node } from '../../../src/js/analysis/edges.js' */
/** @import { CircuitSettings } from './settings.js' */
/** @import { ShownLine } from './shownLines.js' */

/** @typedef {typeof inEnglish} Texts */
const TEXTS = { en: inEnglish, zh: inChinese };
/** @param {Session} session @returns {Texts} */
export const textsIn = (session) => TEXTS[/** @type {'en' | 'zh'} */ (session.language.value)];

/** @param {Session} session @returns {CircuitSettings} */
export const settingsIn = ({ state }) => state.value.circuit ?? usualCircuit;

/** @param {Session} session @param {Partial<CircuitSettings>} fields @param {string} [gesture] */
export const change = (session, fields, gesture) =>
  session.update({ circuit: { ...settingsIn(session), ...fields } }, gesture);

/**
 * Returns the circuit, the number of edges that are kept, all of these edges, and those that are drawn and listed; null
 * while no circuit has been measured. If the visitor has not chosen the number, only a few are drawn.
 */
export function useCircuit() {
  const session = useSession();
  const circuit = session.circuit.shown.value;
  if (!circuit) return null;
  const { lines: chosen } = settingsIn(session);
  const count = countOf(circuit, chosen);
  const all = shownLines(circuit, count);
  return { circuit, count, all, lines: chosen === null ? fewLines(all) : all };
}

/** Returns the name of a node of an edge. @param {Texts} own @param {Node} node */
export function nodeName(own, { kind, layer = 0, head = 0 }) {
  if (kind === 'embed') return own.words;
  if (kind === 'mlp') return own.mlp(layer);
  if (kind === 'head') return own.head(layer, head);
  if (kind === 'logits') return own.guess;
  return own.inputOf(own.inputs[kind], own.head(layer, head));
}
/** @param {Texts} own @param {Pick<ShownLine, 'from' | 'to'>} line */
export const lineText = (own, { from, to }) => `${nodeName(own, from)} → ${nodeName(own, to)}`;

/** Cuts an edge, or reconnects it if it is cut. @param {Session} session @param {string} name */
export function toggleCut(session, name) {
  const { cut } = settingsIn(session);
  const isCut = cut.includes(name);
  change(session, { cut: isCut ? cut.filter((other) => other !== name) : [...cut, name] });
  session.circuit.point(name);
  if (isCut) session.announce(textsIn(session).reconnected);
}

/**
 * Sets the number of edges that are kept, at most the number of measured edges.
 * @param {Session} session @param {number} count
 */
export function keepLines(session, count) {
  const most = session.circuit.shown.value?.lines.length || MAX_LINES;
  change(session, { lines: Math.min(Math.max(count, 1), most) }, 'lines');
}

/**
 * Handles the keys of the drawing and of the list.
 * @param {Session} session @param {{ lines: ShownLine[], count: number }} shown @param {string} key
 * @returns {boolean} true if the key has a function here
 */
export function onKey(session, { lines, count }, key) {
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

/** Announces to a screen reader how much of the prediction the kept edges preserve. @param {Session} session */
function announceKept(session) {
  const circuit = session.circuit.shown.value;
  if (!circuit) return;
  const count = countOf(circuit, settingsIn(session).lines);
  const point = curveOf(circuit).find((one) => one.count === count);
  if (point) session.announce(textsIn(session).keep(count, Math.round(100 * point.kept)));
}

/** @param {Texts} own @param {ShownLine} line */
export const spokenLine = (own, line) =>
  line.isCut ? own.spokenCut(lineText(own, line)) : own.spoken(lineText(own, line), pointsText(line.cost));

/** Returns a number of percentage points as a text, with one decimal below ten: −34, −0.4. @param {number} cost */
export const pointsText = (cost) => {
  const figure = Math.abs(cost).toFixed(Math.abs(cost) < 9.95 ? 1 : 0);
  return Number(figure) === 0 ? '0' : `${cost < 0 ? '−' : '+'}${figure.replace(/\.0$/, '')}`;
};
