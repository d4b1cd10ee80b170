// Makes random calls of whole models: forward with captured and edited values, KV caches, an encoder, generate and
// learn.

import assert from 'node:assert/strict';
import { assertClose } from './expected.js';
import { copyOf, inForm, integersInForm, SMALL } from './forms.js';

const [VOCAB, CONTEXT] = [5, 6];
const OF_BLOCK = 'in norm1 query key value scores weights heads attention mid norm2 hidden mlp out'.split(' ');
const OF_CROSS = 'query key value scores weights heads attention'.split(' ').map((name) => `cross.${name}`);
const ENCODER = {
  layers: 1,
  dModel: 4,
  numHeads: 2,
  vocab: VOCAB,
  context: CONTEXT,
  mlp: 3,
  causal: false,
  head: 'none',
};

function someOptions(source) {
  const positions = source.pick(['learned', 'rotary', 'alibi', 'none', 'sinusoidal', 'buckets']);
  const layers = source.below(3);
  const encoder = source.maybe(0.3, () => ({ ...ENCODER, positions }));
  const places = ['after', 'both', 'stream', ...(encoder ? [] : ['parallel', 'outputs'])];
  return {
    layers,
    dModel: 4,
    numHeads: 2,
    vocab: VOCAB,
    context: CONTEXT,
    mlp: source.pick([0, 3]),
    norm: source.pick(['layer', 'rms', 'none']),
    positions,
    seed: source.below(9),
    ...(source.chance(0.3) && { kvHeads: 1 }),
    ...(source.chance(0.3) && { gated: true, activation: 'silu' }),
    ...(source.chance(0.3) && { normPlace: source.pick(places) }),
    ...(source.chance(0.2) && { normScale: false }),
    ...(source.chance(0.2) && { queryKeyNorm: source.pick([true, 'all']) }),
    ...(source.chance(0.2) && { residualScale: 0.5 }),
    ...(source.chance(0.2) && { causal: false }),
    ...(positions === 'learned' && source.chance(0.5) && { positionOffset: 2, padToken: 1 }),
    ...(source.chance(0.2) && { sinks: true }),
    ...(source.chance(0.2) && { softcap: 2 }),
    ...(source.chance(0.2) && { window: 2 }),
    ...(encoder && { encoder }),
    ...(encoder && source.chance(0.1) && { cross: false }),
  };
}

/** Returns random token ids (B,T). */
const labels = ({ source }, batch, rows) => ({
  data: Int32Array.from({ length: batch * rows }, () => source.below(VOCAB)),
  shape: [batch, rows],
});

/** Returns the names of the values of a model that can be captured, each with its number of heads. */
function namesOf({ options }, prefix = '') {
  const { layers, cross, head, encoder, numHeads, kvHeads } = options;
  const blocks = ['*', ...Array.from({ length: layers }, (_, i) => i)];
  const inside = cross ? [...OF_BLOCK, ...OF_CROSS] : OF_BLOCK;
  const names = ['embed', 'final', ...(head === 'none' ? [] : ['logits'])];
  for (const i of blocks) names.push(...inside.map((name) => `blocks.${i}.${name}`));
  const headsOf = (name) =>
    /\.(query|scores|weights|heads)$/.test(name) ? numHeads : /\.(key|value)$/.test(name) ? kvHeads : 0;
  return [
    ...names.map((name) => ({ name: prefix + name, heads: headsOf(name) })),
    ...(encoder ? namesOf({ options: encoder }, 'encoder.') : []),
  ];
}

const some = (source, make, most) => Array.from({ length: source.below(most + 1) }, make);
const number = (source) => source.pick([0, 1, -1, 0.5, 3]);

/** Returns edits that are valid for any number of tokens. */
function someEdits(context, model) {
  const { source } = context;
  const names = namesOf(model);
  return some(
    source,
    () => {
      const { name, heads } = source.pick(names);
      const edit = { at: name };
      const operand = () => inForm(context, { data: Float32Array.of(number(source)), shape: [1] });
      if (heads > 0 && source.chance(0.3)) edit.head = source.chance(0.5) ? source.below(heads) : [source.below(heads)];
      if (source.chance(0.3)) edit.token = source.chance(0.5) ? source.below(9) : [0, source.below(9)];
      if (source.chance(0.4)) edit.set = source.chance(0.6) ? source.pick(['zero', 'mean']) : operand();
      if (source.chance(0.4)) edit.scale = number(source);
      if (source.chance(0.3)) edit.add = operand();
      if (!name.endsWith('.scores')) return edit;
      if (source.chance(0.4)) edit.mask = source.pick(['none', [1], [[0]], [[1]]]);
      if (source.chance(0.3)) edit.temperature = source.pick([0.5, 2]);
      if (source.chance(0.4)) edit.window = [source.between(-1, 3), source.between(-1, 3)];
      return edit;
    },
    3,
  );
}

