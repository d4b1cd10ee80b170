// Tests options and numbers. Any argument must give a correct result, or a HeadlightError that contains the name of the
// parameter, without a memory leak. Each argument must be read once, before anything is computed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { cosineSchedule, HeadlightError, load } from 'headlight-attention';

const hl = await load();
const used = () => hl.info.memory.used;
const x = (...shape) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i)),
  shape,
});
const [q, k, v] = [x(2, 4, 3, 8), x(2, 2, 5, 8), x(2, 2, 5, 6)];
const attend = (options) => hl.attention(q, k, v, options);
const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });

function refuses(name, fn, expected) {
  test(`refused: ${name}`, () => {
    const before = used();
    assert.throws(fn, (error) => {
      assert.ok(error instanceof HeadlightError, error.stack);
      for (const [property, value] of Object.entries(expected))
        if (value instanceof RegExp) assert.match(error[property], value);
        else assert.equal(error[property], value, error.message);
      return true;
    });
    assert.equal(used(), before, 'memory was leaked');
  });
}

const ARGUMENT = (parameter, message) => ({ code: 'ARGUMENT', parameter, message });
const tensors = { w: hl.tensor([1, 2, 3]) };

for (const [name, fn, expected] of [
  ['a scale that overflows float32', () => attend({ scale: 1e39 }), ARGUMENT('scale', /scale is 1e\+39.*float32 ends/)],
  ['a fill that overflows float32', () => attend({ maskFill: -1e39 }), ARGUMENT('maskFill', /maskFill is -1e\+39/)],
  ['a softcap that overflows float32', () => attend({ softcap: 3.5e38 }), ARGUMENT('softcap', /softcap/)],
  ['a softcap that float32 rounds to 0', () => attend({ softcap: 1e-50 }), ARGUMENT('softcap', /1e-50/)],
  ['a standard deviation that overflows float32', () => hl.randn([2], { std: 1e39 }), ARGUMENT('std', /std is 1e\+39/)],
  ['a bound that overflows float32', () => hl.uniform([2], { low: -1e39 }), ARGUMENT('low', /low is -1e\+39/)],
  ['a learning rate that overflows', () => hl.sgd(tensors, { lr: 1e39 }), ARGUMENT('lr', /lr is 1e\+39/)],
  ['a norm eps that overflows', () => hl.layerNorm({ width: 2, eps: 1e39 }), ARGUMENT('eps', /eps is 1e\+39/)],
  ['a seed beyond the safe integers', () => hl.randn([2], { seed: 1e300 }), ARGUMENT('seed', /an integer/)],
  ['an offset of null', () => attend({ offset: null }), ARGUMENT('offset', /offset is null, expected an integer/)],
  ['an offset that is an object', () => attend({ offset: {} }), ARGUMENT('offset', /offset is an object/)],
  ['an offset of strings', () => attend({ offset: ['1', '2'] }), ARGUMENT('offset[0]', /offset\[0\] is '1'/)],
  ['an offset of nulls', () => attend({ offset: [null, 1] }), ARGUMENT('offset[0]', /offset\[0\] is null/)],
  ['an offset with a hole', () => attend({ offset: new Array(2) }), ARGUMENT('offset[0]', /is undefined/)],
  ['a window with a hole', () => attend({ window: new Array(2) }), ARGUMENT('window[0]', /window\[0\] is undefined/)],
  ['betas with holes', () => hl.adam(tensors, { betas: new Array(2) }), ARGUMENT('betas[0]', /is undefined/)],
  ['a beta of 1', () => hl.adam(tensors, { betas: [0.9, 1] }), ARGUMENT('betas[1]', /betas\[1\] is 1, expected less/)],
  ['a number as the function of scope', () => hl.scope(5), ARGUMENT('fn', /^scope: fn is 5, expected a function$/)],
  ['scope without a function', () => hl.scope(), ARGUMENT('fn', /fn is undefined/)],
  ['a promise as options', () => attend(Promise.resolve({})), ARGUMENT('options', /Promise.*expected an object/)],
  ['a Map as options', () => attend(new Map()), ARGUMENT('options', /Map.*expected an object/)],
  ['an ArrayBuffer as a key', () => layer.forward(x(3, 8), new ArrayBuffer(8)), ARGUMENT('options', /ArrayBuffer/)],
  ['a number as dropout', () => attend({ dropout: 0.5 }), ARGUMENT('dropout', /dropout is 0.5, expected an object/)],
  ['dropout with unknown names', () => attend({ dropout: { rate: 1 } }), ARGUMENT('rate', /unknown option 'rate'/)],
  ['an option called toString', () => attend({ toString: 1 }), ARGUMENT('toString', /unknown option 'toString'/)],
  ['an option called constructor', () => attend({ constructor: 1 }), ARGUMENT('constructor', /unknown option/)],
  ['an option called __proto__', () => attend({ ['__proto__']: 1 }), ARGUMENT('__proto__', /unknown option/)],
  [
    'scores at the step toString',
    () => attend({ scores: 'toString' }),
    ARGUMENT('scores', /'raw', 'scaled', 'capped' or/),
  ],
  ['a layout called toString', () => layer.stateDict('toString'), ARGUMENT('layout', /layout is 'toString'/)],
  ['a layout called __proto__', () => layer.loadStateDict({}, '__proto__'), ARGUMENT('layout', /'__proto__'/)],
  ['a state of null', () => layer.loadStateDict(null), ARGUMENT('dict', /dict is null, expected an object/)],
  ['a state that is an array', () => layer.loadStateDict([]), ARGUMENT('dict', /dict is \[\], expected an object/)],
  [
    'a gradient that is inherited',
    () => hl.scope(() => hl.sgd({ toString: tensors.w }).step({ w: 1 })),
    ARGUMENT('w', /no parameter 'w'/),
  ],
  [
    'a GELU form called __proto__',
    () => hl.gelu({ approximate: '__proto__' }),
    ARGUMENT('approximate', /'none' or 'tanh'/),
  ],
  ['a schedule without steps', () => cosineSchedule({ lr: 1 }), ARGUMENT('steps', /steps is undefined/)],
  ['too many axes', () => hl.zeros(new Array(33).fill(1)), ARGUMENT('shape', /at most 32 sizes/)],
  ['an empty shape of any size', () => hl.zeros([2 ** 31, 0, 4]), ARGUMENT('shape', /sizes of at most 2147483647/)],
])
  refuses(name, fn, expected);

