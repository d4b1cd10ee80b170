// The keys of the keyboard that move the cell that is read.

import type { Cell } from './state.ts';

export const ARROW_STEPS: Record<string, [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * Returns the cell to which a key of the keyboard leads, within the picture; null if the key does not move the cell.
 */
export function nextCell(
  key: string,
  { t, s }: Cell,
  { T, S, full }: { T: number; S: number; full: boolean },
): Cell | null {
  const end = (row: number) => (full ? S - 1 : Math.min(row, S - 1));
  const jumps: Record<string, Cell> = {
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
