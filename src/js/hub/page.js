// The parts of the Hub for a page: the browser follows redirects, and files are cached in the page's private storage.

/** @import { HubPlatform } from './types.js' */

/** @type {HubPlatform} */
export const page = {
  follow: true,
  openCache: async () => 'not yet',
};
