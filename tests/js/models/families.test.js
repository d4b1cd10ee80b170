import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../support/families.js';
import { GOLDEN } from '../../support/golden.js';
import { flavours, hl } from '../../support/headlight.js';

/** Names of the tensors that a result contains without capturing. */
const HEADS = ['logits', 'pooled', 'relationship'];
/** Largest allowed error, relative to the largest value. */
const LIMIT = 1e-5;

/** Returns a function that returns true for a flat index of a tensor that belongs to a token, not to padding. */
function isRealToken({ keep, across }, name, shape) {
  if (!keep || (across && !name.startsWith('encoder.'))) return () => true;
  const weights = name.endsWith('weights');
  const rows = weights ? shape[2] : shape.length === 3 ? shape[1] : 1;
  if (rows === 1) return () => true;
  const width = shape.at(-1);
  const perEntry = shape.slice(1).reduce((a, b) => a * b, 1);
  return (i) => keep[Math.floor(i / perEntry)][Math.floor(i / width) % rows] === 1;
}

function off(got, expected, isCompared) {
  assert.equal(got.length, expected.length);
  let [most, difference] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    if (!isCompared(i)) continue;
    most = Math.max(most, Math.abs(expected[i]));
    const d = Math.abs(got[i] - expected[i]);
    if (!(d <= difference)) difference = d;
  }
  assert.ok(most > 0);
  return difference / most;
}

/**
 * Returns the largest difference of the logits with a cache, with three tokens in one call and then one token per call.
 */
function cacheDifference(model, { encoder, ids }) {
  const [, length] = ids.shape;
  const ofFirst = (input) =>
    Object.fromEntries(
      Object.entries(input).map(([name, { data, shape }]) => [
        name,
        { data: data.slice(0, data.length / shape[0]), shape: [1, ...shape.slice(1)] },
      ]),
    );
  const part = (from, to) => ({ data: ids.data.slice(from, to), shape: [1, to - from] });
  const whole = model.forward({ ...(encoder && { encoder: ofFirst(encoder) }), ids: part(0, length) });
  const expected = whole.logits.copy();
  whole.dispose();
  const cache = model.cache({ length });
  const rows = [];
  for (const [from, to] of [[0, 3], ...Array.from({ length: length - 3 }, (_, i) => [3 + i, 4 + i])]) {
    const first = encoder && from === 0;
    const result = model.forward({ ...(first && { encoder: ofFirst(encoder) }), ids: part(from, to) }, { cache });
    rows.push(...result.logits.data);
    result.dispose();
  }
  cache.dispose();
  return off(rows, expected, () => true);
}

for (const family of families) {
  test(`${family.name}: every value equals that of the architecture in float64`, async () => {
    const values64 = family.expected;
    for (const instance of flavours) {
      const model = await instance.openModel(family.files);
      const names = Object.keys(values64).filter((name) => !HEADS.includes(name));
      const result = model.forward(family.input, { capture: names });
      const values = { ...result.captured, ...Object.fromEntries(HEADS.map((name) => [name, result[name]])) };
      for (const [name, expected] of Object.entries(values64)) {
        assert.ok(values[name], `there is no ${name}`);
        const difference = off(values[name].data, expected, isRealToken(family, name, values[name].shape));
        assert.ok(difference <= LIMIT, `${name} is off by ${difference}`);
      }
      assert.ok(result.hidden.data.every(Number.isFinite), 'rows of padding are finite');
      result.dispose();
      if (family.causal) {
        const difference = cacheDifference(model, family.input);
        assert.ok(difference <= LIMIT, `with a cache off by ${difference}`);
      }
      model.dispose();
    }
  });
}

const DECODERS = [
  'OPT',
  'BLOOM',
  'GPT-NeoX',
  'SmolLM',
  'Qwen3',
  'Gemma',
  'Gemma 2',
  'Phi',
  'Phi-3',
  'Gemma 3',
  'OLMo 2',
  'GPT-Neo',
  'GPT-J',
  'StarCoder2',
  'StableLM',
  'Granite',
  'SmolLM 3',
  'Falcon',
  'Cohere',
  'GPT-2',
];
const FOLDERS = { 'GPT-2': 'gpt2-a', 'Gemma 2': 'gemma2-a' };
const fileIn = (folder, name) => [name, readFileSync(join(GOLDEN, 'models', folder, name))];
const filesOf = (name) =>
  FOLDERS[name]
    ? Object.fromEntries(['config.json', 'model.safetensors'].map((file) => fileIn(FOLDERS[name], file)))
    : families.find((family) => family.name === name).files;

