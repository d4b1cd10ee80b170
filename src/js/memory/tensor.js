// Tensors: what lies in linear memory and belongs to somebody. Pointers leave this file only through pointerOf, which
// is for the files beside it.

import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from './disposable.js';

/** @import { Memory } from './memory.js' */

/** A proof that the constructor is called from this folder. */
export const KEY = Symbol('tensor.js');

/** @type {(owner: Tensor | Staged) => number} */
export let pointerOf;

/** The values, as `data` gives them, but not handed out. @type {(tensor: Tensor) => Float32Array} */
export let viewOf;

/** Makes something part of a tensor: it is disposed with it, or by its successor. @type {(tensor: Tensor, role: string, part: { dispose(): void } | null) => void} */
export let own;

/** Whether the values may have changed unseen, through a view that was handed out. @type {(tensor: Tensor) => boolean} */
export let mayChange;

/** Says that the values have been changed, by the core or through viewOf. @type {(tensor: Tensor) => void} */
export let touch;

/** How often that has been said. @type {(tensor: Tensor) => number} */
export let versionOf;

/** A live view keeps its tensor alive, so that the finalizer cannot free what is still being read. */
const owners = new WeakMap();

/** Of the last tensor: the next one often has the same, and freezing takes time. @type {readonly number[]} */
let lastShape = Object.freeze([]);

/** @param {readonly number[]} shape */
const frozen = (shape) => (sameShape(shape, lastShape) ? lastShape : (lastShape = Object.freeze([...shape])));

/** Bytes or int32s copied into linear memory for one call. */
export class Staged {
  /** @param {number} pointer */
  constructor(pointer) {
    this.pointer = pointer;
  }
}

/** A float32 array in linear memory, row-major. */
export class Tensor {
  #memory;
  #pointer;
  /** @type {Float32Array | null} */
  #view = null;
  /** @type {Record<string, { dispose(): void } | null> | null} */
  #parts = null;
  #version = 0;
  #disposed = false;

  /**
   * @param {Memory} memory
   * @param {number} pointer
   * @param {readonly number[]} shape
   * @param {symbol} key
   */
  constructor(memory, pointer, shape, key) {
    if (key !== KEY) throw new TypeError('Tensor has no public constructor: use hl.tensor(), hl.zeros() …');
    this.#memory = memory;
    this.#pointer = pointer;
    /** @type {readonly number[]} */
    this.shape = frozen(shape);
    /** @type {number} */
    this.size = elementCount(shape);
  }

  static {
    pointerOf = (owner) => (owner instanceof Staged ? owner.pointer : owner.#pointer);
    viewOf = (tensor) => tensor.#memory.floats(tensor.#pointer, tensor.size);
    own = (tensor, role, part) => {
      tensor.#parts ??= {};
      tensor.#parts[role]?.dispose();
      tensor.#parts[role] = part;
    };
    touch = (tensor) => void tensor.#version++;
    versionOf = (tensor) => tensor.#version;
    // A view that growing memory has detached may have been written to before.
    mayChange = (tensor) => tensor.#view !== null;
  }

  /**
   * A live view: writing to it writes to the tensor. Take it anew after any call that may allocate.
   * @returns {Float32Array}
   */
  get data() {
    this.checkOwner(this.#memory, 'Tensor.data', 'tensor');
    if (!this.#view || !this.#memory.isLive(this.#view)) {
      this.#view = this.#memory.floats(this.#pointer, this.size);
      owners.set(this.#view, this);
    }
    return this.#view;
  }

  /** A copy of the values that stays. */
  copy() {
    this.checkOwner(this.#memory, 'Tensor.copy', 'tensor');
    return new Float32Array(viewOf(this));
  }

  /**
   * The values as nested arrays; of shape [] it is the number itself.
   * @returns {any}
   */
  toArray() {
    const { shape } = this;
    const data = this.copy();
    let at = 0;
    /** @param {number} axis @returns {unknown} */
    const nest = (axis) =>
      axis === shape.length ? data[at++] : Array.from({ length: shape[axis] }, () => nest(axis + 1));
    return nest(0);
  }

  /** Gives the memory back; a second time does nothing. */
  dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#view = null;
    this.#memory.release(this, this.#pointer);
    for (const part of Object.values(this.#parts ?? {})) part?.dispose();
  }

  get disposed() {
    return this.#disposed;
  }

  [DISPOSE]() {
    this.dispose();
  }

  toString() {
    return `Tensor ${formatShape(this.shape)}${this.#disposed ? ' (disposed)' : ''}`;
  }

  /**
   * @internal
   * @param {Memory} memory
   * @param {string} caller
   * @param {string} parameter
   */
  checkOwner(memory, caller, parameter) {
    this.#memory.check(caller);
    if (this.#disposed) {
      throw new HeadlightError('DISPOSED', `${caller}: ${parameter} ${formatShape(this.shape)} has been disposed`, {
        parameter,
      });
    }
    if (this.#memory !== memory) {
      throw new HeadlightError(
        'ARGUMENT',
        `${caller}: ${parameter} belongs to another Headlight instance; pass its copy()`,
        {
          parameter,
        },
      );
    }
  }
}

/**
 * The tensors in a value, at any depth.
 * @param {unknown} value
 * @param {Set<Tensor>} [found]
 * @param {Set<unknown>} [seen]
 */
export function tensorsIn(value, found = new Set(), seen = new Set()) {
  if (value instanceof Tensor) found.add(value);
  else if (value !== null && typeof value === 'object' && !ArrayBuffer.isView(value) && !seen.has(value)) {
    seen.add(value);
    const parts = value instanceof Map || value instanceof Set || Array.isArray(value) ? value : Object.values(value);
    for (const part of parts) tensorsIn(part, found, seen);
  }
  return found;
}
