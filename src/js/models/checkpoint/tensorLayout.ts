// Converts a stored tensor to a parameter: selects rows, transposes and reorders them, row by row, so that only a few
// are in memory at a time.

import type { TensorSource } from '../families/common.ts';

/**
 * Reads rows from..to−1 of `width` numbers. write: writes rows first..last−1 to the parameter. contiguous: the
 * parameter is these rows, unchanged.
 */
export type Layout = {
  width: number;
  from: number;
  to: number;
  contiguous?: boolean;
  write: (target: Numbers, rows: Numbers, first: number, last: number) => void;
};
/** 16-bit numbers are copied without conversion */
export type Numbers = Float32Array | Uint16Array;
/** sizes: numbers of rows of q, k and v */
export type Split = { headDim: number; sizes: readonly number[] };

const product = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

/** Number of floats in a cache line. A transposition writes whole lines. */
const LINE = 16;

const eachRow =
  (width: number, write: (target: Numbers, row: Numbers, r: number) => void): Layout['write'] =>
  (target, rows, first, last) => {
    for (let r = first; r < last; r++) write(target, rows.subarray((r - first) * width, (r - first + 1) * width), r);
  };

/** Returns the shape that the stored tensor must have. shape: of the parameter. */
export function storedShape({ part, transposed, form }: TensorSource, shape: readonly number[], { sizes }: Split) {
  const rows = part ? (part[0] === 'halves' ? 2 * shape[0] : sizes.reduce((a, b) => a + b, 0)) : shape[0];
  if (form === 'convolution' && shape.length === 2) return [shape[0], shape[1] / 3, 3];
  if (shape.length === 1) return [rows];
  return transposed ? [shape[1], rows] : [rows, ...shape.slice(1)];
}

export function layoutOf(
  { part, transposed, form, offset = 0 }: TensorSource,
  stored: readonly number[],
  shape: readonly number[],
  { headDim, sizes }: Split,
): Layout {
  if (form === 'convolution' && shape.length === 2) return convolutionLayout(shape);
  const out = shape[0];
  const kind = part?.[0];
  const index = part?.[1] ?? 0;
  const first =
    kind === 'rows' ? sizes.slice(0, index).reduce((a, b) => a + b, 0) : kind === 'halves' ? index * out : 0;
  if (transposed && shape.length === 2) return transposedLayout(stored[1], shape, first);
  const width = shape.length === 1 ? 1 : product(shape) / out;
  const whole = shape.length === 1 && !part;
  // With 'heads', the tensor has for each key head the rows of its queries, then the rows of its key and of its value.
  const rowsOfGroup = [(sizes[0] / sizes[1]) * headDim, headDim, headDim];
  const starts = [0, rowsOfGroup[0], rowsOfGroup[0] + headDim];
  const groupSize = rowsOfGroup[0] + 2 * headDim;
  const [run, count] = whole ? [out, 1] : [width, kind === 'heads' ? product(stored) / width : out];
  return {
    width: run,
    from: first,
    to: first + count,
    contiguous: kind !== 'heads' && offset === 0,
    write: eachRow(run, (target, row, r) => {
      let to = r - first;
      if (kind === 'heads') {
        const rows = rowsOfGroup[index];
        const [group, within] = [Math.floor(r / groupSize), (r % groupSize) - starts[index]];
        if (within < 0 || within >= rows) return;
        to = group * rows + within;
      }
      if (offset === 0) target.set(row, to * run);
      else for (let i = 0; i < run; i++) target[to * run + i] = row[i] + offset;
    }),
  };
}

/** Layout from (out, channels, 3) to (out, 3·channels). shape: of the parameter. */
function convolutionLayout([out, inside]: readonly number[]): Layout {
  const channels = inside / 3;
  return {
    width: 3,
    from: 0,
    to: out * channels,
    write: eachRow(3, (target, row, r) => {
      const [o, c] = [Math.floor(r / channels), r % channels];
      for (let k = 0; k < 3; k++) target[o * 3 * channels + k * channels + c] = row[k];
    }),
  };
}

/**
 * Layout from (in, width) to (out, in). shape: of the parameter; column: first column of the tensor that belongs to it.
 */
const transposedLayout = (width: number, [out, inside]: readonly number[], column: number): Layout => ({
  width,
  from: 0,
  to: inside,
  write: (target, rows, first, last) => {
    for (let begin = first; begin < last; begin += LINE) {
      const end = Math.min(begin + LINE, last);
      for (let o = 0; o < out; o++)
        for (let i = begin; i < end; i++) target[o * inside + i] = rows[(i - first) * width + column + o];
    }
  },
});
