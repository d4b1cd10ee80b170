import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { serve } from '../../src/build/server.ts';
import { until } from '../support/wait.js';

const root = mkdtempSync(join(tmpdir(), 'headlight-serve-'));
after(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, 'index.html'), '<!doctype html><title>here</title>');
writeFileSync(join(root, 'main.js'), 'export {};');
mkdirSync(join(root, 'docs'));
for (const name of ['docs/index.html', 'docs.html'])
  writeFileSync(join(root, name), '<!doctype html><title>docs</title>');
mkdirSync(join(root, '.git'));
writeFileSync(join(root, '.git', 'config'), 'secret');
writeFileSync(join(root, '.env'), 'secret');
symlinkSync('/etc/hostname', join(root, 'link.txt'));
symlinkSync('/etc', join(root, 'folder'));
symlinkSync('main.js', join(root, 'inside.js'));
const LARGE = join(root, 'large.bin');
writeFileSync(LARGE, '');
truncateSync(LARGE, 2 ** 26);

/** Sends a request. fetch is not used because it would normalize the path and set the Host header itself. */
const get = (url, path, { method = 'GET', headers = {}, read = (response) => response.resume() } = {}) =>
  new Promise((resolve, reject) =>
    request({ host: '127.0.0.1', port: new URL(url).port, path, method, headers }, (response) => {
      read(response);
      response.on('close', () => resolve(response));
    })
      .on('error', reject)
      .end(),
  );

