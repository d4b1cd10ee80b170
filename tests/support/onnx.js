// Runs ONNX files once, and compares.

import { quantize } from '../../src/js/onnx/weight.js';
import { openOnnx } from './onnxruntime.js';

/**
 * The outputs of a model by name, as { data, shape }.
 * @param {Record<string, Uint8Array>} files as toOnnx gives them
 * @param {Record<string, { data: ArrayLike<number | bigint>, shape: readonly number[] }>} inputs
 */
export async function runOnnx(files, inputs, runtime) {
  const session = await openOnnx(files, 'model.onnx', runtime);
  try {
    return await session.run(inputs);
  } finally {
    await session.close();
  }
}

/** The largest difference, relative to the largest value that is expected. */
export function difference(got, expected) {
  if (got.length !== expected.length) return Infinity;
  let [largest, most] = [0, 0];
  for (let i = 0; i < got.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i]));
    const off = Math.abs(got[i] - expected[i]);
    if (!(off <= most)) most = Number.isNaN(off) ? Infinity : off;
  }
  return most / (largest || 1);
}

/** The products of integers of nine bits and their scales. */
export function dequantize({ integers, scales }, inside) {
  const groups = Math.ceil(inside / 128);
  return Float32Array.from(integers, (x, i) => x * scales[Math.floor(i / inside) * groups + ((i % inside) >> 7)]);
}

/** A weight (out,in) as int8 layers have it. */
export const rounded = (data, [out, inside]) => dequantize(quantize(data, out, inside), inside);

/** How far outputs may be apart. */
export const TOLERANCE = 2e-5;
/** Where weights are int8 Headlight rounds the inputs of products as well: to 16 bits, or with relaxed SIMD to 12. */
export const int8Tolerance = (hl) => (hl.info.simd === 'relaxed' ? 5e-3 : 2e-4);
