// The weights that the page is to show, from the core in this Node.

import assert from 'node:assert/strict';
import { attentionOptions, EXAMPLES } from '../../web/model/examples.js';
import { change, initialState } from '../../web/model/state.js';
import { hl } from './headlight.js';

/** The weights (B,H,T,S) that the core gives here for a state of the page. */
export function expectedWeights(patch) {
  const state = change(initialState, patch);
  const problem = EXAMPLES[state.example].problem(state);
  return hl.scope(() => {
    if (!problem.layer) {
      const N = problem.keys.length;
      const data = hl
        .attention(problem.query, problem.key, problem.key, { ...attentionOptions(state, problem), weights: true })
        .weights.copy();
      return (_b, h, t, s) => data[(h * N + t) * N + s];
    }
    const input = ({ random, seed, data, shape }) => (random ? hl.randn(random, { seed }) : { data, shape });
    const layer = hl.multiHeadAttention(problem.layer);
    for (const [name, data] of Object.entries(problem.weights ?? {})) layer.parameters[name].data.set(data);
    const query = input(problem.query);
    const { weights } = layer.forward(query, problem.key ? input(problem.key) : query, {
      ...attentionOptions(state, problem),
      weights: true,
    });
    const [, H, T, S] = weights.shape;
    const data = weights.copy();
    return (b, h, t, s) => data[((b * H + h) * T + t) * S + s];
  });
}

/** The browser's flavour may round otherwise than this Node's. */
export const assertSame = (actual, expected, what) =>
  assert.ok(Math.abs(actual - expected) <= 5e-6 * expected, `${what}: ${actual}, the core has ${expected}`);
