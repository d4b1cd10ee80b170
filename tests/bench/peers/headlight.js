// Headlight as its users call it: from Float32Arrays to Float32Arrays.

export async function open({ load, threads, simd }) {
  const hl = await load({ threads, simd });
  return {
    name: `Headlight, ${hl.info.simd === 'relaxed' ? 'relaxed' : 'plain'} SIMD`,
    async make({ shape, self, query, key, value, ...weights }, withWeights) {
      const { kind, batch, queries, keys, width, heads, causal = false } = shape;
      const [q, k, v] = [[query, queries], [key, keys], [value, keys]].map(([data, rows]) => ({ data, shape: [batch, rows, width] }));
      const options = { causal, weights: withWeights };
      if (kind === 'attention') return { run: () => take(hl.attention(q, k, v, { ...options, heads })) };
      const layer = hl.multiHeadAttention({ embedDim: width, numHeads: heads });
      layer.loadStateDict(Object.fromEntries(Object.entries(weights).map(([name, data]) => [name, { data, shape: name[0] === 'w' ? [width, width] : [width] }])));
      return { run: () => take(self ? layer.forward(q, options) : layer.forward(q, k, options)), close: () => layer.dispose() };
    },
  };
}

function take(result) {
  const taken = { output: result.output.copy(), weights: result.weights?.copy() };
  result.dispose();
  return taken;
}
