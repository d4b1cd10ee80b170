import { expectComputed } from '../../expect.js';

export default {
  title: 'a service worker',
  what: "`register(url, { type: 'module' })`",
  threads: 'no',
  view: '—',
  note: 'import `headlight-attention/inline`: a service worker may load no script later, and start no worker',
  quick: true,
  async run(place) {
    expectComputed(await place.openFolder('.', { path: 'service.html' }), {
      threads: 1,
      note: /headlight-attention\/inline/,
    });
  },
};
