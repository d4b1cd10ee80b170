// One call of the core: its arguments, what it borrows, what it makes, and what it keeps for backward.

import { argumentError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { Source } from '../check/tensorlike.js';
import { clear } from './collector.js';
import { pointerOf, Staged, shapeOf, sizeOf, Tensor, touch, viewOf } from './tensor.js';

/** @import { NumberArray, TensorLike } from '../check/tensorlike.js' */
/** @import { Entry } from '../../../dist/abi/abi.js' */
/** @import { Memory } from './memory.js' */

/** @typedef {Tensor | Source} Input an array that has been read: a tensor, or numbers that are copied in */

/** What a forward pass in training leaves for its backward: its arguments, and copies of what they point to. */
export class Kept {
  /**
   * @param {Int32Array} ints
   * @param {Tensor[]} tensors
   */
  constructor(ints, tensors) {
    this.ints = ints;
    this.tensors = tensors;
    this.disposed = false;
  }

  dispose() {
    this.disposed = true;
    for (const tensor of this.tensors) tensor.dispose();
  }
}

/** @type {Readonly<Record<string, unknown>>} */
const NO_OUT = Object.freeze({});

/** One call of the core: its arguments, what it borrows and what it makes. */
export class Frame {
  /** @type {Staged[]} */
  #borrowed = [];
  /** @type {Tensor[]} */
  #made = [];
  /** @type {Tensor[]} */
  #inputs = [];
  /** In training: copies of everything given, and of which tensors. @type {Map<unknown, Tensor> | null} */
  #kept = null;
  /** @type {Readonly<Record<string, unknown>>} */
  #out = NO_OUT;
  #memory;
  #caller = '';
  /** The arguments, kept apart from linear memory, which may grow while they are gathered. */
  ints;
  floats;
  /**
   * That of a bias, as given and as the core reads it.
   * @type {{ given: readonly number[], wide: readonly number[] } | undefined}
   */
  biasShape;

  /**
   * @param {Memory} memory
   * @param {number} words that the arguments of every call take
   */
  constructor(memory, words) {
    this.#memory = memory;
    this.ints = new Int32Array(words);
    this.floats = new Float32Array(this.ints.buffer);
  }

  /** @param {string} caller */
  open(caller) {
    this.#caller = caller;
    this.ints.fill(0);
    this.biasShape = undefined;
  }

  /**
   * @param {number} at
   * @param {Tensor | Staged | undefined} block
   */
  point(at, block) {
    if (block) this.ints[at] = pointerOf(block);
  }

  /** From here on what is given is copied, to stay until backward: whatever becomes of the tensors themselves. */
  train() {
    this.#kept = new Map();
  }

  /** Room for what the forward pass of a layer leaves to its backward. */
  saveLayer() {
    return this.#keep(this.#memory.savedSize(this.#caller, this.ints));
  }

  /** Room that stays until backward. @param {number} size */
  save(size) {
    return this.#keep(size);
  }

  /** @param {number} size */
  #keep(size) {
    const tensor = this.#memory.unscoped(this.#memory.empty([size], this.#caller));
    this.#kept?.set(tensor, tensor);
    return tensor;
  }

  /** Everything kept, for one backward. */
  kept() {
    const kept = new Kept(this.ints.slice(), [...(this.#kept?.values() ?? [])]);
    this.#kept = null;
    return kept;
  }

  /** Begins with the arguments of the forward pass. @param {Kept} kept */
  resume(kept) {
    this.ints.set(kept.ints);
  }

  /** @param {Entry} name */
  run(name) {
    this.#memory.run(name, this.#caller, this.ints);
    if (this.#out !== NO_OUT) this.#touchOut();
  }

  /** A parameter of a layer may be among them: then the layer packs it anew. */
  #touchOut() {
    for (const tensor of Object.values(this.#out)) if (tensor instanceof Tensor) touch(tensor);
  }

  /**
   * @param {Uint8Array | Int32Array | Float32Array} values
   * @returns {Tensor | Staged}
   */
  stage(values) {
    return this.#copyIn(this.#memory.detached(values));
  }

  /** @param {Uint8Array | Int32Array | Float32Array} values that do not lie in linear memory */
  #copyIn(values) {
    const block = this.room(Math.ceil(values.byteLength / 4));
    this.#memory.write(pointerOf(block), values);
    return block;
  }

  /** Room for what is made on the way; in training it stays until backward. @param {number} words */
  room(words) {
    return this.#kept ? this.#keep(words) : this.#borrow(words);
  }

  /** @param {number} words */
  #borrow(words) {
    const staged = new Staged(this.#memory.alloc(words, this.#caller));
    this.#borrowed.push(staged);
    return staged;
  }

  /**
   * Reads an argument of the caller, once: getters and proxies may run the caller's code here, and nowhere else. A
   * call reads all its arguments before it takes the first.
   * @param {TensorLike} value
   * @param {string} parameter
   * @returns {Input}
   */
  read(value, parameter) {
    return value instanceof Tensor ? value : this.#memory.readSource(value, this.#caller, parameter);
  }

  /**
   * The numbers of an input where they lie: until the next block is made.
   * @param {Input} input
   * @param {string} parameter
   * @returns {NumberArray}
   */
  values(input, parameter) {
    if (!(input instanceof Tensor)) return input.data;
    input.checkOwner(this.#memory, this.#caller, parameter);
    return viewOf(input);
  }

  /** As values, as float32. @param {Input} input @param {string} parameter */
  floatsOf(input, parameter) {
    return input instanceof Tensor ? /** @type {Float32Array} */ (this.values(input, parameter)) : input.floats();
  }

  /**
   * A tensor is taken as it is, anything else is copied in until the call ends.
   * @param {TensorLike | Input} value
   * @param {string} parameter
   * @returns {{ block: Tensor | Staged, shape: readonly number[] }}
   */
  take(value, parameter) {
    if (value instanceof Tensor) {
      value.checkOwner(this.#memory, this.#caller, parameter);
      this.#inputs.push(value);
      return { block: this.#kept ? this.#copyOf(value) : value, shape: shapeOf(value) };
    }
    const source = value instanceof Source ? value : this.#memory.readSource(value, this.#caller, parameter);
    return { block: this.#copyIn(source.floats()), shape: source.shape };
  }

  /** The one copy for backward of a tensor that may be given several times. @param {Tensor} tensor */
  #copyOf(tensor) {
    const made = this.#kept?.get(tensor);
    if (made) return made;
    const copy = this.#keep(sizeOf(tensor));
    viewOf(copy).set(viewOf(tensor));
    this.#kept?.set(tensor, copy);
    return copy;
  }

  /**
   * @param {number[]} shape
   * @returns {Tensor}
   */
  make(shape) {
    const tensor = this.#memory.empty(shape, this.#caller);
    this.#made.push(tensor);
    return tensor;
  }

  /** @param {number[]} shape */
  zeros(shape) {
    const tensor = this.make(shape);
    viewOf(tensor).fill(0);
    return tensor;
  }

  /** Which tensors of the caller's are to take results. @param {unknown} out */
  give(out) {
    if (out === undefined) return;
    if (out instanceof Tensor) this.#out = { output: out };
    else if (out !== null && typeof out === 'object') this.#out = { ...out };
    else throw argumentError(this.#caller, 'out', out, 'a Tensor or { output, weights, scores }');
    const unknown = Object.keys(this.#out).find((name) => name !== 'output' && name !== 'weights' && name !== 'scores');
    if (unknown)
      throw argumentError(this.#caller, `out.${unknown}`, this.#out[unknown], 'only output, weights and scores');
  }

  /**
   * A tensor for a result: the caller's, or a new one.
   * @param {number} at
   * @param {'output' | 'weights' | 'scores'} name
   * @param {number[]} shape
   * @returns {Tensor}
   */
  result(at, name, shape) {
    const given = this.#out[name];
    if (given !== undefined) this.#checkOut(`out.${name}`, given, shape);
    const tensor = given === undefined ? this.make(shape) : /** @type {Tensor} */ (given);
    this.point(at, tensor);
    return tensor;
  }

  /**
   * A tensor of its own with these values.
   * @param {TensorLike | Input} value
   * @param {string} parameter
   * @returns {Tensor}
   */
  copy(value, parameter) {
    const { block, shape } = this.take(value, parameter);
    const tensor = this.make([...shape]);
    viewOf(tensor).set(this.#memory.floats(pointerOf(block), tensor.size));
    return tensor;
  }

  /**
   * The 32-bit words that a block begins with, as the core has left them.
   * @param {Tensor | Staged} block
   * @param {number} count
   */
  words(block, count) {
    return new Int32Array(this.#memory.floats(pointerOf(block), count).slice().buffer);
  }

  /**
   * @param {string} parameter
   * @param {unknown} given
   * @param {number[]} shape
   */
  #checkOut(parameter, given, shape) {
    if (!(given instanceof Tensor))
      throw argumentError(this.#caller, parameter, given, `a Tensor ${formatShape(shape)}`);
    given.checkOwner(this.#memory, this.#caller, parameter);
    const found = shapeOf(given);
    if (!sameShape(found, shape)) throw shapeError(this.#caller, parameter, found, formatShape(shape));
    const twice =
      this.#inputs.includes(given) || Object.values(this.#out).filter((tensor) => tensor === given).length > 1;
    if (twice)
      throw argumentError(this.#caller, parameter, given, 'a tensor that is neither an input nor another result');
  }

  /** @param {boolean} done */
  close(done) {
    for (const staged of this.#borrowed) this.#memory.free(staged.pointer);
    if (!done) for (const tensor of [...this.#made, ...(this.#kept?.values() ?? [])]) tensor.dispose();
    this.#kept = null;
    clear(this.#borrowed);
    clear(this.#made);
    clear(this.#inputs);
    this.#out = NO_OUT;
  }
}
