import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../../support/families.js';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';

const fileIn = (folder, name) => [name, readFileSync(join(GOLDEN, 'models', folder, name))];
const golden = (folder) => Object.fromEntries(['config.json', 'model.safetensors'].map((name) => fileIn(folder, name)));
const filesOf = (name) => families.find((family) => family.name === name).files;
const size = (shape) => shape.reduce((a, b) => a * b, 1);

/** Adds tensors of ones to the files, and changes fields of config.json. */
function withTensors(files, shapes, fields = {}) {
  const { tensors } = readSafetensors(files['model.safetensors']);
  for (const [name, shape] of Object.entries(shapes))
    tensors[name] = { shape, data: new Float32Array(size(shape)).fill(1) };
  const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), ...fields };
  return {
    'config.json': new TextEncoder().encode(JSON.stringify(config)),
    'model.safetensors': writeSafetensors(tensors),
  };
}

async function open(files, options) {
  const model = await hl.openModel(files, options);
  const { unread, options: read } = model;
  model.dispose();
  return { unread, options: read };
}

/** Checks that opening fails with an error that contains the name of a tensor, and that all memory is freed. */
async function refuses(files, name, pattern = /without (it|them) the results would be wrong/, options = {}) {
  const before = hl.info.memory.used;
  await assert.rejects(hl.openModel(files, options), (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.equal(error.code, 'FORMAT');
    assert.equal(error.parameter, name);
    assert.ok(error.message.includes(name), error.message);
    assert.match(error.message, pattern);
    return true;
  });
  assert.equal(hl.info.memory.used, before);
}

const C = 16;
const LLAMA = 'model.layers.0.';
const QUERY = `${LLAMA}self_attn.q_proj`;
/** Tensors of other families in the files of a family. They would change the results if they were used. */
const STRANGE = {
  'a Llama with norms of queries and keys': ['SmolLM', { [`${LLAMA}self_attn.q_norm.weight`]: [4] }],
  'a Llama with sinks': ['SmolLM', { [`${LLAMA}self_attn.sinks`]: [4] }],
  'a Llama with a norm after the feed-forward': ['SmolLM', { [`${LLAMA}post_feedforward_layernorm.weight`]: [C] }],
  'a Llama with a norm before the feed-forward': ['SmolLM', { [`${LLAMA}pre_feedforward_layernorm.weight`]: [C] }],
  'a Llama with a bias that config.json does not declare': ['SmolLM', { [`${QUERY}.bias`]: [16] }],
  'a Llama with LoRA that is not merged': ['SmolLM', { [`${QUERY}.lora_A.default.weight`]: [2, C] }],
  'a Llama with a scale of a weight': ['SmolLM', { [`${QUERY}.weight_scale`]: [1] }],
  'a Llama whose head has a bias': ['Llama, linear', { 'lm_head.bias': [23] }],
  'a Llama whose tied head has a scale': ['SmolLM', { 'model.embed_tokens.weight_scale': [1] }],
  'a Qwen2 with a bias of the output': ['Qwen2, types of layers', { [`${LLAMA}self_attn.o_proj.bias`]: [C] }],
  'a Mistral with experts': ['Mistral', { [`${LLAMA}block_sparse_moe.experts.0.w1.weight`]: [24, C] }],
  "a Gemma 2 with Gemma 3's norms": [golden('gemma2-a'), { [`${LLAMA}self_attn.k_norm.weight`]: [8] }],
  'a BERT with a narrow embedding': ['BERT for classes', { 'bert.embeddings_project.weight': [C, 8] }],
  'a BERT with a narrow embedding and no prefix': ['MiniLM', { 'embeddings_project.weight': [C, 8] }],
  'a BERT with embeddings of distances': [
    'BERT for classes',
    { 'bert.encoder.layer.1.attention.self.distance_embedding.weight': [23, 4] },
  ],
  'a ViT with a scale of its layers': ['DeiT', { 'encoder.layer.0.layer_scale1.lambda1': [C] }],
  'a ViT with registers': ['DeiT for classes', { 'deit.embeddings.register_tokens': [1, 4, C] }],
  'a T5 with a bias of distances in every block': [
    'T5, relu and a tied head',
    { 'encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight': [8, 4] },
  ],
  'a GPT-2 with attention to an encoder': [golden('gpt2-a'), { 'h.0.crossattention.c_proj.bias': [48] }],
  'a wav2vec 2.0 with adapters in its blocks': [
    'wav2vec 2.0',
    { 'wav2vec2.encoder.layers.0.adapter_layer.linear_1.weight': [2, C] },
  ],
  'a wav2vec 2.0 with one convolution more': [
    'wav2vec 2.0',
    { 'wav2vec2.feature_extractor.conv_layers.3.conv.weight': [8, 8, 2] },
  ],
  'an M2M-100 with a norm of its embedding': ['M2M-100', { 'model.encoder.layernorm_embedding.weight': [C] }],
  'a Whisper whose keys have a bias': ['Whisper', { 'model.decoder.layers.0.self_attn.k_proj.bias': [C] }],
};

