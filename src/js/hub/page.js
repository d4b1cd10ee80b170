// The parts of the Hub client that are specific to a page: the browser follows redirects, and files are cached in the
// private storage of the page.

import { Sha256 } from './sha256.js';

/** @import { HubPlatform } from './types.js' */

const { subtle } = globalThis.crypto ?? {};

/** @type {HubPlatform} */
export const page = {
  follow: true,
  openCache: async (caller, cache) => (await import('./pageCache.js')).openPageCache(caller, cache),
  sha256: () => new Sha256(),
  // Pages that are not served over https have no crypto.subtle.
  digest: subtle && (async (bytes) => hexadecimal(await subtle.digest('SHA-256', /** @type {any} */ (bytes)))),
};

/** @param {ArrayBuffer} buffer */
const hexadecimal = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
