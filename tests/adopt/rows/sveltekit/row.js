import { expectComputed, HEATMAP } from '../../expect.js';

export default {
  title: 'SvelteKit 3',
  what: 'a component, dev, prerendered build',
  threads: 'yes',
  view: 'yes',
  note: 'threads in dev: `server.headers` of Vite, and `handle` in `hooks.server.js` sets the same headers',
  recipes: [{ file: 'components.md', language: 'svelte', to: 'src/routes/Heads.svelte' }],
  async run(place) {
    // SvelteKit requires a newer Node than Headlight does.
    const [node, vite] = [place.bin('node'), 'node_modules/vite/bin/vite.js'];
    const said = await place.openServed(node, (port) => [vite, '--port', `${port}`, '--host', 'localhost']);
    expectComputed(said, { view: HEATMAP });
    await place.run(node, [vite, 'build']);
    expectComputed(await place.openFolder('build'), { view: HEATMAP });
  },
};