/** Changes fields of config.json; undefined removes a field. */
function withFields(files, fields) {
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...fields })) };
}

async function optionsWith(name, fields) {
  const model = await hl.openModel(withFields(filesOf(name), fields));
  const { options } = model;
  model.dispose();
  return options;
}

test('missing fields have the defaults of Hugging Face; null is a value', async () => {
  const cases = [
    ['SmolLM', { rms_norm_eps: 1e-6, max_position_embeddings: 2048 }],
    ['Mistral', { rms_norm_eps: 1e-6, max_position_embeddings: 2 ** 17, sliding_window: 4096 }],
    ['Qwen2, types of layers', { rms_norm_eps: 1e-6, max_position_embeddings: 2 ** 15, sliding_window: 4096 }],
    ['Qwen3', { rms_norm_eps: 1e-6, max_position_embeddings: 2 ** 15 }],
    ['Gemma', { rms_norm_eps: 1e-6, max_position_embeddings: 8192 }],
    [
      'Gemma 2',
      { rms_norm_eps: 1e-6, max_position_embeddings: 8192, sliding_window: 4096, query_pre_attn_scalar: 256 },
    ],
    ['Gemma 2', { attn_logit_softcapping: 50, final_logit_softcapping: 30 }],
    ['Phi-3', { rms_norm_eps: 1e-5, original_max_position_embeddings: 4096, sliding_window: null }],
    ['GPT-NeoX', { layer_norm_eps: 1e-5, max_position_embeddings: 2048 }],
    ['GPT-2', { layer_norm_epsilon: 1e-5 }],
    ['MiniLM', { layer_norm_eps: 1e-12, hidden_act: 'gelu' }],
    ['RoBERTa', { layer_norm_eps: 1e-12, pad_token_id: 1 }],
    ['ModernBERT', { norm_eps: 1e-5, classifier_pooling: 'cls', classifier_activation: 'gelu' }],
    ['DeiT', { layer_norm_eps: 1e-12 }],
    ['CLIP text', { eos_token_id: 49407, hidden_act: 'quick_gelu', layer_norm_eps: 1e-5 }],
    ["T5's encoder alone", { layer_norm_epsilon: 1e-6, feed_forward_proj: 'relu' }],
  ];
  for (const [name, fields] of cases)
    for (const [field, value] of Object.entries(fields)) {
      const [left, said] = [
        await optionsWith(name, { [field]: undefined }),
        await optionsWith(name, { [field]: value }),
      ];
      assert.deepEqual(left, said, `${name}: ${field}`);
    }
  assert.equal((await optionsWith('Mistral', { sliding_window: null })).window, null);
  const { softcap, logitSoftcap } = await optionsWith('Gemma 2', {
    attn_logit_softcapping: null,
    final_logit_softcapping: null,
  });
  assert.deepEqual([softcap, logitSoftcap], [0, 0]);
});

test('Gemma reads hidden_activation or hidden_act, Gemma 2 only hidden_activation', async () => {
  const activationOf = async (name, hidden_activation, hidden_act) =>
    (await optionsWith(name, { hidden_activation, hidden_act })).activation;
  for (const missing of [undefined, null]) {
    assert.equal(await activationOf('Gemma', missing, 'gelu'), 'gelu-tanh');
    assert.equal(await activationOf('Gemma', missing, 'gelu_pytorch_tanh'), 'gelu-tanh');
    assert.equal(await activationOf('Gemma', missing, 'silu'), 'silu');
    assert.equal(await activationOf('Gemma', missing, missing), 'gelu-tanh');
    assert.equal(await activationOf('Gemma 2', missing, 'silu'), 'gelu-tanh');
  }
  for (const name of ['Gemma', 'Gemma 2']) assert.equal(await activationOf(name, 'relu', 'silu'), 'relu');
});

test('T5 reads its activation from feed_forward_proj, unless dense_act_fn and is_gated_act are present', async () => {
  const name = "T5's encoder alone";
  const of = async (fields) => (await optionsWith(name, fields)).activation;
  assert.equal(await of({ feed_forward_proj: 'gelu' }), 'gelu');
  assert.equal(await of({ feed_forward_proj: 'silu', dense_act_fn: 'silu', is_gated_act: false }), 'silu');
  assert.equal(await of({ feed_forward_proj: undefined, dense_act_fn: 'gelu_new' }), 'gelu-tanh');
  for (const fields of [
    { feed_forward_proj: undefined, is_gated_act: true },
    { feed_forward_proj: undefined, model_type: 'mt5' },
  ])
    await assert.rejects(of(fields), /DenseReluDense.wi_0.weight.* missing/);
});

