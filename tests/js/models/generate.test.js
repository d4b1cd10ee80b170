import assert from 'node:assert/strict';
import test from 'node:test';
import { collectGarbage, hl } from '../../support/headlight.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 11, context: 16, seed: 4, std: 2 };
const tokenizer = {
  encode: (text) => ({ ids: [...text].map(Number) }),
  decode: (ids) => ids.map((i) => 'abcdefghijk'[i]).join(''),
};
const build = (options) => Object.assign(hl.transformer({ ...SMALL, ...options }), { tokenizer });
const PROMPT = [3, 1, 4];
const NEVER = { stop: [] };

/** Returns the most probable next tokens, computed with forward only. */
function greedy(model, prompt, count, given = (ids) => ids, options = {}) {
  const ids = [...prompt];
  for (let i = 0; i < count; i++) {
    const { logits } = model.forward(given(ids), options);
    const row = logits.copy().slice(-SMALL.vocab);
    logits.dispose();
    ids.push(row.indexOf(Math.max(...row)));
  }
  return ids.slice(prompt.length);
}

test('generate chooses the most probable tokens of forward, also with an edit and after a prefix', async () => {
  const model = build({});
  const expected = greedy(model, PROMPT, 6);
  const result = await model.generate(PROMPT, { max: 6, ...NEVER });
  assert.deepEqual(result.ids, expected);
  assert.equal(result.text, tokenizer.decode(expected));
  assert.ok(result.logProbs.every((p) => p <= 0 && Number.isFinite(p)));

  const cache = model.cache({ length: 12 });
  model.forward(PROMPT.slice(0, 2), { cache }).dispose();
  await collectGarbage();
  const { used } = hl.info.memory;
  assert.deepEqual((await model.generate(PROMPT.slice(2), { max: 6, cache })).ids, expected);
  assert.equal(cache.length, 8);
  assert.equal(hl.info.memory.used, used);
  cache.dispose();

  const edit = [
    { at: 'blocks.*.heads', head: [0, 2], set: 'zero' },
    { at: 'blocks.1.mlp', token: 4, scale: -3 },
  ];
  assert.deepEqual((await model.generate(PROMPT, { max: 6, edit })).ids, greedy(model, PROMPT, 6, undefined, { edit }));
  model.dispose();
});

test('the same seed gives the same tokens, another seed gives others', async () => {
  const model = build({});
  const draw = (seed) => model.generate(PROMPT, { max: 12, temperature: 3, topK: 9, topP: 0.99, seed, ...NEVER });
  const first = await draw(5);
  assert.deepEqual(await draw(5), first);
  assert.notDeepEqual((await draw(6)).ids, first.ids);
  assert.deepEqual((await model.generate(PROMPT, { max: 5, temperature: 2, topK: 1 })).ids, greedy(model, PROMPT, 5));
  model.dispose();
});

test('stop tokens and stop texts end generate, abort returns the tokens so far, texts concatenate', async () => {
  const model = build({});
  const ids = greedy(model, PROMPT, 8);
  const text = tokenizer.decode(ids);
  const stop = text.slice(3, 5);
  const pieces = [];
  const stopped = await model.generate(PROMPT, { max: 8, stop: [stop], onToken: (token) => pieces.push(token.text) });
  assert.equal(stopped.text, text.slice(0, text.indexOf(stop)));
  assert.equal(pieces.join(''), stopped.text);
  assert.equal(stopped.ended, 'stop');
  const byToken = await model.generate(PROMPT, { max: 8, stop: [ids[2]] });
  assert.deepEqual(byToken.ids, ids.slice(0, ids.indexOf(ids[2])));

  const control = new AbortController();
  const onToken = ({ id }) => id === ids[1] && control.abort();
  const cut = await model.generate(PROMPT, { max: 8, signal: control.signal, onToken });
  assert.equal(cut.ended, 'signal');
  assert.deepEqual(cut.ids, ids.slice(0, ids.indexOf(ids[1]) + 1));
  assert.deepEqual((await model.generate(PROMPT, { max: 8, signal: control.signal })).ids, []);
  model.dispose();
});

