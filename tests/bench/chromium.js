// Runs measurements in Chromium. Each run starts a new browser. The page is bundled, and served with the headers that
// shared memory requires.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { serve } from '../../src/build/server.ts';
import { launch } from '../support/chromium.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const require = createRequire(import.meta.url);
/** Returns the folder that contains the entry of an installed package. */
const packageOf = (name) => join(require.resolve(name), '..');

/** Response headers. The policy lets packages compile JavaScript from text and start workers from blobs. */
const HEADERS = { 'Content-Security-Policy': "default-src 'self' 'unsafe-eval' 'unsafe-inline' blob: data:" };

/** @typedef {{ program: string, root: string, copies: [folder: string, pattern: RegExp][] }} Site */

const HEADLIGHT = [here('../../dist'), /^headlight.*\.wasm$|worker\.js$/];
const ONNX = [packageOf('onnxruntime-web'), /^ort-wasm-simd-threaded\.(mjs|wasm)$/];

/** @type {Site} */
const PACKAGES = {
  program: 'page.js',
  root: here('../../dist/bench/site'),
  copies: [
    HEADLIGHT,
    [here('../../dist/bench'), /^peak.*\.wasm$/],
    ONNX,
    [packageOf('@tensorflow/tfjs-backend-wasm'), /\.wasm$/],
    [packageOf('ruvector-attention-wasm'), /_bg\.wasm$/],
  ],
};

/** @type {Site} */
export const FEW_BITS = {
  program: 'fewBitsPage.js',
  root: here('../../dist/bench/few-bits'),
  copies: [HEADLIGHT, ONNX, [join(packageOf('@wllama/wllama'), 'wasm'), /^wllama\.wasm$/]],
};

/** Bundles the page and copies the files that it loads. @param {Site} site */
export async function prepare({ program, root, copies }) {
  mkdirSync(root, { recursive: true });
  await build({
    entryPoints: [here(program)],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    outfile: join(root, 'page.js'),
    logLevel: 'error',
    external: ['node:*', 'fs', 'path', 'os', 'crypto', 'worker_threads', 'perf_hooks', 'util', 'string_decoder'],
    conditions: ['browser'],
    mainFields: ['browser', 'module', 'main'],
  });
  for (const [from, pattern] of copies)
    for (const name of readdirSync(from).filter((name) => pattern.test(name)))
      cpSync(join(from, name), join(root, name));
  writeFileSync(
    join(root, 'index.html'),
    '<!doctype html><meta charset="utf-8"><title>bench</title><script type="module" src="page.js"></script>',
  );
}

/** Returns the peak memory of the page's process so far, in bytes. Linux only. */
export async function peakMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))[1]));
  return 1024 * Math.max(...peaks);
}

export async function* measureInChromium(options) {
  await prepare(PACKAGES);
  yield* messages(PACKAGES, options);
}

/**
 * Yields the messages of the page, which reads its options from globalThis.benchOptions.
 * @param {Site} site prepared before
 */
export async function* messages({ root }, options) {
  const server = await serve({ root, headers: HEADERS });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const queue = [];
    let wake = () => {};
    const say = (entry) => {
      queue.push(entry);
      wake();
    };
    page.on('pageerror', (error) => say({ broken: error.message }));
    await page.exposeFunction('say', say);
    await page.exposeFunction('peakMemory', () => peakMemory(browser));
    await page.addInitScript((options) => Object.assign(globalThis, { benchOptions: options }), options);
    await page.goto(server.url);
    for (;;) {
      while (queue.length === 0) await new Promise((resolve) => (wake = resolve));
      const entry = queue.shift();
      if (entry.broken) throw new Error(`in Chromium: ${entry.broken}`);
      if (entry.done) return;
      yield entry;
    }
  } finally {
    await browser.close();
    await server.close();
  }
}
