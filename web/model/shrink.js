// From weights to as many cells as the screen has room for.

/** @import { Head, Picture, Region } from './types.js' */

/** What a cell holds where its weights are all hidden, and where one of them is NaN or infinite. */
export const HIDDEN = NaN;
export const NOT_FINITE = Infinity;

const [MAGNITUDE, EXPONENT, LARGEST] = [0x7fffffff, 0x7f800000, 0x7fffffff];

/**
 * A part of a matrix of weights as rows × columns cells, each the weight of largest magnitude that it covers: the
 * mean would lose a lone strong weight. HIDDEN where every weight is hidden; what is hidden weighs 0. NOT_FINITE where
 * a weight is no finite number. All others, and their differences, lie within ±1.
 * @param {Omit<Head, 'T'>} head 0 in `visible` hides;
 *   only where it is signed a weight may be below 0
 * @param {Region} region
 * @param {{ rows: number, columns: number }} most
 * @returns {Picture}
 */
export function shrink({ weights, visible, S, signed = false }, { queries, keys }, most) {
  const [T, N] = [queries.to - queries.from, keys.to - keys.from];
  const [rows, columns] = [Math.min(T, most.rows), Math.min(N, most.columns)];
  const values = new Float32Array(rows * columns);
  const row = (/** @type {number} */ r) => queries.from + Math.floor((r * T) / rows);
  const edges = Uint32Array.from({ length: columns + 1 }, (_, c) => Math.floor((c * N) / columns));
  const bits = new Int32Array(weights.buffer, weights.byteOffset, weights.length);
  const found = new Int32Array(values.buffer);
  const best = new Int32Array(N);
  for (let r = 0; r < rows; r++) {
    best.fill(0);
    // Down each column of a cell first, then across.
    for (let t = row(r); t < row(r + 1); t++) {
      const at = t * S + keys.from;
      if (signed) for (let s = 0; s < N; s++) best[s] = larger(best[s], ranked(bits[at + s]));
      else for (let s = 0; s < N; s++) best[s] = larger(best[s], bits[at + s] & MAGNITUDE);
    }
    for (let c = 0; c < columns; c++) {
      let most = 0;
      for (let s = edges[c]; s < edges[c + 1]; s++) most = larger(most, best[s]);
      found[r * columns + c] = signed ? (most >>> 1) | (most << 31) : most;
      if (most >= EXPONENT && (!signed || most === LARGEST)) values[r * columns + c] = NOT_FINITE;
      if (
        visible !== null &&
        most < 2 &&
        allHidden(visible, S, row(r), row(r + 1), keys.from + edges[c], keys.from + edges[c + 1])
      )
        values[r * columns + c] = HIDDEN;
    }
  }
  return { rows, columns, values };
}

/**
 * The bits of a float within ±1 as a whole number that grows with its magnitude: the sign goes last.
 * @param {number} bits
 */
const ranked = (bits) => ((bits & EXPONENT) === EXPONENT ? LARGEST : (bits << 1) | (bits >>> 31));

/**
 * The larger of two numbers from 0 on, without a branch, which would be mispredicted.
 * @param {number} a
 * @param {number} b
 */
function larger(a, b) {
  const less = a - b;
  return a - (less & (less >> 31));
}

/**
 * @param {Float32Array} visible
 * @param {number} S
 * @param {number} t0
 * @param {number} t1
 * @param {number} s0
 * @param {number} s1
 */
function allHidden(visible, S, t0, t1, s0, s1) {
  for (let t = t0; t < t1; t++) for (let s = s0; s < s1; s++) if (visible[t * S + s] !== 0) return false;
  return true;
}

/** The largest magnitude among the finite ones. @param {Float32Array | number[]} values */
export function largest(values) {
  let most = 0;
  for (const value of values) {
    const size = value < 0 ? -value : value;
    if (size > most && size < Infinity) most = size;
  }
  return most;
}
