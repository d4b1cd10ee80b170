// Writes the edges of a circuit as a CSV file.

import { field } from '../../drawing/export/csv.ts';
import { type Circuit, costOf, curveOf, inOrder } from '../../model/circuit/shownLines.ts';
import { shortest } from '../../ui/oklab.ts';
import { nodeName, type Texts } from './circuitState.ts';

const number = (x: number | undefined) => (x === undefined ? '' : shortest(Math.fround(x)));

/**
 * Returns a row for the whole model and one per edge that was cut alone, in the order in which they are kept: its
 * nodes, the answers without it, the percentage points of its cut and, if measured, the share of the prediction without
 * all later rows.
 */
export function circuitCsv(circuit: Circuit, own: Texts) {
  const { begun } = circuit;
  const kept = new Map(curveOf(circuit).map(({ count, kept }) => [count, kept]));
  const titles = [
    'rank',
    'line',
    'from',
    'to',
    'measure',
    ...begun.answers.map((word) => `p(${word})`),
    'points',
    'kept',
  ];
  const figures = ({ value, both }: { value: number; both: number[] }) =>
    [value, ...both.slice(0, begun.answers.length)].map(number);
  const rows = inOrder(circuit).map((line, i) => [
    ...[i + 1, line.name, ...[line.from, line.to].map((node) => field(nodeName(own, node))), ...figures(line)],
    ...[number(costOf(line.both, begun.whole.both)), number(kept.get(i + 1))],
  ]);
  const whole = ['', 'none', '', '', ...figures(begun.whole), 0, 1];
  return [titles.map(field), whole, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}
