// Tests arrays with false or changed sizes. None of them may make the core access memory outside of its blocks, and no
// error may leak memory.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';

const hl = await load();
const isOurs = (error) => error.name === 'HeadlightError';

/** Checks that each call throws a HeadlightError and leaks no memory. */
function refuses(uses) {
  for (const [name, use] of Object.entries(uses)) {
    const before = hl.info.memory.used;
    for (let i = 0; i < 3; i++) assert.throws(() => hl.scope(use), isOurs, name);
    assert.equal(hl.info.memory.used, before, `${name} leaks memory`);
  }
}

/** Returns an array of four numbers in which a property such as `length` has a false value. */
const faked = (property, value) => Object.defineProperty(new Float32Array(4), property, { value });

test('the shape and the size of a tensor cannot be assigned', () => {
  const tensor = hl.zeros([1, 1, 2, 4]);
  for (const [name, value] of [
    ['shape', [1, 1, 2e6, 4]],
    ['size', 1e6],
  ]) {
    assert.throws(() => {
      tensor[name] = value;
    }, TypeError);
    Object.defineProperty(tensor, name, { value });
  }
  const { output } = hl.attention(tensor, tensor, tensor);
  assert.deepEqual(output.shape, [1, 1, 2, 4]);
  assert.equal(hl.add(tensor, tensor).size, 8);
  assert.equal(tensor.copy().length, 8);
  assert.equal(tensor.toArray()[0][0].length, 2);
  const optimizer = hl.sgd({ tensor }, { lr: 1, momentum: 0.5 });
  optimizer.step({ tensor: { data: new Float32Array(8).fill(1), shape: [1, 1, 2, 4] } });
  assert.deepEqual([...tensor.copy()], Array(8).fill(-1));
  assert.equal(hl.clipGradients({ tensor }, 1), Math.sqrt(8));
});

test('the options, parameters and gradients of a layer cannot be assigned', () => {
  const layers = [
    hl.multiHeadAttention({ embedDim: 8, numHeads: 2 }),
    hl.linear({ in: 8, out: 8 }),
    hl.layerNorm({ width: 8 }),
    hl.embedding({ count: 8, width: 8 }),
    hl.gelu(),
    hl.activation({ kind: 'silu' }),
    hl.activation({ kind: 'silu', gated: true }),
    hl.additiveAttention({ queryDim: 8, keyDim: 8, hidden: 4 }),
  ];
  const small = hl.zeros([1]);
  for (const layer of layers) {
    for (const name of ['options', 'parameters', 'gradients']) {
      assert.throws(() => {
        layer[name] = { ...layer[name] };
      }, TypeError);
      for (const key of Object.keys(layer[name])) {
        assert.throws(() => {
          layer[name][key] = small;
        }, TypeError);
      }
    }
    layer.dispose();
  }
});

test('the real length of typed arrays counts, not their own properties', () => {
  const q = hl.zeros([1, 1, 1, 4]);
  const shape = [1, 1, 250_000, 4];
  refuses({
    length: () => hl.attention({ data: faked('length', 1e6), shape }, q, q),
    'another prototype': () => {
      const bytes = Object.setPrototypeOf(new Uint8Array(1000), Float32Array.prototype);
      hl.tensor({ data: bytes, shape: [1000] }).dispose();
      hl.tensor({ data: bytes, shape: [2000] });
    },
    'length of a tensor': () => hl.tensor({ data: faked('length', 1e6), shape }),
    'a mask': () => hl.attention(q, q, q, { mask: { data: faked('length', 1e6), shape } }),
  });
  for (const property of ['length', 'byteLength', 'byteOffset', 'buffer'])
    assert.deepEqual(hl.add(faked(property, 64), [1, 2, 3, 4]).toArray(), [1, 2, 3, 4]);
});

test('a detached array is refused, and no memory is leaked', () => {
  const tensor = hl.tensor([1, 2, 3]);
  const view = tensor.data;
  hl.zeros([hl.info.memory.reserved / 4]).dispose();
  assert.equal(view.length, 0);
  const sent = new Uint8Array(4);
  structuredClone(sent.buffer, { transfer: [sent.buffer] });
  const q = hl.zeros([1, 1, 1, 4]);
  refuses({
    add: () => hl.add(view, view),
    tensor: () => hl.tensor(view),
    'a shape without elements': () => hl.tensor({ data: view, shape: [0, 4] }),
    'transferred bytes': () => hl.tensor(sent),
    mask: () => hl.attention(q, q, q, { mask: sent }),
    nested: () => hl.tensor([view, view]),
    optimizer: () => hl.sgd({ tensor }).step({ tensor: view }),
  });
  assert.deepEqual(hl.add(new Float32Array(0), new Float32Array(0)).shape, [0]);
});

test('an array that is detached while others are read is refused, and no memory is leaked', () => {
  const rows = { data: new Float32Array(8), shape: [1, 1, 2, 4] };
  refuses({
    key: () => {
      const query = new Float32Array(8);
      const key = {
        shape: rows.shape,
        get data() {
          structuredClone(query.buffer, { transfer: [query.buffer] });
          return rows.data;
        },
      };
      hl.attention({ data: query, shape: rows.shape }, key, rows);
    },
  });
});

test('toArray refuses to create too many empty arrays', () => {
  assert.deepEqual(hl.zeros([3, 0]).toArray(), [[], [], []]);
  assert.deepEqual(hl.zeros([0, 2 ** 31 - 1]).toArray(), []);
  refuses({ toArray: () => hl.zeros([2 ** 28, 0, 4]).toArray() });
});
