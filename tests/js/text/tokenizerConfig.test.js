// Tests that a tokenizer obeys the settings of the tokenizer_config.json next to it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { openTokenizerJson } from '../../../src/js/models/checkpoint/folder/smallFiles.ts';
import { GOLDEN } from '../../support/golden.js';

const json = (value) => new TextEncoder().encode(JSON.stringify(value));

/** Opens a tokenizer.json with settings as a model of this type. */
function open(file, settings, modelType) {
  const files = { 'tokenizer.json': json(file), ...(settings && { 'tokenizer_config.json': json(settings) }) };
  const folder = {
    size: async (name) => files[name]?.length ?? null,
    read: async (name, begin, end) => files[name].slice(begin, end),
    readInner: async (name) => files[name],
  };
  return openTokenizerJson(folder, modelType);
}

const idsOf = async (text, ...given) => (await open(...given)).tokenizer.encode(text).ids;

const special = (id, content) => ({ id, content, special: true, normalized: false });
const LLAMA = {
  added_tokens: [special(1, '<s>'), special(2, '</s>')],
  post_processor: null,
  model: { type: 'BPE', vocab: { a: 0, '<s>': 1, '</s>': 2, b: 3, '<pad>': 4 }, merges: [] },
};
const TOKENS = { tokenizer_class: 'LlamaTokenizer', bos_token: '<s>', eos_token: { content: '</s>' } };

test('Llama: add_bos_token, true by default, and add_eos_token decide the tokens around a text', async () => {
  assert.deepEqual(await idsOf('ab', LLAMA), [0, 3]);
  assert.deepEqual(await idsOf('ab', LLAMA, TOKENS), [1, 0, 3]);
  assert.deepEqual(await idsOf('ab', LLAMA, { ...TOKENS, add_bos_token: false }), [0, 3]);
  assert.deepEqual(await idsOf('ab', LLAMA, { ...TOKENS, add_eos_token: true }), [1, 0, 3, 2]);
  const { tokenizer, file } = await open(LLAMA, { ...TOKENS, add_bos_token: false, add_eos_token: true });
  assert.deepEqual(tokenizer.encode('a', 'b').ids, [0, 2, 3, 2]);
  assert.deepEqual(tokenizer.encode('a', 'b').typeIds, [0, 0, 1, 1]);
  // The file that a save writes has the settings in it.
  assert.deepEqual(await idsOf('ab', JSON.parse(new TextDecoder().decode(file))), [0, 3, 2]);
});

test('the class of a tokenizer decides, without one model_type; other classes ignore add_bos_token', async () => {
  const { tokenizer_class: _, ...rest } = TOKENS;
  assert.deepEqual(await idsOf('ab', LLAMA, rest, 'llama'), [1, 0, 3]);
  assert.deepEqual(await idsOf('ab', LLAMA, { ...rest, add_bos_token: true }, 'gpt2'), [0, 3]);
  const generic = { ...rest, tokenizer_class: 'PreTrainedTokenizerFast', add_bos_token: true };
  assert.deepEqual(await idsOf('ab', LLAMA, generic, 'llama'), [0, 3]);
  // A begin token that the vocabulary lacks leaves the file as it is.
  assert.deepEqual(await idsOf('ab', LLAMA, { tokenizer_class: 'GemmaTokenizer' }), [0, 3]);
});

test('added_tokens_decoder adds tokens that tokenizer.json lacks, and its flags count', async () => {
  const settings = {
    tokenizer_class: 'GPT2Tokenizer',
    added_tokens_decoder: {
      6: { content: '<two>', special: true },
      5: { content: '<one>', special: false, normalized: false, rstrip: true },
      2: { content: '</s>', special: true, normalized: false, lstrip: true },
    },
  };
  assert.deepEqual(await idsOf('a<one> b<two>', LLAMA), [0, 3]);
  const { tokenizer } = await open(LLAMA, settings);
  assert.deepEqual(tokenizer.encode('a<one> b<two>').ids, [0, 5, 3, 6]);
  assert.deepEqual(tokenizer.encode('a  </s>').offsets, [
    [0, 1],
    [1, 7],
  ]);
  assert.equal(tokenizer.decode([0, 5, 6]), 'a <one>');
});

