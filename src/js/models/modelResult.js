// The result of a transformer's forward().

import { DISPOSE } from '../memory/disposable.js';

/** @import { Tensor } from '../memory/tensor.js' */

/** The tensors that forward() returns. dispose() frees all of them. */
export class ModelResult {
  /**
   * @param {{ hidden: Tensor, logits?: Tensor, pooled?: Tensor, relationship?: Tensor }} tensors
   * @param {Record<string, Tensor>} captured
   */
  constructor({ hidden, logits, pooled, relationship }, captured) {
    /**
     * (B,T,V), or (T,V) if the ids were (T); (B,classes) for a pooled head. A model with `head: 'none'` has no logits:
     * they are undefined.
     * @type {Tensor}
     */
    this.logits = /** @type {Tensor} */ (logits);
    /** (B,T,C), after the final norm. @type {Tensor} */
    this.hidden = hidden;
    /** (B,C), (B,2·C) with pool 'first-mean', or (B,poolDim) @type {Tensor | undefined} */
    this.pooled = pooled;
    /** (B,2): logits of the head that the option relationship adds, if the model has it. @type {Tensor | undefined} */
    this.relationship = relationship;
    /** The captured values by name. @type {Record<string, Tensor>} */
    this.captured = captured;
  }

  /** All tensors of the result. @returns {Tensor[]} */
  get tensors() {
    const { hidden, logits, pooled, relationship, captured } = this;
    return [hidden, logits, pooled, relationship, ...Object.values(captured)].flatMap((tensor) => tensor ?? []);
  }

  dispose() {
    for (const tensor of this.tensors) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
