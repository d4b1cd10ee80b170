// Tests the files of a user in the worker. The answers must equal the results of the module for the same bytes, and
// files that cannot be shown must be refused with the reason.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from 'headlight-attention';
import { writeNpy, writeSafetensors } from 'headlight-attention/formats';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { families } from '../../../support/families.js';
import { createWorker } from '../../../support/pageWorker.js';
import { attentions } from '../../../support/weights_file.js';

const hl = await load();

const file = (path, content) => ({ path, file: new File([content], path) });
const json = (path, value) => file(path, JSON.stringify(value));
function checkpoint(name) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, name);
  const all = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  return { all, files: Object.entries(all).map(([name, bytes]) => file(`tiny/${name}`, bytes)) };
}
const family = (name) => families.find((one) => one.name === name).files;
const refused = (worker, files, code) => assert.rejects(worker.open(files), { code });

test('a folder of GPT-2 has the predictions and the weights of the module', async () => {
  const { all, files } = checkpoint('gpt2');
  const worker = createWorker(hl);
  const { opened } = await worker.open(files);
  assert.deepEqual(
    [opened[0].about.family, opened[0].about.layers, opened[0].about.heads, opened[0].about.guess],
    ['gpt2', 2, 4, 'next'],
  );
  assert.equal(opened[0].summary.weights, 'float32');
  const text = 'the whale and the whale';
  const { run } = await worker.show({ text, layer: 1, head: 2 });
  const model = await hl.openModel(all);
  const { logits, captured } = model.forward(text, { capture: ['blocks.*.weights'] });
  const [{ T, weights, top }] = run;
  const own = captured['blocks.1.weights'].copy();
  own.subarray(2 * T * T, 3 * T * T).forEach((weight, i) => {
    assert.ok(Math.abs(weights[6 * T * T + i] - weight) < 1e-6);
  });
  const last = logits.copy().subarray((T - 1) * 422, T * 422);
  assert.equal(top[0].id, last.indexOf(Math.max(...last)));
});

test('BERT predicts a masked token, and nothing without one', async () => {
  const { all, files } = checkpoint('bert');
  const worker = createWorker(hl);
  const { opened } = await worker.open(files);
  assert.equal(opened[0].about.guess, 'masked');
  const text = `a ${opened[0].about.mask} is a token`;
  const { run } = await worker.show({ text });
  const model = await hl.openModel(all);
  const { ids } = model.tokenizer.encode(text);
  const at = ids.indexOf(model.tokenizer.idOf('[MASK]'));
  const { logits } = model.forward(text);
  const row = logits.copy().subarray(at * 283, (at + 1) * 283);
  assert.equal(run[0].place, at);
  assert.equal(run[0].top[0].id, row.indexOf(Math.max(...row)));
  assert.equal((await worker.show({ text: 'a word is a token' })).run[0].top, undefined);
});

test('without tokenizer.json it reads ids, and refuses those outside the vocabulary', async () => {
  const { files } = checkpoint('gpt2');
  const worker = createWorker(hl);
  const { opened } = await worker.open(files.filter(({ path }) => !path.includes('tokenizer')));
  assert.deepEqual(opened[0].summary.missing, ['tokenizer']);
  const { run } = await worker.show({ text: '5 6 7 5' });
  assert.deepEqual(
    run[0].pieces.map(({ id, name }) => [id, name]),
    [
      [5, '#5'],
      [6, '#6'],
      [7, '#7'],
      [5, '#5'],
    ],
  );
  await assert.rejects(worker.show({ text: '5 422' }), { code: 'noToken', values: [422, 421] });
});

test('an encoder–decoder shows its three attentions', async () => {
  const all = family('T5, relu and a tied head');
  const worker = createWorker(hl);
  await worker.open(Object.entries(all).map(([name, bytes]) => file(name, bytes)));
  const text = { text: '3 4 5 6', second: '7 8' };
  const model = await hl.openModel(all);
  const start = model.config.decoder_start_token_id ?? model.config.pad_token_id ?? 0;
  const { captured } = model.forward(
    { encoder: { ids: { data: [3, 4, 5, 6], shape: [1, 4] } }, ids: { data: [start, 7, 8], shape: [1, 3] } },
    { capture: ['encoder.blocks.*.weights', 'blocks.*.weights', 'blocks.*.cross.weights'] },
  );
  for (const [part, at, T, S] of [
    ['encoder', 'encoder.blocks.0.weights', 4, 4],
    ['decoder', 'blocks.0.weights', 3, 3],
    ['cross', 'blocks.0.cross.weights', 3, 4],
  ]) {
    const [run] = (await worker.show({ ...text, part, layer: 0, head: 0 })).run;
    assert.deepEqual([run.T, run.S ?? run.T], [T, S]);
    // The worker also captures the scores. This changes the order of summation, so its weights may differ by rounding
    // errors.
    captured[at].copy().forEach((weight, i) => {
      if (i < T * S) assert.ok(Math.abs(run.weights[i] - weight) < 1e-6);
    });
  }
});

