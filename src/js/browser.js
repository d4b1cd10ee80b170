// Entry for browsers and workers: the binary is fetched.

import { fetchBytes } from './fetch.js';
import { createLoad } from './wasm.js';

export const load = createLoad({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
  },
  read: fetchBytes,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
});

export * from './index.js';
