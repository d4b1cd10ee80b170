// rolldown's configuration for the page. The code that a page or worker needs at first is in one file; without a group,
// rolldown would write a file for each set of entries that share code. The script that runs before the page is parsed
// has its own file.

import { styleSheets } from './plugins.ts';

/** The script that runs before the page is parsed is a file of its own. */
const preload = {
  name: 'preload',
  resolveId: (source: string) => (source === './preload.ts' ? { id: './preload.js', external: true } : null),
};

const common = {
  platform: 'browser',
  moduleTypes: { '.py': 'text' },
  plugins: [styleSheets],
  transform: { target: 'es2022' },
  preserveEntrySignatures: 'allow-extension',
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
  output: {
    dir: 'dist/site',
    format: 'esm',
    minify: true,
    sourcemap: true,
    chunkFileNames: 'part-[hash].js',
    codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] },
  },
};

export default [
  { ...common, input: 'web/entries/preload.ts' },
  { ...common, input: 'web/entries/page.ts', plugins: [styleSheets, preload] },
  { ...common, input: 'web/entries/page.worker.ts' },
];
