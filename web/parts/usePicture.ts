// The contents and the geometry of the picture of the shown head.

import { useMemo } from 'preact/hooks';
import { BOLD_WIDTH, maxTextWidth, textWidth } from '../drawing/textWidth.ts';
import type { Picture, Run } from '../drawing/types.ts';
import { looksAhead } from '../model/derivation.ts';
import { shownWeights } from '../model/meanOfHeads.ts';
import { rowsWithNothing } from '../model/roles.ts';
import { useSession } from '../store/context.ts';
import { shownRole } from '../store/shownRoles.ts';
import { footOf, MIN_LABEL_CELL, pictureOf, topOf } from '../ui/layout.ts';
import { KEY_LABEL_INSET } from './matrixLabels.tsx';
export type Room = Required<Parameters<typeof usePicture>[0]>;

/** Width reserved for labels if there are too many to draw. It only limits the layout. */
const UNDRAWN_LABEL_WIDTH = 100;

/** Returns null until there is a run with cells, and room for the cells. */
export function usePicture({
  width,
  height,
  most,
  tallest = Infinity,
  bare = false,
}: {
  width: number;
  height: number;
  most: number;
  /** maximum height of the matrix */
  tallest?: number;
  bare?: boolean;
}): Picture | null {
  const session = useSession();
  const run: Run | null = session.run.value;
  const { mean } = session.shownState.value;
  const role = run && shownRole(session, run.layer, run.head);
  // Each move of the pointer renders the picture again. The layout reads all weights and all names, so it is stored.
  return useMemo(
    () => run && layOut(run, mean, role, { width, height, most, tallest, bare }),
    [run, mean, role, width, height, most, tallest, bare],
  );
}

/** `role`: of the shown head. */
function layOut(
  run: Run,
  mean: string,
  role: string | null | undefined,
  { width, height: all, most, tallest, bare }: Room,
): Picture | null {
  if (!run.T || !run.S || width <= 0 || all <= 0) return null;
  const foot = footOf(run.sound !== undefined, all);
  const height = all - foot;
  const weights = shownWeights(run, mean);
  const full = !run.about.causal || looksAhead(weights, run.T, run.S);
  const { T, S } = run;
  const names = run.pieces.map(({ name }) => name);
  const keys = run.keys.map(({ name }) => name);
  const hasLabels = Math.min(width / S, height / T) >= MIN_LABEL_CELL;
  const widest = (fontSize: number) => (hasLabels ? maxTextWidth([...names, ...keys], fontSize) : UNDRAWN_LABEL_WIDTH);
  // The labels of the last keys extend beyond the matrix, and extend furthest in bold letters.
  const beyond = (fontSize: number, cell: number) => {
    if (cell < MIN_LABEL_CELL) return 0;
    const ends = keys.map((name, s) => BOLD_WIDTH * textWidth(name, fontSize) + KEY_LABEL_INSET - (S - s) * cell);
    return Math.max(0, ...ends);
  };
  const room = { width, height, tokens: T, keys: S, most, widest, beyond, full, tallest, bare };
  const { left, side, wide, size, ...grid } = pictureOf(room);
  const ids = T === S && !full && mean === 'head' ? run.pieces.map(({ id }) => id) : [];
  return {
    ...grid,
    run,
    weights,
    full,
    names,
    keys,
    T,
    S,
    foot,
    unmatchedRows: rowsWithNothing(role, ids),
    x: left,
    y: topOf(height, { side, top: grid.top }),
    matrixWidth: wide,
    matrixHeight: side,
    fontSize: size,
    widthFromX: width - left,
  };
}
