import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight';
import { attentionOptions, EXAMPLES, optionsOf, PAINT_STRIDE } from '../../../web/model/examples.js';
import { change, initialState } from '../../../web/model/state.js';
import { createSolver } from '../../../web/worker/solve.js';
import { difference } from '../../support/golden.js';
import { attention as reference } from '../../support/reference.js';

const hl = await load();
const SETTINGS = [
  {},
  { mask: 'causal' },
  { mask: 'window', window: 1 },
  { mask: 'padding', keys: 5, temperature: 0.4 },
  { softcap: 2, scaled: false },
  { painted: [PAINT_STRIDE * 7 + 5, PAINT_STRIDE * 2] },
  { example: 'cross', seed: 5, batch: 1 },
  { example: 'wide' },
  { example: 'padded', batch: 1 },
  { example: 'equal' },
  { example: 'lengths', batch: 1 },
  { example: 'own', text: 'a b a' },
  { example: 'patches' },
  { example: 'long', tokens: 128, heads: 3 },
];
const solve = (state, solver = createSolver(() => hl)) => solver.solve(state);
const corners = (T, S) => [
  { query: 0, key: 0 },
  { query: T - 1, key: S - 1 },
  { query: Math.floor(T / 2), key: Math.floor(S / 3) },
];

test('every step shown equals float64, from the projections to the joined heads', async () => {
  for (const patch of SETTINGS) {
    const state = change(initialState, patch);
    const solved = await solve(state);
    const {
      queries: { length: T },
      keys: { length: S },
      shape: [, H],
    } = solved.problem;
    const whole = solved.whole();
    const options = attentionOptions(state, EXAMPLES[state.example].problem(state));
    const { keyPadding } = options;
    if (keyPadding) options.keyPadding = { data: keyPadding.flat(), shape: [keyPadding.length, keyPadding[0].length] };
    const { weights, output } = reference(whole.q, whole.k, whole.v, options);
    assert.ok(difference(whole.weights, weights) < 1e-6);
    const [b, head] = [solved.batch, H - 1];
    const at = (b * H + head) * T * S;
    assert.ok(
      difference(solved.headOf(head).weights, weights.subarray(at, at + T * S)) < 1e-6,
      `${JSON.stringify(patch)}: weights`,
    );
    for (const cell of corners(T, S)) {
      const e = solved.cell(head, cell);
      const close = (got, expected, what) =>
        assert.ok(
          Math.abs(got - expected) <= 1e-5 * (1 + Math.abs(expected)),
          `${JSON.stringify(patch)}, ${what}: ${got}, expected ${expected}`,
        );
      const total = e.products.reduce((a, x) => a + x, 0);
      close(e.raw, total, 'q·k');
      close(e.scaled, total * options.scale, 'scaled');
      close(
        e.capped,
        state.softcap ? state.softcap * Math.tanh((total * options.scale) / state.softcap) : total * options.scale,
        'capped',
      );
      const masked = whole.scores[at + cell.query * S + cell.key];
      assert.equal(e.hidden, masked === -Infinity);
      if (!e.hidden) close(e.masked, masked, 'masked');
      close(e.weight, e.hidden ? 0 : e.exponent / e.sum, 'weight');
      close(e.weight, weights[at + cell.query * S + cell.key], 'weight of the reference');
      const row = weights.subarray(at + cell.query * S, at + (cell.query + 1) * S);
      close(
        e.total,
        row.reduce((a, w) => a + w, 0),
        'sum of the row',
      );
      e.contribution.forEach((x, d) => close(x, e.weight * e.v[d], 'contribution'));
      const Dv = e.v.length;
      e.heads.forEach((x, d) => close(x, output[((b * H + head) * T + cell.query) * Dv + d], 'output of the head'));
      assert.deepEqual(e.concat.subarray(...e.part), e.heads);
    }
  }
});

test('a head that is switched off is 0 where the heads are joined, and changes no weight', async () => {
  const cell = { query: 2, key: 2 };
  const [whole, without] = [
    await solve(change(initialState, { example: 'wide' })),
    await solve(change(initialState, { example: 'wide', off: [1] })),
  ];
  assert.deepEqual(without.headOf(1).weights, whole.headOf(1).weights);
  assert.ok(without.cell(1, cell).heads.every((x) => x === 0));
  assert.notDeepEqual(without.cell(1, cell).output, whole.cell(1, cell).output);
});

