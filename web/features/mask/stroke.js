// What a stroke of the brush makes of the cells that are hidden by hand: see hiddenCells.js.

import { eachRun } from './hiddenCells.js';

/** @import { Cell } from '../../store/state.js' */

/** The other direction: rows by number, each a set of keys. @param {Map<number, Set<number>>} rows */
export function writeRows(rows) {
  const inOrder = (/** @type {Iterable<number>} */ all) => [...all].sort((a, b) => a - b);
  return inOrder(rows.keys())
    .filter((t) => rows.get(t)?.size)
    .map((t) => {
      /** @type {number[][]} */
      const runs = [];
      for (const s of inOrder(/** @type {Set<number>} */ (rows.get(t)))) {
        const last = runs.at(-1);
        if (last && s === last[1] + 1) last[1] = s;
        else runs.push([s, s]);
      }
      return `${t}${runs.map(([from, to]) => `.${from}${to > from ? `-${to}` : ''}`).join('')}`;
    })
    .join('_');
}

/** @param {string} text */
export function readRows(text) {
  /** @type {Map<number, Set<number>>} */
  const rows = new Map();
  eachRun(text, (t, from, to) => {
    const row = rows.get(t) ?? new Set();
    for (let s = from; s <= to; s++) row.add(s);
    rows.set(t, row);
  });
  return rows;
}

/** A text with cells hidden, or shown again. @param {string} text @param {Cell[]} cells @param {boolean} hide */
export function withCells(text, cells, hide) {
  const rows = readRows(text);
  for (const { t, s } of cells) {
    if (!rows.has(t)) rows.set(t, new Set());
    if (hide) rows.get(t)?.add(s);
    else rows.get(t)?.delete(s);
  }
  return writeRows(rows);
}

/**
 * Cells hidden or shown at a place, and so at every more particular place within it.
 * @param {Record<string, string>} map
 * @param {string} place 'all', a layer '3', or one head '3.1'
 * @param {Cell[]} cells
 * @param {boolean} hide
 */
export function paintAt(map, place, cells, hide) {
  const inside = (/** @type {string} */ other) => place === 'all' || other.startsWith(`${place}.`);
  const ever = map[place] ?? map[place.split('.')[0]] ?? map.all ?? '';
  const next = { ...map, [place]: withCells(ever, cells, hide) };
  for (const [other, text] of Object.entries(map))
    if (other !== place && inside(other)) next[other] = withCells(text, cells, hide);
  // Nothing hidden anywhere is as it was at first.
  return Object.values(next).some(Boolean) ? next : {};
}

/** Cells from one to the next: a hand is faster than the pointer's events. @param {Cell} from @param {Cell} to */
export function line(from, to) {
  const steps = Math.max(Math.abs(to.t - from.t), Math.abs(to.s - from.s), 1);
  return Array.from({ length: steps + 1 }, (_, i) => ({
    t: Math.round(from.t + (i / steps) * (to.t - from.t)),
    s: Math.round(from.s + (i / steps) * (to.s - from.s)),
  }));
}
