// The entry for browsers and workers, which fetches the binary.

import { fetchBytes } from './fetch.js';
import { loadOn } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions, Platform } from './load.js' */

/** @returns {Promise<import('./threads.js').StartThread>} */
async function loadStartThread() {
  const { makeStartThread } = await import('./browserThread.js');
  return makeStartThread({
    // Bundlers recognize these two expressions and include the script.
    create: () => new Worker(new URL('./headlight.worker.js', import.meta.url), { type: 'module' }),
    url: () => new URL('./headlight.worker.js', import.meta.url),
  });
}

/** @returns {Platform} */
const platform = () => ({
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

/**
 * Starts an instance of the core with its own memory. Each call starts another instance.
 * @param {LoadOptions} [options]
 * @returns {Promise<Headlight>}
 */
export function load(options) {
  return loadOn(platform(), options);
}

export * from '../index.js';
