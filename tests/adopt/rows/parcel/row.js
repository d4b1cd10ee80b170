import { BOTH, expectComputed } from '../../expect.js';

export default {
  title: 'Parcel 2',
  what: 'build',
  threads: 'yes',
  view: 'yes',
  note: 'two settings: [Parcel](guide/bundlers.md#parcel)',
  async run(place) {
    await place.run(place.bin('parcel'), ['build', 'index.html', '--dist-dir', 'built', '--no-source-maps']);
    expectComputed(await place.openFolder('built'), { view: BOTH });
  },
};
