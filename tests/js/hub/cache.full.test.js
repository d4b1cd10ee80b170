// Checks that the cache in Node has the layout of the tools of Hugging Face, survives interruptions, and avoids
// requests.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { cached, files, forget } from 'headlight-attention/hub';
import { hl } from '../../support/headlight.js';
import { at, gitSha1, makeFolder, makeModel, sha256, start, treeOf } from '../../support/hubCache.js';
import { logitsOf } from '../../support/logits.js';

const MODEL = await makeModel();
const NAME = 'hf://owner/gpt2';
const WEIGHTS = MODEL['model.safetensors'];
const HASH = sha256(WEIGHTS);
const FOLDER = 'models--owner--gpt2';
const expected = await logitsOf(MODEL);
const weightRequests = (hub) =>
  hub.to('cdn').length + hub.to('hub').filter((path) => path.includes('.safetensors')).length;
/** Returns the first byte of each range of weights that was requested. */
const begins = (hub) =>
  hub.requests.filter(({ server }) => server === 'cdn').map(({ range }) => Number(/\d+/.exec(range)));

async function open(t) {
  const [hub, cache] = [await start(t, { 'owner/gpt2': MODEL }), makeFolder(t)];
  return { hub, cache, options: at(hub, { cache }), sha: hub.models.get('owner/gpt2').branches.get('main') };
}

/** Writes a cache folder like the Python tools of Hugging Face. */
function writeAsPython(cache, sha) {
  for (const [name, bytes] of Object.entries(MODEL)) {
    const hash = name.endsWith('.json') ? gitSha1(bytes) : sha256(bytes);
    const [blob, path] = [join(cache, FOLDER, 'blobs', hash), join(cache, FOLDER, 'snapshots', sha, name)];
    for (const file of [blob, path]) mkdirSync(dirname(file), { recursive: true });
    writeFileSync(blob, bytes);
    symlinkSync(relative(dirname(path), blob), path);
  }
  mkdirSync(join(cache, FOLDER, 'refs'));
  writeFileSync(join(cache, FOLDER, 'refs', 'main'), sha);
}

test('files are blobs by their hashes, a snapshot has links to them, and a reference has the commit', async (t) => {
  const { cache, options, sha } = await open(t);
  assert.deepEqual(await logitsOf(NAME, options), expected);
  const config = gitSha1(MODEL['config.json']);
  assert.deepEqual(
    treeOf(cache).filter((path) => !path.includes('.headlight')),
    [
      `${FOLDER}/blobs/${HASH} ${WEIGHTS.length}`,
      `${FOLDER}/blobs/${config} ${MODEL['config.json'].length}`,
      `${FOLDER}/refs/main 40`,
      `${FOLDER}/snapshots/${sha}/config.json -> ../../blobs/${config}`,
      `${FOLDER}/snapshots/${sha}/model.safetensors -> ../../blobs/${HASH}`,
    ].sort(),
  );
  assert.equal(readFileSync(join(cache, FOLDER, 'refs/main'), 'utf8'), sha);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
});

test('a second opening requests the commit alone, an opening of a commit or offline requests nothing', async (t) => {
  const { hub, options, sha } = await open(t);
  const first = await hl.openModel(NAME, options);
  assert.equal(first.source.cached, true);
  assert.equal(first.source.cacheNote, undefined);
  first.dispose();
  assert.ok(weightRequests(hub) <= 3, hub.to('cdn').join('\n'));
  hub.again();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.deepEqual(hub.to('hub'), ['/api/models/owner/gpt2/revision/main']);
  assert.deepEqual(hub.to('cdn'), []);
  hub.again();
  assert.deepEqual(await logitsOf(`${NAME}@${sha}`, options), expected);
  assert.deepEqual(await logitsOf(NAME, { hub: { ...options.hub, offline: true } }), expected);
  assert.deepEqual(hub.requests, []);
});

