// Runs ONNX models with onnxruntime-web, on one thread of this process, or with another runtime of the same interface.

import * as web from 'onnxruntime-web';

web.env.wasm.numThreads = 1;
web.env.logLevel = 'error';

const ARRAYS = {
  float32: Float32Array,
  int64: { from: (data) => BigInt64Array.from(data, BigInt) },
  bool: { from: (data) => Uint8Array.from(data, Number) },
};

export const WEB = { ort: web, provider: 'wasm' };

/**
 * @param {Record<string, Uint8Array>} files returned by toOnnx
 * @param {string} [file] name of the file to run
 * @param {{ ort: typeof web, provider: string }} [runtime]
 * @returns {Promise<{ inputs: string[], outputs: string[], run: (feeds: Record<string, { data, shape }>) =>
 *   Promise<Record<string, { data, shape }>>, close: () => Promise<void> }>}
 */
export async function openOnnx(files, file = 'model.onnx', { ort, provider } = WEB) {
  const beside = [`${file}.data`, `${file}_data`].find((name) => files[name]);
  const session = await ort.InferenceSession.create(files[file], {
    executionProviders: [provider],
    ...(beside && { externalData: [{ path: beside, data: files[beside] }] }),
  });
  const types = Object.fromEntries(session.inputMetadata.map(({ name, type }) => [name, type]));
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    async run(feeds) {
      const tensors = Object.entries(feeds).map(([name, { data, shape }]) => {
        if (!types[name]) throw new Error(`there is no input ${name}`);
        return [name, new ort.Tensor(types[name], ARRAYS[types[name]].from(data), [...shape])];
      });
      const results = await session.run(Object.fromEntries(tensors));
      return Object.fromEntries(Object.entries(results).map(([name, t]) => [name, { data: t.data, shape: t.dims }]));
    },
    close: () => session.release(),
  };
}
