import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { HeadlightError, load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { GOLDEN, modelFiles } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { logitsOf } from '../../../support/logits.js';

const FOLDER = join(GOLDEN, 'models', 'llama-a');
const SHARDS = join(GOLDEN, 'models', 'qwen2-a');

const files = modelFiles(FOLDER);
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const config = JSON.parse(new TextDecoder().decode(files['config.json']));
const withConfig = (changes) => ({ ...files, 'config.json': json({ ...config, ...changes }) });

const expected = await logitsOf(FOLDER);

/** Serves a folder and counts the bytes that are sent. */
async function serve(folder, ranges) {
  const seen = { bytes: 0, missing: 0 };
  const server = createServer((request, response) => {
    const name = basename(request.url);
    if (request.url.startsWith('/nowhere') || !readdirSync(folder).includes(name)) {
      seen.missing++;
      response.writeHead(404).end();
      return;
    }
    const all = readFileSync(join(folder, name));
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec((ranges && request.headers.range) || '') ?? [];
    const part = from === undefined ? all : all.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${all.length}`;
    response.writeHead(from === undefined ? 200 : 206, {
      'content-length': part.length,
      ...(from !== undefined && { 'content-range': range }),
    });
    seen.bytes += part.length;
    response.end(part);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, seen, close };
}

/** Checks that opening fails with an error that matches, and that all memory is freed. */
async function refuses(source, pattern, options) {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(source, options), (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.match(error.message, pattern);
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

test('a folder may be a path, a file URL, files by name, a list of files or a directory handle', async () => {
  const list = Object.entries(files).map(([name, bytes]) => new File([bytes], name));
  const handle = {
    name: 'folder',
    getFileHandle() {},
    async *values() {
      for (const file of list) yield { kind: 'file', name: file.name, getFile: async () => file };
    },
  };
  const buffers = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.slice().buffer]));
  const blobs = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`model/${name}`, new Blob([bytes])]));
  for (const source of [pathToFileURL(FOLDER), pathToFileURL(FOLDER).href, files, buffers, blobs, list, handle])
    assert.deepEqual(await logitsOf(source), expected);
});

test('only the required ranges of a URL are read; whole files if the server does not support ranges', async (t) => {
  const size = files['model.safetensors'].length;
  const ranged = await serve(FOLDER, true);
  t.after(ranged.close);
  assert.deepEqual(await logitsOf(ranged.url), expected);
  const all = ranged.seen.bytes;
  ranged.seen.bytes = 0;
  await logitsOf(ranged.url, { layers: 1 });
  assert.ok(ranged.seen.bytes < 0.8 * all, `${ranged.seen.bytes} of ${all}`);
  const whole = await serve(FOLDER, false);
  t.after(whole.close);
  assert.deepEqual(await logitsOf(whole.url), expected);
  assert.ok(whole.seen.bytes < size + 3 * 2 ** 12, 'the file is sent once');
  assert.ok(whole.seen.missing > 0, 'there is no tokenizer');
  await refuses(`${whole.url}nowhere/`, /there is no config\.json/);
});

test('shards are found by the index file, and the error about a missing one contains its name', async () => {
  const shards = modelFiles(SHARDS);
  assert.deepEqual(await logitsOf(shards), await logitsOf(SHARDS));
  const { 'model-00002-of-00003.safetensors': _, ...rest } = shards;
  await refuses(rest, /model-00002-of-00003\.safetensors is missing/);
  await refuses({ ...shards, 'model.safetensors.index.json': json({}) }, /weight_map/);
});

test('float16, bfloat16 and 8-bit floats are converted to float32; int8 weights give similar results', async () => {
  const { tensors } = readSafetensors(files['model.safetensors']);
  for (const [dtype, limit] of [
    ['F16', 2e-3],
    ['BF16', 2e-2],
    ['F8_E4M3', 0.3],
  ]) {
    const given = Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, { ...tensor, dtype }]));
    const bytes = writeSafetensors(given);
    assert.ok(bytes.length < files['model.safetensors'].length * 0.6);
    const rounded = Object.fromEntries(
      Object.entries(readSafetensors(bytes).tensors).map(([name, tensor]) => [name, { ...tensor, dtype: 'F32' }]),
    );
    const got = await logitsOf({ ...files, 'model.safetensors': bytes });
    const same = await logitsOf({ ...files, 'model.safetensors': writeSafetensors(rounded) });
    assert.deepEqual(got, same);
    assert.ok(away(got) < limit, `${dtype} is off by ${away(got)}`);
  }
  const int8 = away(await logitsOf(FOLDER, { weights: 'int8' }));
  assert.ok(int8 > 0 && int8 < 0.03, `int8 is off by ${int8}`);
});

function away(got) {
  const most = expected.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return got.reduce((a, b, i) => Math.max(a, Math.abs(b - expected[i])), 0) / most;
}

test('int8 and int4 weights are the same, bit for bit, rounded while reading and rounded afterwards', async () => {
  for (const name of ['llama-a', 'gpt2-a', 'bert-a', 'vit-a', 't5-a']) {
    const checkpoint = modelFiles(join(GOLDEN, 'models', name));
    const { tensors } = readSafetensors(
      checkpoint['model.safetensors'] ??
        new Uint8Array(readFileSync(join(GOLDEN, 'models', name, 'model.safetensors'))),
    );
    for (const dtype of ['F32', 'F16', 'BF16', 'F8_E4M3', 'F64']) {
      const given = Object.fromEntries(Object.entries(tensors).map(([key, tensor]) => [key, { ...tensor, dtype }]));
      const source = { ...checkpoint, 'model.safetensors': writeSafetensors(given) };
      for (const weights of ['int8', 'int4']) {
        const direct = await hl.openModel(source, { weights });
        const after = (await hl.openModel(source)).quantize(weights);
        const [got, same] = [direct.stateDict(), after.stateDict()];
        for (const [key, { data }] of Object.entries(same)) assert.deepEqual(got[key].data, data, `${dtype}: ${key}`);
        assert.equal(direct.weights.size, after.weights.size);
        const kinds = new Set();
        for (const [key, { packed, tensor }] of direct.weights) {
          assert.equal(packed?.kind, after.weights.get(key).packed?.kind, key);
          assert.equal(Boolean(tensor), !packed, key);
          kinds.add(packed?.kind);
        }
        assert.ok(kinds.has(weights === 'int8' ? 'int8' : 'blocks'));
        direct.dispose();
        after.dispose();
      }
    }
  }
});

test('int4 weights give results near those of float32, have no gradients, and can become int8', async () => {
  const off = away(await logitsOf(FOLDER, { weights: 'int4' }));
  assert.ok(off > 0.005 && off < 0.3, `${off}`);
  const model = await hl.openModel(FOLDER, { weights: 'int4' });
  const state = (error) =>
    error instanceof HeadlightError && error.code === 'STATE' && /int8|4-bit/.test(error.message);
  assert.throws(() => model.differentiate([5, 3], { of: { final: [1] }, at: ['embed'] }), state);
  assert.throws(() => model.forward([5, 3], { train: true }), state);
  assert.throws(() => model.loadStateDict(model.stateDict()), state);
  const before = model.stateDict();
  const after = model.quantize('int8').stateDict();
  for (const [key, { data }] of Object.entries(before)) {
    const step = data.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 254;
    assert.ok(data.every((x, i) => Math.abs(x - after[key].data[i]) <= 0.51 * step, key));
  }
  assert.throws(() => model.quantize('int5'), /int5.*int8.*int4/);
  model.dispose();
});

test('a single file of weights may have any name, of two none is chosen', async () => {
  const { 'model.safetensors': weights, ...rest } = files;
  const open = async (more) => (await hl.openModel({ ...rest, ...more })).dispose();
  await open({ 'weights.safetensors': weights });
  await assert.rejects(open({ 'a.safetensors': weights, 'b.safetensors': weights }), { code: 'FORMAT' });
});

test('rows with parts of several parameters are read once', async (t) => {
  const folder = join(GOLDEN, 'models', 'gpt2-a');
  const server = await serve(folder, true);
  t.after(server.close);
  (await hl.openModel(server.url)).dispose();
  const size = readFileSync(join(folder, 'model.safetensors')).length;
  const config = readFileSync(join(folder, 'config.json')).length;
  assert.ok(server.seen.bytes <= size + config, `${server.seen.bytes} of ${size}`);
});

test('a model that does not fit is refused before its tensors are read', async (t) => {
  const small = await load({ maxMemory: 2 ** 18 });
  t.after(() => small.dispose());
  const server = await serve(FOLDER, true);
  t.after(server.close);
  const { used } = small.info.memory;
  await assert.rejects(small.openModel(server.url), (error) => error.code === 'OUT_OF_MEMORY');
  assert.equal(small.info.memory.used, used);
  assert.ok(server.seen.bytes < 2 ** 15, `${server.seen.bytes} bytes were read`);
});

test('a failure during reading frees all memory and causes no unhandled rejection', async () => {
  const checkpoint = {
    'config.json': files['config.json'],
    'model.safetensors': new Blob([files['model.safetensors']]),
  };
  const blob = checkpoint['model.safetensors'];
  for (const fails of [3, 4, 9]) {
    let calls = 0;
    const slice = (begin, end) => {
      const part = Blob.prototype.slice.call(blob, begin, end);
      if (++calls >= fails) part.arrayBuffer = () => Promise.reject(new Error('the disk is gone'));
      return part;
    };
    Object.defineProperty(blob, 'slice', { value: slice, configurable: true });
    for (const weights of ['float32', 'int8', 'stored']) await refuses(checkpoint, /the disk is gone/, { weights });
  }
});

test('progress increases up to all bytes', async () => {
  const steps = [];
  await logitsOf(FOLDER, { onProgress: (step) => steps.push(step) });
  assert.ok(steps.every(({ read, total }, i) => read > (steps[i - 1]?.read ?? 0) && read <= total));
  assert.equal(steps.at(-1).read, steps.at(-1).total);
});

test('an aborted openModel rejects with the reason of the signal and frees all memory', async () => {
  for (const weights of ['float32', 'int8', 'stored']) {
    const before = hl.info.memory.used;
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = ({ read, total }) => read > total / 2 && stop.abort(reason);
    await assert.rejects(hl.openModel(FOLDER, { weights, signal: stop.signal, onProgress }), (e) => e === reason);
    assert.equal(hl.info.memory.used, before);
    await assert.rejects(hl.openModel(FOLDER, { signal: stop.signal }), (e) => e === reason);
  }
});

test('invalid checkpoints are refused, and the error gives the reason', async () => {
  const { 'config.json': _, ...noConfig } = files;
  await refuses(noConfig, /there is no config\.json.*model\.safetensors/);
  const only = { 'config.json': files['config.json'] };
  await refuses(only, /there is no model\.safetensors/);
  await refuses({ ...only, 'pytorch_model.bin': json({}) }, /pytorch_model\.bin: this is JSON text/);
  await refuses({ ...only, 'tf_model.h5': json({}) }, /tf_model\.h5 cannot be read: save the model as safetensors/);
  await refuses(withConfig({ model_type: 'mamba' }), /'mamba'.*llama.*hl\.layersIn/);
  await refuses(withConfig({ quantization_config: { bits: 4 } }), /quantization_config/);
  await refuses(withConfig({ hidden_act: 'mish' }), /hidden_act is 'mish'/);
  await refuses(withConfig({ rope_scaling: { rope_type: 'spiral' } }), /rope_scaling.*spiral/);
  await refuses(withConfig({ hidden_size: 128 }), /expected/);
  await refuses(withConfig({ num_hidden_layers: 3 }), /model\.layers\.2.*missing/);
  await refuses(files, /layers/, { layers: -1 });
  await refuses(files, /weights/, { weights: 'int2' });
  const bytes = files['model.safetensors'];
  await refuses({ ...files, 'model.safetensors': bytes.subarray(0, bytes.length - 100) }, /data_offsets|truncated/);
  const { tensors } = readSafetensors(bytes);
  const integers = { data: new BigInt64Array(64), shape: [64], dtype: 'I64' };
  const wrong = writeSafetensors({ ...tensors, 'model.norm.weight': integers });
  await refuses({ ...files, 'model.safetensors': wrong }, /model\.norm\.weight has the type I64/);
  const bert = modelFiles(join(GOLDEN, 'models', 'bert-a'));
  const relative = JSON.parse(new TextDecoder().decode(bert['config.json']));
  relative.position_embedding_type = 'relative_key';
  await refuses({ ...bert, 'config.json': json(relative) }, /position_embedding_type is 'relative_key'/);
});

test('a config.json that claims any number of layers is refused at once', async () => {
  const gemma2 = modelFiles(join(GOLDEN, 'models', 'gemma2-a'));
  const said = JSON.parse(new TextDecoder().decode(gemma2['config.json']));
  for (const layers of [1e6, 1e9, 1e300])
    for (const model_type of ['gemma2', 'qwen2', 'modernbert', 'llama']) {
      const claims = json({ ...said, model_type, num_hidden_layers: layers, use_sliding_window: true });
      await refuses({ ...gemma2, 'config.json': claims }, /missing|layers is/);
    }
});

test('the tokenizer in the folder encodes and decodes text; without one, text is refused', async () => {
  const plain = await hl.openModel(FOLDER);
  for (const call of [() => plain.encode('a'), () => plain.decode([1]), () => plain.forward('a')])
    assert.throws(call, (error) => error.code === 'STATE' && /tokenizer/.test(error.message));
  await assert.rejects(plain.generate('a', { max: 1 }), (error) => error.code === 'STATE');
  plain.dispose();
  const { tensors } = readSafetensors(files['model.safetensors']);
  const vocab = 600;
  for (const name of ['model.embed_tokens.weight', 'lm_head.weight']) {
    const { data } = tensors[name];
    const wide = Float32Array.from({ length: vocab * 64 }, (_, i) => data[i % data.length]);
    tensors[name] = { data: wide, shape: [vocab, 64] };
  }
  const model = await hl.openModel({
    ...withConfig({ vocab_size: vocab }),
    'model.safetensors': writeSafetensors(tensors),
    'tokenizer.json': new Uint8Array(readFileSync(join(GOLDEN, 'tokenizers', 'bpe', 'tokenizer.json'))),
  });
  const { ids } = model.encode('the whale');
  assert.equal(model.decode(ids), 'the whale');
  const [text, labels] = [model.forward('the whale'), model.forward(ids)];
  assert.deepEqual(text.logits.copy(), labels.logits.copy());
  const { text: more, ids: made } = await model.generate('the whale', { max: 3, stop: [] });
  assert.equal(made.length, 3);
  assert.equal(typeof more, 'string');
  for (const thing of [text, labels, model]) thing.dispose();
});

test('errors about invalid arguments contain their names', async () => {
  for (const signal of [5, {}, null, 'x', new EventTarget(), { aborted: false }])
    await refuses(files, /openModel: signal is .*, expected an AbortSignal/, { signal });
  await refuses([null], /files\[0\] is null, expected a File/);
  await refuses([new Blob(['{}'])], /files\[0\] is an object \(Blob\), expected a File/);
  await refuses({ 'config.json': 'x' }, /files\['config.json'\] is 'x', expected a File, a Blob or bytes/);
  await refuses({ 'config.json': null }, /files\['config.json'\] is null/);
  const { buffer } = json(config);
  structuredClone(buffer, { transfer: [buffer] });
  await refuses({ ...files, 'config.json': buffer }, /config\.json.*detached/);
  const view = files['model.safetensors'].slice();
  structuredClone(view.buffer, { transfer: [view.buffer] });
  await refuses({ ...files, 'model.safetensors': view }, /model\.safetensors/);
});

test('files may be in shared memory', async () => {
  const shared = Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => {
      const buffer = new SharedArrayBuffer(bytes.length);
      new Uint8Array(buffer).set(bytes);
      return [name, buffer];
    }),
  );
  assert.deepEqual(await logitsOf(shared), expected);
});

test('of files with the same name, the one nearest to the root is used', async () => {
  const { 'config.json': first, ...rest } = files;
  const nested = { 'm/config.json': first, 'm/1_Pooling/config.json': json({}), ...rest };
  assert.deepEqual(await logitsOf(nested), expected);
  assert.deepEqual(await logitsOf(Object.fromEntries(Object.entries(nested).reverse())), expected);
});

test('a tensor must be in exactly one shard, the one that the index names', async () => {
  const shards = modelFiles(SHARDS);
  const index = JSON.parse(new TextDecoder().decode(shards['model.safetensors.index.json']));
  const withMap = (more) => ({
    ...shards,
    'model.safetensors.index.json': json({ ...index, weight_map: { ...index.weight_map, ...more } }),
  });
  const name = 'model.embed_tokens.weight';
  const { shape } = readSafetensors(shards[index.weight_map[name]]).tensors[name];
  const zeros = { data: new Float32Array(shape[0] * shape[1]), shape };
  const other = writeSafetensors({ [name]: zeros, more: { data: new Float32Array(1), shape: [1] } });
  const twice = { ...withMap({ more: 'zzz.safetensors' }), 'zzz.safetensors': other };
  await refuses(twice, /'model\.embed_tokens\.weight' is in '.*' and in 'zzz\.safetensors'|but .* says/);
  const elsewhere = Object.values(index.weight_map).find((file) => file !== index.weight_map[name]);
  await refuses(withMap({ [name]: elsewhere }), /'model\.embed_tokens\.weight' is in '.*', but .*index\.json says/);
  await refuses(withMap({ ghost: elsewhere }), /says that 'ghost' is in '.*', but it is not/);
});

test('the error about a damaged shard contains its name', async () => {
  const shards = modelFiles(SHARDS);
  const name = 'model-00003-of-00003.safetensors';
  await refuses(
    { ...shards, [name]: new Uint8Array(100).fill(32) },
    /model-00003-of-00003\.safetensors: readSafetensors/,
  );
});

test('errors do not contain long values of a file', async () => {
  const long = 'x'.repeat(2 ** 20);
  for (const changes of [
    { hidden_act: long },
    { hidden_act: [long, long] },
    { rope_scaling: { rope_type: long } },
    { rope_scaling: { [long]: 1 } },
    { rope_parameters: { a: { [long]: 1 } } },
    { model_type: long },
    { layer_types: [long] },
    { hidden_size: long },
    { attention_bias: long },
  ]) {
    const error = await hl.openModel(withConfig(changes)).then(
      (model) => void model.dispose(),
      (error) => error,
    );
    if (error) assert.ok(error.message.length < 2000, `${Object.keys(changes)}: ${error.message.length}`);
  }
});

test('the demo is the language model that is included in the package', async () => {
  const model = await hl.openModel('demo');
  const { text } = await model.generate('Call me', { max: 5 });
  assert.ok(text.length > 0);
  const bytes = readFileSync(
    new URL(import.meta.resolve('headlight-attention').replace(/[^/]*$/, 'whale.safetensors')),
  );
  const same = hl.loadTransformer(bytes);
  const ids = [...model.encode('Call me').ids];
  const [a, b] = [model, same].map((one) => {
    const result = one.forward(ids);
    const logits = result.logits.copy();
    result.dispose();
    return logits;
  });
  assert.deepEqual(a, b);
  for (const one of [model, same]) one.dispose();
  const steps = [];
  const two = await hl.openModel('demo', { layers: 2, weights: 'int8', onProgress: (step) => steps.push(step) });
  assert.equal(two.options.layers, 2);
  assert.equal(steps.at(-1).read, steps.at(-1).total);
  two.dispose();
  const stop = AbortSignal.abort(new Error('enough'));
  await assert.rejects(hl.openModel('demo', { signal: stop }), /enough/);
  await refuses('demo', /layers/, { layers: -1 });
  const inline = await (await import('headlight-attention/inline')).load();
  await assert.rejects(inline.openModel('demo'), {
    code: 'LOAD',
    message: /the demo is not in the folder of the module: copy whale\.safetensors.*import 'headlight-attention'/,
  });
  inline.dispose();
});

test('the source of a model names its files, their format, and the form of the weights', async () => {
  const [one, several] = [await hl.openModel(files, { weights: 'int8' }), await hl.openModel(SHARDS)];
  const sizeOf = (name) => readFileSync(join(SHARDS, name)).length;
  const shards = readdirSync(SHARDS).filter((name) => name.endsWith('.safetensors'));
  assert.deepEqual(one.source, {
    files: [{ name: 'model.safetensors', size: files['model.safetensors'].length }],
    format: 'safetensors',
    weights: 'int8',
  });
  assert.ok(shards.length > 1);
  assert.deepEqual(
    several.source.files,
    shards.sort().map((name) => ({ name, size: sizeOf(name) })),
  );
  one.dispose();
  several.dispose();
});
