// Tests beam search against a plain implementation, which computes whole sequences without a cache and sorts all
// candidates.

import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 13, context: 24, std: 1 };
const tokenizer = { encode: (text) => ({ ids: [...text].map(Number) }), decode: (ids) => ids.join(' ') };
const build = (options) => Object.assign(hl.transformer({ ...SMALL, ...options }), { tokenizer });
const PROMPT = [3, 1, 4];

/** Returns the log probabilities of the next token after a sequence, in float64. */
function logProbsAfter(model, input, edit) {
  const result = model.forward(input, { edit });
  const row = [...result.logits.copy().slice(-model.options.vocab)];
  result.dispose();
  const most = Math.max(...row);
  const total = row.reduce((sum, x) => sum + Math.exp(x - most), 0);
  return row.map((x) => x - most - Math.log(total));
}

const byScore = (a, b) => b.score - a.score;

/**
 * Runs beam search by its definition. Beams that do not exist yet have the score −1e9, and 1e9 is subtracted from the
 * score of a candidate that must not be chosen. adjust(scores, ids) changes the scores after a sequence.
 */
function search(model, prompt, options) {
  const { beams, max, stop, lengthPenalty = 1, earlyStopping = false, adjust = (x) => x, edit } = options;
  const { encoder, ids: start } = Array.isArray(prompt) ? { ids: prompt } : prompt;
  const after = (ids) => logProbsAfter(model, encoder ? { encoder, ids } : ids, edit);
  let running = Array.from({ length: beams }, (_, i) => ({ ids: start, score: i === 0 ? 0 : -1e9 }));
  let done = new Array(beams).fill({ ids: [], score: -1e9, isDone: false });
  for (let length = 1; ; length++) {
    const all = running.flatMap(({ ids, score }) =>
      adjust(after(ids), ids).map((p, id) => ({ ids: [...ids, id], score: score + p })),
    );
    const best = all.sort(byScore).slice(0, Math.max(2, 1 + stop.length) * beams);
    const hits = best.map(({ ids }) => stop.includes(ids.at(-1)) || length === max);
    const isFull = done.every(({ isDone }) => isDone);
    const ended = best.map(({ ids, score }, i) => {
      const isDone = hits[i] && i < beams;
      const lost = (isDone ? 0 : 1e9) + (isFull && earlyStopping === true ? 1e9 : 0);
      return { ids, isDone, score: score / length ** lengthPenalty - lost };
    });
    running = best.map(({ ids, score }, i) => ({ ids, score: score - (hits[i] ? 1e9 : 0) }));
    running = running.sort(byScore).slice(0, beams);
    done = [...done, ...ended].sort(byScore).slice(0, beams);
    const possible =
      running[0].score / (earlyStopping === 'never' && lengthPenalty > 0 ? max : length) ** lengthPenalty;
    const worst = Math.min(...done.map(({ score }) => score));
    const improves = done.some(({ isDone }) => possible > (isDone ? worst : -1e9));
    const isClosed = earlyStopping === true && done.every(({ isDone }) => isDone);
    if (!improves || isClosed || hits.every(Boolean)) break;
  }
  const [{ ids, score }] = done;
  const own = ids.slice(start.length);
  const isStopped = stop.includes(own.at(-1));
  return { ids: isStopped ? own.slice(0, -1) : own, score, ended: isStopped ? 'stop' : 'max' };
}

/** Checks that the result equals that of the definition, and that logProbs and text match the ids. */
async function assertDefined(model, prompt, options, label) {
  const { adjust, ...given } = options;
  const expected = search(model, prompt, options);
  const { ids, text, logProbs, ended, score } = await model.generate(prompt, given);
  assert.deepEqual({ ids, ended }, { ids: expected.ids, ended: expected.ended }, label);
  assert.ok(Math.abs(score - expected.score) < 1e-4, `${label}: ${score} ${expected.score}`);
  assert.equal(text, tokenizer.decode(ids));
  assert.equal(logProbs.length, ids.length);
  if (ended === 'max') {
    const sum = logProbs.reduce((total, p) => total + p, 0);
    assert.ok(Math.abs(sum / ids.length ** (options.lengthPenalty ?? 1) - score) < 1e-4, label);
  }
  return { ids, ended };
}

const SEARCHED = [
  'Marian',
  'T5, relu and a tied head',
  'BART',
  'M2M-100',
  'NLLB-200 with padding that is not masked',
  'OPT',
  'BLOOM',
  'Gemma 3',
  'Phi-3',
];
const ENCODER = { layers: 1, dModel: 16, numHeads: 2, vocab: 13, context: 12, causal: false, head: 'none' };
const KINDS = {
  'learned positions': {},
  'rotary positions and shared heads': { positions: 'rotary', kvHeads: 2 },
  'angles of long sequences': {
    positions: 'rotary',
    rotary: { long: { beyond: 6, scaling: { type: 'factors', factors: [3, 9], attentionFactor: 2 } } },
  },
  'an encoder': { encoder: ENCODER },
  'buckets and an encoder': {
    positions: 'none',
    buckets: { count: 8, distance: 12 },
    encoder: { ...ENCODER, positions: 'none', buckets: { count: 8, distance: 12 } },
  },
  // The beams contain different numbers of padding tokens, and positions do not count padding tokens.
  'a padding token': { positions: 'sinusoidal', padToken: 1, positionOffset: 2, encoder: ENCODER },
};

