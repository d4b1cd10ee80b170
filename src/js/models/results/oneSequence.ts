// Runs a model on one input, and copies a part of the result.

import { argumentError, HeadlightError } from '../../check/errors.ts';

import type { Tensor } from '../../memory/tensor.ts';
import type { ModelInput } from '../input.ts';
import type { ModelResult } from '../modelResult.ts';
import type { ForwardModelOptions, Transformer } from '../transformer.ts';

/** read: copies from the result, which is freed afterwards */
export function runOnce<T>(
  model: Transformer,
  caller: string,
  input: ModelInput,
  options: ForwardModelOptions,
  read: (result: ModelResult) => T,
): T {
  const result = model.forwardFor(caller, input, options);
  try {
    return read(result);
  } finally {
    result.dispose();
  }
}

/** Returns the numbers of the only sequence of a batch. tensor: (1,N) or (N). */
export function onlyRow(caller: string, { shape, data }: Tensor) {
  if (shape.length > 1 && shape[0] !== 1)
    throw argumentError(caller, 'input', `a batch of ${shape[0]}`, 'one sequence; use one call for each');
  return Float64Array.from(data);
}

export const wrongModel = (caller: string, reason: string) => new HeadlightError('STATE', `${caller}: ${reason}`);