test('attention weights in a file are shown unchanged, with the tokens of another file', async () => {
  const weights = attentions([3, 2, 5, 5], true);
  const worker = createWorker(hl);
  const tokens = ['Call', 'me', 'Ish', 'mael', '.'];
  const { opened } = await worker.open([file('attentions.npy', writeNpy(weights)), json('tokens.json', tokens)]);
  const { about, summary } = opened[0];
  assert.deepEqual(
    [about.kind, about.layers, about.heads, about.predicts, about.causal],
    ['weights', 3, 2, false, true],
  );
  assert.equal(summary.named, true);
  const { run } = await worker.show({ layer: 1, head: 1 });
  assert.deepEqual(run[0].weights, weights.data);
  assert.deepEqual(
    run[0].pieces.map(({ name }) => name),
    tokens,
  );
  assert.equal(run[0].values, undefined);
});

test('weights whose columns sum to 1 are refused, and shown with transposed: true', async () => {
  const worker = createWorker(hl);
  const [heads, T, S] = [2, 3, 4];
  const right = Array.from({ length: heads }, (_, h) =>
    Array.from({ length: S }, (_, s) => Array.from({ length: T }, (_, t) => (t === (s + h) % T ? 0.75 : 0.125))),
  );
  const swapped = right.map((rows) => rows[0].map((_, t) => rows.map((row) => row[t])));
  const files = [json('a.json', swapped)];
  const problem = await worker.open(files).catch((error) => error);
  assert.deepEqual([problem.code, problem.values[1]], ['transposed', `${heads} × ${T} × ${S}`]);
  const { opened } = await worker.ask({ verb: 'open', name: 'opened-1', title: 'mine', files, transposed: true });
  assert.deepEqual([opened[0].summary.parts[0].T, opened[0].summary.parts[0].S], [S, T]);
  const { run } = await worker.show();
  assert.deepEqual([...run[0].weights], right.flat(2).map(Math.fround));
});

test('weights of (H,T,S), of (T,S) and in files by layer are recognised, queries are not', async () => {
  const worker = createWorker(hl);
  const about = async (...files) => (await worker.open(files)).opened[0].about;
  const npy = (name, shape) => file(name, writeNpy(attentions(shape, false)));
  const heads = await about(npy('a.npy', [4, 3, 6]));
  assert.deepEqual([heads.layers, heads.heads, heads.causal], [1, 4, false]);
  const one = await about(
    json('weights.json', [
      [0.25, 0.75],
      [0.5, 0.5],
    ]),
  );
  assert.deepEqual([one.layers, one.heads], [1, 1]);
  const each = await about(npy('layer_10.npy', [1, 4, 3, 3]), npy('layer_2.npy', [1, 4, 3, 3]));
  assert.deepEqual([each.layers, each.heads], [2, 4]);
  const queries = { data: Float32Array.from({ length: 2 * 4 * 4 }, (_, i) => Math.sin(i)), shape: [2, 4, 4] };
  await refused(worker, [file('q.npy', writeNpy(queries))], 'noAttention');
});

test('any entry of a batch is shown: (L,B,H,T,S), and files by layer, each (B,H,T,S)', async () => {
  const [L, B, H, T] = [2, 3, 2, 4];
  const weights = attentions([L, B, H, T, T], true);
  const size = H * T * T;
  const of = (l, b) => weights.data.subarray((l * B + b) * size, (l * B + b + 1) * size);
  const whole = [file('all.npy', writeNpy(weights))];
  const apart = [0, 1].map((l) => {
    const data = weights.data.slice(l * B * size, (l + 1) * B * size);
    return file(`layer_${l}.npy`, writeNpy({ data, shape: [B, H, T, T] }));
  });
  for (const files of [whole, apart]) {
    const worker = createWorker(hl);
    const { about, summary } = (await worker.open(files)).opened[0];
    assert.deepEqual([about.layers, about.batch, about.heads, summary.parts[0].batch], [L, B, H, B]);
    for (const [entry, b] of [
      [0, 0],
      [2, 2],
      [9, 2],
    ]) {
      const { run } = await worker.show({ entry, layer: 1 });
      assert.deepEqual(run[0].weights, Float32Array.of(...of(0, b), ...of(1, b)));
    }
  }
});

test('a large file is read head by head, the chosen head first', async () => {
  const weights = attentions([1, 2, 2048, 2048], true);
  const worker = createWorker(hl);
  await worker.open([file('a.npy', writeNpy(weights))]);
  const { run, pooled } = await worker.show({ layer: 0, head: 1 });
  assert.equal(run[0].large, true);
  assert.deepEqual(run[0].weights, weights.data.subarray(2048 * 2048));
  assert.equal(pooled.length, 2);
  const [{ data, columns }] = pooled;
  let max = 0;
  for (let t = 0; t < 20; t++) for (let s = 0; s < 20; s++) max = Math.max(max, weights.data[t * 2048 + s]);
  assert.ok(data[0] >= max && columns === 96);
});

