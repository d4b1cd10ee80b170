// Saves a circuit as a CSV file.

import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { fileName } from '../export/csv.ts';
import { circuitCsv } from './circuitFile.ts';
import { textsIn } from './circuitState.ts';
import type { Circuit } from './shownLines.ts';

export function saveCircuit(session: Session, circuit: Circuit) {
  const name = fileName(['headlight', session.state.peek().model, 'circuit', circuit.begun.answers[0]], 'csv');
  download(name, 'text/csv', circuitCsv(circuit, textsIn(session)));
}