test('files that Python has downloaded open offline, and weights are not requested again', async (t) => {
  const { hub, cache, options, sha } = await open(t);
  writeAsPython(cache, sha);
  assert.deepEqual(await logitsOf(NAME, { hub: { ...options.hub, offline: true } }), expected);
  assert.deepEqual(hub.requests, []);
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.equal(weightRequests(hub), 0);
});

test('a download that was cut continues at the same byte in the next opening', async (t) => {
  const { hub, cache, options } = await open(t);
  const limit = Math.floor(WEIGHTS.length * 0.9);
  // The server sends only the bytes before `limit`, and leaves the response open.
  hub.fault = ({ server, range }) =>
    server === 'cdn' &&
    ((response, { status, headers, body }) => {
      const first = Number(/\d+/.exec(range));
      response.writeHead(status, { 'content-length': body.length, ...headers });
      response.write(body.subarray(0, Math.max(0, limit - first)));
      if (body.length <= limit - first) response.end();
    });
  const stop = new AbortController();
  const incomplete = () =>
    treeOf(cache)
      .filter((path) => path.includes(`${HASH}.`))
      .map((path) => Number(path.split(' ').pop()));
  const opening = hl.openModel(NAME, { ...options, signal: stop.signal });
  while (incomplete()[0] !== limit) await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort(new Error('enough'));
  await assert.rejects(opening, /enough/);
  assert.ok(treeOf(cache).includes(`${FOLDER}/blobs/${HASH}.incomplete ${limit}`));
  hub.fault = () => undefined;
  hub.again();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.deepEqual(begins(hub), [limit]);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
});

test('a download that Python has begun is continued', async (t) => {
  const { hub, cache, options } = await open(t);
  mkdirSync(join(cache, FOLDER, 'blobs'), { recursive: true });
  writeFileSync(join(cache, FOLDER, 'blobs', `${HASH}.incomplete`), WEIGHTS.subarray(0, 7_000_001));
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.equal(begins(hub).at(-1), 7_000_001);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
});

const PROGRAM = `
  import { load } from 'headlight-attention';
  const [endpoint, cache] = process.argv.slice(1);
  const hl = await load();
  const model = await hl.openModel('${NAME}', { hub: { endpoint, cache } });
  console.log(model.forward([5, 17, 80, 3]).logits.data.slice(0, 4).join(), model.source.cached);`;
const run = (hub, cache) =>
  promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, hub.endpoint, cache]);

test('two processes at once open the same model and leave one right file', async (t) => {
  const { hub, cache, options } = await open(t);
  const results = await Promise.all([run(hub, cache), run(hub, cache), logitsOf(NAME, options)]);
  for (const { stdout } of results.slice(0, 2)) assert.equal(stdout.trim(), `${expected.slice(0, 4).join()} true`);
  assert.deepEqual(results[2], expected);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
  assert.deepEqual(
    treeOf(cache).filter((path) => /incomplete|tmp/.test(path)),
    [],
  );
});

test('after a process was killed, the next one continues', async (t) => {
  const { hub, cache, options } = await open(t);
  // The server stops in the middle of the file.
  hub.fault = ({ server, range }) =>
    server === 'cdn' &&
    /-11\d{6}$|-12\d{6}$/.test(range) &&
    ((response, { status, headers, body }) => {
      response.writeHead(status, { 'content-length': body.length, ...headers });
      response.write(body.subarray(0, 6_000_000));
    });
  const child = execFile(process.execPath, ['--input-type=module', '-e', PROGRAM, hub.endpoint, cache]);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const sizeNow = () => {
    const file = treeOf(cache).find((path) => path.includes(HASH));
    return file ? Number(file.split(' ').pop()) : 0;
  };
  while (sizeNow() < 5_900_000) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGKILL');
  await ended;
  hub.fault = () => undefined;
  hub.again();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.ok(
    begins(hub).every((begin) => begin >= 5_900_000),
    begins(hub).join(),
  );
});

