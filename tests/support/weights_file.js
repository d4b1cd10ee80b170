// Makes random attention weights as in files of other tools. Each row sums to 1.

import { uniformSource } from '../../src/js/ops/random.ts';

/** @param {number[]} shape @param {boolean} causal */
export function attentions(shape, causal, seed = 3) {
  const next = uniformSource(seed);
  const [T, S] = shape.slice(-2);
  const data = new Float32Array(shape.reduce((a, b) => a * b));
  for (let row = 0; row < data.length / S; row++) {
    const count = causal ? (row % T) + 1 : S;
    let sum = 0;
    for (let s = 0; s < count; s++) sum += data[row * S + s] = next() ** 4 + 1e-3;
    for (let s = 0; s < count; s++) data[row * S + s] /= sum;
  }
  return { data, shape };
}
