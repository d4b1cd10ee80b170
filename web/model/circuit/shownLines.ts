// Selects the edges of a circuit that are shown: their number, the edges themselves, and the cost of cutting each.

import type { CircuitBegun, CircuitCuts, CircuitWork, CurvePoint, MeasuredLine } from '../protocol/circuitProtocol.ts';
import { USUAL_SHARE } from './neededLines.ts';
import { MAX_LINES } from './settings.ts';
/** The results so far. needed: edges that together keep most of the prediction; cuts: the run with the state's cuts */
export type Circuit = {
  begun: CircuitBegun;
  work: CircuitWork;
  lines: MeasuredLine[];
  needed: string[];
  points: CurvePoint[];
  cuts: CircuitCuts | null;
};

/** If no measured number of edges keeps this share of the prediction, the model has no small circuit. */
const MIN_SHARE = 0.2;
/** Number of edges that are kept before the curve is known. */
const AT_FIRST = 12;
/** Number of edges that are drawn unless the visitor has chosen how many are kept. */
export const FEW = 6;

/** Returns edges in the order in which they are kept: the needed first, and then by the loss that a cut causes. */
export function inOrder({ lines, needed }: Pick<Circuit, 'lines' | 'needed'>) {
  const isOther = ({ name }: MeasuredLine) => Number(!needed.includes(name));
  return [...lines].sort((a, b) => isOther(a) - isOther(b) || a.value - b.value);
}

/** Returns the points of the curve by number of edges kept: the first in order, or random ones if `random`. */
export const curveOf = ({ points }: Circuit, random = false) =>
  points.filter((point) => point.random === random).sort((a, b) => a.count - b.count);

/**
 * Returns the default number of edges that are kept, which keeps at least USUAL_SHARE of the prediction if possible.
 */
export function usualCount(circuit: Circuit) {
  const curve = curveOf(circuit);
  if (curve.length === 0) return Math.min(AT_FIRST, circuit.lines.length);
  const enough = curve.find(({ kept }) => kept >= USUAL_SHARE);
  return (enough ?? curve.reduce((best, point) => (point.kept > best.kept ? point : best))).count;
}

export const countOf = (circuit: Circuit, wanted: number | null) =>
  Math.max(Math.min(wanted ?? usualCount(circuit), circuit.lines.length || MAX_LINES), 1);

/** Returns true if every measured number of edges keeps little of the prediction. */
export function isTooLarge(circuit: Circuit) {
  const curve = curveOf(circuit);
  return circuit.work.stage === 'done' && curve.length > 0 && curve.every(({ kept }) => kept < MIN_SHARE);
}

/** Returns the change of the first answer's probability by a cut, in percentage points; negative if it falls. */
export const costOf = (both: number[], whole: number[]) => 100 * (both[0] - whole[0]);

/** Returns the edges that are kept, the strongest first. was: the cost before any cut, null if no edge is cut. */
export function shownLines({ lines, needed, begun, cuts }: Circuit, count: number): ShownLine[] {
  return inOrder({ lines, needed })
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
export type ShownLine = MeasuredLine & { cost: number; was: number | null; isCut: boolean };

/** Returns the strongest edges and those that are cut. `lines`: the strongest first. */
export const fewLines = (lines: readonly ShownLine[], count: number = FEW) =>
  lines.filter(({ isCut }, i) => i < count || isCut);
