// What the backward passes of attention() and of the layer share.

import { checkOptions, readBoolean } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { elementCount, formatShape, sameShape } from '../check/shape.js';
import { viewOf } from '../memory/tensor.js';

/** @import { Frame, Input } from '../memory/frame.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Given } from './result.js' */
/** @import { BiasChoice } from './visibility.js' */

/**
 * Each as the tensor it is of.
 * @template {BiasChoice} [B=BiasChoice]
 * @template {boolean | undefined} [D=boolean | undefined]
 * @typedef {{ dQuery: Tensor, dKey: Tensor, dValue: Tensor, dBias: BiasGradient<B, D>, dSinks?: Tensor }}
 *   AttentionGradients
 */
/**
 * There where there is a bias, and its gradient is not declined.
 * @template {BiasChoice} B
 * @template {boolean | undefined} D
 * @typedef {[D] extends [true | undefined] ? Given<B> : [D] extends [false] ? undefined : Tensor | undefined}
 *   BiasGradient
 */
/**
 * @template {boolean | undefined} [D=boolean | undefined]
 * @typedef {object} BackwardOptions
 * @property {TensorLike} [dWeights] the gradient of the weights that forward returned
 * @property {D} [dBias] false: where there is a bias, not its gradient; default true. It takes time, and where
 *   the bias repeats over heads or batch, threads cannot share its work
 */
/** @typedef {{ dOutput: Input, dWeights: Input | undefined, dBias: boolean }} Incoming what backward was given */
/**
 * @typedef {{ dOutput: readonly number[], dWeights?: readonly number[], bias?: BiasShape, sinks?: readonly number[] }}
 *   ForwardShapes
 */
/** @typedef {{ given: readonly number[], wide: readonly number[] }} BiasShape as given, and as the core reads it */

const CALLER = 'backward';

/**
 * @param {Frame} frame
 * @param {TensorLike} dOutput
 * @param {BackwardOptions} options
 * @returns {Incoming}
 */
export function readIncoming(frame, dOutput, options) {
  checkOptions(CALLER, options, ['dWeights', 'dBias']);
  const { dWeights, dBias = true } = options;
  return {
    dBias: readBoolean(CALLER, 'dBias', dBias),
    dOutput: frame.read(dOutput, 'dOutput'),
    dWeights: dWeights === undefined ? undefined : frame.read(dWeights, 'dWeights'),
  };
}

/**
 * @param {Frame} frame
 * @param {Record<'output' | 'weights', number>} at
 * @param {Incoming} incoming
 * @param {ForwardShapes} shapes
 */
export function pointToIncoming(frame, at, { dOutput, dWeights }, shapes) {
  const output = frame.input(dOutput, 'dOutput');
  if (!sameShape(output.shape, shapes.dOutput))
    throw shapeError(CALLER, 'dOutput', output.shape, formatShape(shapes.dOutput));
  frame.setPointer(at.output, output.block);
  if (dWeights === undefined) return;
  if (!shapes.dWeights) {
    const expected = 'none, as forward returned no weights';
    const details = { parameter: 'dWeights', expected, got: dWeights };
    throw new HeadlightError('ARGUMENT', `${CALLER}: dWeights is given, expected ${expected}`, details);
  }
  const weights = frame.input(dWeights, 'dWeights');
  if (!sameShape(weights.shape, shapes.dWeights))
    throw shapeError(CALLER, 'dWeights', weights.shape, formatShape(shapes.dWeights));
  frame.setPointer(at.weights, weights.block);
}

/**
 * Whether nothing comes in, so that all gradients are zeros: the core would run over sizes that hold no numbers.
 * @param {Incoming} incoming
 */
export const isEmpty = ({ dOutput, dWeights }) =>
  elementCount(dOutput.shape) === 0 && (dWeights === undefined || elementCount(dWeights.shape) === 0);

/**
 * The gradient of the bias, where there is one and it is asked for: what the core adds to, and afterwards in the shape
 * of the bias.
 * @param {Frame} frame
 * @param {number} at
 * @param {BiasShape | undefined} shape
 * @param {Incoming} incoming
 */
export function makeBiasGradient(frame, at, shape, { dBias }) {
  if (!dBias || !shape) return undefined;
  const { given, wide } = shape;
  const gradient = frame.zeros([...wide]);
  frame.setPointer(at, gradient);
  return () => {
    if (sameShape(given, wide)) return gradient;
    const [from, to] = [wide[wide.length - 1], given[given.length - 1]];
    const narrow = frame.make([...given]);
    for (let row = 0; row * to < narrow.size; row++)
      viewOf(narrow).set(viewOf(gradient).subarray(row * from, row * from + to), row * to);
    gradient.dispose();
    return narrow;
  };
}

/**
 * The gradient of the sinks, where there are some: what the core adds to.
 * @param {Frame} frame
 * @param {number} at
 * @param {ForwardShapes} shapes
 */
export function makeSinksGradient(frame, at, { sinks }) {
  if (!sinks) return undefined;
  const gradient = frame.zeros([...sinks]);
  frame.setPointer(at, gradient);
  return gradient;
}
