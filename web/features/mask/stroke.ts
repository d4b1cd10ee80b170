// Changes the cells that are masked by hand, see hiddenCells.ts, by a stroke of the brush.

import { eachRun } from '../../model/hiddenCells.ts';
import { allIn, isInside } from '../../model/modelEdits.ts';
import type { Cell } from '../../model/state.ts';

/** Writes masked cells as a text. `rows`: the masked keys of each query. */
export function writeRows(rows: Map<number, Set<number>>) {
  const inOrder = (all: Iterable<number>) => [...all].sort((a, b) => a - b);
  return inOrder(rows.keys())
    .filter((t) => rows.get(t)?.size)
    .map((t) => {
      const runs: number[][] = [];
      for (const s of inOrder(rows.get(t) as Set<number>)) {
        const last = runs.at(-1);
        if (last && s === last[1] + 1) last[1] = s;
        else runs.push([s, s]);
      }
      return `${t}${runs.map(([from, to]) => `.${from}${to > from ? `-${to}` : ''}`).join('')}`;
    })
    .join('_');
}

/** Reads the masked keys of each query from a text. */
export function readRows(text: string) {
  const rows: Map<number, Set<number>> = new Map();
  eachRun(text, (t, from, to) => {
    const row = rows.get(t) ?? new Set();
    for (let s = from; s <= to; s++) row.add(s);
    rows.set(t, row);
  });
  return rows;
}

/** Returns the text after cells have been masked or unmasked. */
export function withCells(text: string, cells: Cell[], hide: boolean) {
  const rows = readRows(text);
  for (const { t, s } of cells) {
    if (!rows.has(t)) rows.set(t, new Set());
    if (hide) rows.get(t)?.add(s);
    else rows.get(t)?.delete(s);
  }
  return writeRows(rows);
}

/** Masks or unmasks cells in a scope (`place`: 'all', layer '3' or head '3.1', see layerPlace) and in all inside it. */
export function paintAt(map: Record<string, string>, place: string, cells: Cell[], hide: boolean) {
  const before = map[place] ?? map[place.split('.')[0]] ?? map[allIn(place)] ?? '';
  const next = { ...map, [place]: withCells(before, cells, hide) };
  for (const [other, text] of Object.entries(map))
    if (other !== place && isInside(other, place)) next[other] = withCells(text, cells, hide);
  // Without masked cells the state must be equal to the initial one.
  return Object.values(next).some(Boolean) ? next : {};
}

/** Returns the cells on the line between two events of a fast pointer, including both ends. */
export function line(from: Cell, to: Cell) {
  const steps = Math.max(Math.abs(to.t - from.t), Math.abs(to.s - from.s), 1);
  return Array.from({ length: steps + 1 }, (_, i) => ({
    t: Math.round(from.t + (i / steps) * (to.t - from.t)),
    s: Math.round(from.s + (i / steps) * (to.s - from.s)),
  }));
}

/** Returns the cells under a brush of `size` × `size` cells around a cell. `full`: also those above the diagonal. */
export function cellsUnder(
  { t, s }: Cell,
  size: number,
  { T, S, full }: { T: number; S: number; full: boolean },
): Cell[] {
  const cells = [];
  const [top, left] = [t, s].map((middle) => middle - Math.floor((size - 1) / 2));
  for (let row = Math.max(top, 0); row < Math.min(top + size, T); row++)
    for (let key = Math.max(left, 0); key < Math.min(left + size, full ? S : row + 1); key++)
      cells.push({ t: row, s: key });
  return cells;
}
