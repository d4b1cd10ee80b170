// Tests every documented error: the code, the parameter, the expected and the received value. After an error the same
// instance must compute the same results and use no more memory than before.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError, load } from 'headlight-attention';

const hl = await load();
const x = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5), shape });
const [q, k, v] = [x(2, 4, 3, 8), x(2, 2, 5, 8), x(2, 2, 5, 6)];
const attend =
  (options, a = q, b = k, c = v) =>
  () =>
    hl.attention(a, b, c, options);
const layer = hl.multiHeadAttention({ embedDim: 12, numHeads: 3, seed: 4 });
const make = (options) => () => hl.multiHeadAttention({ embedDim: 12, numHeads: 3, ...options });
const forward =
  (...inputs) =>
  () =>
    layer.forward(...inputs);
const forwardFrom = (keyDim) => () =>
  hl.scope(() => void hl.multiHeadAttention({ embedDim: 12, numHeads: 3, keyDim }).forward(x(2, 3, 12)));
const good = hl.attention(q, k, v).output.copy();

function refuses(name, fn, { code, parameter, message }) {
  test(`refused: ${name}`, () => {
    const before = hl.info.memory.used;
    assert.throws(fn, (error) => {
      assert.ok(error instanceof HeadlightError, error.stack);
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      if (parameter) assert.equal(error.parameter, parameter);
      return true;
    });
    assert.equal(hl.info.memory.used, before, 'memory was leaked');
    const { output } = hl.attention(q, k, v);
    assert.deepEqual(output.copy(), good);
    output.dispose();
  });
}

const SHAPE = 'SHAPE';
const ARGUMENT = 'ARGUMENT';

for (const [name, fn, parameter, message] of [
  ['a query of rank 2', attend({}, x(3, 8)), 'query', /attention: query has shape \[3,8\], expected \(B,H,T,D\)/],
  ['a query of rank 5', attend({}, x(1, 2, 4, 3, 8)), 'query', /expected \(B,H,T,D\)/],
  ['a key of another rank', attend({}, q, x(2, 5, 16)), 'key', /key has shape \[2,5,16\], expected rank 4/],
  ['a key of another batch', attend({}, q, x(3, 2, 5, 8)), 'key', /expected batch 2 like the query/],
  ['a value of another batch', attend({}, q, k, x(3, 2, 5, 6)), 'value', /expected batch 2/],
  ['a key of another width', attend({}, q, x(2, 2, 5, 7)), 'key', /expected head width 8/],
  ['a value with a different number of rows', attend({}, q, k, x(2, 2, 4, 6)), 'value', /expected 5 rows like the key/],
  [
    'a value with a different number of heads',
    attend({}, q, k, x(2, 4, 5, 6)),
    'value',
    /expected 2 heads like the key/,
  ],
  [
    'heads that the key/value heads do not divide',
    attend({}, q, x(2, 3, 5, 8), x(2, 3, 5, 6)),
    'key',
    /a number of heads that divides the query's 4/,
  ],
  [
    'packed widths that the heads do not divide',
    attend({ heads: 3 }, x(2, 3, 8), x(2, 5, 8), x(2, 5, 8)),
    'query',
    /a multiple of heads = 3/,
  ],
  ['a number of heads that differs from axis 1 of the query', attend({ heads: 3 }), 'query', /heads = 3 on axis 1/],
  [
    'a mask that does not broadcast',
    attend({ mask: x(3, 4) }),
    'mask',
    /mask has shape \[3,4\], expected a shape that broadcasts to \(B,H,T,S\) = \[2,4,3,5\]/,
  ],
  ['a mask of rank 5', attend({ mask: x(1, 2, 4, 3, 5) }), 'mask', /broadcasts/],
  ['a bias that does not broadcast', attend({ bias: x(2, 3, 5) }), 'bias', /broadcasts/],
  ['padding of another size', attend({ keyPadding: x(2, 4) }), 'keyPadding', /expected \(B,S\) = \[2,5\]/],
  [
    'lengths of another batch',
    attend({ validLens: [1, 2, 3] }),
    'validLens',
    /expected \(B\) = \[2\] or \(B,T\) = \[2,3\]/,
  ],
  ['offsets of another batch', attend({ offset: [0] }), 'offset', /expected a number or \(B\) = \[2\]/],
  [
    'a past of another width',
    attend({ pastKey: x(2, 2, 3, 7), pastValue: x(2, 2, 3, 6) }),
    'pastKey',
    /expected \(B,G,P,D\) = \[2,2,P,8\]/,
  ],
  [
    'a past value with a different number of rows',
    attend({ pastKey: x(2, 2, 3, 8), pastValue: x(2, 2, 4, 6) }),
    'pastValue',
    /expected \(B,G,P,Dv\) = \[2,2,3,6\]/,
  ],
  [
    'a keep tensor of another shape',
    attend({ dropout: { p: 0.5, keep: x(2, 4, 3, 4) } }),
    'dropout.keep',
    /\(B,H,T,S\) = \[2,4,3,5\]/,
  ],
  ['ragged nested arrays', attend({}, [[[1, 2], [3]]]), 'query', /query\[0\]\[1\] has length 1, expected length 2/],
  [
    'data that does not fill its shape',
    attend({}, { data: new Float32Array(3), shape: [2, 2] }),
    'query',
    /query.data has 3 elements, expected 4/,
  ],
  [
    'a layer input with a different width',
    forward(x(2, 3, 11)),
    'query',
    /query has shape \[2,3,11\], expected \[2,3,12\]/,
  ],
  ['a layer input of rank 4', forward(x(1, 2, 3, 12)), 'query', /expected \(B,T,12\) or \(T,12\)/],
  [
    'a value of a layer with a different number of rows',
    forward(x(2, 3, 12), x(2, 4, 12), x(2, 5, 12)),
    'value',
    /value has shape \[2,5,12\], expected \[2,4,12\]/,
  ],
  [
    'a tensor whose data does not fill the shape',
    () => hl.tensor([1, 2, 3], [2, 2]),
    'data',
    /expected 4 elements for \[2,2\]/,
  ],
  ['a key of another width than the projection', forward(x(2, 3, 12), x(2, 3, 11)), 'key', /forward: key has shape/],
  ['no key where its width is another', forwardFrom(8), 'key (the query)', /forward: key \(the query\) has shape/],
  [
    'a state dict with a wrong shape',
    () => layer.loadStateDict({ ...layer.stateDict('d2l'), 'W_q.weight': x(12, 13) }),
    'W_q.weight',
    /W_q.weight has shape \[12,13\], expected \[12,12\]/,
  ],
])
  refuses(name, fn, { code: SHAPE, parameter, message });

