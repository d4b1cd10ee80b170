// Entry with the binaries inside: one file, nothing to fetch.

import simd128 from '../../../dist/headlight.simd128.wasm';
import relaxed from '../../../dist/headlight.relaxed.wasm';
import { fetchBytes } from './fetch.js';
import { createLoad } from './load.js';

export const load = createLoad({
  binaries: { simd128, relaxed },
  read: fetchBytes,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
});

export * from '../index.js';
