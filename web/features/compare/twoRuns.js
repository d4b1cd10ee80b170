// Two prompts, or one before and after a change: their runs, which of their tokens are pairs, and the cell that is read
// in either.

import { useSession } from '../../ui/context.js';
import { texts as inEnglish } from './compare.en.js';
import { texts as inChinese } from './compare.zh.js';
import { bothOf } from './tokenPairs.js';

const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session) => TEXTS[session.language.value];
export const useTexts = () => textsIn(useSession());

/** What is compared; `old` is null where nothing is pinned or read yet. */
export function bothIn(session) {
  const run = session.run.value;
  return run?.T ? bothOf(run, session.state.value.pinned && session.pinnedHead.value) : null;
}

/** The cell that is read, in the tokens of both; -1 where a token has no pair. */
export function useCell(both) {
  const session = useSession();
  const alone = session.hover.value ? null : session.pinnedHover.value;
  const cell = session.cell.value;
  if (!both || !cell) return null;
  const { rows, columns, old } = both;
  if (alone && old)
    return { now: { t: rows.nowOf(alone.t), s: columns.nowOf(alone.s) }, old: { t: alone.t, s: alone.s } };
  return { now: cell, old: { t: rows.oldOf(cell.t), s: columns.oldOf(cell.s) } };
}

/** Points at a cell, or holds it: given by the tokens of both. */
export function usePointing() {
  const session = useSession();
  const isThere = ({ t, s }) => t >= 0 && s >= 0;
  return {
    leave() {
      session.setHover(null);
      session.setPinnedHover(null);
    },
    point({ now, old }) {
      const was = session.hover.value;
      if (!isThere(now) || was?.t !== now.t || was?.s !== now.s) session.setHover(isThere(now) ? now : null);
      session.setPinnedHover(isThere(now) ? null : old);
    },
    hold({ now, old }, toggle = true) {
      session.setPinnedHover(isThere(now) ? null : old);
      if (!isThere(now)) return;
      const { cell } = session.state.peek();
      session.look({ cell: toggle && cell?.t === now.t && cell?.s === now.s ? null : now });
    },
  };
}
