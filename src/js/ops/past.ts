// The options pastKey and pastValue: keys and values of earlier calls.

import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Frame, Input } from '../memory/frame.ts';

export type Past = { key: Input; value: Input };

/** Reads the two options. Either both or none must be set. pastKey: (B,G,P,D); pastValue: (B,G,P,Dv). */
export function readPast(
  frame: Frame,
  caller: string,
  pastKey: TensorLike | undefined,
  pastValue: TensorLike | undefined,
): Past | null {
  if (pastKey === undefined && pastValue === undefined) return null;
  if (pastKey === undefined)
    throw argumentError(caller, 'pastKey', pastKey, 'a tensor (B,G,P,D), because pastValue is given');
  if (pastValue === undefined)
    throw argumentError(caller, 'pastValue', pastValue, 'a tensor (B,G,P,Dv), because pastKey is given');
  return { key: frame.read(pastKey, 'pastKey'), value: frame.read(pastValue, 'pastValue') };
}

/** Validates the past and returns it in linear memory: key (B,G,P,D), value (B,G,P,Dv), length P. */
export function inputPast(
  frame: Frame,
  caller: string,
  past: Past | null,
  { batch, kvHeads, width, valueWidth }: { batch: number; kvHeads: number; width: number; valueWidth: number },
) {
  if (!past) return null;
  const key = frame.input(past.key, 'pastKey');
  const value = frame.input(past.value, 'pastValue');
  const length = key.shape.length === 4 ? key.shape[2] : 0;
  if (!sameShape(key.shape, [batch, kvHeads, length, width]))
    throw shapeError(caller, 'pastKey', key.shape, `(B,G,P,D) = [${batch},${kvHeads},P,${width}]`);
  const expected = [batch, kvHeads, length, valueWidth];
  if (!sameShape(value.shape, expected))
    throw shapeError(caller, 'pastValue', value.shape, `(B,G,P,Dv) = ${formatShape(expected)}`);
  return { key: key.block, value: value.block, length };
}

/** Throws if there is a past, because it would have no gradient. */
export function rejectPast(caller: string, past: Past | null) {
  if (!past) return;
  const expected = 'none with train: true, because the past has no gradient; concatenate it with the keys';
  throw new HeadlightError('ARGUMENT', `${caller}: pastKey is given, expected ${expected}`, {
    parameter: 'pastKey',
    expected,
    got: past.key,
  });
}
