// How rolldown makes the files of the page. What a page or worker needs at first is one file, not one for each set of
// parts that share it. What begins before the page is read has a file of its own.

const common = {
  platform: 'browser',
  moduleTypes: { '.css': 'text', '.py': 'text' },
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
  { ...common, input: 'web/entries/preload.js' },
  { ...common, input: 'web/entries/page.js', external: './preload.js' },
  { ...common, input: 'web/entries/page.worker.js' },
];
