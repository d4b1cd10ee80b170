// Computes the forward pass of a transformer with normPlace: 'before', in float64, in plain loops.

import { embedding, gelu, norm } from './layers.js';
import { attention } from './reference.js';

const linear = (x, weight, bias, { inside, out }) =>
  Array.from({ length: (x.length / inside) * out }, (_, i) => {
    const [row, o] = [Math.floor(i / out) * inside, i % out];
    let sum = bias ? bias[o] : 0;
    for (let c = 0; c < inside; c++) sum += x[row + c] * weight[o * inside + c];
    return sum;
  });

/** Transposes (B,T,H·D) to (B,H,T,D). */
const split = (x, { batch, rows, heads, width }) => ({
  data: Array.from(x, (_, i) => {
    const [d, t, h, b] = [
      i % width,
      Math.floor(i / width) % rows,
      Math.floor(i / width / rows) % heads,
      Math.floor(i / width / rows / heads),
    ];
    return x[((b * rows + t) * heads + h) * width + d];
  }),
  shape: [batch, heads, rows, width],
});
const concat = (x, { rows, heads, width }) =>
  Array.from(x, (_, i) => {
    const [d, h, t, b] = [
      i % width,
      Math.floor(i / width) % heads,
      Math.floor(i / width / heads) % rows,
      Math.floor(i / width / heads / rows),
    ];
    return x[((b * heads + h) * rows + t) * width + d];
  });

/**
 * @param p parameters by name, arrays of numbers
 * @param options options of hl.transformer, all of them present
 * @param labels (B,T), flat
 * @returns {{ logits: number[], weights: Float64Array[] }}
 */
export function transformer(p, { layers, dModel, numHeads, vocab, mlp, norm: kind, causal }, labels, [batch, rows]) {
  const sizes = { batch, rows, heads: numHeads, width: dModel / numHeads };
  const square = { inside: dModel, out: dModel };
  const add = (a, b) => a.map((x, i) => x + b[i]);
  const normed = (x, name) =>
    kind === 'none' ? x : norm(x, p[`${name}.weight`], p[`${name}.bias`], { eps: 1e-5, mean: kind === 'layer' });
  const weights = [];
  let x = embedding(p['embedding.table'], p['embedding.position'], labels, { rows, width: dModel });
  for (let i = 0; i < layers; i++) {
    const at = (name) => p[`blocks.${i}.${name}`];
    const inside = normed(x, `blocks.${i}.norm1`);
    const [q, k, v] = ['q', 'k', 'v'].map((name) =>
      split(linear(inside, at(`attention.w${name}`), at(`attention.b${name}`), square), sizes),
    );
    const attended = attention(q, k, v, { causal });
    weights.push(attended.weights);
    x = add(x, linear(concat(attended.output, sizes), at('attention.wo'), at('attention.bo'), square));
    if (mlp === 0) continue;
    const up = linear(normed(x, `blocks.${i}.norm2`), at('up.weight'), at('up.bias'), { inside: dModel, out: mlp });
    x = add(
      x,
      linear(
        up.map((value) => gelu(value, 'tanh')),
        at('down.weight'),
        at('down.bias'),
        { inside: mlp, out: dModel },
      ),
    );
  }
  return { logits: linear(normed(x, 'norm'), p['head.weight'], undefined, { inside: dModel, out: vocab }), weights };
}
