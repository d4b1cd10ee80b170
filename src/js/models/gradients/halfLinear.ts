// Computes the gradient of a linear layer whose weight is stored in 16 bits.

import { loadRows, type Packed } from '../../memory/packed.ts';
import { sizeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import type { Weight } from '../weights.ts';
import type { Tape } from './tape.ts';

/** Maximum number of floats that are converted at once: 8 MiB, so that no large matrix is in memory a second time. */
const MAX_CONVERTED = 2 ** 21;

/**
 * Returns dx = dy · weight, with as many rows converted as the limit allows. shape: of x: (…,in); dy: (…,out); weight:
 * (out,in).
 */
export function halfLinearBackward(tape: Tape, shape: readonly number[], dy: Tensor, weight: Weight) {
  const [out, inside] = weight.shape;
  const rows = sizeOf(dy) / out;
  const dx = tape.make(shape);
  viewOf(dx).fill(0);
  const most = Math.max(1, Math.min(out, Math.floor(MAX_CONVERTED / Math.max(inside, 1))));
  tape.memory.scope(() => {
    const temporary = (sizes: number[]) => tape.memory.temporary(sizes, tape.caller);
    const [part, converted, columns] = [temporary([...shape]), temporary([most, inside]), temporary([rows, most])];
    for (let first = 0; first < out; first += most) {
      const count = Math.min(most, out - first);
      const labels = Array.from({ length: count }, (_, i) => first + i);
      loadRows(tape.memory, tape.caller, converted, weight.packed as Packed, labels, weight.shape);
      const [from, to] = [viewOf(dy), viewOf(columns)];
      for (let row = 0; row < rows; row++)
        to.set(from.subarray(row * out + first, row * out + first + count), row * count);
      const sizes = [rows, count, inside] as const;
      tape.call('hl_linear_backward', part, undefined, undefined, columns, undefined, converted, ...sizes);
      tape.call('hl_add', dx, dx, part, sizeOf(dx));
    }
  });
  return dx;
}
