// The shared part of the backward passes of attention() and of layers: options, and gradients of bias and sinks.

import { checkOptions, readBoolean } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { elementCount, formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';

import type { Frame, Input } from '../memory/frame.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import type { Given } from './result.ts';
import type { BiasChoice } from './visibility.ts';

/** Gradients of the inputs. Each has the shape of its input. */
export type AttentionGradients<
  B extends BiasChoice = BiasChoice,
  D extends boolean | undefined = boolean | undefined,
> = { dQuery: Tensor; dKey: Tensor; dValue: Tensor; dBias: BiasGradient<B, D>; dSinks?: Tensor };
/** Gradient of the bias. It exists if there is a bias and the option dBias is not false. */
export type BiasGradient<B extends BiasChoice, D extends boolean | undefined> = [D] extends [true | undefined]
  ? Given<B>
  : [D] extends [false]
    ? undefined
    : Tensor | undefined;
export type BackwardOptions<D extends boolean | undefined = boolean | undefined> = {
  /** the gradient of the weights that forward returned, (B,H,T,S) or (B,T,S) */
  dWeights?: TensorLike | undefined;
  /**
   * false omits the gradient of the bias, which takes time, on one thread if the bias broadcasts over heads or batch
   */
  dBias?: D | undefined;
};
/** gradients passed to backward */
export type Upstream = { dOutput: Input; dWeights: Input | undefined; dBias: boolean };
export type ForwardShapes = {
  dOutput: readonly number[];
  dWeights?: readonly number[];
  bias?: BiasShape;
  sinks?: readonly number[];
};
/** given: of the argument; wide: after short rows are padded to the number of keys. */
export type BiasShape = { given: readonly number[]; wide: readonly number[] };

const CALLER = 'backward';

/** dOutput: of the shape of the output */
export function readUpstream(frame: Frame, dOutput: TensorLike, options: BackwardOptions): Upstream {
  checkOptions(CALLER, options, ['dWeights', 'dBias']);
  const { dWeights, dBias = true } = options;
  return {
    dBias: readBoolean(CALLER, 'dBias', dBias),
    dOutput: frame.read(dOutput, 'dOutput'),
    dWeights: dWeights === undefined ? undefined : frame.read(dWeights, 'dWeights'),
  };
}

export function setUpstream(
  frame: Frame,
  at: Record<'output' | 'weights', number>,
  { dOutput, dWeights }: Upstream,
  shapes: ForwardShapes,
) {
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

/** True without elements. The core must not run then: it would loop over sizes that memory does not limit. */
export const isEmpty = ({ dOutput, dWeights }: Upstream) =>
  elementCount(dOutput.shape) === 0 && (dWeights === undefined || elementCount(dWeights.shape) === 0);

/**
 * The core adds to a tensor, argument `at`. Returns a function that reduces it to the shape of the bias after the call,
 * or undefined without a bias or with dBias: false.
 */
export function makeBiasGradient(frame: Frame, at: number, shape: BiasShape | undefined, { dBias }: Upstream) {
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

/** The core adds to a tensor (H), argument `at`. Returns undefined without sinks. */
export function makeSinksGradient(frame: Frame, at: number, { sinks }: ForwardShapes) {
  if (!sinks) return undefined;
  const gradient = frame.zeros([...sinks]);
  frame.setPointer(at, gradient);
  return gradient;
}
