// Saves the contributions to the logit of the chosen token as a CSV file.

import { hasContributions } from '../../store/runParts.js';
import { download } from '../../ui/download.js';
import { shortest } from '../../ui/oklab.js';
import { fileName } from '../export/csv.js';
import { shownPart } from '../whatif/modelEdits.js';
import { allParts } from './contributions.js';
import { otherPart } from './pickedPart.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Contribution } from './contributions.js' */

/**
 * Returns a row for each part of the model, and a last row with their sum, which is the logit.
 * @param {Contribution[]} parts @param {string} attention that `heads` belong to @param {number} sum
 */
export function contributionCsv(parts, attention, sum) {
  const rows = parts.map(({ kind, of, layer, head, value }) => [
    kind,
    kind === 'head' ? (of ?? attention) : '',
    layer < 0 ? '' : layer,
    head < 0 ? '' : head,
    shortest(Math.fround(value)),
  ]);
  return [['part', 'attention', 'layer', 'head', 'logit'], ...rows, ['sum', '', '', '', shortest(Math.fround(sum))]]
    .map((row) => `${row.join(',')}\r\n`)
    .join('');
}

/** @param {Session} session */
export function saveContributions(session) {
  const run = session.run.peek();
  if (!hasContributions(run)) return;
  const state = session.state.peek();
  const parts = allParts(run.added, run.about, otherPart(session));
  const csv = contributionCsv(parts, shownPart(run.about, state), run.added.sum);
  download(fileName(['headlight', state.model, 'contributions', run.chosen.text], 'csv'), 'text/csv', csv);
}