test("the output is the layer's own", async () => {
  for (const example of ['wide', 'cross', 'padded', 'lengths', 'sentence', 'patches']) {
    const state = change(initialState, { example });
    const problem = EXAMPLES[example].problem(state);
    const solved = await solve(state);
    const { output, shape } = hl.scope(() => {
      const input = ({ random, seed, data, shape }) => (random ? hl.randn(random, { seed }) : { data, shape });
      const layer = hl.multiHeadAttention(problem.layer);
      for (const [name, data] of Object.entries(problem.weights ?? {})) layer.parameters[name].data.set(data);
      const query = input(problem.query);
      const { output } = layer.forward(
        query,
        problem.key ? input(problem.key) : query,
        attentionOptions(state, problem),
      );
      return { output: output.copy(), shape: output.shape };
    });
    const [, , C] = shape;
    const off = difference(solved.cell(0, { query: 1, key: 0 }).output, output.subarray(C, 2 * C));
    assert.ok(off < 3e-6, `${example}: ${off}`);
  }
});

test("a visitor's own weights are those of the layer, by PyTorch's names and with its biases", async () => {
  const layer = hl.multiHeadAttention({ embedDim: 12, numHeads: 3, seed: 5 });
  for (const name of ['bq', 'bk', 'bv', 'bo'])
    layer.parameters[name].data.set(hl.randn([12], { seed: name.charCodeAt(1) }).data);
  const x = hl.randn([1, 5, 12], { seed: 9 });
  const expected = layer.forward(x, { weights: true, causal: true });
  const given = { id: 1, query: { data: x.copy(), shape: [1, 5, 12] }, weights: layer.stateDict('torch') };
  const solved = await createSolver(() => hl).solve(
    change(initialState, { example: 'file', heads: 3, mask: 'causal' }),
    given,
  );
  for (const cell of corners(5, 5)) {
    const e = solved.cell(2, cell);
    assert.ok(Math.abs(e.weight - expected.weights.data[(2 * 5 + cell.query) * 5 + cell.key]) < 1e-6);
    assert.ok(difference(e.output, expected.output.data.subarray(cell.query * 12, (cell.query + 1) * 12)) < 3e-6);
  }
});

test('what a change does not touch is kept, and nothing is lost', async () => {
  const solver = createSolver(() => hl);
  const first = change(initialState, { example: 'wide' });
  const { key } = await solve(first, solver);
  const used = hl.info.memory.used;
  for (let i = 0; i < 20; i++)
    await solve(change(first, { temperature: 1 + i / 10, cell: { query: 1, key: 1 } }), solver);
  assert.equal(hl.info.memory.used, used);
  assert.equal((await solve(change(first, { head: 2, cell: { query: 0, key: 3 } }), solver)).key, key);
  assert.notEqual((await solve(change(first, { mask: 'causal' }), solver)).key, key);
  const keys = new Set();
  const changes = [
    { mask: 'window' },
    { mask: 'window', window: 5 },
    { mask: 'padding' },
    { mask: 'padding', keys: 3 },
  ];
  for (const masked of changes) keys.add((await solve(change(first, masked), solver)).key);
  assert.equal(keys.size, changes.length);
  solver.free();
  assert.ok(hl.info.memory.used < used);
});

test('solving gives way between heads, and what is thrown there ends it without harm', async () => {
  const solver = createSolver(() => hl);
  const state = change(initialState, { example: 'long', tokens: 1024, heads: 12 });
  const turns = [];
  await (await solver.solve(state)).computeAll(async (done, of) => turns.push([done, of]));
  assert.ok(turns.length > 0 && turns.every(([done, of]) => done < of && of === 12), String(turns));
  const interrupted = await solver.solve(change(state, { temperature: 2 }));
  await assert.rejects(
    interrupted.computeAll(async () => {
      throw new Error('enough');
    }),
    /enough/,
  );
  const again = await solver.solve(change(state, { temperature: 2 }));
  const { weights, S } = again.headOf(11);
  const first = weights.slice(0, S);
  const { scale } = optionsOf(attentionOptions(change(state, { temperature: 2 }), EXAMPLES.long.problem(state)), 0);
  const whole = again.whole();
  const row = reference(
    ...[whole.q, whole.k, whole.v].map(({ data, shape: [, , N, D] }, i) => ({
      data: data.subarray(11 * N * D, i === 0 ? (11 * N + 1) * D : 12 * N * D),
      shape: [1, 1, i === 0 ? 1 : N, D],
    })),
    { scale },
  );
  assert.ok(difference(first, row.weights) < 1e-6);
});
