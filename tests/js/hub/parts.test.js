// Tests the parts of the Hub client that need no server: the choice of the files of a model, the stores of downloaded
// bytes, and the hash.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Client, Patience, Temporary } from '../../../src/js/hub/client.ts';
import { HubFile, merge } from '../../../src/js/hub/hubFile.ts';
import { choose, describe } from '../../../src/js/hub/kinds.ts';
import { memoryStore } from '../../../src/js/hub/memoryStore.ts';
import { readName } from '../../../src/js/hub/names.ts';
import { cacheFolder, openNodeCache } from '../../../src/js/hub/nodeCache.ts';
import { NodeStore } from '../../../src/js/hub/nodeStore.ts';
import { RemoteFile } from '../../../src/js/hub/remoteFile.ts';
import { SegmentStore } from '../../../src/js/hub/segments.ts';
import { Sha1 } from '../../../src/js/hub/sha1.ts';
import { Sha256 } from '../../../src/js/hub/sha256.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';

const entries = (files) => Object.entries(files).map(([path, size]) => ({ path, size, isLarge: true }));
/** Returns the names of the weight files that are chosen. */
const chosen = (files, file) =>
  choose(entries(files), file)
    ?.entries.map(({ path }) => path)
    .filter((path) => /safetensors|gguf|bin/.test(path));

test('of several GGUF files Q4_K_M is opened, else Q8_0, else the smallest that can be read', () => {
  const files = { 'm.IQ2_XS.gguf': 1, 'm.Q2_K.gguf': 2, 'm.Q4_K_M.gguf': 4, 'm.Q8_0.gguf': 8, 'mmproj-f16.gguf': 1 };
  const { 'm.Q4_K_M.gguf': _, ...without } = files;
  const { 'm.Q8_0.gguf': __, ...neither } = without;
  assert.deepEqual(chosen(files), ['m.Q4_K_M.gguf']);
  assert.deepEqual(chosen(without), ['m.Q8_0.gguf']);
  assert.deepEqual(chosen(neither), ['m.Q2_K.gguf']);
  assert.deepEqual(chosen(files, 'm.Q2_K.gguf'), ['m.Q2_K.gguf']);
  // If no file can be read, one is chosen anyway, so that opening it gives an error with the reason.
  assert.deepEqual(chosen({ 'm.IQ2_XS.gguf': 1 }), ['m.IQ2_XS.gguf']);
});

test('the parts of a split file are chosen together, and weights of Python come before GGUF', () => {
  const parts = { 'a-Q8_0-00001-of-00002.gguf': 5, 'a-Q8_0-00002-of-00002.gguf': 5, 'b-Q2_K.gguf': 6 };
  assert.deepEqual(chosen(parts), Object.keys(parts).slice(0, 2));
  assert.deepEqual(chosen(parts, 'b-Q2_K.gguf'), ['b-Q2_K.gguf']);
  const both = { 'model.safetensors': 9, 'm.Q4_K_M.gguf': 4, 'pytorch_model.bin': 9 };
  assert.deepEqual(chosen(both), Object.keys(both));
  assert.deepEqual(chosen(both, 'm.Q4_K_M.gguf'), ['m.Q4_K_M.gguf']);
  assert.deepEqual(chosen(both, 'model.safetensors'), ['model.safetensors']);
  const index = {
    'model.fp16-00001-of-00002.safetensors': 1,
    'model.fp16-00002-of-00002.safetensors': 1,
    'model.fp16.safetensors.index.json': 1,
    'model.safetensors': 2,
  };
  assert.deepEqual(chosen(index, 'model.fp16.safetensors.index.json'), Object.keys(index).slice(0, 3));
  assert.equal(chosen(both, 'x.gguf'), undefined);
});

