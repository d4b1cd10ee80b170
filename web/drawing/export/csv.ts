// Writes weights as a CSV file, and makes file names.

import { shortest } from '../../ui/oklab.ts';

/** weights (B,H,T,S) */
export type Table = { queries: string[]; keys: string[]; weights: Float32Array; shape: number[] };

/** The characters with which a spreadsheet formula begins, in half and full width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Returns a text as one field, quoted if needed, after an apostrophe if a spreadsheet would run it as a formula. */
export function field(text: string) {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Returns one head as CSV: a column per key, a row per query, each weight as the shortest decimal of its float32. */
export function toCsv(
  { queries, keys, weights, shape: [, H, T, S] }: Table,
  { batch, head }: { batch: number; head: number },
) {
  const first = (batch * H + head) * T * S;
  const rows = queries.map((query, t) => [
    field(query),
    ...Array.from(weights.subarray(first + t * S, first + (t + 1) * S), shortest),
  ]);
  return [['', ...keys.map(field)], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Returns a file name that is valid in every file system. */
export function fileName(parts: string[], extension: string) {
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
