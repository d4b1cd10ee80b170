import { expectComputed, lastLine } from '../../expect.js';

export default {
  title: 'Bun 1.4',
  what: '`import`',
  threads: 'yes',
  view: '—',
  note: '',
  async run(place) {
    expectComputed(lastLine(await place.run(place.bin('bun'), ['print.js'])));
  },
};
