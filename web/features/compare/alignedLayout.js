// The size of the cells of two aligned pictures, in CSS pixels.

import { labelSize, labelsAbove, MAX_CELL, MIN_LABEL_CELL } from '../../ui/layout.js';
import { BOLD_WIDTH, maxTextWidth } from '../heatmap/textWidth.js';

/** @import { ViewProps } from '../heatmap/types.js' */
/** @import { Aligned, Side } from './tokenPairs.js' */

/** The gap between two pictures, in pixels. */
export const BETWEEN = 18;
/**
 * If cells side by side would be smaller than this, the pictures are one below the other, provided that this makes the
 * cells larger.
 */
const MIN_CELL_ACROSS = 12;
/** Maximum size of a cell where the page may scroll. */
const MAX_CELL_FREE = 39;
/** Maximum width of a row's label, and of the part of a key's label that extends beyond the matrix. */
const [MAX_LABEL, MAX_OVERHANG] = [110, 70];
/** Distance from a row's label to the edge of the view, and the margin without labels. */
const [LABEL_GAP, BARE_MARGIN] = [10, 12];
/** Height of the heading above a full picture. */
const HEADING = 44;
/**
 * The margins depend on the size of the cells and the size of the cells on the margins, so both are computed this many
 * times.
 */
const ROUNDS = 3;

/** @typedef {Pick<Side, 'names' | 'keys'>} Named */
/**
 * @typedef {object} Pictures
 * @property {Pick<Aligned, 'n'>} rows of the common grid
 * @property {Pick<Aligned, 'n'>} columns
 * @property {Named} now
 * @property {Named | null} old
 * @property {boolean} full
 * @property {1 | 2} count of pictures
 */
/**
 * @typedef {object} AlignedPlan
 * @property {boolean} down true if one picture is below the other
 * @property {number} cell
 * @property {number} gap
 * @property {number} left margin for the labels of the rows
 * @property {number} right margin between two pictures side by side
 * @property {number} top margin for the labels of the keys, and for the heading of a full picture
 * @property {number} overhang width of the last keys' labels beyond the matrix
 * @property {number} matrixWidth
 * @property {number} matrixHeight
 * @property {boolean} level true if the labels of the keys are horizontal, see labelsAbove
 * @property {number} fontSize
 * @property {boolean} hasOwnRows true if the rows of the two runs have different names
 */

/**
 * Returns the layout of pictures side by side, or one below the other if the page may scroll or the cells would be
 * small.
 * @param {ViewProps} room
 * @param {Pictures} pictures
 * @returns {AlignedPlan}
 */
export function planOf(room, pictures) {
  const [across, down] = [planIn(room, pictures, false), planIn(room, pictures, true)];
  const isDown = pictures.count > 1 && (room.free || (across.cell < MIN_CELL_ACROSS && down.cell > across.cell));
  return isDown ? down : across;
}

/** @param {ViewProps} room @param {Pictures} pictures @param {boolean} down @returns {AlignedPlan} */
function planIn({ width, height, most, free }, pictures, down) {
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

/** @param {Pictures} pictures @param {number} cell @param {number} most @param {boolean} hasOwnRows */
function marginsOf({ now, old, full }, cell, most, hasOwnRows) {
  const fontSize = labelSize(cell, most);
  const hasLabels = cell >= MIN_LABEL_CELL;
  const label = (/** @type {Named | null} */ side) =>
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
