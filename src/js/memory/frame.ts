// A call of the core: its arguments, temporary blocks, results, and the copies that it saves for backward.

import type { Entry } from '../../../dist/abi/abi.js';
import { argumentError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import { type NumberArray, Source, type TensorLike } from '../check/tensorlike.ts';
import { clear } from './collector.ts';
import type { Memory } from './memory.ts';
import { pointerOf, Staged, shapeOf, sizeOf, Tensor, touch, viewOf } from './tensor.ts';

/** an array argument that was read: a tensor, or numbers to copy to linear memory */
export type Input = Tensor | Source;

/** Saved data of a forward pass for its backward pass: the arguments, and copies of their blocks. */
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

export class Frame {
  #temporary: Staged[] = [];
  #made: Tensor[] = [];
  #inputs: Tensor[] = [];
  /**
   * In training, the saved copy of each input tensor. A saved block that is not a copy of an input is mapped to itself.
   */
  #saved: Map<Tensor, Tensor> | null = null;
  #outputs: Readonly<Record<string, unknown>> = NO_OUTPUTS;
  #memory: Memory;
  #caller = '';
  /** The argument struct. It is outside linear memory, because that may grow before the struct is complete. */
  ints: Int32Array<ArrayBuffer>;
  floats: Float32Array<ArrayBuffer>;
  /** given: of the argument; wide: after short rows are padded to the number of keys. */
  biasShape: { given: readonly number[]; wide: readonly number[] } | undefined;

  /** words: of the largest argument struct */
  constructor(memory: Memory, words: number) {
    this.#memory = memory;
    this.ints = new Int32Array(words);
    this.floats = new Float32Array(this.ints.buffer);
  }

  open(caller: string) {
    this.#caller = caller;
    this.ints.fill(0);
    this.biasShape = undefined;
  }

  /** at: index of the argument; block: undefined leaves the null pointer */
  setPointer(at: number, block: Tensor | Staged | undefined) {
    if (block) this.ints[at] = pointerOf(block);
  }

  /** Afterwards the call saves copies of its inputs for backward, so the caller may change or free them. */
  train() {
    this.#saved = new Map();
  }

  /** Allocates the block in which a multi-head layer saves its values for backward. */
  saveLayerForBackward() {
    return this.saveForBackward(this.#memory.savedSize(this.#caller, this.ints));
  }

  /** The block stays until backward. size: in floats. */
  saveForBackward(size: number) {
    const tensor = this.#memory.unscoped(this.#memory.empty([size], this.#caller));
    this.#saved?.set(tensor, tensor);
    return tensor;
  }

  /** The caller must dispose of it, because this frame no longer frees it if the call fails. */
  saved() {
    const saved = new Saved(this.ints.slice(), [...(this.#saved?.values() ?? [])]);
    this.#saved = null;
    return saved;
  }

  restore(saved: Saved) {
    this.ints.set(saved.ints);
  }

  run(name: Entry) {
    this.#memory.run(name, this.#caller, this.ints);
    if (this.#outputs !== NO_OUTPUTS) this.#touchOutputs();
  }

  /** An output may be a parameter of a layer, which must then be packed again. */
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
   * Reads an array argument. Its getters and proxy traps run the caller's code here and nowhere else, so a call reads
   * all arguments before it passes the first to input().
   */
  read(value: TensorLike, parameter: string): Input {
    return value instanceof Tensor ? value : this.#memory.readSource(value, this.#caller, parameter);
  }

  /** Does not copy. Views of linear memory are valid until the next allocation. */
  values(input: Input, parameter: string): NumberArray {
    if (!(input instanceof Tensor)) return input.data;
    input.checkOwner(this.#memory, this.#caller, parameter);
    return viewOf(input);
  }

  floatsOf(input: Input, parameter: string) {
    return input instanceof Tensor ? (this.values(input, parameter) as Float32Array) : input.floats();
  }

  /**
   * Returns an input in linear memory. A tensor is only copied in training, other input is freed when the call ends.
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

  /** Makes a tensor with undefined contents, which is freed if the call fails. */
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

  /** Sets the caller's tensors for results. out: the option `out`. */
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

  /** Sets argument `at` to the tensor for a result: the caller's or a new one. */
  result(at: number, name: 'output' | 'weights' | 'scores', shape: number[]): Tensor {
    const given = this.#outputs[name];
    if (given !== undefined) this.#checkOutput(`out.${name}`, given, shape);
    const tensor = given === undefined ? this.make(shape) : (given as Tensor);
    this.setPointer(at, tensor);
    return tensor;
  }

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

  /** Frees temporary blocks and, after a failure, results. */
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
