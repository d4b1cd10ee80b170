import { expectComputed, HEATMAP } from '../../expect.js';

export default {
  title: 'Vue 3',
  what: 'a component, Vite, build',
  threads: 'yes',
  view: 'yes',
  note: 'as with React',
  recipes: [{ file: 'components.md', language: 'vue', to: 'Heads.vue' }],
  async run(place) {
    await place.run(place.bin('vite'), ['build']);
    expectComputed(await place.openFolder('dist'), { view: HEATMAP });
  },
};
