// The shapes of the benchmark. A layer consists of input projections, attention and the output projection; plain
// attention has the inputs q, k and v. The name of a shape contains B×T×C/H, or B×T/S×C/H if T and S differ: batch,
// queries, keys, width, heads.

const layer = (name, batch, queries, keys, width, heads, more = {}) => ({
  name,
  kind: 'layer',
  batch,
  queries,
  keys,
  width,
  heads,
  ...more,
});
const attention = (name, batch, queries, keys, width, heads, more = {}) => ({
  name,
  kind: 'attention',
  batch,
  queries,
  keys,
  width,
  heads,
  ...more,
});

export const SHAPES = [
  layer('3×5×4/2', 3, 5, 5, 4, 2),
  layer('2×5×128/4', 2, 5, 5, 128, 4),
  layer('2×4/6×100/5', 2, 4, 6, 100, 5),
  layer('32×10/20×512/8', 32, 10, 20, 512, 8),
  layer('BERT-base 128', 1, 128, 128, 768, 12),
  layer('BERT-base 512', 1, 512, 512, 768, 12),
  layer('GPT-2 1024 causal', 1, 1024, 1024, 768, 12, { causal: true }),
  layer('4096×512/8', 1, 4096, 4096, 512, 8, { long: true }),
  attention('1 query, 1024 keys', 1, 1, 1024, 768, 12),
  attention('attention 512', 1, 512, 512, 512, 8),
  attention('attention 1024', 1, 1024, 1024, 512, 8),
  attention('attention 1024 causal', 1, 1024, 1024, 512, 8, { causal: true }),
  attention('attention 4096', 1, 4096, 4096, 512, 8, { long: true }),
];

/** Returns the number of multiplications and additions. With a causal mask only half of the scores count. */
export function operations({ kind, batch, queries, keys, width, causal }) {
  const scores = 4 * batch * queries * keys * width * (causal ? 0.5 : 1);
  return scores + (kind === 'layer' ? 4 * batch * (queries + keys) * width * width : 0);
}
