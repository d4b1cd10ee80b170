// Checks that the steps of a score in the reading column lead to that score, for every family of models that the page
// opens.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readingOf, weightsOf } from '../../../web/model/derivation.ts';
import { linesOf } from '../../../web/model/score.ts';
import { change, initialState } from '../../../web/model/state.ts';
import { LANGUAGES, loadLanguage } from '../../../web/texts/languages.ts';
import { createAnswerer } from '../../../web/worker/requests.ts';
import { makeCheckpoint } from '../../support/checkpoint.js';
import { someFamilies } from '../../support/families.js';
import { hl } from '../../support/headlight.js';
import { FOLDERS } from '../../support/models.js';

await loadLanguage('zh');

/** A canvas that contains noise, because Node has no canvas. */
class Canvas {
  constructor(width, height) {
    Object.assign(this, { width, height });
  }
  getContext() {
    const getImageData = (_x, _y, width, height) => ({
      data: Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) => (i * 37) % 251),
    });
    const known = { getImageData, createLinearGradient: () => ({ addColorStop() {} }) };
    return new Proxy(known, { get: (own, name) => own[name] ?? (() => {}), set: () => true });
  }
  transferToImageBitmap() {
    return this;
  }
}
globalThis.OffscreenCanvas ??= Canvas;

/** Largest error of a displayed number, which is rounded to two decimals. */
const ROUNDED = 0.005 + 1e-6;
const number = (text) => Number(text.replaceAll('−', '-').replaceAll(' ', ''));

/**
 * Applies the operation in the text of a line to the number of the previous line. Returns the result and its tolerance.
 */
function carriedOut(text, x, off) {
  const divided = /^÷ √(\d+)(?: ÷ (\d+))?$/.exec(text);
  if (divided) {
    const by = Math.sqrt(Number(divided[1])) * Number(divided[2] ?? 1);
    return [x / by, off / by];
  }
  const [, sign, amount] = /^([+−]) ([\d.]+)/.exec(text) ?? [];
  if (amount) return [x + number(`${sign}${amount}`), off + ROUNDED];
  const [, by] = /^÷ ([\d.]+)/.exec(text) ?? [];
  if (by) return [x / Number(by), off / Number(by)];
  const [, cap] = /±([\d.]+)/.exec(text) ?? [];
  if (cap) return [Number(cap) * Math.tanh(x / Number(cap)), off];
  const [, factor] = /^× ([\d.e-]+)$/.exec(text) ?? [];
  if (factor) return [x * Number(factor), off * Number(factor) + Math.abs(x) * Number(factor) * 0.005];
  assert.ok(Object.values(LANGUAGES).some(({ steps }) => steps.notDivided === text));
  return [x, off];
}

/** Checks in every language that the numbers in the lines lead from the product to the score. */
function assertAddsUp(run, cell) {
  const reading = readingOf(run, cell);
  if (reading.score === Number.NEGATIVE_INFINITY) return [];
  let kinds;
  for (const { steps } of Object.values(LANGUAGES)) {
    const [first, ...lines] = linesOf(steps, reading, run.values.width);
    let [x, off] = [number(first.figure), ROUNDED];
    for (const { text, figure } of lines) {
      [x, off] = carriedOut(text, x, off);
      if (figure === null) continue;
      assert.ok(Math.abs(number(figure) - x) <= off + ROUNDED, `${text}: ${figure}, not ${x}`);
      [x, off] = [number(figure), ROUNDED];
    }
    assert.ok(Math.abs(x - reading.score) <= ROUNDED, `${x}, the score is ${reading.score}`);
    kinds = lines.map(({ kind }) => kind);
  }
  const { t, s } = cell;
  const weight = weightsOf(run, run.layer, run.head)[t * run.S + s];
  assert.ok(Math.abs(Math.exp(reading.score) / reading.total - weight) < 1e-4, 'the softmax is the weight');
  return kinds;
}

/**
 * Checks that the contributions of the keys to the logit of the last label sum to the contribution of the head. Returns
 * the kinds of checks that were made.
 */
