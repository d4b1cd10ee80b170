// Runs ONNX files in onnxruntime-web, and compares.

import * as web from 'onnxruntime-web';

web.env.wasm.numThreads = 1;
web.env.logLevel = 'error';

/** @param {string | undefined} type of an ort tensor */
const ARRAYS = { float32: Float32Array, int64: BigInt64Array, bool: Uint8Array, int32: Int32Array };

/** { data, shape } as a tensor of onnxruntime; booleans are bytes. */
const tensorOf = (ort, { data, shape }) =>
  new ort.Tensor(
    Object.keys(ARRAYS).find((type) => data instanceof ARRAYS[type]),
    data,
    shape,
  );

/**
 * The outputs of a model by name, as { data, shape }.
 * @param {Record<string, Uint8Array>} files as toOnnx gives them
 * @param {Record<string, { data: Float32Array | BigInt64Array | Uint8Array, shape: readonly number[] }>} inputs
 */
export async function runOnnx(files, inputs, ort = web) {
  const data = files['model.onnx.data'];
  const session = await ort.InferenceSession.create(files['model.onnx'], {
    executionProviders: [ort === web ? 'wasm' : 'cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(data && { externalData: [{ path: 'model.onnx.data', data }] }),
  });
  try {
    const feeds = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, tensorOf(ort, input)]));
    const results = await session.run(feeds);
    return Object.fromEntries(Object.entries(results).map(([name, { data, dims }]) => [name, { data, shape: dims }]));
  } finally {
    await session.release();
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

/** How far outputs may be apart. */
export const TOLERANCE = 2e-5;
/** Where weights are int8 Headlight rounds the inputs of products as well: to 16 bits, or with relaxed SIMD to 12. */
export const int8Tolerance = (hl) => (hl.info.simd === 'relaxed' ? 5e-3 : 2e-4);
