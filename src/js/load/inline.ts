// The entry that contains the binaries, so that it is a single file and sends no requests.

import relaxed from 'headlight-attention/headlight.relaxed.wasm';
import simd128 from 'headlight-attention/headlight.simd128.wasm';
import type { Headlight } from '../index.ts';
import { fetchBytes } from './fetch.ts';
import { type LoadOptions, loadOn, type Platform } from './load.ts';

const platform = (): Platform => ({
  binaries: { simd128, relaxed },
  read: fetchBytes,
  module: import.meta.url,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
});

/** Starts an instance of the core with its own memory. Each call starts another instance. */
export function load(options?: LoadOptions): Promise<Headlight> {
  return loadOn(platform(), options);
}

export * from '../index.ts';
