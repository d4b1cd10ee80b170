// The lines of a circuit that are shown: how many, which, and what each costs.

import { MAX_LINES } from './settings.js';

/** @import { CircuitBegun, CircuitCuts, CircuitWork } from '../../store/circuitProtocol.js' */
/** @import { CurvePoint, MeasuredLine } from '../../store/circuitProtocol.js' */
/**
 * A circuit as far as it is measured. cuts: with the lines of the state cut.
 * @typedef {{ begun: CircuitBegun, work: CircuitWork, lines: MeasuredLine[], points: CurvePoint[],
 *   cuts: CircuitCuts | null }} Circuit
 */

/** The share that the usual number of lines keeps; below the minimum there is no small circuit. */
const [USUAL_SHARE, MIN_SHARE] = [0.9, 0.2];
/** Lines that are shown before the curve is known. */
const AT_FIRST = 12;

/** The lines in the order in which they are kept: the largest loss first. @param {readonly MeasuredLine[]} lines */
export const byLoss = (lines) => [...lines].sort((a, b) => a.value - b.value);

/**
 * The points of the curve of the strongest lines, by their number.
 * @param {Circuit} circuit @param {boolean} [random] of lines at random instead
 */
export const curveOf = ({ points }, random = false) =>
  points.filter((point) => point.random === random).sort((a, b) => a.count - b.count);

/** The number of lines that is shown if none is chosen. @param {Circuit} circuit */
export function usualCount(circuit) {
  const curve = curveOf(circuit);
  if (curve.length === 0) return Math.min(AT_FIRST, circuit.lines.length);
  const enough = curve.find(({ kept }) => kept >= USUAL_SHARE);
  return (enough ?? curve.reduce((best, point) => (point.kept > best.kept ? point : best))).count;
}

/** @param {Circuit} circuit @param {number | null} wanted */
export const countOf = (circuit, wanted) =>
  Math.max(Math.min(wanted ?? usualCount(circuit), circuit.lines.length || MAX_LINES), 1);

/** True if even the most lines keep little. @param {Circuit} circuit */
export function isTooLarge(circuit) {
  const curve = curveOf(circuit);
  return circuit.work.stage === 'done' && curve.length > 0 && curve.every(({ kept }) => kept < MIN_SHARE);
}

/** Points that a line costs: of the probability of the guess. Negative: it is lower without the line. */
export const costOf = (/** @type {number[]} */ both, /** @type {number[]} */ whole) => 100 * (both[0] - whole[0]);

/**
 * The first lines, the strongest first. was: the cost without cuts, if there are any.
 * @param {Circuit} circuit
 * @param {number} count
 * @returns {ShownLine[]}
 */
export function shownLines({ lines, begun, cuts }, count) {
  return byLoss(lines)
    .slice(0, count)
    .map((line) => {
      const before = costOf(line.both, begun.whole.both);
      const isCut = cuts?.cut.includes(line.name) ?? false;
      const found = cuts?.lines[line.name];
      const cost = cuts && found ? costOf(found.both, cuts.now.both) : before;
      return { ...line, cost, was: cuts ? before : null, isCut };
    })
    .sort((a, b) => (a.was ?? a.cost) - (b.was ?? b.cost));
}
/** @typedef {MeasuredLine & { cost: number, was: number | null, isCut: boolean }} ShownLine */