test('two of eight layers cost their bytes, and are cached; the rest is received when it is needed', async (t) => {
  const { hub, cache, options } = await open(t);
  const before = hub.sent();
  const two = await logitsOf(NAME, { ...options, layers: 2 });
  const cost = hub.sent() - before;
  assert.ok(cost < WEIGHTS.length * 0.28, `${cost} of ${WEIGHTS.length} bytes`);
  hub.again();
  assert.deepEqual(await logitsOf(NAME, { ...options, layers: 2 }), two);
  assert.equal(weightRequests(hub), 0);
  const [model] = await cached({ cache });
  const [file] = model.files.filter(({ name }) => name === 'model.safetensors');
  assert.ok(file.cached > 0 && file.cached < cost && file.size === WEIGHTS.length, JSON.stringify(file));
  const middle = hub.sent();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.ok(hub.sent() - middle < WEIGHTS.length - file.cached + 2 ** 17);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
  assert.deepEqual(
    treeOf(cache).filter((path) => path.includes(`.headlight/${HASH}`)),
    [],
  );
});

test('a file whose sha256 is another one is refused and not kept', async (t) => {
  const { hub, cache, options } = await open(t);
  const flip = (response, { status, headers, body }) => {
    const wrong = Buffer.from(body);
    wrong[wrong.length - 2] ^= 1;
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(wrong);
  };
  hub.fault = ({ server }) => server === 'cdn' && flip;
  await assert.rejects(hl.openModel(NAME, options), (error) => {
    assert.equal(error.reason, 'changed');
    assert.match(error.message, /owner\/gpt2\/model\.safetensors is not the same file as before: its sha256/);
    return true;
  });
  assert.deepEqual(
    treeOf(cache).filter((path) => path.includes(HASH)),
    [],
  );
  await assert.rejects(hl.openModel(NAME, at(hub)), { reason: 'changed' });
  hub.fault = () => undefined;
  assert.deepEqual(await logitsOf(NAME, options), expected);
});

test('a push makes a new snapshot, and files that did not change are not requested again', async (t) => {
  const { hub, cache, options, sha } = await open(t);
  await logitsOf(NAME, options);
  const config = new TextEncoder().encode(`${new TextDecoder().decode(MODEL['config.json'])} `);
  const next = hub.push('owner/gpt2', { ...MODEL, 'config.json': config });
  hub.again();
  const model = await hl.openModel(NAME, options);
  assert.equal(model.source.revision, next);
  model.dispose();
  assert.equal(weightRequests(hub), 0);
  const models = await cached({ cache });
  assert.deepEqual(models.map(({ revision }) => revision).sort(), [sha, next].sort());
});

test('a damaged file is received again', async (t) => {
  const { hub, cache, options } = await open(t);
  await logitsOf(NAME, options);
  truncateSync(join(cache, FOLDER, 'blobs', HASH), 1000);
  hub.again();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  assert.ok(weightRequests(hub) > 0);
  assert.equal(sha256(readFileSync(join(cache, FOLDER, 'blobs', HASH))), HASH);
});

test('a snapshot without links, as on Windows, is read too', async (t) => {
  const { hub, cache, options, sha } = await open(t);
  const folder = join(cache, FOLDER, 'snapshots', sha);
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(MODEL)) writeFileSync(join(folder, name), bytes);
  assert.deepEqual(await logitsOf(`${NAME}@${sha}`, { hub: { ...options.hub, offline: true } }), expected);
  assert.deepEqual(hub.requests, []);
});

test('without a place to write, the model opens and says that it is not cached', async (t) => {
  const { hub, cache } = await open(t);
  writeFileSync(join(cache, 'file'), '');
  const model = await hl.openModel(NAME, at(hub, { cache: join(cache, 'file', 'x') }));
  assert.equal(model.source.cached, false);
  assert.match(model.source.cacheNote, /file\/x cannot be used: .*ENOTDIR/);
  model.dispose();
});

