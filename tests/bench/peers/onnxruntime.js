// onnxruntime-web or onnxruntime-node: the layer as a graph, either with the runtime's own fused
// MultiHeadAttention between the projections (it returns no weights), or of MatMul, Softmax and the like.

import { graphModel } from '../onnx.js';

export function open(ort, name, { threads, fused, provider }) {
  if (ort.env.wasm) ort.env.wasm.numThreads = threads;
  return {
    name: `${name}, ${fused ? 'fused' : 'decomposed'}`,
    async make(problem, withWeights) {
      if (fused && withWeights) return null;
      const { kind, batch, queries, keys, width } = problem.shape;
      const session = await ort.InferenceSession.create(graphModel(problem, { fused, withWeights }), {
        executionProviders: [provider], graphOptimizationLevel: 'all', intraOpNumThreads: threads, interOpNumThreads: 1,
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
