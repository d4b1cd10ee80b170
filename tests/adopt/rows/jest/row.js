const env = { NODE_OPTIONS: '--experimental-vm-modules' };

export default {
  title: 'Jest 30',
  what: 'the node and the jsdom environment',
  threads: 'yes',
  view: '—',
  note:
    '`NODE_OPTIONS=--experimental-vm-modules`; ' +
    'jsdom: `headlight-attention/inline`, one thread; files need `TextEncoder` of `node:util`',
  async run(place) {
    await place.run(place.bin('jest'), ['node.spec.js'], env);
    await place.run(place.bin('jest'), ['--env', 'jsdom', 'jsdom.spec.js'], env);
  },
};
