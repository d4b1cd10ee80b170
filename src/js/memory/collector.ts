// Frees tensors that are garbage-collected without dispose().

import { pointerOf, type Tensor } from './tensor.ts';

/** Tensors that wait for registration, and floats of such a tensor, at most. They stay reachable until then. */
const [MAX_PENDING, MAX_SMALL] = [16, 4096];

/** Empties a list. This is faster than setting the length. */
export function clear(list: unknown[]) {
  while (list.length > 0) list.pop();
}

export class Collector {
  #finalizers: FinalizationRegistry<number>;
  /**
   * Registration takes time, and most tensors are disposed of before the garbage collector runs, so these wait for it.
   */
  #pending: Tensor[] = [];
  /** Registry of an object without references. The finalizer of this object runs when the garbage collector has run. */
  #sentinel = new FinalizationRegistry(() => {
    this.#hasSentinel = false;
    this.#registerPending();
  });
  #hasSentinel = false;

  constructor(free: (pointer: number) => void) {
    this.#finalizers = new FinalizationRegistry(free);
  }

  watch(tensor: Tensor) {
    if (tensor.size > MAX_SMALL) {
      this.#register(tensor);
      return;
    }
    if (this.#pending.length === MAX_PENDING) this.#registerPending();
    if (!this.#hasSentinel) this.#sentinel.register({}, undefined);
    this.#hasSentinel = true;
    this.#pending.push(tensor);
  }

  unwatch(tensor: Tensor) {
    const at = this.#pending.lastIndexOf(tensor);
    if (at < 0) this.#finalizers.unregister(tensor);
    else {
      const last = this.#pending.pop() as Tensor;
      if (last !== tensor) this.#pending[at] = last;
    }
  }

  #register(tensor: Tensor) {
    this.#finalizers.register(tensor, pointerOf(tensor), tensor);
  }

  #registerPending() {
    for (const tensor of this.#pending) this.#register(tensor);
    clear(this.#pending);
  }
}
