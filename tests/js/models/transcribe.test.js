// Tests transcription: models that give a letter for each frame (CTC), and Whisper.

import assert from 'node:assert/strict';
import test from 'node:test';
import { logMel, resample } from 'headlight-attention/formats';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const filesOf = (name) => families.find((family) => family.name === name).files;
const withFields = (files, fields) => ({
  ...files,
  'config.json': json({ ...JSON.parse(new TextDecoder().decode(files['config.json'])), ...fields }),
});
const RATE = 16000;
const tone = (length, rate = RATE) => Float32Array.from({ length }, (_, i) => Math.sin((i * i * 3e5) / rate ** 2 + i));

const VOCAB = { '<pad>': 0, '<unk>': 1, '|': 2, A: 3, B: 4, C: 5, D: 6 };
/** Returns the files with changes. undefined removes a file. */
const changedFiles = (files, changed) =>
  Object.fromEntries(Object.entries({ ...files, ...changed }).filter(([, bytes]) => bytes !== undefined));
const SPEECH = {
  ...filesOf('wav2vec 2.0'),
  'vocab.json': json(VOCAB),
  'preprocessor_config.json': json({ do_normalize: true, sampling_rate: RATE, feature_size: 1 }),
  'tokenizer_config.json': json({ pad_token: '<pad>', unk_token: '<unk>', word_delimiter_token: '|' }),
};
const openSpeech = (changed = {}) => hl.openModel(changedFiles(SPEECH, changed));

/** Returns the text by the definition of CTC: of each run of equal letters one is kept, then blanks are removed. */
function textOf({ data, shape: [frames, count] }, letters) {
  const best = Array.from({ length: frames }, (_, t) => {
    const row = [...data.slice(t * count, (t + 1) * count)];
    return row.indexOf(Math.max(...row));
  });
  const runs = best.filter((id, t) => id !== best[t - 1]).filter((id) => id !== 0);
  return {
    ids: runs,
    text: runs
      .map((id) => letters[id])
      .join('')
      .replaceAll('|', ' ')
      .trim(),
  };
}

test('a model with a head for letters transcribes normalized samples', async () => {
  const model = await openSpeech();
  const samples = tone(400).map((x) => 0.1 * x + 0.3);
  const mean = samples.reduce((a, b) => a + b, 0) / 400;
  const scale = Math.sqrt(samples.reduce((a, b) => a + (b - mean) ** 2, 0) / 400 + 1e-7);
  const normal = samples.map((x) => (x - mean) / scale);
  const { samples: read } = await model.sound(samples);
  assert.deepEqual(read.shape, [1, 400]);
  read.data.forEach((x, i) => assert.ok(Math.abs(x - normal[i]) < 1e-5));
  const { logits } = model.forward({ samples: normal });
  const got = await model.transcribe(samples);
  const { ids, text } = textOf(logits, Object.keys(VOCAB));
  assert.ok(text.length > 3, text);
  assert.deepEqual([got.text, got.ids], [text, ids]);
  assert.equal(got.logProbs.length, ids.length);
  assert.ok(got.logProbs.every((x) => x <= 0 && x > Math.log(1 / 7) - 1e-6));
  // Each frame begins six samples after the previous one.
  assert.ok(
    got.seconds.every((x, i, all) => x >= 0 && x < 400 / RATE && (i === 0 || x >= all[i - 1] + 6 / RATE - 1e-9)),
  );
  assert.equal(model.decode(got.ids).trim(), text);
  model.dispose();
});

