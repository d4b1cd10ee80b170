// Frees the tensors that are garbage-collected without dispose().

import { pointerOf } from './tensor.js';

/** @import { Tensor } from './tensor.js' */

/** How many tensors, each of how many floats, may be kept from the collector, once, to spare their registration. */
const [MOST_YOUNG, SMALL] = [16, 4096];

/** Quicker than to set the length. @param {unknown[]} list */
export function clear(list) {
  while (list.length > 0) list.pop();
}

/** Watches the tensors of one memory. */
export class Collector {
  #unreachable;
  /**
   * Small tensors not registered yet: it takes time, and most are disposed of before the collector runs. @type
   * {Tensor[]}
   */
  #young = [];
  /** Watches an object that is garbage at once: so it tells that the collector has run. */
  #sentinel = new FinalizationRegistry(() => {
    this.#waiting = false;
    this.#registerYoung();
  });
  #waiting = false;

  /** @param {(pointer: number) => void} free */
  constructor(free) {
    this.#unreachable = new FinalizationRegistry(free);
  }

  /** @param {Tensor} tensor */
  watch(tensor) {
    if (tensor.size > SMALL) {
      this.#register(tensor);
      return;
    }
    if (this.#young.length === MOST_YOUNG) this.#registerYoung();
    if (!this.#waiting) this.#sentinel.register({}, undefined);
    this.#waiting = true;
    this.#young.push(tensor);
  }

  /** @param {Tensor} tensor */
  unwatch(tensor) {
    const at = this.#young.lastIndexOf(tensor);
    if (at < 0) this.#unreachable.unregister(tensor);
    else {
      const last = /** @type {Tensor} */ (this.#young.pop());
      if (last !== tensor) this.#young[at] = last;
    }
  }

  /** @param {Tensor} tensor */
  #register(tensor) {
    this.#unreachable.register(tensor, pointerOf(tensor), tensor);
  }

  #registerYoung() {
    for (const tensor of this.#young) this.#register(tensor);
    clear(this.#young);
  }
}
