// Tensors are arrays in the linear memory of an instance. Their addresses leave this file only through pointerOf, for
// files in this folder. All accesses call it, and it throws for a disposed tensor.

import { argumentError, HeadlightError } from '../check/errors.ts';
import { INSPECT } from '../check/inspect.ts';
import { elementCount, formatShape, sameShape } from '../check/shape.ts';
import type { NestedNumbers, TensorPart } from '../types.ts';
import { DISPOSE } from './disposable.ts';
import type { Memory } from './memory.ts';

/** Protects the constructor: only this folder has the key. */
export const KEY = Symbol('tensor.js');

/** Returns the address of a block. Throws for a disposed tensor. */
export let pointerOf: (owner: Tensor | Staged) => number;

/** Returns a view of the values. It must not be passed to users, because mayChange ignores it. */
export let viewOf: (tensor: Tensor) => Float32Array;

/**
 * The real shape: an own property of the tensor may hide `shape`, and a wrong size would let the core access other
 * memory. Likewise sizeOf.
 */
export let shapeOf: (tensor: Tensor) => readonly number[];

export let sizeOf: (tensor: Tensor) => number;

/** Attaches an object, disposed of with the tensor or when another is attached with the same role. */
export let own: (tensor: Tensor, role: string, part: { dispose(): void } | null) => void;

/** Returns true if the values may have changed without touch(), through a view returned by `data`. */
export let mayChange: (tensor: Tensor) => boolean;

/** Records a change of the values, by the core or through viewOf. */
export let touch: (tensor: Tensor) => void;

export let isWatched: (tensor: Tensor) => boolean;

export let setWatched: (tensor: Tensor) => void;

/** Makes a tensor unusable without freeing its values, and returns their address. */
export let moveOut: (tensor: Tensor) => number;

export let versionOf: (tensor: Tensor) => number;

/** The tensor of each view, so that a view in use keeps its tensor reachable and the finalizer does not run. */
const owners = new WeakMap();

/** The last frozen shape. It is reused, because the next tensor often has the same shape, and freezing takes time. */
let lastShape: readonly number[] = Object.freeze([]);

const frozen = (shape: readonly number[]) =>
  sameShape(shape, lastShape) ? lastShape : (lastShape = Object.freeze([...shape]));

/** A block in linear memory that is not a tensor, such as values that are copied for one call. */
export class Staged {
  declare pointer: number;

  constructor(pointer: number) {
    this.pointer = pointer;
  }
}

/** A block that begins at element `start` of a tensor and is valid as long as the tensor. */
export const partOf = (tensor: Tensor, start: number) => new Staged(pointerOf(tensor) + 4 * start);

/** Throws if one of the tensors has been disposed of. It is called before the first of them is changed. */
export let checkAlive: (tensors: Record<string, Tensor>, caller: string, what: string) => void;

function refuse({ shape }: Tensor, caller: string, parameter: string): never {
  throw new HeadlightError('DISPOSED', `${caller}: ${parameter} ${formatShape(shape)} has been disposed`, {
    parameter,
  });
}

/** Maximum empty arrays in a result of toArray. A tensor of shape [2³¹,0] has no elements, so its size is no limit. */
const MAX_EMPTY = 2 ** 20;

/** Number of values that console.log shows. */
const MAX_SHOWN = 6;

/** A float32 array in linear memory, row-major. */
export class Tensor {
  #memory: Memory;
  #pointer: number;
  #view: Float32Array | null = null;
  #parts: Record<string, { dispose(): void } | null> | null = null;
  #version = 0;
  #watched = false;
  #shape: readonly number[];
  #size: number;

  constructor(memory: Memory, pointer: number, shape: readonly number[], key: symbol) {
    if (key !== KEY) throw new TypeError('Tensor has no public constructor: use hl.tensor(), hl.zeros() …');
    this.#memory = memory;
    this.#pointer = pointer;
    this.#shape = frozen(shape);
    this.#size = elementCount(shape);
  }

  get shape(): readonly number[] {
    return this.#shape;
  }

  /** Number of elements. */
  get size(): number {
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
    // This is also true for a detached view, because it may have been written to before the memory grew.
    mayChange = (tensor) => tensor.#view !== null;
  }

  /** A live view: writing to it writes to the tensor. Read `data` again after any call that may allocate. */
  get data(): Float32Array {
    this.checkOwner(this.#memory, 'Tensor.data', 'tensor');
    if (!this.#view || !this.#memory.isLive(this.#view)) {
      this.#view = viewOf(this);
      owners.set(this.#view, this);
    }
    return this.#view;
  }

  /** Returns an independent copy of the values. */
  copy() {
    this.checkOwner(this.#memory, 'Tensor.copy', 'tensor');
    return this.#memory.copyOf(pointerOf(this), this.#size);
  }

  /** Returns the values as nested arrays, or a number for shape []. */
  toArray(): NestedNumbers {
    const shape = this.#shape;
    const data = this.copy();
    const lists = elementCount(shape.slice(0, shape.indexOf(0)));
    if (data.length === 0 && lists > MAX_EMPTY)
      throw new HeadlightError('SHAPE', `toArray: ${formatShape(shape)} would be ${lists} empty arrays`, {
        expected: `at most ${MAX_EMPTY}`,
        got: lists,
      });
    let at = 0;
    const nest = (axis: number): NestedNumbers =>
      (axis === shape.length ? data[at++] : Array.from({ length: shape[axis] }, () => nest(axis + 1))) as NestedNumbers;
    return nest(0);
  }

  /**
   * Returns a copy at some indices of the first axes: `at(0, 2, -1)` of (B,H,T,S) is one row, (S). Negative indices
   * count from the end. The part is flat; with an index for every axis it is a number.
   */
  at(...indices: number[]): TensorPart {
    const shape = this.#shape;
    this.checkOwner(this.#memory, 'at', 'tensor');
    let first = 0;
    indices.forEach((index, axis) => {
      const n = shape[axis];
      if (!(Number.isInteger(index) && index >= -n && index < n))
        throw argumentError(
          'at',
          `indices[${axis}]`,
          index,
          `${n > 0 ? `an integer from -${n} to ${n - 1}` : 'none'} for axis ${axis} of ${formatShape(shape)}`,
        );
      first = first * n + (index < 0 ? index + n : index);
    });
    const size = elementCount(shape.slice(indices.length));
    const part = this.#memory.copyOf(pointerOf(this) + 4 * first * size, size);
    return (indices.length < shape.length ? part : part[0]) as TensorPart;
  }

  /** Frees the memory. A second call does nothing. */
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

  /** Returns the line that console.log of Node shows, with the shape and the first values. @internal */
  [INSPECT]() {
    if (this.disposed || this.#memory.disposed || this.#size === 0) return this.toString();
    const first = Array.from(viewOf(this).subarray(0, MAX_SHOWN), (x) => Number(x.toPrecision(5)));
    return `${this}: ${first.join(', ')}${this.#size > MAX_SHOWN ? ', …' : ''}`;
  }

  /** @internal */
  checkOwner(memory: Memory, caller: string, parameter: string) {
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

/** Finds the tensors in a value, at any depth. */
export function tensorsIn(value: unknown, found: Set<Tensor> = new Set(), seen: Set<unknown> = new Set()) {
  if (value instanceof Tensor) found.add(value);
  else if (value !== null && typeof value === 'object' && !ArrayBuffer.isView(value) && !seen.has(value)) {
    seen.add(value);
    const parts = value instanceof Map || value instanceof Set || Array.isArray(value) ? value : Object.values(value);
    for (const part of parts) tensorsIn(part, found, seen);
  }
  return found;
}
