// Saves the surprise at each token of a text as a CSV file.

import { field, fileName } from '../../drawing/export/csv.ts';
import type { SurprisedToken } from '../../model/protocol/surpriseProtocol.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { shortest } from '../../ui/oklab.ts';
import { bitsOf } from './measured.ts';

/** Returns the probability of a token and its bits, both empty if it is unknown. */
const figuresOf = (one: SurprisedToken | undefined) =>
  one ? [one.probability, bitsOf(one)].map((x) => shortest(Math.fround(x))) : ['', ''];

/** Returns a row per token: probability, surprise in bits, likeliest token, and both numbers in the other case. */
export function textCsv({ pieces, now, other }: Measured) {
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

export const saveText = (session: Session, measured: Measured) =>
  download(fileName(['headlight', session.state.peek().model, 'text'], 'csv'), 'text/csv', textCsv(measured));
