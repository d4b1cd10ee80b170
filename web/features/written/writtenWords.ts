// The tokens that the model has written, with the probability of each, and the token to which the head attended most
// before writing it.

import { shownWeights } from '../../model/meanOfHeads.ts';
import type { Run } from '../../model/types.ts';
import { writtenFrom } from '../../model/written.ts';
import type { Session } from '../../store/session.ts';
import { texts as inEnglish } from './written.en.ts';
import { texts as inChinese } from './written.zh.ts';
export type WrittenWord = { t: number; s: number; weight: number; probability: number | null };

const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session: Session) => TEXTS[session.language.value as 'en' | 'zh'];

/** Returns the number of rows that are shown: all rows, unless they are being played back. */
export function shownRows({ playback, state }: Session, { T }: Run) {
  const at = playback.value;
  return at && at.text === state.value.text ? Math.min(at.rows, T) : T;
}

/** Returns the written tokens. The token t was written by the row before it, which attended most to the key s. */
export function writtenWords(session: Session, run: Run): WrittenWord[] {
  const state = session.state.value;
  const measured = session.surprise.measured.value;
  const weights = shownWeights(run, state.mean);
  const from = Math.max(writtenFrom(state, run), 1);
  const known = measured?.text === state.text ? measured.now : [];
  return Array.from({ length: Math.max(shownRows(session, run) - from, 0) }, (_, i) => {
    const t = from + i;
    const row = weights.subarray((t - 1) * run.S, t * run.S);
    const s = row.reduce((best, weight, at) => (weight > row[best] ? at : best), 0);
    return { t, s, weight: row[s], probability: known[t]?.probability ?? null };
  });
}

export function showRows(session: Session, { T }: Run, rows: number, plays: boolean) {
  const shown = Math.min(Math.max(rows, 1), T);
  // If all rows are shown, playback ends, so that rows that are added later are shown too.
  session.setPlayback(shown === T ? null : { text: session.state.value.text, rows: shown, plays });
  if (session.state.value.cell) session.look({ cell: null });
  session.setHover(shown === T ? null : { t: shown - 1, s: -1 });
}
