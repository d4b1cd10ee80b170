// Entry for browsers and workers: the binary is fetched.

import { fetchBytes } from './fetch.js';
import { createLoad } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions } from './load.js' */

/** @type {import('./threads.js').StartThread} */
function startThread(post) {
  const worker = new Worker(new URL('./headlight.worker.js', import.meta.url), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve({ stop: () => worker.terminate() });
    worker.onerror = (event) => reject(new Error(event.message ?? 'headlight.worker.js is not beside the module'));
    worker.postMessage(post);
  });
}

/** @type {(options?: LoadOptions) => Promise<Headlight>} */
export const load = createLoad({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
    'simd128-threads': new URL('./headlight.simd128-threads.wasm', import.meta.url),
    'relaxed-threads': new URL('./headlight.relaxed-threads.wasm', import.meta.url),
  },
  read: fetchBytes,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
  startThread,
  cores: globalThis.navigator?.hardwareConcurrency ?? 4,
});

export * from '../index.js';
