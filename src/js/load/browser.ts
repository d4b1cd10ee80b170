// The entry for browsers and workers, which fetches the binary.

import type { Headlight } from '../index.ts';
import { fetchBytes } from './fetch.ts';
import { type LoadOptions, loadOn, type Platform } from './load.ts';
import type { StartThread } from './threads.ts';

async function loadStartThread(): Promise<StartThread> {
  const { makeStartThread } = await import('./browserThread.ts');
  return makeStartThread({
    // Bundlers recognize these two expressions and include the script.
    create: () => new Worker(new URL('./headlight.worker.js', import.meta.url), { type: 'module' }),
    url: () => new URL('./headlight.worker.js', import.meta.url),
  });
}

const platform = (): Platform => ({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
    'simd128-threads': new URL('./headlight.simd128-threads.wasm', import.meta.url),
    'relaxed-threads': new URL('./headlight.relaxed-threads.wasm', import.meta.url),
  },
  read: fetchBytes,
  module: import.meta.url,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
  loadStartThread,
  cores: globalThis.navigator?.hardwareConcurrency ?? 4,
});

/** Starts an instance of the core with its own memory. Each call starts another instance. */
export function load(options?: LoadOptions): Promise<Headlight> {
  return loadOn(platform(), options);
}

export * from '../index.ts';
