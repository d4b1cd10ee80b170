// Opens checkpoints in files of torch.save, and compares them with safetensors files of the same weights.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { HeadlightError } from 'headlight-attention';
import { serveFiles } from '../../../support/faulty_server.js';
import { difference, modelFiles } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';
import { logitsOf } from '../../../support/logits.js';
import { asTorch, tensor, torchZip, tuple } from '../../../support/torch_files.js';

const GOLDEN = new URL('../../../golden/torch/', import.meta.url);
const golden = (name) => new Uint8Array(readFileSync(new URL(name, GOLDEN)));
const llama = modelFiles('llama-a');
const sharded = modelFiles('qwen2-a');
const NANOGPT = JSON.parse(readFileSync(new URL('nanogpt.json', GOLDEN), 'utf8'));

/** Writes files into a new folder. */
function onDisk(t, files) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-torch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}
async function serve(t, files) {
  const server = await serveFiles(files);
  t.after(server.close);
  return server;
}
async function refuses(source, message, code = 'FORMAT') {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(source), (error) => {
    assert.ok(error instanceof HeadlightError && error.code === code, error.stack);
    assert.match(error.message, message);
    assert.ok(error.message.length < 700, error.message);
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

/** Resolves to the weights of a model, by name. */
async function weightsOf(source) {
  const model = await hl.openModel(source);
  const copies = Object.fromEntries(Object.entries(model.parameters).map(([name, { data }]) => [name, data.slice()]));
  const { format } = model.source;
  model.dispose();
  return { copies, format };
}

/** Checks that weights are equal. It compares bytes, because a failed comparison of objects would print all numbers. */
function assertSame(actual, expected, message) {
  assert.deepEqual(Object.keys(actual), Object.keys(expected));
  for (const name of Object.keys(expected))
    assert.ok(Buffer.from(actual[name].buffer).equals(Buffer.from(expected[name].buffer)), `${name} ${message}`);
}

for (const name of ['gpt2-a', 'llama-a', 'qwen2-a', 'bert-a', 't5-a', 'vit-a', 'gemma2-a'])
  test(`${name}: files of torch.save give the same weights as its safetensors files`, async () => {
    const files = modelFiles(name);
    const { copies } = await weightsOf(files);
    for (const options of [{}, { legacy: true }, { transposed: true }]) {
      const opened = await weightsOf(asTorch(files, options));
      assert.equal(opened.format, 'torch');
      assertSame(opened.copies, copies, JSON.stringify(options));
    }
  });

test('a folder, its URL, a file of it and files in memory are opened', async (t) => {
  for (const [files, file] of [
    [asTorch(llama), 'pytorch_model.bin'],
    [asTorch(llama, { legacy: true }), 'pytorch_model.bin'],
    [asTorch(llama, { transposed: true }), 'pytorch_model.bin'],
    [asTorch(sharded), 'pytorch_model-00001-of-00003.bin'],
  ]) {
    const expected = await logitsOf(file.includes('-of-') ? sharded : llama);
    const folder = onDisk(t, files);
    const { url } = await serve(t, files);
    const list = Object.entries(files).map(([name, bytes]) => new File([bytes], name));
    for (const source of [
      folder,
      join(folder, file),
      pathToFileURL(join(folder, file)),
      url,
      `${url}${file}?key=1`,
      list,
      files,
    ])
      assert.deepEqual(await logitsOf(source), expected, String(source));
  }
});

test('safetensors files are preferred, unless another file is opened by its path', async (t) => {
  const folder = onDisk(t, { ...llama, 'other.bin': asTorch(llama)['pytorch_model.bin'] });
  for (const [source, format] of [
    [folder, 'safetensors'],
    [join(folder, 'other.bin'), 'torch'],
  ]) {
    const model = await hl.openModel(source);
    assert.equal(model.source.format, format);
    assert.deepEqual(
      model.source.files.map(({ name }) => name),
      [format === 'torch' ? 'other.bin' : 'model.safetensors'],
    );
    model.dispose();
  }
});

test('weights are read by ranges: a file of 7 MB of which one block is opened', async (t) => {
  const made = hl.transformer({ layers: 4, dModel: 192, numHeads: 4, vocab: 99, context: 64, seed: 1 });
  const safe = await made.saveFolder();
  made.dispose();
  for (const options of [{}, { legacy: true }]) {
    const files = asTorch(safe, options);
    const server = await serve(t, files);
    const model = await hl.openModel(server.url, { layers: 1 });
    model.dispose();
    const sent = server.sent();
    assert.ok(sent < 0.35 * files['pytorch_model.bin'].length, `${sent} bytes`);
    server.requests.length = 0;
    assertSame((await weightsOf(server.url)).copies, (await weightsOf(safe)).copies);
    assert.ok(server.requests.length < 80, `${server.requests.length} requests`);
  }
});

test('a server without ranges', async (t) => {
  const server = await serve(t, asTorch(llama));
  server.fault = () => (response, _, all) => response.writeHead(200).end(all);
  server.fault = (name) =>
    name in asTorch(llama) ? (response, _, all) => response.writeHead(200).end(all) : undefined;
  assert.deepEqual(await logitsOf(server.url), await logitsOf(llama));
});

test('old names of norms, and names after torch.compile', async () => {
  const bert = modelFiles('bert-a');
  const { copies } = await weightsOf(bert);
  const old = (name) => name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta');
  assertSame((await weightsOf(asTorch(bert, { rename: old }))).copies, copies);
  const compiled = asTorch(llama, { rename: (name) => `_orig_mod.${name}` });
  assert.deepEqual(await logitsOf(compiled), await logitsOf(llama));
});

test('the weights may be in a dict of the checkpoint', async () => {
  const expected = await logitsOf(llama);
  for (const key of ['model', 'state_dict', 'model_state_dict', 'module']) {
    const files = asTorch(llama, { wrap: (dict) => ({ epoch: 3, [key]: dict, args: { lr: 0.1 } }) });
    assert.deepEqual(await logitsOf(files), expected, key);
  }
});

test('16-bit weights stay in 16 bits', async () => {
  const model = await hl.openModel(asTorch(modelFiles('gemma2-a')), { weights: 'stored' });
  const safe = await hl.openModel(modelFiles('gemma2-a'), { weights: 'stored' });
  for (const opened of [model, safe]) assert.equal(opened.source.weights, 'stored');
  const [a, b] = [model, safe].map((opened) => hl.scope(() => opened.forward([1, 2, 3]).logits.copy()));
  assert.deepEqual(a, b);
  model.dispose();
  safe.dispose();
});

for (const [name, { ids, shape, logits }] of Object.entries(NANOGPT))
  test(`${name}: a checkpoint of nanoGPT has the logits that PyTorch computed`, async (t) => {
    const bytes = golden(`${name}.pt`);
    const folder = onDisk(t, { 'ckpt.pt': bytes });
    const { url } = await serve(t, { 'ckpt.pt': bytes });
    for (const source of [
      folder,
      join(folder, 'ckpt.pt'),
      url,
      `${url}ckpt.pt`,
      new File([bytes], 'x.pt'),
      { 'ckpt.pt': bytes },
    ]) {
      const model = await hl.openModel(source);
      assert.deepEqual([model.family, model.source.format, model.tokenizer], ['gpt2', 'torch', undefined]);
      const result = model.forward(ids);
      assert.deepEqual(result.logits.shape, shape);
      assert.ok(difference(result.logits.data, logits) < 1e-5);
      result.dispose();
      model.dispose();
    }
  });

test('a model of nanoGPT can be saved as GPT-2 and opened again', async () => {
  const model = await hl.openModel({ 'ckpt.pt': golden('nanogpt.pt') });
  const files = await model.saveFolder();
  const { ids, logits } = NANOGPT.nanogpt;
  model.dispose();
  const again = await hl.openModel(files);
  assert.ok(
    difference(
      hl.scope(() => again.forward(ids).logits.copy()),
      logits,
    ) < 1e-5,
  );
  again.dispose();
});

test('every fault is named', async (t) => {
  const torch = asTorch(llama);
  const { 'pytorch_model.bin': weights, ...rest } = torch;
  const storage = { key: 0, dtype: 'F32', count: 1, bytes: new Uint8Array(4) };
  const one = tensor(storage, [1], [1]);
  const args = { n_layer: 1, n_head: 2, n_embd: 4, block_size: 4, vocab_size: 3 };
  for (const [files, message] of [
    [{ ...rest, 'pytorch_model.bin': weights.subarray(0, 5000) }, /pytorch_model.bin: the zip archive is damaged/],
    [{ ...rest, 'pytorch_model.bin': new Uint8Array(99) }, /openModel: pytorch_model.bin: the file is neither a zip/],
    [{ 'pytorch_model.bin': weights }, /there is no config.json; there are pytorch_model.bin/],
    [{ 'ckpt.pt': weights }, /there is no config.json/],
    [{ 'x.pt': golden('script.pt') }, /x.pt: this is a TorchScript archive/],
    [{ ...rest, 'a.pt': weights, 'b.pt': weights }, /has several files of PyTorch, a.pt, b.pt: open one of them/],
    [{ ...rest, 'x.bin': torchZip([1]) }, /x.bin: it does not contain a dict of tensors/],
    [
      { ...rest, 'x.bin': torchZip({ epoch: 1, ema: { w: one } }, [storage]) },
      /no tensors in it.*its keys are 'epoch', 'ema'/,
    ],
    [
      { ...rest, 'x.bin': torchZip({ w: one }, [storage]) },
      /this is a llama according to its config.json, but .* are missing/,
    ],
    [{ ...rest, 'x.bin': torchZip({ w: one, '_orig_mod.w': one }, [storage]) }, /there are two tensors 'w'/],
    [
      { 'ckpt.pt': torchZip({ model: { w: one }, model_args: args }, [storage]) },
      /gpt2 according to the model_args of ckpt.pt, but/,
    ],
    [
      { 'ckpt.pt': torchZip({ model: { w: one }, model_args: { ...args, n_head: 3 } }, [storage]) },
      /the model_args of ckpt.pt does not describe a gpt2/,
    ],
    [{ 'ckpt.pt': torchZip({ model: { w: one }, model_args: {} }, [storage]) }, /the model_args of ckpt.pt/],
    [{ 'ckpt.pt': torchZip({ model: { w: one }, model_args: tuple([]) }, [storage]) }, /there is no config.json/],
  ])
    await refuses(files, message);
  const parts = asTorch(sharded);
  const { 'pytorch_model-00002-of-00003.bin': second, ...others } = parts;
  await refuses(others, /pytorch_model-00002-of-00003.bin: it is missing, but pytorch_model.bin.index.json lists it/);
  await refuses(
    { ...others, 'pytorch_model-00002-of-00003.bin': parts['pytorch_model-00001-of-00003.bin'] },
    /is in 'pytorch_model-00001-of-00003.bin' and in 'pytorch_model-00002|but pytorch_model.bin.index.json says/,
  );
  assert.ok(second.length > 0);
  const server = await serve(t, torch);
  await refuses(`${server.url}missing.pt`, /there is no config.json|missing.pt: there is no such file/);
});

test('a fault of a server in any response is an error, and leaves no memory behind', async (t) => {
  const server = await serve(t, asTorch(llama));
  await logitsOf(server.url);
  const count = server.requests.filter((request) => request.endsWith('/pytorch_model.bin')).length;
  for (const fault of ['fewer bytes', 'more bytes', 'a shifted range', 'a connection that is cut', 'the status 500'])
    for (let at = 0; at < count; at++) {
      server.again();
      server.fault = (name, number) => (name === 'pytorch_model.bin' && number === at ? fault : undefined);
      await refuses(server.url, /pytorch_model.bin/, 'LOAD');
    }
});
