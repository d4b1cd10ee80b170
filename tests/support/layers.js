// Computes the layers other than attention in float64. There is only a forward pass, because gradients are compared
// with central differences.

const sum = (x) => x.reduce((a, b) => a + b, 0);
const rowsOf = (x, width) =>
  Array.from({ length: width ? x.length / width : 0 }, (_, r) => Array.from(x.slice(r * width, (r + 1) * width)));

export function embedding(table, position, labels, { rows, width, first = 0 }) {
  return Array.from(labels).flatMap((label, r) =>
    Array.from(
      { length: width },
      (_, c) => table[label * width + c] + (position ? position[(first + (r % rows)) * width + c] : 0),
    ),
  );
}

export function norm(x, weight, bias, { eps, mean: subtract }) {
  return rowsOf(x, weight.length).flatMap((row) => {
    const mean = subtract ? sum(row) / row.length : 0;
    const rstd = 1 / Math.sqrt(sum(row.map((v) => (v - mean) ** 2)) / row.length + eps);
    return row.map((v, c) => (v - mean) * rstd * weight[c] + (bias ? bias[c] : 0));
  });
}

/** Computes Φ(x), by the series of erf near 0 and by the continued fraction of erfc elsewhere. */
function normalShare(x) {
  const z = Math.abs(x) / Math.SQRT2;
  let tail;
  if (z < 2.5) {
    let [term, erf] = [z, z];
    for (let n = 1; n < 80; n++) {
      term *= (-z * z) / n;
      erf += term / (2 * n + 1);
    }
    tail = (1 - (2 / Math.sqrt(Math.PI)) * erf) / 2;
  } else {
    let fraction = z;
    for (let n = 120; n > 0; n--) fraction = z + n / 2 / fraction;
    tail = Math.exp(-z * z) / fraction / Math.sqrt(Math.PI) / 2;
  }
  return x < 0 ? tail : 1 - tail;
}

export const gelu = (x, form) =>
  form === 'tanh' ? (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2 : x * normalShare(x);

const logistic = (x) => 1 / (1 + Math.exp(-x));

/** Activation functions by their names in the core. */
export const activation = {
  GELU: (x) => gelu(x, 'none'),
  GELU_TANH: (x) => gelu(x, 'tanh'),
  QUICK_GELU: (x) => x * logistic(1.702 * x),
  RELU: (x) => Math.max(x, 0),
  SILU: (x) => x * logistic(x),
  TANH: Math.tanh,
};

/** Rotates the pairs of a row by angles. */
export function rotary(row, angles, { neighbours = false, reverse = false } = {}) {
  const turned = Array.from(row);
  const half = angles.length;
  angles.forEach((angle, n) => {
    const [i, j] = neighbours ? [2 * n, 2 * n + 1] : [n, n + half];
    const [cosine, sine] = [Math.cos(angle), Math.sin(reverse ? -angle : angle)];
    turned[i] = row[i] * cosine - row[j] * sine;
    turned[j] = row[j] * cosine + row[i] * sine;
  });
  return turned;
}

/** Computes the loss of every row, and the mean over the counted rows. */
export function crossEntropy(logits, labels, { smoothing = 0, ignore = -100 } = {}) {
  const classes = labels.length ? logits.length / labels.length : 0;
  const losses = rowsOf(logits, classes).map((row, r) => {
    if (labels[r] === ignore) return 0;
    const most = Math.max(...row);
    const whole = most + Math.log(sum(row.map((x) => Math.exp(x - most))));
    return whole - (1 - smoothing) * row[labels[r]] - (smoothing ? (smoothing * sum(row)) / classes : 0);
  });
  const counted = Array.from(labels).filter((label) => label !== ignore).length;
  return { losses, counted, loss: counted ? sum(losses) / counted : 0 };
}

/** Makes one step of an optimizer as PyTorch defines it. `state` is passed from step to step. */
export function sgdStep(parameter, gradient, state, { rate, momentum = 0, decay = 0, nesterov = false }) {
  state.velocity ??= parameter.map(() => 0);
  return parameter.map((p, i) => {
    const g = gradient[i] + decay * p;
    const v = (state.velocity[i] = momentum * state.velocity[i] + g);
    return p - rate * (nesterov ? g + momentum * v : v);
  });
}

export function adamStep(parameter, gradient, state, { rate, betas: [b1, b2], eps, decay, decoupled }) {
  state.step = (state.step ?? 0) + 1;
  state.mean ??= parameter.map(() => 0);
  state.square ??= parameter.map(() => 0);
  return parameter.map((p, i) => {
    const g = gradient[i] + (decoupled ? 0 : decay * p);
    const m = (state.mean[i] = b1 * state.mean[i] + (1 - b1) * g);
    const s = (state.square[i] = b2 * state.square[i] + (1 - b2) * g * g);
    const step = ((rate / (1 - b1 ** state.step)) * m) / (Math.sqrt(s / (1 - b2 ** state.step)) + eps);
    return (decoupled ? p * (1 - rate * decay) : p) - step;
  });
}

/** Computes the gradient of fn at x, by central differences. */
export function differences(fn, x, step = 1e-4) {
  const at = Array.from(x);
  return at.map((value, i) => {
    at[i] = value + step;
    const above = fn(at);
    at[i] = value - step;
    const below = fn(at);
    at[i] = value;
    return (above - below) / (2 * step);
  });
}

export const dot = (a, b) => sum(Array.from(a, (x, i) => x * b[i]));
