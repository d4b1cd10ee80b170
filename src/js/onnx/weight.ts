// Writes parameters of an ONNX model, in float32 or quantized with scales.

import type { OnnxGraph } from './graph.ts';

export type Parameter = {
  name: string;
  shape: readonly number[];
  /** returns the values when the file is written */
  data: () => Float32Array;
  /** true if the layer rounds it to nine bits */
  int8?: boolean | undefined;
};

/** The largest integer, the number of inputs with a common scale, and the smallest scale, as in the core. */
const LEVELS = 254;
const GROUP = 128;
const MIN_SCALE = 2 ** -126;

/** Returns the value of a parameter in the graph. */
export function tensor(graph: OnnxGraph, parameter: Parameter) {
  const { name, shape, data, int8 } = parameter;
  return int8 ? dequantized(graph, parameter) : graph.weight(name, data, shape);
}

/**
 * Applies DequantizeLinear to the integers of a quantized weight. Since opset 21 it supports int16 and a scale per
 * group. For lower opsets, the integers are the sum of two int8 terms, 2·high + low, and each group is a row.
 */
function dequantized(graph: OnnxGraph, { name, data, shape: [out, inside] }: Parameter) {
  const groups = Math.ceil(inside / GROUP);
  const { integers, scales } = quantize(data(), out, inside);
  if (graph.opset >= 21) {
    const whole = graph.weight(name, integers, [out, inside]);
    const steps = graph.weight(`${name}.scale`, scales, [out, groups]);
    return graph.op('DequantizeLinear', [whole, steps], { axis: 1, block_size: GROUP });
  }
  const rows = out * groups;
  const term = (end: string, part: (x: number) => number, step: number) => {
    const padded = new Int8Array(rows * GROUP);
    for (let o = 0; o < out; o++)
      for (let i = 0; i < inside; i++) padded[o * groups * GROUP + i] = part(integers[o * inside + i]);
    const whole = graph.weight(name + end, padded, [rows, GROUP]);
    const steps = graph.weight(
      `${name + end}.scale`,
      scales.map((scale) => scale * step),
      [rows],
    );
    return graph.op('DequantizeLinear', [whole, steps], { axis: 0 });
  };
  const high = term('.high', (x) => Math.trunc(x / 2), 2);
  const low = term('.low', (x) => x % 2, 1);
  const wide = graph.reshape(graph.op('Add', [high, low]), out, groups * GROUP);
  if (groups * GROUP === inside) return wide;
  return graph.op('Slice', [wide, graph.ints(0), graph.ints(inside), graph.ints(1)]);
}

/**
 * Quantizes to nine-bit integers with a scale for every 128 inputs of an output channel, as in the core. Dequantized
 * weights are quantized to the same integers again.
 */
export function quantize(weights: Float32Array, out: number, inside: number) {
  const groups = Math.ceil(inside / GROUP);
  const integers = new Int16Array(out * inside);
  const scales = new Float32Array(out * groups);
  for (let o = 0; o < out; o++) {
    for (let g = 0; g < groups; g++) {
      const from = o * inside + g * GROUP;
      const group = weights.subarray(from, Math.min(from + GROUP, (o + 1) * inside));
      const most = group.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
      const scale = scaleOf(group, most);
      scales[o * groups + g] = scale;
      const inverse = Math.fround(1 / scale);
      for (let i = 0; i < group.length; i++) integers[from + i] = nearest(Math.fround(group[i] * inverse));
    }
  }
  return { integers, scales };
}

/** @param most largest absolute value of the group */
function scaleOf(group: Float32Array, most: number) {
  const usual = shortAbove(Math.max(Math.fround(most / LEVELS), MIN_SCALE));
  // The scale was rounded up, so the largest integer of a dequantized group may be slightly less than LEVELS.
  for (let level = LEVELS; level > LEVELS - 4 && most > 0; level--) {
    const scale = most / level;
    if (shortAbove(scale) === scale && group.every((x) => Number.isInteger(x / scale))) return scale;
  }
  return usual;
}

/** A number near which float32 has no fraction bits, so that a sum with it is rounded to an integer. */
const WHOLE = 1.5 * 2 ** 23;
/**
 * Rounds to nearest, ties to even, as in the core.
 * @param x below 2²²
 */
const nearest = (x: number) => Math.fround(x + WHOLE) - WHOLE;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/**
 * Rounds up to a float32 whose lower 16 bits are zero.
 * @param x not negative
 */
function shortAbove(x: number) {
  float[0] = x;
  if (float[0] < x) bits[0]++;
  bits[0] = (bits[0] + 0xffff) & 0xffff0000;
  return float[0];
}