const someCapture = (source, model) => [...new Set(some(source, () => source.pick(namesOf(model)).name, 4))];

/** Returns an input of the model in a random accepted form, and as plain numbers. */
function someInput(context, model, batch, rows) {
  const { source } = context;
  const [ids, read] = [labels(context, batch, rows), labels(context, batch, source.between(1, CONTEXT))];
  const keep = source.maybe(0.2, () => ({ data: ids.data.map(() => Number(source.chance(0.8))), shape: ids.shape }));
  const build = (form) => {
    const named = { ids: form(ids), ...(keep && { keep: form(keep) }) };
    if (model.options.encoder) return { encoder: form(read), ...named };
    return keep ? named : named.ids;
  };
  return { given: build((x) => integersInForm(context, x, SMALL)), plain: build((x) => x) };
}

const bitsOf = ({ logits, captured }) =>
  Object.fromEntries(Object.entries({ ...captured, logits }).map(([name, tensor]) => [name, copyOf(tensor)]));

/** Runs the model again, with every captured value replaced by that of the first run. No bit may change. */
function checkPatching(model, plain, capture, first) {
  const second = model.forward(plain, {
    capture,
    edit: Object.entries(first.captured).map(([at, { shape, data }]) => ({ at, set: { data: data.slice(), shape } })),
  });
  const expected = bitsOf(first);
  for (const [name, value] of Object.entries(bitsOf(second))) assert.deepEqual(value, expected[name], name);
  second.dispose();
}

function checkLogits({ logits }, batch, rows) {
  assert.deepEqual([...logits.shape], [batch, rows, VOCAB]);
  assert.ok(logits.copy().every(Number.isFinite), 'logits are finite');
}

function forward(context, model) {
  const { source } = context;
  const [batch, rows] = [source.between(1, 2), source.between(1, CONTEXT)];
  const { given, plain } = someInput(context, model, batch, rows);
  const edit = source.chance(0.5) ? someEdits(context, model) : undefined;
  const capture = someCapture(source, model);
  const last = source.chance(0.2);
  return {
    name: 'model.forward',
    run: (...args) => model.forward(...args),
    args: [given, { capture, ...(edit && { edit }), ...(last && { last }) }],
    check(result) {
      checkLogits(result, batch, last ? 1 : rows);
      for (const name of Object.keys(result.captured)) assert.ok(!result.captured[name].disposed, name);
      if (!edit && !last) checkPatching(model, plain, capture, result);
    },
  };
}

function trainingForward(context, model) {
  const { source, world } = context;
  const rows = source.between(1, CONTEXT);
  const { given } = someInput(context, model, 2, rows);
  return {
    name: 'model.forward in training',
    keeps: true,
    run: (...args) => model.forward(...args),
    args: [given, { train: true, capture: someCapture(source, model) }],
    refusable: ['STATE'],
    check: (result) => checkLogits(result, 2, rows),
    made: () => void world.passes.set(model, rows),
  };
}

function backward(context, model) {
  const { source, world } = context;
  const shape = [2, world.passes.get(model) ?? 1, VOCAB];
  const data = Float32Array.from({ length: shape[1] * 2 * VOCAB }, () => number(source));
  return {
    name: 'model.backward',
    keeps: true,
    run: (...args) => model.backward(...args),
    args: [{ dLogits: inForm(context, { data, shape }) }],
    // The last forward may have had another shape, or there may have been none.
    refusable: ['STATE', 'SHAPE'],
  };
}

function learning(context, model) {
  const rows = context.source.between(1, CONTEXT);
  const { given } = someInput(context, model, 2, rows);
  const targets = integersInForm(context, labels(context, 2, rows), SMALL);
  const learns = context.source.chance(0.5);
  return {
    name: learns ? 'model.learn' : 'model.judge',
    keeps: true,
    run: (...args) => (learns ? model.learn(...args) : model.judge(...args)),
    args: [given, targets, ...(learns ? [{ labelSmoothing: 0.1 }] : [])],
    // A quantized model cannot be trained.
    refusable: learns ? ['STATE'] : [],
    check: ({ loss }) => assert.ok(loss >= 0),
  };
}

