import assert from 'node:assert/strict';
import { expectComputed } from '../../expect.js';

const quiet = { NEXT_TELEMETRY_DISABLED: '1' };
const FILES = { 'next.config.js': 'js', 'app/model.js': 'js', 'app/page.jsx': 'jsx', 'app/words/route.js': 'js' };

export default {
  title: 'Next 16',
  what: 'a server component, a route handler, dev, build, start',
  threads: 'yes',
  view: '—',
  note: '`serverExternalPackages`: [On a Next server](recipes/next.md)',
  recipes: Object.entries(FILES).map(([to, language]) => ({ file: 'next.md', language, to })),
  async run(place) {
    const check = async (verb) => {
      const serve = (port) => [verb, '-p', `${port}`];
      const { page, words, ...said } = await place.openServed(place.bin('next'), serve, 'said', quiet);
      expectComputed(said);
      assert.equal(page, 'In the morning, and the two boats, and the');
      assert.equal(words.length, 3);
      assert.equal(words[0], ' mate');
    };
    await check('dev');
    await place.run(place.bin('next'), ['build'], quiet);
    await check('start');
  },
};
