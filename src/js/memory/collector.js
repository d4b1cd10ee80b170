// Frees tensors that are garbage-collected without dispose().

import { pointerOf } from './tensor.js';

/** @import { Tensor } from './tensor.js' */

/**
 * Maximum number of tensors that wait for registration, and maximum floats of such a tensor. Such tensors stay
 * reachable until they are registered.
 */
const [MAX_PENDING, MAX_SMALL] = [16, 4096];

/** Empties a list. This is faster than setting the length. @param {unknown[]} list */
export function clear(list) {
  while (list.length > 0) list.pop();
}

/** Manages the finalizers of the tensors of one memory. */
export class Collector {
  #finalizers;
  /**
   * Small tensors that are not registered yet, because registration takes time, and most tensors are disposed of before
   * the garbage collector runs.
   * @type {Tensor[]}
   */
  #pending = [];
  /** Registry of an object without references. The finalizer of this object runs when the garbage collector has run. */
  #sentinel = new FinalizationRegistry(() => {
    this.#hasSentinel = false;
    this.#registerPending();
  });
  #hasSentinel = false;

  /** @param {(pointer: number) => void} free */
  constructor(free) {
    this.#finalizers = new FinalizationRegistry(free);
  }

  /** @param {Tensor} tensor */
  watch(tensor) {
    if (tensor.size > MAX_SMALL) {
      this.#register(tensor);
      return;
    }
    if (this.#pending.length === MAX_PENDING) this.#registerPending();
    if (!this.#hasSentinel) this.#sentinel.register({}, undefined);
    this.#hasSentinel = true;
    this.#pending.push(tensor);
  }

  /** @param {Tensor} tensor */
  unwatch(tensor) {
    const at = this.#pending.lastIndexOf(tensor);
    if (at < 0) this.#finalizers.unregister(tensor);
    else {
      const last = /** @type {Tensor} */ (this.#pending.pop());
      if (last !== tensor) this.#pending[at] = last;
    }
  }

  /** @param {Tensor} tensor */
  #register(tensor) {
    this.#finalizers.register(tensor, pointerOf(tensor), tensor);
  }

  #registerPending() {
    for (const tensor of this.#pending) this.#register(tensor);
    clear(this.#pending);
  }
}
