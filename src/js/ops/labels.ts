// Validates labels, which are integers that index a class, a token or a row of a table.

import { argumentError } from '../check/errors.ts';
import { readTensorLike, type Source, type TensorLike } from '../check/tensorlike.ts';
import { shapeOf, Tensor, viewOf } from '../memory/tensor.ts';

export type Labels = { ints: Int32Array; shape: readonly number[] };

/** Reads the numbers of an argument, for toLabels. Copies a tensor, because its memory may be reallocated. */
export const readNumbers = (value: TensorLike | Source, caller: string, parameter: string) =>
  readTensorLike(
    value instanceof Tensor ? { data: viewOf(value).slice(), shape: shapeOf(value) } : value,
    caller,
    parameter,
  );

/** below: labels are 0 to below − 1; ignore: another allowed label, of rows that are not counted */
export function toLabels(
  { data, shape }: Source,
  caller: string,
  below: number,
  ignore: number | undefined,
  parameter: string,
): Labels {
  const ints = new Int32Array(data.length);
  for (let i = 0; i < ints.length; i++) {
    const label = Number(data[i]);
    if (label !== ignore && !(Number.isInteger(label) && label >= 0 && label < below)) {
      const other = ignore === undefined ? '' : `, or ${ignore}`;
      throw argumentError(caller, `${parameter}[${i}]`, label, `an integer from 0 to ${below - 1}${other}`);
    }
    ints[i] = label;
  }
  return { ints, shape };
}
