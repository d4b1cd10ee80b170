import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { load } from 'headlight-attention';
import { scanHeads } from 'headlight-attention/analysis';
import { readGguf } from 'headlight-attention/formats';
import { serveFiles } from '../../../support/faulty_server.js';
import { rejects } from '../../../support/files.js';
import { convert, encode, gguf, splitGguf } from '../../../support/gguf.js';
import { GOLDEN } from '../../../support/golden.js';
import { flavours, hl } from '../../../support/headlight.js';
import { readGgufTokenizers } from '../../../support/tokenizers.js';

const FOLDER = join(GOLDEN, 'gguf');
const MODELS = readdirSync(FOLDER)
  .filter((name) => /^(llama|gpt2).*\.json$/.test(name))
  .map((name) => name.slice(0, -5));
const LIMIT = 1e-5;
const pathOf = (model) => join(FOLDER, `${model}.gguf`);

/** Returns the golden cases of a model, { name, inputs, outputs }. The last two map names to { shape, data }. */
function casesOf(model) {
  const { cases, bin } = JSON.parse(readFileSync(join(FOLDER, `${model}.json`), 'utf8'));
  const raw = readFileSync(join(FOLDER, bin));
  const arrays = { float32: Float32Array, int32: Int32Array };
  const read = (list) =>
    Object.fromEntries(
      list.map(({ name, dtype, shape, offset, bytes }) => [
        name,
        { shape, data: new arrays[dtype](new Uint8Array(raw.subarray(offset, offset + bytes)).buffer) },
      ]),
    );
  return cases.map((c) => ({ name: c.name, inputs: read(c.inputs), outputs: read(c.outputs) }));
}

function hookOf(output) {
  const [, kind, number] = /^(hidden|attn)\.(\d+)$/.exec(output) ?? [];
  if (kind === 'attn') return `blocks.${number}.weights`;
  return kind ? (number === '0' ? 'blocks.0.in' : `blocks.${number - 1}.out`) : output;
}

/** Returns the largest difference, relative to the largest expected value but absolute for attention weights. */
function worstOf(model, { inputs, outputs }, pattern = /./) {
  const names = Object.keys(outputs).filter((name) => pattern.test(name));
  const result = model.forward(
    { ids: inputs.input_ids },
    { capture: names.map(hookOf).filter((name) => name !== 'logits') },
  );
  const differences = names.map((name) => {
    const { data } = outputs[name];
    const got = (name === 'logits' ? result.logits : result.captured[hookOf(name)]).data;
    assert.equal(got.length, data.length);
    let [most, off] = [0, 0];
    data.forEach((x, i) => {
      most = Math.max(most, Math.abs(x));
      off = Math.max(off, Math.abs(got[i] - x));
    });
    return off / (name.startsWith('attn') ? 1 : most);
  });
  result.dispose();
  return Math.max(...differences);
}

/**
 * Returns numbers for a tensor of the test model, a Llama in which the width of every matrix is a multiple of 32, the
 * size of a block.
 */
const next = (seed) => (i) => Math.sin(seed * 37 + i * 1.7) / 4;
const of = (seed, ...shape) => ({
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => next(seed)(i)),
});
const CONFIG = {
  ...{ model_type: 'llama', hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2 },
  ...{ intermediate_size: 96, max_position_embeddings: 64, rms_norm_eps: 1e-5, vocab_size: 40, eos_token_id: 2 },
};
function llama(config = {}) {
  const tensors = { 'model.embed_tokens.weight': of(1, 40, 64), 'model.norm.weight': of(2, 64) };
  for (const i of [0, 1]) {
    const at = `model.layers.${i}`;
    tensors[`${at}.input_layernorm.weight`] = of(3 + i, 64);
    tensors[`${at}.post_attention_layernorm.weight`] = of(5 + i, 64);
    const shapes = { q: [64, 64], k: [32, 64], v: [32, 64], o: [64, 64] };
    Object.entries(shapes).forEach(
      ([p, shape], n) => (tensors[`${at}.self_attn.${p}_proj.weight`] = of(7 + n + 9 * i, ...shape)),
    );
    Object.entries({ gate: [96, 64], up: [96, 64], down: [64, 96] }).forEach(
      ([p, shape], n) => (tensors[`${at}.mlp.${p}_proj.weight`] = of(11 + n + 9 * i, ...shape)),
    );
  }
  return convert({ ...CONFIG, ...config }, tensors);
}
const fileOf = ({ metadata, tensors }) => ({ 'x.gguf': gguf(metadata, tensors) });
/** Returns the file of the Llama with changed metadata. undefined removes a metadata entry. */
const withMetadata = (change) => {
  const { metadata, tensors } = llama();
  const changed = Object.entries({ ...metadata, ...change }).filter(([, value]) => value !== undefined);
  return fileOf({ metadata: Object.fromEntries(changed), tensors });
};
const inType = (model, type) =>
  Object.fromEntries(
    Object.entries(model.tensors).map(([name, tensor]) => {
      const isMatrix = tensor.shape.length > 1;
      return [name, isMatrix ? { shape: tensor.shape, type, bytes: encode(type, tensor.data) } : tensor];
    }),
  );