const symbol = Symbol('s');
for (const [name, fn] of [
  ['a query', () => hl.attention(symbol, k, v)],
  ['in a query', () => hl.attention([[[symbol]]], k, v)],
  ['in the data of a query', () => hl.attention({ data: [symbol], shape: [1, 1, 1] }, k, v)],
  ['in a shape', () => hl.attention({ data: [1], shape: [symbol] }, k, v)],
  ['options', () => attend(symbol)],
  ['a scale', () => attend({ scale: symbol })],
  ['an offset', () => attend({ offset: symbol })],
  ['in an offset', () => attend({ offset: [symbol, 0] })],
  ['a window', () => attend({ window: symbol })],
  ['in a window', () => attend({ window: [symbol, 0] })],
  ['a mask', () => attend({ mask: symbol })],
  ['in a mask', () => attend({ mask: [symbol] })],
  ['in validLens', () => attend({ validLens: [symbol, 1] })],
  ['weights', () => attend({ weights: symbol })],
  ['scores', () => attend({ scores: symbol })],
  ['causal', () => attend({ causal: symbol })],
  ['out', () => attend({ out: symbol })],
  ['in out', () => attend({ out: { output: symbol } })],
  ['a seed of dropout', () => attend({ dropout: { p: 0.5, seed: symbol } })],
  ['a size', () => hl.multiHeadAttention({ embedDim: symbol, numHeads: 1 })],
  ['weights of a layer', () => hl.multiHeadAttention({ embedDim: 4, numHeads: 1, weights: symbol })],
  ['a layout', () => layer.stateDict(symbol)],
  ['a state', () => layer.loadStateDict(symbol)],
  ['in a state', () => layer.loadStateDict({ ...layer.stateDict(), wq: symbol })],
  ['train', () => layer.train(symbol)],
  ['betas', () => hl.adam(tensors, { betas: symbol })],
  ['in betas', () => hl.adam(tensors, { betas: [symbol, 0] })],
  ['parameters', () => hl.adam(symbol)],
  ['in parameters', () => hl.adam({ a: symbol })],
  ['a norm', () => hl.clipGradients(tensors, symbol)],
  ['a shape', () => hl.zeros(symbol)],
  ['a scope', () => hl.scope(symbol)],
  ['a form of gelu', () => hl.gelu({ approximate: symbol })],
  ['a norm of a transformer', () => hl.transformer({ norm: symbol })],
  ['labels', () => hl.crossEntropy([[1, 2]], symbol)],
  ['in labels', () => hl.crossEntropy([[1, 2]], [symbol])],
])
  refuses(`a Symbol as ${name}`, fn, { name: 'HeadlightError' });

