// Attention written down once more, in float64 and in the plainest way: what the core is held against.

const at = (x, ...index) => {
  let offset = 0;
  const lead = x.shape.length;
  const from = index.length - lead;
  for (let axis = 0; axis < lead; axis++) offset = offset * x.shape[axis] + (x.shape[axis] === 1 ? 0 : index[from + axis]);
  return Number(x.data[offset]);
};

/**
 * @param q (B,H,T,D), k (B,G,S,D), v (B,G,S,Dv): { data, shape }
 * @returns {{ output, weights, scores: { raw, scaled, capped, masked } }} as Float64Array
 */
export function attention(q, k, v, options = {}) {
  const [B, H, T, D] = q.shape;
  const [, G, S] = k.shape;
  const Dv = v.shape[3];
  const { scale = 1 / Math.sqrt(D || 1), softcap = 0, mask, bias, keyPadding, validLens, causal, window = [-1, -1], maskFill = -Infinity, offset = 0, keep, p = 0 } = options;
  const make = (...shape) => new Float64Array(shape.reduce((a, b) => a * b, 1));
  const steps = { raw: make(B, H, T, S), scaled: make(B, H, T, S), capped: make(B, H, T, S), masked: make(B, H, T, S) };
  const [output, weights] = [make(B, H, T, Dv), make(B, H, T, S)];

  for (let b = 0; b < B; b++)
    for (let h = 0; h < H; h++)
      for (let t = 0; t < T; t++) {
        const g = Math.floor(h / (H / G));
        const row = ((b * H + h) * T + t) * S;
        const position = t + (typeof offset === 'number' ? offset : offset[b]);
        const seen = [];
        for (let s = 0; s < S; s++) {
          let score = 0;
          for (let d = 0; d < D; d++) score += at(q, b, h, t, d) * at(k, b, g, s, d);
          steps.raw[row + s] = score;
          steps.scaled[row + s] = score *= scale;
          steps.capped[row + s] = score = softcap ? softcap * Math.tanh(score / softcap) : score;
          if (bias) score += at(bias, b, h, t, s);
          seen[s] =
            !(causal && s > position) &&
            !(window[0] >= 0 && s < position - window[0]) &&
            !(window[1] >= 0 && s > position + window[1]) &&
            !(validLens && s >= (Array.isArray(validLens[b]) ? validLens[b][t] : validLens[b])) &&
            !(mask && !at(mask, b, h, t, s)) &&
            !(keyPadding && !at(keyPadding, b, s));
          steps.masked[row + s] = seen[s] ? score : maskFill;
        }
        const scores = steps.masked.subarray(row, row + S);
        const most = scores.reduce((a, x) => Math.max(a, x), -Infinity);
        const e = Array.from(scores, (x) => (most === -Infinity ? 0 : Math.exp(x - most)));
        const sum = e.reduce((a, x) => a + x, 0);
        for (let s = 0; s < S; s++) {
          let w = sum === 0 ? 0 : e[s] / sum;
          if (keep) w = p < 1 && Number(keep.data[row + s]) ? w / (1 - p) : 0;
          weights[row + s] = w;
          for (let j = 0; j < Dv; j++) if (w !== 0 || seen[s]) output[((b * H + h) * T + t) * Dv + j] += w * at(v, b, g, s, j);
        }
      }
  return { output, weights, scores: steps };
}
