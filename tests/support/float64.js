// Computes the operations of transformers in float64, in plain loops over the rows of a sequence.

const erf = (x) => {
  // Uses a series near 0 and a continued fraction far from 0.
  if (Math.abs(x) < 3) {
    let [sum, term] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-18; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (Math.abs(x) + fraction);
  const rest = Math.exp(-x * x) / Math.sqrt(Math.PI) / (Math.abs(x) + fraction);
  return Math.sign(x) * (1 - rest);
};

export const ACTIVATIONS = {
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  tanhGelu: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  quickGelu: (x) => x / (1 + Math.exp(-1.702 * x)),
  relu: (x) => Math.max(x, 0),
  silu: (x) => x / (1 + Math.exp(-x)),
  tanh: Math.tanh,
};

export const add = (a, b) => a.map((x, i) => x + b[i]);
export const times = (x, factor) => x.map((value) => value * factor);
export const multiply = (a, b) => a.map((x, i) => x * b[i]);
export const concat = (...lists) => Float64Array.from(lists.flatMap((list) => [...list]));

/** Returns the columns from..to−1 of rows of `width` numbers. */
export const columns = (x, width, from, to) =>
  Float64Array.from({ length: (x.length / width) * (to - from) }, (_, i) => {
    const row = Math.floor(i / (to - from));
    return x[row * width + from + (i % (to - from))];
  });

/** Computes x · weightᵀ + bias. weight is { data, shape: [out, in] }. */
export function linear(x, { data, shape: [out, inside] }, bias) {
  return Float64Array.from({ length: (x.length / inside) * out }, (_, i) => {
    const [row, o] = [Math.floor(i / out) * inside, i % out];
    let sum = bias ? bias.data[o] : 0;
    for (let c = 0; c < inside; c++) sum += x[row + c] * data[o * inside + c];
    return sum;
  });
}

/** Normalizes rows. `mean` is true if the mean is subtracted first. */
export function norm(x, scale, bias, { eps, mean }) {
  const width = scale.length;
  const y = new Float64Array(x.length);
  for (let row = 0; row < x.length; row += width) {
    const part = x.subarray(row, row + width);
    const middle = mean ? part.reduce((a, b) => a + b, 0) / width : 0;
    const square = part.reduce((a, b) => a + (b - middle) ** 2, 0) / width;
    for (let i = 0; i < width; i++)
      y[row + i] = ((part[i] - middle) / Math.sqrt(square + eps)) * scale[i] + (bias ? bias[i] : 0);
  }
  return y;
}

/**
 * Computes attention of q (T,H·D) to k and v (S,G·D). see(t, s) is true if query t may attend to key s, bias(h, t, s)
 * is added to the scaled scores, and `edit` has functions that change the weights and the heads.
 * @returns {{ heads: Float64Array, weights: Float64Array }} (T,H·D) and (H,T,S)
 */
export function attend(q, k, v, how) {
  const { heads: H, kvHeads: G = H, width: D, scale = D ** -0.5, see, bias = () => 0, edit } = how;
  const [T, S] = [q.length / (H * D), k.length / (G * D)];
  const heads = new Float64Array(T * H * D);
  let weights = new Float64Array(H * T * S);
  for (let h = 0; h < H; h++)
    for (let t = 0; t < T; t++) {
      const g = Math.floor(h / (H / G));
      const row = weights.subarray((h * T + t) * S, (h * T + t + 1) * S);
      for (let s = 0; s < S; s++) {
        let dot = 0;
        for (let d = 0; d < D; d++) dot += q[(t * H + h) * D + d] * k[(s * G + g) * D + d];
        row[s] = see(t, s) ? dot * scale + bias(h, t, s) : -Infinity;
      }
      const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
      if (most === -Infinity) {
        row.fill(0);
        continue;
      }
      for (let s = 0; s < S; s++) row[s] = Math.exp(row[s] - most);
      const sum = row.reduce((a, b) => a + b, 0);
      for (let s = 0; s < S; s++) row[s] /= sum;
    }
  if (edit) weights = edit.weights(weights);
  for (let h = 0; h < H; h++)
    for (let t = 0; t < T; t++)
      for (let s = 0; s < S; s++)
        for (let d = 0; d < D; d++) {
          const value = v[(s * G + Math.floor(h / (H / G))) * D + d];
          heads[(t * H + h) * D + d] += weights[(h * T + t) * S + s] * value;
        }
  return { heads: edit ? edit.heads(heads) : heads, weights };
}

/** Returns the angle per position of each pair, theta^(−2n/width). */
export const angles = (theta, width) => Array.from({ length: width / 2 }, (_, n) => theta ** ((-2 * n) / width));

/** Rotates elements n and n + half of a head, where half is the number of angles; later elements are unchanged. */
export function rotate(x, { heads, width, turns, factor = 1 }) {
  const half = turns.length;
  const y = Float64Array.from(x);
  for (let t = 0; t < x.length / (heads * width); t++)
    for (let h = 0; h < heads; h++)
      for (let n = 0; n < half; n++) {
        const at = (t * heads + h) * width + n;
        const [cos, sin] = [Math.cos(t * turns[n]) * factor, Math.sin(t * turns[n]) * factor];
        y[at] = x[at] * cos - x[at + half] * sin;
        y[at + half] = x[at + half] * cos + x[at] * sin;
      }
  return y;
}

/**
 * Computes a convolution of three frames over (N,C), with a frame of zeros on both sides. The weight is (out, C, 3).
 */
export function convolve(x, { data, shape: [out, inside] }, bias, stride) {
  const frames = x.length / inside;
  const rows = Math.floor((frames - 1) / stride) + 1;
  return Float64Array.from({ length: rows * out }, (_, i) => {
    const [row, o] = [Math.floor(i / out), i % out];
    let sum = bias.data[o];
    for (let j = 0; j < 3; j++) {
      const frame = row * stride + j - 1;
      if (frame < 0 || frame >= frames) continue;
      for (let c = 0; c < inside; c++) sum += x[frame * inside + c] * data[(o * inside + c) * 3 + j];
    }
    return sum;
  });
}
