import { expectComputed, lastLine } from '../../expect.js';

export default {
  title: 'CommonJS',
  what: '`require` in Node 22',
  threads: 'yes',
  view: '—',
  note: 'from Node 20.19 and 22.12 on; before, `await import(…)`',
  async run(place) {
    expectComputed(lastLine(await place.run(place.bin('node'), ['use.cjs'])));
  },
};
