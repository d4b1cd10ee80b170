// Saves a circuit as a CSV file.

import { download } from '../../ui/download.js';
import { fileName } from '../export/csv.js';
import { circuitCsv } from './circuitFile.js';
import { textsIn } from './circuitState.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Circuit } from './shownLines.js' */

/** @param {Session} session @param {Circuit} circuit */
export function saveCircuit(session, circuit) {
  const name = fileName(['headlight', session.state.peek().model, 'circuit', circuit.begun.answers[0]], 'csv');
  download(name, 'text/csv', circuitCsv(circuit, textsIn(session)));
}
