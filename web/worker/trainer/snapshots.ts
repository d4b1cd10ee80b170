// Snapshots of the weights during training. When there are too many, every other snapshot is dropped.

import type { Tensor } from '../../model/types.ts';
export type Weights = Record<string, Tensor>;
export type Snapshot = { step: number; state: Weights };

const MAX_SNAPSHOTS = 48;

export class Snapshots {
  /** In the order of their steps. */
  #all: Snapshot[];

  #most: number;

  constructor(all: readonly Snapshot[] = [], most: number = MAX_SNAPSHOTS) {
    this.#all = [...all];
    this.#most = most;
  }

  get all() {
    return [...this.#all];
  }

  get steps() {
    return this.#all.map(({ step }) => step);
  }

  get last() {
    return this.#all[this.#all.length - 1];
  }

  at(i: number) {
    return this.#all[i];
  }

  /** Adds a snapshot of a step, unless there is one already. */
  add(step: number, stateOf: () => Weights) {
    if (this.#all.at(-1)?.step === step) return;
    this.#all.push({ step, state: stateOf() });
    if (this.#all.length > this.#most) this.#all = everyOther(this.#all, true);
  }

  removeLast() {
    this.#all.pop();
  }
}

export const everyOther = <T>(list: readonly T[], withLast = false) =>
  list.filter((_, i) => i % 2 === 0 || (withLast && i === list.length - 1));
