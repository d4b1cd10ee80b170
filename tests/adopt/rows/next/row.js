import { expectComputed, HEATMAP } from '../../expect.js';

export default {
  title: 'Next 16',
  what: 'a client component, build, start',
  threads: 'yes',
  view: 'yes',
  note: "`'use client'`; `headers()` of next.config.js for threads",
  recipe: { file: 'components.md', language: 'jsx', to: 'app/Heads.jsx' },
  async run(place) {
    await place.run(place.bin('next'), ['build'], { NEXT_TELEMETRY_DISABLED: '1' });
    const said = await place.openServed(place.bin('next'), (port) => ['start', '-p', `${port}`]);
    expectComputed(said, { view: HEATMAP });
  },
};
