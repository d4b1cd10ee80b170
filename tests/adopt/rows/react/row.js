import { expectComputed, HEATMAP } from '../../expect.js';

export default {
  title: 'React 19',
  what: 'a component, Vite, build',
  threads: 'yes',
  view: 'yes',
  note: 'the component of [React, Svelte and Vue](recipes/components.md)',
  recipes: [{ file: 'components.md', language: 'jsx', to: 'Heads.jsx' }],
  async run(place) {
    await place.run(place.bin('vite'), ['build']);
    expectComputed(await place.openFolder('dist'), { view: HEATMAP });
  },
};
