import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError, load } from 'headlight-attention';
import { difference } from '../../support/golden.js';
import { build, everywhere, flavours, hl } from '../../support/headlight.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, kvHeads: 2, vocab: 11, context: 16, seed: 4, positions: 'rotary' };
const ENCODER = { ...SMALL, causal: false, head: 'none' };
const IDS = [3, 1, 4, 1, 5, 9, 2, 6];
const logitsOf = (model, input, options) => {
  const result = model.forward(input, options);
  const data = result.logits.copy();
  result.dispose();
  return data;
};
const near = (actual, expected, limit = 1e-5) => {
  const off = difference(actual, expected);
  assert.ok(off < limit, `off by ${off}`);
};
const lastRows = (data, count) => data.subarray(data.length - count * SMALL.vocab);
const refuses = (fn, code, message) =>
  assert.throws(fn, (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });

test(
  'after rewind a cache of any type gives the same results as a new run',
  everywhere((hl) => {
    const model = hl.transformer(SMALL);
    for (const [type, limit] of Object.entries({ float32: 1e-5, float16: 2e-3, int8: 2e-2 })) {
      const cache = model.cache({ length: 12, type });
      logitsOf(model, IDS, { cache });
      cache.rewind(3);
      assert.equal(cache.length, 3);
      near(logitsOf(model, [7, 8], { cache }), lastRows(logitsOf(model, [3, 1, 4, 7, 8]), 2), limit);
      cache.rewind(0);
      near(logitsOf(model, [2, 2], { cache }), logitsOf(model, [2, 2]), limit);
      cache.dispose();
    }
    model.dispose();
  }),
);

test(
  'a cloned cache has the same prefix and is independent of the original',
  everywhere((hl) => {
    const model = hl.transformer(SMALL);
    const cache = model.cache({ length: 12 });
    logitsOf(model, IDS, { cache });
    const other = cache.clone();
    assert.deepEqual([other.length, other.capacity], [8, 12]);
    near(logitsOf(model, [7, 8], { cache }), lastRows(logitsOf(model, [...IDS, 7, 8]), 2));
    near(logitsOf(model, [10], { cache: other }), lastRows(logitsOf(model, [...IDS, 10]), 1));
    cache.dispose();
    near(logitsOf(model, [0], { cache: other }), lastRows(logitsOf(model, [...IDS, 10, 0]), 1));
    other.dispose();
    model.dispose();
  }),
);

test(
  'left-padded sequences of a batch give the results of each sequence alone, token by token',
  everywhere((hl) => {
    for (const positions of ['rotary', 'learned', 'alibi']) {
      const model = hl.transformer({ ...SMALL, positions });
      const rows = [[3, 1, 4, 1], [5, 9], [2]];
      const ids = rows.map((row) => [...new Array(4 - row.length).fill(0), ...row]);
      const keep = rows.map((row) => [...new Array(4 - row.length).fill(0), ...row.map(() => 1)]);
      const cache = model.cache({ length: 8, batch: 3 });
      for (const next of [null, 6, 10]) {
        const given = next === null ? { ids, keep } : { ids: rows.map(() => [next]) };
        if (next !== null) for (const row of rows) row.push(next);
        const last = logitsOf(model, given, { cache, last: true });
        rows.forEach((row, b) => {
          near(last.subarray(b * 11, (b + 1) * 11), lastRows(logitsOf(model, row), 1));
        });
      }
      cache.dispose();
      model.dispose();
    }
  }),
);

