import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'Rollup 4',
  what: 'build',
  threads: 'yes',
  view: 'yes',
  note: 'copy `headlight.*.wasm` and `*.worker.js` beside the bundle, and `whale.*` if the demo model is used',
  async run(place) {
    await place.run(place.bin('rollup'), ['-c']);
    place.copyBinaries('built');
    place.write('built/index.html', '<!doctype html><body><script type="module" src="page.js"></script>');
    expectComputed(await place.openFolder('built'), { view: BOTH });
  },
};
