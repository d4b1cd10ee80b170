// Prints the share of lines of src/js, web and the core that the tests run. V8 counts the JavaScript that is run in
// Node and in Chromium. For the built bundles, source maps lead back to the sources. A line counts as run if any part
// of it was run. Arguments: the folder with V8's counts, and the export of llvm-cov.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { findFiles } from './check.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Required share of the lines, in percent. */
const GOALS = { 'src/js': 90, web: 80 };
const CORE_GOAL = 97;

/** V8's counts for a function. Positions are characters of its script. */
type CountedFunction = { ranges: { startOffset: number; endOffset: number; count: number }[] };
/** Offset in a script, source, source line and source column, counted from 0. */
type Place = [offset: number, source: string, line: number, column: number];
type Row = { path: string; all: number; run: number; missing: string };

/** Yields the mappings of a script. */
export function* placesOf(text: string, payload: SourceMapPayload): Generator<Place> {
  // Node reads a last segment that maps nothing as if it mapped something, unless a separator follows.
  const map = new SourceMap({ ...payload, mappings: `${payload.mappings};` });
  let start = 0;
  for (const [row, line] of text.split('\n').entries()) {
    for (let column = 0; column <= line.length; column++) {
      const entry = map.findEntry(row, column) as Partial<SourceMapping>;
      if (entry.generatedLine === row && entry.generatedColumn === column && entry.originalSource)
        yield [start + column, entry.originalSource, Number(entry.originalLine), Number(entry.originalColumn)];
    }
    start += line.length + 1;
  }
}

/**
 * Returns an array with a 1 for each character of a script that was run. If ranges are nested, the innermost one
 * counts.
 */
export function paint(length: number, functions: CountedFunction[]) {
  const ran = new Uint8Array(length);
  const inOrder = functions
    .map(({ ranges }) => ranges)
    .sort(([a], [b]) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const ranges of inOrder)
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

/** Returns the offset of each line. */
function lineStarts(text: string) {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return starts;
}

/** Returns every script that V8 counted, by its path, with a 1 for each character that any process has run. */
function readCounts(folder: string) {
  const scripts: Map<string, Uint8Array> = new Map();
  const prefix = pathToFileURL(ROOT).href;
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      if (!url.startsWith(prefix)) continue;
      const path = relative(ROOT, fileURLToPath(url));
      if (!/^(dist|src|web)\/.*\.(js|tsx?)$/.test(path) || !existsSync(join(ROOT, path))) continue;
      const ran = paint(readFileSync(join(ROOT, path), 'utf8').length, functions);
      const before = scripts.get(path);
      if (before) before.forEach((_, i) => (before[i] |= ran[i]));
      else scripts.set(path, ran);
    }
  }
  return scripts;
}

/** Returns the lines that were run, counted from 0, by the path of the source. */
function linesRun(scripts: Map<string, Uint8Array>) {
  const lines: Map<string, Set<number>> = new Map();
  const mark = (path: string, line: number) => lines.set(path, (lines.get(path) ?? new Set()).add(line));
  for (const [path, ran] of scripts) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const mapped = join(ROOT, `${path}.map`);
    if (!existsSync(mapped)) {
      const starts = lineStarts(text);
      starts.forEach((start, i) => ran.subarray(start, starts[i + 1]).includes(1) && mark(path, i));
      continue;
    }
    const places = placesOf(text, JSON.parse(readFileSync(mapped, 'utf8')));
    for (const [offset, source, line] of places)
      if (ran[offset]) mark(relative(ROOT, join(mapped, '..', source)), line);
  }
  return lines;
}

/** Imports and re-exports, which bundles do not contain. */
const LINKS = /(?<![^])(?:\s|\/\/.*|\/\*[^]*?\*\/|import\b[^;]*;)*|^export (?:\*|\{[^}]*\})(?: from .*)?;$/gm;

/** Returns the numbers of the lines of a file that contain code, counted from 0. */
export async function linesOf(path: string) {
  const source = readFileSync(join(ROOT, path), 'utf8').replace(LINKS, (text) => text.replace(/[^\n]/g, ' '));
  const { code, map } = await transform(source, {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    jsx: 'automatic',
    sourcemap: 'external',
  });
  const lines = Array.from(placesOf(code, JSON.parse(map)), ([, , line]) => line);
  return [...new Set(lines)].sort((a, b) => a - b);
}

/**
 * Returns ranges of line numbers as text: 2, 3, 4, 8, counted from 0, give "3–5, 9". Lines without code do not separate
 * ranges.
 */
function ranges(missing: number[], all: number[]) {
  const parts: [number, number][] = [];
  for (const line of missing) {
    const last = parts.at(-1);
    if (last && all.indexOf(line) === all.indexOf(last[1]) + 1) last[1] = line;
    else parts.push([line, line]);
  }
  return parts.map(([from, to]) => (from === to ? `${from + 1}` : `${from + 1}–${to + 1}`)).join(', ');
}

async function rowOf(path: string, run?: Set<number>): Promise<Row> {
  const all = await linesOf(path);
  const missing = all.filter((line) => !run?.has(line));
  return { path, all: all.length, run: all.length - missing.length, missing: ranges(missing, all) };
}

const share = ({ run, all }: Pick<Row, 'run' | 'all'>) => (all ? (100 * run) / all : 100);
const sum = (rows: Row[]) =>
  rows.reduce(({ run, all }, row) => ({ run: run + row.run, all: all + row.all }), { run: 0, all: 0 });

function print(title: string, rows: Row[]) {
  console.log(`\n${title}: ${share(sum(rows)).toFixed(1)}% of ${sum(rows).all} lines`);
  for (const row of rows) {
    const missing = row.missing && (row.run ? `not run: ${row.missing}` : 'never loaded');
    console.log(`  ${row.path.padEnd(36)} ${share(row).toFixed(1).padStart(5)}%  ${missing}`);
  }
}

function report(title: string, rows: Row[], goal: number) {
  print(title, rows);
  if (share(sum(rows)) >= goal) return;
  console.log(`${title}: less than ${goal}%`);
  process.exitCode = 1;
}

type ClangFile = { filename: string; summary: { lines: { count: number; covered: number } } };

/** Reads Clang's counts for the core. */
function coreRows(file: string): Row[] {
  const { data }: { data: { files: ClangFile[] }[] } = JSON.parse(readFileSync(file, 'utf8'));
  return data[0].files
    .filter(({ filename }) => filename.includes('src/core/'))
    .map(({ filename, summary: { lines } }) => ({
      path: relative(ROOT, filename),
      all: lines.count,
      run: lines.covered,
      missing: '',
    }));
}

async function main(counts: string, core?: string) {
  const run = linesRun(readCounts(counts));
  for (const [folder, goal] of Object.entries(GOALS)) {
    const files = findFiles(folder).filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'));
    const rows = await Promise.all(files.map((path) => rowOf(path, run.get(path))));
    report(folder, rows, goal);
  }
  if (core) report('src/core, by the native tests and random calls', coreRows(core), CORE_GOAL);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2], process.argv[3]);
