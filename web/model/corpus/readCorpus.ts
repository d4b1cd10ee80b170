// Reads the visitor's own texts as passages, from plain text, JSON lines, JSON, or a table of comma- or tab-separated
// values. Texts that cannot be read are counted with the reason.

import { readTable } from './readTable.ts';

export type ProblemCode =
  | 'empty'
  | 'notJson'
  | 'noText'
  | 'unclosed'
  | 'format'
  | 'unreadable'
  | 'damaged'
  | 'compression';
/** A text that cannot be read. place: number of its line, row or passage, counted from 1. */
export type CorpusProblem = { code: ProblemCode; place: number; file?: string };
export type ReadTexts = {
  passages: string[];
  /** names of the columns that contain texts; none for plain text */
  columns: string[];
  /** the column that is read */
  column: string | null;
  problems: CorpusProblem[];
  /** number of passages, including those that cannot be read */
  whole: number;
};
export type Entry = { value: unknown; place: number };

/** Approximate number of characters of a token. Texts that are longer than a passage are divided accordingly. */
const CHARACTERS = 4;
/** Maximum number of rows that are read from the beginning of a Parquet file. */
export const MAX_ROWS = 20_000;

/** Returns the format of a file, according to the end of its name. */
export function formatOf(name: string): 'txt' | 'jsonl' | 'csv' | 'tsv' | 'json' | 'parquet' | null {
  const [, end = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  if (end === 'ndjson') return 'jsonl';
  if (['md', 'text'].includes(end)) return 'txt';
  return (['txt', 'jsonl', 'csv', 'tsv', 'json', 'parquet'].includes(end) ? end : null) as ReturnType<typeof formatOf>;
}

export function formatOfPasted(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isJson = (line: string) => {
    try {
      return typeof JSON.parse(line) === 'object';
    } catch {
      return false;
    }
  };
  if (/^\s*\[/.test(text) && isJson(text)) return 'json';
  return lines.length > 0 && lines.every((line) => /^\s*\{/.test(line) && isJson(line)) ? 'jsonl' : 'txt';
}

/** `length`: of a passage, in tokens. */
export function readCorpus(
  text: string,
  format: 'txt' | 'jsonl' | 'csv' | 'tsv' | 'json',
  { length, column }: { length: number; column?: string | null },
): ReadTexts {
  const clean = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  if (format === 'txt') return fromTexts(paragraphsOf(clean), [], length);
  const { entries, problems } = entriesOf(clean, format);
  const columns = textColumns(entries);
  // A list of plain strings has no columns.
  const chosen = columns.length === 0 ? null : columns.includes(column ?? '') ? String(column) : columns[0];
  const texts = entries.map(({ value, place }) => ({ value: chosen === null ? value : fieldOf(value, chosen), place }));
  return { ...fromTexts(texts, problems, length), columns, column: chosen };
}

/** Divides a text into paragraphs, or into lines if it has no empty line. */
function paragraphsOf(text: string): Entry[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const parts = /\n[ \t]*\n/.test(trimmed) ? trimmed.split(/\n(?:[ \t]*\n)+/) : trimmed.split('\n');
  return parts.map((value, i) => ({ value, place: i + 1 }));
}

function entriesOf(
  text: string,
  format: 'jsonl' | 'csv' | 'tsv' | 'json',
): { entries: Entry[]; problems: CorpusProblem[] } {
  if (format === 'csv' || format === 'tsv') return readTable(text, format === 'csv' ? ',' : '\t');
  if (format === 'json') {
    try {
      const all = JSON.parse(text);
      const list = Array.isArray(all) ? all : [all];
      return { entries: list.map((value, i) => ({ value, place: i + 1 })), problems: [] };
    } catch {
      return { entries: [], problems: [{ code: 'notJson', place: 1 }] };
    }
  }
  const entries: Entry[] = [];
  const problems: CorpusProblem[] = [];
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return;
    try {
      entries.push({ value: JSON.parse(line), place: i + 1 });
    } catch {
      problems.push({ code: 'notJson', place: i + 1 });
    }
  });
  return { entries, problems };
}

const fieldOf = (value: unknown, column: string): unknown =>
  value && typeof value === 'object' ? (value as Record<string, unknown>)[column] : undefined;

/** Returns the columns that contain texts, the column with the most characters first. */
function textColumns(entries: Entry[]) {
  const sizes: Map<string, number> = new Map();
  for (const { value } of entries) {
    if (!value || typeof value !== 'object' || Array.isArray(value)) continue;
    for (const [name, field] of Object.entries(value))
      if (typeof field === 'string') sizes.set(name, (sizes.get(name) ?? 0) + field.length);
  }
  return [...sizes].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/** `length`: of a passage, in tokens. */
function fromTexts(entries: Entry[], before: CorpusProblem[], length: number): ReadTexts {
  const problems = [...before];
  const passages: string[] = [];
  for (const { value, place } of entries) {
    if (typeof value !== 'string') problems.push({ code: 'noText', place });
    else if (value.trim() === '') problems.push({ code: 'empty', place });
    // A text may have more parts than a call can have arguments.
    else for (const part of divided(value.trim().replace(/\s*\n\s*/g, ' '), CHARACTERS * length)) passages.push(part);
  }
  problems.sort((a, b) => a.place - b.place);
  return { passages, columns: [], column: null, problems, whole: passages.length + problems.length };
}

/** Divides a text at spaces into parts of about the same length, at most `most` characters. */
function divided(text: string, most: number) {
  const count = Math.ceil(text.length / most);
  if (count === 1) return [text];
  const size = text.length / count;
  const parts: string[] = [];
  let from = 0;
  for (let i = 1; i <= count; i++) {
    const space = i === count ? text.length : text.indexOf(' ', Math.round(i * size));
    // A text without spaces is divided at any character.
    const to = space < 0 || space - from > 2 * most ? Math.round(i * size) : space;
    const part = text.slice(from, to).trim();
    if (part) parts.push(part);
    from = Math.max(from, to);
  }
  return parts;
}

/** Joins files into one corpus. texts: null for a file that is not read; code: the reason, default: unknown format. */
export function joinCorpora(
  files: readonly { name: string; texts: ReadTexts | null; code?: ProblemCode }[],
): ReadTexts {
  const read = files.flatMap(({ texts }) => texts ?? []);
  const problems = files.flatMap(({ name, texts, code = 'format' }) =>
    texts
      ? texts.problems.map((problem) => ({ ...problem, file: name }))
      : [{ code, place: 0, file: name } as CorpusProblem],
  );
  const passages = read.flatMap((texts) => texts.passages);
  const columns = [...new Set(read.flatMap((texts) => texts.columns))];
  const column = read.find((texts) => texts.column !== null)?.column ?? null;
  return { passages, columns, column, problems, whole: passages.length + problems.length };
}
