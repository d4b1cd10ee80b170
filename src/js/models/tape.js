// Records operations and computes their gradients in reverse order.

import { sizeOf, viewOf } from '../memory/tensor.js';

/** @import { Calls, Memory, PlainCall } from '../memory/memory.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Tensor } from '../memory/tensor.js' */

export class Tape {
  /** @type {{ output: Tensor, reverse: (gradient: Tensor) => void }[]} */
  #records = [];
  /** Tensors that dispose() frees. @type {Tensor[]} */
  #owned = [];
  /** @type {Map<Tensor, Tensor>} */
  #gradients = new Map();

  /** @param {Memory} memory @param {string} caller the public method that errors name @param {boolean} train */
  constructor(memory, caller, train) {
    this.memory = memory;
    this.caller = caller;
    this.train = train;
  }

  /** Keeps a tensor beyond dispose(). @param {Tensor} tensor */
  release(tensor) {
    this.#owned = this.#owned.filter((other) => other !== tensor);
    return tensor;
  }

  /** A tensor that is valid until dispose() in training, else until its scope ends. @param {readonly number[]} shape */
  make(shape) {
    if (!this.train) return this.memory.temporary(shape, this.caller);
    const tensor = this.memory.unscoped(this.memory.empty([...shape], this.caller));
    this.#owned.push(tensor);
    return tensor;
  }

  /** @param {readonly number[]} shape @param {ArrayLike<number>} values */
  from(shape, values) {
    const tensor = this.make(shape);
    viewOf(tensor).set(values);
    return tensor;
  }

  /**
   * Allocates blocks that are freed when fn returns.
   * @template T
   * @param {(frame: Frame) => T} fn
   */
  frame(fn) {
    return this.memory.frame(this.caller, fn);
  }

  /**
   * Calls a function of the core that returns a status.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {Parameters<Calls[Name]>} args
   */
  call(name, ...args) {
    this.memory.call(name, this.caller, ...args);
  }

  /**
   * In training, notes how the gradient of an operation is computed.
   * @param {Tensor} output of the operation
   * @param {(gradient: Tensor) => void} reverse accumulates the gradients of its inputs from the gradient of its output
   */
  record(output, reverse) {
    if (this.train) this.#records.push({ output, reverse });
    return output;
  }

  /** Adds dx to the gradient of x. dx is not changed: it may be shared. @param {Tensor} x @param {Tensor} dx */
  accumulate(x, dx) {
    const before = this.#gradients.get(x);
    if (before) {
      const sum = this.make(x.shape);
      this.call('hl_add', sum, before, dx, sizeOf(x));
      this.#gradients.set(x, sum);
    } else this.#gradients.set(x, dx);
  }

  /**
   * Adds the gradients of the parameters, computed from the gradients of results.
   * @param {[Tensor, Tensor][]} outputs
   */
  backward(outputs) {
    for (const [tensor, gradient] of outputs) this.accumulate(tensor, gradient);
    for (const { output, reverse } of this.#records.reverse()) {
      const gradient = this.#gradients.get(output);
      if (gradient) reverse(gradient);
    }
  }

  dispose() {
    for (const tensor of this.#owned) tensor.dispose();
    this.#owned = [];
    this.#records = [];
    this.#gradients.clear();
  }
}
