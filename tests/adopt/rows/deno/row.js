import { expectComputed, lastLine } from '../../expect.js';

export default {
  title: 'Deno 2.9',
  what: '`import`',
  threads: 'yes',
  view: '—',
  note: '`--allow-read`',
  async run(place) {
    expectComputed(lastLine(await place.run(place.bin('deno'), ['run', '--allow-read', 'print.js'])));
  },
};
