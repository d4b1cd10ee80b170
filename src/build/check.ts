// Static checks: formatting, lint, types, the length of lines, imports between folders, subjects of commits. As a
// program it runs the checks that its arguments name, all of them by default, and exits with 1 if one of them has a
// finding.

import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkArrows } from './arrows.ts';
import { wrongSubject } from './commits.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WIDTH = 120;
/** Options of clang-tidy: those of a build for WebAssembly with all features. */
const TARGET =
  '--target=wasm32 -msimd128 -mrelaxed-simd -mbulk-memory -matomics -DHL_OWN_MEMORY -std=c17 -Isrc/core'.split(' ');
const TEXT = new Set(['.js', '.jsx', '.ts', '.tsx', '.c', '.h', '.css', '.html', '.json', '.yml', '.sh', '']);
/** Generated or installed files and folders, which are not checked. */
const FOREIGN = new Set(['node_modules', 'dist', 'golden', 'package-lock.json', 'results.json', '.git', 'LICENSE']);
/** Texts of the page: one per line for translators, without a limit of length. */
const TEXTS = /^web\/.*\b(en|zh)\.ts$/;

/** Returns the paths, relative to the root, of files that people write. */
export function findFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !FOREIGN.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? findFiles(path) : entry.isFile() ? [path] : [];
    });
}

/** Returns the numbers of the lines that are too long, counted from 1. */
export function longLines(text: string) {
  return text.split('\n').flatMap((line, i) => ([...line].length > WIDTH ? [i + 1] : []));
}

/** Runs a program in the root. Returns the program's output if it fails, otherwise ''. */
async function run(command: string, args: string[]) {
  try {
    await promisify(execFile)(command, args, { cwd: ROOT, maxBuffer: 2 ** 26 });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Partial<ExecFileException>;
    return `${stdout}${stderr}` || String(message);
  }
}

const bin = (name: string, ...args: string[]) => run(join(ROOT, 'node_modules/.bin', name), args);
const inC = () => findFiles().filter((path) => /\.[ch]$/.test(path));

function checkLines() {
  return findFiles()
    .filter((path) => TEXT.has(extname(path)) && !TEXTS.test(path))
    .flatMap((path) => longLines(readFileSync(join(ROOT, path), 'utf8')).map((line) => `${path}:${line}`))
    .map((place) => `${place}: more than ${WIDTH} columns`)
    .join('\n');
}

/**
 * Checks the subjects of the commits since the last tag or, if there is no tag, since this check was added. Without Git
 * there are no findings.
 */
async function checkCommits() {
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trim();
  try {
    const first = await git('log', '--diff-filter=A', '--format=%H', '--', 'src/build/commits.ts');
    const from = await git('describe', '--tags', '--abbrev=0').catch(() => first.split('\n').at(-1));
    const subjects = from ? await git('log', '--format=%s', `${from}..HEAD`) : '';
    return subjects
      .split('\n')
      .filter(Boolean)
      .map((subject) => ({ subject, wrong: wrongSubject(subject) }))
      .flatMap(({ subject, wrong }) => (wrong ? [`${subject}: ${wrong}`] : []))
      .join('\n');
  } catch {
    return '';
  }
}

/**
 * Checks the types of the module, the page and the build programs with the make rules that write their declarations.
 */
const checkTypes = () =>
  run('make', ['-f', 'src/build/Makefile', '--no-print-directory', 'types', `NODE=${process.env.NODE ?? 'node'}`]);

/**
 * Checks each file separately, except those that have not changed since they last passed.
 * @param common files on which every result depends
 */
async function checkChanged(name: string, files: string[], common: string[], check: (path: string) => Promise<string>) {
  const passed = new Set(readPassed(name));
  const due = files.map((path) => ({ path, key: digestOf(['src/build/check.ts', ...common, path]) }));
  const findings = await inTurn(
    due.filter(({ key }) => !passed.has(key)),
    async ({ path, key }) => {
      const found = await check(path);
      if (!found) passed.add(key);
      return found;
    },
  );
  writePassed(
    name,
    due.map(({ key }) => key).filter((key) => passed.has(key)),
  );
  return findings.filter(Boolean).join('\n');
}

const tidy = (path: string) => run('clang-tidy-19', ['--quiet', path, '--', ...TARGET]);
const tidied = () => inC().filter((path) => path.startsWith('src/core/') && path.endsWith('.c'));
const headers = () => inC().filter((path) => path.endsWith('.h'));

const fileOfPassed = (name: string) => join(ROOT, 'dist/check', `${name}.json`);
const readPassed = (name: string): string[] =>
  existsSync(fileOfPassed(name)) ? JSON.parse(readFileSync(fileOfPassed(name), 'utf8')) : [];

function writePassed(name: string, keys: string[]) {
  mkdirSync(dirname(fileOfPassed(name)), { recursive: true });
  writeFileSync(fileOfPassed(name), JSON.stringify(keys));
}

function digestOf(paths: string[]) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

/** Maps asynchronously, one item per core at a time. */
async function inTurn<Item, Result>(list: Item[], map: (item: Item) => Promise<Result>) {
  const results: Result[] = new Array(list.length);
  let next = 0;
  const work = async () => {
    while (next < list.length) {
      const i = next++;
      results[i] = await map(list[i]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;
}

/** Each returns its findings, or an empty text. */
const CHECKS: Record<string, () => string | Promise<string>> = {
  lines: checkLines,
  commits: checkCommits,
  biome: () => bin('biome', 'check', '--assist-enabled=false', '--error-on-warnings', '.'),
  'clang-format': () =>
    checkChanged('clang-format', inC(), ['.clang-format'], (path) =>
      run('clang-format-19', ['--dry-run', '-Werror', path]),
    ),
  arrows: checkArrows,
  types: checkTypes,
  'clang-tidy': () => checkChanged('clang-tidy', tidied(), ['.clang-tidy', ...headers()], tidy),
};

async function main(names: string[]) {
  for (const name of names) {
    const start = performance.now();
    const found = await CHECKS[name]();
    console.log(`check: ${name} ${found ? 'FOUND' : 'ok'} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    if (found) {
      console.log(found.trimEnd());
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  await main(names.length ? names : Object.keys(CHECKS));
}
