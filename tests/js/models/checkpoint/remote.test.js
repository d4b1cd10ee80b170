// Opens models from faulty servers. Each fault must give an error with the name of the file, and stay within limits of
// memory and received bytes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { fuzzResponses } from '../../../fuzz/responses.js';
import { FAULTS, serveFiles } from '../../../support/faulty_server.js';
import { GOLDEN, modelFiles } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { logitsOf } from '../../../support/logits.js';

const LLAMA = {
  ...modelFiles('llama-a'),
  'tokenizer.json': new Uint8Array(readFileSync(join(GOLDEN, 'tokenizers', 'bpe', 'tokenizer.json'))),
};
const SHARDS = modelFiles('qwen2-a');
/** Maximum bytes of a JSON file, and bytes that may be in transit when a connection is closed. */
const JSON_LIMIT = 64 * 2 ** 20;
const ON_THE_WAY = 8 * 2 ** 20;
const json = (value) => new TextEncoder().encode(JSON.stringify(value));

async function serve(t, files = LLAMA) {
  const server = await serveFiles(files);
  t.after(server.close);
  return server;
}

const expected = await logitsOf(LLAMA);

/** Checks that opening fails with an error that matches, and that all memory is freed. */
async function refuses(source, { code, message }, options) {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(source, options), (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    if (code) assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    assert.ok(error.message.length < 1000, error.message.slice(0, 2000));
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

/**
 * Requests that get a faulty response: the first one for config.json, one for the weights, and the last one, for the
 * tokenizer.
 */
const PLACES = [
  ['config.json', 0],
  ['model.safetensors', 1],
  ['tokenizer.json', 0],
];
/** Faults that are tested only once, because such a response is read up to the limit, which takes long. */
const LONG = ['a file without a length or an end', 'a gzip bomb'];

for (const name of Object.keys(FAULTS))
  test(`${name}: an error with the name of the file, within the limits`, async (t) => {
    const server = await serve(t);
    for (const [file, number] of LONG.includes(name) ? PLACES.slice(0, 2) : PLACES) {
      server.again();
      server.fault = (other, count) => (other === file && count >= number ? name : undefined);
      const before = server.sent();
      await refuses(server.url, { message: new RegExp(file.replace('.', '\\.')) });
      const sent = server.sent() - before;
      assert.ok(sent < JSON_LIMIT + ON_THE_WAY, `${file}: ${sent} bytes were sent`);
    }
    server.fault = () => undefined;
    assert.deepEqual(await logitsOf(server.url), expected);
  });

test('a range is compared with the length and the ETag that the server gave before', async (t) => {
  const server = await serve(t);
  const header =
    (name, value) =>
    (response, { status, headers, body }) =>
      response.writeHead(status, { ...headers, [name]: value(headers['content-range']) }).end(body);
  server.fault = (name, count) =>
    name === 'model.safetensors' && count === 1
      ? header('content-range', (range) => range.replace(/\d+$/, (total) => Number(total) + 1))
      : undefined;
  await refuses(server.url, { code: 'LOAD', message: /model\.safetensors.*the file changed while it was read/ });
  server.again();
  server.fault = (name, count) => header('etag', () => (name === 'model.safetensors' && count > 0 ? '"b"' : '"a"'));
  await refuses(server.url, { code: 'LOAD', message: /the file changed while it was read: ETag "b" instead of "a"/ });
  server.again();
  server.fault = (_, count) => header('etag', () => `W/"${count}"`);
  assert.deepEqual(await logitsOf(server.url), expected);
});

test('if a server sends no Content-Range, the whole file is requested, once', async (t) => {
  const server = await serve(t);
  const sends = (response, { status, body }) => response.writeHead(status).end(body);
  server.fault = (name) => (name === 'model.safetensors' ? sends : undefined);
  assert.deepEqual(await logitsOf(server.url), expected);
  assert.ok(server.sent() < 2 * LLAMA['model.safetensors'].length + 2 ** 18);
});

test('the length of a file without Content-Length is checked against its tensors', async (t) => {
  const whole = (more) => (response, _, all) =>
    response
      .writeHead(200)
      .end(Buffer.concat([all.subarray(0, all.length + Math.min(more, 0)), Buffer.alloc(Math.max(more, 0))]));
  const server = await serve(t);
  for (const [more, message] of [
    [0, null],
    [1, /model\.safetensors continues after byte 236880/],
    [-1, /model\.safetensors ends before byte 236880: it is truncated/],
  ]) {
    server.fault = (name) => ({ 'config.json': whole(0), 'model.safetensors': whole(more) })[name];
    if (message) await refuses(server.url, { code: 'FORMAT', message });
    else assert.deepEqual(await logitsOf(server.url), expected);
  }
});

test('an empty file has no ranges and is read as empty', async (t) => {
  const server = await serve(t);
  const none = (length) => (response) => response.writeHead(416, { 'content-range': `bytes */${length}` }).end();
  server.fault = (name) => (name === 'config.json' ? none(0) : undefined);
  await refuses(server.url, { code: 'FORMAT', message: /config\.json is not JSON as expected: the text ends/ });
  server.fault = (name) => (name === 'config.json' ? none(9) : undefined);
  await refuses(server.url, { code: 'LOAD', message: /config\.json cannot be read: .*416/ });
});

test('no HEAD request is sent, and a small file takes one request', async (t) => {
  const server = await serve(t);
  await logitsOf(server.url);
  assert.ok(server.requests.every((request) => request.startsWith('GET ')));
  assert.equal(server.requests.filter((request) => request.endsWith('/config.json')).length, 1);
});

test('an optional file is missing at status 403, 404, 410 and if the server sends a web page', async (t) => {
  const server = await serve(t);
  const page =
    (status, type = 'text/html; charset=utf-8') =>
    (response) =>
      response.writeHead(status, { 'content-type': type }).end('\n<!doctype html><p>not here</p>');
  for (const send of [page(403), page(404), page(410), page(200)]) {
    server.fault = (name) => (name === 'tokenizer.json' ? send : undefined);
    const model = await hl.openModel(server.url);
    assert.equal(model.tokenizer, undefined);
    model.dispose();
  }
  // A JSON response with another content type is accepted.
  server.fault = (name) =>
    name !== 'config.json'
      ? undefined
      : (response, { headers, body, status }) =>
          response.writeHead(status, { ...headers, 'content-type': 'text/html' }).end(body);
  assert.deepEqual(await logitsOf(server.url), expected);
  for (const [send, error] of [
    [page(404), { code: 'FORMAT', message: /there is no config\.json/ }],
    [page(403), { code: 'LOAD', message: /config\.json cannot be read: the server responds with status 403/ }],
    [page(200), { code: 'LOAD', message: /config\.json cannot be read: the server sends a web page/ }],
    [page(503), { code: 'LOAD', message: /config\.json cannot be read: the server responds with status 503/ }],
  ]) {
    server.fault = (name) => (name === 'config.json' ? send : undefined);
    await refuses(server.url, error);
  }
});

test('the query of the address is sent with every request, and no error contains it', async (t) => {
  const server = await serve(t);
  for (const address of [`${server.url}a/m?token=secret`, `${server.url}a/m/?token=secret#part`]) {
    server.requests.length = 0;
    assert.deepEqual(await logitsOf(address), expected);
    for (const request of server.requests) assert.match(request, /^GET \/a\/m\/\w+\.\w+\?token=secret$/);
    for (const name of Object.keys(LLAMA)) assert.ok(server.requests.includes(`GET /a/m/${name}?token=secret`));
  }
  server.fault = () => 'the status 500';
  await assert.rejects(hl.openModel(`${server.url}m?token=secret`), ({ message }) => !message.includes('secret'));
  server.fault = () => undefined;
  const tokenizer = await hl.openTokenizer(`${server.url}tokenizer.json?path=a/b`);
  assert.ok(tokenizer.encode('the whale').ids.length > 0);
  assert.equal(server.requests.at(-1), 'GET /tokenizer.json?path=a/b');
});

test('names in an index must be names of files in the folder: others are refused without a request', async (t) => {
  const other = await serve(t);
  const index = JSON.parse(new TextDecoder().decode(SHARDS['model.safetensors.index.json']));
  const [tensor] = Object.keys(index.weight_map);
  for (const name of [
    `${other.url}secret?x`,
    '../../admin?delete=1',
    'data:application/octet-stream;base64,AAAA',
    'data:,x',
    'C:x',
    '//h/x',
    'a/b',
    'a\\b',
    '.',
    '..',
    '',
    'a#b',
    'a?b',
    'a\u0000b',
    'x'.repeat(300),
    {},
    null,
    5,
  ]) {
    const map = { ...index.weight_map, [tensor]: name };
    const files = { ...SHARDS, 'model.safetensors.index.json': json({ ...index, weight_map: map }) };
    const server = await serve(t, files);
    for (const source of [server.url, files])
      await refuses(source, {
        code: 'FORMAT',
        message: /index\.json: the file of .* is .*expected the name of a file/,
      });
    const known = /^GET \/(config\.json|generation_config\.json|model\.safetensors(\.index\.json)?)$/;
    for (const request of server.requests) assert.match(request, known);
  }
  assert.deepEqual(other.requests, []);
  for (const weight_map of [null, [], 'x']) {
    const files = { ...SHARDS, 'model.safetensors.index.json': json({ weight_map }) };
    await refuses(files, { code: 'FORMAT', message: /index\.json has no weight_map/ });
  }
});

test('a shard may have any other name', async (t) => {
  const name = 'a b%2e%2e é+&=.safetensors';
  const { 'model-00002-of-00003.safetensors': shard, ...rest } = SHARDS;
  const text = new TextDecoder().decode(SHARDS['model.safetensors.index.json']);
  const index = new TextEncoder().encode(text.replaceAll('model-00002-of-00003.safetensors', name));
  const files = { ...rest, [name]: shard, 'model.safetensors.index.json': index };
  const server = await serve(t, files);
  assert.deepEqual(await logitsOf(server.url), await logitsOf(SHARDS));
});

test('redirects are followed, also to another origin', async (t) => {
  const [server, storage] = [await serve(t, {}), await serve(t)];
  server.fault = () => (response, _right, _all, request) =>
    response.writeHead(302, { location: `${storage.url}signed${request.url}?key=1` }).end();
  assert.deepEqual(await logitsOf(server.url), expected);
  assert.ok(storage.requests.every((request) => request.endsWith('?key=1')));
});

test('a signal aborts a response that does not arrive, and the error is its reason', async (t) => {
  const server = await serve(t);
  for (const file of Object.keys(LLAMA))
    for (const hangs of [
      () => {},
      (response, { status, headers }) => void response.writeHead(status, headers).write('{'),
    ]) {
      const stop = new AbortController();
      const reason = new Error('enough');
      server.again();
      server.fault = (name, count) => {
        if (name !== file || (file === 'model.safetensors' && count < 1)) return undefined;
        setTimeout(() => stop.abort(reason), 20);
        return hangs;
      };
      const before = hl.info.memory.used;
      await assert.rejects(hl.openModel(server.url, { signal: stop.signal }), (error) => error === reason);
      assert.equal(hl.info.memory.used, before);
    }
});

test('when one request fails, hanging requests are not awaited', { timeout: 300_000 }, async (t) => {
  const server = await serve(t, SHARDS);
  let first;
  server.fault = (name, count) => {
    if (!name.endsWith('.safetensors') || count === 0) return undefined;
    return (response) => {
      // The first request fails when the second one arrives. The second one never gets a response.
      if (first) first.writeHead(500).end('no');
      else first = response;
    };
  };
  await refuses(server.url, { code: 'LOAD', message: /status 500/ });
});

/** Makes a checkpoint of 26 MB, with 3.2 MB per block of the transformer. */
async function largeFiles() {
  const model = hl.transformer({ layers: 8, dModel: 256, numHeads: 4, vocab: 99, context: 64, seed: 1 });
  const files = await model.saveFolder();
  model.dispose();
  return files;
}

test('weights that follow each other are one request, and no more bytes are sent than are needed', async (t) => {
  const files = await largeFiles();
  const server = await serve(t, files);
  const order = [];
  const all = await hl.openModel(server.url, {
    onProgress: ({ read, total, name }) => order.push([read, total, name]),
  });
  all.dispose();
  const requests = () => server.requests.filter((request) => request.endsWith('model.safetensors')).length;
  assert.equal(requests(), 2);
  const [read, total] = order.at(-1);
  assert.equal(read, total);
  const before = server.sent();
  const one = await hl.openModel(server.url, { layers: 1 });
  const result = one.forward([1, 2, 3]);
  const local = await hl.openModel(files, { layers: 1 });
  const expected = local.forward([1, 2, 3]);
  assert.deepEqual(result.logits.copy(), expected.logits.copy());
  for (const used of [result, expected, one, local]) used.dispose();
  const sent = server.sent() - before;
  assert.ok(sent < 0.15 * files['model.safetensors'].length, `${sent} bytes`);
});

test('the bytes of an unused tensor between others are received and dropped', async (t) => {
  const { tensors } = readSafetensors(LLAMA['model.safetensors']);
  const { dtype } = Object.values(tensors)[0];
  // Tensors in a file are sorted by name, so this unused tensor is between the tensors of block 0.
  tensors['model.layers.0.self_attn.rotary_emb.inv_freq'] = { dtype, shape: [8], data: new Float32Array(8).fill(1) };
  const server = await serve(t, { ...LLAMA, 'model.safetensors': writeSafetensors(tensors) });
  assert.deepEqual(await logitsOf(server.url), expected);
  const requests = server.requests.filter((request) => request.endsWith('model.safetensors'));
  assert.equal(requests.length, 2);
});

test('a server that sends on is paused while the weights are not taken', async (t) => {
  const files = await largeFiles();
  const server = await serve(t, files);
  let [most, before] = [0, 0];
  const onProgress = async ({ read }) => {
    before ||= server.sent();
    await new Promise((done) => setTimeout(done, 5));
    most = Math.max(most, server.sent() - before - read);
  };
  const model = await hl.openModel(server.url, { onProgress });
  model.dispose();
  assert.ok(most < ON_THE_WAY, `${most} bytes were sent before they were read`);
});

const SEED = 7;

test(`responses with random faults give the right model or an error, without a leak (seed ${SEED})`, async () => {
  const { opened, refused } = await fuzzResponses(60, SEED);
  assert.equal(opened + refused, 60);
  assert.ok(opened > 5 && refused > 20, `${opened}, ${refused}`);
});