test('equal letters are separated by a blank, and a frame begins after its strides', async () => {
  // This model gives the letter B where the first hidden channel is above its median, and a blank elsewhere.
  const model = await openSpeech();
  const { parameters } = model;
  const hidden = model.forward({ samples: tone(400) }).hidden.toArray();
  parameters['head.weight'].data.fill(0);
  parameters['head.weight'].data[0] = -9;
  const middle = hidden.map(([first]) => first).sort((a, b) => a - b)[hidden.length >> 1];
  parameters['head.bias'].data.set([9 * middle, -99, -99, -99, 0, -99, -99]);
  const raw = await openSpeech({ 'preprocessor_config.json': json({ do_normalize: false }) });
  raw.loadStateDict(Object.fromEntries(Object.entries(parameters)));
  const { text, seconds } = await raw.transcribe(tone(400));
  const letters = hidden.map(([first]) => first > middle);
  const starts = letters.flatMap((is, t) => (is && !letters[t - 1] ? [t] : []));
  assert.ok(starts.length > 1);
  assert.equal(text, 'B'.repeat(starts.length));
  seconds.forEach((x, i) => assert.ok(Math.abs(x - (starts[i] * 6) / RATE) < 1e-9));
  raw.dispose();
  model.dispose();
});

test('do_normalize and another rate', async () => {
  const plain = await openSpeech({ 'preprocessor_config.json': json({ do_normalize: false, sampling_rate: RATE }) });
  assert.deepEqual((await plain.sound([0.5, 1, 2])).samples.data, Float32Array.of(0.5, 1, 2));
  const samples = tone(800, 32000);
  assert.deepEqual(
    (await plain.sound(samples, { rate: 32000 })).samples.data,
    Float32Array.from(resample(samples, 32000, RATE)),
  );
  const slow = await openSpeech({ 'preprocessor_config.json': json({ do_normalize: false, sampling_rate: 8000 }) });
  assert.deepEqual((await slow.sound([1, 2, 3])).samples.data, Float32Array.of(1, 2, 3));
  await assert.rejects(plain.sound([1], { rates: 1 }), { code: 'ARGUMENT', parameter: 'rates' });
  plain.dispose();
  slow.dispose();
});

test('the letters of vocab.json are a tokenizer', async () => {
  const model = await openSpeech();
  const { ids, tokens, offsets } = model.encode('AB é');
  assert.deepEqual(
    [ids, tokens],
    [
      [3, 4, 2, 1],
      ['A', 'B', '|', '<unk>'],
    ],
  );
  assert.deepEqual(offsets, [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
  ]);
  assert.equal(model.decode([3, 0, 3, 2, 6]), 'AA D');
  assert.deepEqual(
    [model.tokenizer.idOf('C'), model.tokenizer.tokenOf(5), model.tokenizer.idOf('Z')],
    [5, 'C', undefined],
  );
  model.dispose();
  const settings = { do_lower_case: true, pad_token: { content: 'D' }, word_delimiter_token: 'C' };
  const lower = await openSpeech({ 'tokenizer_config.json': json(settings) });
  assert.deepEqual(lower.encode('a b').ids, [3, 5, 4]);
  assert.equal(lower.decode([3, 6, 5, 4]), 'a b');
  assert.throws(() => lower.encode('z'), { code: 'ARGUMENT', parameter: 'text' });
  lower.dispose();
  await assert.rejects(openSpeech({ 'vocab.json': json({ A: 'b' }) }), { code: 'FORMAT', parameter: 'vocab.json' });
  await assert.rejects(openSpeech({ 'vocab.json': json(7) }), { code: 'FORMAT', parameter: 'vocab.json' });
  const added = await openSpeech({ 'added_tokens.json': json({ '<s>': 7 }) });
  assert.equal(added.tokenizer.idOf('<s>'), 7);
  added.dispose();
});

