// The C core, off the page's thread. A message in is a state; a message out is what attention makes of it.

import { load } from '../src/js/browser.js';
import { attentionOptions, EXAMPLES } from './examples.js';

const ready = load();
ready.catch(() => {});

function input(hl, { random, seed, data, shape }) {
  return random ? hl.randn(random, { seed }) : { data, shape };
}

function compute(hl, state) {
  const problem = EXAMPLES[state.example].problem(state);
  if (!problem) return null;
  return hl.scope(() => {
    const options = { ...attentionOptions(state, problem), weights: true, scores: 'masked' };
    const query = input(hl, problem.query);
    const key = problem.key ? input(hl, problem.key) : query;
    const value = problem.value ? input(hl, problem.value) : key;
    const layer = problem.layer && hl.multiHeadAttention(problem.layer);
    if (problem.weights) for (const [name, data] of Object.entries(problem.weights)) layer.parameters[name].data.set(data);
    const start = performance.now();
    const result = layer ? layer.forward(query, key, value, options) : hl.attention(query, key, value, options);
    const milliseconds = performance.now() - start;
    return {
      queries: problem.queries,
      keys: problem.keys,
      shape: [...result.weights.shape],
      weights: result.weights.copy(),
      scores: result.scores.copy(),
      milliseconds,
      info: { simd: hl.info.simd, version: hl.info.version },
    };
  });
}

onmessage = async ({ data: { id, state } }) => {
  try {
    const result = compute(await ready, state);
    postMessage({ id, result }, result ? [result.weights.buffer, result.scores.buffer] : []);
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