for (const [what, [source, shapes]] of Object.entries(STRANGE))
  test(`${what} is refused, and the error names the tensor`, async () => {
    const files = typeof source === 'string' ? filesOf(source) : source;
    await refuses(withTensors(files, shapes), Object.keys(shapes)[0]);
  });

test('a file with more blocks than config.json says is refused', async () => {
  for (const [name, field, first] of [
    ['Mistral', 'num_hidden_layers', 'model.layers.1.'],
    ['BERT for classes', 'num_hidden_layers', 'bert.encoder.layer.1.'],
    ['T5, relu and a tied head', 'num_layers', 'encoder.block.1.'],
    ['wav2vec 2.0', 'num_hidden_layers', 'wav2vec2.encoder.layers.1.'],
    ['T5, relu and a tied head', 'num_decoder_layers', 'decoder.block.1.'],
  ]) {
    const files = withTensors(filesOf(name), {}, { [field]: 1 });
    await assert.rejects(hl.openModel(files), (error) => {
      assert.equal(error.code, 'FORMAT');
      assert.ok(error.parameter.startsWith(first), error.parameter);
      assert.match(error.message, /has 1 block:/);
      return true;
    });
  }
});

test('blocks that are not opened are listed as unread, and only opened blocks are checked', async () => {
  const { unread } = await open(filesOf('Mistral'), { layers: 1 });
  assert.ok(unread.length > 0 && unread.every((name) => name.startsWith('model.layers.1.')), unread.join());
  const strange = withTensors(filesOf('Mistral'), { 'model.layers.1.self_attn.q_norm.weight': [6] });
  assert.equal((await open(strange, { layers: 1 })).unread.length, unread.length + 1);
  await refuses(strange, 'model.layers.1.self_attn.q_norm.weight');
});

test('an error lists only the first of many tensors', async () => {
  const shapes = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`model.layers.0.extra.${i}`, [1]]));
  await refuses(withTensors(filesOf('SmolLM'), shapes), 'model.layers.0.extra.0', /and 12 more are in the file/);
});

/** Tensors with constants or copies that published files contain, and that may be ignored. */
const KNOWN = {
  'GPT-2': [
    golden('gpt2-a'),
    { 'h.0.attn.bias': [1, 1, 8, 8], 'h.1.attn.masked_bias': [], 'transformer.h.0.attn.bias': [1] },
    ['transformer.h.0.attn.bias'],
  ],
  'GPT-NeoX': [
    'GPT-NeoX',
    {
      'gpt_neox.layers.0.attention.bias': [1, 1, 8, 8],
      'gpt_neox.layers.0.attention.masked_bias': [],
      'gpt_neox.layers.1.attention.rotary_emb.inv_freq': [4],
    },
  ],
  Llama: ['SmolLM', { 'model.layers.0.self_attn.rotary_emb.inv_freq': [2], 'model.rotary_emb.inv_freq': [2] }],
  OPT: ['OPT', { 'model.decoder.version': [1] }],
  BERT: [
    'BERT with a head that is not tied, its bias next to its weight',
    { 'bert.embeddings.position_ids': [1, 12], 'cls.predictions.bias': [23] },
  ],
  T5: [
    'T5, relu and a tied head',
    { 'decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight': [8, 4] },
  ],
  CLIP: [
    'CLIP text',
    {
      'text_model.embeddings.position_ids': [1, 12],
      'vision_model.encoder.layers.0.mlp.fc1.weight': [24, C],
      logit_scale: [],
    },
    ['vision_model.encoder.layers.0.mlp.fc1.weight', 'logit_scale'],
  ],
  ViT: [
    'DeiT for classes',
    { 'deit.embeddings.mask_token': [1, 1, C], 'deit.pooler.dense.weight': [C, C], 'decoder.0.weight': [48, C, 1, 1] },
    ['deit.embeddings.mask_token', 'deit.pooler.dense.weight', 'decoder.0.weight'],
  ],
  'BERT for classes, with tensors of its training': [
    'BERT for classes',
    { 'cls.predictions.transform.dense.weight': [C, C], 'crf.transitions': [3, 3] },
    ['cls.predictions.transform.dense.weight', 'crf.transitions'],
  ],
  'M2M-100': [
    'M2M-100',
    {
      'model.encoder.embed_positions.weights': [14, C],
      'model.decoder.embed_positions.weights': [14, C],
    },
  ],
  'wav2vec 2.0 with parts of its pre-training': [
    'wav2vec 2.0',
    { 'quantizer.codevectors': [1, 8, 4], 'project_q.weight': [4, 4], 'project_hid.bias': [4] },
    ['quantizer.codevectors', 'project_q.weight', 'project_hid.bias'],
  ],
  'a reward model': ['SmolLM', { 'v_head.summary.weight': [1, C] }, ['v_head.summary.weight']],
};

