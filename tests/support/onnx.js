// Runs ONNX files and compares results.

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

/** The largest difference, relative to the largest expected value. */
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

/** Multiplies nine-bit integers by their scales. */
export function dequantize({ integers, scales }, inside) {
  const groups = Math.ceil(inside / 128);
  return Float32Array.from(integers, (x, i) => x * scales[Math.floor(i / inside) * groups + ((i % inside) >> 7)]);
}

/** A weight (out,in), rounded like in an int8 layer. */
export const rounded = (data, [out, inside]) => dequantize(quantize(data, out, inside), inside);

/** The largest allowed difference of outputs. */
export const TOLERANCE = 2e-5;
/** With int8 weights Headlight also rounds the inputs of products: to 16 bits, or with relaxed SIMD to 12. */
export const int8Tolerance = (hl) => (hl.info.simd === 'relaxed' ? 5e-3 : 2e-4);
