// Rules of the views that need no component: which view can show a run.

import { writtenFrom } from './prompt/written.js';
import { isOpen } from './train/settings.js';

/** @import { Run } from '../store/types.js' */

/** With more cells than this, lines cannot be distinguished. */
const MAX_LINES = 90_000;

/** True if a view can show a run. @param {string} name @param {Run | null} run @returns {boolean} */
export function canShow(name, run) {
  if (name === 'matrix') return Boolean(run?.image);
  if (!run) return true;
  if (name === 'atlas')
    return run.about.folder || (run.about.reads === 'text' && run.about.edits && !run.about.trained);
  if (name === 'flow') return run.about.sums;
  if (name === 'trace') return canTrace(run);
  if (name === 'text') return canSurprise(run);
  if (name === 'compare') return run.about.kind === 'transformer';
  return name !== 'lines' || run.T * run.S <= MAX_LINES;
}

/** True if a word is guessed after a text that can be run with other values. @param {Run} run */
const canTrace = ({ about: { kind, edits, guess, reads } }) =>
  kind === 'transformer' && edits && reads === 'text' && (guess === 'next' || guess === 'masked');

/** True if each token of the text can be guessed. @param {Run} run */
const canSurprise = ({ about: { kind, guess, reads } }) =>
  kind === 'transformer' && (guess === 'next' || guess === 'masked') && (reads === 'text' || reads === 'numbers');

/** True if a run has no queries or no keys. @param {Run | null} run */
export const isEmpty = (run) => run !== null && !(run.T > 0 && run.S > 0);

/**
 * True if the heatmap shows rows that the model has written, and how they came about.
 * @param {import('../store/state.js').State} state @param {Run | null} run
 */
export const showsWritten = (state, run) =>
  state.view === 'heatmap' && run !== null && writtenFrom(state, run) < run.T && !isOpen(state);

/** The name of the view in which a mask is painted. @param {Run | null} run */
export const matrixOf = (run) => (run?.image ? 'matrix' : 'heatmap');
