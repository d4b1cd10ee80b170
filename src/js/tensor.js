// Tensors and the linear memory they live in. The only file that knows pointers and memory.buffer.

import { HeadlightError } from './errors.js';
import { elementCount, formatShape, readTensorLike } from './shape.js';

/** @import { TensorLike } from './shape.js' */

/**
 * @typedef {object} CoreExports what the .wasm exports, as src/core/headlight.h documents it
 * @property {WebAssembly.Memory} memory
 * @property {(count: number) => number} hl_tensor_alloc
 * @property {(block: number) => number} hl_tensor_free
 * @property {() => number} hl_memory_used
 * @property {() => number} hl_memory_reserved
 * @property {() => number} hl_memory_limit
 * @property {(bytes: number) => void} hl_memory_set_limit
 * @property {(args: number) => number} hl_attention
 * @property {(args: number) => number} hl_multihead_forward
 * @property {(present: number, past: number, fresh: number, batch: number, kvHeads: number, pastKeys: number,
 *   keys: number, width: number, batchStride: number, headStride: number, rowStride: number) => number} hl_cache_append
 * @property {() => number} hl_simd
 * @property {() => number} hl_attention_args_size
 * @property {() => number} hl_multihead_args_size
 */

/** @typedef {'pointer' | 'int' | 'float'} FieldKind */

// The argument structs of headlight.h, field by field; `name:3` takes three places.
const ATTENTION = `
  pointer: output weights scores query key value appendedKey appendedValue
           mask bias keyPadding validLens offset keep
  int: outputStride:3 queryStride:3 keyStride:3 valueStride:3 maskStride:4 biasStride:4
       keyPaddingStride:2 validLensStride:2
       batch heads kvHeads queries keys width valueWidth appended
       weightsMode scoresStep causal windowLeft windowRight seed:2
  float: scale softcap fill dropout`;
const MULTIHEAD = `${ATTENTION}
  pointer: layerQuery layerKey layerValue pastKey pastValue presentKey presentValue
           wq wk wv wo bq bk bv bo biasKey biasValue
  int: queryDim keyDim valueDim outputDim pastKeys zeroAttention`;

const STRUCTS = { attention: parseStruct(ATTENTION), multihead: parseStruct(MULTIHEAD) };