async function logitsOf(files, options) {
  const model = await hl.openModel(files, options);
  const { logits } = model.forward([5, 17, 30, 3]);
  const values = logits.copy();
  model.dispose();
  return values;
}

for (const name of MODELS)
  test(`${name}: hidden states, weights and logits are those expected`, async () => {
    const { types } = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
    assert.ok(Object.keys(types).length > 0);
    for (const instance of flavours) {
      const model = await instance.openModel(pathOf(name));
      for (const c of casesOf(name)) {
        const worst = worstOf(model, c);
        assert.ok(worst <= LIMIT, `${c.name} is off by ${worst}`);
      }
      model.dispose();
    }
  });

/** Largest errors of files in blocks, with `weights: 'stored'` (inputs rounded to 16 bits) or 'int4' (to 8 bits). */
const BLOCK_LIMITS = {
  'gpt2-q4_0': { stored: 2e-4, int4: 0.2 },
  'llama-q4_0': { stored: 2e-4, int4: 0.15 },
  'llama-q4_k_m': { stored: 2e-4, int4: 0.15 },
  'gpt2-q8_0': { stored: 2e-4 },
  'llama-q8_0': { stored: 2e-4 },
};

test('weights: stored and int4 keep the blocks of matrices; the same bits on 1, 2 and 4 threads', async () => {
  const [two, four] = [await load({ threads: 2 }), await load({ threads: 4 })];
  for (const [name, limits] of Object.entries(BLOCK_LIMITS)) {
    for (const [weights, limit] of Object.entries(limits)) {
      const results = [];
      for (const instance of [...flavours, hl, two, four]) {
        const model = await instance.openModel(pathOf(name), { weights });
        const kinds = [...model.weights.values()].flatMap(({ packed }) => packed?.kind ?? []);
        assert.ok(kinds.length > 8 && kinds.every((kind) => kind === 'blocks'), `${name}: ${kinds}`);
        for (const c of casesOf(name)) {
          const worst = worstOf(model, c);
          assert.ok(worst > 0 && worst <= limit, `${c.name} of ${name}, ${weights}, is off by ${worst}`);
        }
        results.push([...model.forward([5, 17, 30, 3, 9]).logits.copy()]);
        model.dispose();
      }
      for (const other of results.slice(flavours.length + 1)) assert.deepEqual(other, results[flavours.length]);
    }
    const [exact, stored] = [await hl.openModel(pathOf(name)), await hl.openModel(pathOf(name), { weights: 'stored' })];
    assert.deepEqual(stored.stateDict(), exact.stateDict());
    exact.dispose();
    stored.dispose();
  }
  for (const instance of [two, four]) instance.dispose();
});

test('int4 keeps blocks of 4 bits of a file or model and rounds inputs to 8; it rounds blocks of 8 bits', async () => {
  const isSame = (model, other, name) => {
    const [a, b] = [model, other].map((one) => one.valuesOf(name, 'test'));
    return Buffer.compare(new Uint8Array(a.buffer), new Uint8Array(b.buffer)) === 0;
  };
  const open = (name, weights) => hl.openModel(pathOf(name), { weights });
  const logits = (model) => [...model.forward([5, 17, 30, 3, 9]).logits.copy()];
  for (const name of ['llama-q4_0', 'llama-q4_k_m']) {
    const [file, stored, opened] = [await open(name, 'float32'), await open(name, 'stored'), await open(name, 'int4')];
    const kept = [...stored.weights].filter(([, { packed }]) => packed?.bits === 4).map(([weight]) => weight);
    assert.notDeepEqual(logits(opened), logits(stored));
    stored.quantize('int4');
    assert.deepEqual(logits(stored), logits(opened));
    for (const model of [stored, opened])
      assert.ok(kept.length > 8 && kept.every((weight) => isSame(model, file, weight)));
    stored.quantize('int4');
    assert.deepEqual(logits(stored), logits(opened));
    for (const model of [file, stored, opened]) model.dispose();
  }
  const [eight, rounded] = [await open('llama-q8_0', 'stored'), await open('llama-q8_0', 'int4')];
  eight.quantize('int4');
  for (const name of eight.weights.keys()) assert.ok(isSame(eight, rounded, name), name);
  for (const model of [eight, rounded]) model.dispose();
});

