// Runs Headlight as users call it, with inputs and results as Float32Arrays.

import { INT8_TOLERANCE, isForInt8 } from '../problem.js';

/** Opens two contenders on one instance of the module, with float32 and with int8 weights. */
export async function open({ load, threads, simd }) {
  const hl = await load({ threads, simd });
  const name = `Headlight, ${hl.info.simd === 'relaxed' ? 'relaxed' : 'plain'} SIMD`;
  const contender =
    (int8) =>
    async ({ shape, self, query, key, value, ...weights }, withWeights) => {
      if (int8 && !isForInt8(shape, withWeights)) return null;
      const { kind, batch, queries, keys, width, heads, causal = false } = shape;
      const [q, k, v] = [
        [query, queries],
        [key, keys],
        [value, keys],
      ].map(([data, rows]) => ({ data, shape: [batch, rows, width] }));
      const options = { causal, weights: withWeights };
      if (kind === 'attention') return { run: () => take(hl.attention(q, k, v, { ...options, heads })) };
      const layer = hl.multiHeadAttention({ embedDim: width, numHeads: heads, weights: int8 ? 'int8' : 'float32' });
      layer.loadStateDict(
        Object.fromEntries(
          Object.entries(weights).map(([name, data]) => [
            name,
            { data, shape: name[0] === 'w' ? [width, width] : [width] },
          ]),
        ),
      );
      return {
        run: () => take(self ? layer.forward(q, options) : layer.forward(q, k, options)),
        close: () => layer.dispose(),
      };
    };
  return [
    { name, make: contender(false) },
    { name: `${name}, int8`, tolerance: INT8_TOLERANCE, make: contender(true) },
  ];
}

function take(result) {
  const taken = { output: result.output.copy(), weights: result.weights?.copy() };
  result.dispose();
  return taken;
}
