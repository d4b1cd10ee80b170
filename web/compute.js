// What attention makes of a state, step by step, computed by the core.

import { attentionOptions, EXAMPLES } from './examples.js';

function input(hl, { random, seed, data, shape }) {
  return random ? hl.randn(random, { seed }) : { data, shape };
}

/** x(B,N,C) · weightᵀ as (B,heads,N,width): by the core, as scores of x before the weight. The examples' biases are 0. */
function project(hl, x, weight, heads) {
  const { data, shape: [B, N, C] } = x;
  const out = weight.shape[0];
  const { scores } = hl.attention(
    { data, shape: [1, 1, B * N, C] },
    { data: weight.copy(), shape: [1, 1, out, C] },
    { data: new Float32Array(out), shape: [1, 1, out, 1] },
    { scores: 'raw', scale: 1 },
  );
  return splitHeads({ data: scores.copy(), shape: [B, N, out] }, heads);
}

/** (B,N,heads·D) as (B,heads,N,D); what has four axes stays. */
function splitHeads({ data, shape }, heads) {
  if (shape.length === 4) return { data, shape };
  const [B, N, C] = shape;
  const D = C / heads;
  const to = new Float32Array(data.length);
  for (let i = 0; i < to.length; i++) {
    const [d, n, h, b] = [i % D, Math.floor(i / D) % N, Math.floor(i / D / N) % heads, Math.floor(i / D / N / heads)];
    to[i] = data[(b * N + n) * C + h * D + d];
  }
  return { data: to, shape: [B, heads, N, D] };
}

const copyOf = (x) => (x.copy ? { data: x.copy(), shape: [...x.shape] } : x);

/** Heads that are switched off give 0. */
function withoutHeads({ data, shape: [B, H, T, D] }, off) {
  for (const h of off) for (let b = 0; b < B; b++) data.fill(0, (b * H + h) * T * D, (b * H + h + 1) * T * D);
}

/** heads (B,H,T,D) side by side, (B,T,H·D), and times Wo where there is one, (B,T,C). */
function joinHeads(hl, { data, shape: [B, H, T, D] }, wo) {
  const joined = new Float32Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const [d, t, h, b] = [i % D, Math.floor(i / D) % T, Math.floor(i / D / T) % H, Math.floor(i / D / T / H)];
    joined[((b * T + t) * H + h) * D + d] = data[i];
  }
  const concat = { data: joined, shape: [B, T, H * D] };
  if (!wo) return { concat, output: concat };
  const { data: output, shape: [, , , C] } = project(hl, concat, wo, 1);
  return { concat, output: { data: output, shape: [B, T, C] } };
}

/** Every step of the algorithm for the inputs of a state, or for given tensors: (B,H,T,·) and (B,H,S,·), the scores (B,H,T,S). */
export function compute(hl, state, given) {
  const problem = EXAMPLES[state.example].problem(state, given);
  if (!problem) return null;
  return hl.scope(() => {
    const options = attentionOptions(state, problem);
    const query = copyOf(input(hl, problem.query));
    const key = problem.key ? copyOf(input(hl, problem.key)) : query;
    const value = problem.value ? copyOf(input(hl, problem.value)) : key;
    const layer = problem.layer && hl.multiHeadAttention(problem.layer);
    if (problem.weights) for (const [name, data] of Object.entries(problem.weights)) layer.parameters[name].data.set(data);
    const split = (x) => splitHeads(x, problem.heads ?? 1);
    const p = layer?.parameters;
    const heads = layer ? state.heads : 1;
    const q = layer ? project(hl, query, p.wq, heads) : split(query);
    const k = layer ? project(hl, key, p.wk, heads) : split(key);
    const v = layer ? project(hl, value, p.wv, heads) : split(value);

    const start = performance.now();
    const attended = hl.attention(q, k, v, { ...options, weights: true, scores: 'masked' });
    const milliseconds = performance.now() - start;
    const step = (scores) => hl.attention(q, k, v, { ...options, scores }).scores.copy();
    const headOutput = copyOf(attended.output);
    withoutHeads(headOutput, state.off);
    const { concat, output } = joinHeads(hl, headOutput, p?.wo);
    return {
      queries: problem.queries,
      keys: problem.keys,
      self: !problem.key,
      shape: [...attended.weights.shape],
      weights: attended.weights.copy(),
      scores: attended.scores.copy(),
      steps: { q, k, v, raw: step('raw'), scaled: step('scaled'), capped: step('capped'), heads: headOutput, concat, output },
      scale: options.scale,
      milliseconds,
      info: { simd: hl.info.simd, version: hl.info.version },
    };
  });
}
