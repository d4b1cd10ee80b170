// A small static server for the page: the right types, cross-origin isolation, and a policy under which only
// WebAssembly may be compiled. As a program: serves dist/site and opens the browser.

import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.safetensors': 'application/octet-stream',
};
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Content-Security-Policy':
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

/** The file that a request means, or null: nothing outside the root. */
async function findFile(root, url) {
  try {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
    const file = normalize(join(root, path.endsWith('/') ? `${path}index.html` : path));
    if (!file.startsWith(normalize(root) + sep) || path.includes('\0')) return null;
    return (await stat(file)).isFile() ? file : null;
  } catch {
    return null;
  }
}

/**
 * Serves a folder on this machine only; a port that is taken gives way to the next.
 * @param {{ root: string, port?: number, headers?: Record<string, string> }} options
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export function serve({ root, port = 0, headers = {} }) {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    const file = await findFile(root, request.url ?? '/');
    if (!file) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found\n');
      return;
    }
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      ...headers,
    });
    if (request.method === 'HEAD') response.end();
    else createReadStream(file).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EADDRINUSE') server.listen(++port, '127.0.0.1');
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve({
        url: `http://localhost:${taken}/`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}

function open(url) {
  const [command, ...rest] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return;
  spawn(command, [...rest, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--port');
  const { url } = await serve({
    root: fileURLToPath(new URL('../../dist/site', import.meta.url)),
    port: at > 0 ? Number(process.argv[at + 1]) : 8080,
  });
  console.log(`Headlight is at ${url} (Ctrl+C ends it)`);
  if (!process.argv.includes('--no-open')) open(url);
}
