// Builds twice everything that is shipped, and compares the bytes of the npm package and of every file of the page.
// Each time it builds from a clean copy of the sources, in a folder with another name. As a program: node
// src/build/reproduce.ts

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** On the same disk as the sources, so that the packages can be linked instead of copied. */
const FOLDER = join(ROOT, 'dist/reproduce');
/** The two copies, with different environments. */
const COPIES = [
  { name: 'one', env: { TZ: 'UTC', LC_ALL: 'C' } },
  { name: 'another-name', env: { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' } },
];

/** Copies the sources, including those that are not committed yet. */
function copySources(to: string) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const path of listed.toString().split('\0').filter(Boolean)) {
    mkdirSync(join(to, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path), { preserveTimestamps: true });
  }
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), to]);
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/**
 * Returns digests of a build's files, { path: digest }. Object files are left out, because they contain the name of
 * their folder and are not shipped.
 */
function digests(folder: string): Record<string, string> {
  const paths = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(folder, 'dist/obj')));
  return Object.fromEntries(paths.sort().map((path) => [path.slice(folder.length + 1), digest(readFileSync(path))]));
}

function buildCopy({ name, env }: { name: string; env: Record<string, string> }): Record<string, string> {
  const folder = join(FOLDER, name);
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 2 ** 26 });
  console.log(`reproduce: building ${folder.slice(ROOT.length)}`);
  copySources(folder);
  run('./build.sh', 'package');
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--loglevel=error'));
  return { ...digests(folder), [filename]: digest(readFileSync(join(folder, filename))) };
}

rmSync(FOLDER, { recursive: true, force: true });
const [one, other] = COPIES.map(buildCopy);
const paths = [...new Set([...Object.keys(one), ...Object.keys(other)])];
const different = paths.filter((path) => one[path] !== other[path]);
for (const path of different) console.log(`reproduce: ${path} differs`);
if (different.length) process.exitCode = 1;
else {
  const archive = paths[paths.length - 1];
  console.log(`reproduce: ${paths.length} files, the same bytes twice; ${archive} has sha256 ${one[archive]}`);
  rmSync(FOLDER, { recursive: true });
}
