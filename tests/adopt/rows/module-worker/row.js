import { expectComputed } from '../../expect.js';

export default {
  title: 'a module worker',
  what: "`new Worker(url, { type: 'module' })`",
  threads: 'yes',
  view: '—',
  note: '',
  quick: true,
  async run(place) {
    expectComputed(await place.openFolder('.', { path: 'worker.html' }));
  },
};
