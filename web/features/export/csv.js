// Weights as a table, and names of files.

import { shortest } from '../../ui/oklab.js';

/** @typedef {{ queries: string[], keys: string[], weights: Float32Array, shape: number[] }} Whole (B,H,T,S) */

/** What a spreadsheet takes for the beginning of a formula, in either width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A text as one cell. A spreadsheet would run some texts as formulas: an apostrophe before them makes them text.
 * Numbers stay numbers. Quoted where one of the usual separators, or space around it, might be misread.
 * @param {string} text
 */
function field(text) {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * One head: keys across, queries down, every weight as the shortest decimal of its float32.
 * @param {Whole} whole
 * @param {{ batch: number, head: number }} which
 */
export function toCsv({ queries, keys, weights, shape: [, H, T, S] }, { batch, head }) {
  const at = (batch * H + head) * T * S;
  const rows = queries.map((query, t) => [
    field(query),
    ...Array.from(weights.subarray(at + t * S, at + (t + 1) * S), shortest),
  ]);
  return [['', ...keys.map(field)], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** A name that every file system takes. @param {string[]} parts @param {string} extension */
export function fileName(parts, extension) {
  const name = parts
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return `${
    [...name]
      .slice(0, 60)
      .join('')
      .replace(/[-.]+$/, '') || 'headlight'
  }.${extension}`;
}
