// Tests requests to the Hub: downloads continue at the same byte after temporary failures, errors say what to do, and
// the access token is sent only to the endpoint.

import assert from 'node:assert/strict';
import test from 'node:test';
import { hl } from '../../support/headlight.js';
import { answer, cutAfter } from '../../support/hub.js';
import { at, makeModel, start } from '../../support/hubCache.js';
import { logitsOf } from '../../support/logits.js';

const MODEL = await makeModel();
const NAME = 'hf://owner/gpt2';
const SIZE = MODEL['model.safetensors'].length;
const expected = await logitsOf(MODEL);
const open = (t, model = MODEL) => start(t, { 'owner/gpt2': model });
const ranges = (hub) => hub.requests.filter(({ server }) => server === 'cdn').map(({ range }) => range);
const resolved = (hub) => hub.to('hub').filter((path) => path.includes('/resolve/') && path.includes('.safetensors'));
const cdn = (number, fault) => {
  let count = 0;
  return ({ server }) => (server === 'cdn' && count++ === number ? fault : undefined);
};
/** Returns options, and a list of the waits that are reported. */
function waiting(hub, more = {}) {
  const waits = [];
  return { waits, options: at(hub, { onWait: (wait) => void waits.push(wait), ...more }) };
}

async function refuses(hub, reason, message, more = {}, name = NAME) {
  const before = hl.info.memory.used;
  let found;
  await assert.rejects(hl.openModel(name, at(hub, more)), (error) => {
    assert.equal(error.name, 'HeadlightError', error.stack);
    assert.equal(error.code, 'LOAD', error.message);
    assert.equal(error.reason, reason, error.message);
    assert.equal(error.got, reason);
    assert.match(error.message, message);
    assert.ok(!error.message.includes('hf_'.concat('secret')) && !/Signature/.test(error.message), error.message);
    found = error;
    return true;
  });
  assert.equal(hl.info.memory.used, before);
  return found;
}

test('the signed address is resolved once and used for all ranges', async (t) => {
  const hub = await open(t);
  assert.deepEqual(await logitsOf(NAME, at(hub)), expected);
  assert.equal(resolved(hub).length, 1);
  assert.ok(ranges(hub).length >= 2);
});

test('an expired address is resolved again, and the file continues at the same byte', async (t) => {
  const hub = await open(t);
  const { waits, options } = waiting(hub);
  const fault = cdn(1, (response, right) => {
    hub.expire();
    cutAfter(5_000_000)(response, right);
  });
  hub.fault = fault;
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.equal(resolved(hub).length, 2);
  const begins = ranges(hub).map((range) => Number(/\d+/.exec(range)));
  // The four requests are a first one, one that is cut off, one with the expired address, and one that continues. Bytes
  // in transit are lost when a connection is destroyed.
  assert.equal(begins.length, 4);
  assert.ok(begins[2] > begins[1] && begins[2] === begins[3], begins.join());
  assert.ok(waits.every(({ reason }) => reason === 'network'));
});

for (const [name, fault] of Object.entries({
  'a broken connection': cutAfter(3_000_000),
  'a connection without a response': (response) => response.destroy(),
  'a body that is too short': (response, { status, headers, body }) =>
    response.writeHead(status, headers).end(Buffer.from(body).subarray(0, 1_000_000)),
  'fewer bytes than the range': (response, { headers, body }) => {
    const [, first, total] = /(\d+)-\d+\/(\d+)/.exec(headers['content-range']).map(Number);
    const part = Buffer.from(body).subarray(0, 1000);
    response.writeHead(206, { ...headers, 'content-range': `bytes ${first}-${first + 999}/${total}` }).end(part);
  },
  'status 503': answer(503),
  'status 500': answer(500),
}))
  test(`${name} is a temporary failure`, async (t) => {
    const hub = await open(t);
    const { waits, options } = waiting(hub);
    hub.fault = cdn(1, fault);
    assert.deepEqual(await logitsOf(NAME, options), expected);
    assert.deepEqual(waits.length, 1);
    assert.equal(waits[0].reason, /status/.test(name) ? 'server' : 'network');
    const begins = ranges(hub).map((range) => Number(/\d+/.exec(range)));
    const total = begins.reduce((sum, begin, i) => sum + (i > 0 && begin < begins[i - 1] ? 1 : 0), 0);
    assert.equal(total, 0, begins.join());
  });

test('a failing list and a failing commit are requested again', async (t) => {
  const hub = await open(t);
  let failures = 0;
  hub.fault = ({ path }) => (path.includes('/api/') && failures++ % 2 === 0 ? answer(502) : undefined);
  assert.deepEqual(await logitsOf(NAME, at(hub)), expected);
});