test('every file has a kind, and weights that are not read have the reason', () => {
  const kinds = (path) => {
    const { kind, opens, why } = describe({ path, size: 1, isLarge: true });
    return [kind, opens, why];
  };
  const no = /not read/;
  for (const [path, kind, opens, why] of [
    ['model.safetensors', 'safetensors', true],
    ['m.Q4_K_M.gguf', 'gguf', true],
    ['m-IQ4_XS.gguf', 'gguf', true],
    ['m-IQ2_XXS.gguf', 'gguf', false, /type IQ2_XXS, which is not read/],
    ['mmproj-model-f16.gguf', 'gguf', false, /not a language model/],
    ['m-Q8_0-00002-of-00003.gguf', 'gguf', false, /part 2 of a split file: choose m-Q8_0-00001-of-00003\.gguf/],
    ['pytorch_model.bin', 'torch', true],
    ['training_args.bin', 'other', false],
    ['onnx/model.onnx', 'onnx', false, no],
    ['tf_model.h5', 'tensorflow', false, no],
    ['flax_model.msgpack', 'flax', false, no],
    ['config.json', 'config', false],
    ['1_Pooling/config.json', 'config', false],
    ['tokenizer.json', 'tokenizer', false],
    ['tokenizer_config.json', 'tokenizer', false],
    ['spiece.model', 'tokenizer', false],
    ['merges.txt', 'tokenizer', false],
    ['README.md', 'other', false],
  ]) {
    const [k, o, w] = kinds(path);
    assert.deepEqual([k, o], [kind, opens], path);
    if (why) assert.match(w, why, path);
    else assert.equal(w, undefined, path);
  }
});

test('names are read as their parts', () => {
  for (const [text, id, revision, path] of [
    ['gpt2', 'gpt2'],
    ['hf://gpt2@main/config.json', 'gpt2', 'main', 'config.json'],
    ['hf://owner/name/a/b c.gguf', 'owner/name', undefined, 'a/b c.gguf'],
    ['hf://owner/name@refs/convert/x/a', 'owner/name', 'refs/convert/x', 'a'],
    ['https://huggingface.co/gpt2/blob/v1/a%20b.json?x=1', 'gpt2', 'v1', 'a b.json'],
    ['https://huggingface.co/owner/tree', 'owner/tree'],
    ['hf://owner/name?revision=v9', 'owner/name', 'v9'],
    ['hf://owner/name/a.gguf?revision=feature%2Fx', 'owner/name', 'feature/x', 'a.gguf'],
    ['hf://owner/name@v9?revision=v9', 'owner/name', 'v9'],
    ['https://huggingface.co/owner/name?revision=v9#usage', 'owner/name', 'v9'],
    ['https://huggingface.co/gpt2/resolve/main/a.gguf?download=true#x', 'gpt2', 'main', 'a.gguf'],
    ['https://huggingface.co/owner/name?library=transformers&utm_source=x', 'owner/name'],
  ])
    assert.deepEqual({ revision: undefined, path: undefined, ...readName('x', text) }, { id, revision, path }, text);
});

test('the folder of the cache follows the variables of Hugging Face', () => {
  assert.equal(cacheFolder(true, { HF_HUB_CACHE: '/a', HF_HOME: '/b' }), '/a');
  assert.equal(cacheFolder(true, { HF_HOME: '/b' }), '/b/hub');
  assert.equal(cacheFolder(true, { XDG_CACHE_HOME: '/c' }), '/c/huggingface/hub');
  assert.match(cacheFolder(true, {}), /\.cache.huggingface.hub$/);
  assert.equal(cacheFolder('/d', { HF_HUB_CACHE: '/a' }), '/d');
});

test('SHA-256 and SHA-1 in pieces are those of OpenSSL', () => {
  for (const [name, Hash] of [
    ['sha256', Sha256],
    ['sha1', Sha1],
  ])
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 128, 1000]) {
      const bytes = randomBytes(length);
      const hash = new Hash().update(bytes.subarray(0, length >> 1)).update(bytes.subarray(length >> 1));
      assert.equal(hash.digest(), createHash(name).update(bytes).digest('hex'), `${name} ${length}`);
    }
});

test('ranges are sorted, and joined over small gaps', () => {
  const ranges = [
    { begin: 20, end: 30 },
    { begin: 0, end: 10 },
    { begin: 9, end: 12 },
    { begin: 31, end: 33 },
  ];
  assert.deepEqual(merge(ranges, 2), [
    { begin: 0, end: 12 },
    { begin: 20, end: 33 },
  ]);
});

