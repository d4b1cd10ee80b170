// Functions that the backward passes of attention() and of the layers share: options, and gradients of bias and sinks.

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
 * Gradients of the inputs. Each has the shape of its input.
 * @template {BiasChoice} [B=BiasChoice]
 * @template {boolean | undefined} [D=boolean | undefined]
 * @typedef {{ dQuery: Tensor, dKey: Tensor, dValue: Tensor, dBias: BiasGradient<B, D>, dSinks?: Tensor }}
 *   AttentionGradients
 */
/**
 * Gradient of the bias. It exists if there is a bias and the option dBias is not false.
 * @template {BiasChoice} B
 * @template {boolean | undefined} D
 * @typedef {[D] extends [true | undefined] ? Given<B> : [D] extends [false] ? undefined : Tensor | undefined}
 *   BiasGradient
 */
/**
 * @template {boolean | undefined} [D=boolean | undefined]
 * @typedef {object} BackwardOptions
 * @property {TensorLike} [dWeights] the gradient of the weights that forward returned, (B,H,T,S) or (B,T,S)
 * @property {D} [dBias] false to omit the gradient of the bias; default true. It takes time, and only one thread
 *   computes it if the bias broadcasts over heads or batch
 */
/** @typedef {{ dOutput: Input, dWeights: Input | undefined, dBias: boolean }} Upstream gradients passed to backward */
/**
 * @typedef {{ dOutput: readonly number[], dWeights?: readonly number[], bias?: BiasShape, sinks?: readonly number[] }}
 *   ForwardShapes
 */
/**
 * Shapes of the bias. given: the shape of the argument; wide: the shape after short rows are padded to the number of
 * keys.
 * @typedef {{ given: readonly number[], wide: readonly number[] }} BiasShape
 */

const CALLER = 'backward';

/**
 * @param {Frame} frame
 * @param {TensorLike} dOutput of the shape of the output
 * @param {BackwardOptions} options
 * @returns {Upstream}
 */
export function readUpstream(frame, dOutput, options) {
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
 * @param {Upstream} upstream
 * @param {ForwardShapes} shapes
 */
export function setUpstream(frame, at, { dOutput, dWeights }, shapes) {
  const output = frame.input(dOutput, 'dOutput');
  if (!sameShape(output.shape, shapes.dOutput))
    throw shapeError(CALLER, 'dOutput', output.shape, formatShape(shapes.dOutput));
  frame.setPointer(at.output, output.block);
  if (dWeights === undefined) return;
  if (!shapes.dWeights) {
    const expected = 'none, because forward returned no weights';
    const details = { parameter: 'dWeights', expected, got: dWeights };
    throw new HeadlightError('ARGUMENT', `${CALLER}: dWeights is given, expected ${expected}`, details);
  }
  const weights = frame.input(dWeights, 'dWeights');
  if (!sameShape(weights.shape, shapes.dWeights))
    throw shapeError(CALLER, 'dWeights', weights.shape, formatShape(shapes.dWeights));
  frame.setPointer(at.weights, weights.block);
}

/**
 * Returns true if the upstream gradients have no elements. In that case all gradients are zeros, and the core must not
 * run, because it would loop over the other sizes, which memory does not limit.
 * @param {Upstream} upstream
 */
export const isEmpty = ({ dOutput, dWeights }) =>
  elementCount(dOutput.shape) === 0 && (dWeights === undefined || elementCount(dWeights.shape) === 0);

/**
 * Makes the tensor to which the core adds the gradient of the bias. Returns a function that reduces it to the shape of
 * the bias after the call, or undefined without a bias or with dBias: false.
 * @param {Frame} frame
 * @param {number} at index of the argument
 * @param {BiasShape | undefined} shape
 * @param {Upstream} upstream
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
 * Makes the tensor (H) to which the core adds the gradient of the sinks. Returns undefined without sinks.
 * @param {Frame} frame
 * @param {number} at index of the argument
 * @param {ForwardShapes} shapes
 */
export function makeSinksGradient(frame, at, { sinks }) {
  if (!sinks) return undefined;
  const gradient = frame.zeros([...sinks]);
  frame.setPointer(at, gradient);
  return gradient;
}
