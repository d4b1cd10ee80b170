// Runs the same measurement in Chromium: each run has its own page, which is bundled and served with the headers that
// shared memory requires.

import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { serve } from '../../src/build/server.js';
import { launch } from '../support/chromium.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const require = createRequire(import.meta.url);
const root = here('../../dist/bench/site');

/** onnxruntime-web and tfjs compile JavaScript from text or start workers from blobs; the page allows it. */
const HEADERS = { 'Content-Security-Policy': "default-src 'self' 'unsafe-eval' 'unsafe-inline' blob: data:" };

async function prepare() {
  mkdirSync(root, { recursive: true });
  await build({
    entryPoints: [here('page.js')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    outfile: join(root, 'page.js'),
    logLevel: 'error',
    external: ['node:*', 'fs', 'path', 'os', 'crypto', 'worker_threads', 'perf_hooks', 'util', 'string_decoder'],
    conditions: ['browser'],
    mainFields: ['browser', 'module', 'main'],
  });
  const copyAll = (from, pattern) => {
    for (const name of readdirSync(from).filter((name) => pattern.test(name)))
      cpSync(join(from, name), join(root, name));
  };
  copyAll(here('../../dist'), /^headlight.*\.wasm$|worker\.js$/);
  copyAll(here('../../dist/bench'), /^peak.*\.wasm$/);
  copyAll(join(require.resolve('onnxruntime-web'), '..'), /^ort-wasm-simd-threaded\.(mjs|wasm)$/);
  copyAll(join(require.resolve('@tensorflow/tfjs-backend-wasm'), '..'), /\.wasm$/);
  copyAll(join(require.resolve('ruvector-attention-wasm'), '..'), /_bg\.wasm$/);
  writeFileSync(
    join(root, 'index.html'),
    '<!doctype html><meta charset="utf-8"><title>bench</title><script type="module" src="page.js"></script>',
  );
}

export async function* measureInChromium(options) {
  await prepare();
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
