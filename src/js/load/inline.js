// The entry that contains the binaries, so that it is a single file and sends no requests.

import relaxed from 'headlight-attention/headlight.relaxed.wasm';
import simd128 from 'headlight-attention/headlight.simd128.wasm';
import { fetchBytes } from './fetch.js';
import { loadOn } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions, Platform } from './load.js' */

/** @returns {Platform} */
const platform = () => ({
  binaries: { simd128, relaxed },
  read: fetchBytes,
  module: import.meta.url,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
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
