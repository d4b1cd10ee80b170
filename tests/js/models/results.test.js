// Tests the methods that compute a result from a text: next, fill, classify, rank and embed, also with batches of
// texts. The expected values are computed from the logits and hidden states of forward().

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { tokenSimilarity } from 'headlight-attention/analysis';
import { ggufChatSource } from '../../../src/js/models/checkpoint/folder/chatSource.ts';
import { GOLDEN } from '../../support/golden.js';
import { hl } from '../../support/headlight.js';

const WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', 'whale', 'is', 'white', 'black', 'a', 'ship', '?'];
const WORDPIECE = {
  added_tokens: [0, 1, 2, 3, 4].map((id) => ({ id, content: WORDS[id], special: true, normalized: false })),
  normalizer: { type: 'BertNormalizer', lowercase: true, strip_accents: null, clean_text: true },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: { type: 'WordPiece', unk_token: '[UNK]', vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])) },
};
const folder = join(GOLDEN, 'models', 'bert-a');
const bytes = (name) => readFile(join(folder, name));
const json = (value) => new TextEncoder().encode(JSON.stringify(value));

/** Opens a tiny BERT, with more or replaced files. */
const openBert = async (more = {}) =>
  hl.openModel({
    'config.json': await bytes('config.json'),
    'model.safetensors': await bytes('model.safetensors'),
    'tokenizer.json': json(WORDPIECE),
    ...more,
  });

/** Builds a tiny model with words as tokens. */
async function small(options, config) {
  const model = hl.transformer({
    layers: 1,
    dModel: 8,
    numHeads: 2,
    vocab: 13,
    context: 12,
    mlp: 8,
    seed: 3,
    ...options,
  });
  model.tokenizer = await hl.openTokenizer(json(WORDPIECE));
  model.config = config;
  return model;
}

function softmax(logits) {
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  return logits.map((logit) => Math.exp(logit) / sum);
}
const near = (got, expected, limit = 1e-6) => {
  assert.equal(got.length, expected.length);
  got.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= limit, `${i}: ${x}, expected ${expected[i]}`));
};
const fails = (act, code, pattern) => assert.throws(act, (error) => error.code === code && pattern.test(error.message));

test('next: the likeliest tokens after a text, and their probabilities', async () => {
  const model = await small({});
  const { ids } = model.encode('the whale');
  const expected = softmax(Array.from(model.forward(ids, { last: true }).logits.data));
  const likely = model.next('the whale', 13);
  assert.deepEqual(model.next(ids), likely.slice(0, 5));
  assert.deepEqual(likely.map(({ token }) => token).toSorted(), [...WORDS].toSorted(), 'every token once');
  for (const [i, { id, token, probability, logProbability }] of likely.entries()) {
    assert.equal(token, WORDS[id]);
    near([probability, Math.exp(logProbability)], [expected[id], expected[id]]);
    assert.ok(i === 0 || probability <= likely[i - 1].probability);
  }
  fails(() => model.next('the', 0), 'ARGUMENT', /^next: n is 0, expected an integer of at least 1/);
  fails(
    () =>
      model.next([
        [5, 6],
        [6, 5],
      ]),
    'ARGUMENT',
    /^next: input is .*a batch of 2.*one sequence/,
  );
  fails(() => model.fill('a [MASK]'), 'STATE', /^fill: this model is causal; next\(\)/);
});

test('fill: the likeliest words in place of the mask', async () => {
  const model = await openBert();
  const { ids, typeIds } = model.encode('the [MASK] is white');
  const { logits } = model.forward({ ids, typeIds });
  const row = Array.from(logits.data.subarray(2 * 96, 3 * 96));
  const expected = softmax(row);
  const likely = model.fill('The [MASK] is white', 96);
  assert.deepEqual(
    likely.map(({ id }) => id),
    row.map((_, id) => id).toSorted((a, b) => row[b] - row[a]),
  );
  near(
    likely.map(({ probability }) => probability),
    likely.map(({ id }) => expected[id]),
  );
  fails(() => model.fill('the whale'), 'ARGUMENT', /^fill: text is .*one \[MASK\], not 0 of them/);
  fails(() => model.fill('[MASK] [MASK]'), 'ARGUMENT', /not 2 of them/);
  fails(() => model.next('the'), 'STATE', /^next: this model is not causal; fill\(\)/);
  model.dispose();
});

const HEAD = { causal: false, head: 'pooled', classes: 3, bias: { head: true } };
const LABELS = { 0: 'no', 1: 'maybe', 2: 'yes' };