test('a server that always fails is an error after a few attempts', { timeout: 60_000 }, async (t) => {
  const hub = await open(t);
  hub.fault = ({ path }) => (path.includes('/revision/') ? answer(500) : undefined);
  await refuses(hub, 'server', /owner\/gpt2 cannot be read: the server responds with status 500/);
  assert.ok(hub.requests.length > 1 && hub.requests.length < 8);
});

test('status 429 is waited out as the Hub says, and the wait is reported', async (t) => {
  const hub = await open(t);
  const { waits, options } = waiting(hub);
  let count = 0;
  const limits = [{ ratelimit: '"resolvers";r=0;t=1' }, { 'retry-after': '0' }];
  hub.fault = ({ path }) => (path.includes('/resolve/') && limits[count] ? answer(429, limits[count++]) : undefined);
  const begin = performance.now();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.ok(performance.now() - begin > 950);
  assert.deepEqual(waits, [{ seconds: 1, reason: 'rateLimit' }]);
});

test('a limit that lasts too long is an error that says how long', async (t) => {
  const hub = await open(t);
  hub.fault = () => answer(429, { ratelimit: '"api";r=0;t=4000' });
  await refuses(hub, 'rateLimit', /too many\. Try again in 4000 seconds, or pass a token/);
  assert.equal(hub.requests.length, 1);
});

test('a server that ignores ranges sends the file once', async (t) => {
  const hub = await open(t);
  hub.ranges = false;
  const before = hub.sent();
  assert.deepEqual(await logitsOf(NAME, at(hub)), expected);
  assert.ok(hub.sent() - before < SIZE + 2 ** 16, `${hub.sent() - before}`);
  assert.equal(ranges(hub).length, 1);
});

test('a range without Content-Range cannot be checked: the whole file is requested', async (t) => {
  const hub = await open(t);
  hub.fault = ({ server, range }) =>
    server === 'cdn' && range
      ? (response, { status, headers: { 'content-range': _, ...headers }, body }) =>
          response.writeHead(status, headers).end(body)
      : undefined;
  assert.deepEqual(await logitsOf(NAME, at(hub)), expected);
  assert.deepEqual(ranges(hub).slice(1), [undefined]);
});

