// Runs ONNX files and compares results.

import { quantize } from '../../src/js/onnx/weight.ts';
import { openOnnx } from './onnxruntime.js';

/**
 * Runs a model. Resolves to the outputs by name, as { data, shape }.
 * @param {Record<string, Uint8Array>} files as toOnnx returns them
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

/** Returns the largest difference, relative to the largest expected value. */
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

/** Multiplies 9-bit integers by the scales of their groups. */
export function dequantize({ integers, scales }, inside) {
  const groups = Math.ceil(inside / 128);
  return Float32Array.from(integers, (x, i) => x * scales[Math.floor(i / inside) * groups + ((i % inside) >> 7)]);
}

/** Rounds a weight (out,in) like an int8 layer. */
export const rounded = (data, [out, inside]) => dequantize(quantize(data, out, inside), inside);

/** The largest allowed difference of outputs. */
export const TOLERANCE = 2e-5;
/**
 * Returns the largest allowed difference with int8 weights, for which Headlight also rounds the inputs of products: to
 * 16 bits, or with relaxed SIMD to 12 bits.
 */
export const int8Tolerance = (hl) => (hl.info.simd === 'relaxed' ? 5e-3 : 2e-4);