for (const [what, [source, shapes, unread = []]] of Object.entries(KNOWN))
  test(`${what}: constants and copies are accepted, other parts are listed as unread`, async () => {
    const files = typeof source === 'string' ? filesOf(source) : source;
    const known = (await open(files)).unread;
    const got = (await open(withTensors(files, shapes))).unread;
    assert.deepEqual(got.filter((name) => !known.includes(name)).sort(), [...unread].sort());
  });

test('a RoBERTa with a classification head lists the pooler as unread', async () => {
  const { unread } = await open(filesOf('RoBERTa for classes'));
  assert.deepEqual(unread, ['roberta.pooler.dense.weight', 'roberta.pooler.dense.bias']);
});

test('a DeBERTa lists the parts of its pre-training as unread', async () => {
  const { unread } = await open(filesOf('DeBERTa 3 for classes'));
  assert.equal(unread[0], 'deberta.embeddings.position_embeddings.weight');
  assert.ok(unread.slice(1).every((name) => name.startsWith('lm_predictions.lm_head.')));
});

test('DINOv2 lists the mask token, and ESM-2 its contacts and unused positions, as unread', async () => {
  assert.deepEqual((await open(filesOf('DINOv2'))).unread, ['embeddings.mask_token']);
  assert.deepEqual((await open(filesOf('ESM-2'))).unread, [
    'esm.embeddings.position_embeddings.weight',
    'esm.contact_head.regression.weight',
    'esm.contact_head.regression.bias',
  ]);
});

test('a SigLIP for classes lists the pooling that its classifier does not read', async () => {
  const { unread } = await open(filesOf('SigLIP for classes of a picture'));
  assert.ok(
    unread.includes('vision_model.head.probe') && unread.every((name) => name.startsWith('vision_model.head.')),
  );
});

test('unread is empty for created models and for files with only one model', async () => {
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 9, context: 8 });
  assert.deepEqual(model.unread, []);
  model.dispose();
  for (const { name, files } of families) {
    if (name === 'RoBERTa for classes' || /^(DINOv2|ESM-|DeBERTa 3 for classes|SigLIP for classes)/.test(name))
      continue;
    const { unread } = await open(files);
    if (!name.startsWith('CLIP, both')) assert.deepEqual(unread, [], name);
    else assert.ok(unread.includes('visual_projection.weight'));
  }
});

// ---- output heads in the files of models whose head is tied to the embedding

const head = (files) => ({ ...readSafetensors(files['model.safetensors']).tensors });

/**
 * Adds an output head to the files of a tied model; change() computes the values of the head from those of the
 * embedding.
 */
function withHead(files, change) {
  const tensors = head(files);
  const { shape, data } = tensors['model.embed_tokens.weight'];
  tensors['lm_head.weight'] = { shape, data: data.map(change) };
  return { ...files, 'model.safetensors': writeSafetensors(tensors) };
}

const logitsOf = async (files) => {
  const model = await hl.openModel(files);
  const result = model.forward([3, 5, 7]);
  const logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return logits;
};

test('a stored head that differs from the embedding is used, although config.json says that it is tied', async () => {
  const tied = filesOf('SmolLM');
  const [{ shape }] = [head(tied)['model.embed_tokens.weight']];
  for (const at of [0, size(shape) - 1]) {
    const other = withHead(tied, (x, i) => (i === at ? x + 1 : x));
    assert.equal((await open(other)).options.tied, false);
    assert.deepEqual(await logitsOf(other), await logitsOf(withTensors(other, {}, { tie_word_embeddings: false })));
  }
});

test('a model with such a head is saved as untied', async () => {
  for (const name of ['SmolLM', 'Gemma']) {
    const files = withHead(filesOf(name), (x) => -x);
    const model = await hl.openModel(files);
    const saved = await model.saveFolder();
    model.dispose();
    assert.equal(JSON.parse(new TextDecoder().decode(saved['config.json'])).tie_word_embeddings, false);
    assert.deepEqual(await logitsOf(saved), await logitsOf(files));
  }
});

