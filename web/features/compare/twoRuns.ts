// Two prompts, or one prompt before and after a change: their runs, the pairs of their tokens, and the cell that is
// read.

import { type RunPair, runPairOf } from '../../drawing/tokenPairs.ts';
import type { Cell } from '../../drawing/types.ts';
import { weightsOf } from '../../model/derivation.ts';
import { isOpen } from '../../model/training/settings.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { texts as inEnglish } from './compare.en.ts';
import { texts as inChinese } from './compare.zh.ts';

/** A cell in the tokens of both runs, -1 if a token has no pair. */
export type CellPair = { now: Cell; old: Cell };

const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session: Session) => TEXTS[session.language.value as 'en' | 'zh'];
export const useTexts = () => textsIn(useSession());

/** Returns the two runs. `old` is null while no run is pinned or its answer has not arrived. */
export function runPairIn(session: Session): RunPair | null {
  const run = session.run.value;
  if (isOpen(session.state.value)) return trainedPairIn(session);
  return run?.T ? runPairOf(run, session.state.value.pinned && session.pinnedHead.value) : null;
}

/** Returns a pair of runs of the model in training: its current state, and its state before the training. */
function trainedPairIn(session: Session): RunPair | null {
  const run = session.run.value;
  const before = session.training.changes.value?.before;
  if (!run?.T || !before || before.length !== run.weights.length) return null;
  const { pieces, keys, T, S, layer, head } = run;
  const weights = weightsOf({ ...run, weights: before }, layer, head) ?? undefined;
  return runPairOf(run, { pieces, keys, T, S, layer, head, cut: false, weights });
}

/** Returns the cell that is read, in the tokens of both runs. */
export function useCell(runs: RunPair | null): CellPair | null {
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
  const isThere = ({ t, s }: Cell) => t >= 0 && s >= 0;
  return {
    leave() {
      session.setHover(null);
      session.setPinnedHover(null);
    },
    point({ now, old }: CellPair) {
      const was = session.hover.value;
      if (!isThere(now) || was?.t !== now.t || was?.s !== now.s) session.setHover(isThere(now) ? now : null);
      session.setPinnedHover(isThere(now) ? null : old);
    },
    /** `toggle`: true to release the cell if it is already chosen. */
    hold({ now, old }: CellPair, toggle = true) {
      session.setPinnedHover(isThere(now) ? null : old);
      if (!isThere(now)) return;
      const { cell } = session.state.peek();
      session.look({ cell: toggle && cell?.t === now.t && cell?.s === now.s ? null : now });
    },
  };
}