test('the head of T5 is stored, or tied to the embedding, or missing', async () => {
  const name = 'T5 with a head of its own, as later versions save it';
  const said = { scale_decoder_outputs: undefined, tie_word_embeddings: undefined };
  assert.equal((await optionsWith('T5, relu and a tied head', said)).tied, true);
  const own = await optionsWith(name, said);
  assert.deepEqual([own.tied, own.logitScale], [false, own.dModel ** -0.5]);
  // By default, the head of mT5 is not tied to the embedding.
  const second = { ...said, model_type: 'mt5', feed_forward_proj: 'relu' };
  const { tied, logitScale } = await optionsWith(name, second);
  assert.deepEqual([tied, logitScale], [false, 1]);
  const base = withNames(filesOf(name), (tensor) => (tensor === 'lm_head.weight' ? null : tensor));
  for (const [fields, head] of [
    [said, 'logits'],
    [second, 'none'],
    [{ ...said, tie_word_embeddings: false }, 'none'],
  ]) {
    const model = await hl.openModel(withFields(base, fields));
    assert.equal(model.options.head, head);
    model.dispose();
  }
});

test('with fewer layers, scales by layer are cut to the layers that are opened', async () => {
  const files = filesOf('GPT-2 with scores divided by the number of the layer');
  const model = await hl.openModel(files, { layers: 1 });
  assert.deepEqual(model.options.scale, [0.5]);
  model.dispose();
});

test('fields with which a token would attend to later tokens are refused, in every decoder', async () => {
  for (const name of [...DECODERS, 'Mistral']) {
    for (const [field, value] of Object.entries({ is_causal: false, use_bidirectional_attention: true }))
      await assert.rejects(optionsWith(name, { [field]: value }), { code: 'FORMAT', parameter: field }, name);
    await optionsWith(name, { is_causal: true, use_bidirectional_attention: null });
  }
});

test('cross-attention without an encoder in the file is refused', async () => {
  for (const name of ['MiniLM', 'RoBERTa', 'GPT-2'])
    await assert.rejects(optionsWith(name, { is_decoder: true, add_cross_attention: true }), {
      ...{ code: 'FORMAT', parameter: 'add_cross_attention' },
    });
});

test('layer_types must be known, and as many as there are layers', async () => {
  const lists = [
    ['chunked_attention', 'full_attention'],
    ['full_attention'],
    ['full_attention', 'full_attention', 'sliding_attention'],
    'full_attention',
  ];
  for (const name of ['Qwen2, types of layers', 'Qwen3', 'Gemma 2'])
    for (const layer_types of lists)
      await assert.rejects(optionsWith(name, { layer_types }), { code: 'FORMAT', parameter: 'layer_types' }, name);
  const layer_types = ['sliding_attention', 'full_attention'];
  assert.deepEqual((await optionsWith('Gemma 2', { layer_types })).window, [6, null]);
  assert.deepEqual((await optionsWith('Gemma 2', { layer_types: [...layer_types].reverse() })).window, [null, 6]);
});

test('layer_types and rope_type that ModernBERT does not have are refused', async () => {
  const refused = (fields, parameter) =>
    assert.rejects(optionsWith('ModernBERT', fields), { code: 'FORMAT', parameter }, JSON.stringify(fields));
  await refused({ layer_types: ['full_attention'] }, 'layer_types');
  await refused({ layer_types: new Array(4).fill('chunked_attention') }, 'layer_types');
  for (const type of ['full_attention', 'sliding_attention'])
    await refused({ rope_parameters: { [type]: { rope_type: 'linear', rope_theta: 9, factor: 2 } } }, 'rope_type');
});

test('an odd rotary width, and rotary positions by layer, are refused', async () => {
  await assert.rejects(optionsWith('GPT-NeoX', { rotary_pct: 0.4 }), /width is 3, expected an even number/);
  const ropes = { full_attention: { rope_type: 'default', rope_theta: 50 } };
  for (const field of ['rope_parameters', 'rope_scaling'])
    await assert.rejects(
      optionsWith('SmolLM', { rope_parameters: undefined, rope_scaling: undefined, [field]: ropes }),
      { code: 'FORMAT', parameter: 'rope_parameters' },
    );
});

