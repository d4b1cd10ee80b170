// Two prompts, or one prompt before and after a change: their runs, the pairs of their tokens, and the cell that is
// read.

import { useSession } from '../../ui/context.js';
import { weightsOf } from '../reading/derivation.js';
import { isOpen } from '../train/settings.js';
import { texts as inEnglish } from './compare.en.js';
import { texts as inChinese } from './compare.zh.js';
import { runPairOf } from './tokenPairs.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Cell } from '../heatmap/types.js' */
/** @import { RunPair } from './tokenPairs.js' */

/** A cell in the tokens of both runs, -1 if a token has no pair. @typedef {{ now: Cell, old: Cell }} CellPair */

const TEXTS = { en: inEnglish, zh: inChinese };
/** @param {Session} session */
export const textsIn = (session) => TEXTS[/** @type {'en' | 'zh'} */ (session.language.value)];
export const useTexts = () => textsIn(useSession());

/**
 * Returns the two runs. `old` is null while no run is pinned or its answer has not arrived.
 * @param {Session} session
 * @returns {RunPair | null}
 */
export function runPairIn(session) {
  const run = session.run.value;
  if (isOpen(session.state.value)) return trainedPairIn(session);
  return run?.T ? runPairOf(run, session.state.value.pinned && session.pinnedHead.value) : null;
}

/**
 * Returns a pair of runs of the model in training: its current state, and its state before the training.
 * @param {Session} session @returns {RunPair | null}
 */
function trainedPairIn(session) {
  const run = session.run.value;
  const before = session.training.changes.value?.before;
  if (!run?.T || !before || before.length !== run.weights.length) return null;
  const { pieces, keys, T, S, layer, head } = run;
  const weights = weightsOf({ ...run, weights: before }, layer, head) ?? undefined;
  return runPairOf(run, { pieces, keys, T, S, layer, head, cut: false, weights });
}

/**
 * Returns the cell that is read, in the tokens of both runs.
 * @param {RunPair | null} runs @returns {CellPair | null}
 */
export function useCell(runs) {
  const session = useSession();
  const alone = session.hover.value ? null : session.pinnedHover.value;
  const cell = session.cell.value;
  if (!runs || !cell) return null;
  const { rows, columns, old } = runs;
  if (alone && old)
    return { now: { t: rows.nowOf(alone.t), s: columns.nowOf(alone.s) }, old: { t: alone.t, s: alone.s } };
  return { now: cell, old: { t: rows.oldOf(cell.t), s: columns.oldOf(cell.s) } };
}

/** Returns actions that read a cell while the pointer is on it, or that choose the cell so that it stays read. */
export function usePointing() {
  const session = useSession();
  const isThere = (/** @type {Cell} */ { t, s }) => t >= 0 && s >= 0;
  return {
    leave() {
      session.setHover(null);
      session.setPinnedHover(null);
    },
    point(/** @type {CellPair} */ { now, old }) {
      const was = session.hover.value;
      if (!isThere(now) || was?.t !== now.t || was?.s !== now.s) session.setHover(isThere(now) ? now : null);
      session.setPinnedHover(isThere(now) ? null : old);
    },
    /** @param {CellPair} pair @param {boolean} [toggle] toggle: true to release the cell if it is already chosen */
    hold({ now, old }, toggle = true) {
      session.setPinnedHover(isThere(now) ? null : old);
      if (!isThere(now)) return;
      const { cell } = session.state.peek();
      session.look({ cell: toggle && cell?.t === now.t && cell?.s === now.s ? null : now });
    },
  };
}
