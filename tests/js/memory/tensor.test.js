import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';

const hl = await load();
const used = () => hl.info.memory.used;

test('a tensor is made from nested arrays, typed arrays, { data, shape }, numbers and tensors', () => {
  hl.scope(() => {
    const nested = hl.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    assert.deepEqual(nested.shape, [2, 3]);
    assert.equal(nested.size, 6);
    assert.deepEqual(nested.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    assert.deepEqual(hl.tensor(Float64Array.of(1, 2), [2, 1]).toArray(), [[1], [2]]);
    assert.deepEqual(hl.tensor(BigInt64Array.of(-3n)).toArray(), [-3]);
    assert.deepEqual(hl.tensor({ data: [true, false], shape: [2] }).toArray(), [1, 0]);
    assert.deepEqual(hl.tensor([true, false]).toArray(), [1, 0]);
    assert.deepEqual(hl.tensor([Float32Array.of(1, 2), Float32Array.of(3, 4)]).toArray(), [
      [1, 2],
      [3, 4],
    ]);
    assert.equal(hl.tensor(7).toArray(), 7);
    assert.deepEqual(hl.tensor(7).shape, []);
    assert.deepEqual(hl.tensor([]).shape, [0]);
    assert.deepEqual(hl.zeros([0, 3]).toArray(), []);
    const copy = hl.tensor(nested);
    copy.data[0] = 9;
    assert.equal(nested.data[0], 1);
    assert.ok(Number.isNaN(hl.tensor([NaN]).data[0]));
  });
});

test('random numbers have seed 0, mean 0 and deviation 1, or the range 0 to 1, unless others are given', () => {
  hl.scope(() => {
    const given = { seed: 0, mean: 0, std: 1, low: 0, high: 1 };
    for (const [make, names] of [
      ['randn', ['seed', 'mean', 'std']],
      ['uniform', ['seed', 'low', 'high']],
    ]) {
      const usual = [...hl[make]([40]).data];
      const all = Object.fromEntries(names.map((name) => [name, given[name]]));
      assert.deepEqual([...hl[make]([40], all).data], usual);
      for (const name of names)
        assert.notDeepEqual([...hl[make]([40], { [name]: 0.5 + (name === 'seed' ? 0.5 : 0) }).data], usual);
    }
  });
});

test('at() copies the part at some indices; negative ones count from the end; all indices give a number', () => {
  hl.scope(() => {
    const shape = [2, 3, 4, 5];
    const tensor = hl.tensor(Float32Array.from({ length: 120 }, (_, i) => i));
    const all = hl.tensor(tensor, shape);
    const nested = all.toArray();
    for (const [indices, expected] of [
      [[1, 2, -1], nested[1][2][3]],
      [[0, -3], nested[0][0].flat()],
      [[-2], nested[0].flat(2)],
      [[], nested.flat(3)],
    ]) {
      const part = all.at(...indices);
      assert.ok(part instanceof Float32Array);
      assert.deepEqual([...part], expected);
    }
    assert.equal(all.at(1, 0, -2, 4), nested[1][0][2][4]);
    assert.equal(hl.tensor(7).at(), 7);
    assert.deepEqual([...hl.zeros([2, 0]).at(1)], []);
    all.at(0, 0, 0)[0] = 9;
    assert.equal(all.data[0], 0);
    const row = all.at(1, 0, 0);
    all.dispose();
    assert.equal(row[4], 64);
    assert.throws(() => all.at(0), { code: 'DISPOSED' });
  });
});

test('at() refuses an index outside of an axis, and names the axis', () => {
  hl.scope(() => {
    const tensor = hl.zeros([2, 3, 4]);
    for (const [indices, parameter, range] of [
      [[0, 3], 'indices[1]', 'an integer from -3 to 2'],
      [[-3], 'indices[0]', 'an integer from -2 to 1'],
      [[0, 0, 0.5], 'indices[2]', 'an integer from -4 to 3'],
      [[0, 0, 0, 0], 'indices[3]', 'none'],
      [['0'], 'indices[0]', 'an integer from -2 to 1'],
      [[undefined], 'indices[0]', 'an integer from -2 to 1'],
      [[1n], 'indices[0]', 'an integer from -2 to 1'],
    ]) {
      const axis = parameter.at(-2);
      const expected = `${range} for axis ${axis} of [2,3,4]`;
      assert.throws(() => tensor.at(...indices), { code: 'ARGUMENT', parameter, expected });
    }
    assert.throws(() => hl.zeros([0, 2]).at(0), { parameter: 'indices[0]', expected: 'none for axis 0 of [0,2]' });
  });
});

test('data is a live view, also after the memory has grown; copy() is independent', () => {
  hl.scope(() => {
    const tensor = hl.tensor([1, 2, 3]);
    const copy = tensor.copy();
    const before = tensor.data;
    before[0] = 5;
    assert.equal(tensor.data[0], 5);
    const large = hl.zeros([hl.info.memory.reserved / 4]);
    assert.equal(before.length, 0);
    assert.deepEqual([...tensor.copy()], [5, 2, 3]);
    assert.deepEqual(large.copy(), new Float32Array(large.size));
    assert.deepEqual([...tensor.data], [5, 2, 3]);
    assert.deepEqual([...copy], [1, 2, 3]);
    const grown = hl.tensor(tensor.data.subarray(1));
    assert.deepEqual([...grown.data], [2, 3]);
  });
});

test('a layer uses values written through data, even if the memory has grown since', () => {
  hl.scope(() => {
    const layer = hl.multiHeadAttention({ embedDim: 4, numHeads: 1, bias: false });
    layer.forward([[1, 2, 3, 4]]);
    layer.parameters.wo.data.fill(0);
    hl.zeros([hl.info.memory.reserved / 4]);
    assert.deepEqual(layer.forward([[1, 2, 3, 4]]).output.toArray(), [[0, 0, 0, 0]]);
  });
});

for (const place of ['query', 'key', 'value']) {
  test(`a live view as ${place} stays valid when the copy of another input makes the memory grow`, async () => {
    const fresh = await load();
    const inputs = Object.fromEntries(
      ['query', 'key', 'value'].map((name, i) => [name, fresh.uniform([1, 1, 4000, 8], { seed: i + 1 }).copy()]),
    );
    const shape = [1, 1, 4000, 8];
    const live = fresh.tensor(inputs[place], shape);
    const attend = (given) =>
      fresh.attention(...Object.entries({ ...inputs, [place]: given }).map(([, data]) => ({ data, shape })));
    const expected = attend(inputs[place]).output.copy();
    const room = () => fresh.info.memory.reserved - fresh.info.memory.used;
    while (room() > live.data.byteLength) fresh.zeros(shape);
    const { reserved } = fresh.info.memory;
    assert.deepEqual(attend(live.data).output.copy(), expected);
    assert.ok(fresh.info.memory.reserved > reserved, 'the memory has grown');
  });
}

test('scope frees the tensors created inside, except those in its result; after an error, all of them', () => {
  const before = used();
  const kept = hl.scope(() => {
    hl.zeros([100]);
    const result = hl.attention(hl.randn([1, 1, 3, 4]), hl.randn([1, 1, 5, 4]), hl.randn([1, 1, 5, 4]), {
      weights: true,
    });
    const inner = hl.scope(() => [hl.zeros([7]), new Map([['a', { deep: hl.zeros([9]) }]])]);
    return { result, inner };
  });
  assert.equal(kept.result.output.data.length, 12);
  assert.equal(kept.inner[1].get('a').deep.size, 9);
  kept.result.dispose();
  kept.inner[0].dispose();
  kept.inner[1].get('a').deep.dispose();
  assert.equal(used(), before);
  assert.throws(
    () =>
      hl.scope(() => {
        hl.zeros([100]);
        throw new RangeError('mine');
      }),
    RangeError,
  );
  assert.equal(used(), before);
  const layer = hl.scope(() => hl.multiHeadAttention({ embedDim: 4, numHeads: 2 }));
  assert.equal(layer.parameters.wq.disposed, false);
  layer.dispose();
  assert.equal(used(), before);
});

test('a tensor that an inner scope returns is freed by the outer one, unless that returns it too', () => {
  const before = used();
  hl.scope(() => void hl.scope(() => hl.zeros([100])));
  assert.equal(used(), before);
  const kept = hl.scope(() => hl.scope(() => [hl.zeros([100]), hl.zeros([100])])[1]);
  assert.ok(used() < before + 800);
  kept.dispose();
  assert.equal(used(), before);
});

test('dispose frees the memory once; `using` and Symbol.dispose do the same', () => {
  const before = used();
  const tensor = hl.zeros([1000]);
  assert.ok(used() >= before + 4000);
  tensor.dispose();
  tensor.dispose();
  assert.equal(used(), before);
  const other = hl.zeros([10]);
  other[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
  assert.ok(other.disposed);
  assert.equal(used(), before);
});

test('random tensors are equal for equal seeds, and have the specified distribution', () => {
  hl.scope(() => {
    const a = hl.uniform([1000], { seed: 3, low: -2, high: 4 });
    assert.deepEqual(a.copy(), hl.uniform([1000], { seed: 3, low: -2, high: 4 }).copy());
    assert.notDeepEqual(a.copy(), hl.uniform([1000], { seed: 4, low: -2, high: 4 }).copy());
    assert.ok(a.data.every((x) => x >= -2 && x < 4));
    const n = hl.randn([100001], { seed: 5, mean: 1, std: 2 }).data;
    const mean = n.reduce((s, x) => s + x, 0) / n.length;
    const std = Math.sqrt(n.reduce((s, x) => s + (x - mean) ** 2, 0) / n.length);
    assert.ok(Math.abs(mean - 1) < 0.03 && Math.abs(std - 2) < 0.03, `${mean} ± ${std}`);
  });
});

test('100,000 forwards leak no memory', { timeout: 120_000 }, () => {
  hl.scope(() => {
    const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
    const x = { data: new Float32Array(24).fill(0.5), shape: [1, 3, 8] };
    layer.forward(x, { weights: true, causal: true }).dispose();
    const before = hl.info.memory;
    for (let i = 0; i < 100_000; i++) layer.forward(x, { weights: true, causal: true }).dispose();
    assert.deepEqual(hl.info.memory, before);
  });
});

test('tensors that are no longer referenced are freed by the garbage collector', {
  skip: !globalThis.gc && 'needs --expose-gc',
}, async () => {
  const before = used();
  (() => {
    for (let i = 0; i < 100; i++) hl.zeros([100]);
  })();
  for (let i = 0; i < 20 && used() > before; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(used(), before);
});
