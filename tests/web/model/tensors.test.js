import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight';
import { writeNpy, writeSafetensors } from 'headlight/formats';
import { attentionOptions, EXAMPLES } from '../../../web/model/examples.js';
import { change, initialState } from '../../../web/model/state.js';
import { LANGUAGES } from '../../../web/model/strings.js';
import { readTensors as readSources, TensorProblem } from '../../../web/model/tensors.js';
import { createSolver } from '../../../web/worker/solve.js';
import { difference } from '../../support/golden.js';
import { numbers } from '../../support/kernels.js';

const hl = await load();
const x = (...shape) => ({
  data: numbers(
    shape.reduce((a, b) => a * b, 1),
    3,
  ),
  shape,
});
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const readTensors = (bytes) => readSources([{ name: 'x.npy', bytes }]);
const problem = (fn) => {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof TensorProblem, error.stack);
    for (const { fileProblems } of Object.values(LANGUAGES))
      assert.ok(fileProblems[error.code](...error.values).length > 10);
    return [error.code, ...error.values];
  }
  return assert.fail('accepted');
};

test('npy, safetensors and JSON give the same tensors', () => {
  const q = x(2, 5, 6);
  const nested = Array.from({ length: 2 }, (_, b) =>
    Array.from({ length: 5 }, (_, t) => [...q.data.subarray((b * 5 + t) * 6, (b * 5 + t + 1) * 6)]),
  );
  for (const bytes of [
    writeNpy(q),
    writeSafetensors({ 'model.q': q }),
    json(nested),
    json({ query: { data: [...q.data], shape: q.shape } }),
  ]) {
    const { query, key } = readTensors(bytes);
    assert.deepEqual([query.shape, query.data, key], [[2, 5, 6], q.data, undefined]);
  }
  assert.deepEqual(
    readTensors(
      json([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    ).query.shape,
    [1, 3, 2],
  );
});

test('what does not fit says what was expected', () => {
  assert.deepEqual(
    problem(() => readTensors(json([[1, 2], [3]]))),
    ['ragged', 'x'],
  );
  assert.deepEqual(
    problem(() => readTensors(json([1, 2]))),
    ['rank', 'x', '[2]'],
  );
  assert.deepEqual(
    problem(() => readTensors(writeSafetensors({ a: x(2, 2), b: x(2, 2) }))),
    ['noQuery', 'a, b'],
  );
  assert.deepEqual(
    problem(() => readTensors(writeSafetensors({ q: x(3, 4), k: x(5, 6) }))),
    ['misfit', 'k', '[1,5,6]', '[1,5,4]'],
  );
  assert.deepEqual(
    problem(() => readTensors(writeSafetensors({ q: x(3, 4), k: x(5, 4), v: x(6, 4) }))),
    ['misfit', 'v', '[1,6,4]', '[1,5,4]'],
  );
  assert.deepEqual(
    problem(() => readTensors(writeNpy(x(5000, 2)))),
    ['large', 5000, 4096],
  );
  for (const [q, k] of [
    [x(4097, 2), x(3, 2)],
    [x(3, 2), x(4097, 2)],
  ])
    assert.deepEqual(
      problem(() => readTensors(writeSafetensors({ q, k }))),
      ['large', 4097, 4096],
    );
  assert.deepEqual(readTensors(writeSafetensors({ q: x(1, 2), k: x(4096, 2) })).key.shape, [1, 4096, 2]);
  assert.deepEqual(
    problem(() => readTensors(writeNpy(x(1, 145, 2, 2)))),
    ['manyHeads', 145, 144],
  );
  assert.deepEqual(
    problem(() => readTensors(writeSafetensors({ x: x(1, 2, 3, 4), 'out_proj.weight': x(4, 4) }))),
    ['rankForWeights', 'x', '[1,2,3,4]'],
  );
  assert.equal(problem(() => readTensors(new Uint8Array([1, 2, 3])))[0], 'unreadable');
  assert.equal(problem(() => readTensors(json({}).subarray(0, 1)))[0], 'unreadable');
});

/** Rows of shares, as softmax gives them; some rows see nothing. */
function shares(...shape) {
  const S = shape.at(-1);
  const { data } = x(...shape);
  for (let at = 0; at < data.length; at += S) {
    const row = data.subarray(at, at + S);
    const sum = row.reduce((total, value) => total + Math.exp(value), 0);
    row.forEach((value, s) => (row[s] = at % (3 * S) === S ? 0 : Math.exp(value) / sum));
  }
  return { data, shape };
}

test('attention weights from elsewhere are recognised, and not taken for queries', () => {
  const named = (name, tensor) => () => readSources([{ name: `${name}.npy`, bytes: writeNpy(tensor) }]);
  assert.deepEqual(problem(named('a', shares(2, 3, 5, 5))), ['attention', 'a', '[2,3,5,5]']);
  assert.deepEqual(problem(named('x', shares(2, 3, 5, 5))), ['attention', 'x', '[2,3,5,5]']);
  assert.deepEqual(problem(named('a', shares(1, 2, 3, 5, 5))), ['attention', 'a', '[1,2,3,5,5]']);
  assert.deepEqual(problem(named('attentions.0', shares(3, 5, 7))), ['attention', 'attentions.0', '[3,5,7]']);
  assert.deepEqual(problem(named('attn_probs', shares(5, 7))), ['attention', 'attn_probs', '[5,7]']);
  const half = writeSafetensors({ 'layer.1.attention': { ...shares(2, 3, 5, 5), dtype: 'F16' }, other: x(2, 2) });
  assert.deepEqual(
    problem(() => readTensors(half)),
    ['attention', 'layer.1.attention', '[2,3,5,5]'],
  );
});

test('inputs whose rows sum to 1 by chance, or one-hot, are inputs', () => {
  const oneHot = { data: Float32Array.from({ length: 15 }, (_, i) => Number(i % 6 === 0)), shape: [3, 5] };
  assert.deepEqual(readTensors(writeNpy(oneHot)).query.shape, [1, 3, 5]);
  assert.deepEqual(readTensors(writeNpy(shares(2, 5, 5))).query.shape, [2, 5, 5]);
  const q = shares(1, 2, 5, 5);
  assert.deepEqual(readTensors(writeSafetensors({ q, k: q })).query.shape, [1, 2, 5, 5]);
  assert.deepEqual(readTensors(writeNpy(x(1, 2, 5, 5))).query.shape, [1, 2, 5, 5]);
  const attention = { data: x(4, 4).data, shape: [4, 4] };
  assert.deepEqual(readSources([{ name: 'attention.npy', bytes: writeNpy(attention) }]).query.shape, [1, 4, 4]);
  const halves = { data: new Float32Array(16).fill(0.5), shape: [4, 4] };
  assert.deepEqual(readSources([{ name: 'attention.npy', bytes: writeNpy(halves) }]).query.shape, [1, 4, 4]);
});

test('given tensors are attended: packed heads, heads of their own, rectangular, with their tokens', async () => {
  const packed = { query: x(2, 4, 6), key: x(2, 7, 6), value: x(2, 7, 6) };
  const bytes = writeSafetensors(
    { q: packed.query, k: packed.key, v: packed.value },
    { keys: JSON.stringify([...'abcdefg']) },
  );
  const state = change(initialState, { example: 'file', heads: 3, mask: 'causal' });
  const given = readTensors(bytes);
  const solver = createSolver(() => hl);
  const { problem: shown, ...solved } = await solver.solve(state, given);
  assert.deepEqual([shown.shape, shown.keys.join(''), shown.queries[3]], [[2, 3, 4, 7], 'abcdefg', 'q4']);
  const options = attentionOptions(state, EXAMPLES.file.problem(state, given));
  hl.scope(() => {
    const { weights, output } = hl.attention(packed.query, packed.key, packed.value, {
      ...options,
      heads: 3,
      weights: true,
    });
    assert.ok(difference(solved.whole().weights, weights.data) < 1e-6);
    assert.ok(difference(solved.cell(1, { query: 2, key: 1 }).concat, output.data.subarray(2 * 6, 3 * 6)) < 1e-6);
  });
  const four = await createSolver(() => hl).solve(
    change(initialState, { example: 'file', heads: 8 }),
    readTensors(writeNpy(x(1, 2, 5, 4))),
  );
  assert.deepEqual(four.problem.shape, [1, 2, 5, 5]);
  await assert.rejects(
    solver.solve(state, { id: 2, ...readTensors(writeNpy(x(4, 5))) }),
    /width 5 is not a multiple of 3 heads/,
  );
  assert.equal(await solver.solve(state), null);
});

test('several files are read together: an array by the name of its file, the weights of a layer by their own', () => {
  const layer = hl.multiHeadAttention({ embedDim: 6, numHeads: 2 });
  const given = readSources([
    { name: 'q.npy', bytes: writeNpy(x(1, 4, 6)) },
    { name: 'v.npy', bytes: writeNpy(x(1, 5, 6)) },
    { name: 'k.npy', bytes: writeNpy(x(1, 5, 6)) },
    { name: 'layer.safetensors', bytes: writeSafetensors(layer.stateDict('torch')) },
  ]);
  assert.deepEqual(
    [given.query.shape, given.key.shape, given.value.shape],
    [
      [1, 4, 6],
      [1, 5, 6],
      [1, 5, 6],
    ],
  );
  assert.deepEqual(Object.keys(given.weights).sort(), [
    'in_proj_bias',
    'in_proj_weight',
    'out_proj.bias',
    'out_proj.weight',
  ]);
});

test("weights in the names of every library are found and give the layer's own attention", async () => {
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2, seed: 3 });
  const input = x(1, 5, 8);
  const { weights } = layer.forward(input, { weights: true });
  for (const layout of ['headlight', 'torch', 'd2l', 'keras', 'keras-layer', 'bert', 'linear']) {
    const given = readSources([
      { name: 'all.safetensors', bytes: writeSafetensors({ hidden_states: input, ...layer.stateDict(layout) }) },
    ]);
    const solved = await createSolver(() => hl).solve(change(initialState, { example: 'file', heads: 2 }), {
      id: 1,
      ...given,
    });
    assert.ok(difference(solved.headOf(1).weights, weights.data.subarray(25)) < 1e-6, layout);
  }
});
