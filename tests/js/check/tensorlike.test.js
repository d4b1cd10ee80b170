// Tests the accepted forms of arrays: tensors of other libraries, 16-bit floats and nested arrays of any kind.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError, load } from 'headlight-attention';

const hl = await load();
const used = () => hl.info.memory.used;
const shape = [1, 2, 3];
const numbers = [0.5, -1, 2, 0.25, 1.5, -3];
const data = Float32Array.from(numbers);
/** The bits of the same numbers in float16 and in bfloat16. */
const HALF = Uint16Array.of(0x3800, 0xbc00, 0x4000, 0x3400, 0x3e00, 0xc200);
const BRAIN = Uint16Array.of(0x3f00, 0xbf80, 0x4000, 0x3e80, 0x3fc0, 0xc040);

/** Classes with the interfaces of tensors of onnxruntime and TensorFlow.js. */
class OrtTensor {
  #data;
  constructor(type, data, dims) {
    this.type = type;
    this.dims = dims;
    this.#data = data;
  }
  get data() {
    if (!this.#data) throw new Error('The data is not on CPU.');
    return this.#data;
  }
}
class TfTensor {
  constructor(values, shape) {
    this.values = values;
    this.shape = shape;
    this.dtype = 'float32';
  }
  data() {
    return Promise.resolve(this.values);
  }
  dataSync() {
    return this.values;
  }
}

const layer = hl.multiHeadAttention({ embedDim: 3, numHeads: 1 });
const expected = {
  attention: hl.attention({ data, shape }, { data, shape }, { data, shape }).output.copy(),
  layer: layer.forward({ data, shape }, { data, shape }, { data, shape }).output.copy(),
};

for (const [name, tensor] of [
  ['onnxruntime', new OrtTensor('float32', data, shape)],
  ['onnxruntime, of float16', new OrtTensor('float16', HALF, shape)],
  ['transformers.js, whose dims are frozen', new OrtTensor('float32', data, Object.freeze([...shape]))],
  ['TensorFlow.js', new TfTensor(data, shape)],
  ['{ data, shape, dtype: F16 }', { data: HALF, shape, dtype: 'F16' }],
  ['{ data, shape, dtype: BF16 }', { data: BRAIN, shape, dtype: 'BF16' }],
  ['{ data, shape, dtype: bfloat16 }', { data: BRAIN, shape, dtype: 'bfloat16' }],
  ['a safetensors file, decoded', { data, shape, dtype: 'F16' }],
  ['{ data, shape } of numbers', { data: numbers, shape }],
  ['{ data, shape } of Float64', { data: Float64Array.from(numbers), shape }],
])
  test(`accepted in place of a tensor: ${name}`, () => {
    hl.scope(() => {
      assert.deepEqual(hl.attention(tensor, tensor, tensor).output.copy(), expected.attention);
      assert.deepEqual(layer.forward(tensor, tensor, tensor).output.copy(), expected.layer);
      assert.deepEqual(hl.tensor(tensor).copy(), data);
      assert.deepEqual(hl.add(tensor, { data: new Float32Array(6), shape }).copy(), data);
      assert.deepEqual(
        hl.attention(tensor, tensor, tensor, { bias: new TfTensor(data.subarray(0, 2), [2]) }).output.shape,
        shape,
      );
    });
  });

test('masks, lengths and labels of other libraries are accepted', () => {
  hl.scope(() => {
    const x = { data, shape };
    const plain = hl.attention(x, x, x, { mask: [true, false], validLens: [2] }).output.copy();
    const masked = hl.attention(x, x, x, {
      mask: new OrtTensor('bool', Uint8Array.of(1, 0), [2]),
      validLens: new OrtTensor('int64', BigInt64Array.of(2n), [1]),
    });
    assert.deepEqual(masked.output.copy(), plain);
    const mask = hl.attention(x, x, x, { mask: new TfTensor(Uint8Array.of(1, 0), [2]), validLens: Uint16Array.of(2) });
    assert.deepEqual(mask.output.copy(), plain);
    const labels = new OrtTensor('int64', BigInt64Array.of(0n, 2n), [1, 2]);
    assert.equal(hl.crossEntropy(x, labels).loss, hl.crossEntropy(x, [[0, 2]]).loss);
    assert.equal(
      hl.crossEntropy(x, { data: Uint16Array.of(0, 2), shape: [1, 2] }).loss,
      hl.crossEntropy(x, [[0, 2]]).loss,
    );
  });
});

test('a Uint16Array without a dtype is refused as an array of floats', () => {
  const bits = { data: HALF, shape };
  const x = { data, shape };
  for (const [parameter, fn] of [
    ['query', () => hl.attention(bits, x, x)],
    ['key', () => hl.attention(x, bits, x)],
    ['value', () => hl.attention(x, x, bits)],
    ['value', () => hl.attention(x, x, [[HALF.subarray(0, 3), HALF.subarray(3)]])],
    ['bias', () => hl.attention(x, x, x, { bias: HALF.subarray(0, 2) })],
    ['query', () => layer.forward(bits)],
    ['key', () => layer.forward(x, new OrtTensor('unknown', HALF, shape))],
    ['data', () => hl.tensor(bits)],
    ['wq', () => layer.loadStateDict({ ...layer.stateDict(), wq: { data: new Uint16Array(9), shape: [3, 3] } })],
  ]) {
    const before = used();
    assert.throws(fn, { code: 'ARGUMENT', parameter, message: /dtype 'F16' or 'BF16'.*'U16' for integers/ });
    assert.equal(used(), before);
  }
  hl.scope(() => {
    const integers = { data: Uint16Array.of(1, 2, 65535), shape: [3], dtype: 'U16' };
    assert.deepEqual(hl.tensor(integers).toArray(), [1, 2, 65535]);
    assert.deepEqual(hl.tensor(new OrtTensor('uint16', Uint16Array.of(7), [1])).toArray(), [7]);
  });
});

test('a dtype of 16-bit floats on other integers is refused', () => {
  for (const array of [Int16Array, Uint8Array, Uint32Array, BigInt64Array])
    assert.throws(() => hl.tensor({ data: new array(6), shape, dtype: 'BF16' }), {
      code: 'ARGUMENT',
      parameter: 'data.data',
      message: /expected a Uint16Array, because its dtype is BF16/,
    });
});

test('an error thrown by a tensor of another library reaches the caller', () => {
  const before = used();
  assert.throws(() => hl.attention({ data, shape }, new OrtTensor('float32', null, shape), { data, shape }), {
    message: 'The data is not on CPU.',
  });
  assert.equal(used(), before);
});

test('the shape of a tensor of another library must match its data', () => {
  for (const tensor of [new OrtTensor('float32', data, [2, 2]), new TfTensor(data, [7])])
    assert.throws(() => hl.tensor(tensor), { code: 'SHAPE', message: /data.data has 6 elements, expected [47]/ });
  assert.throws(() => hl.tensor({ data, dims: 3 }), { code: 'ARGUMENT', parameter: 'data.shape' });
  assert.throws(() => hl.tensor({ data }), { code: 'ARGUMENT', parameter: 'data' });
  assert.throws(() => hl.tensor({ shape }), { code: 'ARGUMENT', parameter: 'data.data' });
});

test('arrays that are nested too deep, or contain themselves, are refused', () => {
  let deep = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const cyclic = [];
  cyclic.push(cyclic, cyclic);
  const inside = [[1, 2]];
  inside.push(inside);
  for (const [value, message] of [
    [deep, /query is nested more than 32 deep/],
    [cyclic, /query is nested more than 32 deep/],
    [inside, /query\[1\]\[0\] has length 2, expected a number/],
  ])
    assert.throws(
      () => hl.attention(value, value, value),
      (error) => error instanceof HeadlightError && message.test(error.message),
    );
  let ranked = 1;
  for (let i = 0; i < 32; i++) ranked = [ranked];
  hl.scope(() => assert.equal(hl.tensor(ranked).shape.length, 32));
});

test('shared nested arrays with more elements than fit into memory are refused at once', () => {
  let shared = [1, 1];
  for (let i = 1; i < 31; i++) shared = [shared, shared];
  assert.throws(() => hl.tensor(shared), { code: 'OUT_OF_MEMORY', message: /2147483648 elements/ });
});

test('irregular arrays are refused, and the error names the place', () => {
  for (const [value, message] of [
    [[[1], 2], /data\[1\] is 2, expected length 1/],
    [[1, [2]], /data\[1\] has length 1, expected a number/],
    [[[], [1]], /data\[1\] has length 1, expected length 0/],
    [[[1, 2], [3]], /data\[1\] has length 1, expected length 2/],
    [[[1], null], /data\[1\] is null, expected length 1/],
    [Object.assign(new Array(3), { 0: 1, 2: 3 }), /data\[1\] is undefined, expected a number/],
    [[[1], [undefined]], /data\[1\]\[0\] is undefined, expected a number/],
    [[Float32Array.of(1, 2), [1]], /data\[1\] has length 1, expected length 2/],
  ])
    assert.throws(
      () => hl.tensor(value),
      (error) => error instanceof HeadlightError && message.test(error.message),
    );
});

test('the real length of a typed array counts, not its own properties', () => {
  hl.scope(() => {
    const long = Object.defineProperty(Float32Array.of(1, 2), 'length', { value: 2 ** 20 });
    assert.deepEqual(hl.tensor(long).toArray(), [1, 2]);
    class Longer extends Float32Array {
      get length() {
        return 2 ** 20;
      }
    }
    assert.deepEqual(hl.tensor(new Longer([1, 2])).toArray(), [1, 2]);
    assert.throws(() => hl.tensor({ data: new Longer([1, 2]), shape: [2 ** 20] }), { code: 'SHAPE' });
    const renamed = Object.setPrototypeOf(new Uint8Array([1, 2]), Float32Array.prototype);
    assert.deepEqual(hl.tensor(renamed).toArray(), [1, 2]);
    const queries = Object.defineProperty(Float32Array.from(numbers), 'length', { value: 2 ** 20 });
    const result = hl.attention({ data: queries, shape }, { data, shape }, { data, shape });
    assert.deepEqual(result.output.copy(), expected.attention);
  });
});

test('a tensor is copied, in its own shape or another', () => {
  hl.scope(() => {
    const other = hl.multiHeadAttention({ embedDim: 3, numHeads: 1, seed: 5 });
    const copy = hl.tensor(other.parameters.wq);
    assert.deepEqual(copy.toArray(), other.parameters.wq.toArray());
    assert.deepEqual(copy.shape, [3, 3]);
    assert.deepEqual(hl.tensor(other.parameters.wq, [9]).shape, [9]);
  });
});
