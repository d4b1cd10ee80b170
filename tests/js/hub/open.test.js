// Opens models by their names on the Hub, from a local imitation of the Hub on two ports.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { GOLDEN, modelFiles } from '../../support/golden.js';
import { hl } from '../../support/headlight.js';
import { answer } from '../../support/hub.js';
import { makeFolder, at as of, start as startWith, treeOf } from '../../support/hubCache.js';
import { logitsOf } from '../../support/logits.js';

const LLAMA = {
  ...modelFiles('llama-a'),
  'tokenizer.json': new Uint8Array(readFileSync(join(GOLDEN, 'tokenizers', 'bpe', 'tokenizer.json'))),
  'README.md': new TextEncoder().encode('# A model'),
};
const SHARDS = modelFiles('qwen2-a');
const expected = await logitsOf(LLAMA);

const start = (t, models = { 'owner/llama': LLAMA }, options = {}) => startWith(t, models, options);

test('a model opens by its name: one commit, a list with sizes, one signed address, no HEAD', async (t) => {
  const hub = await start(t);
  const model = await hl.openModel('hf://owner/llama', of(hub));
  const result = model.forward([5, 17, 80, 3]);
  assert.deepEqual(result.logits.copy(), expected);
  const sha = hub.models.get('owner/llama').branches.get('main');
  assert.deepEqual(model.source, {
    id: 'owner/llama',
    revision: sha,
    cached: false,
    cacheNote: 'cache: false',
    files: [{ name: 'model.safetensors', size: LLAMA['model.safetensors'].length }],
    format: 'safetensors',
    weights: 'float32',
  });
  assert.ok(model.tokenizer.encode('the whale').ids.length > 0);
  result.dispose();
  model.dispose();
  assert.ok(hub.requests.every(({ method }) => method === 'GET'));
  assert.deepEqual(hub.to('hub').slice(0, 2), [
    '/api/models/owner/llama/revision/main',
    `/api/models/owner/llama/tree/${sha}?recursive=true`,
  ]);
  for (const path of hub.to('hub').slice(2)) assert.match(path, new RegExp(`/${sha}/`));
  assert.equal(hub.to('hub').filter((path) => path.includes('/resolve/')).length, 3);
  assert.equal(hub.to('cdn').length, 1);
});

test('a chat template and the settings of a sentence encoder are read, also in a folder inside', async (t) => {
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  const files = {
    ...LLAMA,
    'tokenizer_config.json': json({ chat_template: 'You say {{ messages[0].content }}' }),
    'modules.json': json([{ path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }]),
    '1_Pooling/config.json': json({ pooling_mode_lasttoken: true }),
  };
  const hub = await start(t, { 'owner/llama': files });
  const model = await hl.openModel('hf://owner/llama', of(hub));
  assert.equal(model.chat([{ role: 'user', content: 'whale' }]), 'You say whale');
  // The vocabulary of this model is smaller than that of the tokenizer, so a tokenizer with smaller ids replaces that
  // tokenizer.
  model.tokenizer = { encode: () => ({ ids: [5, 9], tokens: [], offsets: [], typeIds: [] }), decode: () => '' };
  const last = model.forward([5, 9]).hidden.toArray().at(-1);
  assert.deepEqual(model.embed('the whale').toArray(), [last]);
  model.dispose();
});

for (const [form, revision] of Object.entries({
  'hf://owner/llama@main': 'main',
  'hf://owner/llama@refs/pr/1': 'refs/pr/1',
  'hf://owner/llama@feature%2Fx': 'feature/x',
  'hf://owner/llama/config.json': 'main',
  'hf://owner/llama@feature%2Fx/model.safetensors': 'feature/x',
  'https://huggingface.co/owner/llama': 'main',
  'https://huggingface.co/owner/llama/tree/refs%2Fpr%2F1': 'refs/pr/1',
  'https://huggingface.co/owner/llama/tree/refs/pr/1': 'refs/pr/1',
  'https://huggingface.co/owner/llama/blob/main/model.safetensors': 'main',
  'https://huggingface.co/owner/llama/resolve/main/model.safetensors?download=true': 'main',
  'https://huggingface.co/owner/llama/resolve/main': 'main',
  'https://hf.co/owner/llama/': 'main',
}))
  test(`${form} is accepted`, async (t) => {
    const hub = await start(t, {
      'owner/llama': { files: LLAMA, revisions: { 'refs/pr/1': LLAMA, 'feature/x': LLAMA } },
    });
    assert.deepEqual(await logitsOf(form, of(hub)), expected);
    assert.equal(hub.to('hub')[0], `/api/models/owner/llama/revision/${encodeURIComponent(revision)}`);
  });

