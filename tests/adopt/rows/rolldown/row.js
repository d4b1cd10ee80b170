import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'Rolldown 1',
  what: 'build',
  threads: 'yes',
  view: 'yes',
  note: 'as with Rollup',
  quick: true,
  async run(place) {
    await place.run(place.bin('rolldown'), ['page.js', '--dir', 'built', '--platform', 'browser']);
    place.copyBinaries('built');
    place.write('built/index.html', '<!doctype html><body><script type="module" src="page.js"></script>');
    expectComputed(await place.openFolder('built'), { view: BOTH });
  },
};