test('classify: labels of config.json with their probabilities, the likeliest first', async () => {
  const model = await small(HEAD, { id2label: LABELS });
  const logits = Array.from(model.forward('the whale is white').logits.data);
  const expected = softmax(logits);
  const got = model.classify('the whale is white');
  assert.deepEqual(
    got.map(({ label }) => label),
    [0, 1, 2].toSorted((a, b) => logits[b] - logits[a]).map((i) => LABELS[i]),
  );
  near(
    got.map(({ probability }) => probability),
    expected.toSorted((a, b) => b - a),
  );
  const pair = model.encode('a ship', 'is white');
  const ofPair = softmax(Array.from(model.forward(pair.ids).logits.data));
  const gotPair = model.classify({ text: 'a ship', pair: 'is white' });
  near(
    gotPair.map(({ probability }) => probability),
    ofPair.toSorted((a, b) => b - a),
  );
  model.config = { ...model.config, problem_type: 'multi_label_classification' };
  const several = model.classify('the whale is white');
  near(
    several.map(({ probability }) => probability),
    logits.map((x) => 1 / (1 + Math.exp(-x))).toSorted((a, b) => b - a),
  );
  model.config = {};
  assert.deepEqual(
    model
      .classify('a')
      .map(({ label }) => label)
      .toSorted(),
    ['LABEL_0', 'LABEL_1', 'LABEL_2'],
  );
  fails(() => model.rank('a', ['ship']), 'STATE', /^rank: this model has 3 labels, and a cross-encoder has one/);
});

test('classify refuses models without such a head, and a batch', async () => {
  const plain = await small({});
  fails(() => plain.classify('a'), 'STATE', /^classify: this model has no head that classifies its input/);
  const tokens = await small({ causal: false, classes: 4 });
  fails(() => tokens.classify('a'), 'STATE', /^classify: this model classifies each token; forward\(\)/);
  const model = await small(HEAD, {});
  fails(() => model.classify([[5], [6]]), 'ARGUMENT', /a batch of 2/);
  fails(() => model.classify({ text: 'a', pair: 3 }), 'ARGUMENT', /^classify: pair is 3, expected a text/);
});

test('classify and rank with one label give its logit', async () => {
  const model = await small({ ...HEAD, classes: 1 }, { id2label: { 0: 'fits' } });
  const scoreOf = (pair) => model.forward(model.encode('whale ?', pair).ids).logits.data[0];
  const candidates = ['a ship', 'the white whale', 'black'];
  const [{ label, score }] = model.classify({ text: 'whale ?', pair: 'black' });
  assert.equal(label, 'fits');
  near([score], [scoreOf('black')]);
  const ranked = model.rank('whale ?', candidates);
  assert.deepEqual(
    ranked,
    candidates.map((text, index) => ({ text, score: scoreOf(text), index })).toSorted((a, b) => b.score - a.score),
  );
  assert.deepEqual(model.rank('a', []), []);
  fails(() => model.rank('a', 'ship'), 'ARGUMENT', /^rank: candidates is .*expected a list of texts/);
});

const TEXTS = ['the whale is white', 'a ship', 'is the black ship a whale ?'];

test('encode of a list: a batch that is padded at the end, and each text has its own result', async () => {
  const model = await openBert();
  const batch = model.encode(TEXTS);
  assert.deepEqual(batch.ids.shape, [3, 9]);
  assert.deepEqual([...batch.ids.data.subarray(9, 18)], [2, 10, 11, 3, 0, 0, 0, 0, 0]);
  assert.deepEqual([...batch.keep.data.subarray(9, 18)], [1, 1, 1, 1, 0, 0, 0, 0, 0]);
  assert.deepEqual(batch.tokens[1], ['[CLS]', 'a', 'ship', '[SEP]']);
  assert.deepEqual(batch.offsets[1], model.encode('a ship').offsets);
  const { ids, keep, typeIds } = batch;
  const { hidden } = model.forward({ ids, keep, typeIds });
  for (const [row, text] of TEXTS.entries()) {
    const alone = model.forward(text).hidden.copy();
    const begin = row * 9 * 32;
    near([...hidden.data.subarray(begin, begin + alone.length)], [...alone], 1e-5);
  }
  fails(() => model.encode([]), 'ARGUMENT', /^encode: texts is .*a list of texts/);
  model.dispose();
});

