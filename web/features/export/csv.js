// Weights as a CSV file, and file names.

import { shortest } from '../../ui/oklab.js';

/** @typedef {{ queries: string[], keys: string[], weights: Float32Array, shape: number[] }} Table weights (B,H,T,S) */

/** First characters of a formula in a spreadsheet, in half and full width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A text as one field. A spreadsheet would run some texts as formulas: an apostrophe before them makes them text. A
 * number has none. A text with a usual separator, or with space around it, is quoted.
 * @param {string} text
 */
export function field(text) {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * One head: keys across, queries down, every weight as the shortest decimal of its float32.
 * @param {Table} table
 * @param {{ batch: number, head: number }} which
 */
export function toCsv({ queries, keys, weights, shape: [, H, T, S] }, { batch, head }) {
  const first = (batch * H + head) * T * S;
  const rows = queries.map((query, t) => [
    field(query),
    ...Array.from(weights.subarray(first + t * S, first + (t + 1) * S), shortest),
  ]);
  return [['', ...keys.map(field)], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** A file name that is valid in every file system. @param {string[]} parts @param {string} extension */
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
