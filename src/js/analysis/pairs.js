// Runs a model for comparisons of two runs: the clean run, from which values are copied, and the corrupted run, in
// which they are set.

import { readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { formatShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Model, Numbers, Parameter, Result } from './arrays.js' */

/** The name of a value. Each kind of model has a type for its names. @typedef {any} AnyName */
/** @typedef {Result & { logits?: Parameter | undefined, dispose(): void }} PatchedResult */
/**
 * @typedef {Model & { forward(input: any, options: { capture?: AnyName[], edit?: PatchEdit[] }): PatchedResult }}
 *   PatchedModel
 */
/**
 * @typedef {{ at: AnyName, head?: number, token?: number, set?: 'zero' | 'mean' | TensorLike, add?: TensorLike,
 *   change?: (value: Numbers, name: string) => Numbers | void }} PatchEdit
 */
/**
 * Computes a number from the result of a run, such as a logit, a difference of logits or a loss. gradient: computes the
 * derivative of that number with respect to the logits, in the shape of the logits. Functions that differentiate need
 * it.
 * @typedef {{ (result: any): number, gradient?: (result: any) => Numbers }} Metric
 */
/**
 * @typedef {{ of: Metric | Readonly<Record<string, TensorLike>>, at: AnyName[], edit?: PatchEdit[], straight?: number
 *   }}
 *   GradientOptions
 */
/**
 * @typedef {{ value?: number | undefined, captured: Record<string, TensorLike>, gradients: Record<string, TensorLike>,
 *   dispose(): void }} Gradients
 */
/** @typedef {PatchedModel & { differentiate(input: any, options: GradientOptions): Gradients }} DifferentiableModel */

/** @param {string} caller @param {unknown} metric */
export function checkMetric(caller, metric) {
  if (typeof metric !== 'function') throw argumentError(caller, 'metric', metric, 'a function of a result');
}

/** @param {string} caller @param {Metric} metric @param {string} [parameter] */
export function checkGradient(caller, metric, parameter = 'metric') {
  const expected = 'a metric with a gradient: metric.gradient(result) returns ∂metric/∂logits';
  if (typeof metric !== 'function' || typeof metric.gradient !== 'function')
    throw argumentError(caller, parameter, metric, expected);
}

/** @param {string} caller @param {Model} model */
export function checkLogits(caller, { options }) {
  if (options.head === 'none')
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no head and therefore no logits`, {
      parameter: 'model',
      expected: 'a model with logits',
    });
}

/**
 * Returns a metric that checks the result before it reads the logits.
 * @param {Metric} metric
 * @param {(result: PatchedResult) => void} check
 * @returns {Metric}
 */
export function checkedFirst(metric, check) {
  const checked = (/** @type {PatchedResult} */ result) => {
    check(result);
    return metric(result);
  };
  return Object.assign(checked, { gradient: metric.gradient });
}

/** @param {string} caller @param {Metric} metric @param {PatchedResult} result */
export const readMetric = (caller, metric, result) => readNumber(caller, 'the value of metric', metric(result));

/**
 * Reads a result of forward and frees it.
 * @template R
 * @param {PatchedResult} result
 * @param {(result: PatchedResult) => R} read
 */
export function measured(result, read) {
  try {
    return read(result);
  } finally {
    result.dispose();
  }
}

/**
 * Runs a model with edits and returns the metric.
 * @param {string} caller
 * @param {PatchedModel} model
 * @param {any} input
 * @param {Metric} metric
 * @param {PatchEdit[]} edit
 */
export const runEdited = (caller, model, input, metric, edit) =>
  measured(model.forward(input, { edit }), (result) => readMetric(caller, metric, result));

/** Copies arrays by name. @param {string} caller @param {Readonly<Record<string, TensorLike>>} arrays */
export function copyAll(caller, arrays) {
  /** @type {Record<string, Numbers>} */
  const copies = {};
  for (const [name, array] of Object.entries(arrays)) {
    const source = readTensorLike(array, caller, name);
    copies[name] = { data: source.floats().slice(), shape: [...source.shape] };
  }
  return copies;
}

/**
 * Runs a model and returns copies of captured values.
 * @param {string} caller
 * @param {PatchedModel} model
 * @param {any} input
 * @param {string[]} capture
 */
export const capturedBy = (caller, model, input, capture) =>
  measured(model.forward(input, { capture }), ({ captured }) => copyAll(caller, captured));

/**
 * Runs a model and returns the metric and copies of captured values.
 * @param {string} caller
 * @param {PatchedModel} model
 * @param {any} input
 * @param {Metric} metric
 * @param {string[]} capture
 */
export const runCaptured = (caller, model, input, metric, capture) =>
  measured(model.forward(input, { capture }), (result) => ({
    value: readMetric(caller, metric, result),
    values: copyAll(caller, result.captured),
  }));

/**
 * Differentiates a metric. Returns its value, and copies of the captured values and of their gradients.
 * @param {string} caller
 * @param {DifferentiableModel} model
 * @param {any} input
 * @param {GradientOptions} options
 */
export function differentiated(caller, model, input, options) {
  const result = model.differentiate(input, options);
  try {
    const { captured, gradients } = result;
    return {
      value: /** @type {number} */ (result.value),
      values: copyAll(caller, captured),
      gradients: copyAll(caller, gradients),
    };
  } finally {
    result.dispose();
  }
}

/**
 * Throws unless both runs have one sequence with the same number of tokens.
 * @param {string} caller
 * @param {Readonly<Record<string, Numbers>>} clean
 * @param {Readonly<Record<string, TensorLike>>} corrupted
 */
export function checkPair(caller, clean, corrupted) {
  for (const [name, { shape }] of Object.entries(clean)) {
    const other = readTensorLike(corrupted[name], caller, name).shape;
    const expected = `${formatShape(shape)}, the shape of ${name} in the clean run`;
    if (String(shape) !== String(other)) throw shapeError(caller, 'corrupted', other, expected);
    if (shape[0] !== 1)
      throw shapeError(caller, 'corrupted', other, `one sequence; ${name} of the clean run has ${formatShape(shape)}`);
  }
}