test('forward, next and generate read a result of encode, with type ids if the model has token types', async () => {
  const bert = await openBert();
  const pair = bert.encode('the whale', 'is white');
  assert.deepEqual(pair.typeIds, [0, 0, 0, 0, 1, 1, 1]);
  const { ids, typeIds } = pair;
  assert.deepEqual([...bert.forward(pair).hidden.data], [...bert.forward({ ids, typeIds }).hidden.data]);
  const [one, several] = [bert.encode('the whale'), bert.encode(TEXTS)];
  assert.deepEqual([...bert.forward(one).hidden.data], [...bert.forward('the whale').hidden.data]);
  const { ids: rows, keep } = several;
  assert.deepEqual([...bert.forward(several).hidden.data], [...bert.forward({ ids: rows, keep }).hidden.data]);
  bert.dispose();

  const decoder = await small({ tokenTypes: 0 });
  const given = decoder.encode('the whale', 'is white');
  assert.deepEqual([...decoder.forward(given).logits.data], [...decoder.forward(given.ids).logits.data]);
  assert.deepEqual(decoder.next(given), decoder.next(given.ids));
  const [first, second] = await Promise.all([given, given.ids].map((prompt) => decoder.generate(prompt, { max: 3 })));
  assert.deepEqual(first, second);
  fails(() => decoder.forward({ ids, typeIds }), 'ARGUMENT', /typeIds is .*no token types/);
  decoder.dispose();
});

/** Computes the pooled hidden states of each text, which is run alone, in float64. */
function pooled(model, pooling, normalize) {
  return TEXTS.flatMap((text) => {
    const { hidden } = model.forward(text);
    const rows = hidden.toArray();
    const column = (c) => rows.map((row) => row[c]);
    const ways = {
      mean: (c) => column(c).reduce((a, b) => a + b) / rows.length,
      first: (c) => rows[0][c],
      last: (c) => rows.at(-1)[c],
      max: (c) => Math.max(...column(c)),
    };
    const vector = rows[0].map((_, c) => ways[pooling](c));
    const length = normalize ? Math.hypot(...vector) : 1;
    return vector.map((x) => x / length);
  });
}

