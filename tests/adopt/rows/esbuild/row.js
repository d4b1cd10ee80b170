import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'esbuild',
  what: 'build',
  threads: 'yes',
  view: 'yes',
  note: 'as with Rollup',
  async run(place) {
    const options = ['--bundle', '--format=esm', '--splitting', '--outdir=built'];
    await place.run(place.bin('esbuild'), ['page.js', ...options]);
    place.copyBinaries('built');
    place.write('built/index.html', '<!doctype html><body><script type="module" src="page.js"></script>');
    expectComputed(await place.openFolder('built'), { view: BOTH });
  },
};
