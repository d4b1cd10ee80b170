// Opens models of the Hub in a page, where the browser follows redirects and the private storage of the page is the
// cache.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import test, { after, before } from 'node:test';
import { launch } from '../../support/chromium.js';
import { at, makeModel, start } from '../../support/hubCache.js';
import { logitsOf } from '../../support/logits.js';

const dist = new URL('../../../dist/', import.meta.url);
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
const MODEL = await makeModel();
const WEIGHTS = MODEL['model.safetensors'];
const expected = [...(await logitsOf(MODEL))];
/**
 * Checks that logits are nearly as expected. Node 20 has no relaxed SIMD, so the last bits differ from those of
 * Chromium.
 */
function assertLogits(logits) {
  assert.equal(logits.length, expected.length);
  assert.ok(logits.every((logit, i) => Math.abs(logit - expected[i]) < 1e-5));
}

let browser, server, origin;
before(async () => {
  server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://x');
    if (pathname === '/')
      return response.writeHead(200, { ...ISOLATED, 'Content-Type': 'text/html' }).end('<!doctype html>');
    const bytes = await readFile(new URL(`.${pathname}`, dist)).catch(() => undefined);
    const type = TYPES[pathname.split('.').pop()] ?? 'application/octet-stream';
    return response.writeHead(bytes ? 200 : 404, { ...ISOLATED, 'Content-Type': type }).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.close();
});

/** Opens a page with separate storage, and starts the Hub from which it opens models. */
async function open(t, model = MODEL) {
  const hub = await start(t, { 'owner/gpt2': model });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(origin);
  return { hub, page, context };
}

/** Opens a model in the page. Returns the logits and the source of the model, or the error. */
const openIn = (page, hub, { hub: more = {}, ...options } = {}, name = 'hf://owner/gpt2') =>
  page.evaluate(
    async ([origin, name, options]) => {
      const { load } = await import(`${origin}/headlight.js`);
      const hl = await load();
      try {
        const model = await hl.openModel(name, options);
        const result = model.forward([5, 17, 80, 3]);
        return { logits: [...result.logits.data], source: model.source };
      } catch ({ message, code, reason, page }) {
        return { error: { message, code, reason, page } };
      } finally {
        hl.dispose();
      }
    },
    [origin, name, { ...options, hub: { endpoint: hub.endpoint, ...more } }],
  );
const manage = (page, name, ...args) =>
  page.evaluate(
    async ([origin, name, args]) => (await import(`${origin}/hub.js`))[name](...args),
    [origin, name, args],
  );
const weightRequests = (hub) => hub.requests.filter(({ server }) => server === 'cdn').length;

test('a page opens a model; the second opening requests the commit alone, offline nothing', async (t) => {
  const { hub, page, context } = await open(t);
  const first = await openIn(page, hub);
  assertLogits(first.logits);
  assert.equal(first.source.cached, true);
  assert.ok(hub.requests.every(({ method }) => method === 'GET'));
  // The address of the file is resolved only once. The signed address is used for all other ranges.
  assert.equal(hub.to('hub').filter((path) => path.includes('/resolve/') && path.includes('safetensors')).length, 1);
  assert.ok(weightRequests(hub) <= 2);
  hub.again();
  const again = await context.newPage();
  await again.goto(origin);
  assertLogits((await openIn(again, hub)).logits);
  assert.deepEqual(hub.to('hub'), ['/api/models/owner/gpt2/revision/main']);
  assert.equal(weightRequests(hub), 0);
  hub.again();
  assertLogits((await openIn(again, hub, { hub: { offline: true } })).logits);
  assert.deepEqual(hub.requests, []);
  const [model] = await manage(page, 'cached');
  assert.equal(model.size, WEIGHTS.length + MODEL['config.json'].length);
  assert.equal(model.revision, first.source.revision);
  await manage(page, 'forget', 'owner/gpt2');
  assert.deepEqual(await manage(page, 'cached'), []);
  assert.equal((await openIn(page, hub, { hub: { offline: true } })).error.reason, 'offline');
});

test('two of eight layers cost their bytes, and all layers the rest', async (t) => {
  const { hub, page } = await open(t);
  await openIn(page, hub, { layers: 2 });
  const cost = hub.sent();
  assert.ok(cost < WEIGHTS.length * 0.28, `${cost}`);
  hub.again();
  await openIn(page, hub, { layers: 2 });
  assert.equal(weightRequests(hub), 0);
  assertLogits((await openIn(page, hub)).logits);
  assert.ok(hub.sent() < WEIGHTS.length + 2 ** 18);
});

test('a page that is closed in the middle of a download continues it when it is opened again', async (t) => {
  const { hub, page, context } = await open(t);
  const limit = Math.floor(WEIGHTS.length * 0.9);
  let sent;
  const stalled = new Promise((resolve) => {
    sent = resolve;
  });
  hub.fault = ({ server, range }) => {
    const [first, last] = (range ?? '').match(/\d+/g)?.map(Number) ?? [];
    // Matches the response that contains the weights at `limit`, wherever its range begins.
    if (server !== 'cdn' || !(last >= limit)) return undefined;
    return (response, { status, headers, body }) => {
      response.writeHead(status, { 'content-length': body.length, ...headers });
      response.write(body.subarray(0, limit - first), () => setTimeout(sent, 500));
    };
  };
  openIn(page, hub).catch(() => {});
  await stalled;
  await page.close();
  hub.fault = () => undefined;
  const before = hub.sent();
  const again = await context.newPage();
  await again.goto(origin);
  const { logits, source } = await openIn(again, hub);
  assertLogits(logits);
  assert.equal(source.cached, true);
  assert.ok(hub.sent() - before < WEIGHTS.length - 2 ** 23 + 2 ** 18, `${hub.sent() - before}`);
});

