// Tests models of sound as sources: the frames, the silence that is not shown, and the text of speech.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { readingOf } from '../../../../web/model/derivation.ts';
import { makeCheckpoint } from '../../../support/checkpoint.js';
import { families } from '../../../support/families.js';
import { hl } from '../../../support/headlight.js';
import { createWorker } from '../../../support/pageWorker.js';

const PROMPT = '<|en|><|transcribe|><|notimestamps|>';
function filesOf(name, without = []) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, name);
  const names = readdirSync(folder).filter((file) => !without.includes(file));
  return Object.fromEntries(names.map((file) => [file, new Uint8Array(readFileSync(join(folder, file)))]));
}
async function opened(name, without, change = (files) => files) {
  const worker = createWorker(hl);
  const files = change(filesOf(name, without));
  const { opened } = await worker.open(
    Object.entries(files).map(([path, bytes]) => ({ path, file: Object.assign(new Blob([bytes]), { name: path }) })),
  );
  return { worker, files, about: opened[0].about, summary: opened[0].summary };
}
const wave = (seconds, rate = 16000) => Float32Array.from({ length: seconds * rate }, (_, i) => Math.sin(i ** 2 / 9e5));
/** Returns the largest difference of two lists of numbers. */
const differs = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

test('frames up to the end of the sound are shown, and the weights of the silence after it are added', async () => {
  const { worker, files, about } = await opened('whisper');
  assert.deepEqual([about.reads, about.parts, about.prompt], ['sound', ['encoder', 'decoder', 'cross'], PROMPT]);
  const samples = wave(0.5);
  await worker.ask({ verb: 'sound', name: 'opened-1', samples, rate: 16000 });
  const state = { part: 'encoder', layer: 1, head: 2, second: PROMPT };
  const [run] = (await worker.show(state)).run;
  // The sound has 0.5 s, and 0.2 s of silence are shown after it. The model computes 2 s.
  assert.deepEqual([run.T, run.S, run.sound.step, run.sound.seconds], [35, undefined, 0.02, 0.5]);
  assert.equal(run.sound.unseen.toFixed(2), '1.30');
  assert.deepEqual([run.pieces[0].name, run.pieces[26].name], ['0.00 s', '0.52 s']);
  const { bins, columns, data } = run.sound.spectrogram;
  assert.deepEqual([bins, columns, data.length, Math.max(...data)], [80, 70, 5600, 255]);

  const model = await hl.openModel(files);
  const input = await model.sound(samples);
  const names = ['weights', 'scores', 'heads'].map((name) => `encoder.blocks.1.${name}`);
  const { captured } = model.forward({ encoder: input, ids: [422] }, { capture: names });
  const [weights, scores, heads] = names.map((name) => captured[name].copy());
  const rowOf = (numbers, t, width) => numbers.subarray((2 * 100 + t) * width, (2 * 100 + t + 1) * width);
  const all = (1 * 4 + 2) * 35 * 35;
  for (const t of [0, 17, 34]) {
    const shown = run.weights.subarray(all + t * 35, all + (t + 1) * 35);
    assert.ok(differs(shown, rowOf(weights, t, 100)) < 1e-6);
    assert.ok(differs(run.values.scores.subarray(t * 35, (t + 1) * 35), rowOf(scores, t, 100)) < 1e-5);
    const unseen = rowOf(weights, t, 100).subarray(35);
    assert.ok(Math.abs(unseen.reduce((a, b) => a + b) - run.values.unseen[t]) < 1e-5);
    const rest = rowOf(scores, t, 100).subarray(35);
    assert.ok(Math.abs(rest.reduce((a, b) => a + Math.exp(b), 0) / run.values.rest[t] - 1) < 1e-5);
    assert.ok(differs(run.values.mixture.subarray(t * 8, (t + 1) * 8), rowOf(heads, t, 8)) < 1e-6);
  }
  model.dispose();

  const [cross] = (await worker.show({ ...state, part: 'cross' })).run;
  assert.deepEqual([cross.T, cross.S, cross.keys[34].name], [4, 35, '0.68 s']);
  assert.deepEqual(
    cross.pieces.map(({ name }) => name),
    ['<|startoftranscript|>', '<|en|>', '<|transcribe|>', '<|notimestamps|>'],
  );
  assert.equal(cross.weights.length, 2 * 4 * 4 * 35);
  assert.equal(cross.top.length, 5, 'the next tokens are guessed');
  const [decoder] = (await worker.show({ ...state, part: 'decoder' })).run;
  assert.deepEqual([decoder.T, decoder.sound], [4, undefined], 'the keys of the decoder are not frames');
});

