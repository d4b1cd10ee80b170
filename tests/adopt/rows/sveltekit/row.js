import { expectComputed, HEATMAP } from '../../expect.js';

export default {
  title: 'SvelteKit 3',
  what: 'a component, prerendered, build',
  threads: 'yes',
  view: 'yes',
  note: '',
  recipe: { file: 'components.md', language: 'svelte', to: 'src/routes/Heads.svelte' },
  async run(place) {
    // It needs a newer Node than Headlight does.
    await place.run(place.bin('node'), ['node_modules/vite/bin/vite.js', 'build']);
    expectComputed(await place.openFolder('build'), { view: HEATMAP });
  },
};