for (const [name, kind] of Object.entries(KINDS))
  test(`a search with beams is that of its definition: ${name}`, async () => {
    const { used } = hl.info.memory;
    const ends = new Set();
    for (let seed = 0; seed < inTier(60, 12); seed++) {
      const model = build({ ...kind, seed });
      const options = {
        beams: 2 + (seed % 4),
        max: 3 + (seed % 8),
        stop: [[5], [5, 7], [2, 3, 11], []][seed % 4],
        lengthPenalty: [1, 0, 2, -1, 0.6][seed % 5],
        earlyStopping: [false, true, 'never'][seed % 3],
      };
      const ids = PROMPT.slice(0, 1 + (seed % 3));
      const prompt = kind.encoder ? { encoder: [1, 2, 3, seed % 13], ids } : ids;
      const { ended } = await assertDefined(model, prompt, options, `${name}, seed ${seed}`);
      ends.add(ended);
      model.dispose();
    }
    assert.deepEqual([...ends].sort(), ['max', 'stop']);
    assert.equal(hl.info.memory.used, used);
  });

test('many end tokens, and scores that length makes worse, end a search as defined', async () => {
  const many = [0, 2, 3, 5, 7, 8, 9, 10, 11];
  for (let seed = 0; seed < inTier(24, 8); seed++) {
    const model = build({ seed });
    const cases = {
      'end tokens': { beams: 2, max: 10, stop: many, lengthPenalty: 3, earlyStopping: 'never' },
      'negative penalty': { beams: 2, max: 12, stop: [5, 7], lengthPenalty: -0.3, earlyStopping: 'never' },
    };
    for (const [name, options] of Object.entries(cases))
      await assertDefined(model, PROMPT, options, `${name}, seed ${seed}`);
    model.dispose();
  }
});

test('encoder–decoders translate with beams as defined, and decoders continue a text', async () => {
  const names = [...SEARCHED];
  for (const { name, files } of families.filter((family) => SEARCHED.includes(family.name))) {
    const model = Object.assign(await hl.openModel(files), { tokenizer });
    for (const [i, lengthPenalty] of [1, 0.5].entries()) {
      const ids = model.options.encoder ? [model.generation.start ?? 0] : [3, 9];
      const prompt = model.options.encoder ? { encoder: [7, 6, 1, 5 + i], ids } : ids;
      const options = { beams: 4, max: 8, stop: [4, 11], lengthPenalty, earlyStopping: i === 1 };
      const { ids: found } = await assertDefined(model, prompt, options, name);
      // For an encoder input, the decoder begins with the start token that the files define.
      if (model.options.encoder) assert.deepEqual((await model.generate([7, 6, 1, 5 + i], options)).ids, found);
    }
    model.dispose();
    names.splice(names.indexOf(name), 1);
  }
  assert.deepEqual(names, []);
});

test('with as many beams as texts the search finds the most probable one', async () => {
  for (let seed = 0; seed < 6; seed++) {
    const model = build({ vocab: 4, seed });
    const all = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].flatMap((b) => [0, 1, 2, 3].map((c) => [a, b, c])));
    const prompt = PROMPT.map((id) => id % 4);
    const sums = all.map((ids) =>
      ids.reduce((sum, id, i) => sum + logProbsAfter(model, [...prompt, ...ids.slice(0, i)])[id], 0),
    );
    const best = all[sums.indexOf(Math.max(...sums))];
    assert.deepEqual((await model.generate(prompt, { beams: 64, max: 3, stop: [] })).ids, best);
    model.dispose();
  }
});

test('suppressed, forced and repeated tokens change the log-probabilities of a search', async () => {
  const start = PROMPT.length;
  const changes = {
    suppress: [{ suppress: [4, 6] }, (scores) => scores.map((p, id) => ([4, 6].includes(id) ? -Infinity : p))],
    suppressFirst: [
      { suppressFirst: [4, 6, 8] },
      (scores, ids) => scores.map((p, id) => (ids.length === start && [4, 6, 8].includes(id) ? -Infinity : p)),
    ],
    forced: [
      { forced: [[start, 9]] },
      (scores, ids) => (ids.length === start ? scores.map((_, id) => (id === 9 ? 0 : -Infinity)) : scores),
    ],
    repetitionPenalty: [
      { repetitionPenalty: 1.5 },
      (scores, ids) => scores.map((p, id) => (ids.includes(id) ? p * 1.5 : p)),
    ],
  };
  for (const [name, [options, adjust]] of Object.entries(changes))
    for (let seed = 0; seed < inTier(12, 3); seed++) {
      const model = build({ seed });
      await assertDefined(model, PROMPT, { beams: 3, max: 6, stop: [5], ...options, adjust }, `${name}, seed ${seed}`);
      model.dispose();
    }
});