test(
  'last: true returns logits and hidden state of the last token only; the cache contains all tokens',
  everywhere((hl) => {
    const kept = { ids: [IDS, [0, 0, 0, ...IDS.slice(0, 5)]], keep: [IDS.map(() => 1), [0, 0, 0, 1, 1, 1, 1, 1]] };
    const forms = [
      ...['rotary', 'learned', 'sinusoidal', 'alibi', 'buckets', 'none'].map((positions) => ({ positions })),
      ...['after', 'both', 'parallel', 'stream', 'outputs'].map((normPlace) => ({ normPlace })),
      ...[{ window: [null, 3] }, { window: 3 }, { sinks: true }, { mlp: 0 }, { layers: 1 }, { layers: 0 }],
      ...[{ causal: false }, { encoder: ENCODER }, { normPlace: 'after', encoder: ENCODER }, { pool: 'first' }],
    ];
    for (const form of forms) {
      const model = build(hl, { ...SMALL, mlp: 24, ...form });
      const input = model.options.encoder
        ? {
            ...kept,
            encoder: [
              [1, 2, 3],
              [4, 5, 6],
            ],
          }
        : kept;
      const whole = model.forward(input);
      const results = [model.forward(input, { last: true })];
      if (model.options.causal) {
        const cache = model.cache({ length: 9, batch: 2 });
        results.push(model.forward(input, { cache, last: true }));
        assert.equal(cache.length, 8);
        const next = { ids: [[7], [9]] };
        const longer = { ...input, ids: kept.ids.map((row, b) => [...row, next.ids[b][0]]) };
        longer.keep = kept.keep.map((row) => [...row, 1]);
        near(logitsOf(model, next, { cache }), logitsOf(model, longer, { last: true }));
        cache.dispose();
      }
      for (const { logits, hidden } of results) {
        const last = ({ data, shape: [, rows, width] }) =>
          [0, 1].flatMap((b) => [...data.subarray(((b + 1) * rows - 1) * width, (b + 1) * rows * width)]);
        assert.deepEqual(
          [logits.shape, hidden.shape],
          [
            [2, 1, SMALL.vocab],
            [2, 1, SMALL.dModel],
          ],
        );
        near(logits.copy(), last(whole.logits));
        near(hidden.copy(), last(whole.hidden));
      }
      for (const result of [whole, ...results]) result.dispose();
      model.dispose();
    }
  }),
);

test(
  'last: true is refused without tokens',
  everywhere((hl) => {
    const model = hl.transformer(SMALL);
    const cache = model.cache({ length: 4 });
    for (const options of [{ last: true }, { last: true, cache }])
      refuses(() => model.forward([], options), 'SHAPE', /shape \[0\], expected at least one token/);
    assert.equal(logitsOf(model, [], { cache }).length, 0);
    assert.equal(cache.length, 0);
    cache.dispose();
    model.dispose();
  }),
);

test(
  'the output of an encoder is cached, even after a failed call',
  everywhere((hl) => {
    const model = hl.transformer({ ...SMALL, encoder: ENCODER });
    const encoder = [1, 2, 3, 4];
    const whole = logitsOf(model, { encoder, ids: IDS });
    const cache = model.cache({ length: 12 });
    const edit = [{ at: 'blocks.0.mlp', set: [1, 2, 3] }];
    refuses(() => model.forward({ encoder: [9, 9], ids: IDS }, { cache, edit }), 'SHAPE', /edit\[0\]\.set/);
    near(logitsOf(model, { encoder, ids: IDS.slice(0, 6) }, { cache }), whole.subarray(0, 66));
    const other = cache.clone();
    near(logitsOf(model, IDS.slice(6), { cache }), lastRows(whole, 2));
    near(logitsOf(model, IDS.slice(6), { cache: other }), lastRows(whole, 2));
    cache.rewind(0);
    refuses(() => model.forward(IDS, { cache }), 'ARGUMENT', /this model has an encoder/);
    for (const made of [cache, other, model]) made.dispose();
  }),
);

