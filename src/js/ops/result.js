// The result of attention() and of the layers.

import { HeadlightError } from '../check/errors.js';
import { DISPOSE } from '../memory/disposable.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { AttentionGradients, BackwardOptions } from './gradients.js' */
/** @import { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './visibility.js' */

/**
 * A tensor if the option that requests it is set, otherwise undefined.
 * @template Choice
 * @typedef {[Choice] extends [false | undefined] ? undefined
 *   : [Extract<Choice, false | undefined>] extends [never] ? Tensor : Tensor | undefined} Given
 */

/**
 * The tensors that attention returns. The options determine which of them exist. dispose() frees all of them.
 * @template {WeightsChoice} [W=WeightsChoice]
 * @template {ScoresChoice} [S=ScoresChoice]
 * @template {PastChoice} [P=PastChoice]
 * @template {BiasChoice} [B=BiasChoice]
 */
export class AttentionResult {
  #backward;

  /**
   * @param {{ output: Tensor, weights?: Tensor, scores?: Tensor, presentKey?: Tensor, presentValue?: Tensor }} tensors
   * @param {(dOutput: TensorLike, options: BackwardOptions<any>) => AttentionGradients<any, any>} [backward]
   */
  constructor({ output, weights, scores, presentKey, presentValue }, backward) {
    this.#backward = backward;
    /** (B,H,T,Dv), in the layout of the query. @type {Tensor} */
    this.output = output;
    /** (B,H,T,S), or (B,T,S) with weights: 'mean'. @type {Given<W>} */
    this.weights = /** @type {Given<W>} */ (weights);
    /** (B,H,T,S), at the step that the option `scores` selects. @type {Given<S>} */
    this.scores = /** @type {Given<S>} */ (scores);
    /** (B,G,P+S,D), for pastKey of the next call. @type {Given<P>} */
    this.presentKey = /** @type {Given<P>} */ (presentKey);
    /** (B,G,P+S,Dv), for pastValue of the next call. @type {Given<P>} */
    this.presentValue = /** @type {Given<P>} */ (presentValue);
  }

  /**
   * Computes the gradients of query, key, value and bias from the gradients of the output and of the returned weights.
   * It can be called once, on a result of attention() with train: true, and frees the saved copies of the inputs and
   * the output.
   * @template {boolean | undefined} [D=true]
   * @param {TensorLike} dOutput of the shape of the output
   * @param {BackwardOptions<D>} [options]
   * @returns {AttentionGradients<B, D>}
   */
  backward(dOutput, options = {}) {
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
