import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'the same',
  what: 'without COOP and COEP',
  threads: 'no',
  view: 'yes',
  note: 'threads need both headers; `hl.info.threadsNote` says so',
  async run(place) {
    const headers = { 'Cross-Origin-Opener-Policy': 'unsafe-none', 'Cross-Origin-Embedder-Policy': 'unsafe-none' };
    expectComputed(await place.openFolder('.', { path: 'importmap.html', headers }), {
      threads: 1,
      note: /Cross-Origin-Opener-Policy/,
      view: BOTH,
    });
  },
};