test('a mask must have booleans or the numbers 0 and 1', () => {
  for (const mask of [
    ['1', null, []],
    [null, 1, 1],
    ['1', 1, 1],
    [[1], [], [1]],
    [undefined, 1, 1],
    [{}, 1, 1],
  ])
    assert.throws(() => hl.attention(x(1, 2, 4), x(1, 3, 4), x(1, 3, 4), { mask }), HeadlightError);
});

test('an offset may be a typed array of integers', () => {
  const expected = attend({ causal: true, offset: [1, 2] }).output.copy();
  for (const offset of [Int32Array.of(1, 2), BigInt64Array.of(1n, 2n), Uint8Array.of(1, 2)])
    assert.deepEqual(attend({ causal: true, offset }).output.copy(), expected);
});

test('shapes without elements take no time, for any other sizes', () => {
  const many = 2 ** 31 - 1;
  const empty = (...shape) => ({ data: new Float32Array(), shape });
  const result = hl.attention(empty(many, 0, 4), empty(many, 0, 4), empty(many, 0, 4), { offset: 3, train: true });
  assert.deepEqual(result.output.shape, [many, 0, 4]);
  assert.deepEqual(result.backward(empty(many, 0, 4)).dKey.shape, [many, 0, 4]);
  const flat = hl.attention(empty(1, 1, 2 ** 30, 0), empty(1, 1, 2 ** 30, 0), empty(1, 1, 2 ** 30, 0));
  assert.deepEqual(flat.output.shape, [1, 1, 2 ** 30, 0]);
  const rows = empty(2 ** 27, 0, 8);
  assert.deepEqual(layer.forward(rows, { train: true }).output.shape, rows.shape);
  assert.deepEqual(layer.backward(rows).dQuery.shape, rows.shape);
});

test('a parameter with the name of an inherited property has no gradient unless one is passed', () => {
  hl.scope(() => {
    const parameter = hl.tensor([1, 2]);
    const optimizer = hl.sgd({ toString: parameter }, { lr: 1 });
    optimizer.step({});
    assert.deepEqual([...parameter.data], [1, 2]);
    optimizer.step({ toString: [1, 1] });
    assert.deepEqual([...parameter.data], [0, 1]);
  });
});

test('gradients without upstream elements are zeros', () => {
  hl.scope(() => {
    const keys = x(1, 3, 8);
    const none = { data: [], shape: [1, 0, 8] };
    const { dQuery, dKey, dValue } = hl.attention(none, keys, keys, { train: true }).backward(none);
    assert.deepEqual([dQuery.size, ...dKey.data, ...dValue.data], new Array(49).fill(0));
    layer.forward(none, keys, keys, { train: true });
    const gradients = layer.backward(none);
    assert.deepEqual([...gradients.dKey.data, ...gradients.dValue.data], new Array(48).fill(0));
  });
});

/** Returns options with getters that count how often each option is read. */
function counting(options, counts = {}) {
  const counted = {};
  for (const [name, value] of Object.entries(options))
    Object.defineProperty(counted, name, {
      enumerable: true,
      get() {
        counts[name] = (counts[name] ?? 0) + 1;
        return value;
      },
    });
  return { counted, counts };
}

