// Convolutions over rows, and the norm of a channel over time, with gradients. A convolution is a linear layer over
// windows of rows, copied for a part of the outputs at a time.

import { type Tensor, viewOf } from '../../memory/tensor.ts';

import type { Tape } from '../gradients/tape.ts';
import type { Weight } from '../weights.ts';

/** Maximum number of values in the windows that are copied at once. */
const CHUNK = 2 ** 21;

/** stride: between windows; pad: rows of zeros before the first; groups: of channels; count: of outputs. */
export type How = { stride: number; pad: number; groups: number; count: number };
/** Sizes of one group. */
export type Sizes = { batch: number; rows: number; width: number; taps: number; inside: number; out: number };

/** Returns a parameter as a tensor for operations, and records its gradient. */
export function kernelOf(tape: Tape, weight: Weight) {
  const tensor = weight.tensor as Tensor;
  return tape.record(tensor, (d) => addTo(tape.gradientOf(weight), viewOf(d)));
}

function addTo(gradient: Tensor | undefined, numbers: ArrayLike<number>) {
  if (!gradient) return;
  const sums = viewOf(gradient);
  for (let i = 0; i < sums.length; i++) sums[i] += numbers[i];
}

/**
 * Returns gain · direction / |direction|, for each tap. gain: (taps); direction: (out,in,taps); returns (out,in,taps).
 */
export function normalizedKernel(tape: Tape, gain: Weight, direction: Weight): Tensor {
  const [g, v] = [gain, direction].map(({ tensor }) => tensor as Tensor);
  const [taps] = gain.shape;
  const y = tape.make(direction.shape);
  const dotsOf = (a: Tensor, b: Tensor) => {
    const [sums, left, right] = [new Float64Array(taps), viewOf(a), viewOf(b)];
    for (let i = 0; i < left.length; i++) sums[i % taps] += left[i] * right[i];
    return sums;
  };
  const lengths = dotsOf(v, v).map(Math.sqrt);
  const factors = viewOf(g);
  viewOf(y).set(viewOf(v).map((x, i) => (x * factors[i % taps]) / lengths[i % taps]));
  return tape.record(y, (d) => {
    const along = dotsOf(d, v).map((dot, k) => dot / lengths[k]);
    addTo(tape.gradientOf(gain), along);
    const [given, numbers, gains] = [viewOf(d), viewOf(v), viewOf(g)];
    const dDirection = Float32Array.from(numbers, (x, i) => {
      const k = i % taps;
      return (gains[k] / lengths[k]) * (given[i] - (along[k] * x) / lengths[k]);
    });
    addTo(tape.gradientOf(direction), dDirection);
  });
}

/** x: (B,N,C); kernel: (out,C/groups,taps); bias: (out); returns (B,count,out) */
export function convolve(tape: Tape, x: Tensor, kernel: Tensor, bias: Weight | undefined, how: How): Tensor {
  const [batch, rows, width] = x.shape;
  const [all, inside, taps] = kernel.shape;
  const sizes = { batch, rows, width, taps, inside, out: all / how.groups };
  const y = tape.make([batch, how.count, all]);
  eachPart(tape, sizes, how, kernel, (part) => {
    copyWindows(viewOf(part.windows), viewOf(x), part, sizes, how);
    tape.call('hl_linear_forward', part.result, part.windows, part.weight, undefined, ...part.product);
    const [to, from, shift] = [viewOf(y), viewOf(part.result), bias?.tensor && viewOf(bias.tensor)];
    eachRow(part, sizes, how, (row, own) => {
      for (let o = 0; o < sizes.out; o++) to[row + o] = from[own + o] + (shift ? shift[part.group * sizes.out + o] : 0);
    });
  });
  return tape.record(y, (dy) => {
    const [dx, dKernel] = [tape.make(x.shape), tape.make(kernel.shape)];
    for (const tensor of [dx, dKernel]) viewOf(tensor).fill(0);
    eachPart(tape, sizes, how, kernel, (part) => {
      copyWindows(viewOf(part.windows), viewOf(x), part, sizes, how);
      const [to, from] = [viewOf(part.result), viewOf(dy)];
      eachRow(part, sizes, how, (row, own) => to.set(from.subarray(row, row + sizes.out), own));
      const [dWindows, dWeight] = [tape.make(part.windows.shape), tape.make(part.weight.shape)];
      viewOf(dWeight).fill(0);
      const { result, windows, weight, product } = part;
      tape.call('hl_linear_backward', dWindows, dWeight, undefined, result, windows, weight, ...product);
      addWindows(viewOf(dx), viewOf(dWindows), part, sizes, how);
      addKernel(viewOf(dKernel), viewOf(dWeight), part.group, sizes);
    });
    const dBias = tape.gradientOf(bias);
    if (dBias) {
      const [sums, given] = [viewOf(dBias), viewOf(dy)];
      for (let i = 0; i < given.length; i++) sums[i % all] += given[i];
    }
    tape.accumulate(kernel, dKernel);
    tape.accumulate(x, dx);
  });
}

/** Consecutive outputs of one group in one sequence. weight: (out,taps·in). product: the sizes of the linear layer. */
export type Part = {
  group: number;
  b: number;
  first: number;
  count: number;
  windows: Tensor;
  weight: Tensor;
  result: Tensor;
  product: readonly [rows: number, out: number, inside: number];
};

