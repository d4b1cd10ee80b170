// Saves the contributions to the logit of the chosen token as a CSV file.

import { fileName } from '../../drawing/export/csv.ts';
import { shownPart } from '../../model/modelEdits.ts';
import { hasContributions } from '../../store/runParts.ts';
import type { Session } from '../../store/session.ts';
import { download } from '../../ui/download.ts';
import { shortest } from '../../ui/oklab.ts';
import { allParts, type Contribution } from './contributions.ts';
import { otherPart } from './pickedPart.ts';

/** Returns a row per part of the model, and their sum, the logit. `attention`: that `heads` belong to. */
export function contributionCsv(parts: Contribution[], attention: string, sum: number) {
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

export function saveContributions(session: Session) {
  const run = session.run.peek();
  if (!hasContributions(run)) return;
  const state = session.state.peek();
  const parts = allParts(run.added, run.about, otherPart(session));
  const csv = contributionCsv(parts, shownPart(run.about, state), run.added.sum);
  download(fileName(['headlight', state.model, 'contributions', run.chosen.text], 'csv'), 'text/csv', csv);
}
