// Saves a circuit as a CSV file.

import { fileName } from '../../drawing/export/csv.ts';
import type { Circuit } from '../../model/circuit/shownLines.ts';
import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { circuitCsv } from './circuitFile.ts';
import { textsIn } from './circuitState.ts';

export function saveCircuit(session: Session, circuit: Circuit) {
  const name = fileName(['headlight', session.state.peek().model, 'circuit', circuit.begun.answers[0]], 'csv');
  download(name, 'text/csv', circuitCsv(circuit, textsIn(session)));
}