test('inputs that do not fit a cache are refused, and no tensor is lost', () => {
  const [model, twin] = [hl.transformer(SMALL), hl.transformer(SMALL)];
  model.forward(IDS).dispose();
  const { used } = hl.info.memory;
  refuses(() => model.cache({ length: 17 }), 'ARGUMENT', /at most 16|to 16/);
  refuses(() => model.cache({ length: 4, type: 'int4' }), 'ARGUMENT', /'float32', 'float16' or 'int8'/);
  const cache = model.cache({ length: 4 });
  refuses(() => model.forward(IDS, { cache }), 'SHAPE', /at most 4 more tokens, because the cache holds 4/);
  refuses(() => model.forward([[1], [2]], { cache }), 'SHAPE', /a batch of 1/);
  refuses(() => twin.forward([1], { cache }), 'ARGUMENT', /cache\(\) of this model/);
  refuses(() => model.forward([1], { cache: {} }), 'ARGUMENT', /cache\(\) of this model/);
  refuses(() => cache.rewind(1), 'ARGUMENT', /length/);
  assert.equal(cache.length, 0);
  logitsOf(model, [1, 2, 3, 4], { cache });
  refuses(() => model.forward([1], { cache }), 'SHAPE', /at most 0 more tokens/);
  cache.dispose();
  cache.dispose();
  refuses(() => model.forward([1], { cache }), 'DISPOSED', /the cache has been disposed/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
  twin.dispose();
});

test('a failed call adds no tokens to its cache, at whatever point it fails', () => {
  const model = hl.transformer(SMALL);
  const cache = model.cache({ length: 4 });
  for (const more of [
    { edit: [{ at: 'final', add: [1, 2] }] },
    { edit: [{ at: 'logits', set: [1, 2] }] },
    { last: 1 },
  ]) {
    assert.throws(() => model.forward([1, 2], { cache, ...more }), HeadlightError);
    assert.equal(cache.length, 0, JSON.stringify(more));
  }
  near(logitsOf(model, [1, 2], { cache }), logitsOf(model, [1, 2]));
  cache.dispose();
  model.dispose();
});

test('when memory runs out, copying a cache and a training forward free everything they allocated', async () => {
  const small = await load({ maxMemory: 2 ** 20 });
  const model = small.transformer({ ...SMALL, encoder: ENCODER });
  const input = { encoder: [1, 2, 3, 4], ids: [1, 2] };
  const cache = model.cache({ length: 12 });
  model.forward(input, { cache }).dispose();
  void model.gradients;
  const calls = [() => cache.clone(), () => model.forward(input, { train: true })];
  for (const call of calls) {
    let failures = 0;
    const blocks = [];
    // Fills the memory, so that the call runs with little free memory, which is increased until the call succeeds.
    for (let size = 2 ** 16; size >= 16; size /= 2)
      try {
        for (;;) blocks.push(small.zeros([size]));
      } catch (error) {
        assert.equal(error.code, 'OUT_OF_MEMORY');
      }
    while (blocks.length > 0) {
      const { used } = small.info.memory;
      try {
        call();
        break;
      } catch (error) {
        assert.equal(error.code, 'OUT_OF_MEMORY', error.stack);
        assert.equal(small.info.memory.used, used);
        failures++;
      }
      blocks.pop().dispose();
    }
    assert.ok(failures > 2, `${failures}`);
    for (const block of blocks) block.dispose();
  }
  small.dispose();
});

test('without cross-attention or without blocks, a decoder continues from its own tokens', async () => {
  for (const more of [{ cross: false }, { layers: 0 }]) {
    const model = hl.transformer({ ...SMALL, ...more, encoder: ENCODER });
    const cache = model.cache({ length: 12 });
    const whole = logitsOf(model, { encoder: [1, 2], ids: IDS });
    near(logitsOf(model, { encoder: [1, 2], ids: IDS.slice(0, 6) }, { cache }), whole.subarray(0, 66));
    near(logitsOf(model, IDS.slice(6), { cache }), lastRows(whole, 2));
    assert.equal((await model.generate({ encoder: [1, 2], ids: [3] }, { max: 3 })).ids.length, 3);
    cache.dispose();
    model.dispose();
  }
});

test('a disposed cache is refused by every method, even for a model without blocks', () => {
  for (const layers of [0, 2]) {
    const model = hl.transformer({ ...SMALL, layers });
    const cache = model.cache({ length: 4 });
    logitsOf(model, [1, 2], { cache });
    cache.dispose();
    assert.equal(cache.disposed, true);
    refuses(() => cache.rewind(0), 'DISPOSED', /rewind: the cache has been disposed/);
    refuses(() => cache.clone(), 'DISPOSED', /clone: the cache has been disposed/);
    refuses(() => model.forward([3], { cache }), 'DISPOSED', /forward: the cache has been disposed/);
    model.dispose();
  }
});

test('models that are not causal, and models of pictures, have no cache and cannot generate', async () => {
  const picture = { ...SMALL, input: 'patches', patch: { size: 2, image: 4 }, positions: 'learned' };
  for (const [options, why] of [
    [{ ...SMALL, causal: false }, /this model is not a decoder: its tokens attend to later tokens/],
    [picture, /this model is not a decoder: its input is patches/],
  ]) {
    const model = hl.transformer(options);
    refuses(() => model.cache({ length: 4 }), 'STATE', why);
    await assert.rejects(model.generate([1, 2], { max: 2 }), { code: 'STATE', message: why });
    model.dispose();
  }
});

test('a cache larger than the memory is refused before anything is allocated', () => {
  const model = hl.transformer({ ...SMALL, context: 2 ** 20, layers: 0 });
  refuses(() => model.cache({ length: 2 ** 20, batch: 2 ** 24 }), 'OUT_OF_MEMORY', /16777216 sequences of 1048576/);
  model.dispose();
});

test('the padding token has the same positions with and without a cache, for any calls', () => {
  const padding = { positions: 'learned', positionOffset: 2, padToken: 1 };
  const model = build(hl, { ...SMALL, ...padding });
  const rows = [
    [3, 1, 5, 6, 1, 1, 2, 4],
    [1, 1, 7, 1, 8, 9, 9, 1],
  ];
  const whole = logitsOf(model, rows);
  for (const cut of [8, 5, 1]) {
    const cache = model.cache({ length: 8, batch: 2 });
    for (let start = 0; start < 8; start += cut) {
      const part = logitsOf(
        model,
        rows.map((row) => row.slice(start, start + cut)),
        { cache },
      );
      const length = part.length / 2;
      for (const b of [0, 1])
        near(part.subarray(b * length, (b + 1) * length), whole.subarray((b * 8 + start) * 11).subarray(0, length));
      if (start === 0) continue;
      // Tokens that were removed from the cache, and others that replaced them, have no effect.
      cache.rewind(start);
      logitsOf(model, [[1], [6]], { cache });
      cache.rewind(start);
      const copy = cache.clone();
      near(
        logitsOf(
          model,
          rows.map((row) => row.slice(start, start + cut)),
          { cache: copy },
        ),
        part,
      );
      copy.dispose();
      logitsOf(
        model,
        rows.map((row) => row.slice(start, start + cut)),
        { cache },
      );
    }
    cache.dispose();
  }
  model.dispose();
});

test('a cache that was filled with other weights is refused until it is rewound to 0', () => {
  const changes = {
    loadStateDict: (model) => model.loadStateDict(model.stateDict()),
    changed: (model) => {
      model.parameters['norm.weight'].data.fill(2);
      model.changed();
    },
    quantize: (model) => model.quantize(),
    'step of an optimizer': (model) => {
      const optimizer = hl.sgd([model], { lr: 0.1 });
      model.learn([IDS], [IDS]);
      optimizer.step();
      optimizer.dispose();
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    const model = hl.transformer(SMALL);
    const cache = model.cache({ length: 8 });
    logitsOf(model, [1, 2], { cache });
    change(model);
    refuses(() => model.forward([3], { cache }), 'STATE', /weights of the model have changed since this cache/);
    cache.rewind(0);
    near(logitsOf(model, [1, 2], { cache }), logitsOf(model, [1, 2]), name === 'quantize' ? 1e-2 : 1e-5);
    cache.dispose();
    model.dispose();
  }
});

test('a cache is refused after any number of changes of the weights, of which some are then stored in int8', () => {
  for (let count = 0; count < 6; count++) {
    const model = hl.transformer({ ...SMALL, layers: 1, mlp: 0 });
    const cache = model.cache({ length: 8 });
    logitsOf(model, [1, 2], { cache });
    for (let i = 0; i < count; i++) model.loadStateDict(model.stateDict());
    model.quantize();
    refuses(() => model.forward([3], { cache }), 'STATE', /weights of the model have changed since this cache/);
    cache.dispose();
    model.dispose();
  }
});

/** Returns the logits after another token. `capture` makes the cache convert its keys and values to float32 first. */
function after(model, cache, options) {
  const result = model.forward(options.batch ?? [5], { cache, capture: options.capture, edit: options.edit });
  const values = result.logits.copy();
  result.dispose();
  for (const tensor of Object.values(result.captured)) tensor.dispose();
  return values;
}
const CONVERTED = { capture: ['blocks.*.out'] };
const NARROW = ['float16', 'int8'];
const LONG = Array.from({ length: 24 }, (_, i) => (i * 7) % SMALL.vocab);

test('a token reads a narrow cache as it is stored, with the results of the converted one', () => {
  const FORMS = [
    {},
    { window: [5, null], sinks: true, softcap: 2 },
    { positions: 'alibi', dModel: 12 },
    { positions: 'buckets', kvHeads: 1, headDim: 11 },
  ];
  for (const form of FORMS) {
    const model = build(hl, { ...SMALL, context: 40, ...form });
    for (const type of NARROW) {
      const cache = model.cache({ length: 40, type, batch: 2 });
      model.forward([LONG, LONG.toReversed()], { cache }).dispose();
      const other = cache.clone();
      const batch = [[5], [3]];
      near(after(model, cache, { batch }), after(model, other, { batch, ...CONVERTED }));
      for (const made of [cache, other]) made.dispose();
    }
    model.dispose();
  }
});

test('keys beyond the largest float16 are infinite in a float16 cache, and finite in int8', () => {
  const model = hl.transformer({ ...SMALL, context: 40 });
  const state = model.stateDict();
  const { data } = state['blocks.0.attention.wk'];
  for (let i = 0; i < data.length; i++) data[i] *= 1e6;
  model.loadStateDict(state);
  for (const type of NARROW) {
    const cache = model.cache({ length: 40, type });
    model.forward(LONG, { cache }).dispose();
    const other = cache.clone();
    const [stored, converted] = [after(model, cache, {}), after(model, other, CONVERTED)];
    assert.equal(converted.every(Number.isFinite), type === 'int8');
    if (type === 'int8') near(stored, converted);
    else assert.deepEqual(stored, converted);
    for (const made of [cache, other]) made.dispose();
  }
  model.dispose();
});

test('a clone of a cache with another capacity per head has the same bits, for any width of heads', () => {
  for (const headDim of [3, 8, 11]) {
    const model = build(hl, { ...SMALL, positions: 'learned', context: 40, headDim });
    for (const type of ['float32', ...NARROW]) {
      const cache = model.cache({ length: 33, type });
      model.forward(LONG, { cache }).dispose();
      const other = cache.clone();
      assert.deepEqual(after(model, other, {}), after(model, cache, {}), `${type} ${headDim}`);
      for (const made of [cache, other]) made.dispose();
    }
    model.dispose();
  }
});

test('edits and an encoder work with an int8 cache', () => {
  const edit = [{ at: 'blocks.0.heads', head: 1, scale: 0 }];
  const decoder = build(hl, { ...SMALL, context: 40 });
  const translator = build(hl, { ...SMALL, context: 40, encoder: ENCODER });
  const run = (model, input, type, options) => {
    const cache = model.cache({ length: 40, type });
    model.forward(input, { cache, edit: options.edit }).dispose();
    const logits = after(model, cache, options);
    cache.dispose();
    return logits;
  };
  for (const [model, input, options] of [
    [decoder, LONG, { edit }],
    [translator, { encoder: [1, 2, 3], ids: LONG }, {}],
  ]) {
    const [bytes, exact] = ['int8', 'float32'].map((type) => run(model, input, type, options));
    near(bytes, exact, 5e-2);
    assert.notDeepEqual(bytes, exact);
    model.dispose();
  }
});

test('a narrow cache gives the same bits with one and two threads', async () => {
  for (const { info } of flavours) {
    const found = [];
    for (const threads of [1, 2]) {
      const instance = await load({ simd: info.simd, threads });
      const model = instance.transformer({ ...SMALL, dModel: 256, context: 300, layers: 1 });
      for (const type of NARROW) {
        const cache = model.cache({ length: 300, type });
        model
          .forward(
            new Array(298).fill(0).map((_, i) => (i * i) % SMALL.vocab),
            { cache },
          )
          .dispose();
        found.push(after(model, cache, {}));
      }
      instance.dispose();
    }
    assert.deepEqual(found.slice(2), found.slice(0, 2));
  }
});