/** Returns true for a model with int8 weights, which has no gradients. */
export const isRounded = ({ weights, parameters }) =>
  weights instanceof Map && Object.keys(parameters).length < weights.size;

/** Returns the codes of errors that a bidirectional model throws for calls that need a decoder. */
const notCausal = ({ options }) => (options.causal ? [] : ['STATE']);

/** Creates a cache. The world also stores the tokens of the cache, one list for each sequence of the batch. */
function makeCache({ source, world }, model) {
  const [length, batch] = [source.between(1, CONTEXT), source.between(1, 2)];
  const type = source.pick(['float32', 'float16']);
  return {
    name: 'model.cache',
    run: (...args) => model.cache(...args),
    args: [{ length, batch, type }],
    refusable: notCausal(model),
    made: (cache) => void world.caches.push({ cache, model, batch, type, tokens: [], read: undefined }),
  };
}

/** Makes a forward with a cache. The logits must equal those of the whole sequence. */
function cachedForward(context, held) {
  const { source, world } = context;
  const { cache, model, batch, type } = held;
  const before = cache.length;
  const left = cache.capacity - before;
  if (left === 0) return useCache(context, held);
  const rows = source.between(1, left);
  const ids = labels(context, batch, rows);
  const first = before === 0 && model.options.encoder;
  const read = first ? labels(context, batch, source.between(1, CONTEXT)) : held.read;
  const give = (x) => integersInForm(context, x, SMALL);
  const edit = source.chance(0.3) ? someEdits(context, model) : undefined;
  const forget = () => void (world.caches = world.caches.filter((other) => other !== held));
  return {
    name: 'model.forward with a cache',
    keeps: true,
    run(...args) {
      try {
        return model.forward(...args);
      } catch (error) {
        assert.equal(cache.length, before, 'a failed call has added tokens to the cache');
        throw error;
      }
    },
    args: [first ? { encoder: give(read), ids: give(ids) } : give(ids), { cache, ...(edit && { edit }) }],
    // The keys and values in the cache may have been computed with other weights.
    refusable: held.stale ? ['STATE'] : [],
    check(result) {
      checkLogits(result, batch, rows);
      assert.equal(cache.length, before + rows);
      if (edit || held.edited) return;
      const tokens = [...held.tokens, ids];
      const all = Array.from({ length: batch }, (_, b) =>
        tokens.flatMap(({ data, shape }) => [...data.subarray(b * shape[1], (b + 1) * shape[1])]),
      );
      const whole = model.forward(read ? { encoder: read, ids: all } : all);
      const start = before * VOCAB;
      const expected = Array.from({ length: batch }, (_, b) => [
        ...whole.logits
          .copy()
          .subarray(b * (before + rows) * VOCAB)
          .subarray(start, (before + rows) * VOCAB),
      ]).flat();
      whole.dispose();
      if (type === 'float32' && !held.rounded)
        assertClose(result.logits.copy(), Float64Array.from(expected), 'cached', 1e-3);
    },
    made() {
      held.tokens.push(ids);
      held.read = read;
      if (edit) held.edited = true;
    },
    undo: forget,
  };
}

function useCache({ source, world }, held) {
  const { cache } = held;
  const drop = () => void (world.caches = world.caches.filter((other) => other !== held));
  const length = source.below(cache.length + 1);
  return source.pick([
    {
      name: 'cache.rewind',
      run: (...args) => cache.rewind(...args),
      args: [length],
      made() {
        let left = length;
        held.tokens = held.tokens.flatMap(({ data, shape: [batch, rows] }) => {
          const kept = Math.min(left, rows);
          left -= kept;
          const part = Int32Array.from(
            { length: batch * kept },
            (_, i) => data[Math.floor(i / kept) * rows + (i % kept)],
          );
          return kept > 0 ? [{ data: part, shape: [batch, kept] }] : [];
        });
        if (length === 0) Object.assign(held, { read: undefined, edited: false, stale: false });
      },
      undo: drop,
    },
    {
      name: 'cache.clone',
      run: () => cache.clone(),
      args: [],
      check: (copy) => assert.equal(copy.length, cache.length),
      made: (copy) => void world.caches.push({ ...held, cache: copy, tokens: [...held.tokens] }),
    },
    { name: 'cache.dispose', run: () => cache.dispose(), args: [], made: drop, undo: drop },
  ]);
}