for (const [name, fn, parameter, message] of [
  ['an unknown option', attend({ casual: true }), 'casual', /unknown option 'casual', expected one of .*causal/],
  ['options that are not an object', attend(true), 'options', /options is true, expected an object/],
  ['a scale of NaN', attend({ scale: NaN }), 'scale', /scale is NaN, expected a finite number/],
  ['an infinite softcap', attend({ softcap: Infinity }), 'softcap', /finite number of at least 0/],
  ['a negative softcap', attend({ softcap: -1 }), 'softcap', /softcap is -1/],
  ['a fill of NaN', attend({ maskFill: NaN }), 'maskFill', /maskFill is NaN/],
  ['a fill of +Infinity', attend({ maskFill: Infinity }), 'maskFill', /maskFill is Infinity/],
  ['causal that is not a boolean', attend({ causal: 1 }), 'causal', /expected true or false/],
  ['a window of one number', attend({ window: [1] }), 'window', /expected \[left, right\]/],
  ['a window of −2', attend({ window: [-2, 0] }), 'window[0]', /an integer of at least -1/],
  ['a fractional window', attend({ window: [0, 1.5] }), 'window[1]', /window\[1\] is 1.5/],
  [
    'a fractional length',
    attend({ validLens: [1.5, 2] }),
    'validLens[0]',
    /validLens\[0\] is 1.5, expected an integer/,
  ],
  ['a negative length', attend({ validLens: [1, -1] }), 'validLens[1]', /at least 0/],
  ['an offset of NaN', attend({ offset: NaN }), 'offset[0]', /offset\[0\] is NaN/],
  [
    'dropout of −0.1',
    attend({ dropout: { p: -0.1 } }),
    'dropout.p',
    /dropout.p is -0.1, expected a finite number of at least 0 and at most 1/,
  ],
  ['dropout of 1.1', attend({ dropout: { p: 1.1 } }), 'dropout.p', /dropout.p is 1.1/],
  ['dropout of NaN', attend({ dropout: { p: NaN } }), 'dropout.p', /dropout.p is NaN/],
  ['a fractional seed', attend({ dropout: { p: 0.5, seed: 0.5 } }), 'dropout.seed', /an integer/],
  [
    'an unknown word as weights',
    attend({ weights: 'all' }),
    'weights',
    /weights is 'all', expected true, false or 'mean'/,
  ],
  ['an unknown step as scores', attend({ scores: 'soft' }), 'scores', /'raw', 'scaled', 'capped' or 'masked'/],
  [
    'an additive mask in the option mask',
    attend({ mask: { data: new Float32Array(5).fill(-Infinity), shape: [5] } }),
    undefined,
    /mask, at element 0, is -Infinity, expected true, false, 1 or 0; an additive mask goes in bias/,
  ],
  ['a past key alone', attend({ pastKey: x(2, 2, 3, 8) }), 'pastValue', /pastValue is undefined/],
  ['a past value alone', attend({ pastValue: x(2, 2, 3, 6) }), 'pastKey', /pastKey is undefined/],
  ['a key of null', attend({}, q, null), 'key', /key is null, expected a Tensor, nested arrays, a typed array/],
  ['text as a query', attend({}, 'text'), 'query', /query is 'text'/],
  ['text among numbers', attend({}, [[['a']]]), 'query[0][0][0]', /query\[0\]\[0\]\[0\] is 'a', expected a number/],
  [
    'an invalid shape',
    attend({}, { data: new Float32Array(4), shape: [2, -2] }),
    'query.shape',
    /non-negative integers/,
  ],
  [
    'heads that do not divide the width',
    make({ embedDim: 100, numHeads: 7 }),
    'embedDim',
    /^multiHeadAttention: embedDim 100 is not a multiple of numHeads 7$/,
  ],
  [
    'key/value heads that do not divide the heads',
    make({ kvHeads: 2 }),
    'numHeads',
    /numHeads 3 is not a multiple of kvHeads 2/,
  ],
  [
    'an unknown type of weights',
    make({ weights: 'int4' }),
    'weights',
    /^multiHeadAttention: weights is 'int4', expected 'float32' or 'int8'$/,
  ],
  [
    'a missing width',
    make({ embedDim: undefined }),
    'embedDim',
    /embedDim is undefined, expected an integer of at least 1/,
  ],
  ['a width of 0', make({ embedDim: 0 }), 'embedDim', /embedDim is 0/],
  ['a layer dropout of 2', make({ dropout: 2 }), 'dropout', /dropout is 2/],
  ['an unknown layer option', make({ heads: 2 }), 'heads', /unknown option 'heads'/],
  ['bias that is not a boolean', make({ bias: 'yes' }), 'bias', /bias is 'yes', expected true or false/],
  ['an unknown forward option', forward(x(2, 3, 12), { heads: 2 }), 'heads', /forward: unknown option 'heads'/],
  [
    'a state dict with a missing and an additional name',
    () => layer.loadStateDict({ wq: x(12, 12), extra: x(1) }),
    'wk',
    /missing wk.*; unexpected extra; the 'headlight' layout of this layer is wq \[12,12\]/,
  ],
  ['an unknown layout', () => layer.stateDict('flax'), 'layout', /layout is 'flax', expected headlight, torch/],
  [
    'a layout that cannot represent the layer',
    () => hl.scope(() => void hl.multiHeadAttention({ embedDim: 12, numHeads: 4, kvHeads: 2 }).stateDict('torch')),
    'layout',
    /no 'torch' layout: it requires kvHeads = numHeads/,
  ],
  ['randn with a negative deviation', () => hl.randn([2], { std: -1 }), 'std', /std is -1/],
  ['zeros of a fractional shape', () => hl.zeros([1.5]), 'shape', /non-negative integers/],
  ['an asynchronous scope', () => hl.scope(async () => hl.zeros([3])), 'fn', /must be synchronous/],
])
  refuses(name, fn, { code: ARGUMENT, parameter, message });

