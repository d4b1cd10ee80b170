// Without arguments, prints the files that load() reads in a page, and the size of a bundle that uses only a
// learning-rate schedule; fails if a limit is exceeded. With two folders as arguments, `dist` before and after a
// change, prints the built files whose size differs, as a table in Markdown.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const SHIPPED = /\.(js|wasm|html)$/;
/** Bundled parts that load() imports. Other parts are loaded when a program uses them. */
const IMPORTED_BY_LOAD = /^\.\/layers-/;

/**
 * Limits of requests and of sizes in bytes. Multi-head attention, layers and transformers are created by synchronous
 * functions, so load() must load their code. The core is 46 kB of this code.
 */
export const LIMITS = { requests: 6, compressed: 115_000, bundle: 3_600, bundleCompressed: 1_700 };

export type Size = { name: string; bytes: number; compressed: number };

const sizeOf = (name: string, content: Uint8Array): Size => ({
  name,
  bytes: content.length,
  compressed: gzipSync(content, { level: 9 }).length,
});
/** Removes the hash of the content, with which the name of a bundled part ends. */
const withoutHash = (name: string) => name.replace(/-([\da-f]{7}|[\w-]{8})\.js$/, '.js');

/** Returns the files that load() reads in a page, with the largest binary without threads. */
export function firstLoad(folder: string = DIST): Size[] {
  const files: Map<string, Size> = new Map();
  const follow = (name: string) => {
    if (files.has(name)) return;
    const content = readFileSync(join(folder, name));
    files.set(name, sizeOf(name, content));
    for (const [, late, path] of content.toString().matchAll(/\b(?:from|import(\()?)"(\.[^"]+\.js)"/g))
      if (!late || IMPORTED_BY_LOAD.test(path)) follow(join(dirname(name), path));
  };
  follow('headlight.js');
  const binaries = readdirSync(folder)
    .filter((name) => /^headlight\.\w+\.wasm$/.test(name))
    .map((name) => sizeOf(name, readFileSync(join(folder, name))));
  binaries.sort((a, b) => b.compressed - a.compressed);
  return [...files.values(), ...binaries.slice(0, 1)];
}

/** Functions that bundle a program and return the code, by bundler. */
const BUNDLERS: Record<string, (code: string) => Promise<string>> = {
  async esbuild(code) {
    const { build } = await import('esbuild');
    const stdin = { contents: code, resolveDir: DIST };
    const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', minify: true, write: false });
    return outputFiles[0].text;
  },
  async rolldown(code) {
    const { rolldown } = await import('rolldown');
    const find = (id: string) => (id === 'program' ? id : null);
    const program = { name: 'program', resolveId: find, load: (id: string) => find(id) && code };
    const bundle = await rolldown({ input: 'program', plugins: [program], logLevel: 'silent' });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    const chunks = new Map(output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part]] : [])));
    // Counts only the parts that the program imports at the start, not the parts that are loaded later.
    const used = new Set([output[0].fileName]);
    for (const name of used) for (const other of chunks.get(name)?.imports ?? []) used.add(other);
    return [...used].map((name) => chunks.get(name)?.code).join('');
  },
};

/** Bundles a program that imports one name of the module and nothing else, with each bundler. */
export function bundled(name: string): Promise<Size[]> {
  const code = `export { ${name} } from ${JSON.stringify(join(DIST, 'headlight.js'))};`;
  return Promise.all(
    Object.entries(BUNDLERS).map(async ([bundler, bundle]) => sizeOf(bundler, Buffer.from(await bundle(code)))),
  );
}

/** Returns a text for each number that exceeds its limit. */
function findExcess(files: Size[], bundles: Size[]) {
  const over = (what: string, got: number, limit: number) => (got > limit ? [`${what}: ${got}, at most ${limit}`] : []);
  return [
    ...over('requests of load()', files.length, LIMITS.requests),
    ...over(
      'compressed bytes of load()',
      files.reduce((sum, { compressed }) => sum + compressed, 0),
      LIMITS.compressed,
    ),
    ...bundles.flatMap(({ name, bytes, compressed }) => [
      ...over(`bytes of a schedule bundled by ${name}`, bytes, LIMITS.bundle),
      ...over(`compressed bytes of a schedule bundled by ${name}`, compressed, LIMITS.bundleCompressed),
    ]),
  ];
}

function print(title: string, sizes: Size[]) {
  console.log(`${title}\n      bytes  compressed`);
  for (const { name, bytes, compressed } of sizes)
    console.log(`  ${String(bytes).padStart(9)} ${String(compressed).padStart(11)}  ${withoutHash(name)}`);
}

async function printFigures() {
  const files = firstLoad();
  const bundles = await bundled('cosineSchedule');
  const sum = (key: 'bytes' | 'compressed') => files.reduce((total, file) => total + file[key], 0);
  print(`load() in a page: ${files.length} requests`, [
    ...files,
    { name: 'in all', bytes: sum('bytes'), compressed: sum('compressed') },
  ]);
  print('\na bundle of cosineSchedule alone', bundles);
  const excess = findExcess(files, bundles);
  for (const text of excess) console.log(`sizes: ${text}`);
  if (excess.length > 0) process.exitCode = 1;
}

/** Returns the compressed bytes of each file. */
function sizesIn(folder: string) {
  const sizes: Map<string, number> = new Map();
  if (!existsSync(folder)) return sizes;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!SHIPPED.test(name) || /^(obj|test|check|types)\//.test(name)) continue;
    const size = gzipSync(readFileSync(join(folder, name))).length;
    const key = withoutHash(name);
    sizes.set(key, (sizes.get(key) ?? 0) + size);
  }
  return sizes;
}

/** @param folders before and after */
function printDifference(folders: string[]) {
  const [before, after] = folders.map(sizesIn);
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const rows = names
    .map((name) => ({ name, from: before.get(name) ?? 0, to: after.get(name) ?? 0 }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `| ${name} | ${from} | ${to} | ${to > from ? '+' : ''}${to - from} |`);
  console.log('## Compressed sizes in bytes\n');
  console.log(rows.length ? '| file | before | after | change |\n| --- | --: | --: | --: |' : 'No file differs.');
  for (const row of rows) console.log(row);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.length > 2) printDifference(process.argv.slice(2, 4));
  else await printFigures();
}
