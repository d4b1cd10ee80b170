// Snapshots of the weights during training. When there are too many, every other snapshot is dropped.

/** @import { Tensor } from '../../store/types.js' */
/** @typedef {Record<string, Tensor>} Weights */
/** @typedef {{ step: number, state: Weights }} Snapshot */

const MAX_SNAPSHOTS = 48;

export class Snapshots {
  /** In the order of their steps. @type {Snapshot[]} */
  #all;

  #most;

  /** @param {readonly Snapshot[]} [all] @param {number} [most] */
  constructor(all = [], most = MAX_SNAPSHOTS) {
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

  /** @param {number} i */
  at(i) {
    return this.#all[i];
  }

  /** Adds a snapshot of a step, unless there is one already. @param {number} step @param {() => Weights} stateOf */
  add(step, stateOf) {
    if (this.#all.at(-1)?.step === step) return;
    this.#all.push({ step, state: stateOf() });
    if (this.#all.length > this.#most) this.#all = everyOther(this.#all, true);
  }

  removeLast() {
    this.#all.pop();
  }
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {boolean} [withLast]
 */
export const everyOther = (list, withLast = false) =>
  list.filter((_, i) => i % 2 === 0 || (withLast && i === list.length - 1));