const disposed = hl.zeros([2, 4, 3, 8]);
disposed.dispose();
refuses('a disposed tensor as a query', attend({}, disposed), {
  code: 'DISPOSED',
  parameter: 'query',
  message: /attention: query \[2,4,3,8\] has been disposed/,
});
refuses('the data of a disposed tensor', () => disposed.data, { code: 'DISPOSED', message: /has been disposed/ });
refuses('a 5 GB tensor', () => hl.zeros([1250, 1000, 1000]), {
  code: 'OUT_OF_MEMORY',
  message: /zeros: out of memory: a tensor \[1250,1000,1000\] needs 4.66 GiB; .* of the limit of 4.00 GiB are in use/,
});
refuses('a tensor whose size overflows', () => hl.zeros([2 ** 50, 2 ** 50]), {
  code: 'OUT_OF_MEMORY',
  message: /out of memory/,
});
refuses(
  'weights that do not fit',
  () =>
    hl.scope(() => {
      const long = hl.zeros([1, 1, 40000, 1]);
      return void hl.attention(long, long, long, { weights: true });
    }),
  { code: 'OUT_OF_MEMORY', message: /attention: out of memory: a tensor \[1,1,40000,40000\] needs 5.96 GiB/ },
);

test('a tensor of another instance is refused', async () => {
  const other = await load();
  const foreign = other.zeros([2, 4, 3, 8]);
  assert.throws(attend({}, foreign), {
    code: 'ARGUMENT',
    parameter: 'query',
    message: /belongs to another Headlight instance/,
  });
  other.dispose();
});

