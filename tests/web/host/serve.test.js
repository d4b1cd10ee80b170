import assert from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../web/host/serve.js';

const root = fileURLToPath(new URL('../../../web/host', import.meta.url));

/** fetch would tidy the path away. */
const get = (url, path, method = 'GET') =>
  new Promise((resolve, reject) =>
    request({ host: 'localhost', port: new URL(url).port, path, method }, (response) => {
      response.resume();
      response.on('end', () => resolve(response));
    })
      .on('error', reject)
      .end(),
  );

test('serves files with their types, isolated, and nothing outside the root', async () => {
  const { url, close } = await serve({ root });
  try {
    const page = await get(url, '/');
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(page.headers['cross-origin-embedder-policy'], 'require-corp');
    assert.doesNotMatch(page.headers['content-security-policy'], /'unsafe-/);
    assert.equal((await get(url, '/main.js', 'HEAD')).headers['content-type'], 'text/javascript; charset=utf-8');
    for (const path of ['/nothing', '/../package.json', '/%2e%2e/package.json', '/..%2fpackage.json', '/%00', '/%']) {
      assert.equal((await get(url, path)).statusCode, 404, path);
    }
    assert.equal((await get(url, '/', 'POST')).statusCode, 405);
  } finally {
    await close();
  }
});

test('a port that is taken gives way to the next', async () => {
  const first = await serve({ root });
  const port = Number(new URL(first.url).port);
  const second = await serve({ root, port });
  assert.notEqual(second.url, first.url);
  await first.close();
  await second.close();
});
