// Prints the built files whose size differs between two folders, as a table in Markdown.
// Arguments: the folder `dist` before, and after.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const SHIPPED = /\.(js|wasm|html)$/;
/** Names of bundled parts end with a hash of their content. */
const withoutHash = (/** @type {string} */ name) => name.replace(/-[\w-]{8}\.js$/, '.js');

/** Compressed bytes by file. @param {string} folder */
function sizesIn(folder) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  if (!existsSync(folder)) return sizes;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!SHIPPED.test(name) || /^(obj|test|check|types)\//.test(name)) continue;
    const size = gzipSync(readFileSync(join(folder, name))).length;
    const key = withoutHash(name);
    sizes.set(key, (sizes.get(key) ?? 0) + size);
  }
  return sizes;
}

const [before, after] = process.argv.slice(2, 4).map(sizesIn);
const names = [...new Set([...before.keys(), ...after.keys()])].sort();
const rows = names
  .map((name) => ({ name, from: before.get(name) ?? 0, to: after.get(name) ?? 0 }))
  .filter(({ from, to }) => from !== to)
  .map(({ name, from, to }) => `| ${name} | ${from} | ${to} | ${to > from ? '+' : ''}${to - from} |`);
console.log('## Compressed sizes in bytes\n');
console.log(rows.length ? '| file | before | after | change |\n| --- | --: | --: | --: |' : 'No file differs.');
for (const row of rows) console.log(row);