test('a cache that was filled with inputs of 16 bits is refused when they have 8', async () => {
  const model = llama();
  // Blocks of Q4_0: the scale 2⁻⁷ in float16, then 32 codes.
  const block = Uint8Array.from({ length: 18 }, (_, i) => (i < 2 ? [0, 0x20][i] : (i * 89) & 255));
  const tensors = Object.fromEntries(
    Object.entries(model.tensors).map(([name, { shape, ...values }]) => {
      if (shape.length < 2) return [name, { shape, ...values }];
      const bytes = new Uint8Array((shape[0] * shape[1] * 18) / 32).map((_, i) => block[i % 18]);
      return [name, { shape, type: 'Q4_0', bytes }];
    }),
  );
  const stored = await hl.openModel(fileOf({ ...model, tensors }), { weights: 'stored' });
  assert.ok([...stored.weights.values()].every(({ packed }) => !packed || packed.bits === 4));
  const cache = stored.cache({ length: 8 });
  stored.forward([5, 17], { cache });
  stored.quantize('int4');
  assert.throws(() => stored.forward([30], { cache }), { code: 'STATE' });
  stored.dispose();
});

test('weights: stored and int8 take less memory', async () => {
  // Results of other tests, which are freed at any time, are not in the memory of this instance.
  const own = await load({ threads: 1 });
  for (const name of ['llama-q8_0', 'gpt2-q4_0']) {
    const used = {};
    for (const [weights, limit] of Object.entries({ float32: LIMIT, stored: 2e-4, int8: 3e-2 })) {
      const before = own.info.memory.used;
      const model = await own.openModel(pathOf(name), { weights });
      used[weights] = own.info.memory.used - before;
      for (const c of casesOf(name)) own.scope(() => assert.ok(worstOf(model, c) <= limit, `${name} ${weights}`));
      assert.deepEqual(model.source, {
        files: [{ name: `${name}.gguf`, size: readFileSync(pathOf(name)).length }],
        format: 'gguf',
        weights,
      });
      model.dispose();
      assert.equal(own.info.memory.used, before);
    }
    assert.ok(used.stored < 0.65 * used.float32 && used.int8 < 0.45 * used.float32, JSON.stringify(used));
  }
  own.dispose();
});

test('F16 and BF16 stay as they are, with the results of float32', async () => {
  for (const type of ['F16', 'BF16']) {
    const model = llama();
    const files = fileOf({ ...model, tensors: inType(model, type) });
    const [exact, stored] = [await logitsOf(files), await logitsOf(files, { weights: 'stored' })];
    stored.forEach((x, i) => assert.ok(Math.abs(x - exact[i]) < 1e-5));
  }
});

