// Everything that can be checked without running the code: formatting, lint, types, the length of lines.
// As a program: runs all of it and ends with 1 where something was found. Arguments: names of checks; none means all.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WIDTH = 120;
/** What clang-tidy is told of the core: it is read as it is built for WebAssembly, with everything switched on. */
const TARGET = '--target=wasm32 -msimd128 -mrelaxed-simd -mbulk-memory -matomics -std=c17 -Isrc/core'.split(' ');
const TEXT = new Set(['.js', '.jsx', '.ts', '.c', '.h', '.css', '.html', '.json', '.yml', '.sh', '']);
/** Written by programs, or installed. */
const FOREIGN = new Set(['node_modules', 'dist', 'golden', 'package-lock.json', 'results.json', '.git', 'LICENSE']);
/** Texts of the page: one a line, however long, as translators need them. */
const TEXTS = /^web\/model\/strings\..*\.js$/;

/** Files that people write, relative to the root. */
export function findFiles(folder = '') {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !FOREIGN.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? findFiles(path) : entry.isFile() ? [path] : [];
    });
}

/** Lines of a text that are longer than the house allows, counted from 1. */
export function longLines(text) {
  return text.split('\n').flatMap((line, i) => ([...line].length > WIDTH ? [i + 1] : []));
}

/** Runs a program in the root; what it says is the finding, nothing where it is content. */
async function run(command, args) {
  try {
    await promisify(execFile)(command, args, { cwd: ROOT, maxBuffer: 2 ** 26 });
    return '';
  } catch (error) {
    return `${error.stdout ?? ''}${error.stderr ?? ''}` || error.message;
  }
}

const bin = (name, ...args) => run(join(ROOT, 'node_modules/.bin', name), args);
const inC = () => findFiles().filter((path) => /\.[ch]$/.test(path));

function checkLines() {
  return findFiles()
    .filter((path) => TEXT.has(extname(path)) && !TEXTS.test(path))
    .flatMap((path) => longLines(readFileSync(join(ROOT, path), 'utf8')).map((line) => `${path}:${line}`))
    .map((place) => `${place}: more than ${WIDTH} columns`)
    .join('\n');
}

/** Types of a TypeScript project; what was found out is kept in dist/check for the next time. */
function checkTypes(project) {
  const kept = `dist/check/${project.replaceAll('/', '-')}.tsbuildinfo`;
  const quiet = ['--noEmit', '--emitDeclarationOnly', 'false', '--declaration', 'false'];
  return bin('tsc', '-p', project, ...quiet, '--incremental', '--tsBuildInfoFile', kept);
}

/** clang-tidy over the core, file by file; those that have not changed since they passed are left out. */
async function checkC() {
  const passed = new Set(readPassed());
  const common = inC().filter((path) => path.endsWith('.h'));
  const digest = (path) => digestOf(['.clang-tidy', 'src/build/check.js', ...common, path]);
  const files = inC().filter((path) => path.startsWith('src/core/') && path.endsWith('.c'));
  const due = files.map((path) => ({ path, key: digest(path) }));
  const findings = await inTurn(
    due.filter(({ key }) => !passed.has(key)),
    async ({ path, key }) => {
      const found = await run('clang-tidy-19', ['--quiet', path, '--', ...TARGET]);
      if (!found) passed.add(key);
      return found;
    },
  );
  writePassed(due.map(({ key }) => key).filter((key) => passed.has(key)));
  return findings.filter(Boolean).join('\n');
}

const PASSED = join(ROOT, 'dist/check/clang-tidy.json');
const readPassed = () => (existsSync(PASSED) ? JSON.parse(readFileSync(PASSED, 'utf8')) : []);

function writePassed(keys) {
  mkdirSync(dirname(PASSED), { recursive: true });
  writeFileSync(PASSED, JSON.stringify(keys));
}

function digestOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

/** Maps with as many at once as there are cores. */
async function inTurn(list, map) {
  const results = new Array(list.length);
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

const CHECKS = {
  lines: checkLines,
  biome: async () => (await bin('biome', 'format', '.')) + (await bin('biome', 'lint', '--error-on-warnings', '.')),
  'clang-format': () => run('clang-format-19', ['--dry-run', '-Werror', ...inC()]),
  types: () => checkTypes('tsconfig.json'),
  'types of the page': () => checkTypes('web/tsconfig.json'),
  'clang-tidy': checkC,
};

async function main(names) {
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
