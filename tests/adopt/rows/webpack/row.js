import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'webpack 5',
  what: 'build',
  threads: 'yes',
  view: 'yes',
  note: '',
  async run(place) {
    await place.run('node', ['build.js']);
    place.write('built/index.html', '<!doctype html><body><script src="main.js"></script>');
    expectComputed(await place.openFolder('built'), { view: BOTH });
  },
};
