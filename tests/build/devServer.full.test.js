// Tests the development server, which serves the page from its sources, in Chromium.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { develop } from '../../src/build/devServer.ts';
import { launch } from '../support/chromium.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
/** Packages that the page imports. */
const PACKAGES = ['node_modules/preact', 'node_modules/@preact'];
let browser, root, server;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'headlight-dev-'));
  await mkdir(join(root, 'dist'));
  const built = (await readdir(join(project, 'dist'))).filter((name) => name.endsWith('.wasm') || name === 'abi');
  for (const name of [
    'web',
    'src',
    'package.json',
    'tsconfig.json',
    ...built.map((file) => join('dist', file)),
    ...PACKAGES,
  ])
    await cp(join(project, name), join(root, name), { recursive: true });
  browser = await launch();
  server = await develop({ root, port: 0 });
});
after(async () => {
  await server?.close();
  await browser?.close();
  await rm(root, { recursive: true });
});

test('the page is served from its sources, has threads, and reloads when a source changes', async () => {
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`${server.url}#cell=15.3`, { timeout: 120_000 });
  await page.waitForSelector('.prediction .tick', { state: 'attached', timeout: 120_000 });
  assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true);
  assert.deepEqual(faults, []);
  await appendFile(join(root, 'web/entries/page.ts'), 'globalThis.added = true;\n');
  await page.waitForFunction(() => globalThis.added, { timeout: 120_000 });
});

test('the documentation is served as it was built, and the links of the page lead to it', async () => {
  const get = async (path) => {
    const response = await fetch(new URL(path, server.url));
    return { status: response.status, path: new URL(response.url).pathname, text: await response.text() };
  };
  assert.deepEqual(await get('docs/'), {
    status: 404,
    path: '/docs/',
    text: 'The documentation has not been built: run ./build.sh docs\n',
  });
  const script = "import './other.js';\n";
  await mkdir(join(root, 'dist/site/docs/guide'), { recursive: true });
  await writeFile(join(root, 'dist/site/docs/index.html'), '<!doctype html><title>docs</title>');
  await writeFile(join(root, 'dist/site/docs/guide/index.js'), script);
  const index = { status: 200, path: '/docs/', text: '<!doctype html><title>docs</title>' };
  assert.deepEqual(await get('docs'), index);
  assert.deepEqual(await get('web/entries/docs/index.html'), { ...index, path: '/docs/index.html' });
  // The documents and their scripts are served unchanged, not transformed by Vite.
  assert.equal((await get('docs/guide/index.js')).text, script);
  assert.equal((await get('docs/missing.html')).status, 404);
  assert.equal((await get('index.html')).path, '/web/entries/index.html');
});

test('the program ends on a signal', async () => {
  const program = spawn(process.execPath, ['src/build/devServer.ts', '--port', '0'], { cwd: project });
  const exited = once(program, 'exit');
  let said = '';
  for await (const part of program.stdout) if ((said += part).includes('http://')) break;
  assert.match(said, /http:\/\/127\.0\.0\.1:\d+\//);
  program.kill('SIGTERM');
  const [code, signal] = await exited;
  assert.ok(code === 0 || code === 143 || signal === 'SIGTERM', `${code} ${signal}`);
});