test('tokens after the first 4096 are cut off, and reported', async () => {
  const data = new Float32Array(5000 * 5000);
  for (let t = 0; t < 5000; t++) data[t * 5000] = 1;
  const worker = createWorker(hl);
  const { opened } = await worker.open([file('a.npy', writeNpy({ data, shape: [5000, 5000] }))]);
  assert.deepEqual([opened[0].summary.parts[0].wholeT, opened[0].summary.parts[0].T], [5000, 4096]);
  const { run } = await worker.show();
  assert.deepEqual([run[0].T, run[0].cut, run[0].weights[4096 * 4095]], [4096, true, 1]);
});

test('NaN in weights and in a model is reported', async () => {
  const weights = attentions([2, 4, 4], true);
  weights.data[4] = Number.NaN;
  const worker = createWorker(hl);
  const { opened } = await worker.open([file('a.npy', writeNpy(weights))]);
  assert.equal(opened[0].summary.parts[0].nan, 1);
  const { files, all } = checkpoint('gpt2');
  const bytes = new Uint8Array(all['model.safetensors']);
  bytes.set(new Uint8Array(Float32Array.of(Number.NaN).buffer), bytes.length - 4);
  const broken = files.map((one) => (one.path.endsWith('.safetensors') ? file(one.path, bytes) : one));
  assert.equal((await worker.open(broken)).opened[0].summary.nan.length, 1);
});

test('files that cannot be shown are refused with a code', async () => {
  const worker = createWorker(hl);
  const { all, files } = checkpoint('bert');
  const weights = files.filter(({ path }) => path.endsWith('.safetensors'));
  await refused(worker, weights, 'noConfig');
  await refused(worker, [json('config.json', { model_type: 'bert' })], 'noWeights');
  await refused(
    worker,
    [json('config.json', { model_type: 'mamba', num_attention_heads: 4 }), ...weights],
    'unknownLayers',
  );
  await refused(
    worker,
    [json('config.json', { ...JSON.parse(all['config.json']), hidden_size: 64 }), ...weights],
    'checkpoint',
  );
  await refused(worker, [], 'noFiles');
  await refused(worker, [file('film.mp4', new Uint8Array(100))], 'unknownFile');
  const fifty = Array.from({ length: 50 }, (_, i) => file(`photo${i}.jpg`, new Uint8Array(20).fill(255)));
  await refused(worker, fifty, 'manyUnknown');
  await refused(worker, [file('a.json', '[[1, 2], [3')], 'notJson');
  await refused(worker, [json('a.json', [[1], [1, 2]])], 'ragged');
  await refused(worker, [file('a.npy', writeNpy(attentions([4, 4], true)).subarray(0, 140))], 'truncated');
  await refused(worker, [json('tokens.json', ['a', 'b'])], 'tokensAlone');
  for (const name of ['Whisper', 'wav2vec 2.0', 'HuBERT without a head'])
    await refused(
      worker,
      Object.entries(family(name)).map(([at, bytes]) => file(at, bytes)),
      'sound',
    );
  const matrix = { m: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] } };
  await refused(worker, [file('m.safetensors', writeSafetensors(matrix))], 'noAttention');
});

test('a refusal names the file and has no internal words', async () => {
  const worker = createWorker(hl);
  const refusal = (...files) => worker.open(files).then(assert.fail, ({ code, values }) => [code, ...values]);
  assert.deepEqual(await refusal(file('a.json', '')), ['nothing', 'a.json']);
  assert.deepEqual(await refusal(json('a.json', { attentions: [1, 2] })), ['noArrays', 'a.json'], 'it is JSON');
  // A file like those of torch.save, which are zip archives whose first entry is archive/data.pkl.
  const zip = new Uint8Array(200);
  zip.set(new TextEncoder().encode('PK\x03\x04'));
  zip[26] = 16;
  zip.set(new TextEncoder().encode('archive/data.pkl'), 30);
  assert.deepEqual(await refusal(file('weights', zip)), ['unknownFile', 'weights']);
  assert.deepEqual(await refusal(file('model.pth', zip.slice(0, 20))), ['noConfig', 'model.pth', 0]);
  const config = json('config.json', { model_type: 'gpt2' });
  assert.equal((await refusal(config, file('pytorch_model.bin', zip)))[0], 'checkpoint');
  assert.equal((await refusal(file('ckpt.pt', zip)))[0], 'checkpoint');
  assert.equal((await refusal(file('tiny.gguf', zip)))[0], 'checkpoint');
  assert.deepEqual(await refusal(config), ['noWeights', '']);
  const [code, name, why] = await refusal(file('m.safetensors', writeSafetensors({}).subarray(0, 9)));
  assert.deepEqual([code, name], ['unreadable', 'm.safetensors']);
  assert.doesNotMatch(why, /HeadlightError|^read\w+:/);
});

test('a model that is no longer open has its own code', async () => {
  await assert.rejects(createWorker(hl).show({ model: 'opened-7' }), { code: 'gone' });
});
