// rolldown's configuration for the view. What it needs at first is in two files: the entry finds its worker relative to
// its own address, so it is not in the group.

import { defineConfig } from 'rolldown';
import { minify, styleSheets } from './plugins.ts';

export default defineConfig({
  input: { view: 'web/entries/view.ts' },
  platform: 'browser',
  moduleTypes: { '.py': 'text' },
  plugins: [styleSheets, minify],
  transform: { target: 'es2022' },
  preserveEntrySignatures: 'strict',
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
  output: {
    dir: 'dist',
    format: 'esm',
    minify: false,
    chunkFileNames: 'view/[hash].js',
    codeSplitting: {
      groups: [{ name: 'first', tags: ['$initial'], test: (id) => !/\/entries\/view(\.startWorker)?\.ts$/.test(id) }],
    },
  },
});
