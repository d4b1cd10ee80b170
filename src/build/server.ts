// A small static server for the page, with types, compression, caching, cross-origin isolation, and a content security
// policy. The policy allows compiling WebAssembly and fetching models from the Hugging Face Hub. As a program, it
// serves dist/site and opens the browser.

import { spawn } from 'node:child_process';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.safetensors': 'application/octet-stream',
};
/** Types of files that are compressed. Weights are not among them, because they would not get smaller. */
const COMPRESSED = new Set(['.html', '.js', '.mjs', '.css', '.json', '.svg', '.wasm']);
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Content-Security-Policy': [
    "default-src 'self'",
    // The Hugging Face Hub, and the hosts from which it sends large files.
    "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    // Pages of other sites cannot show this one in a frame, in which a user could be made to click.
    "frame-ancestors 'self'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

/**
 * The policy of the documentation, which highlights programs with style attributes. Like the page, it has no inline
 * scripts.
 */
const DOCS_POLICY = HEADERS['Content-Security-Policy'].replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** Names of this machine. Requests with another Host are refused, which prevents DNS rebinding. */
const OWN_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const MAX_PORT = 65535;

/** Returns the values in a header's list, without their parameters after a semicolon. */
const parseList = (header = '') => header.split(',').map((word) => word.split(';')[0].trim());

/** Returns the path of the requested file; null if it is outside the root, a dot-file or a link. */
async function findFile(root: string, url: string) {
  const path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  const names = path.split('/').filter((name) => name !== '');
  if (names.some((name) => name.startsWith('.') || /[\\\0]/.test(name))) return null;
  const folder = await realpath(root);
  const file = join(folder, ...names, ...(path.endsWith('/') ? ['index.html'] : []));
  return (await realpath(file)) === file ? file : null;
}

/**
 * Opens the requested file. Returns the open file with its path and size, or null if there is no such file. The caller
 * closes the file.
 */
async function openFile(root: string, url: string) {
  let handle: FileHandle | undefined;
  try {
    const path = await findFile(root, url);
    if (!path) return null;
    handle = await open(path);
    const stat = await handle.stat();
    if (stat.isFile()) return { path, handle, size: stat.size, tag: `"${stat.size}-${stat.mtimeMs}"` };
  } catch {
    // A missing file and an unreadable one both give status 404.
  }
  await handle?.close();
  return null;
}

/** Returns a function that answers requests for the files of a folder. */
export function makeHandler({
  root,
  headers = {},
}: {
  root: string;
  headers?: Record<string, string>;
}): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const refuse = (response: ServerResponse, status: number, text: string, more = {}) =>
    void response.writeHead(status, { 'Content-Type': 'text/plain', ...more }).end(`${text}\n`);
  return async (request, response) => {
    if (!OWN_HOST.test(request.headers.host ?? '')) return refuse(response, 403, 'only as localhost');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'only GET and HEAD', { Allow: 'GET, HEAD' });
    const file = await openFile(root, request.url ?? '/');
    if (!file) return refuse(response, 404, 'not found');
    const docs = join(await realpath(root), 'docs', sep);
    const extension = extname(file.path);
    const asked = parseList(request.headers['accept-encoding']);
    const compress = COMPRESSED.has(extension) && asked.includes('gzip');
    // A weak tag, because the compressed file has the same tag.
    const known = parseList(request.headers['if-none-match']).includes(`W/${file.tag}`);
    response.writeHead(known ? 304 : 200, {
      ...HEADERS,
      ...(file.path.startsWith(docs) && { 'Content-Security-Policy': DOCS_POLICY }),
      ETag: `W/${file.tag}`,
      Vary: 'Accept-Encoding',
      'Content-Type': TYPES[extension] ?? 'application/octet-stream',
      ...(compress ? { 'Content-Encoding': 'gzip' } : !known && { 'Content-Length': file.size }),
      ...headers,
    });
    if (known || request.method === 'HEAD') {
      response.end();
      await file.handle.close();
      return;
    }
    // pipeline closes the file even if the client aborts the download.
    const stages = [file.handle.createReadStream(), ...(compress ? [createGzip()] : []), response];
    await pipeline(stages).catch(() => {});
  };
}

/** Serves a folder on this machine only. If the port is in use, the next free port is used. */
export function serve({
  root,
  port = 0,
  headers,
}: {
  root: string;
  port?: number;
  headers?: Record<string, string>;
}): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(makeHandler({ root, headers }));
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && port < MAX_PORT) server.listen(++port, '127.0.0.1');
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = server.address() as AddressInfo;
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

function openBrowser(url: string) {
  const [command, ...rest] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return;
  spawn(command, [...rest, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

/** @param text value of --port */
export function readPort(text = '8080') {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw new RangeError(`--port takes a number from 0 to ${MAX_PORT}, got ${JSON.stringify(text)}`);
  return port;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' }, 'no-open': { type: 'boolean' } } });
    const root = fileURLToPath(new URL('../../dist/site', import.meta.url));
    const { url } = await serve({ root, port: readPort(values.port) });
    console.log(`Headlight is at ${url} (Ctrl+C ends it)`);
    if (!values['no-open']) openBrowser(url);
  } catch (error) {
    console.error(`headlight: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
