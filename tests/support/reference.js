// Computes attention in float64, in plain loops, as the reference for the core.

const at = (x, ...index) => {
  let offset = 0;
  const lead = x.shape.length;
  const from = index.length - lead;
  for (let axis = 0; axis < lead; axis++)
    offset = offset * x.shape[axis] + (x.shape[axis] === 1 ? 0 : index[from + axis]);
  return Number(x.data[offset]);
};

/**
 * @param q (B,H,T,D), k (B,G,S,D), v (B,G,S,Dv): { data, shape }
 * @returns {{ output, weights, softmax, seen, scores: { raw, scaled, capped, masked } }} as Float64Arrays; softmax: the
 *   weights before dropout, seen: 1 if a key is visible to a query
 */
export function attention(q, k, v, options = {}) {
  const [B, H, T, D] = q.shape;
  const [, G, S] = k.shape;
  const Dv = v.shape[3];
  const {
    scale = 1 / Math.sqrt(D || 1),
    softcap = 0,
    mask,
    bias,
    keyPadding,
    validLens,
    causal,
    window = [-1, -1],
    maskFill = -Infinity,
    offset = 0,
    keep,
    p = 0,
    sinks,
    slopes,
  } = options;
  const make = (...shape) => new Float64Array(shape.reduce((a, b) => a * b, 1));
  const steps = { raw: make(B, H, T, S), scaled: make(B, H, T, S), capped: make(B, H, T, S), masked: make(B, H, T, S) };
  const [output, weights, softmax, visible] = [make(B, H, T, Dv), make(B, H, T, S), make(B, H, T, S), make(B, H, T, S)];

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
          if (slopes) score -= slopes[h] * Math.abs(position - s);
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
        const sink = sinks ? sinks.data[h] : -Infinity;
        const most = scores.reduce((a, x) => Math.max(a, x), sink);
        const e = Array.from(scores, (x) => (most === -Infinity ? 0 : Math.exp(x - most)));
        const sum = e.reduce((a, x) => a + x, most === -Infinity ? 0 : Math.exp(sink - most));
        for (let s = 0; s < S; s++) {
          let w = sum === 0 ? 0 : e[s] / sum;
          softmax[row + s] = w;
          visible[row + s] = seen[s] ? 1 : 0;
          if (keep) w = p < 1 && Number(keep.data[row + s]) ? w / (1 - p) : 0;
          weights[row + s] = w;
          for (let j = 0; j < Dv; j++)
            if (w !== 0 || seen[s]) output[((b * H + h) * T + t) * Dv + j] += w * at(v, b, g, s, j);
        }
      }
  return { output, weights, softmax, seen: visible, scores: steps };
}

/**
 * Computes the gradients of Σ dOutput · output + Σ dWeights · weights, where dWeights is (B,H,T,S). The gradient of the
 * bias has the shape of the bias.
 */
export function attentionGradients(q, k, v, options, dOutput, dWeights) {
  const [B, H, T, D] = q.shape;
  const [, G, S] = k.shape;
  const Dv = v.shape[3];
  const { scale = 1 / Math.sqrt(D || 1), softcap = 0, bias, keep, p = 0, sinks } = options;
  const { softmax, weights, seen, scores } = attention(q, k, v, options);
  const zeros = ({ data }) => new Float64Array(data.length);
  const gradients = { dQuery: zeros(q), dKey: zeros(k), dValue: zeros(v), ...(bias && { dBias: zeros(bias) }) };
  if (sinks) gradients.dSinks = new Float64Array(H);
  const places = bias && { data: Float64Array.from(bias.data, (_, i) => i), shape: bias.shape };
  for (let b = 0; b < B; b++)
    for (let h = 0; h < H; h++)
      for (let t = 0; t < T; t++) {
        const query = (b * H + h) * T + t;
        const key = (s) => (b * G + Math.floor(h / (H / G))) * S + s;
        const dSoftmax = Array.from({ length: S }, (_, s) => {
          const kept = !keep ? 1 : p < 1 && Number(keep.data[query * S + s]) ? 1 / (1 - p) : 0;
          let sum = dWeights ? dWeights.data[query * S + s] : 0;
          for (let j = 0; j < Dv; j++) sum += dOutput.data[query * Dv + j] * v.data[key(s) * Dv + j];
          return sum * kept;
        });
        const delta = dSoftmax.reduce((sum, d, s) => sum + d * softmax[query * S + s], 0);
        const weightOfSink = 1 - softmax.subarray(query * S, (query + 1) * S).reduce((sum, w) => sum + w, 0);
        if (sinks) gradients.dSinks[h] -= weightOfSink * delta;
        for (let s = 0; s < S; s++) {
          for (let j = 0; j < Dv; j++)
            gradients.dValue[key(s) * Dv + j] += weights[query * S + s] * dOutput.data[query * Dv + j];
          if (!seen[query * S + s]) continue;
          const dMasked = softmax[query * S + s] * (dSoftmax[s] - delta);
          if (bias) gradients.dBias[at(places, b, h, t, s)] += dMasked;
          const dScore = dMasked * scale * (softcap ? 1 - (scores.capped[query * S + s] / softcap) ** 2 : 1);
          for (let d = 0; d < D; d++) {
            gradients.dQuery[query * D + d] += dScore * k.data[key(s) * D + d];
            gradients.dKey[key(s) * D + d] += dScore * q.data[query * D + d];
          }
        }
      }
  return gradients;
}

/** Returns the central difference of a loss with respect to one number of the inputs. */
export function slope(loss, inputs, which, i, step = 1e-4) {
  const [up, down] = [step, -step].map((by) => {
    const data = Float64Array.from(inputs[which].data);
    data[i] += by;
    return loss(inputs.map((input, j) => (j === which ? { data, shape: input.shape } : input)));
  });
  return (up - down) / (2 * step);
}
