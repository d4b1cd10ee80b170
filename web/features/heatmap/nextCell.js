// The keys of the keyboard that move the cell that is read.

/** @import { Cell } from './types.js' */

/**
 * The number of rows and of columns that an arrow key moves.
 * @type {Record<string, [rows: number, columns: number]>}
 */
export const ARROW_STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * Returns the cell to which a key of the keyboard leads, within the picture; null if the key does not move the cell.
 * @param {string} key @param {Cell} read @param {{ T: number, S: number, full: boolean }} size
 * @returns {Cell | null}
 */
export function nextCell(key, { t, s }, { T, S, full }) {
  const end = (/** @type {number} */ row) => (full ? S - 1 : Math.min(row, S - 1));
  /** @type {Record<string, Cell>} */
  const jumps = {
    Home: { t, s: 0 },
    End: { t, s: end(t) },
    PageUp: { t: 0, s: 0 },
    PageDown: { t: T - 1, s },
  };
  const step = ARROW_STEPS[key];
  const next = step ? { t: t + step[0], s: s + step[1] } : jumps[key];
  if (!next) return null;
  const row = Math.min(Math.max(next.t, 0), T - 1);
  return { t: row, s: Math.min(Math.max(next.s, 0), end(row)) };
}
