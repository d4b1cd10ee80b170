import { readFileSync } from 'node:fs';
import { serve } from '../../../../src/build/server.ts';
import { BOTH, expectComputed } from '../../expect.js';

/** Response headers that a CDN for packages sends. */
const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };

export default {
  title: 'from another origin',
  what: 'an import map, COOP and COEP',
  threads: 'yes',
  view: 'yes',
  note: 'a Content-Security-Policy needs `worker-src blob:` for threads and the view',
  quick: true,
  async run(place) {
    const other = await serve({ root: place.file('node_modules/headlight-attention'), headers: HEADERS });
    try {
      const page = readFileSync(place.file('importmap.html'), 'utf8');
      place.write('other.html', page.replaceAll('./node_modules/headlight-attention/', other.url));
      expectComputed(await place.openFolder('.', { path: 'other.html' }), { view: BOTH });
    } finally {
      await other.close();
    }
  },
};