function generate(context, model) {
  const { source, world } = context;
  const max = source.below(5);
  const held = source.chance(0.3) ? world.caches.find((one) => one.model === model && one.batch === 1) : undefined;
  if (held) world.caches = world.caches.filter((one) => one !== held);
  const edit = source.chance(0.4) ? someEdits(context, model) : undefined;
  const give = (x) => integersInForm(context, x, SMALL);
  const seen = [[], [], []];
  const onePrompt = () => {
    const ids = give(labels(context, 1, source.between(1, 3)));
    return model.options.encoder ? { encoder: give(labels(context, 1, source.between(1, CONTEXT))), ids } : ids;
  };
  // A list of several prompts supports neither a cache nor edits. Ids in nested arrays are a list of one prompt.
  const isOne = held || edit || source.chance(0.7);
  const given = isOne ? onePrompt() : Array.from({ length: source.between(1, 3) }, onePrompt);
  const isNested = Array.isArray(given) && typeof given[0] === 'object';
  const prompt = isNested && isOne ? given[0] : given;
  return {
    name: 'model.generate',
    keeps: true,
    later: true,
    run: (...args) => model.generate(...args),
    args: [
      prompt,
      {
        max,
        onToken: (token, index) => void seen[index].push(token.id),
        ...(source.chance(0.5) && { temperature: source.pick([0, 0.5, 2]), seed: source.below(9) }),
        ...(source.chance(0.3) && { topK: source.between(1, 6) }),
        ...(source.chance(0.3) && { topP: source.pick([0.1, 0.9, 1]) }),
        ...(source.chance(0.3) && { stop: source.pick([[], [source.below(VOCAB)], ['end']]) }),
        ...(edit && { edit }),
        ...(held && { cache: held.cache }),
      },
    ],
    // The cache may be full.
    refusable: [...notCausal(model), ...(held ? ['SHAPE', 'STATE'] : [])],
    check(results) {
      assert.equal(Array.isArray(results), !isOne);
      for (const [i, result] of [results].flat().entries()) {
        assert.ok(result.ids.length <= max && result.ids.every((id) => id >= 0 && id < VOCAB));
        assert.deepEqual(seen[i], result.ids);
        assert.equal(result.logProbs.length, result.ids.length);
        assert.ok(result.logProbs.every((p) => p <= 0));
      }
    },
  };
}

/**
 * Makes a random call of a model or a cache, or a call that creates a model. With `still`, the call does not return a
 * promise.
 */
export function transformer(context) {
  const { source, world } = context;
  const { hl } = world;
  if (world.models.length === 0 || (world.models.length < 3 && source.chance(0.1)))
    return {
      name: 'transformer',
      run: (...args) => hl.transformer(...args),
      args: [someOptions(source)],
      made(model) {
        world.models.push(model);
        // The first call allocates tables of angles, which the model keeps.
        const ids = [new Array(CONTEXT).fill(0)];
        model.forward(model.options.encoder ? { encoder: ids, ids } : ids).dispose();
      },
    };
  const model = source.pick(world.models);
  const changed = (how) => world.caches.forEach((one) => void (one.model === model && Object.assign(one, how)));
  const held = world.caches.length > 0 ? source.pick(world.caches) : undefined;
  if (held && source.chance(0.4)) return source.chance(0.6) ? cachedForward(context, held) : useCache(context, held);
  return source.pick([
    () => forward(context, model),
    () => forward(context, model),
    () => forward(context, model),
    () => trainingForward(context, model),
    () => backward(context, model),
    () => learning(context, model),
    () => makeCache(context, model),
    () => (context.still ? forward(context, model) : generate(context, model)),
    () => ({
      name: 'model.zeroGrad',
      run: () => model.zeroGrad(),
      args: [],
      refusable: isRounded(model) ? ['STATE'] : [],
    }),
    () =>
      source.chance(0.2)
        ? {
            name: 'model.quantize',
            run() {
              // The weights are marked as changed before the call, because a call that fails may have quantized some of
              // them already.
              changed({ rounded: true, stale: true });
              return model.quantize();
            },
            args: [],
          }
        : forward(context, model),
    () => ({
      name: 'model.loadStateDict',
      run: (...args) => model.loadStateDict(...args),
      args: [model.stateDict()],
      refusable: ['STATE', 'ARGUMENT'],
      made: () => changed({ stale: true }),
      // Removes the caches, because they were computed with other parameters.
      undo: () => void (world.caches = []),
    }),
    () => ({
      name: 'loadTransformer',
      run: (...args) => hl.loadTransformer(...args),
      args: [model.save({ more: 'text' })],
      check: (copy) => assert.deepEqual(copy.options, model.options),
    }),
  ])();
}
