// Entry with the binaries inside: one file, nothing to fetch.

import relaxed from 'headlight-attention/headlight.relaxed.wasm';
import simd128 from 'headlight-attention/headlight.simd128.wasm';
import { fetchBytes } from './fetch.js';
import { createLoad } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions } from './load.js' */

/** @type {(options?: LoadOptions) => Promise<Headlight>} */
export const load = createLoad({
  binaries: { simd128, relaxed },
  read: fetchBytes,
  module: import.meta.url,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
});

export * from '../index.js';
