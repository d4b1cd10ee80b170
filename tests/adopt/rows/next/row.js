import { expectComputed, HEATMAP } from '../../expect.js';

const quiet = { NEXT_TELEMETRY_DISABLED: '1' };

export default {
  title: 'Next 16',
  what: 'a client component, dev, build, start',
  threads: 'yes',
  view: 'yes',
  note: "`'use client'`; `headers()` of next.config.js for threads",
  recipes: [{ file: 'components.md', language: 'jsx', to: 'app/Heads.jsx' }],
  async run(place) {
    const serve = (verb) => place.openServed(place.bin('next'), (port) => [verb, '-p', `${port}`], '', quiet);
    expectComputed(await serve('dev'), { view: HEATMAP });
    await place.run(place.bin('next'), ['build'], quiet);
    expectComputed(await serve('start'), { view: HEATMAP });
  },
};