test('a head of the encoder that is off changes the guess, and a patch needs frames that are not shown', async () => {
  const { worker } = await opened('whisper');
  const state = { part: 'encoder', layer: 0, head: 1, second: PROMPT };
  const [off] = (await worker.show({ ...state, scale: { 'e0.1': 0 } })).comparison;
  const { run } = await worker.show({ ...state, scale: { 'e0.1': 0 } });
  assert.equal(off.kind, 'with');
  assert.ok(Math.abs(off.top[0] - run[0].top[0].now) > 1e-6);
  const pinned = { text: '', second: PROMPT, temperature: {}, mask: {}, painted: {}, scale: { eall: 0 }, patch: {} };
  const patched = await worker.show({ ...state, pinned, patch: { 'e0.1': 1 } });
  assert.ok(
    differs(
      patched.run[0].values.mixture,
      patched.run[0].values.mixture.map(() => 0),
    ) === 0,
  );
});

test('what a head adds is the sum over the frames that are shown and the silence after them', async () => {
  const { worker, files } = await opened('whisper');
  const samples = wave(0.5);
  await worker.ask({ verb: 'sound', name: 'opened-1', samples, rate: 16000 });
  const { run, source } = await worker.show({ part: 'cross', layer: 1, head: 2, second: PROMPT });
  const whole = { ...run[0], about: source[0].about };
  const added = whole.added.heads[1 * 4 + 2];
  const t = whole.T - 1;
  const shown = Array.from({ length: whole.S }, (_, s) => readingOf(whole, { t, s }).adds);
  const model = await hl.openModel(files);
  const names = ['weights', 'value'].map((name) => `blocks.1.cross.${name}`);
  const ids = model.encode(PROMPT).ids.filter((id) => id >= 422);
  const input = { encoder: await model.sound(samples), ids: [422, ...ids] };
  const { captured } = model.forward(input, { capture: names });
  const [weights, values] = names.map((name) => captured[name].copy());
  let silence = 0;
  for (let s = whole.S; s < 100; s++)
    for (let d = 0; d < 8; d++)
      silence +=
        weights[(2 * whole.T + t) * 100 + s] * values[(2 * 100 + s) * 8 + d] * whole.values.directions[t * 8 + d];
  model.dispose();
  const left = shown.reduce((rest, adds) => rest - adds, added);
  assert.ok(Math.abs(silence) > 1e-4 && Math.abs(left - silence) < 1e-5, `${left}, not ${silence}`);
});

test('a text that is longer than the decoder reads is cut', async () => {
  const { worker } = await opened('whisper');
  const second = PROMPT + ' They'.repeat(40);
  const [{ T, cut, place }] = (await worker.show({ part: 'cross', second })).run;
  assert.deepEqual([T, cut, place], [24, true, 23]);
});

test('each head of Whisper is switched off in turn', async () => {
  const { worker } = await opened('whisper');
  const { ablation } = await worker.askOf('ablate', { part: 'cross', text: '', second: PROMPT });
  const { switchedOff, before, total, measure } = ablation.at(-1);
  assert.deepEqual([total, switchedOff.length, measure], [24, 24, 'probability']);
  assert.ok(switchedOff.every(({ value }) => value !== before));
});

test('many weights are sent for one head, and small pictures of the others', async () => {
  const { worker } = await opened('wav2vec2');
  await worker.ask({ verb: 'sound', name: 'opened-1', samples: wave(17.5), rate: 16000 });
  const { run } = await worker.show({ layer: 1, head: 3 });
  assert.deepEqual([run[0].T, run[0].large, run[0].weights.length], [874, true, 874 ** 2]);
  assert.deepEqual(
    run[0].pictures.map(({ layer, head }) => `${layer}.${head}`),
    ['0.0', '0.1', '0.2', '0.3', '1.0', '1.1', '1.2', '1.3'],
  );
  const sums = [0, 500, 873].map((t) => run[0].weights.subarray(t * 874, (t + 1) * 874).reduce((a, b) => a + b));
  assert.ok(sums.every((sum) => Math.abs(sum - 1) < 1e-4));
});

test('the letters of frames spell the text that transcribe gives', async () => {
  const { worker, files } = await opened('wav2vec2');
  const samples = wave(1, 8000);
  await worker.ask({ verb: 'sound', name: 'opened-1', samples, rate: 8000 });
  const [{ letters, T, sound }] = (await worker.show()).run;
  const model = await hl.openModel(files);
  assert.equal(letters.text, (await model.transcribe(samples, { rate: 8000 })).text);
  model.dispose();
  assert.deepEqual([T, letters.top.length, letters.top[0].length, letters.blank], [49, 49, 5, 0]);
  assert.deepEqual([sound.spectrogram.columns, sound.unseen], [98, 0]);
  assert.ok(letters.top.every(([first, second]) => first.now >= second.now));
});

test('speech is written after the tokens of the likeliest language, or after those of the text', async () => {
  const { worker, files } = await opened('whisper');
  const samples = wave(0.5);
  await worker.ask({ verb: 'sound', name: 'opened-1', samples, rate: 16000 });
  const write = async (second) => {
    const { generated } = await worker.ask({
      verb: 'generate',
      state: {
        model: 'opened-1',
        text: '',
        second,
        ...{ temperature: {}, mask: {}, painted: {}, scale: {}, patch: {} },
      },
    });
    // transcribe omits the space before the first word.
    return generated.at(-1).text.replace('|> ', '|>');
  };
  const model = await hl.openModel(files);
  const { text, language } = await model.transcribe(samples);
  assert.equal(language, 'de');
  assert.equal(await write(PROMPT), `<|de|><|transcribe|><|notimestamps|>${text}`);
  const other = await model.transcribe(samples, { language: 'en', task: 'translate' });
  const prompt = '<|en|><|translate|><|notimestamps|>';
  assert.equal(await write(`${prompt} more`), `${prompt}${other.text}`);
  model.dispose();
});