test('a stored head that equals the embedding is tied, and unread is empty', async () => {
  const tied = filesOf('SmolLM');
  const same = withHead(tied, (x) => x);
  const { options, unread } = await open(same);
  assert.deepEqual([options.tied, unread], [true, []]);
  assert.deepEqual(await logitsOf(same), await logitsOf(tied));
});

test('a stored head of another shape or type is not tied', async () => {
  const tied = filesOf('SmolLM');
  await assert.rejects(hl.openModel(withTensors(tied, { 'lm_head.weight': [24, C] })), {
    code: 'FORMAT',
    parameter: 'lm_head.weight',
  });
});

test('heads of large models are compared in a few ranges', async () => {
  const rows = 70_000;
  const next = (_, i) => (i % 251) / 251 - 0.5;
  const tensors = head(filesOf('SmolLM'));
  const table = { shape: [rows, C], data: Float32Array.from({ length: rows * C }, next) };
  const last = { shape: [rows, C], data: table.data.with(-1, 3) };
  const open = async (lm_head, ranges) => {
    const bytes = writeSafetensors({ ...tensors, 'model.embed_tokens.weight': table, 'lm_head.weight': lm_head });
    const files = withTensors(filesOf('SmolLM'), {}, { vocab_size: rows });
    const blob = new Blob([bytes]);
    const slice = blob.slice.bind(blob);
    blob.slice = (begin, end) => {
      ranges.push(end - begin);
      return slice(begin, end);
    };
    const model = await hl.openModel({ ...files, 'model.safetensors': blob });
    const { tied } = model.options;
    model.dispose();
    return { tied, read: ranges.reduce((a, b) => a + b, 0), bytes: bytes.length };
  };
  const same = await open(table, []);
  assert.equal(same.tied, true);
  // At most all tensors except the head are read, and sixteen ranges of 256 KiB of the head and of the embedding.
  assert.ok(same.read <= same.bytes - 4 * rows * C + 2 * 16 * 2 ** 18 + 2 ** 16, `${same.read} of ${same.bytes}`);
  assert.equal((await open(last, [])).tied, false);
});

// ---- encoder–decoders, in which both stacks and the head share one embedding

const SHARED = { BART: 'model.', Marian: 'model.', 'M2M-100': 'model.', 'T5, relu and a tied head': '' };

/** Adds tensors with the shape of the shared embedding; change() computes their values from it. */
function withCopies(name, copies) {
  const tensors = head(filesOf(name));
  const { shape, data } = tensors[`${SHARED[name]}shared.weight`];
  for (const [copy, change] of Object.entries(copies)) tensors[copy] = { shape, data: data.map(change) };
  return { ...filesOf(name), 'model.safetensors': writeSafetensors(tensors) };
}
const crossLogits = async (files) => {
  const model = await hl.openModel(files);
  const logits = model.forward({ encoder: [3, 5, 7], ids: [4, 8] }).logits.copy();
  assert.deepEqual(model.unread, []);
  model.dispose();
  return logits;
};

test('a head of its own is used in an encoder–decoder', async () => {
  for (const name of ['BART', 'Marian', 'M2M-100']) {
    const [tied, turned] = [filesOf(name), withCopies(name, { 'lm_head.weight': (x) => -x })];
    const bias = head(tied).final_logits_bias?.data ?? [];
    const [a, b] = [await crossLogits(tied), await crossLogits(turned)];
    const most = Math.max(...a.map(Math.abs));
    a.forEach((x, i) => {
      assert.ok(Math.abs(2 * (bias[i % 23] ?? 0) - x - b[i]) < 1e-5 * most, `${name}: ${x}, ${b[i]}`);
    });
    assert.deepEqual(await crossLogits(withCopies(name, { 'lm_head.weight': (x) => x })), a);
  }
});

test('an encoder or a decoder with an embedding of its own is refused by name', async () => {
  for (const [name, prefix] of Object.entries(SHARED)) {
    const names = ['encoder', 'decoder'].map((stack) => `${prefix}${stack}.embed_tokens.weight`);
    for (const other of names)
      await refuses(
        withCopies(name, { [other]: (x, i) => (i === 7 ? x + 1 : x) }),
        other,
        /differ, but both stacks are expected to share one embedding/,
      );
    const same = withCopies(name, Object.fromEntries(names.map((other) => [other, (x) => x])));
    assert.deepEqual(await crossLogits(same), await crossLogits(filesOf(name)));
  }
});
