// Tests the fields of config.json of M2M-100 and NLLB-200: defaults, unsupported values, and features that change the
// logits; and translation.

import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

const NAME = 'M2M-100';
const json = (value) => new TextEncoder().encode(JSON.stringify(value));

/** Returns the files with changed fields of config.json. undefined removes a field. */
function withFields(fields) {
  const { files } = families.find(({ name }) => name === NAME);
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { ...files, 'config.json': json({ ...config, ...fields }) };
}

const INPUT = { encoder: [5, 8, 2], ids: [2, 4, 9] };
async function logitsWith(fields, input = INPUT) {
  const model = await hl.openModel(withFields(fields));
  const logits = model.forward(input).logits.copy();
  model.dispose();
  return logits;
}

test('missing fields have the defaults of Hugging Face', async () => {
  const defaults = { activation_function: 'relu', scale_embedding: true, pad_token_id: 1, tie_word_embeddings: true };
  for (const [field, value] of Object.entries(defaults))
    assert.deepEqual(await logitsWith({ [field]: undefined }), await logitsWith({ [field]: value }), field);
  const model = await hl.openModel(withFields({ max_position_embeddings: undefined }));
  assert.equal(model.options.context, 1024);
  model.dispose();
});

test('each special feature changes the logits', async () => {
  const usual = await logitsWith({});
  for (const fields of [{ scale_embedding: false }, { activation_function: 'gelu' }, { pad_token_id: 0 }])
    assert.notDeepEqual(await logitsWith(fields), usual, JSON.stringify(fields));
  const { options, weights } = await hl.openModel(withFields({}));
  const tensors = Object.fromEntries([...weights].map(([name, { tensor }]) => [name, tensor]));
  const logitsOf = (changes) => {
    const encoder = { ...options.encoder, ...changes };
    const model = hl.transformer({ ...options, ...changes, encoder }).loadStateDict(tensors);
    const logits = model.forward(INPUT).logits.copy();
    model.dispose();
    return logits;
  };
  assert.deepEqual(logitsOf({}), usual);
  assert.notDeepEqual(logitsOf({ sinusoids: 'halves' }), usual);
  assert.notDeepEqual(logitsOf({ positionOffset: 3 }), usual);
});

test('positions do not count padding, also in the decoder and with a cache', async () => {
  const model = await hl.openModel(withFields({}));
  const ids = [1, 1, 4, 9];
  const padded = model.forward({ encoder: [5, 1, 8, 2], ids }, { capture: ['embed', 'encoder.embed'] });
  const plain = model.forward({ encoder: [5, 8, 2], ids: ids.slice(2) }, { capture: ['embed', 'encoder.embed'] });
  const rows = ({ captured }, name) => captured[name].toArray()[0];
  assert.deepEqual(rows(padded, 'embed').slice(2), rows(plain, 'embed'));
  assert.deepEqual(rows(padded, 'encoder.embed').slice(2), rows(plain, 'encoder.embed').slice(1));
  model.dispose();
});

test('fields that would change the numbers are refused by name', async () => {
  for (const fields of [
    { normalize_before: false },
    { normalize_embedding: true },
    { static_position_embeddings: false },
    { tie_word_embeddings: false },
    { share_encoder_decoder_embeddings: false },
    { activation_function: 'mish' },
  ])
    await assert.rejects(hl.openModel(withFields(fields)), { code: 'FORMAT', parameter: Object.keys(fields)[0] });
});

const WORDS = ['<s>', '<pad>', '</s>', '<unk>', '▁', 'a', 'b', 'c', '▁a', '▁b', 'ab', '▁ab', 'bc'];
/** A tokenizer.json like that of NLLB-200, with BPE, and with the language token before the text. */
const TOKENIZER = {
  version: '1.0',
  added_tokens: [...WORDS.slice(0, 4), 'eng_Latn', 'fra_Latn'].map((content, i) => ({
    ...{ id: i < 4 ? i : WORDS.length + i - 4, content, special: true, single_word: false },
    ...{ lstrip: false, rstrip: false, normalized: false },
  })),
  normalizer: null,
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: 'eng_Latn', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '</s>', type_id: 0 } },
    ],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
    special_tokens: {
      eng_Latn: { id: 'eng_Latn', ids: [WORDS.length], tokens: ['eng_Latn'] },
      '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] },
    },
  },
  decoder: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  model: {
    type: 'BPE',
    ...{ dropout: null, unk_token: '<unk>', fuse_unk: true, byte_fallback: false },
    vocab: Object.fromEntries(WORDS.map((word, i) => [word, i])),
    merges: ['▁ a', '▁ b', 'a b', '▁a b', 'b c'],
  },
};

test('generate translates: the first token is the language that is forced', async () => {
  const files = { ...withFields({ eos_token_id: 2, forced_bos_token_id: 14 }), 'tokenizer.json': json(TOKENIZER) };
  const model = await hl.openModel(files);
  const [english, french] = ['eng_Latn', 'fra_Latn'].map((token) => model.tokenizer.idOf(token));
  assert.deepEqual([english, french], [13, 14]);
  const { ids } = model.encode('ab bc');
  assert.deepEqual([...ids], [english, 11, 9, 7, 2]);
  for (const [options, language] of [
    [{}, french],
    [{ forced: [[1, english]] }, english],
  ]) {
    const result = await model.generate('ab bc', { max: 3, stop: [], ...options });
    const expected = [2, language];
    for (let i = 0; i < 2; i++) {
      const { logits } = model.forward({ encoder: [...ids], ids: expected }, { last: true });
      expected.push(logits.data.indexOf(Math.max(...logits.data)));
    }
    assert.deepEqual(result.ids, expected.slice(1));
  }
  model.dispose();
});
