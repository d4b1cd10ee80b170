export default {
  title: 'Vitest 5',
  what: 'the node environment',
  threads: 'yes',
  view: '—',
  note: '',
  async run(place) {
    await place.run(place.bin('vitest'), ['run']);
  },
};