test('every option and every element of an array is read once', () => {
  hl.scope(() => {
    const { counted, counts } = counting({
      scale: 0.5,
      softcap: 20,
      mask: [true],
      bias: 1,
      rotary: { theta: 100 },
      alibi: [1, 0.5, 0.25, 0.125],
      sinks: [1, 2, 3, 4],
      keyPadding: [[1]],
      validLens: [5, 5],
      causal: true,
      window: [-1, -1],
      maskFill: -3,
      offset: [2, 2],
      dropout: { p: 0.5, seed: 1 },
      weights: true,
      scores: 'raw',
      pastKey: x(2, 2, 1, 8),
      pastValue: x(2, 2, 1, 6),
      out: {},
      train: false,
      heads: 4,
      kvHeads: 2,
    });
    const parts = counting({ data: q.data, shape: q.shape });
    hl.attention(parts.counted, k, v, counted);
    assert.deepEqual(Object.values(counts), new Array(22).fill(1));
    assert.deepEqual(parts.counts, { data: 1, shape: 1 });
    const made = counting({
      embedDim: 8,
      numHeads: 2,
      headDim: 4,
      bias: true,
      dropout: 0,
      seed: 1,
      weights: 'float32',
    });
    hl.multiHeadAttention(made.counted);
    assert.deepEqual(Object.values(made.counts), new Array(7).fill(1));
    const state = counting(layer.stateDict());
    layer.loadStateDict(state.counted);
    assert.deepEqual(Object.values(state.counts), new Array(8).fill(1));
    const elements = [];
    for (let i = 0; i < 3; i++) Object.defineProperty(elements, i, { get: () => i + 1, enumerable: true });
    let reads = 0;
    const watched = new Proxy([1, 2, 3], {
      get(list, name) {
        if (name === '1') reads++;
        return Reflect.get(list, name);
      },
    });
    assert.deepEqual(hl.tensor(watched).toArray(), [1, 2, 3]);
    assert.equal(reads, 1);
    assert.deepEqual(hl.tensor(elements).toArray(), [1, 2, 3]);
  });
});

test('a getter that disposes of a tensor which was already read causes an error', () => {
  const before = used();
  const query = hl.tensor(q);
  const mine = {
    shape: k.shape,
    get data() {
      query.dispose();
      return k.data;
    },
  };
  assert.throws(() => hl.attention(query, mine, v), { code: 'DISPOSED', parameter: 'query' });
  const input = hl.tensor(x(3, 8));
  const options = {
    get causal() {
      input.dispose();
      return true;
    },
  };
  assert.throws(() => layer.forward(input, options), { code: 'DISPOSED', parameter: 'query' });
  assert.equal(used(), before);
});

test('a call made by a getter gives correct results, and so does the outer call', () => {
  hl.scope(() => {
    const expected = attend({ weights: true });
    const other = x(1, 2, 4);
    const inside = hl.attention(other, other, other).output.copy();
    let seen;
    const key = {
      shape: k.shape,
      get data() {
        seen = hl.attention(other, other, other).output.copy();
        layer.forward(x(3, 8), { train: true });
        hl.zeros([hl.info.memory.reserved / 8]);
        return k.data;
      },
    };
    const { output, weights } = hl.attention(hl.tensor(q), key, v, {
      get weights() {
        hl.attention(other, other, other);
        return true;
      },
    });
    assert.deepEqual(output.copy(), expected.output.copy());
    assert.deepEqual(weights.copy(), expected.weights.copy());
    assert.deepEqual(seen, inside);
  });
});

test('a getter that transfers the buffer of an array which was already read causes an error', () => {
  const before = used();
  const data = Float32Array.from(q.data);
  const key = {
    shape: k.shape,
    get data() {
      structuredClone(data.buffer, { transfer: [data.buffer] });
      return k.data;
    },
  };
  assert.throws(() => hl.attention({ data, shape: q.shape }, key, v), { parameter: 'query' });
  const mask = new Uint8Array(5).fill(1);
  const options = {
    mask,
    get offset() {
      return 0;
    },
    validLens: {
      shape: [2],
      get data() {
        structuredClone(mask.buffer, { transfer: [mask.buffer] });
        return [5, 5];
      },
    },
  };
  assert.throws(() => attend(options), { parameter: 'mask' });
  assert.equal(used(), before);
});

test('an input after the options, and a past in training, are refused', () => {
  const before = used();
  assert.throws(() => layer.forward(x(3, 8), {}, x(3, 8)), { code: 'ARGUMENT', parameter: 'value' });
  const past = { pastKey: x(2, 2, 1, 8), pastValue: x(2, 2, 1, 6), train: true };
  assert.throws(() => attend(past), { code: 'ARGUMENT', parameter: 'pastKey', message: /none with train: true/ });
  assert.equal(used(), before);
});

