// Tensors: arrays in linear memory that belong to somebody. Pointers leave this file only through pointerOf, which is
// for the files beside it, and which refuses a tensor that has been disposed: so does every access, since each asks it.

import { argumentError, HeadlightError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { elementCount, formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from './disposable.js';

/** @import { NestedNumbers } from '../types.js' */
/** @import { Memory } from './memory.js' */

/** A proof that the constructor is called from this folder. */
export const KEY = Symbol('tensor.js');

/** Where it lies. Throws where it has been disposed. @type {(owner: Tensor | Staged) => number} */
export let pointerOf;

/** The values, as `data` gives them, but not handed out. @type {(tensor: Tensor) => Float32Array} */
export let viewOf;

/**
 * As `shape` and `size`, but what stands on the tensor itself under these names does not count: a size that is not that
 * of the block would send the core beyond it.
 * @type {(tensor: Tensor) => readonly number[]}
 */
export let shapeOf;

/** @type {(tensor: Tensor) => number} */
export let sizeOf;

/**
 * Makes something part of a tensor: it is disposed with it, or by its successor.
 * @type {(tensor: Tensor, role: string, part: { dispose(): void } | null) => void}
 */
export let own;

/**
 * Whether the values may have changed unseen, through a view that was handed out.
 * @type {(tensor: Tensor) => boolean}
 */
export let mayChange;

/** Says that the values have been changed, by the core or through viewOf. @type {(tensor: Tensor) => void} */
export let touch;

/** Whether the collector watches it: what is always disposed of need not be. @type {(tensor: Tensor) => boolean} */
export let isWatched;

/** @type {(tensor: Tensor) => void} */
export let setWatched;

/** Ends a tensor without freeing its values. @type {(tensor: Tensor) => number} */
export let moveOut;

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

/**
 * All of them, before the first is touched.
 * @type {(tensors: Record<string, Tensor>, caller: string, what: string) => void}
 */
export let checkAlive;

/** @param {Tensor} tensor @param {string} caller @param {string} parameter @returns {never} */
function refuse({ shape }, caller, parameter) {
  throw new HeadlightError('DISPOSED', `${caller}: ${parameter} ${formatShape(shape)} has been disposed`, {
    parameter,
  });
}

/** As many empty arrays as toArray makes. Their number is not bounded by memory: [2³¹,0] has no elements. */
const MOST_EMPTY = 2 ** 20;

/** Values of a tensor that console.log shows. */
const MOST_SHOWN = 6;

/** A float32 array in linear memory, row-major. */
export class Tensor {
  #memory;
  #pointer;
  /** @type {Float32Array | null} */
  #view = null;
  /** @type {Record<string, { dispose(): void } | null> | null} */
  #parts = null;
  #version = 0;
  #watched = false;
  #shape;
  #size;

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
    this.#shape = frozen(shape);
    this.#size = elementCount(shape);
  }

  /** @returns {readonly number[]} */
  get shape() {
    return this.#shape;
  }

  /** Elements. @returns {number} */
  get size() {
    return this.#size;
  }

  static {
    pointerOf = (owner) =>
      owner instanceof Staged ? owner.pointer : owner.#pointer || refuse(owner, 'Headlight', 'tensor');
    viewOf = (tensor) => tensor.#memory.floats(pointerOf(tensor), tensor.#size);
    shapeOf = (tensor) => tensor.#shape;
    sizeOf = (tensor) => tensor.#size;
    checkAlive = (tensors, caller, what) => {
      for (const name in tensors) {
        const tensor = tensors[name];
        tensor.#memory.check(caller);
        if (tensor.#pointer === 0) refuse(tensor, caller, `${what}.${name}`);
      }
    };
    own = (tensor, role, part) => {
      tensor.#parts ??= {};
      tensor.#parts[role]?.dispose();
      tensor.#parts[role] = part;
    };
    touch = (tensor) => void tensor.#version++;
    versionOf = (tensor) => tensor.#version;
    isWatched = (tensor) => tensor.#watched;
    setWatched = (tensor) => void (tensor.#watched = true);
    moveOut = (tensor) => {
      const pointer = pointerOf(tensor);
      tensor.#pointer = 0;
      tensor.#view = null;
      return pointer;
    };
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
      this.#view = viewOf(this);
      owners.set(this.#view, this);
    }
    return this.#view;
  }

  /** A copy of the values that stays. */
  copy() {
    this.checkOwner(this.#memory, 'Tensor.copy', 'tensor');
    return this.#memory.copyOf(pointerOf(this), this.#size);
  }

  /**
   * The values as nested arrays; of shape [] it is the number itself.
   * @returns {NestedNumbers}
   */
  toArray() {
    const shape = this.#shape;
    const data = this.copy();
    const lists = elementCount(shape.slice(0, shape.indexOf(0)));
    if (data.length === 0 && lists > MOST_EMPTY)
      throw new HeadlightError('SHAPE', `toArray: ${formatShape(shape)} would be ${lists} empty arrays`, {
        expected: `at most ${MOST_EMPTY}`,
        got: lists,
      });
    let at = 0;
    /** @param {number} axis @returns {NestedNumbers} */
    const nest = (axis) =>
      /** @type {NestedNumbers} */ (
        axis === shape.length ? data[at++] : Array.from({ length: shape[axis] }, () => nest(axis + 1))
      );
    return nest(0);
  }

  /** Gives the memory back; a second time does nothing. */
  dispose() {
    const pointer = this.#pointer;
    if (pointer === 0) return;
    this.#pointer = 0;
    this.#view = null;
    this.#memory.release(this, pointer);
    for (const part of Object.values(this.#parts ?? {})) part?.dispose();
  }

  get disposed() {
    return this.#pointer === 0;
  }

  [DISPOSE]() {
    this.dispose();
  }

  toString() {
    return `Tensor ${formatShape(this.#shape)}${this.disposed ? ' (disposed)' : ''}`;
  }

  /** The line that Node's console.log shows: the shape and the first values. @internal */
  [INSPECT]() {
    if (this.disposed || this.#memory.disposed || this.#size === 0) return this.toString();
    const first = Array.from(viewOf(this).subarray(0, MOST_SHOWN), (x) => Number(x.toPrecision(5)));
    return `${this}: ${first.join(', ')}${this.#size > MOST_SHOWN ? ', …' : ''}`;
  }

  /**
   * @internal
   * @param {Memory} memory
   * @param {string} caller
   * @param {string} parameter
   */
  checkOwner(memory, caller, parameter) {
    if (!(#memory in this)) throw argumentError(caller, parameter, this, 'a Tensor that Headlight has made');
    this.#memory.check(caller);
    if (this.#pointer === 0) refuse(this, caller, parameter);
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
