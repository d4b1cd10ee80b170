// Installs the packed package in a new folder for each row, runs the row's program there, and prints the table. Usage:
// node tests/adopt/run.js [NAME…] [--write]. Installed packages are cached in HEADLIGHT_ADOPT, by default in the user's
// cache.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from '../support/chromium.js';
import { Place, prepare } from './place.js';
import { makeTable, rows } from './rows.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const FOLDER = process.env.HEADLIGHT_ADOPT ?? join(CACHE, 'headlight-adopt');
/** Matches the table of the documentation, from its heading to its last row. */
const TABLE = /^\| where +\| what is run[^]*?(?=\n\n)/m;

/** Packs the package into an archive whose name differs for each build. */
function pack() {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER).filter((name) => name.endsWith('.tgz'))) rmSync(join(FOLDER, name));
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', FOLDER];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }));
  const archive = join(FOLDER, filename);
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex').slice(0, 12);
  const named = join(FOLDER, `headlight-${digest}.tgz`);
  renameSync(archive, named);
  return named;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
const chosen = rows.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const archive = pack();
/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser;
/** @type {Record<string, string>} */
const failed = {};
for (const row of chosen) {
  const start = performance.now();
  try {
    const place = await prepare({ name: row.name, recipes: row.recipes, folder: FOLDER, archive });
    await row.run(new Place(place, () => (browser ??= launch())));
  } catch (error) {
    failed[row.name] = error.message.replace(/\s+/g, ' ').slice(0, 200);
    console.log(`adopt: ${row.name}: ${error.message}`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`adopt: ${row.name} ${failed[row.name] ? 'FAILED' : 'ok'} (${seconds} s)`);
}
await (await browser)?.close();

const table = makeTable(chosen, failed);
console.log(table);
if (values.write && chosen.length === rows.length) {
  const page = join(ROOT, 'web/docs/platforms.md');
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(TABLE, () => table),
  );
}
if (Object.keys(failed).length > 0) process.exitCode = 1;
