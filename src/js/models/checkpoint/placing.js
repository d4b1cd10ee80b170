// From a tensor as a checkpoint stores it to the parameter that it is: a part of it, turned, laid out anew. It is read
// row by row, so that no more of it than a few rows is in memory at a time.

/** @import { Place } from '../families/index.js' */

/**
 * width: numbers in a row of the stored tensor; rows from..to−1 are read; put writes some of them, first..last−1, into
 * the parameter. straight: they lie there as they are, one after the other.
 * @typedef {{ width: number, from: number, to: number, straight?: boolean,
 *   put: (target: Numbers, rows: Numbers, first: number, last: number) => void }} Placing
 */
/** @typedef {Float32Array | Uint16Array} Numbers in 16 bits they are copied as they are */
/** @typedef {{ headDim: number, sizes: readonly number[] }} Split sizes: rows of q, k and v */

const product = (/** @type {readonly number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/** Floats of a line of the processor's cache: a line that is written to is filled before the next one. */
const LINE = 16;

/**
 * @param {number} width
 * @param {(target: Numbers, row: Numbers, r: number) => void} put
 * @returns {Placing['put']}
 */
const eachRow = (width, put) => (target, rows, first, last) => {
  for (let r = first; r < last; r++) put(target, rows.subarray((r - first) * width, (r - first + 1) * width), r);
};

/**
 * What the shape of the stored tensor must be.
 * @param {Place} place
 * @param {readonly number[]} shape of the parameter
 * @param {Split} split
 */
export function storedShape({ part, turned, form }, shape, { sizes }) {
  const rows = part ? (part[0] === 'halves' ? 2 * shape[0] : sizes.reduce((a, b) => a + b, 0)) : shape[0];
  if (form === 'convolution' && shape.length === 2) return [shape[0], shape[1] / 3, 3];
  if (shape.length === 1) return [rows];
  return turned ? [shape[1], rows] : [rows, ...shape.slice(1)];
}

/**
 * @param {Place} place
 * @param {readonly number[]} stored its shape there
 * @param {readonly number[]} shape of the parameter
 * @param {Split} split
 * @returns {Placing}
 */
export function placing({ part, turned, form, plus = 0 }, stored, shape, { headDim, sizes }) {
  const out = shape[0];
  if (form === 'convolution' && shape.length === 2) {
    const channels = shape[1] / 3;
    return {
      width: 3,
      from: 0,
      to: out * channels,
      put: eachRow(3, (target, row, r) => {
        const [o, c] = [Math.floor(r / channels), r % channels];
        for (let k = 0; k < 3; k++) target[o * 3 * channels + k * channels + c] = row[k];
      }),
    };
  }
  const kind = part?.[0];
  const index = part?.[1] ?? 0;
  const first =
    kind === 'rows' ? sizes.slice(0, index).reduce((a, b) => a + b, 0) : kind === 'halves' ? index * out : 0;
  if (turned && shape.length === 2) {
    const [width, inside] = [stored[1], shape[1]];
    return {
      width,
      from: 0,
      to: inside,
      put: (target, rows, begin, end) => {
        for (let some = begin; some < end; some += LINE) {
          const until = Math.min(some + LINE, end);
          for (let o = 0; o < out; o++)
            for (let i = some; i < until; i++) target[o * inside + i] = rows[(i - begin) * width + first + o];
        }
      },
    };
  }
  const width = shape.length === 1 ? 1 : product(shape) / out;
  const whole = shape.length === 1 && !part;
  const [run, count] = whole ? [out, 1] : [width, kind === 'heads' ? product(stored) / width : out];
  return {
    width: run,
    from: first,
    to: first + count,
    straight: kind !== 'heads' && plus === 0,
    put: eachRow(run, (target, row, r) => {
      let to = r - first;
      if (kind === 'heads') {
        // Of every head the rows of its query, its key and its value.
        const [head, within] = [Math.floor(r / (3 * headDim)), r % (3 * headDim)];
        if (Math.floor(within / headDim) !== index) return;
        to = head * headDim + (within % headDim);
      }
      if (plus === 0) target.set(row, to * run);
      else for (let i = 0; i < run; i++) target[to * run + i] = row[i] + plus;
    }),
  };
}
