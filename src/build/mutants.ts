// Makes one small change to the sources at a time, and runs the tests until one fails. Prints the changes for which no
// test fails. The program works in a copy of the last commit. Arguments: the number of changes, a seed, and the tier:
// default, full, or near, which runs only the tests of the changed file.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { makeSource } from '../../tests/fuzz/source.js';
import { chooseTests, findTests } from './test.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Time limit of the tests in milliseconds, for changes that cause an endless loop. */
const ENDLESS = 1_500_000;
/** Time limit of one wait in the tests of the page, in milliseconds. */
const WAIT = 20_000;
const MADE_OF = /^(src\/core|src\/js|web)\/.*\.(c|h|tsx?)$/;
/** Files that are not changed, because they are texts or programs without tests. */
const NOT = /\b(en|zh|d)\.ts$|^web\/docs/;

/** The kinds of change: a pattern that matches a part of a line, and the replacement of this part. */
const CHANGES: [RegExp, (found: string) => string][] = [
  [/ (<=|>=|<|>) /g, (sign) => ({ ' <= ': ' < ', ' >= ': ' > ', ' < ': ' <= ', ' > ': ' >= ' })[sign] ?? sign],
  [/ (===|!==|==|!=) /g, (sign) => (sign.includes('!') ? sign.replace('!', '=') : sign.replace('=', '!'))],
  [/ (&&|\|\|) /g, (sign) => (sign === ' && ' ? ' || ' : ' && ')],
  [/ \?\? /g, () => ' && '],
  [/ [+*/] /g, (sign) => ({ ' + ': ' - ', ' * ': ' / ', ' / ': ' * ' })[sign] ?? sign],
  [/(?<=[\w)\]]) - /g, () => ' + '],
  [/ (\+|-)= /g, (sign) => (sign === ' += ' ? ' -= ' : ' += ')],
  [/(?<=\()!(?=\w)/g, () => ''],
  [/\b(true|false)\b/g, (word) => (word === 'true' ? 'false' : 'true')],
  [/(?<![\w.#'"`-])[1-9]\d*(?![\w.'"`])/g, (number) => String(Number(number) + 1)],
  [/(?<![\w.#'"`-])0(?![\w.'"`])/g, () => '1'],
  [/Math\.(min|max)\b/g, (name) => (name === 'Math.min' ? 'Math.max' : 'Math.min')],
  [/^ +[\w.]+\([^{}]*\);$/g, () => ';'],
  [/^( +)return (?!;).*;$/g, (line) => `${line.match(/^ +/)?.[0]}return undefined;`],
];

const isCode = (line: string) => !/^\s*(\/\/|\/?\*|import|export \*|#|\})/.test(line);
/** True if a change is in types or comments only, which no test can notice. */
function isSilent(path: string, before: string, after: string) {
  if (!/\.tsx?$/.test(path)) return false;
  const compile = (text: string) => transformSync(text, { loader: path.endsWith('x') ? 'tsx' : 'ts' }).code;
  try {
    return compile(before) === compile(after);
  } catch {
    return false;
  }
}

/** Returns a line with spaces instead of its comments. */
const withoutComments = (line: string) =>
  line.replace(/\/\*.*?(\*\/|$)|(?<=\s)\/\/ .*$/g, (comment) => ' '.repeat(comment.length));
/** line: counted from 0. before, after: this line. */
type Change = { path: string; line: number; before: string; after: string };
type Source = ReturnType<typeof makeSource>;

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });

/** Returns one random change of a copy of the project. */
function change(source: Source, folder: string, files: string[]): Change {
  for (;;) {
    const path: string = source.pick(files);
    const text = readFileSync(join(folder, path), 'utf8');
    const lines = text.split('\n');
    const line = source.below(lines.length);
    if (!isCode(lines[line])) continue;
    const [pattern, instead]: (typeof CHANGES)[number] = source.pick(CHANGES);
    const places = [...withoutComments(lines[line]).matchAll(pattern)];
    if (places.length === 0) continue;
    const place = source.pick(places);
    const end = place.index + place[0].length;
    const after = lines[line].slice(0, place.index) + instead(place[0]) + lines[line].slice(end);
    if (path.endsWith('.c') && after.includes('undefined')) continue;
    if (isSilent(path, text, lines.with(line, after).join('\n'))) continue;
    return { path, line, before: lines[line], after };
  }
}

/** Repeats each path in proportion to the length of the file, so that all lines are about equally likely. */
function weighted(folder: string, paths: string[]): string[] {
  return paths.flatMap((path) => Array(Math.ceil(readFileSync(join(folder, path), 'utf8').length / 1000)).fill(path));
}

/**
 * Returns the test files in the folder that corresponds to the changed file's folder, and those whose path contains the
 * name of the changed file; for a file of the page also the tests of the whole page.
 */
function related(path: string) {
  const name = basename(path).replace(/\.\w+$/, '');
  const folder = dirname(path).split('/').slice(1, 3).join('/');
  return chooseTests(findTests(), { tier: 'default' }).filter(
    (file) =>
      file.includes(`${folder}/`) ||
      file.includes(`/${name}.`) ||
      (path.startsWith('web/') && /web\/(screen|shown|layouts|flow|habits)/.test(file)),
  );
}

/**
 * Runs a program. Returns the name of the first test that fails, or the end of the output if the program fails
 * otherwise; null if it succeeds.
 */
function firstFailure(command: string, args: string[], folder: string): Promise<string | null> {
  const env = { ...process.env, HEADLIGHT_WAIT: String(WAIT) };
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve) => {
    let text = '';
    const end = (said: string | null) => {
      clearTimeout(timer);
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // It has ended already.
      }
      resolve(said);
    };
    const timer = setTimeout(() => end('no end'), ENDLESS);
    const read = (chunk: Buffer) => {
      text = (text + chunk).slice(-10_000);
      const failed = /^\s*✖ (.*)$/m.exec(text);
      if (failed) end(failed[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => end(code === 0 ? null : text.slice(-300)));
  });
}

async function notice(folder: string, { path }: Change, tier: string) {
  const make = ['-f', 'src/build/Makefile', '-j', String(availableParallelism()), 'page', 'module'];
  if (await firstFailure('make', [...make, `NODE=${process.execPath}`], folder)) return 'the build fails';
  const test = ['src/build/test.ts', '--node', process.execPath];
  const some = related(path);
  const near = some.length > 0 && (await firstFailure(process.execPath, [...test, ...some], folder));
  return near || (tier === 'near' ? null : firstFailure(process.execPath, [...test, '--tier', tier], folder));
}

const [count = '40', seed = '1', tier = 'default'] = process.argv.slice(2);
const folder = join(mkdtempSync(join(tmpdir(), 'mutants-')), 'headlight');
git('worktree', 'add', '--detach', folder, 'HEAD');
// The packages are copied as hard links, not as a link to the folder. Tests run build.sh, which installs packages that
// are older than the lock-file. With a link to the folder, build.sh would install the packages in this folder.
execFileSync('cp', ['-al', join(ROOT, 'node_modules'), folder]);
utimesSync(join(folder, 'node_modules/.package-lock.json'), new Date(), new Date());
// Copied with new times, like the sources, so that built files are up to date.
if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
const source = makeSource(Number(seed));
const files = weighted(
  folder,
  git('ls-files')
    .split('\n')
    .filter((path) => MADE_OF.test(path) && !NOT.test(path)),
);
let survivors = 0;
try {
  for (let i = 0; i < Number(count); ) {
    const made = change(source, folder, files);
    const target = join(folder, made.path);
    const text = readFileSync(target, 'utf8');
    const lines = text.split('\n');
    lines[made.line] = made.after;
    writeFileSync(target, lines.join('\n'));
    const began = Date.now();
    const noticed = await notice(folder, made, tier);
    writeFileSync(target, text);
    if (noticed === 'the build fails') continue;
    i++;
    const seconds = Math.round((Date.now() - began) / 1000);
    const said = noticed ? `noticed: ${noticed.slice(0, 100)}` : 'NOT NOTICED';
    console.log(`${i} ${made.path}:${made.line + 1} ${said} (${seconds} s)`);
    if (noticed) continue;
    survivors++;
    console.log(`  - ${made.before.trim()}\n  + ${made.after.trim()}`);
  }
  console.log(`${Number(count) - survivors} of ${count} are noticed`);
} finally {
  git('worktree', 'remove', '--force', folder);
  rmSync(dirname(folder), { recursive: true, force: true });
}
