// Rules of the views that need no component, such as which view can show a run.

import { writtenFrom } from './prompt/written.js';
import { isOpen } from './train/settings.js';

/** @import { Run } from '../store/types.js' */

/** Maximum number of cells that can be shown as lines. More lines cannot be distinguished. */
const MAX_LINES = 90_000;

/** Returns true if a view can show a run. @param {string} name @param {Run | null} run @returns {boolean} */
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

/** Returns true if the model predicts a word from a text, and can be run with patched values. @param {Run} run */
const canTrace = ({ about: { kind, edits, guess, reads } }) =>
  kind === 'transformer' && edits && reads === 'text' && (guess === 'next' || guess === 'masked');

/** Returns true if the model can predict each token of the text. @param {Run} run */
const canSurprise = ({ about: { kind, guess, reads } }) =>
  kind === 'transformer' && (guess === 'next' || guess === 'masked') && (reads === 'text' || reads === 'numbers');

/** Returns true if a run has no queries or no keys. @param {Run | null} run */
export const isEmpty = (run) => run !== null && !(run.T > 0 && run.S > 0);

/**
 * Returns true if the heatmap shows rows that the model has written, together with the controls that play them back.
 * @param {import('../store/state.js').State} state @param {Run | null} run
 */
export const showsWritten = (state, run) =>
  state.view === 'heatmap' && run !== null && writtenFrom(state, run) < run.T && !isOpen(state);

/** Returns the name of the view in which a mask is painted. @param {Run | null} run */
export const matrixOf = (run) => (run?.image ? 'matrix' : 'heatmap');
