// Entry for Node: the binary is read from disk, or fetched where its URL says so.

import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { HeadlightError } from './errors.js';
import { fetchBytes } from './fetch.js';
import { createLoad } from './wasm.js';

/** @param {URL} url */
async function read(url) {
  if (url.protocol !== 'file:') return fetchBytes(url);
  try {
    return await readFile(url);
  } catch (cause) {
    throw new HeadlightError('LOAD', `load: cannot read ${url.href}: ${/** @type {Error} */ (cause).message}. Pass { wasm: url } if the file lies elsewhere`, {
      parameter: 'wasm',
      cause,
    });
  }
}

export const load = createLoad({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
  },
  read,
  resolve: (path) => (URL.canParse(path) ? new URL(path) : pathToFileURL(path)),
});

export * from './index.js';
