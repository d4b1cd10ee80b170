import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readGeneration } from '../../../../src/js/models/checkpoint/folder/generationConfig.ts';
import { GOLDEN } from '../../../support/golden.js';
import { hl } from '../../../support/headlight.js';

const read = (folder) =>
  Object.fromEntries(
    readdirSync(join(GOLDEN, 'models', folder))
      .filter((name) => !name.startsWith('expected'))
      .map((name) => [name, new Uint8Array(readFileSync(join(GOLDEN, 'models', folder, name)))]),
  );
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const files = read('llama-a');
const { eos_token_id: _, ...config } = JSON.parse(new TextDecoder().decode(files['config.json']));
const folder = (changes, generation) => ({
  ...files,
  'config.json': json({ ...config, ...changes }),
  ...(generation && { 'generation_config.json': json(generation) }),
});
const IDS = [5, 17, 80, 3];

// Published generation_config.json files, without the lists of languages and alignment heads.
const PUBLISHED = {
  'Llama 3.1 Instruct': [
    {
      bos_token_id: 128000,
      do_sample: true,
      eos_token_id: [128001, 128008, 128009],
      temperature: 0.6,
      top_p: 0.9,
      transformers_version: '4.42.3',
    },
    { stop: [128001, 128008, 128009], temperature: 0.6, topK: 50, topP: 0.9 },
  ],
  'Gemma 2': [
    {
      _from_model_config: true,
      bos_token_id: 2,
      cache_implementation: 'hybrid',
      eos_token_id: 1,
      pad_token_id: 0,
      transformers_version: '4.42.0.dev0',
    },
    { stop: [1] },
  ],
  'Gemma 3': [
    {
      bos_token_id: 2,
      cache_implementation: 'hybrid',
      do_sample: true,
      eos_token_id: [1, 106],
      pad_token_id: 0,
      top_k: 64,
      top_p: 0.95,
      transformers_version: '4.50.0.dev0',
    },
    { stop: [1, 106], temperature: 1, topK: 64, topP: 0.95 },
  ],
  'Qwen 2.5 Instruct': [
    {
      bos_token_id: 151643,
      pad_token_id: 151643,
      do_sample: true,
      eos_token_id: [151645, 151643],
      repetition_penalty: 1.05,
      temperature: 0.7,
      top_p: 0.8,
      top_k: 20,
      transformers_version: '4.37.0',
    },
    { stop: [151645, 151643], temperature: 0.7, topK: 20, topP: 0.8, repetitionPenalty: 1.05 },
  ],
  Whisper: [
    {
      alignment_heads: [[2, 2]],
      begin_suppress_tokens: [220, 50257],
      bos_token_id: 50257,
      decoder_start_token_id: 50258,
      eos_token_id: 50257,
      forced_decoder_ids: [
        [1, null],
        [2, 50359],
      ],
      is_multilingual: true,
      lang_to_id: { '<|en|>': 50259 },
      max_initial_timestamp_index: 50,
      max_length: 448,
      no_timestamps_token_id: 50363,
      pad_token_id: 50257,
      prev_sot_token_id: 50361,
      return_timestamps: false,
      suppress_tokens: [1, 2, 7, 50358],
      task_to_id: { transcribe: 50359, translate: 50358 },
      transformers_version: '4.31.0.dev0',
    },
    { stop: [50257], suppress: [1, 2, 7, 50358], suppressFirst: [220, 50257], forced: [[2, 50359]], start: 50258 },
  ],
  T5: [
    {
      _from_model_config: true,
      decoder_start_token_id: 0,
      eos_token_id: 1,
      pad_token_id: 0,
      transformers_version: '4.27.0.dev0',
    },
    { stop: [1], start: 0 },
  ],
  'GPT-2': [
    { _from_model_config: true, bos_token_id: 50256, eos_token_id: 50256, transformers_version: '4.26.0.dev0' },
    { stop: [50256] },
  ],
};

for (const [name, [generation, expected]] of Object.entries(PUBLISHED))
  test(`the generation_config.json of ${name} gives the expected defaults`, async () => {
    const ignored = name === 'Whisper' ? ['max_length'] : [];
    assert.deepEqual({ ...readGeneration({}, generation) }, { ...expected, ignored });
    const model = await hl.openModel(folder({}, generation));
    assert.deepEqual({ ...model.generation }, { ...expected, ignored });
    model.dispose();
  });

test('without generation_config.json the defaults come from config.json and its text_config', () => {
  const fields = { eos_token_id: 7, do_sample: true, temperature: 0.5, top_k: 0, forced_bos_token_id: 3 };
  assert.deepEqual({ ...readGeneration(fields) }, { stop: [7], temperature: 0.5, forced: [[1, 3]], ignored: [] });
  assert.deepEqual({ ...readGeneration({ text_config: { eos_token_id: [1, 2] } }) }, { stop: [1, 2], ignored: [] });
  assert.deepEqual({ ...readGeneration({ eos_token_id: 4, temperature: 2 }, {}) }, { stop: [4], ignored: [] });
  assert.deepEqual({ ...readGeneration({ eos_token_id: null, suppress_tokens: null }) }, { ignored: [] });
});