function assertKeysAddUp(run) {
  const { added, values, T, S, about } = run;
  if (!values.directions || !added || values.labels[T - 1]?.id !== added.label) return [];
  // Only some keys are shown, and the keys that are not shown contribute too.
  if (values.rest) return [];
  let sum = 0;
  for (let s = 0; s < S; s++) sum += readingOf(run, { t: T - 1, s }).adds;
  const expected = added.heads[run.layer * about.heads + run.head];
  const most = added.heads.reduce((all, x) => Math.max(all, Math.abs(x)), 0);
  assert.ok(Math.abs(sum - expected) <= 1e-4 * most, `the keys add ${sum}, the head ${expected}`);
  return ['keys'];
}

/**
 * Opens a model of these files in the worker. Returns the description of the model, and functions that send requests
 * and make states.
 */
async function opened(files) {
  let parts = [];
  const answer = createAnswerer({
    load: async () => hl,
    fetchBeside: async () => {},
    post: (part) => parts.push(part),
  });
  const ask = async (question) => {
    parts = [];
    await answer({ id: 1, ...question });
    assert.equal(parts.find(({ error }) => error)?.error, undefined);
    return Object.fromEntries(parts.filter(({ part }) => part).map((message) => [message.part, message]));
  };
  const list = Object.entries(files).map(([path, bytes]) => ({ path, file: new Blob([bytes]) }));
  const { opened: said } = await ask({ verb: 'open', name: 'opened', title: 'model', files: list });
  const state = (more) => change(initialState, { model: 'opened', ...TEXT, ...more });
  return { about: said.about, ask, state };
}

const TEXT = { text: '3 8 4 11 5 20', second: '7 2 9 4' };
async function assertModel(files, name) {
  const { about, ask, state } = await opened(files);
  const parts = about.parts.length > 0 ? about.parts : ['decoder'];
  const seen = new Set();
  for (const part of parts)
    for (const [layer, head] of [
      [0, 0],
      [about.layers - 1, about.heads - 1],
    ])
      for (const temperature of about.edits ? [{}, { all: 2.5 }] : [{}]) {
        const { run, source } = await ask({ verb: 'show', state: state({ part, layer, head, temperature }) });
        const of = { ...run, S: run.S ?? run.T, keys: run.keys ?? run.pieces, about: source.about };
        for (const [t, s] of [
          [0, 0],
          [of.T - 1, 0],
          [of.T - 1, of.S - 1],
          [Math.min(2, of.T - 1), 1],
        ])
          for (const kind of assertAddsUp(of, { t, s })) seen.add(`${part} ${kind}`);
        for (const kind of assertKeysAddUp(of)) seen.add(`${part} ${kind}`);
      }
  await ask({ verb: 'close', name: 'opened' });
  return [name, seen];
}

const opens = ({ input }) => !input.encoder?.features && !input.features && !input.samples;
const found = new Map();
for (const family of someFamilies.filter(opens))
  test(`the steps to a score add up: ${family.name}`, async () => {
    found.set(...(await assertModel(family.files, family.name)));
  });
const folderFiles = (folder) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => /\.(json|safetensors)$/.test(name) && !name.startsWith('expected'))
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
for (const folder of FOLDERS.filter((folder) => !folder.endsWith('wav2vec2-a')))
  test(`the steps to a score add up: the golden ${folder.split('/').at(-1)}`, async () => {
    found.set(...(await assertModel(folderFiles(folder), folder.split('/').at(-1))));
  });

for (const name of ['whisper', 'wav2vec2'])
  test(`the steps to a score add up: ${name}, with frames that are not shown`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
    makeCheckpoint(folder, name);
    await assertModel(folderFiles(folder), name);
  });

test('the families include every kind of step', () => {
  const kinds = (name) => [...(found.get([...found.keys()].find((known) => known.startsWith(name))) ?? [])];
  assert.ok(kinds('BLOOM').includes('decoder distance'));
  assert.ok(kinds('t5-a').includes('encoder distance') && kinds('t5-a').includes('decoder distance'));
  assert.ok(!kinds('t5-a').includes('cross distance'));
  assert.ok(kinds('gemma2-a').includes('decoder cap'));
  assert.ok(kinds('mpnet-a').includes('decoder distance') && kinds('deberta-v2-a').includes('decoder distance'));
  for (const name of ['gpt2-a', 'llama-a', 'Granite']) assert.ok(kinds(name).includes('decoder keys'), name);
  for (const name of ['gemma2-a', 'olmo2-a', 'Cohere']) assert.ok(!kinds(name).includes('decoder keys'), name);
});
