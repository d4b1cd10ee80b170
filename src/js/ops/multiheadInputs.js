// Validates the inputs of forward() of the multi-head layer.

import { shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';

/** @import { Frame, Input } from '../memory/frame.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { resolveOptions } from './multiheadOptions.js' */
/** @import { ForwardOptions } from '../types.js' */

const CALLER = 'forward';

/**
 * Validates the shapes of the inputs, which are (B,T,queryDim), (B,S,keyDim), (B,S,valueDim), or all without B. Returns
 * the inputs in linear memory.
 * @param {Frame} frame
 * @param {ReturnType<typeof resolveOptions>} options
 * @param {{ query: Input, key: Input | undefined, value: Input | undefined }} inputs results of frame.read()
 */
export function checkInputs(frame, { queryDim, keyDim, valueDim }, { query, key, value }) {
  const q = frame.input(query, 'query');
  const k = key === undefined ? q : frame.input(key, 'key');
  const v = value === undefined ? k : frame.input(value, 'value');
  const rank = q.shape.length;
  if (rank !== 2 && rank !== 3) throw shapeError(CALLER, 'query', q.shape, `(B,T,${queryDim}) or (T,${queryDim})`);
  const batched = rank === 3;
  const batch = batched ? q.shape[0] : 1;
  const queries = q.shape[rank - 2];
  const fresh = k.shape.length < 2 ? 0 : k.shape[k.shape.length - 2];
  /** @param {number} rows @param {number} width */
  const shapeOfRows = (rows, width) => (batched ? [batch, rows, width] : [rows, width]);
  /** @param {string} name @param {readonly number[]} shape @param {number} rows @param {number} width */
  const check = (name, shape, rows, width) => {
    const expected = shapeOfRows(rows, width);
    if (!sameShape(shape, expected)) throw shapeError(CALLER, name, shape, formatShape(expected));
  };
  check('query', q.shape, queries, queryDim);
  check(key === undefined ? 'key (the query)' : 'key', k.shape, fresh, keyDim);
  check(value === undefined ? 'value (the key)' : 'value', v.shape, fresh, valueDim);
  return { q, k, v, batch, queries, fresh, shapeOfRows };
}

/**
 * Returns true if an argument in the position of an input is the object of options. An input is an array, or has a
 * shape or data.
 * @param {TensorLike | ForwardOptions | undefined} value
 * @returns {value is ForwardOptions}
 */
export function isOptions(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value) &&
    !('shape' in value) &&
    !('data' in value)
  );
}