test('a special token of the vocabulary is cut out of a text even if added_tokens has it not', async () => {
  const settings = { pad_token: '<pad>', mask_token: '<mask>', additional_special_tokens: ['b'] };
  const { tokenizer } = await open(LLAMA, settings);
  assert.deepEqual(tokenizer.encode('a<pad>b').ids, [0, 4, 3]);
  assert.equal(tokenizer.decode([0, 4, 3]), 'a');
  assert.equal(tokenizer.idOf('<mask>'), undefined, 'the model has no embedding for it');
});

const WORDS = ['[UNK]', 'é', 'e', 'É', '字', 'ab', '字ab'];
const BERT = {
  normalizer: { type: 'BertNormalizer', lowercase: true, strip_accents: null, handle_chinese_chars: true },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  model: { type: 'WordPiece', unk_token: '[UNK]', vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])) },
};

test('BERT: do_lower_case, strip_accents and tokenize_chinese_chars replace those of the normalizer', async () => {
  const bert = (settings, text) => idsOf(text, BERT, { tokenizer_class: 'BertTokenizer', ...settings });
  assert.deepEqual(await bert({}, 'É'), [2]);
  assert.deepEqual(await bert({ do_lower_case: false }, 'É'), [3]);
  assert.deepEqual(await bert({ strip_accents: false }, 'É'), [1]);
  assert.deepEqual(await bert({}, '字ab'), [4, 5]);
  assert.deepEqual(await bert({ tokenize_chinese_chars: false }, '字ab'), [6]);
  assert.deepEqual(await idsOf('É', BERT, { do_lower_case: false }, 'bert'), [3]);
  assert.deepEqual(await idsOf('É', BERT, { do_lower_case: false, tokenizer_class: 'PreTrainedTokenizerFast' }), [2]);
  const cased = { ...BERT, normalizer: { ...BERT.normalizer, lowercase: false } };
  assert.deepEqual(await idsOf('É', cased, { tokenizer_class: 'BertTokenizerFast' }), [2], 'true by default');
  assert.deepEqual(await idsOf('É', cased), [3], 'without settings the file decides');
});

test('add_prefix_space, false by default, replaces that of a byte-level pre-tokenizer', async () => {
  const file = {
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true, use_regex: true },
    model: { type: 'BPE', vocab: { a: 0, Ġ: 1 }, merges: [] },
  };
  assert.deepEqual(await idsOf('a', file), [1, 0]);
  assert.deepEqual(await idsOf('a', file, {}), [0]);
  assert.deepEqual(await idsOf('a', file, { add_prefix_space: true }), [1, 0]);
});

test('settings of a wrong form are ignored, and faults of tokenizer.json are named as before', async () => {
  const wrong = { ...TOKENS, added_tokens_decoder: 'x', additional_special_tokens: 5, bos_token: 7, add_eos_token: 1 };
  assert.deepEqual(await idsOf('ab', LLAMA, wrong), [1, 0, 3]);
  await assert.rejects(open('text', TOKENS), { code: 'FORMAT' });
  await assert.rejects(open({ ...LLAMA, added_tokens: 5 }, TOKENS), { code: 'FORMAT', parameter: 'added_tokens' });
  await assert.rejects(open({ ...LLAMA, model: null }, TOKENS), { code: 'FORMAT', parameter: 'model' });
});

test('openModel reads tokenizer_config.json beside tokenizer.json', async () => {
  const hl = await load({ threads: 1 });
  const at = join(GOLDEN, 'models', 'llama-a');
  const model = await hl.openModel({
    'config.json': await readFile(join(at, 'config.json')),
    'model.safetensors': await readFile(join(at, 'model.safetensors')),
    'tokenizer.json': json(LLAMA),
    'tokenizer_config.json': json({ ...TOKENS, add_eos_token: true }),
  });
  assert.deepEqual(model.encode('ab').ids, [1, 0, 3, 2]);
  assert.deepEqual((await hl.openTokenizer(json(LLAMA))).encode('ab').ids, [0, 3], 'one file is read as it is');
  model.dispose();
});