test('invalid fields are refused by openModel, and the error names the file', async () => {
  const { used } = hl.info.memory;
  const refused = async (source, file, field) =>
    assert.rejects(hl.openModel(source), (error) => {
      assert.ok(error instanceof HeadlightError, error.stack);
      assert.deepEqual([error.code, error.parameter], ['FORMAT', field]);
      assert.ok(error.message.startsWith(`openModel: ${file}: ${field} is `), error.message);
      return true;
    });
  for (const eos of [[1, null], 'x', -1, 1.5, {}]) {
    await refused(folder({ eos_token_id: eos }), 'config.json', 'eos_token_id');
    await refused(folder({}, { eos_token_id: eos }), 'generation_config.json', 'eos_token_id');
  }
  for (const [field, value] of Object.entries({
    do_sample: 'yes',
    temperature: '1',
    top_k: -1,
    top_p: 2,
    repetition_penalty: 0,
    suppress_tokens: [null],
    begin_suppress_tokens: 'a',
    forced_decoder_ids: [[1]],
    forced_bos_token_id: [1],
    decoder_start_token_id: 'a',
    no_repeat_ngram_size: 1.5,
    min_length: -1,
    min_new_tokens: '1',
    bad_words_ids: [3],
    forced_eos_token_id: 'a',
  }))
    await refused(folder({}, { do_sample: true, [field]: value }), 'generation_config.json', field);
  await assert.rejects(hl.openModel({ ...folder({}), 'generation_config.json': json([]) }), /generation_config\.json/);
  assert.equal(hl.info.memory.used, used);
});

test('generate uses the defaults of the model, and options override them', async () => {
  const plain = await hl.openModel(folder({}));
  const greedy = await plain.generate(IDS, { max: 8 });
  const drawn = await plain.generate(IDS, { max: 8, temperature: 1.5, topK: 50, topP: 0.9, seed: 3 });
  plain.dispose();

  const sampling = { do_sample: true, temperature: 1.5, top_p: 0.9 };
  const model = await hl.openModel(folder({}, sampling));
  assert.deepEqual(await model.generate(IDS, { max: 8, seed: 3 }), drawn);
  assert.deepEqual(await model.generate(IDS, { max: 8, temperature: 0 }), greedy);
  model.dispose();

  const end = greedy.ids[2];
  const kept = greedy.ids.slice(0, greedy.ids.indexOf(end));
  const stopping = await hl.openModel(folder({}, { eos_token_id: [3, end], temperature: 1.5 }));
  const { ids, ended } = await stopping.generate(IDS, { max: 8 });
  assert.deepEqual([ids, ended], [kept, 'stop']);
  assert.deepEqual((await stopping.generate(IDS, { max: 8, stop: [] })).ids, greedy.ids);
  stopping.dispose();

  const suppressing = await hl.openModel(folder({}, { suppress_tokens: greedy.ids }));
  const others = await suppressing.generate(IDS, { max: 8 });
  assert.ok(others.ids.every((id) => !greedy.ids.includes(id)));
  assert.deepEqual((await suppressing.generate(IDS, { max: 8, suppress: [] })).ids, greedy.ids);
  suppressing.dispose();
});

test('saveFolder writes generation_config.json', async () => {
  const [generation, expected] = PUBLISHED['Gemma 3'];
  const model = await hl.openModel(folder({}, generation));
  const again = await hl.openModel(await model.saveFolder());
  assert.deepEqual({ ...again.generation }, { ...expected, ignored: [] });
  for (const made of [model, again]) made.dispose();
});

test('openModel rejects if onProgress rejects, and all memory is freed', async () => {
  const { used } = hl.info.memory;
  const onProgress = async () => Promise.reject(new Error('no progress can be shown'));
  await assert.rejects(hl.openModel(folder({}), { onProgress }), /no progress can be shown/);
  assert.equal(hl.info.memory.used, used);
});

test('a decoder with an encoder begins with decoder_start_token_id, followed by forced tokens', async () => {
  const t5 = { ...read('t5-a') };
  const open = (generation) => hl.openModel({ ...t5, 'generation_config.json': json(generation) });
  const encoder = [3, 9, 4];
  const first = await open({ decoder_start_token_id: 5 });
  const expected = await first.generate({ encoder, ids: [5] }, { max: 4, stop: [] });
  assert.deepEqual(await first.generate(encoder, { max: 4, stop: [] }), expected);
  first.dispose();
  const forced = await open({
    decoder_start_token_id: 5,
    forced_decoder_ids: [
      [1, 7],
      [2, null],
      [3, 8],
    ],
  });
  const { ids } = await forced.generate(encoder, { max: 4, stop: [] });
  assert.deepEqual([ids[0], ids[2]], [7, 8]);
  forced.dispose();
});
