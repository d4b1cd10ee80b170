// Runs ruvector-attention-wasm, which computes attention of one query at a time, without projections, masks or returned
// weights.

export function open(module) {
  return {
    name: 'ruvector-attention-wasm',
    async make({ shape, query, key, value }, withWeights) {
      const { kind, batch, queries, keys, width, heads, causal } = shape;
      if (kind !== 'attention' || causal || withWeights || batch * queries * keys > 2 ** 12) return null;
      const attention = new module.WasmMultiHeadAttention(width, heads);
      const rows = (data) => Array.from({ length: keys }, (_, s) => data.subarray(s * width, (s + 1) * width));
      return {
        run() {
          const output = new Float32Array(batch * queries * width);
          for (let b = 0; b < batch; b++) {
            const [k, v] = [key, value].map((x) => rows(x.subarray(b * keys * width)));
            for (let t = b * queries; t < (b + 1) * queries; t++)
              output.set(attention.compute(query.subarray(t * width, (t + 1) * width), k, v), t * width);
          }
          return { output };
        },
        close: () => attention.free(),
      };
    },
  };
}