/** Returns storage for segments in a Map. Writing to it can be made to fail. */
function filesInMemory() {
  const files = new Map();
  return {
    files,
    fails: false,
    list: async () => [...files.keys()],
    size: async (name) => files.get(name).length,
    read: async (name, at, target) => void target.set(files.get(name).subarray(at, at + target.length)),
    async write(name, parts) {
      if (this.fails) throw new Error('full');
      files.set(name, Buffer.concat(parts));
    },
    clear: async () => files.clear(),
  };
}

const SEED = 5;

test(`stores return what was written, in any order (seed ${SEED})`, async () => {
  const random = uniformSource(SEED);
  const integer = (most) => Math.floor(random() * most);
  const size = 5000;
  const bytes = Uint8Array.from({ length: size }, () => integer(256));
  for (let round = 0; round < 20; round++) {
    const memory = filesInMemory();
    let store =
      round % 2 ? memoryStore(() => true) : new SegmentStore(memory, size, { onFailure() {}, keepsAll: () => true });
    const present = new Uint8Array(size);
    for (let i = 0; i < 40; i++) {
      const [begin, length] = [integer(size), 1 + integer(600)];
      const end = Math.min(begin + length, size);
      if (i === 20) memory.fails = round % 4 === 0;
      await store.write(begin, bytes.subarray(begin, end));
      present.fill(1, begin, end);
      if (round % 4 === 2 && i % 10 === 9) {
        await store.close();
        store = await new SegmentStore(memory, size, { onFailure() {}, keepsAll: () => true }).load();
      }
      if (round % 2 === 0 && i % 7 === 0 && !memory.fails) await store.flush();
      const at = integer(size);
      const missing = present.indexOf(0, at);
      // After a failure the store removes segments, whose bytes are then requested again.
      if (memory.fails) continue;
      assert.equal(store.presentFrom(at), (missing < 0 ? size : missing) - at);
      const next = present.indexOf(1, at);
      assert.equal(store.nextPresent(at), next < 0 ? Infinity : next);
      const target = new Uint8Array(Math.min(store.presentFrom(at), 700));
      assert.equal(await store.read(at, target), true);
      assert.deepEqual(target, bytes.slice(at, at + target.length));
    }
  }
});

test('a file that was begun is continued in any order, and gets its name when it is whole', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (7 * i) % 251);
  for (const [begun, name] of [
    [0, 'new'],
    [1200, 'own.headlight.incomplete'],
    [1200, 'other.incomplete'],
  ]) {
    const blob = join(folder, name.split('.')[0]);
    const snapshot = join(folder, 'snapshots', name.split('.')[0]);
    if (begun > 0) writeFileSync(join(folder, name), bytes.subarray(0, begun));
    const segments = filesInMemory();
    let stored = 0;
    const failures = [];
    const place = { size: bytes.length, snapshot, blob, incomplete: blob, segments, keepsAll: () => true };
    const store = new NodeStore({
      ...place,
      onStored: async () => void stored++,
      onFailure: (cause) => failures.push(cause),
    });
    await store.load();
    const write = (from, to) => store.write(from, bytes.subarray(from, to));
    const isHere = async (from, to) => {
      const target = new Uint8Array(to - from);
      assert.equal(await store.read(from, target), true);
      assert.deepEqual(target, bytes.slice(from, to), name);
    };
    assert.equal(store.presentFrom(0), begun);
    await write(3000, 3500);
    assert.deepEqual([store.presentFrom(0), store.nextPresent(2000), store.presentFrom(3100)], [begun, 3000, 400]);
    await write(begun, 1500);
    assert.equal(store.presentFrom(0), 1500, 'beginning and segments follow each other');
    await isHere(Math.max(begun - 100, 0), 1500);
    await store.expectWhole();
    await write(1400, 3200);
    assert.equal(store.presentFrom(0), 3500);
    await isHere(1000, 3500);
    await store.finish();
    assert.deepEqual([store.isFinished, stored], [false, 0], 'its end is missing');
    await write(3500, 5000);
    await store.finish();
    assert.deepEqual([store.isFinished, stored, failures], [true, 1, []]);
    for (const path of [blob, snapshot]) assert.deepEqual(new Uint8Array(readFileSync(path)), bytes);
    assert.equal(segments.files.size, 0);
    await isHere(0, 5000);
    await store.close();
  }
  const left = readdirSync(folder).filter((name) => name.includes('incomplete'));
  assert.deepEqual(left, ['other.incomplete'], 'another program may still write to it');
});

