// Reads the visitor's own texts as passages, from plain text, JSON lines, JSON, or a table of comma- or tab-separated
// values. Texts that cannot be read are counted with the reason.

import { readTable } from './readTable.js';

/**
 * @typedef {'empty' | 'notJson' | 'noText' | 'unclosed' | 'format' | 'unreadable' | 'damaged' | 'compression'}
 *   ProblemCode
 */
/**
 * A text that cannot be read. place: number of its line, row or passage, counted from 1.
 * @typedef {{ code: ProblemCode, place: number, file?: string }} CorpusProblem
 */
/**
 * @typedef {object} ReadTexts
 * @property {string[]} passages
 * @property {string[]} columns names of the columns that contain texts; none for plain text
 * @property {string | null} column the column that is read
 * @property {CorpusProblem[]} problems
 * @property {number} whole number of passages, including those that cannot be read
 */
/** @typedef {{ value: unknown, place: number }} Entry */

/** Approximate number of characters of a token. Texts that are longer than a passage are divided accordingly. */
const CHARACTERS = 4;
/** Maximum number of rows that are read from the beginning of a Parquet file. */
export const MAX_ROWS = 20_000;

/**
 * Returns the format of a file, according to the end of its name.
 * @param {string} name
 * @returns {'txt' | 'jsonl' | 'csv' | 'tsv' | 'json' | 'parquet' | null}
 */
export function formatOf(name) {
  const [, end = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  if (end === 'ndjson') return 'jsonl';
  if (['md', 'text'].includes(end)) return 'txt';
  return /** @type {any} */ (['txt', 'jsonl', 'csv', 'tsv', 'json', 'parquet'].includes(end) ? end : null);
}

/** Detects the format of a pasted text. @param {string} text */
export function formatOfPasted(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isJson = (/** @type {string} */ line) => {
    try {
      return typeof JSON.parse(line) === 'object';
    } catch {
      return false;
    }
  };
  if (/^\s*\[/.test(text) && isJson(text)) return 'json';
  return lines.length > 0 && lines.every((line) => /^\s*\{/.test(line) && isJson(line)) ? 'jsonl' : 'txt';
}

/**
 * @param {string} text
 * @param {'txt' | 'jsonl' | 'csv' | 'tsv' | 'json'} format
 * @param {{ length: number, column?: string | null }} options length: of a passage, in tokens
 * @returns {ReadTexts}
 */
export function readCorpus(text, format, { length, column }) {
  const clean = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  if (format === 'txt') return fromTexts(paragraphsOf(clean), [], length);
  const { entries, problems } = entriesOf(clean, format);
  const columns = textColumns(entries);
  // A list of plain strings has no columns.
  const chosen = columns.length === 0 ? null : columns.includes(column ?? '') ? String(column) : columns[0];
  const texts = entries.map(({ value, place }) => ({ value: chosen === null ? value : fieldOf(value, chosen), place }));
  return { ...fromTexts(texts, problems, length), columns, column: chosen };
}

/**
 * Divides a text into paragraphs, or into lines if it has no empty line.
 * @param {string} text
 * @returns {Entry[]}
 */
function paragraphsOf(text) {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const parts = /\n[ \t]*\n/.test(trimmed) ? trimmed.split(/\n(?:[ \t]*\n)+/) : trimmed.split('\n');
  return parts.map((value, i) => ({ value, place: i + 1 }));
}

/**
 * @param {string} text
 * @param {'jsonl' | 'csv' | 'tsv' | 'json'} format
 * @returns {{ entries: Entry[], problems: CorpusProblem[] }}
 */
function entriesOf(text, format) {
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
  /** @type {Entry[]} */
  const entries = [];
  /** @type {CorpusProblem[]} */
  const problems = [];
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

/** @param {unknown} value @param {string} column @returns {unknown} */
const fieldOf = (value, column) =>
  value && typeof value === 'object' ? /** @type {Record<string, unknown>} */ (value)[column] : undefined;

/** Returns the columns that contain texts, the column with the most characters first. @param {Entry[]} entries */
function textColumns(entries) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const { value } of entries) {
    if (!value || typeof value !== 'object' || Array.isArray(value)) continue;
    for (const [name, field] of Object.entries(value))
      if (typeof field === 'string') sizes.set(name, (sizes.get(name) ?? 0) + field.length);
  }
  return [...sizes].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/**
 * @param {Entry[]} entries
 * @param {CorpusProblem[]} before
 * @param {number} length of a passage, in tokens
 * @returns {ReadTexts}
 */
function fromTexts(entries, before, length) {
  const problems = [...before];
  /** @type {string[]} */
  const passages = [];
  for (const { value, place } of entries) {
    if (typeof value !== 'string') problems.push({ code: 'noText', place });
    else if (value.trim() === '') problems.push({ code: 'empty', place });
    // A text may have more parts than a call can have arguments.
    else for (const part of divided(value.trim().replace(/\s*\n\s*/g, ' '), CHARACTERS * length)) passages.push(part);
  }
  problems.sort((a, b) => a.place - b.place);
  return { passages, columns: [], column: null, problems, whole: passages.length + problems.length };
}

/**
 * Divides a text at spaces into parts of about the same length.
 * @param {string} text @param {number} most of a part, in characters
 */
function divided(text, most) {
  const count = Math.ceil(text.length / most);
  if (count === 1) return [text];
  const size = text.length / count;
  /** @type {string[]} */
  const parts = [];
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

/**
 * Joins several files into one corpus. texts: null for a file that is not read; code: the reason in that case, by
 * default an unknown format.
 * @param {readonly { name: string, texts: ReadTexts | null, code?: ProblemCode }[]} files
 * @returns {ReadTexts}
 */
export function joinCorpora(files) {
  const read = files.flatMap(({ texts }) => texts ?? []);
  const problems = files.flatMap(({ name, texts, code = 'format' }) =>
    texts
      ? texts.problems.map((problem) => ({ ...problem, file: name }))
      : [/** @type {CorpusProblem} */ ({ code, place: 0, file: name })],
  );
  const passages = read.flatMap((texts) => texts.passages);
  const columns = [...new Set(read.flatMap((texts) => texts.columns))];
  const column = read.find((texts) => texts.column !== null)?.column ?? null;
  return { passages, columns, column, problems, whole: passages.length + problems.length };
}