test('errors of a disposed instance and of its tensors say that it was disposed of', async () => {
  const other = await load();
  const tensor = other.zeros([2]);
  const { forward } = other.multiHeadAttention({ embedDim: 4, numHeads: 2 });
  other.dispose();
  for (const fn of [() => other.zeros([1]), () => other.info, () => tensor.data, () => other.attention(q, k, v)]) {
    assert.throws(fn, { code: 'DISPOSED', message: /instance has been disposed/ });
  }
  tensor.dispose();
  void forward;
});

test('a small memory limit is not exceeded, and calls that fit still work', async () => {
  const small = await load({ maxMemory: 2 ** 20 });
  assert.equal(small.info.memory.limit, 2 ** 20);
  const before = small.info.memory.used;
  assert.throws(() => small.zeros([2 ** 18]), { code: 'OUT_OF_MEMORY' });
  assert.throws(() => small.attention(x(1, 1, 4, 8), x(1, 1, 9000, 8), x(1, 1, 9000, 8)), {
    code: 'OUT_OF_MEMORY',
    message: /^attention: out of memory/,
  });
  assert.equal(small.info.memory.used, before);
  assert.deepEqual(small.attention(q, k, v).output.copy(), good);
  assert.ok(small.info.memory.reserved <= 2 ** 20);
});

for (const [options, parameter, message] of [
  [{ simd: 'sse' }, 'simd', /simd is 'sse', expected 'auto', 'simd128' or 'relaxed'/],
  [{ threads: 0 }, 'threads', /threads is 0, expected 'auto' or an integer from 1 to 64/],
  [{ maxMemory: 1 }, 'maxMemory', /maxMemory is 1/],
  [{ maxMemory: 2 ** 33 }, 'maxMemory', /at most 4294967296/],
  [{ wasm: 5 }, 'wasm', /wasm is 5, expected a URL/],
  [{ flavour: 'x' }, 'flavour', /load: unknown option 'flavour'/],
])
  test(`load refuses ${JSON.stringify(options)}`, () =>
    assert.rejects(load(options), { code: 'ARGUMENT', parameter, message }));

test('the error about a view that memory growth has detached explains the reason', async () => {
  const small = await load();
  const { data } = small.zeros([4, 8]);
  small.zeros([2 ** 20]);
  const given = { data, shape: [1, 4, 8] };
  assert.throws(() => small.attention(given, given, given), {
    code: 'SHAPE',
    parameter: 'query',
    message: /query\.data has 0 elements, expected 32 .* read data again/,
  });
  assert.throws(
    () => small.attention({ data: new Float32Array(3), shape: [1, 4, 8] }, given, given),
    ({ message }) => !/again/.test(message),
  );
  small.dispose();
});
