// Saves the surprise at each token of a text as a CSV file.

import { download } from '../../ui/download.js';
import { shortest } from '../../ui/oklab.js';
import { field, fileName } from '../export/csv.js';
import { bitsOf } from './measured.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Measured } from '../../store/surprise.js' */
/** @import { SurprisedToken } from '../../store/surpriseProtocol.js' */

/**
 * Returns the probability of a token and its bits, both empty if it is unknown.
 * @param {SurprisedToken | undefined} one
 */
const figuresOf = (one) => (one ? [one.probability, bitsOf(one)].map((x) => shortest(Math.fround(x))) : ['', '']);

/**
 * Returns a row for each token: its probability, its surprise in bits, the likeliest token, and both numbers in the
 * other case.
 * @param {Measured} measured
 */
export function textCsv({ pieces, now, other }) {
  const titles = ['token', 'text', 'probability', 'bits', 'first_guess', 'other_probability', 'other_bits'];
  const rows = pieces.map(({ name }, t) => [
    t,
    field(name),
    ...figuresOf(now[t]),
    now[t] ? field(now[t].guesses[0].text) : '',
    ...figuresOf(other[t]),
  ]);
  return [titles, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** @param {Session} session @param {Measured} measured */
export const saveText = (session, measured) =>
  download(fileName(['headlight', session.state.peek().model, 'text'], 'csv'), 'text/csv', textCsv(measured));
