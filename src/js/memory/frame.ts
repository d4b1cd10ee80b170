// Manages a call of the core: its arguments, its temporary blocks, its results, and the copies that it saves for
// backward.

import type { Entry } from '../../../dist/abi/abi.js';
import { argumentError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import { type NumberArray, Source, type TensorLike } from '../check/tensorlike.ts';
import { clear } from './collector.ts';
import type { Memory } from './memory.ts';
import { pointerOf, Staged, shapeOf, sizeOf, Tensor, touch, viewOf } from './tensor.ts';

/**
 * result of read() for an array argument: a tensor, or numbers to copy to linear
 *   memory
 */
export type Input = Tensor | Source;

/**
 * Data that a forward pass in training saves for its backward pass: the arguments, and copies of the blocks to which
 * they point.
 */
export class Saved {
  declare ints: Int32Array;
  declare tensors: Tensor[];
  declare disposed: boolean;

  constructor(ints: Int32Array, tensors: Tensor[]) {
    this.ints = ints;
    this.tensors = tensors;
    this.disposed = false;
  }

  dispose() {
    this.disposed = true;
    for (const tensor of this.tensors) tensor.dispose();
  }
}

const NO_OUTPUTS: Readonly<Record<string, unknown>> = Object.freeze({});

/** One call of the core: its arguments, temporary blocks and results. */
export class Frame {
  #temporary: Staged[] = [];
  #made: Tensor[] = [];
  #inputs: Tensor[] = [];
  /** In training, the saved copy of each input tensor. A saved block that is not a copy of an input is mapped to itself. */
  #saved: Map<Tensor, Tensor> | null = null;
  #outputs: Readonly<Record<string, unknown>> = NO_OUTPUTS;
  #memory: Memory;
  #caller = '';
  /** The argument struct. It is outside linear memory, because that may grow before the struct is complete. */
  ints: Int32Array<ArrayBuffer>;
  floats: Float32Array<ArrayBuffer>;
  /**
   * Shapes of the bias: given is the shape of the argument, wide the shape after short rows are padded to the number of
   * keys.
   */
  biasShape: { given: readonly number[]; wide: readonly number[] } | undefined;

  /** @param words size of the largest argument struct in 32-bit words */
  constructor(memory: Memory, words: number) {
    this.#memory = memory;
    this.ints = new Int32Array(words);
    this.floats = new Float32Array(this.ints.buffer);
  }

  /** Resets the arguments for a new call. */
  open(caller: string) {
    this.#caller = caller;
    this.ints.fill(0);
    this.biasShape = undefined;
  }

  /**
   * @param at index of the argument
   * @param block undefined leaves the null pointer
   */
  setPointer(at: number, block: Tensor | Staged | undefined) {
    if (block) this.ints[at] = pointerOf(block);
  }

  /**
   * Switches to training. Afterwards the call saves copies of its inputs for backward, so that the caller may change or
   * free the inputs.
   */
  train() {
    this.#saved = new Map();
  }

  /** Allocates the block in which a multi-head layer saves its values for backward. */
  saveLayerForBackward() {
    return this.saveForBackward(this.#memory.savedSize(this.#caller, this.ints));
  }

  /**
   * Allocates a block that stays until backward.
   * @param size in floats
   */
  saveForBackward(size: number) {
    const tensor = this.#memory.unscoped(this.#memory.empty([size], this.#caller));
    this.#saved?.set(tensor, tensor);
    return tensor;
  }

  /**
   * Returns everything that is saved for backward. The caller must dispose of it, because this frame no longer frees it
   * if the call fails.
   */
  saved() {
    const saved = new Saved(this.ints.slice(), [...(this.#saved?.values() ?? [])]);
    this.#saved = null;
    return saved;
  }

  /** Sets the arguments to those of the forward pass. */
  restore(saved: Saved) {
    this.ints.set(saved.ints);
  }

  /** Calls the function of the core. */
  run(name: Entry) {
    this.#memory.run(name, this.#caller, this.ints);
    if (this.#outputs !== NO_OUTPUTS) this.#touchOutputs();
  }

  /**
   * Records that outputs have changed, because an output may be a parameter of a layer, which must then be packed
   * again.
   */
  #touchOutputs() {
    for (const tensor of Object.values(this.#outputs)) if (tensor instanceof Tensor) touch(tensor);
  }

  /** Copies values into linear memory. The copy is freed when the call ends or, in training, after backward. */
  copyIn(values: Uint8Array | Int32Array | Float32Array): Tensor | Staged {
    return this.#copyDetached(this.#memory.detached(values));
  }

  /** values: outside linear memory, which may grow here */
  #copyDetached(values: Uint8Array | Int32Array | Float32Array) {
    const block = this.scratch(Math.ceil(values.byteLength / 4));
    this.#memory.write(pointerOf(block), values);
    return block;
  }

  /** Allocates a block that is freed when the call ends or, in training, after backward. */
  scratch(words: number) {
    return this.#saved ? this.saveForBackward(words) : this.#allocTemporary(words);
  }

  #allocTemporary(words: number) {
    const staged = new Staged(this.#memory.alloc(words, this.#caller));
    this.#temporary.push(staged);
    return staged;
  }

  /**
   * Reads an array argument. Getters and proxy traps of the argument run code of the caller here and nowhere else. So a
   * call must read all its arguments before it passes the first one to input().
   */
  read(value: TensorLike, parameter: string): Input {
    return value instanceof Tensor ? value : this.#memory.readSource(value, this.#caller, parameter);
  }

  /**
   * Returns the numbers of an input without a copy. If they are a view of linear memory, they are valid until the next
   * allocation.
   */
  values(input: Input, parameter: string): NumberArray {
    if (!(input instanceof Tensor)) return input.data;
    input.checkOwner(this.#memory, this.#caller, parameter);
    return viewOf(input);
  }

  /** Returns the numbers of an input as float32. They are valid as long as those of values(). */
  floatsOf(input: Input, parameter: string) {
    return input instanceof Tensor ? (this.values(input, parameter) as Float32Array) : input.floats();
  }

  /**
   * Returns an input in linear memory. A tensor is not copied, except in training. Anything else is copied to linear
   * memory and freed when the call ends.
   */
  input(value: TensorLike | Input, parameter: string): { block: Tensor | Staged; shape: readonly number[] } {
    if (value instanceof Tensor) {
      value.checkOwner(this.#memory, this.#caller, parameter);
      this.#inputs.push(value);
      return { block: this.#saved ? this.#savedCopy(value) : value, shape: shapeOf(value) };
    }
    const source = value instanceof Source ? value : this.#memory.readSource(value, this.#caller, parameter);
    return { block: this.#copyDetached(source.floats()), shape: source.shape };
  }

  /** Returns the copy of a tensor for backward. If the tensor is several inputs, there is only one copy. */
  #savedCopy(tensor: Tensor) {
    const existing = this.#saved?.get(tensor);
    if (existing) return existing;
    const copy = this.saveForBackward(sizeOf(tensor));
    viewOf(copy).set(viewOf(tensor));
    this.#saved?.set(tensor, copy);
    return copy;
  }

  /**
   * Makes a tensor that the call returns. It is freed if the call fails.
   * @returns tensor with undefined contents
   */
  make(shape: number[]): Tensor {
    const tensor = this.#memory.empty(shape, this.#caller);
    this.#made.push(tensor);
    return tensor;
  }

  zeros(shape: number[]) {
    const tensor = this.make(shape);
    viewOf(tensor).fill(0);
    return tensor;
  }

  /**
   * Sets the tensors of the caller to which results are written.
   * @param out the option `out`
   */
  setOutputs(out: unknown) {
    if (out === undefined) return;
    if (out instanceof Tensor) this.#outputs = { output: out };
    else if (out !== null && typeof out === 'object') this.#outputs = { ...out };
    else throw argumentError(this.#caller, 'out', out, 'a Tensor or { output, weights, scores }');
    const unknown = Object.keys(this.#outputs).find(
      (name) => name !== 'output' && name !== 'weights' && name !== 'scores',
    );
    if (unknown)
      throw argumentError(
        this.#caller,
        `out.${unknown}`,
        this.#outputs[unknown],
        'no such result, only output, weights and scores',
      );
  }

  /**
   * Returns the tensor for a result, either the caller's tensor or a new one. Sets the pointer to it in the arguments.
   * @param at index of the argument
   */
  result(at: number, name: 'output' | 'weights' | 'scores', shape: number[]): Tensor {
    const given = this.#outputs[name];
    if (given !== undefined) this.#checkOutput(`out.${name}`, given, shape);
    const tensor = given === undefined ? this.make(shape) : (given as Tensor);
    this.setPointer(at, tensor);
    return tensor;
  }

  /** Makes a tensor with the values of an input. */
  copy(value: TensorLike | Input, parameter: string): Tensor {
    const { block, shape } = this.input(value, parameter);
    const tensor = this.make([...shape]);
    viewOf(tensor).set(this.#memory.floats(pointerOf(block), tensor.size));
    return tensor;
  }

  /** Returns a copy of the first 32-bit words of a block. */
  words(block: Tensor | Staged, count: number) {
    return new Int32Array(this.#memory.floats(pointerOf(block), count).slice().buffer);
  }

  #checkOutput(parameter: string, given: unknown, shape: number[]) {
    if (!(given instanceof Tensor))
      throw argumentError(this.#caller, parameter, given, `a Tensor ${formatShape(shape)}`);
    given.checkOwner(this.#memory, this.#caller, parameter);
    const found = shapeOf(given);
    if (!sameShape(found, shape)) throw shapeError(this.#caller, parameter, found, formatShape(shape));
    const twice =
      this.#inputs.includes(given) || Object.values(this.#outputs).filter((tensor) => tensor === given).length > 1;
    if (twice)
      throw argumentError(this.#caller, parameter, given, 'a tensor that is neither an input nor another result');
  }

  /**
   * Frees the temporary blocks, and after a failure also the results.
   * @param done false after a failure
   */
  close(done: boolean) {
    for (const staged of this.#temporary) this.#memory.free(staged.pointer);
    if (!done) for (const tensor of [...this.#made, ...(this.#saved?.values() ?? [])]) tensor.dispose();
    this.#saved = null;
    clear(this.#temporary);
    clear(this.#made);
    clear(this.#inputs);
    this.#outputs = NO_OUTPUTS;
  }
}