const WORDS = ['<|end|>', '<|start|>', '<|en|>', '<|fr|>', '<|transcribe|>', '<|translate|>', '<|notimestamps|>'];
const [END, START, EN, FR, TRANSCRIBE, TRANSLATE, SILENT] = WORDS.keys();
const TOKENS = [...WORDS, ...'abcdefghijklmnop'];
const TOKENIZER = {
  version: '1.0',
  added_tokens: WORDS.map((content, id) => ({
    ...{ id, content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
  })),
  ...{ normalizer: null, pre_tokenizer: null, post_processor: null, decoder: { type: 'Fuse' } },
  model: { type: 'BPE', vocab: Object.fromEntries(TOKENS.map((token, id) => [token, id])), merges: [] },
};
const GENERATION = {
  ...{ decoder_start_token_id: START, eos_token_id: END, is_multilingual: true, no_timestamps_token_id: SILENT },
  ...{ lang_to_id: { '<|en|>': EN, '<|fr|>': FR }, task_to_id: { transcribe: TRANSCRIBE, translate: TRANSLATE } },
  ...{ suppress_tokens: [START, EN, FR, 7], begin_suppress_tokens: [8, END] },
  forced_decoder_ids: [
    [1, null],
    [2, TRANSCRIBE],
  ],
};
// The feature extractor is set to one second of sound, which has as many frames as the context of the tiny model.
const WHISPER = {
  ...filesOf('Whisper'),
  'tokenizer.json': json(TOKENIZER),
  'generation_config.json': json(GENERATION),
  'preprocessor_config.json': json({ feature_size: 5, n_fft: 400, hop_length: 160, sampling_rate: RATE }),
};

/** Opens a Whisper for one second of sound. Its table of positions is repeated. */
async function openWhisper(changed = {}) {
  const tiny = await hl.openModel(changedFiles(WHISPER, changed));
  const { options } = tiny;
  const model = hl.transformer({ ...options, encoder: { ...options.encoder, context: 50 } });
  const tensors = Object.fromEntries(Object.entries(tiny.parameters));
  const { data, shape } = tensors['encoder.embedding.position'];
  tensors['encoder.embedding.position'] = {
    data: Float32Array.from({ length: 50 * shape[1] }, (_, i) => data[i % data.length]),
    shape: [50, shape[1]],
  };
  model.loadStateDict(tensors);
  for (const name of ['preprocessor', 'generation', 'generationConfig', 'tokenizer']) model[name] = tiny[name];
  tiny.dispose();
  return model;
}

/** Generates tokens greedily after a prompt, without the tokens that the files suppress, until the end token. */
function expectedAfter(model, features, prompt) {
  const ids = [...prompt];
  while (ids.length < model.options.context + 1) {
    const { logits } = model.forward({ encoder: { features }, ids }, { last: true });
    const row = [...logits.data];
    const hidden = [START, EN, FR, 7, ...(ids.length === prompt.length ? [8, END] : [])];
    for (const id of hidden) row[id] = -Infinity;
    const id = row.indexOf(Math.max(...row));
    if (id === END) break;
    ids.push(id);
  }
  return ids.slice(prompt.length);
}

test('Whisper transcribes: language, task and no times are its prompt', async () => {
  const model = await openWhisper();
  const samples = tone(RATE);
  const features = logMel(samples, { bins: 5, seconds: 1 });
  assert.deepEqual(await model.sound(samples), { features });
  const { logits } = model.forward({ encoder: { features }, ids: [START] });
  const likeliest = logits.data[EN] > logits.data[FR] ? 'en' : 'fr';
  for (const [options, language, prompt] of [
    [{}, likeliest, [START, likeliest === 'en' ? EN : FR, TRANSCRIBE, SILENT]],
    [{ language: 'en' }, 'en', [START, EN, TRANSCRIBE, SILENT]],
    [{ language: 'fr', task: 'translate' }, 'fr', [START, FR, TRANSLATE, SILENT]],
  ]) {
    const given = [];
    const got = await model.transcribe(samples, { ...options, onToken: ({ id }) => given.push(id) });
    const expected = expectedAfter(model, features, prompt);
    assert.deepEqual(got.ids, expected);
    assert.deepEqual(given, expected);
    assert.equal(got.language, language);
    assert.equal(got.text, expected.map((id) => (id < WORDS.length ? '' : TOKENS[id])).join(''));
    assert.equal(got.logProbs.length, expected.length);
  }
  model.dispose();
});

test('Whisper of one language, and files without tables of languages', async () => {
  const samples = tone(8000);
  const features = logMel(samples, { bins: 5, seconds: 1 });
  const { is_multilingual, lang_to_id, task_to_id, no_timestamps_token_id, ...bare } = GENERATION;
  const english = await openWhisper({ 'generation_config.json': json({ ...bare, is_multilingual: false }) });
  const got = await english.transcribe(samples);
  assert.deepEqual(got.ids, expectedAfter(english, features, [START, SILENT]));
  assert.equal(got.language, undefined);
  await assert.rejects(english.transcribe(samples, { language: 'en' }), { code: 'ARGUMENT', parameter: 'language' });
  await assert.rejects(english.transcribe(samples, { task: 'translate' }), { code: 'ARGUMENT', parameter: 'task' });
  english.dispose();
  const older = await openWhisper({ 'generation_config.json': json(bare) });
  const read = await older.transcribe(samples, { language: 'fr' });
  assert.deepEqual(read.ids, expectedAfter(older, features, [START, FR, TRANSCRIBE, SILENT]));
  older.dispose();
  // If the tokenizer lacks the tokens for languages and tasks, the tokens that the files force are used.
  const forced = { decoder_start_token_id: START, eos_token_id: END, forced_decoder_ids: [[1, 9]] };
  const other = new TextDecoder().decode(json(TOKENIZER)).replaceAll('<|', '<<');
  const old = await openWhisper({
    'generation_config.json': json(forced),
    'tokenizer.json': new TextEncoder().encode(other),
  });
  const { ids } = await old.transcribe(samples);
  assert.deepEqual(ids, (await old.generate({ encoder: { features }, ids: [START] })).ids);
  assert.equal(ids[0], 9);
  old.dispose();
});

test('a Whisper for a fraction of a second transcribes a sound that is shorter than its input', async () => {
  const model = await hl.openModel(WHISPER);
  const seconds = (2 * model.options.encoder.context) / 100;
  assert.ok(seconds < 1);
  const { text } = await model.transcribe(tone(9), { language: 'en' });
  assert.equal(typeof text, 'string');
  const { features } = await model.sound(tone(9));
  assert.deepEqual(features.shape, [1, 5, 100 * seconds]);
  model.dispose();
});

test('what cannot be transcribed is refused by name', async () => {
  const refused = async (model, given, expected, options) => {
    await assert.rejects(model.transcribe(given, options), expected);
    model.dispose();
  };
  const state = (message) => ({ code: 'STATE', message });
  await refused(await openWhisper(), tone(RATE + 1), { code: 'ARGUMENT', parameter: 'samples' });
  await refused(await openWhisper(), tone(9), { code: 'ARGUMENT', parameter: 'language' }, { language: 'de' });
  await refused(await openWhisper(), tone(9), { code: 'ARGUMENT', parameter: 'task' }, { task: 'sing' });
  await refused(await openWhisper(), tone(9), { code: 'ARGUMENT', parameter: 'langauge' }, { langauge: 'en' });
  await refused(
    await openWhisper({ 'preprocessor_config.json': json({ n_fft: 512 }) }),
    tone(9),
    state(/n_fft is 512/),
  );
  for (const [field, value] of Object.entries({ dither: 1e-5, chunk_length: 30, feature_extractor_type: 'Clap' }))
    await refused(
      await openWhisper({ 'preprocessor_config.json': json({ [field]: value }) }),
      tone(9),
      state(new RegExp(`${field} is ${value}, expected`)),
    );
  await refused(await openSpeech(), tone(90), { code: 'ARGUMENT', parameter: 'language' }, { language: 'en' });
  await refused(await openSpeech(), tone(9), { code: 'SHAPE', parameter: 'samples' });
  await refused(await openSpeech(), 'hello', { code: 'ARGUMENT', parameter: 'samples' });
  await refused(await openSpeech(), tone(90), { code: 'ARGUMENT', parameter: 'rate' }, { rate: 1 });
  await refused(await openSpeech({ 'vocab.json': undefined }), tone(90), state(/vocab\.json/));
  await refused(await hl.openModel(filesOf('wav2vec 2.0')), tone(90), state(/preprocessor_config\.json/));
  await refused(await hl.openModel(filesOf('GPT-NeoX')), tone(90), state(/does not read sound/));
  const headless = withFields(filesOf('HuBERT without a head'), {});
  const files = { ...headless, 'preprocessor_config.json': SPEECH['preprocessor_config.json'] };
  await refused(await hl.openModel(files), tone(90), state(/no head for letters/));
});
