import { readFileSync } from 'node:fs';
import { serve } from '../../../../src/build/server.js';
import { BOTH, expectComputed } from '../../expect.js';

/** The response headers of a CDN for packages. */
const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

export default {
  title: 'from another origin',
  what: 'an import map, COOP and COEP',
  threads: 'no',
  view: 'yes',
  note: 'a page may start no worker of another origin: one thread, and `threadsNote` says so',
  quick: true,
  async run(place) {
    const other = await serve({ root: place.file('node_modules/headlight-attention'), headers: HEADERS });
    try {
      const page = readFileSync(place.file('importmap.html'), 'utf8');
      place.write('other.html', page.replaceAll('./node_modules/headlight-attention/', other.url));
      expectComputed(await place.openFolder('.', { path: 'other.html' }), {
        threads: 1,
        note: /worker did not start/,
        view: BOTH,
      });
    } finally {
      await other.close();
    }
  },
};
