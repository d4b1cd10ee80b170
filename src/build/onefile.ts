// Builds the page as one file, which can be opened from a disk. Scripts, binaries and the demo model are elements of
// the document, deflated and encoded in base64. Arguments: the file to write, the licences, then the binaries.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';

const ROOT = new URL('../../', import.meta.url);
const path = (name: string) => fileURLToPath(new URL(name, ROOT));

/** Replaces the scripts that start the worker from an address by a script that starts the worker from the document. */
const inDocument: Plugin = {
  name: 'worker-in-document',
  setup({ onResolve }) {
    onResolve({ filter: /\/(page\.startWorker|preload)\.ts$/ }, () => ({
      path: path('web/entries/onefile.startWorker.ts'),
    }));
  },
};

/** Bundles a script with all that it imports, including dynamic imports. */
async function bundle(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [path(entry)],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    write: false,
    loader: { '.css': 'text', '.html': 'text' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The settings of tsconfig.json do not apply to files that a plugin resolves. Which files a plugin resolves first
    // varies from run to run, so no settings are used.
    tsconfigRaw: {},
    banner: { js: '"use strict";' },
    plugins: [inDocument],
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return outputFiles[0].contents;
}

const block = (id: string, bytes: Uint8Array) =>
  `<script type="text/plain" id="${id}">${deflateSync(bytes, { level: 9 }).toString('base64')}</script>\n`;

/** Runs the compressed script in the document as a new script element, so that eval is not needed. */
const BEGIN = `<script>
(async () => {
  const letters = atob(document.getElementById('page').textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
  document.body.append(Object.assign(document.createElement('script'), { textContent: await text }));
})().catch((error) => document.body.append('Headlight needs a newer browser: ' + error.message));
</script>
`;

const hashOf = (script: string | Uint8Array) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/**
 * Returns the element with the content security policy. Only the two scripts of the file run, and the worker, whose
 * script is a blob. Models may be fetched from the Hub and its mirrors.
 */
function policy(page: Uint8Array) {
  const begin = BEGIN.slice('<script>'.length, BEGIN.indexOf('</script>'));
  const rules = [
    "default-src 'none'",
    `script-src ${hashOf(begin)} ${hashOf(page)} blob: 'wasm-unsafe-eval'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'connect-src https: http://localhost:* http://127.0.0.1:* data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join('; ')}">\n`;
}

const [out, licences, ...binaries] = process.argv.slice(2);
const html = readFileSync(path('web/entries/index.html'), 'utf8');
/** Elements that lead to separate files. */
const LINKS = /(<script type="module" src="[^"]+"[^>]*><\/script>|<link rel="(help|license)"[^>]*>)\n/g;
const [page, worker] = await Promise.all(['web/entries/onefile.ts', 'web/entries/onefile.worker.ts'].map(bundle));
const blocks = [
  block('page', page),
  block('worker', worker),
  ...binaries.map((file) => block(basename(file).split('.')[1], readFileSync(file))),
  block('whale.tokenizer.json', readFileSync(path('web/demo/tokenizer.json'))),
  block('whale.passages.txt', readFileSync(path('web/demo/whale.passages.txt'))),
  block('whale.safetensors', readFileSync(path('web/demo/whale.safetensors'))),
  BEGIN,
  `<!--\n${readFileSync(licences, 'utf8')}-->\n`,
];
writeFileSync(
  out,
  html
    .replace(LINKS, '')
    // Only what follows the policy is subject to it.
    .replace('<meta name="viewport"', (found) => policy(page) + found)
    .replace('</body>', () => `${blocks.join('')}</body>`),
);