test('rotary factors must be as many as there are pairs', async () => {
  for (const short_factor of [[1.1], [1.1, 1.7, 2]]) {
    const rope_scaling = { type: 'longrope', short_factor, long_factor: [3, 9] };
    await assert.rejects(optionsWith('Phi-3', { rope_scaling }), /factors is .*expected 2 numbers/);
    const other = { type: 'longrope', short_factor: [1.1, 1.7], long_factor: short_factor };
    await assert.rejects(optionsWith('Phi-3', { rope_scaling: other }), /factors is .*expected 2 numbers/);
  }
});

test('a cache keeps its rotary scaling; generate computes all tokens again when it changes', async () => {
  const model = await hl.openModel(filesOf('Phi-3 beyond the context of its training'));
  const ids = [3, 9, 4, 17, 6, 11, 5, 8];
  const rowsOf = (input, options) => hl.scope(() => Array.from(model.forward(input, options).logits.data));
  const last = (rows) => rows.slice(-23);
  const whole = rowsOf(ids);
  const far = model.cache({ length: 20 });
  rowsOf(ids.slice(0, 6), { cache: far });
  const copy = far.clone();
  for (const cache of [far, copy]) {
    rowsOf([ids[6]], { cache });
    assert.ok(off(rowsOf([ids[7]], { cache }), last(whole), () => true) < LIMIT);
  }
  far.rewind(2);
  rowsOf(ids.slice(2, 4), { cache: far });
  assert.ok(off(rowsOf(ids.slice(4), { cache: far }), whole.slice(-4 * 23), () => true) < LIMIT);
  const near = model.cache({ length: 20 });
  const first = rowsOf(ids.slice(0, 4), { cache: near });
  assert.ok(off(last(first), last(rowsOf(ids.slice(0, 4))), () => true) < LIMIT);
  const message = /at most 1 more tokens, as the keys in this cache are rotated as in sequences of at most 5/;
  assert.throws(() => model.forward(ids.slice(4), { cache: near }), { code: 'SHAPE', message });
  const never = { max: 6, stop: [] };
  const expected = [...ids.slice(0, 3)];
  for (let i = 0; i < never.max; i++) {
    const row = last(rowsOf(expected));
    expected.push(row.indexOf(Math.max(...row)));
  }
  for (const cache of [undefined, model.cache({ length: 20 })]) {
    const result = await model.generate(ids.slice(0, 3), { ...never, ...(cache && { cache }) });
    assert.deepEqual(result.ids, expected.slice(3));
  }
  // After the rewind, the cache has one token more than the prompt of generate. There is room for five tokens in total.
  assert.equal((await model.generate([5], { ...never, cache: near.rewind(3) })).ids.length, 2);
  model.dispose();
});

/** Renames tensors; null removes a tensor. */
function withNames(files, rename) {
  const { tensors } = readSafetensors(files['model.safetensors']);
  const named = Object.entries(tensors).map(([name, tensor]) => [rename(name), tensor]);
  return { ...files, 'model.safetensors': writeSafetensors(Object.fromEntries(named.filter(([name]) => name))) };
}

test('a base model without a tied head has no head, in every decoder', async () => {
  for (const name of [...DECODERS.filter((name) => name !== 'SmolLM'), 'Mistral']) {
    const base = withNames(filesOf(name), (tensor) => (/^(lm_head|embed_out)\./.test(tensor) ? null : tensor));
    const model = await hl.openModel(withFields(base, { tie_word_embeddings: false }));
    const { hidden, logits } = model.forward([3, 5]);
    assert.equal(logits, undefined, name);
    hidden.dispose();
    model.dispose();
  }
});