test('edits apply to every token of every beam', async () => {
  const model = build({ seed: 4 });
  const edit = [
    { at: 'blocks.*.heads', head: [0, 2], set: 'zero' },
    { at: 'blocks.1.mlp', token: 4, scale: -3 },
  ];
  const options = { beams: 3, max: 6, stop: [5], edit };
  const { ids } = await assertDefined(model, PROMPT, options, 'edit');
  assert.notDeepEqual(ids, (await model.generate(PROMPT, { ...options, edit: undefined })).ids);
  model.dispose();
});

test('a search ends with the context, max or a signal', async () => {
  const model = build({ seed: 4 });
  const all = await model.generate(PROMPT, { beams: 2, stop: [] });
  assert.deepEqual([all.ids.length, all.ended], [22, 'context']);
  assert.deepEqual(all.ids, search(model, PROMPT, { beams: 2, stop: [], max: 22 }).ids);
  assert.deepEqual(await model.generate(PROMPT, { beams: 2, max: 0 }), {
    ids: [],
    text: '',
    logProbs: [],
    ended: 'max',
    score: 0,
  });
  const control = new AbortController();
  const { forwardFor } = model;
  let runs = 0;
  model.forwardFor = (...args) => {
    if (++runs === 4) control.abort();
    return forwardFor.apply(model, args);
  };
  const cut = await model.generate(PROMPT, { beams: 2, stop: [], signal: control.signal });
  assert.deepEqual([cut.ids.length, cut.ended], [4, 'signal']);
  delete model.forwardFor;
  model.dispose();
});

test('the files of a model do not begin a search, and its sampling does not hinder one', async () => {
  const model = build({ seed: 4 });
  const greedy = await model.generate(PROMPT, { max: 6, stop: [] });
  const found = await model.generate(PROMPT, { max: 6, stop: [], beams: 4 });
  model.generation = { temperature: 0.7, topK: 5, stop: [] };
  assert.deepEqual(await model.generate(PROMPT, { max: 6, beams: 4 }), found);
  assert.equal(greedy.score, undefined);
  assert.deepEqual(await model.generate(PROMPT, { max: 6, beams: 1, temperature: 0, lookup: false }), greedy);
  const generation = { num_beams: 4, num_return_sequences: 1, eos_token_id: 5 };
  const { readGeneration } = await import('../../../src/js/models/checkpoint/folder/generationConfig.ts');
  assert.deepEqual({ ...readGeneration({}, generation) }, { stop: [5], ignored: ['num_beams'] });
  model.dispose();
});

test('what a search does not have is refused by name', async () => {
  const model = build({ seed: 4 });
  const cache = model.cache({ length: 12 });
  const { used } = hl.info.memory;
  for (const [options, message] of [
    [{ temperature: 0.5 }, /temperature is 0\.5, expected 0 with beams/],
    [{ lookup: true }, /lookup is true, expected false with beams/],
    [{ cache }, /cache is .*, expected none with beams/],
    [{ onToken: () => {} }, /onToken is .*, expected none with beams/],
    [{ stop: [5, 'a'] }, /stop is \[5,'a'\], expected only token ids, because beam search/],
    [{ beams: 0 }, /beams is 0/],
    [{ beams: 1.5 }, /beams is 1\.5/],
    [{ lengthPenalty: '1' }, /lengthPenalty is '1'/],
    [{ earlyStopping: 'soon' }, /earlyStopping is 'soon', expected true, false or 'never'/],
    [{ beams: 1, lengthPenalty: 2 }, /lengthPenalty is 2, expected none with one beam/],
    [{ beams: 1, earlyStopping: true }, /earlyStopping is true, expected none with one beam/],
  ])
    await assert.rejects(model.generate(PROMPT, { beams: 3, max: 2, ...options }), (error) => {
      assert.deepEqual([error.name, error.code], ['HeadlightError', 'ARGUMENT']);
      assert.match(error.message, message);
      return true;
    });
  const suppress = Array.from({ length: SMALL.vocab }, (_, id) => id);
  await assert.rejects(model.generate(PROMPT, { beams: 3, suppress }), /expected at least one finite number/);
  const over = async () => {
    for await (const { id } of model.generate(PROMPT, { beams: 3, max: 2 })) assert.ok(id >= 0);
  };
  await assert.rejects(over, /onToken is .*, expected none with beams/);
  assert.equal(hl.info.memory.used, used);
  cache.dispose();
  model.dispose();
});