for (const [name, change, message] of [
  ['another ETag', (headers) => ({ ...headers, etag: '"other"' }), /its ETag is "other", not "cdn-/],
  [
    'another size',
    (headers) => ({ ...headers, 'content-range': headers['content-range'].replace(/\d+$/, (n) => Number(n) + 1) }),
    /it has \d+ bytes, not \d+/,
  ],
])
  test(`${name} between two ranges is an error, not a mixture`, async (t) => {
    const hub = await open(t);
    hub.fault = cdn(1, (response, { status, headers, body }) => response.writeHead(status, change(headers)).end(body));
    await refuses(hub, 'changed', new RegExp(`model\\.safetensors is not the same file as before: ${message.source}`));
  });

test('a file with more bytes than the Hub lists is an error', async (t) => {
  const hub = await open(t);
  hub.fault = ({ path }) =>
    /resolve-cache.*config/.test(path) && ((response, { body }) => response.writeHead(200).end(`${body}more`));
  await refuses(hub, 'changed', /config\.json is not the same file as before: it has more than/);
});

test('a gated model: accept its terms, and where', async (t) => {
  const hub = await open(t, { files: MODEL, gated: 'manual' });
  const page = `${hub.endpoint}/owner/gpt2`;
  const error = await refuses(hub, 'gated', /owner\/gpt2 requires consent: accept its terms on .*then pass a token/);
  assert.equal(error.page, page);
  assert.match(error.message, new RegExp(page));
  const other = await refuses(hub, 'gated', /with the account of the token, then try again/, { token: hub.token });
  assert.equal(other.page, page);
  hub.models.get('owner/gpt2').accepted = true;
  assert.deepEqual(await logitsOf(NAME, at(hub, { token: hub.token })), expected);
});

test('no such model, or a private one: check the name, and how to give a token', async (t) => {
  const hub = await open(t, { files: MODEL, private: true });
  await refuses(
    hub,
    'notFound',
    /there is no model owner\/gpt2 on .*, or it is private\..*hub: \{ token \}, or HF_TOKEN/,
  );
  await refuses(
    hub,
    'notFound',
    /there is no model owner\/x .*Check the name, and that the token/,
    { token: hub.token },
    'hf://owner/x',
  );
  assert.deepEqual(await logitsOf(NAME, at(hub, { token: ` ${hub.token}\n` })), expected);
});

test('a token that is not accepted', async (t) => {
  const hub = await open(t);
  const error = await refuses(hub, 'token', /does not accept the token: make a new one at https:\/\/huggingface\.co/, {
    token: 'hf_wrong',
  });
  assert.ok(!error.stack.includes('hf_wrong'));
});

test('no such revision: the error lists those that exist', async (t) => {
  const hub = await open(t, { files: MODEL, revisions: { v1: MODEL } });
  const error = await refuses(hub, 'revision', /owner\/gpt2 has no revision v2: there are main, v1/, {}, `${NAME}@v2`);
  assert.deepEqual(error.expected, ['main', 'v1']);
});

test('a file that disappears: the error names it', async (t) => {
  const hub = await open(t);
  hub.fault = ({ path }) => (path.includes('/resolve/') ? answer(404, { 'x-error-code': 'EntryNotFound' }) : undefined);
  await refuses(hub, 'entry', /owner\/gpt2 has no file config\.json at main/);
});

test('the token is sent to the endpoint alone, also after a redirect and with the list of another host', async (t) => {
  const [hub, other] = [
    await start(t, { 'owner/gpt2': MODEL }, { linkTo: 'http://127.0.0.1:1', pageSize: 1 }),
    await open(t),
  ];
  assert.deepEqual(await logitsOf(NAME, at(hub, { token: hub.token })), expected);
  const sent = (server) =>
    hub.requests.filter((request) => request.server === server).map((request) => request.authorization);
  assert.deepEqual(new Set(sent('hub')), new Set([`Bearer ${hub.token}`]));
  assert.deepEqual(new Set(sent('cdn')), new Set([undefined]));
  for (const { path } of hub.requests) assert.ok(!path.includes(hub.token));
  // The endpoint is a mirror that redirects all requests to another host.
  hub.fault = ({ path }) => answer(307, { location: `${other.endpoint}${path}` });
  assert.deepEqual(await logitsOf(NAME, at(hub, { token: hub.token })), expected);
  assert.ok(other.requests.length > 0 && other.requests.every(({ authorization }) => authorization === undefined));
});

test('redirects without an end and to other protocols are errors', async (t) => {
  const hub = await open(t);
  for (const [location, message] of [
    ['/api/models/owner/gpt2/revision/main', /more than 10 redirects/],
    ['file:///etc/passwd', /a redirect to something that is not a web address/],
  ]) {
    hub.fault = () => answer(307, { location });
    await refuses(hub, 'network', message);
  }
});

test('options that are wrong are refused without a request, and no error contains the token', async (t) => {
  const hub = await open(t);
  for (const [options, message] of [
    [{ endpoint: 'huggingface.co' }, /endpoint is 'huggingface\.co'/],
    [{ endpoint: 'https://user:pass@host' }, /without a password/],
    [{ endpoint: 'https://host/?token=x' }, /without a password and without a query/],
    [{ token: 'hf_a b' }, /token must be a string/],
    [{ token: 5 }, /token must be a string/],
    [{ token: 'hf_a\r\nX: y' }, /token must be a string/],
    [{ cache: 5 }, /cache is 5/],
    [{ offline: 'yes' }, /offline is 'yes'/],
    [{ revision: '../x' }, /is not a revision/],
    [{ file: '../x' }, /is not the path of a file/],
    [{ onWait: 1 }, /onWait is 1/],
    [{ tokens: 'x' }, /unknown option 'tokens'/],
  ])
    await assert.rejects(hl.openModel(NAME, { hub: { endpoint: hub.endpoint, ...options } }), (error) => {
      assert.equal(error.code, 'ARGUMENT');
      assert.match(error.message, message);
      assert.ok(!error.message.includes('hf_a') && !error.message.includes('pass@'));
      return true;
    });
  await assert.rejects(hl.openModel(NAME, { hub: 5 }), { code: 'ARGUMENT' });
  assert.deepEqual(hub.requests, []);
});

test('a signal ends a download, and a wait, with its reason', async (t) => {
  const hub = await open(t);
  for (const fault of [
    ({ server }) => server === 'cdn' && (() => {}),
    ({ server }) =>
      server === 'cdn' && ((response, { status, headers }) => void response.writeHead(status, headers).write('x')),
    () => answer(429, { 'retry-after': '300' }),
    ({ path }) => path.includes('/api/') && (() => {}),
  ]) {
    const stop = new AbortController();
    const reason = new Error('enough');
    hub.fault = (...request) => {
      setTimeout(() => stop.abort(reason), 30);
      return fault(...request);
    };
    await assert.rejects(hl.openModel(NAME, { ...at(hub), signal: stop.signal }), (error) => error === reason);
  }
});
