// The Hub client's platform in Node: environment variables, and the cache of Hugging Face's tools.

import { createHash } from 'node:crypto';

import type { HubPlatform } from './types.ts';

export const node: HubPlatform = {
  get variables() {
    return process.env;
  },
  follow: false,
  openCache: async (_caller, cache) => (await import('./nodeCache.ts')).openNodeCache(cache, process.env),
  hash(name) {
    const hash = createHash(name);
    return { update: (bytes) => hash.update(bytes), digest: () => hash.digest('hex') };
  },
};