test('a sound that is too short is refused, and so are files without their preprocessor', async () => {
  const { worker } = await opened('wav2vec2');
  const hear = worker.ask({ verb: 'sound', name: 'opened-1', samples: new Float32Array(20), rate: 16000 });
  await assert.rejects(hear, ({ code }) => code === 'shortSound');
  await assert.rejects(opened('whisper', ['preprocessor_config.json']), ({ code }) => code === 'sound');
  await assert.rejects(
    createWorker(hl).ask({ verb: 'sound', name: 'constructed' }),
    ({ code }) => code === 'noListener',
  );
});

/** Makes the files of a Whisper those of one whose encoder reads 16 frames, which are 0.32 s. */
function shortened(files) {
  const { tensors } = readSafetensors(files['model.safetensors']);
  const name = 'model.encoder.embed_positions.weight';
  const [{ data }, width] = [tensors[name], tensors[name].shape[1]];
  const positions = { data: data.slice(0, 16 * width), shape: [16, width] };
  const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), max_source_positions: 16 };
  return {
    ...files,
    'config.json': new TextEncoder().encode(JSON.stringify(config)),
    'model.safetensors': writeSafetensors({ ...tensors, [name]: positions }),
  };
}

test('a Whisper for a third of a second opens, reads the beginning of a sound and pads a shorter one', async () => {
  const { worker } = await opened('whisper', [], shortened);
  const state = { part: 'encoder', second: PROMPT };
  const [first] = (await worker.show(state)).run;
  assert.deepEqual([first.T, first.sound.seconds, first.sound.cut], [16, 0.32, true], 'the sound of the page is cut');
  await worker.ask({ verb: 'sound', name: 'opened-1', samples: wave(0.2), rate: 16000 });
  const [run] = (await worker.show(state)).run;
  assert.deepEqual([run.T, run.sound.seconds, run.sound.cut], [16, 0.2, false]);
});

test('Whisper without a tokenizer reads and writes numbers', async () => {
  const { worker, about, summary } = await opened('whisper', ['tokenizer.json']);
  assert.deepEqual([about.prompt, about.words, summary.missing], ['', false, ['tokenizer']]);
  const [{ T, pieces }] = (await worker.show({ part: 'cross', second: '5 7' })).run;
  assert.deepEqual([T, pieces.map(({ name }) => name)], [3, ['#422', '#5', '#7']]);
  const edits = { temperature: {}, mask: {}, painted: {}, scale: {}, patch: {} };
  const state = { model: 'opened-1', text: '', second: '5 7', ...edits };
  const { generated } = await worker.ask({ verb: 'generate', state });
  assert.match(generated.at(-1).text, /^( \d+)+$/);
});

for (const [name, hears, missing] of [
  ['wav2vec 2.0', 'letters', ['letters']],
  ['wav2vec 2.0 for classes of frames', 'frames', []],
  ['HuBERT for classes of sound', 'sounds', []],
  ['HuBERT without a head', undefined, []],
])
  test(`${name} is shown with what it says of a sound`, async () => {
    const worker = createWorker(hl);
    const files = { ...families.find((family) => family.name === name).files, 'preprocessor_config.json': '{}' };
    const list = Object.entries(files).map(([path, bytes]) => ({ path, file: new Blob([bytes]) }));
    const [{ about, summary }] = (await worker.open(list)).opened;
    assert.deepEqual([about.hears, summary.missing], [hears, missing]);
    await worker.ask({ verb: 'sound', name: 'opened-1', samples: wave(0.2), rate: 16000 });
    const { run, turned } = await worker.show({ scale: { 0.1: 0 } });
    const [{ T, letters, top, values }] = run;
    assert.equal(values.scores.length, T * T);
    assert.equal(letters?.top.length ?? null, hears === 'letters' || hears === 'frames' ? T : null);
    assert.equal(letters?.text ?? null, null, 'nothing is spelled without letters');
    if (hears === 'sounds') assert.deepEqual(new Set(top.map(({ text }) => text)), new Set(['a', 'b', 'c']));
    else assert.ok(turned[0].mean > 0, 'the effect of the head is an angle');
  });

test('a sound that is longer than the model reads is cut', async () => {
  const { worker } = await opened('whisper');
  await worker.ask({ verb: 'sound', name: 'opened-1', samples: wave(3), rate: 16000 });
  const [{ sound, T }] = (await worker.show({ part: 'encoder', second: PROMPT })).run;
  assert.deepEqual([sound.cut, sound.seconds, T, sound.unseen], [true, 2, 100, 0]);
});
