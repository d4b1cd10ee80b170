// The tokens that the model has written, with the probability of each, and the token to which the head attended most
// before writing it.

import { shownWeights } from '../heatmap/meanOfHeads.js';
import { writtenFrom } from '../prompt/written.js';
import { texts as inEnglish } from './written.en.js';
import { texts as inChinese } from './written.zh.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Run } from '../../store/types.js' */
/** @typedef {{ t: number, s: number, weight: number, probability: number | null }} WrittenWord */

const TEXTS = { en: inEnglish, zh: inChinese };
/** @param {Session} session */
export const textsIn = (session) => TEXTS[/** @type {'en' | 'zh'} */ (session.language.value)];

/**
 * Returns the number of rows that are shown: all rows, unless they are being played back.
 * @param {Session} session @param {Run} run
 */
export function shownRows({ playback, state }, { T }) {
  const at = playback.value;
  return at && at.text === state.value.text ? Math.min(at.rows, T) : T;
}

/**
 * Returns the written tokens. The token t was written by the row before it, which attended most to the key s.
 * @param {Session} session @param {Run} run
 * @returns {WrittenWord[]}
 */
export function writtenWords(session, run) {
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

/** Shows only the first rows. @param {Session} session @param {Run} run @param {number} rows @param {boolean} plays */
export function showRows(session, { T }, rows, plays) {
  const shown = Math.min(Math.max(rows, 1), T);
  // If all rows are shown, playback ends, so that rows that are added later are shown too.
  session.setPlayback(shown === T ? null : { text: session.state.value.text, rows: shown, plays });
  if (session.state.value.cell) session.look({ cell: null });
  session.setHover(shown === T ? null : { t: shown - 1, s: -1 });
}
