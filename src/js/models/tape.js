// Records operations and computes their gradients in reverse order.

import { sizeOf, viewOf } from '../memory/tensor.js';

/** @import { Calls, Memory, PlainCall } from '../memory/memory.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Weight } from './weights.js' */

/**
 * infer: computes values only. train: also computes the gradients of parameters, and applies dropout. differentiate:
 * computes the gradients of values, not of parameters, without dropout.
 * @typedef {'infer' | 'train' | 'differentiate'} Mode
 */

export class Tape {
  /** @type {{ output: Tensor, reverse: (gradient: Tensor) => void }[]} */
  #records = [];
  /**
   * True until the first value is captured whose gradient is needed. Operations before it are not recorded, because
   * they do not depend on this value.
   */
  #waits;
  #paused = false;
  /** Tensors that dispose() frees. @type {Tensor[]} */
  #owned = [];
  /** @type {Map<Tensor, Tensor>} */
  #gradients = new Map();

  /** @param {Memory} memory @param {string} caller the public method, for error messages @param {Mode} [mode] */
  constructor(memory, caller, mode = 'infer') {
    this.memory = memory;
    this.caller = caller;
    /** True if dropout is applied and the gradients of parameters are computed. */
    this.train = mode === 'train';
    /** True if the gradients of values are computed, including edited values. */
    this.differentiates = mode === 'differentiate';
    /** True if operations are recorded, and all tensors are valid until dispose(). */
    this.records = mode !== 'infer';
    this.#waits = this.differentiates;
  }

  /** Keeps a tensor valid beyond dispose(). @param {Tensor} tensor */
  release(tensor) {
    this.#owned = this.#owned.filter((other) => other !== tensor);
    return tensor;
  }

  /** Returns a tensor that is valid until dispose() if operations are recorded, else until its scope ends.
   * @param {readonly number[]} shape
   */
  make(shape) {
    if (!this.records) return this.memory.temporary(shape, this.caller);
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
   * Returns the gradient of a parameter, to which an operation adds, or undefined if only gradients of values are
   * computed.
   * @param {Weight} [weight]
   */
  gradientOf(weight) {
    return this.train ? weight?.gradient : undefined;
  }

  /**
   * Records how the gradient of an operation is computed, if operations are recorded.
   * @param {Tensor} output of the operation
   * @param {(gradient: Tensor) => void} reverse adds the gradients of the operation's inputs, computed from the
   *   gradient of its output
   */
  record(output, reverse) {
    if (this.records && !this.#waits && !this.#paused) this.#records.push({ output, reverse });
    return output;
  }

  /** Starts to record operations. */
  start() {
    this.#waits = false;
  }

  /**
   * Returns the result of fn, whose gradient is passed unchanged to x. The operations of fn are not recorded.
   * @param {Tensor} x
   * @param {() => Tensor} fn
   */
  straight(x, fn) {
    this.#paused = true;
    const y = fn();
    this.#paused = false;
    return this.record(y, (d) => this.accumulate(x, d));
  }

  /**
   * Returns a copy of x, possibly with another shape of the same size, and records its gradient.
   * @param {Tensor} x
   * @param {readonly number[]} [shape]
   */
  copy(x, shape = x.shape) {
    return this.record(this.duplicate(x, shape), (d) => this.accumulate(x, this.duplicate(d, x.shape)));
  }

  /** Returns a copy of x without recording its gradient. @param {Tensor} x @param {readonly number[]} [shape] */
  duplicate(x, shape = x.shape) {
    const y = this.make(shape);
    viewOf(y).set(viewOf(x));
    return y;
  }

  /** Adds dx to the gradient of x. dx may be shared, so it is not changed. @param {Tensor} x @param {Tensor} dx */
  accumulate(x, dx) {
    const before = this.#gradients.get(x);
    if (before) {
      const sum = this.make(x.shape);
      this.call('hl_add', sum, before, dx, sizeOf(x));
      this.#gradients.set(x, sum);
    } else this.#gradients.set(x, dx);
  }

  /** Returns the gradient of x after backward(), or undefined if no output depends on x. @param {Tensor} x */
  gradient(x) {
    return this.#gradients.get(x);
  }

  /**
   * Computes the gradients of all recorded tensors from the gradients of outputs, and adds the gradients of parameters.
   * @param {[Tensor, Tensor][]} outputs
   */
  backward(outputs) {
    for (const [tensor, gradient] of outputs) this.accumulate(tensor, gradient);
    this.#paused = true;
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