test('memory is limited while it is not known which reads follow', async () => {
  const store = memoryStore(() => false);
  const chunk = new Uint8Array(2 ** 20);
  for (let i = 0; i < 200; i++) await store.write(i * chunk.length, chunk);
  assert.equal(store.presentFrom(0), 0);
  assert.ok(store.presentFrom(199 * chunk.length) > 0);
  store.drop(200 * chunk.length);
  assert.equal(store.nextPresent(0), Infinity);
});

test('a file of which most was read without an announcement is completed; of others nothing more is read', async () => {
  const size = 4 * 2 ** 20;
  for (const [part, isComplete] of [
    [0.8, true],
    [0.3, false],
  ]) {
    let sent = 0;
    const remote = {
      size,
      hasRanges: true,
      async *stream(begin, end) {
        for (let at = begin; at < end; at += 2 ** 16) {
          const bytes = new Uint8Array(Math.min(2 ** 16, end - at)).fill(at >> 16);
          sent += bytes.length;
          yield { at, bytes };
        }
      },
    };
    const store = new SegmentStore(filesInMemory(), size, { onFailure() {}, keepsAll: () => false });
    const file = new HubFile(remote, store, { keeps: true });
    for (let at = 0; at < part * size; at += 2 ** 18) {
      const bytes = await file.read(at, at + 2 ** 18);
      assert.equal(bytes[0], at >> 16);
    }
    await file.complete();
    assert.equal(store.isFinished, isComplete);
    assert.ok(isComplete ? sent === size : sent < 2 * part * size, `${sent}`);
    await file.close();
  }
});

test('waits are as told, 0 at once, else they double; after the last attempt the error is thrown', async () => {
  const waits = [];
  const client = {
    throwIfClosed() {},
    onWait: ({ seconds }) => void waits.push(seconds),
    wait: async (seconds) => void waits.push(-seconds),
  };
  const waited = async (reason, told, attempts) => {
    waits.length = 0;
    const patience = new Patience(client, attempts);
    const error = new Error('the last one');
    await assert.rejects(async () => {
      for (const seconds of told) await patience.again(new Temporary(reason, error, seconds));
    }, error);
    return [...waits];
  };
  const none = undefined;
  assert.deepEqual(await waited('server', [none, none, none], 3), [0.25, -0.25, 0.5, -0.5]);
  assert.deepEqual(await waited('rateLimit', [0, 1, 37, none, 0], 1), [1, -1, 37, -37, 40, -40]);
  const other = new Error('not temporary');
  await assert.rejects(new Patience(client).again(other), other);
});

