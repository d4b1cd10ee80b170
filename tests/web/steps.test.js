import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight';
import { attentionOptions, EXAMPLES, PAINT_STRIDE } from '../../web/examples.js';
import { compute } from '../../web/compute.js';
import { change, initialState } from '../../web/state.js';
import { explain } from '../../web/steps.js';
import { difference } from '../support/golden.js';
import { attention as reference } from '../support/reference.js';

const hl = await load();
const SETTINGS = [
  {}, { mask: 'causal' }, { mask: 'window', window: 1 }, { mask: 'padding', keys: 5, temperature: 0.4 }, { softcap: 2, scaled: false },
  { painted: [PAINT_STRIDE * 7 + 5, PAINT_STRIDE * 2] }, { example: 'cross', seed: 5, batch: 1 }, { example: 'wide' }, { example: 'padded', batch: 1 },
  { example: 'equal' }, { example: 'lengths', batch: 1 }, { example: 'own', text: 'a b a' },
];

test('every step shown equals float64: projections, scores at each step, weights, values, the joined heads, the output', () => {
  for (const patch of SETTINGS) {
    const state = change(initialState, patch);
    const result = compute(hl, state);
    const { steps, shape: [B, H, T, S] } = result;
    const options = attentionOptions(state, EXAMPLES[state.example].problem(state));
    const { keyPadding } = options;
    if (keyPadding) options.keyPadding = { data: keyPadding.flat(), shape: [keyPadding.length, keyPadding[0].length] };
    const { weights, output } = reference(steps.q, steps.k, steps.v, options);
    assert.ok(difference(result.weights, weights) < 1e-6);
    assert.ok(difference(steps.heads.data, output) < 1e-6);
    for (let b = 0; b < B; b++) {
      for (const cell of [{ query: 0, key: 0 }, { query: T - 1, key: S - 1 }, { query: Math.floor(T / 2), key: Math.floor(S / 3) }]) {
        const head = H - 1;
        const e = explain(result, { batch: b, head, cell });
        const close = (got, expected, what) => assert.ok(Math.abs(got - expected) <= 1e-5 * (1 + Math.abs(expected)), `${what}: ${got}, expected ${expected}`);
        const total = e.products.reduce((a, x) => a + x, 0);
        close(e.raw, total, 'q·k');
        close(e.scaled, total * options.scale, 'scaled');
        close(e.capped, state.softcap ? state.softcap * Math.tanh((total * options.scale) / state.softcap) : total * options.scale, 'capped');
        if (!e.hidden) close(e.masked, e.capped, 'masked');
        close(e.weight, e.hidden ? 0 : e.exponent / e.sum, 'weight');
        close(e.weight, weights[((b * H + head) * T + cell.query) * S + cell.key], 'weight of the reference');
        e.contribution.forEach((x, d) => close(x, e.weight * e.v[d], 'contribution'));
        assert.deepEqual(e.concat.subarray(...e.part), e.heads);
      }
    }
  }
});

test('a head that is switched off is 0 where the heads are joined, and changes no weight', () => {
  const whole = compute(hl, change(initialState, { example: 'wide' }));
  const without = compute(hl, change(initialState, { example: 'wide', off: [1] }));
  assert.deepEqual(without.weights, whole.weights);
  const e = explain(without, { batch: 0, head: 1, cell: { query: 2, key: 2 } });
  assert.ok(e.heads.every((x) => x === 0));
  assert.notDeepEqual(e.output, explain(whole, { batch: 0, head: 1, cell: { query: 2, key: 2 } }).output);
});

test('the output is the layer\'s own', () => {
  for (const example of ['wide', 'cross', 'padded', 'lengths', 'sentence']) {
    const state = change(initialState, { example });
    const problem = EXAMPLES[example].problem(state);
    const result = compute(hl, state);
    hl.scope(() => {
      const input = ({ random, seed, data, shape }) => (random ? hl.randn(random, { seed }) : { data, shape });
      const layer = hl.multiHeadAttention(problem.layer);
      for (const [name, data] of Object.entries(problem.weights ?? {})) layer.parameters[name].data.set(data);
      const query = input(problem.query);
      const { output } = layer.forward(query, problem.key ? input(problem.key) : query, attentionOptions(state, problem));
      const off = difference(result.steps.output.data, output.data);
      assert.ok(off < 3e-6, `${example}: ${off}`);
    });
  }
});
