// The result of a transformer's forward().

import { DISPOSE } from '../memory/disposable.ts';

import type { Tensor } from '../memory/tensor.ts';

/** The tensors that forward() returns. dispose() frees all of them. */
export class ModelResult {
  /** (B,T,V), or (T,V) for ids (T); (B,classes) for a pooled head; undefined with `head: 'none'` */
  declare logits: Tensor;
  /** (B,T,C), after the final norm. */
  declare hidden: Tensor;
  /** (B,C), (B,2·C) with pool 'first-mean', or (B,poolDim) */
  declare pooled: Tensor | undefined;
  /** (B,2): logits of the head that the option relationship adds, if the model has it. */
  declare relationship: Tensor | undefined;
  /** The captured values by name. */
  declare captured: Record<string, Tensor>;

  constructor(
    {
      hidden,
      logits,
      pooled,
      relationship,
    }: { hidden: Tensor; logits?: Tensor; pooled?: Tensor; relationship?: Tensor },
    captured: Record<string, Tensor>,
  ) {
    this.logits = logits as Tensor;
    this.hidden = hidden;
    this.pooled = pooled;
    this.relationship = relationship;
    this.captured = captured;
  }

  /** All tensors of the result. */
  get tensors(): Tensor[] {
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
