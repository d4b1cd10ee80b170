// Rules of the views that need no component, such as which view can show a run.

import type { State } from './state.ts';
import { isOpen } from './training/settings.ts';
import type { Run } from './types.ts';
import { writtenFrom } from './written.ts';

/** Maximum number of cells that can be shown as lines. More lines cannot be distinguished. */
const MAX_LINES = 90_000;

/** Returns true if a view can show a run. */
export function canShow(name: string, run: Run | null): boolean {
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

/** Returns true if the model predicts a word from a text, and can be run with patched values. */
const canTrace = ({ about: { kind, edits, guess, reads } }: Run) =>
  kind === 'transformer' && edits && reads === 'text' && (guess === 'next' || guess === 'masked');

/** Returns true if the model can predict each token of the text. */
const canSurprise = ({ about: { kind, guess, reads } }: Run) =>
  kind === 'transformer' && (guess === 'next' || guess === 'masked') && (reads === 'text' || reads === 'numbers');

export const isEmpty = (run: Run | null) => run !== null && !(run.T > 0 && run.S > 0);

/**
 * Returns true if the heatmap shows rows that the model has written, together with the controls that play them back.
 */
export const showsWritten = (state: State, run: Run | null) =>
  state.view === 'heatmap' && run !== null && writtenFrom(state, run) < run.T && !isOpen(state);

/** Returns the name of the view in which a mask is painted. */
export const matrixOf = (run: Run | null) => (run?.image ? 'matrix' : 'heatmap');
