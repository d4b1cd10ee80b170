// The size of the cells of two aligned pictures, in CSS pixels.

import { BOLD_WIDTH, maxTextWidth } from '../../drawing/textWidth.ts';
import type { Aligned, Side } from '../../drawing/tokenPairs.ts';

import type { ViewProps } from '../../drawing/types.ts';
import { labelSize, labelsAbove, MAX_CELL, MIN_LABEL_CELL } from '../../ui/layout.ts';

/** The gap between two pictures, in pixels. */
export const BETWEEN = 18;
/** With smaller cells side by side, the pictures are one below the other, if this makes the cells larger. */
const MIN_CELL_ACROSS = 12;
/** Maximum size of a cell where the page may scroll. */
const MAX_CELL_FREE = 39;
/** Maximum width of a row's label, and of the part of a key's label that extends beyond the matrix. */
const [MAX_LABEL, MAX_OVERHANG] = [110, 70];
/** Distance from a row's label to the edge of the view, and the margin without labels. */
const [LABEL_GAP, BARE_MARGIN] = [10, 12];
/** Height of the heading above a full picture. */
const HEADING = 44;
/** Margins and the size of cells depend on each other, so both are computed this many times. */
const ROUNDS = 3;

export type Named = Pick<Side, 'names' | 'keys'>;
export type Pictures = {
  /** of the common grid */
  rows: Pick<Aligned, 'n'>;
  columns: Pick<Aligned, 'n'>;
  now: Named;
  old: Named | null;
  full: boolean;
  /** of pictures */
  count: 1 | 2;
};
export type AlignedPlan = {
  /** true if one picture is below the other */
  down: boolean;
  cell: number;
  gap: number;
  /** margin for the labels of the rows */
  left: number;
  /** margin between two pictures side by side */
  right: number;
  /** margin for the labels of the keys, and for the heading of a full picture */
  top: number;
  /** width of the last keys' labels beyond the matrix */
  overhang: number;
  matrixWidth: number;
  matrixHeight: number;
  /** true if the labels of the keys are horizontal, see labelsAbove */
  level: boolean;
  fontSize: number;
  /** true if the rows of the two runs have different names */
  hasOwnRows: boolean;
};

/** Returns the layout: side by side, or one below the other if the page may scroll or cells would be small. */
export function planOf(room: ViewProps, pictures: Pictures): AlignedPlan {
  const [across, down] = [planIn(room, pictures, false), planIn(room, pictures, true)];
  const isDown = pictures.count > 1 && (room.free || (across.cell < MIN_CELL_ACROSS && down.cell > across.cell));
  return isDown ? down : across;
}

function planIn({ width, height, most, free }: ViewProps, pictures: Pictures, down: boolean): AlignedPlan {
  const { rows, columns, now, old, count } = pictures;
  const [across, high] = down ? [1, count] : [count, 1];
  const hasOwnRows =
    old !== null && (now.names.length !== old.names.length || now.names.some((name, t) => name !== old.names[t]));
  let cell = Math.min(width / across / columns.n, free ? Infinity : height / high / rows.n, MAX_CELL);
  let margins = marginsOf(pictures, cell, most, hasOwnRows);
  for (let round = 1; round <= ROUNDS; round++) {
    if (round > 1) margins = marginsOf(pictures, cell, most, hasOwnRows);
    const { left, right, top } = margins;
    const widest = (width - left - (across - 1) * right) / across / columns.n;
    const tallest = free ? MAX_CELL_FREE : (height - high * top - (high - 1) * BETWEEN) / high / rows.n;
    cell = Math.min(widest, tallest, free ? Infinity : MAX_CELL);
  }
  const whole = cell >= 1 ? Math.floor(cell) : Math.max(cell, 0.01);
  return {
    ...margins,
    down,
    cell: whole,
    gap: Math.max(rows.n, columns.n) > 40 || whole < 5 ? 0 : 1,
    matrixWidth: Math.max(whole * columns.n, 1),
    matrixHeight: Math.max(whole * rows.n, 1),
    fontSize: labelSize(whole, most),
    hasOwnRows,
  };
}

function marginsOf({ now, old, full }: Pictures, cell: number, most: number, hasOwnRows: boolean) {
  const fontSize = labelSize(cell, most);
  const hasLabels = cell >= MIN_LABEL_CELL;
  const label = (side: Named | null) =>
    hasLabels && side ? Math.min(maxTextWidth(side.names, fontSize), MAX_LABEL) : 0;
  const lastKeys = BOLD_WIDTH * maxTextWidth(now.keys.slice(-2), fontSize);
  const overhang = hasLabels && !full ? Math.max(Math.min(lastKeys, MAX_OVERHANG) - cell, 0) : 0;
  const labels = labelsAbove(label(now), fontSize, cell);
  return {
    left: Math.ceil(hasLabels ? label(now) + LABEL_GAP : BARE_MARGIN),
    right: Math.ceil(BETWEEN + overhang + (hasOwnRows && hasLabels ? label(old) + LABEL_GAP : 0)),
    top: Math.ceil(full ? HEADING + (hasLabels ? labels.rise : 0) : fontSize * 1.45),
    overhang,
    level: full && labels.level,
  };
}
