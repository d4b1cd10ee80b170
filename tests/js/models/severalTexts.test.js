// Tests generate() with several texts at once. Each text must get the same tokens as alone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';
import { inTier, isFullTier } from '../../support/tier.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 11, context: 24, std: 2 };
const tokenizer = {
  encode: (text) => ({ ids: [...text].map(Number) }),
  decode: (ids) => ids.map((i) => 'abcdefghijk'[i]).join(''),
};
const build = (options) => Object.assign(hl.transformer({ ...SMALL, ...options }), { tokenizer });
const PROMPTS = [[3, 1, 4], [1], [5, 9, 2, 6, 5, 3, 5], [8, 9]];
const NEVER = { stop: [] };

const ENCODER = { layers: 1, dModel: 16, numHeads: 2, vocab: 11, context: 12, causal: false, head: 'none' };
const SHARED = { padToken: 1, positionOffset: 2 };
/** Options of models with mechanisms that padding on the left could disturb. */
const KINDS = {
  'learned positions': {},
  'rotary positions': { positions: 'rotary', kvHeads: 2 },
  ALiBi: { positions: 'alibi' },
  'a window': { positions: 'rotary', window: 3 },
  sinusoids: { positions: 'sinusoidal' },
  'a padding token': { ...SHARED, positions: 'sinusoidal' },
  'an offset of learned positions': { positionOffset: 2 },
  'buckets of T5': {
    positions: 'none',
    buckets: { count: 8, distance: 12 },
    encoder: { ...ENCODER, positions: 'none', buckets: { count: 8, distance: 12 } },
  },
  'an encoder': { encoder: ENCODER },
  'an encoder with a padding token': {
    ...SHARED,
    positions: 'sinusoidal',
    encoder: { ...ENCODER, ...SHARED, positions: 'sinusoidal' },
  },
};

/** Checks that each result of a list equals that of a call with one text, except for the last digits of logProbs. */
async function assertEqual(model, prompts, options, label) {
  const together = await model.generate(prompts, options);
  assert.equal(together.length, prompts.length);
  for (const [i, prompt] of prompts.entries()) {
    const { logProbs, ...expected } = await model.generate(prompt, options);
    const { logProbs: got, ...rest } = together[i];
    assert.deepEqual(rest, expected, `${label}, text ${i}`);
    assert.equal(got.length, logProbs.length);
    got.forEach((p, j) => assert.ok(Math.abs(p - logProbs[j]) < 1e-3, `${label}: ${p} ${logProbs[j]}`));
  }
  return together;
}

for (const [name, kind] of Object.entries(KINDS))
  test(`several texts have the tokens that each has alone: ${name}`, async () => {
    const { used } = hl.info.memory;
    for (let seed = 0; seed < inTier(40, 6); seed++) {
      const model = build({ ...kind, seed });
      const random = (i) => (seed * 31 + i * i * 7 + i * 3) % SMALL.vocab;
      const count = 2 + (seed % 4);
      const ids = Array.from({ length: count }, (_, i) =>
        Array.from({ length: 1 + ((seed + i * 5) % 9) }, (_, j) => random(i * 11 + j)),
      );
      const prompts = kind.encoder && seed % 2 ? ids.map((own, i) => ({ encoder: own, ids: ids[count - 1 - i] })) : ids;
      const options = {
        ...(seed % 3 === 2 ? {} : { max: 4 + seed }),
        temperature: seed % 2 ? 0.9 : 0,
        seed,
        repetitionPenalty: seed % 4 ? 1 : 1.2,
        suppressFirst: seed % 3 ? [] : [4],
        forced: seed % 5 ? [] : [[6, 3]],
        stop: seed % 2 ? [4, 7] : ['ab', 9],
      };
      await assertEqual(model, prompts, options, `${name}, seed ${seed}`);
      model.dispose();
    }
    assert.equal(hl.info.memory.used, used);
  });

