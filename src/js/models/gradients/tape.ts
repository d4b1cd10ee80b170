// Records operations, and computes their gradients in reverse order.

import type { Frame } from '../../memory/frame.ts';

import type { Calls, Memory, PlainCall } from '../../memory/memory.ts';
import { sizeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import type { Weight } from '../weights.ts';

/**
 * train: gradients of parameters too, and dropout. differentiate: gradients of values, not of parameters, without
 * dropout.
 */
export type Mode = 'infer' | 'train' | 'differentiate';

export class Tape {
  declare memory: Memory;
  declare caller: string;
  /** True if dropout is applied and the gradients of parameters are computed. */
  declare train: boolean;
  /** True if the gradients of values are computed, including edited values. */
  declare differentiates: boolean;
  /** True if operations are recorded, and all tensors are valid until dispose(). */
  declare records: boolean;

  #records: { output: Tensor; reverse: (gradient: Tensor) => void }[] = [];
  /** Until the first value whose gradient is needed: operations before it do not depend on it and are not recorded. */
  #waits: boolean;
  #paused = false;
  /** Tensors that dispose() frees. */
  #owned: Tensor[] = [];
  #gradients: Map<Tensor, Tensor> = new Map();

  /** caller: the public method, for error messages */
  constructor(memory: Memory, caller: string, mode: Mode = 'infer') {
    this.memory = memory;
    this.caller = caller;
    this.train = mode === 'train';
    this.differentiates = mode === 'differentiate';
    this.records = mode !== 'infer';
    this.#waits = this.differentiates;
  }

  /** Keeps a tensor valid beyond dispose(). */
  release(tensor: Tensor) {
    this.#owned = this.#owned.filter((other) => other !== tensor);
    return tensor;
  }

  /** Returns a tensor that is valid until dispose() if operations are recorded, else until its scope ends. */
  make(shape: readonly number[]) {
    if (!this.records) return this.memory.temporary(shape, this.caller);
    const tensor = this.memory.unscoped(this.memory.empty([...shape], this.caller));
    this.#owned.push(tensor);
    return tensor;
  }

  from(shape: readonly number[], values: ArrayLike<number>) {
    const tensor = this.make(shape);
    viewOf(tensor).set(values);
    return tensor;
  }

  /** Allocates blocks that are freed when fn returns. */
  frame<T>(fn: (frame: Frame) => T) {
    return this.memory.frame(this.caller, fn);
  }

  call<Name extends PlainCall>(name: Name, ...args: Parameters<Calls[Name]>) {
    this.memory.call(name, this.caller, ...args);
  }

  /** Operations add to it; undefined if only gradients of values are computed. */
  gradientOf(weight?: Weight) {
    return this.train ? weight?.gradient : undefined;
  }

  /**
   * Has no effect unless operations are recorded. reverse: adds the gradients of the inputs, given that of the output.
   */
  record(output: Tensor, reverse: (gradient: Tensor) => void) {
    if (this.records && !this.#waits && !this.#paused) this.#records.push({ output, reverse });
    return output;
  }

  start() {
    this.#waits = false;
  }

  /** Returns the result of fn, whose gradient is passed unchanged to x. The operations of fn are not recorded. */
  straight(x: Tensor, fn: () => Tensor) {
    this.#paused = true;
    const y = fn();
    this.#paused = false;
    return this.record(y, (d) => this.accumulate(x, d));
  }

  /** Returns a copy of x, possibly with another shape of the same size, and records its gradient. */
  copy(x: Tensor, shape: readonly number[] = x.shape) {
    return this.record(this.duplicate(x, shape), (d) => this.accumulate(x, this.duplicate(d, x.shape)));
  }

  /** Returns a copy of x without recording its gradient. */
  duplicate(x: Tensor, shape: readonly number[] = x.shape) {
    const y = this.make(shape);
    viewOf(y).set(viewOf(x));
    return y;
  }

  /** Adds dx to the gradient of x. dx may be shared, so it is not changed. */
  accumulate(x: Tensor, dx: Tensor) {
    const before = this.#gradients.get(x);
    if (before) {
      const sum = this.make(x.shape);
      this.call('hl_add', sum, before, dx, sizeOf(x));
      this.#gradients.set(x, sum);
    } else this.#gradients.set(x, dx);
  }

  /** Returns the gradient of x after backward(), or undefined if no output depends on x. */
  gradient(x: Tensor) {
    return this.#gradients.get(x);
  }

  /**
   * Computes the gradients of all recorded tensors from the gradients of outputs, and adds the gradients of parameters.
   */
  backward(outputs: [Tensor, Tensor][]) {
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
