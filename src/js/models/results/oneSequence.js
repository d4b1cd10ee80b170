// Runs a model on one input, and copies a part of the result.

import { argumentError, HeadlightError } from '../../check/errors.js';

/** @import { Tensor } from '../../memory/tensor.js' */
/** @import { ModelInput } from '../input.js' */
/** @import { ModelResult } from '../modelResult.js' */
/** @import { ForwardModelOptions, Transformer } from '../transformer.js' */

/**
 * @template T
 * @param {Transformer} model
 * @param {string} caller
 * @param {ModelInput} input
 * @param {ForwardModelOptions} options
 * @param {(result: ModelResult) => T} read copies from the result, which is freed afterwards
 * @returns {T}
 */
export function runOnce(model, caller, input, options, read) {
  const result = model.forwardFor(caller, input, options);
  try {
    return read(result);
  } finally {
    result.dispose();
  }
}

/**
 * Returns the numbers of the only sequence of a batch.
 * @param {string} caller
 * @param {Tensor} tensor (1,N) or (N)
 */
export function onlyRow(caller, { shape, data }) {
  if (shape.length > 1 && shape[0] !== 1)
    throw argumentError(caller, 'input', `a batch of ${shape[0]}`, 'one sequence; use one call for each');
  return Float64Array.from(data);
}

/**
 * Returns the error of a method that this kind of model does not support.
 * @param {string} caller
 * @param {string} reason
 */
export const wrongModel = (caller, reason) => new HeadlightError('STATE', `${caller}: ${reason}`);
