// Reads a table of values with a separator, such as CSV (RFC 4180), whose first row is a header. Quoted fields may
// contain separators, doubled quotes, and line breaks.

import type { CorpusProblem, Entry } from './readCorpus.ts';

/** lines: number of the first line of each row, from 1; unclosed: true if the last quote has no end. */
export function rowsOf(text: string, separator: string): { rows: string[][]; lines: number[]; unclosed: boolean } {
  const rows: string[][] = [];
  const lines: number[] = [];
  let row: string[] = [];
  let [field, quoted, at, line, begun] = ['', false, 0, 1, 1];
  const endRow = () => {
    row.push(field);
    if (row.length > 1 || row[0] !== '') {
      rows.push(row);
      lines.push(begun);
    }
    [row, field, begun] = [[], '', line];
  };
  for (; at < text.length; at++) {
    const sign = text[at];
    if (sign === '\n') line++;
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (sign === '"' && field === '') quoted = true;
    else if (sign === separator) {
      row.push(field);
      field = '';
    } else if (sign === '\n') endRow();
    else field += sign;
  }
  endRow();
  return { rows, lines, unclosed: quoted };
}

/** Returns the rows of a table as objects, whose properties have the names in the first row. */
export function readTable(text: string, separator: string): { entries: Entry[]; problems: CorpusProblem[] } {
  const { rows, lines, unclosed } = rowsOf(text, separator);
  const [names = [], ...others] = rows;
  const entries = others.map((row, i) => ({
    value: Object.fromEntries(names.map((name, n) => [name.trim() || `column ${n + 1}`, row[n] ?? ''])),
    place: lines[i + 1],
  }));
  if (!unclosed) return { entries, problems: [] };
  // A quote without an end makes the rest of the table part of one field, so the last row is dropped.
  const last = entries.pop();
  return { entries, problems: [{ code: 'unclosed', place: last?.place ?? 1 }] };
}
