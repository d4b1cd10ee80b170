// What attention() and the layer give.

import { HeadlightError } from '../check/errors.js';
import { DISPOSE } from '../memory/disposable.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { AttentionGradients, BackwardOptions } from './gradients.js' */
/** @import { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './visibility.js' */

/**
 * A tensor where the option that asks for it is given.
 * @template Choice
 * @typedef {[Choice] extends [false | undefined] ? undefined
 *   : [Extract<Choice, false | undefined>] extends [never] ? Tensor : Tensor | undefined} Given
 */

/**
 * Which tensors there are follows from the options. dispose() frees all of them.
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
    /** In the query's form. @type {Tensor} */
    this.output = output;
    /** (B,H,T,S), or (B,T,S) where the mean was asked for. @type {Given<W>} */
    this.weights = /** @type {Given<W>} */ (weights);
    /** (B,H,T,S) at the step asked for. @type {Given<S>} */
    this.scores = /** @type {Given<S>} */ (scores);
    /** (B,G,P+S,D): to be the next call's pastKey. @type {Given<P>} */
    this.presentKey = /** @type {Given<P>} */ (presentKey);
    /** (B,G,P+S,Dv) @type {Given<P>} */
    this.presentValue = /** @type {Given<P>} */ (presentValue);
  }

  /**
   * From the gradient of the output, and of the returned weights, to those of query, key, value and bias. Once for a
   * result of attention() with train: true; what that has kept, copies of its inputs and its output, is freed with it.
   * @template {boolean | undefined} [D=true]
   * @param {TensorLike} dOutput
   * @param {BackwardOptions<D>} [options]
   * @returns {AttentionGradients<B, D>}
   */
  backward(dOutput, options = {}) {
    if (!this.#backward)
      throw new HeadlightError(
        'STATE',
        'backward: this result was not made by attention() with train: true; a layer has a backward of its own',
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
