// Validates the inputs of forward() of the multi-head layer.

import { shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Frame, Input } from '../memory/frame.ts';
import type { ForwardOptions } from '../types.ts';
import type { resolveOptions } from './multiheadOptions.ts';

const CALLER = 'forward';

/**
 * (B,T,queryDim), (B,S,keyDim), (B,S,valueDim), or all without B. Returns them in linear memory. inputs: of
 * frame.read().
 */
export function checkInputs(
  frame: Frame,
  { queryDim, keyDim, valueDim }: ReturnType<typeof resolveOptions>,
  { query, key, value }: { query: Input; key: Input | undefined; value: Input | undefined },
) {
  const q = frame.input(query, 'query');
  const k = key === undefined ? q : frame.input(key, 'key');
  const v = value === undefined ? k : frame.input(value, 'value');
  const rank = q.shape.length;
  if (rank !== 2 && rank !== 3) throw shapeError(CALLER, 'query', q.shape, `(B,T,${queryDim}) or (T,${queryDim})`);
  const batched = rank === 3;
  const batch = batched ? q.shape[0] : 1;
  const queries = q.shape[rank - 2];
  const fresh = k.shape.length < 2 ? 0 : k.shape[k.shape.length - 2];
  const shapeOfRows = (rows: number, width: number) => (batched ? [batch, rows, width] : [rows, width]);
  const check = (name: string, shape: readonly number[], rows: number, width: number) => {
    const expected = shapeOfRows(rows, width);
    if (!sameShape(shape, expected)) throw shapeError(CALLER, name, shape, formatShape(expected));
  };
  check('query', q.shape, queries, queryDim);
  check(key === undefined ? 'key (the query)' : 'key', k.shape, fresh, keyDim);
  check(value === undefined ? 'value (the key)' : 'value', v.shape, fresh, valueDim);
  return { q, k, v, batch, queries, fresh, shapeOfRows };
}

/** True for the object of options in the position of an input. An input is an array, or has a shape or data. */
export function isOptions(value: TensorLike | ForwardOptions | undefined): value is ForwardOptions {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value) &&
    !('shape' in value) &&
    !('data' in value)
  );
}