function eachPart(
  tape: Tape,
  { batch, taps, inside, out }: Sizes,
  { groups, count: outputs }: How,
  kernel: Tensor,
  each: (part: Part) => void,
) {
  const columns = taps * inside;
  const most = Math.min(Math.max(Math.floor(CHUNK / columns), 1), outputs);
  const [windows, result] = [tape.make([most, columns]), tape.make([most, out])];
  const weight = tape.make([out, columns]);
  for (let group = 0; group < groups; group++) {
    const [to, from] = [viewOf(weight), viewOf(kernel)];
    for (let o = 0; o < out; o++)
      for (let c = 0; c < inside; c++)
        for (let k = 0; k < taps; k++)
          to[o * columns + k * inside + c] = from[((group * out + o) * inside + c) * taps + k];
    for (let b = 0; b < batch; b++)
      for (let first = 0; first < outputs; first += most) {
        const count = Math.min(most, outputs - first);
        const product = [count, out, columns] as const;
        each({ ...{ group, b, first, count, windows, weight, result }, product });
      }
  }
}

/** each: gets the start of an output of the part in (B,count,groups·out) and in (count,out) */
function eachRow(
  { group, b, first, count }: Part,
  { out }: Sizes,
  { groups, count: outputs }: How,
  each: (row: number, own: number) => void,
) {
  for (let t = 0; t < count; t++) each(((b * outputs + first + t) * groups + group) * out, t * out);
}

/** each: gets the start of a row of x and of its copy in the windows */
function eachCopy(
  { group, b, first, count }: Part,
  { rows, width, taps, inside }: Sizes,
  { stride, pad }: How,
  each: (row: number, copy: number) => void,
) {
  for (let t = 0; t < count; t++)
    for (let k = 0; k < taps; k++) {
      const row = (first + t) * stride + k - pad;
      if (row >= 0 && row < rows) each((b * rows + row) * width + group * inside, (t * taps + k) * inside);
    }
}

function copyWindows(to: Float32Array, from: Float32Array, part: Part, sizes: Sizes, how: How) {
  const { inside } = sizes;
  to.fill(0);
  eachCopy(part, sizes, how, (row, copy) => {
    for (let i = 0; i < inside; i++) to[copy + i] = from[row + i];
  });
}

function addWindows(to: Float32Array, from: Float32Array, part: Part, sizes: Sizes, how: How) {
  const { inside } = sizes;
  eachCopy(part, sizes, how, (row, copy) => {
    for (let i = 0; i < inside; i++) to[row + i] += from[copy + i];
  });
}

function addKernel(to: Float32Array, from: Float32Array, group: number, { out, inside, taps }: Sizes) {
  for (let o = 0; o < out; o++)
    for (let c = 0; c < inside; c++)
      for (let k = 0; k < taps; k++)
        to[((group * out + o) * inside + c) * taps + k] += from[(o * taps + k) * inside + c];
}

/** Normalizes each channel over the rows of its sequence. x: (B,N,C); weight: (C); bias: (C). */
export function normalizeTime(tape: Tape, x: Tensor, weight: Weight, bias: Weight, eps: number) {
  const [batch, rows, width] = x.shape;
  const y = tape.make(x.shape);
  const [means, scales] = [new Float64Array(batch * width), new Float64Array(batch * width)];
  /** Calls `each` with the index of an element, of its channel in the batch, and of its channel in the sequence. */
  const forEach = (each: (i: number, at: number, c: number) => void) => {
    for (let b = 0; b < batch; b++)
      for (let r = 0; r < rows; r++) for (let c = 0; c < width; c++) each((b * rows + r) * width + c, b * width + c, c);
  };
  const [given, to] = [viewOf(x), viewOf(y)];
  const [factors, shifts] = [weight, bias].map(({ tensor }) => viewOf(tensor as Tensor));
  forEach((i, at) => void (means[at] += given[i] / rows));
  forEach((i, at) => void (scales[at] += (given[i] - means[at]) ** 2 / rows));
  scales.forEach((square, at) => void (scales[at] = 1 / Math.sqrt(square + eps)));
  forEach((i, at, c) => void (to[i] = (given[i] - means[at]) * scales[at] * factors[c] + shifts[c]));
  return tape.record(y, (dy) => {
    const dx = tape.make(x.shape);
    const [result, from, d] = [viewOf(dx), viewOf(x), viewOf(dy)];
    const scale = viewOf(weight.tensor as Tensor);
    const [sums, dots] = [new Float64Array(batch * width), new Float64Array(batch * width)];
    forEach((i, at) => {
      sums[at] += d[i];
      dots[at] += d[i] * (from[i] - means[at]) * scales[at];
    });
    const ofChannels = (all: Float64Array) =>
      Float64Array.from({ length: width }, (_, c) => {
        let sum = 0;
        for (let b = 0; b < batch; b++) sum += all[b * width + c];
        return sum;
      });
    addTo(tape.gradientOf(weight), ofChannels(dots));
    addTo(tape.gradientOf(bias), ofChannels(sums));
    forEach((i, at, c) => {
      const normal = (from[i] - means[at]) * scales[at];
      result[i] = scale[c] * scales[at] * (d[i] - sums[at] / rows - (normal * dots[at]) / rows);
    });
    tape.accumulate(x, dx);
  });
}