test('without private storage the model opens, and says that it is not cached', async (t) => {
  const { hub, page } = await open(t);
  for (const [remove, note] of [
    ['delete StorageManager.prototype.getDirectory', /has no private storage/],
    ['StorageManager.prototype.getDirectory = () => Promise.reject(new Error("blocked"))', /cannot be used: blocked/],
  ]) {
    await page.evaluate(remove);
    const { logits, source } = await openIn(page, hub);
    assertLogits(logits);
    assert.equal(source.cached, false);
    assert.match(source.cacheNote, note);
  }
  assert.deepEqual(await manage(page, 'cached'), []);
});

test('without room the model opens and is not cached: known before, and in the middle of writing', async (t) => {
  const { hub, page, context } = await open(t);
  const devtools = await context.newCDPSession(page);
  await page.evaluate('StorageManager.prototype.estimate = async () => ({ quota: 10 * 2 ** 20, usage: 0 })');
  const { logits, source } = await openIn(page, hub);
  assertLogits(logits);
  assert.equal(source.cached, false);
  assert.match(source.cacheNote, /cannot hold the model: it needs 12 MB, and there is room for 6 MB/);
  await page.evaluate('StorageManager.prototype.estimate = async () => ({ quota: 1e12, usage: 0 })');
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 2 ** 20 });
  const second = await openIn(page, hub);
  assertLogits(second.logits);
  assert.equal(second.source.cached, false);
  assert.match(second.source.cacheNote, /cannot hold the model: .*quota/);
  assert.ok((await manage(page, 'cached')).every(({ files }) => files.every(({ name }) => name === 'config.json')));
  await devtools.send('Storage.overrideQuotaForOrigin', { origin });
});

test('a token is sent to the endpoint alone, also after a redirect', async (t) => {
  const { hub, page } = await open(t, { files: MODEL, private: true });
  const { logits } = await openIn(page, hub, { hub: { token: 'hf_secret' } });
  assertLogits(logits);
  for (const { server, authorization } of hub.requests)
    assert.equal(authorization, server === 'hub' ? 'Bearer hf_secret' : undefined);
});

test('a model that was renamed, one that is gated, and one that does not exist', async (t) => {
  const { hub, page } = await open(t, { files: MODEL, gated: 'auto' });
  const gated = (await openIn(page, hub)).error;
  assert.equal(gated.reason, 'gated');
  assert.equal(gated.page, `${hub.endpoint}/owner/gpt2`);
  assert.equal((await openIn(page, hub, {}, 'hf://owner/none')).error.reason, 'notFound');
  hub.push('new/gpt2', MODEL);
  hub.models.set('old/gpt2', { renamedTo: 'new/gpt2' });
  const { source } = await openIn(page, hub, {}, 'hf://old/gpt2');
  assert.equal(source.id, 'new/gpt2');
  assert.equal(source.renamedFrom, 'old/gpt2');
});

test('an expired address, a broken connection and a limit are temporary in a page too', async (t) => {
  const { hub, page } = await open(t);
  let count = 0;
  hub.fault = ({ server, path }) => {
    if (server === 'hub')
      return path.includes('/revision/') && count++ === 0 ? (response) => response.writeHead(503).end() : undefined;
    return count++ === 2
      ? (response, { status, headers, body }) => {
          hub.expire();
          response.writeHead(status, { 'content-length': body.length, ...headers });
          response.write(body.subarray(0, 3_000_000), () => setTimeout(() => response.destroy(), 50));
        }
      : undefined;
  };
  assertLogits((await openIn(page, hub)).logits);
  assert.equal(hub.to('hub').filter((path) => path.includes('/resolve/') && path.includes('safetensors')).length, 2);
});

test('a file that changed is refused and removed', async (t) => {
  const { hub, page } = await open(t);
  hub.fault = ({ server }) =>
    server === 'cdn' &&
    ((response, { status, headers, body }) => {
      const wrong = Buffer.from(body);
      wrong[wrong.length - 2] ^= 1;
      response.writeHead(status, { ...headers, 'content-length': body.length }).end(wrong);
    });
  assert.equal((await openIn(page, hub)).error.reason, 'changed');
  hub.fault = () => undefined;
  assertLogits((await openIn(page, hub)).logits);
});

test('a worker opens a model from the same cache', async (t) => {
  const { hub, page } = await open(t);
  await openIn(page, hub);
  hub.again();
  const logits = await page.evaluate(
    ([origin, endpoint]) =>
      new Promise((resolve, reject) => {
        const program = `import { load } from '${origin}/headlight.js';
          const model = await (await load()).openModel('hf://owner/gpt2', { hub: { endpoint: '${endpoint}' } });
          postMessage([...model.forward([5, 17, 80, 3]).logits.data]);`;
        const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }));
        const worker = new Worker(url, { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      }),
    [origin, hub.endpoint],
  );
  assertLogits(logits);
  assert.equal(weightRequests(hub), 0);
  assert.deepEqual(at(hub).hub.endpoint, hub.endpoint);
});