test('a model is opened by a path, a URL, a File, bytes, a Blob, and the folder of the file', async (t) => {
  const bytes = readFileSync(pathOf('llama-q4_0'));
  const expected = await logitsOf(pathOf('llama-q4_0'));
  const folder = mkdtempSync(join(tmpdir(), 'headlight-gguf-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(pathOf('llama-q4_0'), join(folder, 'x.gguf'));
  writeFileSync(join(folder, 'mmproj-x.gguf'), 'GGUF');
  const server = await serveFiles({ 'a b.gguf': bytes });
  t.after(server.close);
  const sources = [
    pathToFileURL(pathOf('llama-q4_0')),
    { 'x.gguf': bytes },
    { 'x.gguf': new Blob([bytes]) },
    new File([bytes], 'x.gguf'),
    [new File([bytes], 'x.gguf')],
    folder,
    `${server.url}a%20b.gguf?key=1#part`,
  ];
  for (const source of sources) assert.deepEqual(await logitsOf(source), expected);
  assert.ok(server.requests.every((request) => request === 'GET /a%20b.gguf?key=1'));
});

test('only the blocks that are opened are read', async () => {
  const file = gguf(llama().metadata, llama().tensors);
  const size = 4 * 64 * 64;
  let read = 0;
  class Counted extends Blob {
    slice(begin, end) {
      read += end - begin;
      return super.slice(begin, end);
    }
  }
  const readBy = async (layers) => {
    read = 0;
    const model = await hl.openModel({ 'x.gguf': new Counted([file]) }, { layers });
    assert.equal(model.options.layers, layers);
    model.dispose();
    return read;
  };
  const [none, one, two] = [await readBy(0), await readBy(1), await readBy(2)];
  const block = (64 * 64 * 2 + 32 * 64 * 2 + 96 * 64 * 3 + 128) * 4;
  assert.equal(one - none, block);
  assert.equal(two - one, block);
  assert.ok(size < block);
});

test('progress and an abort', async () => {
  const files = fileOf(llama());
  const seen = [];
  const model = await hl.openModel(files, { onProgress: ({ read, total }) => void seen.push(read / total) });
  model.dispose();
  assert.equal(seen.at(-1), 1);
  const stop = new AbortController();
  const opening = hl.openModel(files, { signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(opening, { name: 'AbortError' });
});

test('a tensor of several megabytes is read in pieces, with its rows in order', async () => {
  const wide = { hidden_size: 64, vocab_size: 16_000 };
  const { metadata, tensors } = llama(wide);
  const table = of(1, 16_000, 64);
  const files = (type) => ({
    'x.gguf': gguf(metadata, {
      ...tensors,
      'token_embd.weight': { shape: [16_000, 64], type, bytes: encode(type, table.data) },
    }),
  });
  const blocks = files('Q8_0');
  const decoded = readGguf(blocks['x.gguf']).tensors['token_embd.weight'].data();
  const floats = gguf(metadata, { ...tensors, 'token_embd.weight': { shape: [16_000, 64], data: decoded } });
  const logits = await logitsOf(blocks);
  assert.equal(logits.length, 4 * 16_000);
  assert.deepEqual(logits, await logitsOf({ 'x.gguf': floats }));
});

test('the parts of a file are opened by the path of one, or by all their bytes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-gguf-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const parts = splitGguf(llama(), 3, 'big');
  for (const [name, bytes] of Object.entries(parts)) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'other.gguf'), 'GGUF');
  const expected = await logitsOf(fileOf(llama()));
  const [first, second] = Object.keys(parts);
  for (const source of [join(folder, first), join(folder, second), parts])
    assert.deepEqual(await logitsOf(source), expected);
  const model = await hl.openModel(parts);
  assert.deepEqual(
    model.source.files,
    Object.entries(parts).map(([name, bytes]) => ({ name, size: bytes.length })),
  );
  model.dispose();
  await rejects(hl.openModel(folder), /several GGUF files, .*: open one of them by its own path/);
  const { [second]: _, ...without } = parts;
  await rejects(hl.openModel(without), /big-00002-of-00003\.gguf: there is no such file/);
  await rejects(hl.openModel({ ...parts, [second]: parts[first] }), /metadata split\.no is 0, expected 1/);
  await rejects(hl.openModel({ 'x.gguf': parts[first] }), /metadata split\.count is 3, expected 1/);
  const fewer = { ...parts, [second]: gguf({ 'split.no': 1, 'split.count': 3 }, {}) };
  const extra = {
    ...parts,
    [second]: gguf({ 'split.no': 1, 'split.count': 3 }, { 'blk.0.attn_norm.weight': of(3, 64) }),
  };
  await rejects(hl.openModel(fewer), /big-00001-of-00003\.gguf.*split\.tensors\.count is \d+, but the parts have \d+/);
  await rejects(hl.openModel(extra), /blk\.0\.attn_norm\.weight' is in|split\.tensors\.count is \d+, but/);
});

test('a file that was not split may say that it has 0 parts of 0 tensors', async () => {
  const none = { 'split.no': 0, 'split.count': 0, 'split.tensors.count': 0 };
  assert.deepEqual(await logitsOf(withMetadata(none)), await logitsOf(fileOf(llama())));
});

/** Files that are refused: a description, the files, and the expected message. */
const REFUSED = [
  [
    'an architecture',
    { 'general.architecture': 'mamba' },
    /metadata general\.architecture is 'mamba', which is not one of bert, bloom, gemma, gemma2/,
  ],
  [
    'no architecture',
    { 'general.architecture': undefined },
    /metadata general\.architecture is missing, expected one of bert, bloom/,
  ],
  ['an adapter', { 'general.type': 'adapter' }, /metadata general\.type is 'adapter'/],
  ['a missing key', { 'llama.block_count': undefined }, /metadata llama\.block_count is missing, expected an integer/],
  [
    'the type of a key',
    { 'llama.embedding_length': 'x' },
    /metadata llama\.embedding_length is 'x', expected an integer/,
  ],
  ['too many blocks', { 'llama.block_count': 2 ** 30 }, /metadata llama\.block_count is 1073741824, expected at most/],
  [
    'more blocks than tensors',
    { 'llama.block_count': 3 },
    /according to the metadata of x\.gguf, but blk\.2\.attn_norm\.weight.* are missing/,
  ],
  [
    'fewer blocks than tensors',
    { 'llama.block_count': 1 },
    /'blk\.1\.attn_norm\.weight' is in the file, but the number of blocks is 1/,
  ],
  [
    'heads',
    { 'llama.attention.head_count': 5 },
    /metadata llama\.attention\.head_count is 5, expected a divisor of the width 64/,
  ],
  ['no heads', { 'llama.attention.head_count': 0 }, /metadata llama\.attention\.head_count is 0/],
  [
    'other heads',
    { 'llama.attention.head_count': 8, 'llama.rope.dimension_count': 8 },
    /'blk\.0\.attn_(q|k)\.weight' is .* rows, expected/,
  ],
  [
    'heads that differ',
    { 'llama.attention.head_count_kv': [2, 1] },
    /head_count_kv is \[2,1\], expected the same value for all blocks/,
  ],
  [
    'the length of values',
    { 'llama.attention.value_length': 32 },
    /metadata llama\.attention\.value_length is 32, expected 16/,
  ],
  ['experts', { 'llama.expert_count': 8 }, /metadata llama\.expert_count is 8, which is not supported/],
  ['the scale of scores', { 'llama.attention.scale': 0.5 }, /metadata llama\.attention\.scale is 0\.5, expected 0\.25/],
  ['a part of a head', { 'llama.rope.dimension_count': 8 }, /metadata llama\.rope\.dimension_count is 8, expected 16/],
  ['a rope scaling', { 'llama.rope.scaling.type': 'spiral' }, /metadata llama\.rope\.scaling\.type is 'spiral'/],
  ['longrope without factors', { 'llama.rope.scaling.type': 'longrope' }, /has no rope_factors_long\.weight/],
  ['attention in both directions', { 'llama.attention.causal': false }, /the metadata of x\.gguf: is_causal is false/],
  ['the width', { 'llama.feed_forward_length': 97 }, /blk\.0\.ffn_(gate|up)\.weight is \[96,64\], expected \[97,64\]/],
];

test('the usual scale of scores, and 0 for it, change nothing', async () => {
  const expected = await logitsOf(withMetadata({}));
  for (const scale of [0.25, 0])
    assert.deepEqual(await logitsOf(withMetadata({ 'llama.attention.scale': scale })), expected);
});

for (const [what, change, pattern] of REFUSED)
  test(`refused: ${what}`, async () => {
    const { used } = hl.info.memory;
    await rejects(hl.openModel(withMetadata(change)), pattern);
    assert.equal(hl.info.memory.used, used);
  });

test('refused: tensors that are missing, unknown, or of a type that is not decoded', async () => {
  const change = (tensors) => {
    const model = llama();
    const all = Object.entries({ ...model.tensors, ...tensors }).filter(([, tensor]) => tensor !== null);
    return hl.openModel({ 'x.gguf': gguf(model.metadata, Object.fromEntries(all)) });
  };
  await rejects(change({ 'blk.1.ffn_up.weight': null }), /but blk\.1\.ffn_up\.weight is missing/);
  await rejects(change({ 'token_embd.weight': null }), /vocab_size is missing|token_embd\.weight is missing/);
  await rejects(change({ 'blk.0.ffn_gate_inp.weight': of(1, 4, 64) }), /'blk\.0\.ffn_gate_inp\.weight' is in the file/);
  await rejects(change({ 'blk.0.attn_q_norm.weight': of(1, 16) }), /'blk\.0\.attn_q_norm\.weight' is in the file/);
  await rejects(change({ 'blk.0.attn_qkv.weight': of(1, 128, 64) }), /'blk\.0\.attn_qkv\.weight' is a second tensor/);
  const odd = { shape: [64, 256], type: 'IQ2_XXS', bytes: new Uint8Array(64 * 66) };
  await rejects(change({ 'blk.0.ffn_down.weight': odd }), /tensor 'blk\.0\.ffn_down\.weight' has type IQ2_XXS/);
  await rejects(
    hl.openModel({ 'x.gguf': gguf(llama().metadata, llama().tensors).subarray(0, 60_000) }),
    /x\.gguf: tensor '.*' ends at byte \d+.* truncated/,
  );
});

test('the config has the fields of Hugging Face, and the end tokens stop generate', async () => {
  const model = await hl.openModel(
    withMetadata({ 'tokenizer.ggml.eot_token_id': 7, 'tokenizer.ggml.bos_token_id': 1 }),
  );
  assert.deepEqual(model.config, {
    ...CONFIG,
    head_dim: 16,
    tie_word_embeddings: true,
    is_causal: true,
    rope_theta: 10000,
    attention_bias: false,
    mlp_bias: false,
    bos_token_id: 1,
    eos_token_id: [2, 7],
  });
  assert.deepEqual(model.generation.stop, [2, 7]);
  assert.equal(model.family, 'llama');
  assert.equal(model.tokenizer, undefined);
  model.dispose();
});

test('a model is saved in the layout of Hugging Face and opened again', async () => {
  for (const name of ['llama-q4_0', 'gpt2-q8_0']) {
    const model = await hl.openModel(pathOf(name));
    const files = await model.saveFolder();
    model.dispose();
    assert.deepEqual(await logitsOf(files), await logitsOf(pathOf(name)));
  }
});

test('the tokenizer of the metadata reads texts', async () => {
  for (const name of ['llama', 'gpt2']) {
    const { cases } = readGgufTokenizers().find((each) => each.name === name);
    const model = await hl.openModel(pathOf(`${name}-q4_0`));
    for (const { text, ids } of cases.filter((c) => c.text.length > 0 && c.ids.length > 0 && c.ids.length < 40)) {
      assert.deepEqual(model.encode(text).ids, ids);
      const [a, b] = [model.forward(text).logits.copy(), model.forward(ids).logits.copy()];
      assert.deepEqual(a, b);
    }
    model.dispose();
  }
});

test('factors of cosines and sines, of frequencies and an old key scale positions', async () => {
  const plain = await logitsOf(fileOf(llama()));
  const linear = { rope_scaling: { type: 'linear', factor: 4 } };
  const expected = await logitsOf(fileOf(llama(linear)));
  assert.notDeepEqual(expected, plain);
  assert.deepEqual(await logitsOf(withMetadata({ 'llama.rope.scale_linear': 4 })), expected);
  const model = llama();
  model.tensors['rope_freqs.weight'] = { shape: [8], data: new Float32Array(8).fill(4) };
  assert.deepEqual(await logitsOf(fileOf(model)), expected);
  const attention = (value) => ({ 'llama.rope.scaling.attn_factor': { kind: 'f32', value } });
  assert.deepEqual(await logitsOf(withMetadata(attention(1))), plain);
  const scaled = await logitsOf(withMetadata(attention(1.5)));
  assert.notDeepEqual(scaled, plain);
  // A model with rope_freqs.weight takes another path, and must scale the scores by the same factor.
  const longer = llama();
  longer.tensors['rope_freqs.weight'] = { shape: [8], data: new Float32Array(8).fill(1) };
  assert.deepEqual(await logitsOf(fileOf({ ...longer, metadata: { ...longer.metadata, ...attention(1.5) } })), scaled);
});

test('refused: too many factors of frequencies, and both kinds of scaling', async () => {
  const model = llama();
  const many = { shape: [70_000], data: new Float32Array(70_000).fill(1) };
  const few = { shape: [8], data: new Float32Array(8).fill(1) };
  const open = (tensors, metadata = {}) =>
    hl.openModel(fileOf({ metadata: { ...model.metadata, ...metadata }, tensors: { ...model.tensors, ...tensors } }));
  await rejects(open({ 'rope_freqs.weight': many }), /'rope_freqs\.weight' is \[70000\], expected at most 65536/);
  await rejects(open({ 'rope_factors_long.weight': few }), /needs both rope_factors_short\.weight/);
  const yarn = { 'llama.rope.scaling.type': 'yarn', 'llama.rope.scaling.factor': 2 };
  await rejects(open({ 'rope_freqs.weight': few }, yarn), /rope\.scaling\.type is 'yarn', expected none or linear/);
  const short = { shape: [7], data: new Float32Array(7).fill(1) };
  await rejects(open({ 'rope_freqs.weight': short }), /'rope_freqs\.weight' has 7 numbers, expected 8, one for each/);
  const zero = { shape: [8], data: new Float32Array(8) };
  await rejects(open({ 'rope_freqs.weight': zero }), /'rope_freqs\.weight' contains 0, expected numbers above 0/);
});

test('a factor of positions without a type is linear, as in llama.cpp', async () => {
  const plain = await logitsOf(fileOf(llama()));
  const expected = await logitsOf(fileOf(llama({ rope_scaling: { type: 'linear', factor: 4 } })));
  const of = (keys) => {
    const named = Object.entries(keys).map(([key, value]) => [`llama.rope.${key}`, value]);
    return logitsOf(withMetadata(Object.fromEntries(named)));
  };
  assert.deepEqual(await of({ 'scaling.factor': 4 }), expected);
  assert.deepEqual(await of({ 'scaling.factor': 4, scale_linear: 8 }), expected, 'the old key is used if it is alone');
  assert.deepEqual(await of({ 'scaling.factor': 4, 'scaling.type': 'none' }), plain);
  for (const keys of [{ 'scaling.factor': 0 }, { scale_linear: 0 }, { 'scaling.type': 'linear' }])
    assert.deepEqual(await of(keys), plain, 'without a factor, positions are not scaled');
  assert.deepEqual(await of({ 'scaling.type': 'yarn' }), plain);
});

test('factors of frequencies and a factor of positions are multiplied, as in llama.cpp', async () => {
  const expected = await logitsOf(fileOf(llama({ rope_scaling: { type: 'linear', factor: 4 } })));
  const model = llama();
  model.tensors['rope_freqs.weight'] = { shape: [8], data: new Float32Array(8).fill(2) };
  for (const keys of [{ 'llama.rope.scaling.factor': 2 }, { 'llama.rope.scale_linear': 2 }])
    assert.deepEqual(await logitsOf(fileOf({ ...model, metadata: { ...model.metadata, ...keys } })), expected);
});

test('a context of 2 ** 32 - 1 is not a fault', async () => {
  const file = withMetadata({ 'llama.context_length': { kind: 'u32', value: 2 ** 32 - 1 } });
  assert.deepEqual(await logitsOf(file), await logitsOf(fileOf(llama())));
});

test('a model whose tokenizer is not supported opens, and names it when a text is used', async () => {
  const tokens = ['a', 'b'];
  for (const [keys, message] of [
    [{ model: 'rwkv' }, /has no tokenizer: tokenizer\.ggml\.model is 'rwkv', which is not supported; set model/],
    [{ model: 'gpt2', pre: 'moby' }, /tokenizer\.ggml\.pre is 'moby', which is not supported; set model\.tokenizer/],
  ]) {
    const named = Object.entries(keys).map(([key, value]) => [`tokenizer.ggml.${key}`, value]);
    const file = withMetadata({ 'tokenizer.ggml.tokens': tokens, ...Object.fromEntries(named) });
    assert.deepEqual(await logitsOf(file), await logitsOf(fileOf(llama())));
    const model = await hl.openModel(file);
    assert.equal(model.tokenizer, undefined);
    for (const use of [() => model.forward('a'), () => model.encode('a'), () => model.decode([1])])
      assert.throws(use, (error) => error.code === 'STATE' && message.test(error.message));
    await assert.rejects(async () => {
      for await (const step of model.generate('a')) assert.fail(`${step}`);
    }, message);
    await assert.rejects(
      scanHeads(model, ['a b']),
      ({ code, message: text }) => code === 'ARGUMENT' && message.test(text),
    );
    model.dispose();
  }
});
