// Runs onnxruntime-web or onnxruntime-node. The graph of the layer has one of three forms: projections and the fused
// MultiHeadAttention operator, which returns no weights; MatMul, Softmax and other basic operators; or projections by
// MatMulInteger.

import { graphModel } from '../onnx.js';
import { INT8_TOLERANCE, isForInt8 } from '../problem.js';

export function open(ort, name, { threads, fused = false, int8 = false, provider }) {
  if (ort.env.wasm) ort.env.wasm.numThreads = threads;
  return {
    name: `${name}, ${int8 ? 'int8' : fused ? 'fused' : 'decomposed'}`,
    tolerance: int8 ? INT8_TOLERANCE : undefined,
    async make(problem, withWeights) {
      if ((fused && withWeights) || (int8 && !isForInt8(problem.shape, withWeights))) return null;
      const { kind, batch, queries, keys, width } = problem.shape;
      const session = await ort.InferenceSession.create(graphModel(problem, { fused, int8, withWeights }), {
        executionProviders: [provider],
        graphOptimizationLevel: 'all',
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
      });
      const tensor = (data, rows) => new ort.Tensor('float32', data, [batch, rows, width]);
      return {
        async run() {
          const feeds = { query: tensor(problem.query, queries) };
          if (!problem.self) feeds.key = tensor(problem.key, keys);
          if (kind === 'attention') feeds.value = tensor(problem.value, keys);
          const result = await session.run(feeds);
          return { output: result.output.data, weights: result.weights?.data };
        },
        close: () => session.release(),
      };
    },
  };
}