test('two revisions, and a query or a fragment without a meaning, are refused by name', () => {
  for (const [text, message] of [
    ['hf://owner/name@v1?revision=v2', /it has several revisions: v2, v1/],
    ['https://huggingface.co/owner/name/tree/v1?revision=v2', /it has several revisions: v2, v1/],
    ['hf://owner/name?revision=v1&revision=v2', /it has several revisions: v1, v2/],
    ['hf://owner/name?rev=v9', /'\?rev' has no meaning in it/],
    ['hf://owner/name?token=hf_abc', /'\?token' has no meaning in it$/],
    ['hf://owner/name#v9', /what follows # has no meaning in it.*%23/],
    ['hf://owner/name?revision=', /'' is not a revision/],
    ['hf://owner/name?revision=../x', /is not a revision/],
  ])
    assert.throws(
      () => readName('x', text),
      ({ code, message: found, got }) => {
        assert.equal(code, 'ARGUMENT');
        assert.match(found, message);
        assert.ok(!`${found} ${got}`.includes('hf_abc'));
        return true;
      },
    );
});

test('files of a repository whose paths are similar have different places in the cache', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-places-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const cache = openNodeCache(folder, {});
  const sha = '0'.repeat(40);
  const open = (path) => cache.open('owner/name', sha, { path, size: 5000, isLarge: true }, () => true);
  const paths = ['a/model', 'a-model', 'a%2Fmodel', 'A/model', 'a--model', 'a-model.incomplete'];
  for (const [i, path] of paths.entries()) {
    const store = await open(path);
    assert.equal(store.presentFrom(0), 0, path);
    await store.write(0, new Uint8Array(1000).fill(i));
    await store.close();
  }
  for (const [i, path] of paths.entries()) {
    const [store, bytes] = [await open(path), new Uint8Array(1000)];
    assert.equal(store.presentFrom(0), 1000);
    assert.equal(await store.read(0, bytes), true);
    assert.ok(
      bytes.every((byte) => byte === i),
      path,
    );
    await store.expectWhole();
    await store.close();
  }
  // A file that is being received is not listed as a file of the model.
  assert.deepEqual(await cache.present('owner/name', sha), []);
});

/** Makes a client of which each request brings this number of bytes before the connection ends. */
function brokenClient(count) {
  const client = {
    requests: 0,
    place: { caller: 'x', endpoint: 'https://host', id: 'owner/name', revision: 'main' },
    throwIfClosed() {},
    wait: async () => {},
    isOwn: () => true,
    check() {},
    async send(url, { Range }) {
      client.requests++;
      const [first, last] = Range.match(/\d+/g).map(Number);
      const headers = new Headers({ 'content-range': `bytes ${first}-${last}/${2 ** 20}` });
      const parts = [new Uint8Array(Math.min(count, last + 1 - first))];
      return { url, response: { status: 206, headers }, next: async () => parts.pop(), close() {} };
    },
  };
  return client;
}

test('a server that sends one byte for each request is given up, one that sends 64 KB is not', async () => {
  const receive = async (client) => {
    const file = new RemoteFile(client, 'https://host/file', { path: 'file', size: 2 ** 20, isLarge: true });
    let bytes = 0;
    for await (const part of file.stream(0, 2 ** 20)) bytes += part.bytes.length;
    return bytes;
  };
  const slow = brokenClient(1);
  await assert.rejects(receive(slow), { reason: 'network' });
  assert.equal(slow.requests, 5);
  const broken = brokenClient(2 ** 16);
  assert.equal(await receive(broken), 2 ** 20);
  assert.equal(broken.requests, 16);
});

/** Makes a client for a server of which the test makes the responses. */
const clientOf = (t, respond) => {
  t.mock.method(globalThis, 'fetch', respond);
  return new Client({ caller: 'x', endpoint: 'https://host', id: 'owner/name', revision: 'main' }, { follow: false });
};

test('a connection over which a byte arrives now and then counts as broken', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const client = clientOf(t, async (_url, { signal }) => {
    const pull = async (controller) => {
      // After the time of the limit, the timer of 0 ms ends the request.
      await new Promise((resolve) => setTimeout(resolve, now >= 60_000 ? 20 : 0));
      if (signal.aborted) return controller.error(signal.reason);
      now += 15_000;
      return controller.enqueue(new Uint8Array(1));
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  });
  const exchange = await client.send('https://host/file');
  let bytes = 0;
  await assert.rejects(
    async () => {
      while (await exchange.next()) bytes++;
    },
    ({ reason, message }) => reason === 'network' && /only 4 bytes arrived in 60 seconds/.test(message),
  );
  assert.equal(bytes, 4);
});

test('waits of a client leave no listeners behind', async (t) => {
  const added = t.mock.method(AbortSignal.prototype, 'addEventListener');
  const removed = t.mock.method(AbortSignal.prototype, 'removeEventListener');
  const client = clientOf(t, undefined);
  for (let i = 0; i < 5; i++) await client.wait(0);
  assert.equal(added.mock.callCount(), 5);
  assert.equal(removed.mock.callCount(), 5);
});