test('a decoder with a classification head is not opened as a language model', async () => {
  for (const name of DECODERS)
    for (const [head, biased] of [['score'], ['score', true], ['classifier', true], ['qa_outputs', true]]) {
      const files = withNames(filesOf(name), (tensor) => (/^(lm_head|embed_out)\./.test(tensor) ? null : tensor));
      const { tensors } = readSafetensors(files['model.safetensors']);
      const { dModel } = await optionsWith(name, {});
      const add = (part, shape) =>
        (tensors[`${head}.${part}`] = { shape, data: new Float32Array(shape.reduce((a, b) => a * b)) });
      add('weight', [2, dModel]);
      if (biased) add('bias', [2]);
      for (const tie_word_embeddings of [true, false]) {
        const given = withFields({ ...files, 'model.safetensors': writeSafetensors(tensors) }, { tie_word_embeddings });
        const model = await hl.openModel(given);
        const { head: kind, classes, pool, tied, logitSoftcap, bias } = model.options;
        assert.deepEqual(
          { kind, classes, pool, tied, logitSoftcap, bias: bias.head },
          {
            ...{ kind: biased ? 'logits' : 'pooled', classes: 2, pool: biased ? 'none' : 'last' },
            ...{ tied: false, logitSoftcap: 0, bias: biased ?? false },
          },
          `${name}, ${head}`,
        );
        await assert.rejects(model.generate([3], { max: 1 }), { code: 'STATE' });
        model.dispose();
      }
    }
});

test('config.json defines the padding token, unless keep is given', async () => {
  const files = filesOf('Llama with unmasked padding for classes');
  const logits = (model, input) => [...model.forward(input).logits.data];
  const known = await hl.openModel(files);
  const unknown = await hl.openModel(withFields(files, { pad_token_id: null }));
  const ids = { data: [5, 9, 17, 0, 0], shape: [1, 5] };
  const keep = (...data) => ({ ids, keep: { data, shape: [1, 5] } });
  assert.deepEqual(logits(known, { ids }), logits(unknown, keep(1, 1, 1, 0, 0)));
  assert.deepEqual(logits(unknown, { ids }), logits(unknown, keep(1, 1, 1, 1, 1)));
  assert.deepEqual(logits(known, keep(1, 1, 1, 1, 0)), logits(unknown, keep(1, 1, 1, 1, 0)));
  for (const pad_token_id of [-1, undefined]) {
    const model = await hl.openModel(withFields(files, { pad_token_id }));
    assert.equal(model.options.poolSkip, undefined);
    model.dispose();
  }
  known.dispose();
  unknown.dispose();
});

test('norms of queries and keys must be in the file, one for each head of StableLM', async () => {
  const without = (name, tensor) => withNames(filesOf(name), (other) => (other === tensor ? null : other));
  for (const [name, tensor, missing = tensor] of [
    ['Phi with norms of queries and keys', 'model.layers.1.self_attn.k_layernorm.bias'],
    ['StableLM with norms of each head', 'model.layers.1.self_attn.q_layernorm.norms.2.weight', 'q_layernorm.norms'],
  ])
    await assert.rejects(hl.openModel(without(name, tensor)), ({ code, parameter }) => {
      assert.equal(code, 'FORMAT');
      assert.ok(parameter.includes(missing), parameter);
      return true;
    });
  await assert.rejects(optionsWith('Phi', { qk_layernorm: true }), { code: 'FORMAT' });
});

test('a tied embedding may be stored under the name of the head', async () => {
  const tables = /(embed_tokens|word_embeddings|embed_in|wte)\.weight$/;
  for (const name of ['OPT', 'BLOOM', 'SmolLM', 'Gemma', 'GPT-2', 'GPT-NeoX']) {
    const head = name === 'GPT-NeoX' ? 'embed_out.weight' : 'lm_head.weight';
    const headless = withNames(filesOf(name), (tensor) => (tensor === head ? null : tensor));
    const tied = withFields(headless, { tie_word_embeddings: true });
    const swapped = withNames(tied, (tensor) => (tables.test(tensor) ? head : tensor));
    const [one, other] = [await hl.openModel(tied), await hl.openModel(swapped)];
    assert.deepEqual(other.forward([3, 5]).logits.copy(), one.forward([3, 5]).logits.copy(), name);
    one.dispose();
    other.dispose();
    await assert.rejects(hl.openModel(withFields(swapped, { tie_word_embeddings: false })), /missing/);
  }
});

test('a context of millions of tokens is limited to 2^20', async () => {
  for (const name of ['SmolLM', 'Qwen3', 'Gemma 2'])
    assert.equal((await optionsWith(name, { max_position_embeddings: 2 ** 22 })).context, 2 ** 20);
  const { context, rotary } = await optionsWith('Phi-3', { max_position_embeddings: 12 * 2 ** 20 });
  assert.deepEqual([context, rotary.long.beyond], [2 ** 20, 12]);
  assert.ok(Math.abs(rotary.scaling.attentionFactor - Math.sqrt(1 + Math.log(2 ** 20) / Math.log(12))) < 1e-12);
});
