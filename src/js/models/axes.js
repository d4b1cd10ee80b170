// Copies of a tensor's values with its axes in another order.

/**
 * (B,first,second,width) to (B,second,first,width).
 * @param {Float32Array} to
 * @param {Float32Array} from
 * @param {number} batch
 * @param {number} first
 * @param {number} second
 * @param {number} width
 */
export function swapAxes(to, from, batch, first, second, width) {
  for (let at = 0, b = 0; b < batch; b++)
    for (let j = 0; j < second; j++)
      for (let i = 0; i < first; i++) {
        const start = ((b * first + i) * second + j) * width;
        for (let d = 0; d < width; d++) to[at++] = from[start + d];
      }
}
