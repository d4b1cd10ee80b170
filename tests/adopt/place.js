// The folder in which a row is run. It contains the program of the row, its dependencies and the packed package. Place
// has the actions that a row can run in it.

import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serve } from '../../src/build/server.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Time limit of a program in milliseconds, long enough for a loaded machine. */
const LIMIT = 600_000;
/** Modules shared by the programs of all rows. */
const SHARED = join(HERE, 'shared');
const RECIPES = fileURLToPath(new URL('../../web/docs/recipes/', import.meta.url));
/** Runs a program until it ends. If it fails, the error contains the end of its output. */
async function execute(command, args, { cwd, env = {} }) {
  const options = { cwd, env: { ...process.env, CI: '1', ...env }, timeout: LIMIT, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const said = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-30).join('\n');
    throw new Error(`${basename(command)} ${args.join(' ')}: ${said || error.message}`);
  }
}

/** Finds a free port. @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

/**
 * @typedef {{ file: string, language: string, to: string }} Recipe a program that is copied out of a recipe of the
 * documentation: the one that has its path `to` in a comment in the first line, or else the first in this language
 */

/** @param {string} name @param {string} place @param {Recipe[]} [recipes] */
export function writeProgram(name, place, recipes = []) {
  cpSync(SHARED, place, { recursive: true });
  cpSync(join(HERE, 'rows', name), place, { recursive: true, filter: (path) => !path.endsWith('row.js') });
  for (const { file, language, to } of recipes) {
    const text = readFileSync(join(RECIPES, file), 'utf8');
    const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
      ([, block]) => block,
    );
    const program = blocks.find((block) => block.startsWith(`// ${to}\n`)) ?? blocks[0];
    mkdirSync(join(place, to, '..'), { recursive: true });
    writeFileSync(join(place, to), program ?? '');
  }
}

/**
 * Copies the program of a row into its folder, and installs its dependencies unless they are installed already.
 * @param {{ name: string, recipes?: Recipe[], folder: string, archive: string }} options folder: the folder that
 *   contains the folders of all rows; it is not deleted
 */
export async function prepare({ name, recipes, folder, archive }) {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const kept = ['node_modules', 'package-lock.json', '.installed'];
  for (const entry of readdirSync(place).filter((entry) => !kept.includes(entry)))
    rmSync(join(place, entry), { recursive: true });
  writeProgram(name, place, recipes);
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  manifest.dependencies = { ...manifest.dependencies, 'headlight-attention': `file:${archive}` };
  const stamp = JSON.stringify(manifest, null, 2);
  writeFileSync(join(place, 'package.json'), stamp);
  const installed = join(place, '.installed');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === stamp) return place;
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
  await execute('npm', ['install', ...quiet], { cwd: place });
  writeFileSync(installed, stamp);
  return place;
}

/** The actions that a row can run in its folder. */
export class Place {
  #browser;

  /** @param {string} folder @param {() => Promise<import('playwright-core').Browser>} browser */
  constructor(folder, browser) {
    this.folder = folder;
    this.#browser = browser;
  }

  /** @param {...string} names */
  file(...names) {
    return join(this.folder, ...names);
  }

  /** @param {string} name @param {string} text */
  write(name, text) {
    mkdirSync(join(this.file(name), '..'), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** The path of a program that is installed in the folder. @param {string} name */
  bin(name) {
    return this.file('node_modules/.bin', name);
  }

  /** @param {string} command @param {string[]} args @param {Record<string, string>} [env] */
  run(command, args, env) {
    return execute(command, args, { cwd: this.folder, env });
  }

  /**
   * Copies the binaries and workers into the folder of the bundle, because the bundler does not copy them.
   * @param {string} to
   */
  copyBinaries(to) {
    const from = this.file('node_modules/headlight-attention/dist');
    for (const name of readdirSync(from).filter((name) => /\.wasm$|worker\.js$|^whale\./.test(name)))
      cpSync(join(from, name), this.file(to, name));
  }

  /**
   * Serves a folder, opens a page in it, and returns the results that the page reports.
   * @param {string} folder
   * @param {{ path?: string, headers?: Record<string, string> }} [options]
   */
  async openFolder(folder, { path = '', headers = {} } = {}) {
    const server = await serve({ root: this.file(folder), headers: { 'Content-Security-Policy': '', ...headers } });
    try {
      return await this.open(server.url + path);
    } finally {
      await server.close();
    }
  }

  /** Opens a page and returns the results that it reports. @param {string} url */
  async open(url) {
    const context = await (await this.#browser()).newContext();
    const page = await context.newPage();
    /** @type {string[]} */
    const faults = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('requestfailed', (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`));
    try {
      await page.goto(url, { timeout: LIMIT });
      // A development server may reload the page once it has found out which modules the page imports.
      await page
        .waitForFunction(() => document.body?.dataset.said, undefined, { timeout: 120_000 })
        .catch((error) => {
          throw new Error(`${error.message.split('\n')[0]} ${faults.join('; ')}`);
        });
      return JSON.parse(await page.evaluate(() => /** @type {string} */ (document.body.dataset.said)));
    } finally {
      await context.close();
    }
  }

  /**
   * Runs the server of a tool, opens the page, and returns the results that the page reports.
   * @param {string} command
   * @param {(port: number) => string[]} argsOf
   * @param {string} [path]
   * @param {Record<string, string>} [more] environment variables
   */
  async openServed(command, argsOf, path = '', more = {}) {
    const port = await freePort();
    const env = { ...process.env, CI: '1', PORT: String(port), ...more };
    const options = { cwd: this.folder, env, detached: true };
    const child = spawn(command, argsOf(port), { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = `http://localhost:${port}/${path}`;
    try {
      await untilServed(url, child, () => said);
      return await this.open(url);
    } finally {
      // Ends the process group: the server and its child processes.
      if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
  }
}

/** Waits until a server responds. */
async function untilServed(url, child, said) {
  for (const end = Date.now() + LIMIT; Date.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said().slice(-1000)}`);
    if (
      await fetch(url)
        .then(({ ok }) => ok)
        .catch(() => false)
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`no response from ${url}: ${said().slice(-1000)}`);
}