test('text that is held back at the end is emitted with the last token, for every kind of end', async () => {
  const model = build({});
  const ids = greedy(model, PROMPT, 8);
  const text = tokenizer.decode(ids);
  // Each token is one byte of a character of three bytes. The stop text never occurs completely.
  const bytes = {
    ...tokenizer,
    decode: (list) => new TextDecoder().decode(Uint8Array.from(list, (_, i) => [0xe2, 0x82, 0xac][i % 3])),
  };
  const beginning = `${text.slice(3, 4)}\n`;
  const cases = [
    [tokenizer, { max: 4, stop: [beginning] }],
    [tokenizer, { max: 8, stop: [beginning, ids[4]] }],
    [bytes, { max: 4 }],
    [bytes, { max: 5 }],
    [bytes, { max: 6 }],
    [bytes, { max: 8, stop: [ids[4]] }],
  ];
  for (const [own, options] of cases) {
    model.tokenizer = own;
    const seen = [];
    const result = await model.generate(PROMPT, { ...NEVER, ...options, onToken: (token) => seen.push(token) });
    assert.equal(result.text, own.decode(result.ids));
    assert.equal(seen.map((token) => token.text).join(''), result.text);
    assert.deepEqual(
      seen.map(({ id }) => id),
      result.ids,
    );
    assert.deepEqual(
      seen.map(({ logProb }) => logProb),
      result.logProbs,
    );
  }
  const control = new AbortController();
  const seen = [];
  const onToken = (token) => seen.push(token) === 2 && control.abort();
  const { signal } = control;
  const cut = await model.generate(PROMPT, { max: 8, ...NEVER, signal, onToken });
  assert.equal(cut.ended, 'signal');
  assert.equal(seen.map((token) => token.text).join(''), cut.text);
  for (const signal of [5, 'x', {}, null])
    await assert.rejects(model.generate(PROMPT, { max: 1, signal }), /generate: signal is .*, expected an AbortSignal/);
  model.dispose();
});

test('a mask of the prompt does not change how later tokens attend', async () => {
  const model = build({});
  const edit = [
    {
      at: 'blocks.*.scores',
      mask: [
        [1, 0, 0],
        [0, 1, 0],
        [1, 0, 1],
      ],
    },
  ];
  const { ids, logProbs } = await model.generate(PROMPT, { max: 5, edit, ...NEVER });
  // Extends the mask of the edit to all tokens. Later tokens have the causal mask.
  const whole = (length) =>
    Array.from({ length }, (_, t) =>
      Array.from({ length }, (_, s) => (t < 3 && s < 3 ? edit[0].mask[t][s] : Number(s <= t))),
    );
  const expected = [...PROMPT];
  for (let i = 0; i < 5; i++) {
    const mask = whole(expected.length);
    expected.push(...greedy(model, expected, 1, undefined, { edit: [{ ...edit[0], mask }] }));
  }
  assert.deepEqual(ids, expected.slice(PROMPT.length));
  assert.notDeepEqual(logProbs, (await model.generate(PROMPT, { max: 5, ...NEVER })).logProbs);
  model.dispose();
});

test('a decoder generates from the output of its encoder', async () => {
  const model = build({ encoder: { ...SMALL, causal: false, head: 'none' } });
  const encoder = [1, 2, 3, 4, 5];
  const { ids } = await model.generate({ encoder, ids: PROMPT }, { max: 5, ...NEVER });
  assert.deepEqual(
    ids,
    greedy(model, PROMPT, 5, (given) => ({ encoder, ids: given })),
  );
  model.dispose();
});

