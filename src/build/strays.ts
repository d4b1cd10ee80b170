// Removes from a bundle the chunks that nothing loads. esbuild writes a chunk for each import() that it finds, even in
// code that it removes. As a program: node src/build/strays.ts FOLDER ENTRY…; the chunks are in FOLDER.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [folder, ...entries] = process.argv.slice(2);
const parts = new Set(readdirSync(folder).filter((name) => name.endsWith('.js')));
const loaded = new Set();

function follow(path: string) {
  const text = readFileSync(path, 'utf8');
  for (const [, name] of text.matchAll(/["'](?:[\w./-]*\/)?([\w-]+\.js)["']/g)) {
    if (!parts.has(name) || loaded.has(name)) continue;
    loaded.add(name);
    follow(join(folder, name));
  }
}

entries.forEach(follow);
for (const name of parts) {
  if (loaded.has(name)) continue;
  rmSync(join(folder, name));
  rmSync(join(folder, `${name}.map`), { force: true });
}