const MODULES = [
  { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
  { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
  { idx: 2, name: '2', path: '2_Normalize', type: 'sentence_transformers.models.Normalize' },
];
const poolingBy = (mode) => ({ word_embedding_dimension: 32, pooling_mode_cls_token: false, [mode]: true });

test('embed: pooled hidden states, by its options', async () => {
  const model = await openBert();
  for (const pooling of ['mean', 'first', 'last', 'max'])
    for (const normalize of [false, true]) {
      const vectors = model.embed(TEXTS, { pooling, normalize });
      assert.deepEqual(vectors.shape, [3, 32]);
      near([...vectors.data], pooled(model, pooling, normalize), 1e-6);
    }
  const alone = model.embed('a ship', { pooling: 'mean' });
  assert.deepEqual(alone.shape, [1, 32]);
  const among = model.embed(TEXTS, { pooling: 'mean' });
  assert.deepEqual(among.data.slice(32, 64), alone.copy(), 'the same bits as among other texts');
  const [first, second] = TEXTS.map((text) => model.forward(text).hidden);
  const unit = model.embed(TEXTS, { pooling: 'mean', normalize: true }).copy();
  const cosine = unit.subarray(0, 32).reduce((sum, x, i) => sum + x * unit[32 + i], 0);
  near([tokenSimilarity(first, second).cosine], [cosine], 1e-6);
  assert.deepEqual(model.embed([], { pooling: 'mean' }).shape, [0, 32]);
  const { tokenizer } = model;
  model.tokenizer = { encode: () => ({ ids: [], tokens: [], offsets: [], typeIds: [] }), decode: () => '' };
  fails(() => model.embed('', { pooling: 'mean' }), 'ARGUMENT', /texts\[0\] is '', expected a text with at least one/);
  model.tokenizer = tokenizer;
  fails(() => model.embed(TEXTS), 'ARGUMENT', /^embed: pooling is undefined, expected one of mean, first, last, max/);
  fails(() => model.embed(TEXTS, { pooling: 'sum' }), 'ARGUMENT', /^embed: pooling is 'sum'/);
  fails(() => model.embed([1], { pooling: 'mean' }), 'ARGUMENT', /^embed: texts\[0\] is 1, expected a text/);
  model.dispose();
});

test('embed: the pooling, the norm, the length and the prompt of the files', async () => {
  const files = {
    'modules.json': json(MODULES),
    '1_Pooling/config.json': json(poolingBy('pooling_mode_mean_tokens')),
    'sentence_bert_config.json': json({ max_seq_length: 5, do_lower_case: false }),
  };
  const model = await openBert(files);
  const short = ['the whale is', 'a ship', 'is the black'];
  const expected = (text) => {
    const rows = model.forward(text).hidden.toArray();
    const mean = rows[0].map((_, c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length);
    const length = Math.hypot(...mean);
    return mean.map((x) => x / length);
  };
  near([...model.embed(TEXTS).data], short.flatMap(expected), 1e-6);
  model.dispose();
  const prompts = { prompts: { query: 'the ' }, default_prompt_name: 'query' };
  const prompted = await openBert({
    'modules.json': json(MODULES.slice(0, 2)),
    '1_Pooling/config.json': json({ pooling_mode: 'cls' }),
    'config_sentence_transformers.json': json(prompts),
  });
  const first = (text) => prompted.forward(text).hidden.toArray()[0];
  near([...prompted.embed('whale').data], first('the whale'));
  near([...prompted.embed('whale', { prompt: '' }).data], first('whale'));
  prompted.dispose();
});

test('embed refuses modules and poolings that it lacks, by name', async () => {
  const dense = { path: '3_Dense', type: 'sentence_transformers.models.Dense' };
  const model = await openBert({
    'modules.json': json([...MODULES, dense]),
    '1_Pooling/config.json': json(poolingBy('pooling_mode_mean_tokens')),
  });
  fails(() => model.embed('a'), 'STATE', /^embed: modules.json has a module .*Dense.*which is unsupported/);
  model.dispose();
  const two = await openBert({
    'modules.json': json(MODULES),
    '1_Pooling/config.json': json({ ...poolingBy('pooling_mode_mean_tokens'), pooling_mode_max_tokens: true }),
  });
  fails(() => two.embed('a'), 'STATE', /the pooling .*mean_tokens and pooling_mode_max_tokens/);
  two.dispose();
  await assert.rejects(openBert({ 'modules.json': json('{').slice(0, 2) }), /openModel: modules.json is not JSON/);
});

test('embed: the same settings from a folder on disk', async () => {
  const at = await mkdtemp(join(tmpdir(), 'sentence-'));
  try {
    await mkdir(join(at, '1_Pooling'));
    const files = {
      'config.json': await bytes('config.json'),
      'model.safetensors': await bytes('model.safetensors'),
      'tokenizer.json': json(WORDPIECE),
      'modules.json': json(MODULES),
      '1_Pooling/config.json': json(poolingBy('pooling_mode_max_tokens')),
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(at, name), content);
    const model = await hl.openModel(at);
    near([...model.embed(TEXTS).data], pooled(model, 'max', true), 1e-6);
    model.dispose();
  } finally {
    await rm(at, { recursive: true });
  }
});

const CHAT = [
  '{{ bos_token }}{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}',
  '{% if add_generation_prompt %}is{% endif %}',
].join('');

/** Opens a tiny Llama whose tokenizer adds [CLS] at the beginning, with more or replaced files. */
async function openLlama(more) {
  const at = join(GOLDEN, 'models', 'llama-a');
  const file = (name) => readFile(join(at, name));
  return hl.openModel({
    'config.json': await file('config.json'),
    'model.safetensors': await file('model.safetensors'),
    'tokenizer.json': json({ ...WORDPIECE, post_processor: { ...WORDPIECE.post_processor, sep: ['[SEP]', 3] } }),
    ...more,
  });
}

test('chat: the text of messages by the template in tokenizer_config.json or chat_template.jinja', async () => {
  const messages = [{ role: 'the', content: 'whale' }];
  const config = { chat_template: CHAT, bos_token: { content: '[CLS]', special: true }, eos_token: '[SEP]' };
  const model = await openLlama({ 'tokenizer_config.json': json(config) });
  assert.equal(model.chat(messages), '[CLS]the whale is');
  assert.equal(model.chat(messages, { answer: false }), '[CLS]the whale ');
  const text = model.chat(messages);
  const { ids } = await model.generate(text, { max: 4, stop: [] });
  const once = model.encode(text).ids.slice(1);
  assert.deepEqual(ids, (await model.generate(once, { max: 4, stop: [] })).ids, 'one token at the beginning');
  assert.deepEqual(model.next(text), model.next(once));
  fails(() => model.chat([]), 'ARGUMENT', /^chat: messages is .*expected a list of messages/);
  fails(() => model.chat([{ content: 'a' }]), 'ARGUMENT', /^chat: messages\[0\] is/);
  fails(() => model.chat(messages, { tools: {} }), 'ARGUMENT', /^chat: tools is/);
  fails(() => model.chat(messages, { tool: [] }), 'ARGUMENT', /tool/);
  fails(() => model.chat(messages, { signal: null }), 'ARGUMENT', /^chat: signal is/);
  const { signal } = new AbortController();
  assert.equal(await model.chat(messages, { signal }), model.chat(messages), 'a promise with a signal');
  await assert.rejects(model.chat(messages, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(model.chat([], { signal }), { code: 'ARGUMENT' });
  model.dispose();
  const other = await openLlama({
    'tokenizer_config.json': json({
      ...config,
      chat_template: [{ name: 'tool_use', template: 'T{{ tools | length }}' }],
    }),
    'chat_template.jinja': new TextEncoder().encode('{{ messages[0].content }}{{ enable_thinking }}{{ eos_token }}'),
  });
  assert.equal(other.chat(messages), 'whale[SEP]');
  assert.equal(other.chat(messages, { think: false }), 'whaleFalse[SEP]');
  assert.equal(other.chat(messages, { tools: [{}, {}] }), 'T2');
  other.dispose();
  const without = await openLlama({});
  fails(() => without.chat(messages), 'STATE', /^chat: the files of this model have no chat template/);
  without.dispose();
});

test('chat: a saved folder has the templates and the special tokens that they read', async () => {
  const messages = [{ role: 'the', content: 'whale' }];
  const specials = { bos_token: '[CLS]', eos_token: '[SEP]' };
  const named = [
    { name: 'default', template: CHAT },
    { name: 'tool_use', template: `tools ${CHAT}` },
  ];
  for (const chat_template of [CHAT, named, named.slice(1)]) {
    const model = await openLlama({ 'tokenizer_config.json': json({ chat_template, ...specials }) });
    const files = await model.saveFolder();
    assert.equal('chat_template.jinja' in files, chat_template === CHAT);
    const opened = await hl.openModel(files);
    for (const options of [{ tools: [] }, ...(chat_template.length > 1 ? [{}] : [])])
      assert.equal(opened.chat(messages, options), model.chat(messages, options));
    for (const one of [model, opened]) one.dispose();
  }
  const without = await openLlama();
  assert.equal(
    Object.keys(await without.saveFolder())
      .join()
      .includes('chat'),
    false,
  );
  without.dispose();
});

test('chat: with room, the oldest turns are left out until an answer of this length fits', async () => {
  const config = { chat_template: CHAT, bos_token: '[CLS]' };
  const model = await openLlama({ 'tokenizer_config.json': json(config) });
  const { context } = model.options;
  const messages = [{ role: 'system', content: 'white' }];
  for (let turn = 0; turn < 20; turn++) {
    messages.push({ role: 'user', content: (turn % 2 ? 'the whale ' : 'a ship ').repeat(20) });
    const text = model.chat(messages, { room: 4 });
    const { ids, ended } = await model.generate(text, { max: 4, stop: [] });
    assert.equal(ids.length, 4, ended);
    assert.match(text, /^\[CLS\]system white user .*is$/);
    messages.push({ role: 'assistant', content: 'black' });
  }
  const asked = messages.slice(0, -1);
  await assert.rejects(async () => model.generate(model.chat(asked), { max: 4 }), { code: 'SHAPE' });
  const { signal } = new AbortController();
  assert.equal(await model.chat(asked, { room: 4, signal }), model.chat(asked, { room: 4 }));
  const free = (room) => model.encode(model.chat(asked, { room })).ids.length - 1;
  assert.ok(free(0) <= context && free(0) > free(60));
  const long = [...asked, { role: 'user', content: 'whale '.repeat(context) }];
  fails(() => model.chat(long, { room: 4 }), 'SHAPE', /^chat: messages has shape .*the newest message does not fit/);
  await assert.rejects(model.chat(long, { room: 4, signal }), { code: 'SHAPE', parameter: 'messages' });
  for (const room of [-1, 0.5, context, '4'])
    fails(() => model.chat(asked, { room }), 'ARGUMENT', /^chat: room is .*an integer of at least 0 and at most/);
  model.tokenizer = undefined;
  fails(() => model.chat(asked, { room: 4 }), 'STATE', /no tokenizer/);
  model.dispose();
});

test('chat: the templates and special tokens of a GGUF file', () => {
  const metadata = {
    'tokenizer.ggml.tokens': ['<unk>', '<s>', '</s>'],
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.chat_template': CHAT,
  };
  assert.deepEqual(ggufChatSource(metadata), {
    templates: { default: CHAT },
    specials: { bos_token: '<s>', eos_token: '</s>' },
  });
  assert.equal(ggufChatSource({}), undefined);
});
