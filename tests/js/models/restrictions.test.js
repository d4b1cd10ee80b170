// Tests the restrictions of generate() against plain implementations of the logits processors of transformers, which
// are applied in its order to whole sequences without a cache.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readGeneration } from '../../../src/js/models/checkpoint/folder/generationConfig.ts';
import { hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const VOCAB = 11;
const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: VOCAB, context: 32, std: 2 };
const ENCODER = { ...SMALL, layers: 1, causal: false, head: 'none' };
const NONE = -Infinity;

/** The processors by the option that turns them on. Each returns new scores of the token after ids. */
const PROCESSORS = {
  repetitionPenalty: (penalty, scores, ids) =>
    scores.map((x, id) => (ids.includes(id) ? (x > 0 ? x / penalty : x * penalty) : x)),
  noRepeatNgram(n, scores, ids) {
    const grams = ids.map((_, i) => ids.slice(i, i + n)).filter(({ length }) => length === n);
    const text = (list) => list.join();
    const known = new Set(grams.map(text));
    return scores.map((x, id) => (known.has(text([...ids, id].slice(-n))) && ids.length >= n - 1 ? NONE : x));
  },
  badWords: (words, scores, ids, { stop }) =>
    scores.map((x, id) => {
      const ends = (word) =>
        word.length === 1 || (word.length <= ids.length && ids.join().endsWith(word.slice(0, -1).join()));
      const real = words.filter((word) => word.length > 1 || !stop.includes(word[0]));
      return real.some((word) => word.at(-1) === id && ends(word)) ? NONE : x;
    }),
  minLength: (least, scores, ids, { stop }) =>
    scores.map((x, id) => (ids.length < least && stop.includes(id) ? NONE : x)),
  min: (least, scores, ids, { stop, start }) =>
    scores.map((x, id) => (ids.length - start < least && stop.includes(id) ? NONE : x)),
  forcedEnd: (end, scores, ids, { start, max }) =>
    ids.length === start + max - 1 ? scores.map((_, id) => (end.includes(id) ? 0 : NONE)) : scores,
};

const processed = (scores, ids, options, about) =>
  Object.keys(PROCESSORS).reduce(
    (list, name) => (options[name] === undefined ? list : PROCESSORS[name](options[name], list, ids, about)),
    scores,
  );

/** Returns the greedy continuation. */
function greedy(model, prompt, options) {
  const ids = [...(prompt.ids ?? prompt)];
  const about = { stop: options.stop, start: ids.length, max: options.max };
  while (ids.length < about.start + options.max) {
    const { logits, ...rest } = model.forward(prompt.encoder ? { encoder: prompt.encoder, ids } : ids);
    const scores = processed([...logits.copy().slice(-VOCAB)], ids, options, about);
    for (const tensor of [logits, ...Object.values(rest)]) tensor?.dispose?.();
    const id = scores.indexOf(Math.max(...scores));
    if (options.stop.includes(id)) return { ids: ids.slice(about.start), ended: 'stop' };
    ids.push(id);
  }
  return { ids: ids.slice(about.start), ended: 'max' };
}

const CASES = [
  { noRepeatNgram: 1 },
  { noRepeatNgram: 2 },
  { noRepeatNgram: 3 },
  { min: 6 },
  { minLength: 9 },
  { badWords: [[3], [4, 1], [1, 4, 1, 5], [2, 2]] },
  { forcedEnd: [7] },
  { forcedEnd: [7, 3], min: 12 },
  { noRepeatNgram: 2, minLength: 8, badWords: [[6], [5]], forcedEnd: [5], repetitionPenalty: 1.3 },
];

test('the restrictions of generate are those of transformers, alone and together', async () => {
  const { used } = hl.info.memory;
  let changed = 0;
  for (let seed = 0; seed < inTier(40, 2); seed++)
    for (const encoder of [undefined, [1, 2, 3, seed % VOCAB]]) {
      const model = hl.transformer({ ...SMALL, seed, ...(encoder && { encoder: ENCODER }) });
      const ids = [3, 1, 4, 1, 5].slice(0, 1 + (seed % 5));
      const prompt = encoder ? { encoder, ids } : ids;
      const plain = await model.generate(prompt, { max: 10, stop: [5, 9] });
      for (const restrictions of CASES) {
        // Only the first has no token left at some point: eleven tokens, each once.
        const max = restrictions.noRepeatNgram === 1 ? 5 : 10;
        const options = { max, stop: [5, 9], ...restrictions };
        const expected = greedy(model, prompt, options);
        const got = await model.generate(prompt, options);
        assert.deepEqual({ ids: got.ids, ended: got.ended }, expected, JSON.stringify({ seed, restrictions }));
        if (got.ids.join() !== plain.ids.join()) changed++;
        if (restrictions.repetitionPenalty === undefined) continue;
        const [several] = await model.generate([prompt], options);
        assert.deepEqual(several.ids, expected.ids);
        const drawn = await model.generate(prompt, { ...options, temperature: 3, topK: 1 });
        assert.deepEqual(drawn.ids, expected.ids);
      }
      model.dispose();
    }
  assert.ok(changed > 8, `${changed} texts differ`);
  assert.equal(hl.info.memory.used, used);
});

