// Finds arrays whose columns sum to 1 and whose rows do not: attention weights with the last two axes swapped.

import { axesOf } from './attentionWeights.ts';

import type { Stored } from './fileContents.ts';

/** Maximum difference between 1 and a sum, as in attentionWeights.ts. */
const ROUNDING = 0.02;
/** Maximum matrices that are checked, and the maximum size of a matrix. */
const [MAX_CHECKED, MAX_SIZE] = [4, 4096 ** 2];

/** `data`: (T,S). */
function columnsSumTo1(data: Float32Array, T: number, S: number) {
  if (data.some((x) => x < 0)) return false;
  for (let s = 0; s < S; s++) {
    let sum = 0;
    for (let t = 0; t < T; t++) sum += data[t * S + s];
    if (!(sum === 0 || Math.abs(sum - 1) <= ROUNDING)) return false;
  }
  return data.some((x) => x > 0);
}

/** Returns the first tensor whose columns sum to 1. The rows of the tensors must not sum to 1, which is not checked. */
export async function findTransposed(tensors: readonly Stored[]) {
  for (const tensor of tensors) {
    const axes = axesOf(tensor.shape);
    if (!axes || axes.T < 2 || axes.T * axes.S > MAX_SIZE) continue;
    const size = axes.T * axes.S;
    const count = Math.min(axes.layers * axes.batch * axes.heads, MAX_CHECKED);
    let all = true;
    for (let i = 0; i < count && all; i++) all = columnsSumTo1(await tensor.read(i * size, size), axes.T, axes.S);
    if (all) return tensor;
  }
  return null;
}

/** `data`: (T,S). */
function transposedMatrix(data: Float32Array, T: number, S: number) {
  const to = new Float32Array(data.length);
  for (let t = 0; t < T; t++) for (let s = 0; s < S; s++) to[s * T + t] = data[t * S + s];
  return to;
}

/** Returns a tensor with the last two axes swapped. This tensor reads whole matrices, and caches the last matrix. */
export function transpose(tensor: Stored) {
  if (tensor.shape.length < 2) return tensor;
  const [T, S] = tensor.shape.slice(-2);
  const size = T * S;
  let cached = { at: -1, data: new Float32Array(0) };
  const matrix = async (at: number) => {
    if (cached.at !== at) cached = { at, data: transposedMatrix(await tensor.read(at * size, size), T, S) };
    return cached.data;
  };
  return {
    ...tensor,
    shape: [...tensor.shape.slice(0, -2), S, T],
    async read(first: number, count: number) {
      const to = new Float32Array(count);
      for (let done = 0; done < count; ) {
        const at = Math.floor((first + done) / size);
        const from = first + done - at * size;
        const part = (await matrix(at)).subarray(from, from + count - done);
        to.set(part, done);
        done += part.length;
      }
      return to;
    },
  };
}
