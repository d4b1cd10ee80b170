// Tests threads and models in pages whose headers, or whose module on another origin, could prevent them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import test, { after, before } from 'node:test';
import { launch } from '../../support/chromium.js';
import { serveFiles } from '../../support/faulty_server.js';
import { modelFiles } from '../../support/golden.js';

const dist = new URL('../../../dist/', import.meta.url);
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
/** The only header that a CDN must send. */
const CDN = { 'Access-Control-Allow-Origin': '*' };
/**
 * A page that loads the module from the address after the # of the page's address, requests two threads, and reports
 * the result.
 */
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  try {
    const { load } = await import(location.hash.slice(1));
    const hl = await load({ threads: 2 });
    const { threads, threadsNote } = hl.info;
    const right = hl.attention([[[1]]], [[[1], [1]]], [[[2], [4]]]).output.toArray();
    document.body.dataset.said = JSON.stringify({ threads, threadsNote, right });
  } catch (error) {
    document.body.dataset.said = JSON.stringify(String(error));
  }
</script>`;

/**
 * Serves the page and dist/. The query ?policy=… sets the Content-Security-Policy of the page.
 * @param {Record<string, string>} common headers of every response
 * @param {string} [without] path of a file that is missing
 */
async function serve(common, without = '') {
  const server = createServer(async ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const policy = searchParams.get('policy');
    const headers = { ...common, ...(policy && { 'Content-Security-Policy': policy }) };
    if (pathname === '/') return response.writeHead(200, { ...headers, 'Content-Type': 'text/html' }).end(PAGE);
    const bytes = pathname !== without && (await readFile(new URL(`.${pathname}`, dist)).catch(() => undefined));
    if (!bytes) return response.writeHead(404, headers).end();
    response
      .writeHead(200, { ...headers, 'Content-Type': TYPES[pathname.split('.').pop()] ?? 'application/octet-stream' })
      .end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Servers: `here` has an isolated page, `plain` a page without headers, `cdn` the module on another origin. */
let browser, here, plain, cdn, cdnWithoutWorker;
before(async () => {
  [browser, here, plain, cdn, cdnWithoutWorker] = await Promise.all([
    launch(),
    serve(ISOLATED),
    serve({}),
    serve(CDN),
    serve(CDN, '/headlight.worker.js'),
  ]);
});
after(async () => {
  await browser.close();
  for (const server of [here, plain, cdn, cdnWithoutWorker]) server.close();
});

/** Returns the result of a page that loads the module from an origin. */
async function open(from, { policy = '', at = here } = {}) {
  const page = await browser.newPage();
  await page.goto(`${at.origin}/?policy=${encodeURIComponent(policy)}#${from.origin}/headlight.js`);
  const said = await page.waitForFunction(() => document.body?.dataset.said, undefined, { timeout: 300_000 });
  const result = JSON.parse(await said.jsonValue());
  await page.close();
  assert.deepEqual(result.right, [[[3]]], JSON.stringify(result));
  return result;
}

test('in an isolated page there are threads', async () => {
  const { threads, threadsNote } = await open(here);
  assert.equal(threads, 2);
  assert.equal(threadsNote, undefined);
});

test('in an isolated page a module from another origin has threads', async () => {
  assert.deepEqual(await open(cdn), { threads: 2, right: [[[3]]] });
});

test('without isolation a module from another origin runs on one thread, and the note says why', async () => {
  const { threads, threadsNote } = await open(cdn, { at: plain });
  assert.equal(threads, 1);
  assert.match(threadsNote, /^threads need shared memory: .*Cross-Origin-Embedder-Policy/);
});

test('a module from another origin runs on one thread where that has no worker, and the note says so', async () => {
  const { threads, threadsNote } = await open(cdnWithoutWorker);
  assert.equal(threads, 1);
  assert.match(threadsNote, /a worker did not start: headlight\.worker\.js is not next to the module \(status 404\)/);
});

test('a module from another origin runs on one thread where a policy forbids its worker', async () => {
  const policy = `script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' ${cdn.origin}; worker-src 'self'`;
  const { threads, threadsNote } = await open(cdn, { policy });
  assert.equal(threads, 1);
  assert.match(threadsNote, /a worker did not start: .*Content-Security-Policy.*worker-src/);
});

for (const policy of ["worker-src 'none'", "script-src 'unsafe-inline' 'wasm-unsafe-eval' *; worker-src 'none'"]) {
  test(`if the policy ${policy} forbids workers, there is one thread, and the note gives the reason`, async () => {
    const { threads, threadsNote } = await open(here, { policy });
    assert.equal(threads, 1);
    assert.match(threadsNote, /a worker did not start: .*Content-Security-Policy.*worker-src/);
  });
}

/** Runs a function in a page with an instance of the module, and returns its result. */
async function inPage(run, argument, { at = here, from = here } = {}) {
  const page = await browser.newPage();
  await page.goto(`${at.origin}/#${from.origin}/headlight.js`);
  const got = await page.evaluate(
    async ([run, argument, module]) => {
      const { load } = await import(module);
      return new Function('hl', 'argument', `return (${run})(hl, argument)`)(await load(), argument);
    },
    [String(run), argument, `${from.origin}/headlight.js`],
  );
  await page.close();
  return got;
}

test('a page opens the model that is included in the package, and says how to open one of the Hub', async () => {
  const got = await inPage(async (hl) => {
    const model = await hl.openModel('demo');
    const { text } = await model.generate('Call me', { max: 3 });
    const error = await hl.openModel('openai-community/gpt2').catch(({ message }) => message);
    return { text, error };
  });
  assert.ok(got.text.length > 0);
  assert.match(got.error, /there is no config\.json.*Hugging Face Hub, open hf:\/\/openai-community\/gpt2/);
});

test('a page opens the model that is included in the package from another origin', async () => {
  const run = async (hl) => (await (await hl.openModel('demo')).generate('Call me', { max: 3 })).text;
  const text = await inPage(run, undefined, { at: plain, from: cdn });
  assert.equal(text, await inPage(run));
});

test('a page reads ranges of another origin, and whole files where it cannot see Content-Range', async (t) => {
  const files = modelFiles('llama-a');
  const expose = { 'access-control-expose-headers': 'Content-Range' };
  for (const [exposed, requests] of [
    [expose, ['GET /config.json']],
    [{}, ['GET /config.json', 'GET /config.json']],
  ]) {
    const server = await serveFiles(files);
    t.after(server.close);
    const allowed = { 'access-control-allow-origin': '*', ...exposed };
    server.fault =
      () =>
      (response, { status, headers, body }) =>
        response.writeHead(status, { ...headers, ...allowed }).end(body);
    const logits = await inPage(async (hl, url) => {
      const model = await hl.openModel(url);
      return [...model.forward([1, 2, 3], { last: true }).logits.data];
    }, server.url);
    assert.ok(logits.length > 0 && logits.every(Number.isFinite));
    assert.deepEqual(
      server.requests.filter((request) => request.endsWith('/config.json')),
      requests,
    );
    assert.ok(server.requests.every((request) => request.startsWith('GET ')));
  }
});
