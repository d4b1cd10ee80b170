import { expectComputed, lastLine } from '../../expect.js';

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
const TARGET = ['--target', 'es2022', '--lib', 'es2022,dom', '--outDir', 'built'];

export default {
  title: 'TypeScript 6',
  what: 'strict, `node16` and `bundler`',
  threads: 'yes',
  view: '—',
  note: '',
  async run(place) {
    for (const [module, resolution] of [
      ['esnext', 'bundler'],
      ['node16', 'node16'],
    ]) {
      const how = ['--module', module, '--moduleResolution', resolution];
      await place.run(place.bin('tsc'), [...STRICT, ...TARGET, ...how, 'use.ts']);
      expectComputed(lastLine(await place.run('node', ['built/use.js'])));
    }
  },
};