test('without a connection, a cached model opens, and another one is refused with the reason', async (t) => {
  const { hub, cache, options } = await open(t);
  await logitsOf(NAME, options);
  hub.close();
  assert.deepEqual(await logitsOf(NAME, options), expected);
  await assert.rejects(hl.openModel('hf://owner/other', options), (error) => {
    assert.equal(error.reason, 'network');
    assert.match(error.message, /owner\/other cannot be read from http.*Check the connection; hub: \{ endpoint \}/);
    return true;
  });
  await assert.rejects(hl.openModel('hf://owner/other', at(hub, { cache, offline: true })), (error) => {
    assert.equal(error.reason, 'offline');
    assert.match(error.message, /owner\/other at main cannot be opened offline: it is not in the cache .*Open it once/);
    return true;
  });
  await assert.rejects(hl.openModel(NAME, at(hub, { cache: false, offline: true })), /offline: there is no cache/);
});

test('the variables of the environment hold: folder, endpoint, token, offline', async (t) => {
  const { hub, cache } = await open(t);
  const variables = { HF_HOME: cache, HF_ENDPOINT: `${hub.endpoint}/`, HF_TOKEN: hub.token };
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) process.env[name] = value;
    t.after(() => Object.keys(values).forEach((name) => void delete process.env[name]));
  };
  set(variables);
  assert.deepEqual(await logitsOf(NAME), expected);
  assert.ok(hub.requests.every(({ server, authorization }) => (server === 'hub') === (authorization !== undefined)));
  assert.ok(treeOf(cache).some((path) => path.startsWith(`hub/${FOLDER}/blobs/${HASH}`)));
  set({ HF_HUB_OFFLINE: '1' });
  hub.again();
  assert.deepEqual(await logitsOf(NAME), expected);
  assert.deepEqual(hub.requests, []);
  set({ HF_HUB_CACHE: join(cache, 'other') });
  await assert.rejects(hl.openModel(NAME), { reason: 'offline' });
  set({ HF_HUB_CACHE: join(cache, 'hub') });
  assert.deepEqual(await logitsOf(NAME), expected);
});

test('cached lists models with sizes, forget removes one, files lists what the Hub has', async (t) => {
  const { hub, cache, options, sha } = await open(t);
  await logitsOf(NAME, options);
  hub.push('owner/other', MODEL);
  await logitsOf('hf://owner/other', options);
  const size = Object.values(MODEL).reduce((sum, { length }) => sum + length, 0);
  const models = await cached({ cache });
  assert.deepEqual(
    models.map(({ files: _, ...model }) => model),
    [
      { id: 'owner/gpt2', revision: sha, size },
      { id: 'owner/other', revision: sha, size },
    ],
  );
  await forget('hf://owner/gpt2', { cache });
  assert.deepEqual(
    (await cached({ cache })).map(({ id }) => id),
    ['owner/other'],
  );
  await assert.rejects(forget('owner/../x', { cache }), { code: 'ARGUMENT' });
  await assert.rejects(forget(5, { cache }), { code: 'ARGUMENT' });
  const listed = await files('owner/gpt2', { endpoint: hub.endpoint, cache });
  assert.deepEqual(listed, {
    revision: sha,
    files: [
      { name: 'config.json', size: MODEL['config.json'].length, kind: 'config', opens: false },
      { name: 'model.safetensors', size: WEIGHTS.length, kind: 'safetensors', opens: true },
    ],
  });
  assert.deepEqual(await cached({ cache: join(cache, 'nothing') }), []);
});

test('the cache contains no token and no signed address', async (t) => {
  const { hub, cache } = await open(t);
  await logitsOf(NAME, at(hub, { cache, token: hub.token }));
  for (const path of treeOf(cache).filter((line) => !line.includes('safetensors') && !line.includes(HASH))) {
    const name = path.split(' ')[0];
    const text = readFileSync(join(cache, name), 'utf8');
    assert.ok(!`${name}${text}`.includes(hub.token) && !/Signature/.test(text), path);
  }
});