/** @param {string} text */
function parseStruct(text) {
  /** @type {Map<string, { kind: FieldKind, at: number, places: number }>} */
  const fields = new Map();
  let kind = /** @type {FieldKind} */ ('int');
  let at = 0;
  for (const word of text.trim().split(/\s+/)) {
    if (word.endsWith(':')) {
      kind = /** @type {FieldKind} */ (word.slice(0, -1));
      continue;
    }
    const [name, places = '1'] = word.split(':');
    fields.set(name, { kind, at, places: Number(places) });
    at += Number(places);
  }
  return { fields, places: at };
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit++;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(2)} ${units[unit]}`;
}

/** Linear memory of one instance: makes tensors, writes argument structs, calls the core. */
export class Memory {
  /** @type {CoreExports} */
  #core;
  /** Where argument structs are written: one call runs at a time. */
  #arguments = 0;
  #disposed = false;
  /** @type {Set<Tensor> | null} */
  #scope = null;
  #unreachable = new FinalizationRegistry((/** @type {number} */ pointer) => {
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  });

  /**
   * @param {CoreExports} core
   * @param {number} limit
   */
  constructor(core, limit) {
    this.#core = core;
    core.hl_memory_set_limit(limit);
    this.#arguments = this.#alloc(STRUCTS.multihead.places, 'load');
  }

  get usage() {
    this.check('info');
    return {
      used: this.#core.hl_memory_used(),
      reserved: this.#core.hl_memory_reserved(),
      limit: this.#core.hl_memory_limit(),
    };
  }

  /** @param {string} caller */
  check(caller) {
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this Headlight instance has been disposed`);
  }

  dispose() {
    this.#disposed = true;
  }

  /**
   * @param {number} floats
   * @param {string} caller
   * @param {string} [what]
   */
  #alloc(floats, caller, what = 'workspace') {
    this.check(caller);
    const pointer = this.#core.hl_tensor_alloc(floats) >>> 0;
    if (pointer === 0) throw this.#outOfMemory(caller, `${what} needs ${formatBytes(floats * 4)}`, floats * 4);
    return pointer;
  }

  /**
   * @param {string} caller
   * @param {string} what
   * @param {number} [got]
   */
  #outOfMemory(caller, what, got) {
    const { used, limit } = this.usage;
    return new HeadlightError(
      'OUT_OF_MEMORY',
      `${caller}: out of memory: ${what}; ${formatBytes(used)} of the limit of ${formatBytes(limit)} are in use`,
      { expected: limit, got },
    );
  }

  /**
   * @param {number[]} shape
   * @param {string} caller
   * @returns {Tensor} contents undefined
   */
  empty(shape, caller) {
    const pointer = this.#alloc(elementCount(shape), caller, `a tensor ${formatShape(shape)}`);
    const tensor = new Tensor(this, pointer, shape, KEY);
    this.#unreachable.register(tensor, pointer, tensor);
    this.#scope?.add(tensor);
    return tensor;
  }

  /**
   * @param {TensorLike} value
   * @param {string} caller
   * @param {string} parameter
   * @param {number[]} [shape]
   */
  tensor(value, caller, parameter, shape) {
    const source = readTensorLike(value, caller, parameter, shape);
    const values = this.#detached(source.floats());
    const tensor = this.empty(source.shape, caller);
    tensor.data.set(values);
    return tensor;
  }

  /**
   * @param {Tensor} tensor
   * @param {number} pointer
   */
  release(tensor, pointer) {
    this.#unreachable.unregister(tensor);
    this.#scope?.delete(tensor);
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  }

  /**
   * @param {number} pointer
   * @param {number} length
   */
  floats(pointer, length) {
    return new Float32Array(this.#core.memory.buffer, pointer, length);
  }

  /** @param {Float32Array} view */
  isCurrent(view) {
    return view.buffer === this.#core.memory.buffer;
  }

  /**
   * Runs `fn`; of the tensors made meanwhile only those found in its result stay.
   * @template T
   * @param {() => T} fn
   * @returns {T}
   */
  scope(fn) {
    const outer = this.#scope;
    const made = (this.#scope = new Set());
    /** @type {Set<Tensor>} */
    let kept = new Set();
    try {
      const result = fn();
      if (typeof (/** @type {any} */ (result)?.then) === 'function') {
        throw new HeadlightError('ARGUMENT', 'scope: the function must be synchronous, it returned a promise', {
          parameter: 'fn',
        });
      }
      kept = tensorsIn(result);
      return result;
    } finally {
      this.#scope = outer;
      for (const tensor of made) {
        if (kept.has(tensor)) outer?.add(tensor);
        else tensor.dispose();
      }
    }
  }

  /**
   * One call of the core: what it borrows is given back, and what it makes is freed should it fail.
   * @template T
   * @param {string} caller
   * @param {(frame: Frame) => T} fn
   * @returns {T}
   */
  frame(caller, fn) {
    this.check(caller);
    const frame = new Frame(this, caller, KEY);
    let done = false;
    try {
      const result = fn(frame);
      done = true;
      return result;
    } finally {
      frame.close(done);
    }
  }

  /**
   * A live view would be lost where making room grows the memory.
   * @template {Uint8Array | Int32Array | Float32Array} T
   * @param {T} values
   * @returns {T}
   */
  #detached(values) {
    return values.buffer === this.#core.memory.buffer ? /** @type {T} */ (values.slice()) : values;
  }

  /**
   * Copies into linear memory.
   * @param {Uint8Array | Int32Array | Float32Array} values
   * @param {string} caller
   */
  stage(values, caller) {
    const { buffer, byteOffset, byteLength } = this.#detached(values);
    const pointer = this.#alloc(Math.ceil(byteLength / 4), caller);
    new Uint8Array(this.#core.memory.buffer, pointer, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
    return pointer;
  }

  /** @param {number} pointer */
  unstage(pointer) {
    this.#core.hl_tensor_free(pointer);
  }

  /**
   * @param {'attention' | 'multihead'} kind
   * @param {string} caller
   * @param {Record<string, unknown>} values
   */
  run(kind, caller, values) {
    const { fields, places } = STRUCTS[kind];
    const ints = new Int32Array(this.#core.memory.buffer, this.#arguments, places).fill(0);
    const floats = this.floats(this.#arguments, places);
    for (const [name, value] of Object.entries(values)) {
      const field = fields.get(name);
      if (!field) throw new TypeError(`no field ${name} in the arguments of ${kind}`);
      if (value === undefined || value === null) continue;
      if (field.kind === 'pointer') ints[field.at] = pointerOf(value);
      else if (field.kind === 'float') floats[field.at] = Number(value);
      else ints.set(Array.isArray(value) ? value : [Number(value)], field.at);
    }
    const core = kind === 'attention' ? this.#core.hl_attention : this.#core.hl_multihead_forward;
    this.#settle(core(this.#arguments), caller);
  }

  /**
   * present (B,G,P+S,D) = past, then fresh.
   * @param {string} caller
   * @param {Tensor} present
   * @param {Tensor | Staged} past
   * @param {Tensor | Staged} fresh
   * @param {{ batch: number, kvHeads: number, past: number, keys: number, width: number, stride: number[] }} sizes
   */
  append(caller, present, past, fresh, { batch, kvHeads, past: pastKeys, keys, width, stride }) {
    const [from, before, after] = [pointerOf(present), pointerOf(past), pointerOf(fresh)];
    const [perBatch, perHead, perRow] = stride;
    this.#settle(
      this.#core.hl_cache_append(from, before, after, batch, kvHeads, pastKeys, keys, width, perBatch, perHead, perRow),
      caller,
    );
  }

  /**
   * @param {number} status
   * @param {string} caller
   */
  #settle(status, caller) {
    if (status === 0) return;
    if (status === 1) throw this.#outOfMemory(caller, 'the workspace does not fit');
    throw new HeadlightError('ARGUMENT', `${caller}: the core refused its arguments (status ${status})`, { got: status });
  }
}

/** A proof that a constructor is called from this file. */
const KEY = Symbol('tensor.js');

/** @type {WeakMap<object, () => number>} */
const pointers = new WeakMap();

/** @param {unknown} owner */
function pointerOf(owner) {
  const pointer = pointers.get(/** @type {object} */ (owner));
  if (!pointer) throw new TypeError('not in linear memory');
  return pointer();
}

/** Bytes or int32s copied into linear memory for one call. */
export class Staged {
  /** @param {number} pointer */
  constructor(pointer) {
    pointers.set(this, () => pointer);
  }
}

/** What one call of the core borrows and makes. */
export class Frame {
  /** @type {Staged[]} */
  #borrowed = [];
  /** @type {Tensor[]} */
  #made = [];
  #memory;
  #caller;

  /**
   * @param {Memory} memory
   * @param {string} caller
   * @param {symbol} key
   */
  constructor(memory, caller, key) {
    if (key !== KEY) throw new TypeError('Frame has no public constructor');
    this.#memory = memory;
    this.#caller = caller;
  }

  /**
   * @param {Uint8Array | Int32Array | Float32Array} values
   * @returns {Staged}
   */
  stage(values) {
    const staged = new Staged(this.#memory.stage(values, this.#caller));
    this.#borrowed.push(staged);
    return staged;
  }

  /**
   * A tensor is taken as it is, anything else is copied in until the call ends.
   * @param {TensorLike} value
   * @param {string} parameter
   * @returns {{ block: Tensor | Staged, shape: readonly number[] }}
   */
  take(value, parameter) {
    if (value instanceof Tensor) {
      value.checkOwner(this.#memory, this.#caller, parameter);
      return { block: value, shape: value.shape };
    }
    const source = readTensorLike(value, this.#caller, parameter);
    return { block: this.stage(source.floats()), shape: source.shape };
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

  /** @param {boolean} done */
  close(done) {
    for (const staged of this.#borrowed) this.#memory.unstage(pointerOf(staged));
    if (!done) for (const tensor of this.#made) tensor.dispose();
  }
}

/**
 * @param {unknown} value
 * @param {Set<Tensor>} [found]
 * @param {Set<unknown>} [seen]
 */
function tensorsIn(value, found = new Set(), seen = new Set()) {
  if (value instanceof Tensor) found.add(value);
  else if (value !== null && typeof value === 'object' && !ArrayBuffer.isView(value) && !seen.has(value)) {
    seen.add(value);
    const parts = value instanceof Map || value instanceof Set || Array.isArray(value) ? value : Object.values(value);
    for (const part of parts) tensorsIn(part, found, seen);
  }
  return found;
}

/** A live view keeps its tensor alive, so that the finalizer cannot free what is still being read. */
const owners = new WeakMap();

/** A float32 array in linear memory, row-major. */
export class Tensor {
  #memory;
  #pointer;
  /** @type {Float32Array | null} */
  #view = null;
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
    this.shape = Object.freeze([...shape]);
    /** @type {number} */
    this.size = elementCount(shape);
    pointers.set(this, () => this.#pointer);
  }

  /**
   * A live view: writing to it writes to the tensor. Take it anew after any call that may allocate.
   * @returns {Float32Array}
   */
  get data() {
    this.checkOwner(this.#memory, 'Tensor.data', 'tensor');
    if (!this.#view || !this.#memory.isCurrent(this.#view)) {
      this.#view = this.#memory.floats(this.#pointer, this.size);
      owners.set(this.#view, this);
    }
    return this.#view;
  }

  /** A copy of the values that stays. */
  copy() {
    return this.data.slice();
  }

  /**
   * The values as nested arrays; of shape [] it is the number itself.
   * @returns {any}
   */
  toArray() {
    const { data, shape } = this;
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
  }

  get disposed() {
    return this.#disposed;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
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
      throw new HeadlightError('DISPOSED', `${caller}: ${parameter} ${formatShape(this.shape)} has been disposed`, { parameter });
    }
    if (this.#memory !== memory) {
      throw new HeadlightError('ARGUMENT', `${caller}: ${parameter} belongs to another Headlight instance; pass its copy()`, {
        parameter,
      });
    }
  }
}