test('texts end independently: at an end token, a stop text, the context and max', async () => {
  const model = build({ seed: 3 });
  const full = await assertEqual(model, PROMPTS, NEVER, 'context');
  assert.deepEqual(
    full.map(({ ids, ended }) => [ids.length, ended]),
    PROMPTS.map(({ length }) => [25 - length, 'context']),
  );
  const stop = [full[0].ids[2], full[3].text.slice(5, 8)];
  const some = await assertEqual(model, PROMPTS, { stop, max: 12 }, 'stop');
  assert.equal(some[0].ended, 'stop');
  assert.ok(new Set(some.map(({ ids }) => ids.length)).size > 1);
  assert.deepEqual(
    (await model.generate(PROMPTS, { max: 0 })).map(({ ended }) => ended),
    new Array(4).fill('max'),
  );
  assert.deepEqual(await model.generate(['314', '1'], NEVER), await model.generate(PROMPTS.slice(0, 2), NEVER));
  model.dispose();
});

test('several texts have the tokens that each has alone with rounded weights', async () => {
  for (const storage of ['int8', 'int4']) {
    const model = build({ dModel: 64, std: 0.3, seed: 1 });
    model.quantize(storage);
    await assertEqual(model, PROMPTS, { max: 12, ...NEVER }, storage);
    model.dispose();
  }
});

test('a list with one prompt gives a list with one result', async () => {
  const model = build({ seed: 3 });
  for (const prompt of [[3, 1, 4], '314', { ids: [3, 1, 4] }, Int32Array.of(3, 1, 4)])
    assert.deepEqual(await model.generate([prompt], { max: 4 }), [await model.generate(prompt, { max: 4 })]);
  model.dispose();
});

test('the weights are read once for all texts, and only open texts are computed', async () => {
  const model = build({ seed: 3 });
  const { forwardFor } = model;
  const batches = [];
  model.forwardFor = (...args) => {
    batches.push(args[1].ids.length);
    return forwardFor.apply(model, args);
  };
  await model.generate(PROMPTS, NEVER);
  // The prompts have 3, 1, 7 and 2 tokens, and are continued by 22, 24, 18 and 23 tokens.
  assert.deepEqual(batches, [...new Array(18).fill(4), ...new Array(4).fill(3), 2, 1]);
  delete model.forwardFor;
  model.dispose();
});

