// A development server. Vite serves the unbundled modules and reloads the page when one of them changes. If a file of
// the core changes, the core is compiled first. The documentation is served under /docs as ./build.sh docs built it.
// Arguments: --port N.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer, type Plugin } from 'vite';
import { makeHandler, readPort } from './server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Paths of files that are next to the scripts in the built page, each with the path of the file in the sources. */
const PLACES: [RegExp, string][] = [
  [/^\/$/, '/web/entries/index.html'],
  [/^(\/web\/entries\/(?:page|preload|page\.worker))\.js$/, '$1.ts'],
  [/^.*\/whale\.safetensors$/, '/web/demo/whale.safetensors'],
  [/^.*\/whale\.first\.json$/, '/dist/site/whale.first.json'],
  [/^.*\/whale\.tokenizer\.json$/, '/web/demo/tokenizer.json'],
  [/^.*\/(headlight\.[\w-]+\.wasm)$/, '/dist/$1'],
  [/^.*\/headlight\.worker\.js$/, '/src/js/load/worker.ts'],
  [/^.*\/sentence\.safetensors$/, '/dist/site/sentence.safetensors'],
];

/**
 * Paths of the documentation, of the reference, and of the module that programs in the documentation import. The page
 * links to them relative to its own path.
 */
const DOCS = /^(\/web\/entries)?(\/(?:docs|reference|module)(?:\/.*)?)$/;

/** Serves the built documentation. */
const documentation: Plugin = {
  name: 'headlight-docs',
  configureServer(server) {
    const site = join(server.config.root, 'dist/site');
    const answer = makeHandler({ root: site });
    server.middlewares.use((request, response, next) => {
      const [path] = (request.url ?? '').split('?');
      const redirect = (to: string) => response.writeHead(302, { Location: to }).end();
      if (path === '/index.html') return redirect('/');
      const [, prefix, name] = DOCS.exec(path) ?? [];
      if (!name) return next();
      if (prefix || !name.includes('/', 1)) return redirect(name.includes('/', 1) ? name : `${name}/`);
      if (existsSync(join(site, 'docs/index.html'))) return answer(request, response).catch(next);
      response.writeHead(404, { 'Content-Type': 'text/plain' });
      response.end('The documentation has not been built: run ./build.sh docs\n');
    });
  },
};

const sources: Plugin = {
  name: 'headlight-sources',
  enforce: 'pre',
  /** A script that imports CSS gets it as text, as in the build. */
  async resolveId(source, importer) {
    if (!/\.[jt]sx?$/.test(importer ?? '') || !/\.css$/.test(source)) return null;
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
 * Starts the development server.
 * @param options root: the folder that contains src, web and dist
 */
export async function develop({
  root = ROOT,
  port = 8080,
}: {
  root?: string;
  port?: number;
} = {}): Promise<{ url: string; close(): Promise<void> }> {
  const server = await createServer({
    root,
    configFile: false,
    cacheDir: 'dist/obj/vite',
    appType: 'mpa',
    logLevel: 'warn',
    plugins: [documentation, sources],
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
    console.log(`Headlight is served from its sources at ${url}, its documentation at ${url}docs/ (Ctrl+C ends it)`);
  } catch (error) {
    console.error(`headlight: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
