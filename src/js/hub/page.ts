// The Hub client's platform in a page: the browser follows redirects, and files are in the page's private storage.

import { Sha1 } from './sha1.ts';
import { Sha256 } from './sha256.ts';

import type { HubPlatform } from './types.ts';

const { subtle } = globalThis.crypto ?? {};

const ALGORITHMS = { sha1: 'SHA-1', sha256: 'SHA-256' };

export const page: HubPlatform = {
  follow: true,
  openCache: async (caller, cache) => (await import('./pageCache.ts')).openPageCache(caller, cache),
  hash: (name) => (name === 'sha1' ? new Sha1() : new Sha256()),
  // Pages that are not served over https have no crypto.subtle.
  digest: subtle && (async (name, bytes) => hexadecimal(await subtle.digest(ALGORITHMS[name], bytes as any))),
};

const hexadecimal = (buffer: ArrayBuffer) =>
  [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