test('onToken gets the index of the text; the texts of each concatenate; a rejection ends all', async () => {
  const model = build({ seed: 3 });
  const { used } = hl.info.memory;
  const seen = PROMPTS.map(() => []);
  const order = [];
  const onToken = async (token, index) => {
    await null;
    order.push(index);
    seen[index].push(token);
  };
  const results = await model.generate(PROMPTS, { max: 5, stop: ['zz'], onToken });
  assert.deepEqual(order, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
  for (const [i, { ids, text }] of results.entries()) {
    assert.deepEqual(
      seen[i].map(({ id }) => id),
      ids,
    );
    assert.equal(seen[i].map((token) => token.text).join(''), text);
  }
  const indices = [];
  await model.generate(PROMPTS[0], { max: 2, ...NEVER, onToken: (_, index) => indices.push(index) });
  assert.deepEqual(indices, [0, 0]);
  const failing = (_, index) => {
    if (index === 2) throw new Error('mine');
  };
  await assert.rejects(model.generate(PROMPTS, { onToken: failing }), /mine/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('on abort each text has its tokens so far', async () => {
  const model = build({ seed: 3 });
  const full = await model.generate(PROMPTS, NEVER);
  const control = new AbortController();
  let count = 0;
  const onToken = () => ++count === 6 && control.abort();
  const cut = await model.generate(PROMPTS, { ...NEVER, signal: control.signal, onToken });
  assert.deepEqual(
    cut.map(({ ids, ended }) => [ids, ended]),
    full.map(({ ids }) => [ids.slice(0, 2), 'signal']),
  );
  model.dispose();
});

test('several texts refuse by name what they do not have', async () => {
  const model = build({ seed: 3 });
  const { used } = hl.info.memory;
  const cache = model.cache({ length: 12, batch: 4 });
  const refused = (prompts, options, message, code = 'ARGUMENT') =>
    assert.rejects(model.generate(prompts, options), (error) => {
      assert.equal(error.name, 'HeadlightError', error.stack);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  await refused(PROMPTS, { lookup: true }, /lookup is true, expected false with several texts/);
  await refused(PROMPTS, { cache }, /cache is .*, expected none with several texts/);
  await refused(PROMPTS, { beams: 2 }, /beams is 2, expected 1 with several texts/);
  await refused(PROMPTS, { edit: [{ at: 'blocks.0.mlp', set: 'zero' }] }, /edit is .*, expected none with several/);
  await refused([[1], [11]], {}, /prompt\[1\]\[0\] is 11/);
  await refused([[1], []], {}, /prompt\[1\] is \[\], expected at least one token/);
  await refused([[1], 2], {}, /prompt\[1\] has shape/, 'SHAPE');
  await refused([[1], new Array(25).fill(1)], {}, /prompt\[1\] has shape \[25\], expected at most 24 tokens/, 'SHAPE');
  cache.dispose();
  const over = async () => {
    for await (const { id } of model.generate(PROMPTS, { max: 1 })) assert.ok(id >= 0);
  };
  await assert.rejects(over, {
    name: 'HeadlightError',
    message: /the tokens of several texts cannot be iterated over; use onToken/,
  });
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('encoders of several texts have ids and keep; other inputs are refused by name', async () => {
  const model = build({ encoder: ENCODER, seed: 6 });
  const padded = { encoder: { ids: [3, 1, 0, 5], keep: [1, 1, 0, 1] }, ids: [2, 4] };
  await assertEqual(model, [padded, { encoder: [7] }, [4, 5, 6, 7, 8]], { max: 9, ...NEVER }, 'keep');
  const other = (encoder) => model.generate([[1], { encoder }], { max: 2 });
  await assert.rejects(other({ ids: [1, 2], positions: [0, 1] }), {
    name: 'HeadlightError',
    message:
      /prompt\[1\]\.encoder\.positions is \[0,1\], expected none, because encoders of several texts accept only ids/,
  });
  await assert.rejects(other({ ids: [1, 2], keep: [1] }), { message: /encoder\.keep is \[1\], expected as many/ });
  model.dispose();
  const heard = build({ encoder: { ...ENCODER, input: 'audio', channels: 4, vocab: undefined } });
  const features = { data: new Float32Array(4 * 24), shape: [1, 4, 24] };
  await assert.rejects(heard.generate([{ features }, { features }]), {
    code: 'STATE',
    message: /several texts need an encoder of tokens, but the input of this model's encoder is audio/,
  });
  heard.dispose();
});

test('texts that would get the angles of long sequences are refused, shorter ones are not', async () => {
  const long = { beyond: 12, scaling: { type: 'factors', factors: [3, 9], attentionFactor: 2 } };
  const model = build({ positions: 'rotary', rotary: { long }, seed: 2 });
  await assertEqual(model, PROMPTS, { max: 6, ...NEVER }, 'short');
  await assert.rejects(model.generate(PROMPTS, { max: 7 }), {
    code: 'ARGUMENT',
    message: /max is 7, expected so few that no text gets longer than 12 tokens/,
  });
  model.dispose();
});

/** Families whose decoder returns logits of tokens. */
const DECODERS = families.filter(({ causal }) => causal !== undefined);

test('every decoder continues several texts as it continues each alone', async () => {
  let count = 0;
  for (const { name, files } of DECODERS) {
    const model = await hl.openModel(files);
    const { classes, encoder, context, rotary } = model.options;
    const isHeard = encoder && encoder.input !== 'tokens';
    if (classes === 0 && !isHeard && !rotary?.long) {
      const prompts = [[3, 9, 4, 1, 7], [5], [8, 2, 6]];
      const max = Math.min(context, 12);
      const inputs = encoder ? [...prompts, { encoder: [7, 6, 5, 4, 3, 2], ids: [2, 9, 4] }] : prompts;
      for (const temperature of isFullTier ? [0, 0.8] : [0])
        await assertEqual(model, inputs, { max, temperature, seed: 5, ...NEVER }, name);
      count++;
    }
    model.dispose();
  }
  assert.ok(count > 45, `${count}`);
});
