// A metric of models without logits: the angle between the hidden states of a changed and an unchanged run.

import { readNumber } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape } from '../check/shape.ts';
import { readTensorLike, type TensorLike } from '../check/tensorlike.ts';

import type { Metric } from './patching/pairs.ts';

const CALLER = 'hiddenAngle';

/**
 * Returns a metric, the angle in degrees from 0 to 180 between the hidden state of a token and its hidden state in an
 * unchanged run; without a token, the mean over all tokens. Its cosine is the cosine similarity. It has no gradient.
 * @param reference the hidden states of the unchanged run, (…,T,C), which are copied
 * @param token negative values count from the end
 */
export function hiddenAngle(reference: TensorLike, token?: number): Metric {
  const unchanged = readRows('reference', reference);
  const { rows, width, shape } = unchanged;
  if (token !== undefined) readNumber(CALLER, 'token', token, { integer: true, least: -rows, most: rows - 1 });
  return ({ hidden }) => {
    if (!hidden)
      throw new HeadlightError('ARGUMENT', `${CALLER}: the result has no hidden states`, { parameter: 'hidden' });
    const changed = readRows('hidden', hidden);
    if (changed.rows !== rows || changed.width !== width)
      throw shapeError(CALLER, 'hidden', changed.shape, `the shape of reference, ${formatShape(shape)}`);
    if (token !== undefined) return angleAt(changed, unchanged, token < 0 ? rows + token : token);
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += angleAt(changed, unchanged, row);
    return rows === 0 ? 0 : sum / rows;
  };
}

/** Returns the angles of all tokens as in hiddenAngle, or null if the runs have different numbers of tokens. */
export function anglesBetween(reference: TensorLike, hidden: TensorLike) {
  const [unchanged, changed] = [readRows('reference', reference), readRows('hidden', hidden)];
  if (unchanged.data.length !== changed.data.length) return null;
  return Float64Array.from({ length: changed.rows }, (_, row) => angleAt(changed, unchanged, row));
}

const angleAt = (a: ReturnType<typeof readRows>, b: ReturnType<typeof readRows>, row: number) =>
  angleBetween(...[a, b].map(({ data, width }) => data.subarray(row * width, (row + 1) * width)));

function readRows(parameter: string, given: TensorLike) {
  const source = readTensorLike(given, CALLER, parameter);
  const { shape } = source;
  if (shape.length < 2) throw shapeError(CALLER, parameter, shape, '(…,T,C)');
  const width = shape[shape.length - 1];
  const data = Float64Array.from(source.floats());
  return { data, width, rows: width === 0 ? 0 : data.length / width, shape: [...shape] };
}

/**
 * Returns an angle in degrees by the formula of Kahan (2006), which is accurate for small angles, unlike the arc
 * cosine. Between a zero vector and another vector it is 90, between two zero vectors 0.
 */
function angleBetween(...pair: Float64Array[]) {
  const lengths = pair.map((x) => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0)));
  if (lengths.includes(0)) return lengths[0] === lengths[1] ? 0 : 90;
  let [apart, along] = [0, 0];
  pair[0].forEach((x, i) => {
    const [a, b] = [x / lengths[0], pair[1][i] / lengths[1]];
    apart += (a - b) ** 2;
    along += (a + b) ** 2;
  });
  return (2 * Math.atan2(Math.sqrt(apart), Math.sqrt(along)) * 180) / Math.PI;
}
