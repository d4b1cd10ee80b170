import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'a static folder',
  what: 'an import map, COOP and COEP',
  threads: 'yes',
  view: 'yes',
  note: '',
  async run(place) {
    expectComputed(await place.openFolder('.', { path: 'importmap.html' }), { view: BOTH });
  },
};
