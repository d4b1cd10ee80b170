// Runs the tests: files that end with .test.js in the default tier, and in the full tier those that end with
// .full.test.js as well. Arguments:
//   --tier default | full
//   --node PATH      the Node that runs the files; default: this one
//   --only-module    only tests of the core and the module
//   --without TEXT   no file whose path contains it
//   --flavour NAME   the only flavour of the core that the tests use
//   --plan           print the files instead of running them
//   --targets        print what make must build for the files
//   NAME…            only files whose path contains one of the names, of either tier
// All files share one Chromium.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Time limit in milliseconds for a test file that hangs. Slow machines do not reach it. */
const HANGS = 1_800_000;
/**
 * Folders in the order in which their files are started. The longest tests are first, so that no core is idle at the
 * end.
 */
const ORDER = ['tests/web/', 'tests/js/', 'tests/core/', 'tests/'];

/** Returns the paths of all test files, relative to the root, the longest first. */
export function findTests() {
  const rank = (path) => ORDER.findIndex((folder) => path.startsWith(folder));
  return readdirSync(join(ROOT, 'tests'), { recursive: true })
    .map((name) => `tests/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.test.js') && !path.includes('node_modules'))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const isFull = (path) => path.endsWith('.full.test.js');
const isOfModule = (path) => /^tests\/(core|js)\//.test(path);

/** Selects the test files of a run. */
export function chooseTests(
  all: string[],
  {
    tier = 'default',
    onlyModule = false,
    without,
    names = [],
  }: { tier?: string; onlyModule?: boolean; without?: string; names?: string[] },
) {
  return all
    .filter((path) => names.length > 0 || tier === 'full' || !isFull(path))
    .filter((path) => !onlyModule || isOfModule(path))
    .filter((path) => !without || !path.includes(without))
    .filter((path) => names.length === 0 || names.some((name) => path.includes(name)));
}

/** True for a file that opens a browser, or runs the programs in the documents. */
const usesPage = (path) =>
  /^tests\/(web|package|adopt)\/|^tests\/[^/]+$|browser/.test(path) ||
  /support\/(page|chromium)\.js/.test(textOf(path));
/** True for a file that opens the built documentation. */
const usesDocs = (path) => /docs\.full\.test\.js$/.test(path);
/**
 * True for a file that needs all flavours of the core: a test of the build, a fuzz test, or a file that contains the
 * name of a flavour, of threads or of a built file.
 */
const usesAllFlavours = (path) =>
  /^tests\/(build|fuzz)\//.test(path) || /simd128|relaxed|threads|inline|dist\/headlight/.test(textOf(path));
const textOf = (path) => readFileSync(join(ROOT, path), 'utf8');

/** Returns the targets that make must build for a list of test files. */
export function targetsOf(files) {
  const targets = [];
  if (files.some((path) => path.includes('native'))) targets.push('native');
  if (files.some(usesDocs)) targets.push('docs');
  if (files.some(usesPage)) return [...targets, 'page', 'types'];
  if (files.some(usesAllFlavours)) return [...targets, 'module'];
  if (files.some((path) => path.startsWith('tests/js/'))) targets.push('one-module');
  if (files.some((path) => path.startsWith('tests/core/'))) targets.push('one-core');
  return targets;
}

/**
 * Starts the browser that all files share. Returns null if no file needs a browser, or if coverage is measured, for
 * which each file has its own browser.
 */
async function startBrowser(files) {
  if (process.env.CHROMIUM_COVERAGE || !files.some(usesPage)) return null;
  const { launchShared } = await import('../../tests/support/chromium.js');
  return launchShared();
}

async function run(node, files, { tier, flavour }) {
  const browser = await startBrowser(files);
  const options = [
    '--expose-gc',
    '--import=./tests/support/typescript.js',
    '--test',
    `--test-timeout=${HANGS}`,
    `--test-concurrency=${availableParallelism()}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
  ];
  const env = {
    ...process.env,
    ...(browser && { HEADLIGHT_CHROMIUM: browser.wsEndpoint() }),
    ...(flavour && { HEADLIGHT_FLAVOUR: flavour }),
    HEADLIGHT_TIER: tier ?? 'default',
    // Node stores compiled programs, so that playwright-core is compiled once for all files. Stored programs have no
    // exact coverage.
    ...(!process.env.NODE_V8_COVERAGE && { NODE_COMPILE_CACHE: join(ROOT, 'dist/compiled') }),
  };
  const child = spawn(node, [...options, ...files], { cwd: ROOT, env, stdio: 'inherit' });
  const [code, signal] = await new Promise((resolve) => child.on('exit', (...end) => resolve(end)));
  await browser?.close();
  process.exitCode = signal ? 1 : code;
}

async function main() {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      tier: { type: 'string' },
      node: { type: 'string', default: process.execPath },
      without: { type: 'string' },
      flavour: { type: 'string' },
      'only-module': { type: 'boolean' },
      plan: { type: 'boolean' },
      targets: { type: 'boolean' },
    },
  });
  const files = chooseTests(findTests(), { ...values, onlyModule: values['only-module'], names });
  if (files.length === 0) {
    console.error(`test: no test file has ${names.join(' or ')} in its path`);
    process.exitCode = 1;
  } else if (values.targets) console.log(targetsOf(files).join(' '));
  else if (values.plan) console.log(files.join('\n'));
  else await run(values.node, files, values);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
