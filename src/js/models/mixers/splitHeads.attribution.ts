// Splits the output of attention into the contributions of its heads.

import type { Read } from '../../analysis/arrays.ts';
import type { Reader } from '../../analysis/components.ts';
import type { Kind, Stream } from '../../analysis/stream.ts';

/**
 * @param values name of the captured value of the heads
 * @param weights prefix of the names of the weights
 * @param i index of the block
 */
export function splitHeads(read: Reader, kind: Kind, values: string, weights: string, i: number): Stream {
  const heads = read.captured(values, 'BHTD');
  const wo = read.matrix(`${weights}.wo`); // (C,H·D)
  const count = heads.shape[1];
  return {
    parts: Array.from({ length: count }, (_, h) => ({
      kind,
      at: i * count + h,
      x: throughProjection(heads, wo, h, read.token, read.batch),
    })),
    bias: Float64Array.from(read.vector(`${weights}.bo`) ?? new Float64Array(wo.shape[0])),
  };
}

/**
 * Returns the contribution (C) of one head to one token, which is the output of the head at this token times the
 * columns of Wo for this head.
 * @param heads (B,H,T,D)
 * @param wo (C,H·D)
 */
function throughProjection(
  { floats, shape: [, count, rows, width] }: Read,
  { data, shape: [out, inside] }: ReturnType<Reader['matrix']>,
  head: number,
  token: number,
  batch: number,
) {
  const start = ((batch * count + head) * rows + token) * width;
  const x = new Float64Array(out);
  for (let c = 0; c < out; c++) {
    const from = c * inside + head * width;
    for (let d = 0; d < width; d++) x[c] += data[from + d] * floats[start + d];
  }
  return x;
}