test('a sampled text obeys the restrictions', async () => {
  const model = hl.transformer({ ...SMALL, seed: 2 });
  const start = [3, 1, 4];
  for (let seed = 0; seed < inTier(20, 5); seed++) {
    const options = { max: 12, stop: [5, 9], noRepeatNgram: 2, min: 4, badWords: [[0], [2, 8]], forcedEnd: [9] };
    const { ids, ended } = await model.generate(start, { ...options, temperature: 4, seed });
    const all = [...start, ...ids];
    const pairs = all.slice(1).map((id, i) => `${all[i]} ${id}`);
    assert.equal(new Set(pairs).size, pairs.length);
    assert.ok(!ids.includes(0) && !pairs.includes('2 8'));
    assert.ok(ids.length >= 4 && ids.length < 12);
    assert.equal(ended, 'stop');
  }
  model.dispose();
});

test('a beam search with as many beams as texts finds the best of the texts that the restrictions allow', async () => {
  const model = hl.transformer({ ...SMALL, vocab: 4, seed: 3 });
  const start = [1, 2];
  const options = { max: 3, stop: [3], noRepeatNgram: 2, min: 1, badWords: [[2, 0]], forcedEnd: [3] };
  const about = { stop: options.stop, start: start.length, max: options.max };
  /** All texts with the sums of their log-probabilities; the end token counts. */
  const texts = [];
  const walk = (ids, sum) => {
    const { logits, ...rest } = model.forward(ids);
    const row = [...logits.copy().slice(-4)];
    for (const tensor of [logits, ...Object.values(rest)]) tensor?.dispose?.();
    const total = Math.log(row.reduce((all, x) => all + Math.exp(x), 0));
    const scores = processed(
      row.map((x) => x - total),
      ids,
      options,
      about,
    );
    scores.forEach((score, id) => {
      if (score === NONE) return;
      if (id === 3) texts.push({ ids: ids.slice(2), score: (sum + score) / (ids.length - 1) });
      else walk([...ids, id], sum + score);
    });
  };
  walk(start, 0);
  const best = texts.reduce((a, b) => (b.score > a.score ? b : a));
  const got = await model.generate(start, { ...options, beams: 64 });
  assert.deepEqual(got.ids, best.ids);
  assert.ok(Math.abs(got.score - best.score) < 1e-4);
  model.dispose();
});

test('generation_config.json sets the restrictions, and lists what has no effect', () => {
  // Published summarizers and translators have these fields.
  const summarizer = {
    _from_model_config: true,
    bos_token_id: 0,
    decoder_start_token_id: 2,
    early_stopping: true,
    eos_token_id: 2,
    forced_bos_token_id: 0,
    forced_eos_token_id: 2,
    length_penalty: 2.0,
    max_length: 142,
    min_length: 56,
    no_repeat_ngram_size: 3,
    num_beams: 4,
    pad_token_id: 1,
  };
  assert.deepEqual(
    { ...readGeneration({}, summarizer) },
    {
      stop: [2],
      forced: [[1, 0]],
      noRepeatNgram: 3,
      minLength: 56,
      forcedEnd: [2],
      start: 2,
      ignored: ['early_stopping', 'length_penalty', 'max_length', 'num_beams'],
    },
  );
  const translator = { bad_words_ids: [[58100]], eos_token_id: 0, num_beams: 6, max_length: 512 };
  const expected = { stop: [0], badWords: [[58100]], ignored: ['max_length', 'num_beams'] };
  assert.deepEqual({ ...readGeneration(translator) }, expected);
  const others = { min_new_tokens: 4, num_beams: 1, typical_p: 1, min_p: null, temperature: 0.5, invented: 1 };
  assert.deepEqual({ ...readGeneration({}, others) }, { min: 4, ignored: ['invented'] });
});

test('options override the files, and wrong ones are refused by name', async () => {
  const model = hl.transformer({ ...SMALL, seed: 5 });
  assert.deepEqual(model.generation, { ignored: [] });
  const plain = await model.generate([3, 1], { max: 8, stop: [] });
  model.generation = { badWords: plain.ids.map((id) => [id]), ignored: [] };
  const other = await model.generate([3, 1], { max: 8, stop: [] });
  assert.ok(other.ids.every((id) => !plain.ids.includes(id)));
  assert.deepEqual(await model.generate([3, 1], { max: 8, stop: [], badWords: [] }), plain);
  for (const [options, parameter] of [
    [{ noRepeatNgram: -1 }, 'noRepeatNgram'],
    [{ noRepeatNgram: '3' }, 'noRepeatNgram'],
    [{ min: 1.5 }, 'min'],
    [{ minLength: -1 }, 'minLength'],
    [{ badWords: [3] }, 'badWords[0]'],
    [{ badWords: [[]] }, 'badWords[0]'],
    [{ badWords: [[-1]] }, 'badWords[0][0]'],
    [{ forcedEnd: 7 }, 'forcedEnd'],
    [{ forcedEnd: [99] }, 'forcedEnd[0]'],
  ])
    await assert.rejects(model.generate([1], { max: 2, ...options }), { code: 'ARGUMENT', parameter });
  model.dispose();
});
