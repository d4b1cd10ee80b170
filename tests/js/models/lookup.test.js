// Tests generation with lookup, which drafts the tokens that followed an earlier occurrence of the last tokens.

import assert from 'node:assert/strict';
import test from 'node:test';
import { PromptLookup } from '../../../src/js/models/generation/promptLookup.ts';
import { hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 6, context: 48, std: 2 };
const tokenizer = { encode: (text) => ({ ids: [...text].map(Number) }), decode: (ids) => ids.join('') };
const build = (options) => Object.assign(hl.transformer({ ...SMALL, ...options }), { tokenizer });

/** Generates tokens. Returns the result, the number of runs of the model, and the final length of the cache. */
async function generate(model, prompt, options) {
  const { forwardFor } = model;
  let runs = 0;
  model.forwardFor = (...args) => {
    runs++;
    return forwardFor.apply(model, args);
  };
  const cache = model.cache({ length: options.room ?? 40 });
  const { room, ...rest } = options;
  const result = await model.generate(prompt, { cache, ...rest });
  const { length } = cache;
  cache.dispose();
  delete model.forwardFor;
  return { ...result, runs, length };
}

test('with a lookup random texts have the same tokens, text, end and cache, and need fewer runs', async () => {
  let [without, withLookup] = [0, 0];
  for (let seed = 0; seed < inTier(200, 60); seed++) {
    const model = build({ seed: seed % 8, kvHeads: seed % 2 ? 2 : 4, ...(seed % 3 ? {} : { positions: 'rotary' }) });
    const prompt = Array.from({ length: 1 + (seed % 11) }, (_, i) => (seed * 7 + (i % 4) * 5) % SMALL.vocab);
    const options = {
      max: 5 + (seed % 30),
      room: 20 + (seed % 20),
      temperature: seed % 3 ? 0 : 0.8,
      seed,
      repetitionPenalty: seed % 7 ? 1 : 1.1,
      stop: seed % 5 ? [] : ['353', 4],
    };
    const plain = await generate(model, prompt, options);
    const found = await generate(model, prompt, { ...options, lookup: true });
    without += plain.runs;
    withLookup += found.runs;
    const { logProbs, runs, ...same } = found;
    const { logProbs: expected, runs: others, ...wanted } = plain;
    assert.deepEqual(same, wanted, `seed ${seed}`);
    assert.ok(runs <= others);
    logProbs.forEach((p, i) => assert.ok(Math.abs(p - expected[i]) < 1e-4, `${p} ${expected[i]}`));
    model.dispose();
  }
  assert.ok(withLookup < 0.97 * without, `${withLookup} of ${without} runs`);
});

test('a text that repeats itself needs less than half of the runs', async () => {
  const model = await hl.openModel('demo');
  const text = 'In port the first mate cried to his men. At sea the first mate cried to his men.';
  const options = { max: 40, stop: [], room: 100 };
  const plain = await generate(model, model.encode(text).ids, options);
  const found = await generate(model, model.encode(text).ids, { ...options, lookup: true });
  assert.deepEqual(found.ids, plain.ids);
  assert.equal(plain.runs, 40);
  assert.ok(found.runs < 20, `${found.runs}`);
  model.dispose();
});

test('a decoder with an encoder has the same tokens with a lookup', async () => {
  const encoder = { layers: 1, dModel: 16, numHeads: 2, vocab: 6, context: 12, causal: false };
  const model = build({ encoder, seed: 3, positions: 'none' });
  const input = { encoder: [1, 2, 3, 4], ids: [1, 2, 1, 2] };
  const plain = await generate(model, input, { max: 30, stop: [] });
  const found = await generate(model, input, { max: 30, stop: [], lookup: true });
  assert.deepEqual(found.ids, plain.ids);
  assert.ok(found.runs < plain.runs);
});

test('edits turn the lookup off; other values than true and false are refused', async () => {
  const model = build({ seed: 1 });
  const options = { max: 12, stop: [], edit: [{ at: 'blocks.0.heads', head: 1, set: 'zero' }] };
  const [plain, found] = [
    await generate(model, [1, 2], options),
    await generate(model, [1, 2], { ...options, lookup: true }),
  ];
  assert.deepEqual([found.ids, found.runs], [plain.ids, 12]);
  await assert.rejects(model.generate([1], { lookup: 'yes' }), /lookup/);
});

test('a draft continues the latest earlier occurrence of the last three tokens, also by itself', () => {
  const lookup = new PromptLookup();
  for (const id of [1, 2, 3, 4, 5, 1, 2, 3]) lookup.push(id);
  assert.deepEqual(lookup.draft(10), [4, 5, 1]);
  assert.deepEqual(lookup.draft(2), [4, 5]);
  lookup.accept();
  assert.deepEqual(lookup.draft(10), [4, 5, 1, 2, 3, 4, 5]);
  lookup.push(6);
  assert.deepEqual(lookup.draft(10), []);
});

test('a refused draft pauses drafting, each time twice as long', () => {
  const lookup = new PromptLookup();
  const tokensUntilDraft = () => {
    for (let count = 0; ; count++) {
      if (lookup.draft(1).length > 0) return count;
      lookup.push(7);
    }
  };
  for (let i = 0; i < 4; i++) lookup.push(7);
  const waits = Array.from({ length: 4 }, () => {
    lookup.refuse(0);
    return tokensUntilDraft();
  });
  assert.deepEqual(waits, [4, 8, 16, 32]);
  lookup.refuse(2);
  assert.deepEqual(lookup.draft(10), [7, 7]);
});
