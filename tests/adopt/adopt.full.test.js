// Checks that the documentation contains the table of platforms, and runs the rows that need no installation.
// ./build.sh adopt runs all rows. tests/package covers esbuild, Vite's build, webpack, require and TypeScript.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from '../support/chromium.js';
import { install } from '../support/install.js';
import { Place, writeProgram } from './place.js';
import { makeTable, rows } from './rows.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
const folder = mkdtempSync(join(tmpdir(), 'headlight-adopt-'));
let installed, browser;
before(async () => {
  installed = install(root);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  installed?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the program of a row to a new folder, and links its dependencies from the packages of the tests. */
function prepareQuick(name) {
  const place = join(folder, name);
  mkdirSync(join(place, 'node_modules/.bin'), { recursive: true });
  writeProgram(name, place);
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  for (const [dependency, version] of Object.entries(dependencies)) {
    const found = JSON.parse(readFileSync(join(modules, dependency, 'package.json'), 'utf8'));
    assert.equal(found.version, version, `${name} pins another version of ${dependency} than the tests have`);
    symlinkSync(join(modules, dependency), join(place, 'node_modules', dependency));
    symlinkSync(join(modules, '.bin', dependency), join(place, 'node_modules/.bin', dependency));
  }
  // The package is copied, not linked, because neither the server nor Vite serves files outside the folder.
  cpSync(installed.file('node_modules/headlight-attention'), join(place, 'node_modules/headlight-attention'), {
    recursive: true,
  });
  return new Place(place, async () => browser);
}

for (const row of rows.filter(({ quick }) => quick))
  test(`works: ${row.title}, ${row.what}`, async () => row.run(prepareQuick(row.name)));

test('the documentation contains the table that the script prints if every row works', () => {
  assert.ok(readFileSync(join(root, 'web/docs/platforms.md'), 'utf8').includes(`\n\n${makeTable(rows)}\n\n`));
});

test('the folder of every row is in the table, and a row with a "no" has a note that explains it', () => {
  assert.deepEqual(readdirSync(join(root, 'tests/adopt/rows')).sort(), rows.map(({ name }) => name).sort());
  for (const { name, threads, view, note } of rows) {
    if (threads === 'no' || view === 'no') assert.notEqual(note, '', name);
    for (const [, path] of note.matchAll(/\]\((.*?)\)/g))
      assert.ok(existsSync(join(root, 'web/docs', path.replace(/#.*/, ''))), `${name}: ${path}`);
  }
});

test('versions are pinned, and equal those in the titles', () => {
  for (const { name, title } of rows) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, `tests/adopt/rows/${name}/package.json`), 'utf8'));
    for (const version of Object.values(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
    const said = title.match(/ (\d+(\.\d+)?)$/)?.[1];
    if (said)
      assert.ok(
        Object.values(dependencies).some((version) => version.startsWith(`${said}.`)),
        title,
      );
  }
});
