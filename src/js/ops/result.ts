// The result of attention() and of the layers.

import { HeadlightError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Tensor } from '../memory/tensor.ts';
import type { AttentionGradients, BackwardOptions } from './gradients.ts';
import type { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './visibility.ts';

/** A tensor if the option that requests it is set, otherwise undefined. */
export type Given<Choice> = [Choice] extends [false | undefined]
  ? undefined
  : [Extract<Choice, false | undefined>] extends [never]
    ? Tensor
    : Tensor | undefined;

/** The tensors that attention returns. The options determine which of them exist. dispose() frees all of them. */
export class AttentionResult<
  W extends WeightsChoice = WeightsChoice,
  S extends ScoresChoice = ScoresChoice,
  P extends PastChoice = PastChoice,
  B extends BiasChoice = BiasChoice,
> {
  /** (B,H,T,Dv), in the layout of the query. */
  declare output: Tensor;
  /** (B,H,T,S), or (B,T,S) with weights: 'mean'. */
  declare weights: Given<W>;
  /** (B,H,T,S), at the step that the option `scores` selects. */
  declare scores: Given<S>;
  /** (B,G,P+S,D), for pastKey of the next call. */
  declare presentKey: Given<P>;
  /** (B,G,P+S,Dv), for pastValue of the next call. */
  declare presentValue: Given<P>;

  #backward: ((dOutput: TensorLike, options: BackwardOptions<any>) => AttentionGradients<any, any>) | undefined;

  constructor(
    {
      output,
      weights,
      scores,
      presentKey,
      presentValue,
    }: { output: Tensor; weights?: Tensor; scores?: Tensor; presentKey?: Tensor; presentValue?: Tensor },
    backward?: (dOutput: TensorLike, options: BackwardOptions<any>) => AttentionGradients<any, any>,
  ) {
    this.#backward = backward;
    this.output = output;
    this.weights = weights as Given<W>;
    this.scores = scores as Given<S>;
    this.presentKey = presentKey as Given<P>;
    this.presentValue = presentValue as Given<P>;
  }

  /**
   * Computes gradients of query, key, value and bias from those of the output and of the returned weights. Once, on a
   * result of attention() with train: true; frees the saved copies of the inputs and the output.
   */
  backward<D extends boolean | undefined = true>(
    dOutput: TensorLike,
    options: BackwardOptions<D> = {},
  ): AttentionGradients<B, D> {
    if (!this.#backward)
      throw new HeadlightError(
        'STATE',
        'backward: this result is not from attention() with train: true; for a layer, call the backward of the layer',
      );
    return this.#backward(dOutput, options);
  }

  dispose() {
    this.output.dispose();
    this.weights?.dispose();
    this.scores?.dispose();
    this.presentKey?.dispose();
    this.presentValue?.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
