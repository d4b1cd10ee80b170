// The parts of the Hub for Node: its environment variables, and the cache of Hugging Face's tools.

/** @import { HubPlatform } from './types.js' */

/** @type {HubPlatform} */
export const node = {
  get variables() {
    return process.env;
  },
  follow: false,
  openCache: async () => 'not yet',
};