test('serves files with content types and isolation headers, and nothing outside the root', async () => {
  const { url, close } = await serve({ root });
  try {
    const page = await get(url, '/');
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(page.headers['cross-origin-embedder-policy'], 'require-corp');
    assert.doesNotMatch(page.headers['content-security-policy'], /'unsafe-/);
    assert.match(page.headers['content-security-policy'], /frame-ancestors 'self'$/);
    const [, hosts] = /connect-src ([^;]*)/.exec(page.headers['content-security-policy']);
    assert.equal(hosts, "'self' https://huggingface.co https://*.huggingface.co https://*.hf.co");
    const head = await get(url, '/main.js', { method: 'HEAD' });
    assert.equal(head.headers['content-type'], 'text/javascript; charset=utf-8');
    for (const path of ['/nothing', '/../package.json', '/%2e%2e/package.json', '/..%2fpackage.json', '/%00', '/%'])
      assert.equal((await get(url, path)).statusCode, 404, path);
    assert.equal((await get(url, '/', { method: 'POST' })).statusCode, 405);
  } finally {
    await close();
  }
});

const bodyOf = (response, chunks = []) => response.on('data', (chunk) => chunks.push(chunk)) && chunks;

test('only the documentation may have style attributes, and no file may have inline scripts', async () => {
  const { url, close } = await serve({ root });
  try {
    const policyOf = async (path) => (await get(url, path)).headers['content-security-policy'];
    assert.match(
      await policyOf('/docs/index.html'),
      /script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'/,
    );
    for (const path of ['/', '/main.js', '/docs/..%2findex.html', '/docs.html'])
      assert.doesNotMatch((await policyOf(path)) ?? '', /unsafe-inline/, path);
  } finally {
    await close();
  }
});

test('text is compressed if the client accepts it; otherwise the response has a length', async () => {
  const text = 'export const word = 1;\n'.repeat(200);
  writeFileSync(join(root, 'long.js'), text);
  const { url, close } = await serve({ root });
  const read = async (headers) => {
    let chunks = [];
    const { headers: answer } = await get(url, '/long.js', { headers, read: (r) => void (chunks = bodyOf(r)) });
    return { answer, body: Buffer.concat(chunks) };
  };
  try {
    const zipped = await read({ 'accept-encoding': 'br, gzip;q=0.8' });
    assert.equal(zipped.answer['content-encoding'], 'gzip');
    assert.equal(zipped.answer.vary, 'Accept-Encoding');
    assert.equal(gunzipSync(zipped.body).toString(), text);
    const plain = await read({});
    assert.equal(plain.answer['content-encoding'], undefined);
    assert.equal(Number(plain.answer['content-length']), text.length);
    assert.equal(plain.body.toString(), text);
    const weights = await get(url, '/large.bin', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
    assert.equal(weights.headers['content-encoding'], undefined);
    assert.equal(Number(weights.headers['content-length']), 2 ** 26);
  } finally {
    await close();
  }
});

test('a cached file is not sent again until it changes', async () => {
  const { url, close } = await serve({ root });
  try {
    const { etag } = (await get(url, '/main.js')).headers;
    const again = (tag) => get(url, '/main.js', { headers: { 'if-none-match': tag } });
    assert.equal((await again(`"other", ${etag}`)).statusCode, 304);
    writeFileSync(join(root, 'main.js'), 'export {}; // changed');
    const changed = await again(etag);
    assert.equal(changed.statusCode, 200);
    assert.notEqual(changed.headers.etag, etag);
  } finally {
    await close();
  }
});

test('neither dot-files nor links are served', async () => {
  const { url, close } = await serve({ root });
  try {
    for (const path of ['/.env', '/.git/config', '/%2egit/config', '/link.txt', '/folder/hostname', '/inside.js'])
      assert.equal((await get(url, path)).statusCode, 404, path);
  } finally {
    await close();
  }
});

test('a root that is a symbolic link is served', async () => {
  const link = `${root}-link`;
  symlinkSync(root, link);
  const { url, close } = await serve({ root: link });
  try {
    assert.equal((await get(url, '/main.js')).statusCode, 200);
  } finally {
    await close();
    rmSync(link);
  }
});

test('responds only to requests with a name of this machine as Host', async () => {
  const { url, close } = await serve({ root });
  const { port } = new URL(url);
  try {
    for (const host of [`localhost:${port}`, 'localhost', `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
      assert.equal((await get(url, '/', { headers: { host } })).statusCode, 200, host);
    for (const host of [
      `evil.example:${port}`,
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',

      'localhost:',
    ])
      assert.equal((await get(url, '/', { headers: { host } })).statusCode, 403, host);
  } finally {
    await close();
  }
});

const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === LARGE;
    } catch {
      return false;
    }
  }).length;

test('an aborted download leaves no file open', { skip: process.platform !== 'linux' }, async () => {
  const { url, close } = await serve({ root });
  try {
    for (let i = 0; i < 100; i++)
      await get(url, '/large.bin', { read: (response) => response.once('data', () => response.destroy()) });
    for (let i = 0; i < 10; i++) await get(url, '/large.bin', { method: 'HEAD' });
    await until(() => openFiles() === 0);
    assert.equal((await get(url, '/main.js')).statusCode, 200);
  } finally {
    await close();
  }
});

test('if a port is in use, the next one is used', async () => {
  const first = await serve({ root });
  const port = Number(new URL(first.url).port);
  const second = await serve({ root, port });
  assert.notEqual(second.url, first.url);
  await first.close();
  await second.close();
});

const program = fileURLToPath(new URL('../../src/build/server.ts', import.meta.url));

test('invalid arguments give an error of one line', async () => {
  for (const [args, said] of [
    [['--port', 'x'], /^headlight: --port takes a number from 0 to 65535, got "x"\n$/],
    [['--port', '70000'], /^headlight: --port takes a number/],
    [['--port', '-1'], /^headlight: .*--port/],
    [['--port', ''], /^headlight: --port takes a number/],
    [['--port'], /^headlight: .*--port/],
    [['--prot', '8080'], /^headlight: .*--prot/],
  ]) {
    const failed = await promisify(execFile)(process.execPath, [program, '--no-open', ...args]).then(
      () => assert.fail(`${args} is valid`),
      (error) => error,
    );
    assert.equal(failed.code, 1, String(args));
    assert.match(failed.stderr, said);
    assert.doesNotMatch(failed.stderr, /\n\s+at /);
  }
});