test('a gradient whose getter frees the state saved by forward causes an error', () => {
  hl.scope(() => {
    const linear = hl.linear({ in: 2, out: 2 });
    const other = hl.linear({ in: 2, out: 2 });
    linear.forward([[1, 2]]);
    const dOutput = {
      shape: [1, 2],
      get data() {
        linear.dispose();
        other.forward([[5, 6]]);
        return [1, 1];
      },
    };
    assert.throws(() => linear.backward(dOutput), { code: /STATE|DISPOSED/ });
  });
});

test('an error thrown by a getter or a proxy reaches the caller, and no memory is leaked', () => {
  const own = new RangeError('mine');
  const throwing = {
    get shape() {
      throw own;
    },
    data: [1],
  };
  const hostile = new Proxy(
    {},
    {
      ownKeys() {
        throw own;
      },
    },
  );
  const before = used();
  for (const fn of [
    () => hl.attention(q, throwing, v),
    () => attend({ mask: throwing }),
    () => attend({ dropout: { p: 0.5, keep: throwing } }),
    () => attend({ train: true, bias: throwing }),
    () => attend(hostile),
    () => layer.forward(x(3, 8), throwing, { train: true }),
    () => layer.loadStateDict({ ...layer.stateDict(), wo: throwing }),
    () => hl.tensor(throwing),
    () => hl.crossEntropy([[1, 2]], throwing),
    () => hl.sgd(tensors).step({ w: throwing }),
    () => hl.add(tensors.w, throwing),
    () => hl.zeros(new Proxy([1], { get: (list, name) => (name === '0' ? fail() : Reflect.get(list, name)) })),
  ])
    hl.scope(() => assert.throws(fn, (error) => error === own));
  assert.equal(used(), before);
  function fail() {
    throw own;
  }
});

test('a state dict of the parameters themselves is read completely before one of them is written', () => {
  hl.scope(() => {
    const { parameters } = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, bias: false, seed: 3 });
    const swapped = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, bias: false, seed: 3 });
    const { wq, wk, wv, wo } = swapped.parameters;
    const view = (tensor) => ({ data: tensor.data, shape: tensor.shape });
    swapped.loadStateDict({ wq: wk, wk: wq, wv: view(wo), wo: view(wv) });
    const expected = [parameters.wk, parameters.wq, parameters.wo, parameters.wv].map((tensor) => tensor.copy());
    assert.deepEqual(
      [wq, wk, wv, wo].map((tensor) => tensor.copy()),
      expected,
    );
  });
});

test('several live views are valid arguments, even if copying the first one makes the memory grow', async () => {
  const fresh = await load();
  const shape = [1, 1, 4000, 8];
  const tensors = [1, 2, 3].map((seed) => fresh.uniform(shape, { seed }));
  const expected = fresh.attention(...tensors).output.copy();
  fresh.zeros([Math.max((fresh.info.memory.reserved - fresh.info.memory.used) / 4 - 5000, 0)]);
  const { output } = fresh.attention(...tensors.map(({ data }) => ({ data, shape })));
  assert.deepEqual(output.copy(), expected);
  fresh.dispose();
});

test('the parameters, gradients and options of a layer cannot be replaced', () => {
  hl.scope(() => {
    const linear = hl.linear({ in: 4, out: 4 });
    const other = hl.zeros([1]);
    assert.throws(() => (linear.parameters.weight = other), TypeError);
    assert.throws(() => (linear.gradients.weight = other), TypeError);
    assert.throws(() => (linear.parameters = {}), TypeError);
    assert.throws(() => (linear.options = { in: 400, out: 400 }), TypeError);
    const attention = hl.multiHeadAttention({ embedDim: 4, numHeads: 1 });
    assert.throws(() => (attention.parameters.wq = other), TypeError);
    assert.throws(() => (attention.parameters = {}), TypeError);
    assert.throws(() => (attention.options = {}), TypeError);
    attention.quantize();
    assert.equal(attention.options.weights, 'int8');
  });
});
