// A development server: Vite serves the unbundled modules and reloads the page when one of them changes. A change of
// the core is compiled first. Arguments: --port N.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import { readPort } from './server.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Files that are next to the scripts in the built page, and their paths in the sources. @type {[RegExp, string][]} */
const PLACES = [
  [/^\/$/, '/web/entries/index.html'],
  [/^.*\/whale\.safetensors$/, '/web/demo/whale.safetensors'],
  [/^.*\/whale\.first\.json$/, '/dist/site/whale.first.json'],
  [/^.*\/whale\.tokenizer\.json$/, '/web/demo/tokenizer.json'],
  [/^.*\/(headlight\.[\w-]+\.wasm)$/, '/dist/$1'],
  [/^.*\/headlight\.worker\.js$/, '/src/js/load/worker.js'],
  [/^.*\/sentence\.safetensors$/, '/dist/site/sentence.safetensors'],
];

/** @type {import('vite').Plugin} */
const sources = {
  name: 'headlight-sources',
  enforce: 'pre',
  /** A script that imports CSS gets it as text, as in the build. */
  async resolveId(source, importer) {
    if (!/\.jsx?$/.test(importer ?? '') || !/\.css$/.test(source)) return null;
    const found = await this.resolve(source, importer, { skipSelf: true });
    return found && `${found.id}?raw`;
  },
  configureServer(server) {
    server.middlewares.use((request, response, next) => {
      const path = (request.url ?? '').replace(/\?.*/, '');
      const place = PLACES.find(([pattern]) => pattern.test(path));
      if (path === '/') return response.writeHead(302, { Location: PLACES[0][1] }).end();
      if (place) request.url = path.replace(...place);
      next();
    });
    server.watcher.on('change', (path) => {
      if (!/\/src\/core\/.*\.[ch]$/.test(path)) return;
      execFile('./build.sh', ['build'], { cwd: server.config.root }, (error, _, said) => {
        if (error) server.config.logger.error(said);
        else server.ws.send({ type: 'full-reload' });
      });
    });
  },
};

/**
 * @param {{ root?: string, port?: number }} [options] root: the folder that holds src, web and dist
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function develop({ root = ROOT, port = 8080 } = {}) {
  const server = await createServer({
    root,
    configFile: false,
    cacheDir: 'dist/obj/vite',
    appType: 'mpa',
    logLevel: 'warn',
    plugins: [sources],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    optimizeDeps: { noDiscovery: true },
    server: {
      host: '127.0.0.1',
      port,
      watch: { ignored: ['**/dist/**', '**/tests/**'] },
      headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
    },
  });
  await server.listen();
  return { url: String(server.resolvedUrls?.local[0]), close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' } } });
    const { url } = await develop({ port: readPort(values.port) });
    console.log(`Headlight is served from its sources at ${url} (Ctrl+C ends it)`);
  } catch (error) {
    console.error(`headlight: ${/** @type {Error} */ (error).message}`);
    process.exitCode = 1;
  }
}
