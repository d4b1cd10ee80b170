// The tokens that the model has written: how likely each was, and the token that the head looked at most before it.

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
 * The number of rows that are shown: all, unless they are played back.
 * @param {Session} session @param {Run} run
 */
export function shownRows({ playback, state }, { T }) {
  const at = playback.value;
  return at && at.text === state.value.text ? Math.min(at.rows, T) : T;
}

/**
 * The token t was written by the row before it, which looked most at the key s.
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

/** Shows the first rows only. @param {Session} session @param {Run} run @param {number} rows @param {boolean} plays */
export function showRows(session, { T }, rows, plays) {
  const shown = Math.min(Math.max(rows, 1), T);
  // Once all are shown, rows that are added are shown too.
  session.setPlayback(shown === T ? null : { text: session.state.value.text, rows: shown, plays });
  if (session.state.value.cell) session.look({ cell: null });
  session.setHover(shown === T ? null : { t: shown - 1, s: -1 });
}