test('generate ends with the context or the cache, and refuses prompts that do not fit', async () => {
  const model = build({});
  assert.equal((await model.generate(PROMPT, { max: 99 })).ids.length, 14);
  await collectGarbage();
  const { used } = hl.info.memory;
  const cache = model.cache({ length: 5 });
  assert.equal((await model.generate(PROMPT, { max: 99, cache })).ids.length, 3);
  cache.dispose();
  const refused = (prompt, options, code, message) =>
    assert.rejects(model.generate(prompt, { max: 3, ...options }), (error) => {
      assert.equal(error.code, code, error.stack);
      assert.match(error.message, message);
      return true;
    });
  await refused(new Array(17).fill(1), {}, 'SHAPE', /at most 16 tokens/);
  const two = { data: [...PROMPT, ...PROMPT], shape: [2, 3] };
  await refused(two, {}, 'SHAPE', /one sequence \(T\); pass several sequences as a list of prompts/);
  await refused([], {}, 'ARGUMENT', /at least one token/);
  await refused([11], {}, 'ARGUMENT', /prompt\[0\] is 11/);
  await refused({ ids: PROMPT, keep: [0, 1, 1] }, {}, 'ARGUMENT', /keep is \[0,1,1\], expected 1 for every token/);
  await refused(PROMPT, { cache: {} }, 'ARGUMENT', /cache\(\) of this model/);
  await refused(PROMPT, { max: -1 }, 'ARGUMENT', /max/);
  await refused(PROMPT, { onToken: 'print' }, 'ARGUMENT', /onToken is 'print', expected a function/);
  await refused(PROMPT, { stop: 'a' }, 'ARGUMENT', /a list of tokens and texts/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
  const ofClasses = build({ classes: 3 });
  await assert.rejects(ofClasses.generate(PROMPT, { max: 1 }), { code: 'STATE', message: /no logits of tokens/ });
  ofClasses.dispose();
});

test('a cache is locked during generate: other uses are refused until it ends', async () => {
  const model = build({ context: 64 });
  const alone = await model.generate(PROMPT, { max: 20, ...NEVER });
  const cache = model.cache({ length: 64 });
  const refused = [];
  const attempts = [
    () => model.generate([4, 5], { max: 20, cache, ...NEVER }),
    async () => cache.rewind(0),
    async () => model.forward([1], { cache }),
  ];
  const onToken = async () => {
    for (const attempt of attempts) refused.push(await attempt().catch((error) => error.code));
    // A clone of the cache is not locked.
    cache.clone().dispose();
  };
  const { ids } = await model.generate(PROMPT, { max: 20, cache, onToken, ...NEVER });
  assert.deepEqual(ids, alone.ids);
  assert.deepEqual(refused, new Array(60).fill('STATE'));
  await assert.rejects(model.generate([1], { max: 3, cache, onToken: () => cache.dispose(), ...NEVER }), {
    code: 'DISPOSED',
  });

  const next = model.cache({ length: 8 });
  await assert.rejects(model.generate([99], { cache: next }), { code: 'ARGUMENT' });
  const failing = () => {
    throw new Error('mine');
  };
  await assert.rejects(model.generate([1], { cache: next, onToken: failing }), /mine/);
  assert.equal(next.rewind(0).length, 0);
  next.dispose();
  model.dispose();
});

test('generate awaits the promises of onToken and rejects if one rejects', async () => {
  const model = build({});
  const later = () => new Promise((resolve) => setTimeout(resolve));
  const seen = [];
  const slow = async ({ id }) => {
    await later();
    seen.push(id);
  };
  const { ids } = await model.generate(PROMPT, { max: 5, onToken: slow, ...NEVER });
  assert.deepEqual(seen, ids);
  await collectGarbage();
  const { used } = hl.info.memory;
  const failing = async () => {
    await later();
    throw new Error('no room in the page');
  };
  await assert.rejects(model.generate(PROMPT, { max: 5, onToken: failing, ...NEVER }), /no room in the page/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('generate is an async iterator of its tokens, which computes a token when it is asked for', async () => {
  const model = build({});
  const seen = [];
  const options = { max: 6, ...NEVER };
  const whole = [];
  const expected = await model.generate(PROMPT, { ...options, onToken: (token) => whole.push(token) });
  for await (const token of model.generate(PROMPT, options)) seen.push(token);
  assert.deepEqual(seen, whole);
  assert.equal(seen.map(({ text }) => text).join(''), expected.text);

  const computed = [];
  const running = model.generate(PROMPT, { ...options, onToken: ({ id }) => computed.push(id) });
  const tokens = running[Symbol.asyncIterator]();
  await tokens.next();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(computed.length, 1);
  await tokens.next();
  assert.equal(computed.length, 2);
  await tokens.return();
  const { ids, ended } = await running;
  assert.deepEqual([ids, ended], [expected.ids.slice(0, ids.length), 'signal']);
  assert.ok(ids.length < 6);
  assert.equal((await tokens.next()).done, true);
  model.dispose();
});

test('leaving the loop, a signal and an error end the iteration of tokens', async () => {
  const model = build({});
  await collectGarbage();
  const { used } = hl.info.memory;
  for await (const { id } of model.generate(PROMPT, NEVER)) if (id >= 0) break;
  const control = new AbortController();
  let count = 0;
  for await (const { id } of model.generate(PROMPT, { ...NEVER, signal: control.signal }))
    if (id >= 0 && ++count === 3) control.abort();
  assert.equal(count, 3);
  const over = async (prompt, options) => {
    for await (const { id } of model.generate(prompt, options)) assert.ok(id >= 0);
  };
  await assert.rejects(over(PROMPT, { max: -1 }), /^HeadlightError: generate: max is -1/);
  await assert.rejects(over(PROMPT, { onToken: 'print' }), /onToken is 'print', expected a function/);
  await assert.rejects(over(PROMPT, { signal: 3 }), /signal is 3, expected an AbortSignal/);
  await assert.rejects(over(PROMPT, null), { code: 'ARGUMENT' });
  const failing = () => {
    throw new Error('mine');
  };
  await assert.rejects(over(PROMPT, { ...NEVER, onToken: failing }), /mine/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('without max, generate continues to an end token or the end of the context, and reports which', async () => {
  const model = build({});
  const all = await model.generate(PROMPT);
  assert.deepEqual([all.ids.length, all.ended], [14, 'context']);
  assert.equal((await model.generate(PROMPT, { max: 14 })).ended, 'max');
  assert.equal((await model.generate(PROMPT, { max: 15 })).ended, 'context');
  const cache = model.cache({ length: 5 });
  assert.deepEqual((await model.generate(PROMPT, { cache })).ended, 'context');
  cache.dispose();
  assert.equal((await model.generate(PROMPT, { stop: [all.ids[3]] })).ended, 'stop');
  model.dispose();
});

test('the internal cache grows with the tokens: a large max allocates nothing in advance', async () => {
  const options = { layers: 3, context: 2 ** 20, positions: 'rotary', kvHeads: 2 };
  const model = build(options);
  const short = build({ ...options, context: 256 });
  const { reserved } = hl.info.memory;
  const first = await model.generate(PROMPT, {
    max: 2 ** 20,
    onToken: () => assert.fail('the first token ends it'),
    stop: Array.from({ length: SMALL.vocab }, (_, id) => id),
  });
  assert.equal(first.ended, 'stop');
  assert.equal(hl.info.memory.reserved, reserved);
  // Generates more tokens than the initial capacity of the internal cache.
  const cache = short.cache({ length: 256 });
  const expected = await short.generate(PROMPT, { max: 200, cache, ...NEVER });
  assert.deepEqual(await model.generate(PROMPT, { max: 200, ...NEVER }), expected);
  cache.dispose();
  for (const made of [model, short]) made.dispose();
});

test('a growing cache keeps its tokens when memory runs out', async () => {
  const { load } = await import('headlight-attention');
  const small = await load({ maxMemory: 2 ** 20 });
  const model = small.transformer({ ...SMALL, layers: 8, context: 2 ** 16, positions: 'alibi' });
  const before = small.info.memory.used;
  await assert.rejects(model.generate(PROMPT, { max: 2 ** 16, ...NEVER }), {
    code: 'OUT_OF_MEMORY',
    message: /^generate/,
  });
  assert.equal(small.info.memory.used, before);
  assert.equal((await model.generate(PROMPT, { max: 3, ...NEVER })).ids.length, 3);
  small.dispose();
});

test('suppress, suppressFirst, forced and repetitionPenalty', async () => {
  const model = build({});
  const ids = greedy(model, PROMPT, 6);
  const without = await model.generate(PROMPT, { max: 6, suppress: [ids[0], 99] });
  assert.ok(!without.ids.includes(ids[0]));
  const first = await model.generate(PROMPT, { max: 6, suppressFirst: [ids[0]] });
  assert.notEqual(first.ids[0], ids[0]);
  assert.ok(without.logProbs.every(Number.isFinite));

  const other = (ids[1] + 1) % SMALL.vocab;
  const forced = await model.generate(PROMPT, { max: 3, forced: [[4, other]], suppressFirst: [ids[0]] });
  assert.deepEqual(forced.ids.slice(0, 2), [ids[0], other]);
  assert.equal(forced.logProbs[1], 0);
  const after = greedy(model, [...PROMPT, ids[0], other], 1)[0];
  const next = await model.generate(PROMPT, { max: 3, forced: [[4, other]], suppressFirst: [after] });
  assert.deepEqual(next.ids.slice(0, 2), [ids[0], other]);
  assert.notEqual(next.ids[2], after);

  // The penalty is so strong that each token is chosen only once.
  const { ids: unlike } = await model.generate(PROMPT, { max: 8, repetitionPenalty: 1e6 });
  assert.equal(new Set([...PROMPT, ...unlike]).size, 11);
  assert.deepEqual((await model.generate(PROMPT, { max: 6, repetitionPenalty: 1 })).ids, ids);
  for (const [options, parameter] of [
    [{ suppress: 3 }, 'suppress'],
    [{ suppressFirst: [-1] }, 'suppressFirst[0]'],
    [{ forced: [3] }, 'forced[0]'],
    [{ forced: [[3, 11]] }, 'forced[0][1]'],
    [{ repetitionPenalty: 0 }, 'repetitionPenalty'],
  ])
    await assert.rejects(model.generate(PROMPT, { max: 2, ...options }), { code: 'ARGUMENT', parameter });
  model.dispose();
});

test('errors about invalid signals, edits and prompts name generate', async () => {
  const model = build({});
  for (const signal of [5, 'x', {}, null])
    await assert.rejects(model.generate(PROMPT, { max: 1, signal }), { code: 'ARGUMENT', parameter: 'signal' });
  const edit = [{ at: 'blocks.7.mlp', set: 'zero' }];
  await assert.rejects(model.generate(PROMPT, { max: 1, edit }), {
    code: 'ARGUMENT',
    message: "generate: edit[0].at is 'blocks.7.mlp', expected a block from 0 to 1: this model has 2 blocks",
  });
  const texts = { ids: ['a', 'b'] };
  await assert.rejects(model.generate(texts, { max: 1 }), { code: 'ARGUMENT', message: /in place of a list/ });

  const ids = { data: BigInt64Array.from(PROMPT, BigInt), dims: [1, 3], type: 'int64' };
  const mask = { data: BigInt64Array.of(1n, 1n, 1n), dims: [1, 3], type: 'int64' };
  const expected = await model.generate(PROMPT, { max: 4 });
  assert.deepEqual(await model.generate({ input_ids: ids, attention_mask: mask }, { max: 4 }), expected);
  mask.data[0] = 0n;
  await assert.rejects(model.generate({ input_ids: ids, attention_mask: mask }), { parameter: 'attention_mask' });
  await assert.rejects(model.generate({ input_ids: ids, token_type_ids: mask }), {
    code: 'ARGUMENT',
    message: /token_type_ids/,
  });
  model.dispose();
});
