import assert from 'node:assert/strict';
import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'Vite 8',
  what: 'dev, build, preview',
  threads: 'yes',
  view: 'yes',
  note: '`server.headers` and `preview.headers` for threads',
  quick: true,
  async run(place) {
    const [vite, strict] = [place.bin('vite'), ['--strictPort', '--host', 'localhost']];
    expectComputed(await place.openServed(vite, (port) => ['--port', `${port}`, ...strict]), { view: BOTH });
    await place.run(vite, ['build']);
    const preview = (/** @type {string} */ path) =>
      place.openServed(vite, (port) => ['preview', '--port', `${port}`, ...strict], path);
    expectComputed(await preview(''), { view: BOTH });
    assert.deepEqual(await preview('demo.html'), { tokens: 3, next: 1 });
  },
};