test('an address of a mirror, a model without an owner, and the option revision are accepted', async (t) => {
  const hub = await start(t, { llama: { files: {}, revisions: { v1: LLAMA } } });
  assert.deepEqual(await logitsOf(`${hub.endpoint}/llama/tree/v1`, of(hub)), expected);
  assert.deepEqual(await logitsOf('hf://llama', of(hub, { revision: 'v1' })), expected);
  await assert.rejects(hl.openModel('hf://llama@main', of(hub, { revision: 'v1' })), /revision is 'v1', expected main/);
});

for (const [name, message] of Object.entries({
  'hf://': /expected hf:\/\/OWNER\/NAME/,
  'hf://owner/../x': /may have only letters|not allowed/,
  'hf://owner/a--b': /'--' are not allowed/,
  'hf://owner/a..b': /'\.\.' and/,
  'hf://owner/x.git': /does not end with/,
  'hf://owner/x.ipynb': /does not end with/,
  'hf://owner/-x': /may have only letters/,
  'hf://ow ner/x': /may have only letters/,
  [`hf://owner/${'x'.repeat(97)}`]: /has 97 characters/,
  'hf://owner/x@../y': /is not a revision/,
  'hf://owner/x@main/../y': /is not the path of a file/,
  'hf://owner/x@main/%2e%2e/y': /is not the path of a file/,
  'hf://owner/x@main/a%5Cb': /is not the path of a file/,
  'hf://owner/x@main/%zz': /wrong % sequence/,
  'https://huggingface.co/datasets/owner/x': /expected https:\/\/huggingface\.co\/OWNER\/NAME/,
  'https://huggingface.co/': /expected/,
}))
  test(`${name.slice(0, 40)} is refused without a request`, async (t) => {
    const hub = await start(t);
    await assert.rejects(hl.openModel(name, of(hub)), (error) => {
      assert.equal(error.code, 'ARGUMENT', error.stack);
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(hub.requests, []);
  });

test('a list in pages, also with the addresses of another host, is read to its end', async (t) => {
  for (const linkTo of [undefined, 'https://huggingface.co']) {
    const hub = await start(
      t,
      { 'owner/qwen': { ...SHARDS, 'onnx/model.onnx': new Uint8Array(5) } },
      { pageSize: 2, linkTo },
    );
    assert.deepEqual(await logitsOf('hf://owner/qwen', of(hub)), await logitsOf(SHARDS));
    assert.ok(hub.to('hub').filter((path) => path.includes('/tree/')).length >= 3);
  }
});

test('a mirror without lists: names from the model, sizes from a range of one byte', async (t) => {
  const hub = await start(t);
  hub.lists = false;
  assert.deepEqual(await logitsOf('hf://owner/llama', of(hub)), expected);
  assert.ok(hub.to('hub').some((path) => path.endsWith('config.json bytes=0-0')));
});

test('a redirect to the new name of a model is followed, and the new name is reported', async (t) => {
  const hub = await start(t, { 'new/llama': { files: LLAMA, private: true }, 'old/llama': { renamedTo: 'new/llama' } });
  const model = await hl.openModel('hf://old/llama', of(hub, { token: 'hf_secret' }));
  assert.equal(model.source.id, 'new/llama');
  assert.equal(model.source.renamedFrom, 'old/llama');
  model.dispose();
  for (const { server, authorization } of hub.requests)
    assert.equal(authorization, server === 'hub' ? 'Bearer hf_secret' : undefined);
});

test('a file, a folder: the option file and the path select one of several models', async (t) => {
  const other = modelFiles('gpt2-a');
  const files = {
    ...LLAMA,
    'other.safetensors': new Uint8Array(9),
    ...Object.fromEntries(Object.entries(other).map(([name, bytes]) => [`small/${name}`, bytes])),
  };
  const hub = await start(t, { 'owner/both': files });
  assert.deepEqual(await logitsOf('hf://owner/both', of(hub)), expected);
  assert.deepEqual(await logitsOf('hf://owner/both', of(hub, { file: 'model.safetensors' })), expected);
  assert.deepEqual(await logitsOf('hf://owner/both/small', of(hub)), await logitsOf(other));
  await assert.rejects(hl.openModel('hf://owner/both/none.gguf', of(hub)), (error) => {
    assert.equal(error.reason, 'entry');
    assert.match(error.message, /owner\/both has no file none\.gguf at main: there are .*config\.json/);
    assert.ok(error.expected.includes('small/config.json'));
    return true;
  });
});

test('a tokenizer alone opens by the name of its model', async (t) => {
  const hub = await start(t);
  Object.assign(process.env, { HF_ENDPOINT: hub.endpoint, HF_HOME: makeFolder(t) });
  t.after(() => {
    delete process.env.HF_ENDPOINT;
    delete process.env.HF_HOME;
  });
  const tokenizer = await hl.openTokenizer('hf://owner/llama');
  assert.ok(tokenizer.encode('the whale').ids.length > 0);
});

test('an index that names a file elsewhere is refused before a request for it', async (t) => {
  const index = JSON.parse(new TextDecoder().decode(SHARDS['model.safetensors.index.json']));
  const [tensor] = Object.keys(index.weight_map);
  for (const name of ['../../x', 'https://example.org/x.safetensors', 'not-there.safetensors']) {
    const map = { ...index, weight_map: { ...index.weight_map, [tensor]: name } };
    const bytes = new TextEncoder().encode(JSON.stringify(map));
    const hub = await start(t, { 'owner/qwen': { ...SHARDS, 'model.safetensors.index.json': bytes } });
    await assert.rejects(hl.openModel('hf://owner/qwen', of(hub)), { code: 'FORMAT' });
    assert.ok(hub.requests.every(({ path }) => !/example|not-there|\.\./.test(path)));
  }
});

test('answers that are not those of the Hub are refused in words', async (t) => {
  const hub = await start(t);
  for (const [body, message] of [
    ['<html>', /does not send JSON: it is not the Hub/],
    ['{}', /has no commit/],
  ]) {
    hub.fault = () => answer(200, { 'content-type': 'text/html' }, body);
    await assert.rejects(hl.openModel('hf://owner/llama', of(hub)), (error) => {
      assert.equal(error.reason, 'server');
      assert.match(error.message, message);
      return true;
    });
  }
});

test('a small file that is not the one that the Hub lists is refused and not cached', async (t) => {
  const hub = await start(t);
  const cache = makeFolder(t);
  hub.fault = ({ path }) =>
    /resolve-cache.*config\.json/.test(path) &&
    ((response, { body, headers }) => {
      const plain = headers['content-encoding'] ? gunzipSync(body) : body;
      response.writeHead(200).end(String(plain).replace('"rope_theta"', '"rope_thetb"'));
    });
  for (const options of [of(hub, { cache }), of(hub)])
    await assert.rejects(hl.openModel('hf://owner/llama', options), (error) => {
      assert.equal(error.reason, 'changed');
      assert.match(error.message, /owner\/llama\/config\.json is not the same file as before: its sha1 is not/);
      return true;
    });
  assert.deepEqual(
    treeOf(cache).filter((path) => path.includes('snapshots')),
    [],
  );
  hub.fault = () => undefined;
  assert.deepEqual(await logitsOf('hf://owner/llama', of(hub, { cache })), expected);
});

test('a list of 250,000 files is refused in words', async (t) => {
  const hub = await start(t);
  const list = Array.from({ length: 250_000 }, (_, i) => ({ type: 'file', path: `${i}`, size: 1 }));
  const body = JSON.stringify(list);
  hub.fault = ({ path }) => (path.includes('/tree/') ? answer(200, {}, body) : undefined);
  await assert.rejects(hl.openModel('hf://owner/llama', of(hub)), (error) => {
    assert.equal(error.reason, 'server');
    assert.match(error.message, /it lists more than 200000 files/);
    return true;
  });
});

test('an error repeats what the server says without tokens and passwords', async (t) => {
  const hub = await start(t, { 'owner/llama': LLAMA });
  const other = `hf_${'x'.repeat(34)}`;
  const said = `not for Bearer ${hub.token}, ${hub.token}, ${other}, see https://me:pa55@host/a?Signature=s1`;
  const location = 'http://me:pa55@127.0.0.1/x';
  for (const [fault, message] of [
    [answer(400, { 'x-error-message': said }), /status 400: not for ….*see https:\/\/…@host\/a\?…$/],
    [answer(307, { location }), /a redirect to an address with a user name or a password/],
    [answer(200, {}, `{"sha": ${hub.token}`), /does not send JSON/],
  ]) {
    hub.fault = () => fault;
    await assert.rejects(hl.openModel('hf://owner/llama', of(hub, { token: hub.token })), (error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(inspect(error), new RegExp(`${hub.token}|${other}|pa55|Signature=s1`));
      return true;
    });
  }
});
