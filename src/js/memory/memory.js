// The linear memory of one instance: allocates, copies in, and calls the core. The only file that knows memory.buffer.

import { STATUS, WORDS } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { Collector } from './collector.js';
import { Frame } from './frame.js';
import { KEY, pointerOf, Tensor, tensorsIn, viewOf } from './tensor.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { CoreExports, Entry, Functions } from '../../../dist/abi/abi.js' */
/** @import { Staged } from './tensor.js' */

/** The largest of the argument structs. */
const ARGUMENT_WORDS = Math.max(...Object.values(WORDS));

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

/** @typedef {Tensor | Staged | undefined} Block where something lies, or nowhere */
/** @typedef {Functions<Block>} Calls */
/** @typedef {{ [Name in keyof Calls]: Calls[Name] extends (...args: any) => number ? Name : never }[keyof Calls]} PlainCall */

/** Linear memory of one instance: makes tensors, writes argument structs, calls the core. */
export class Memory {
  /** @type {CoreExports} */
  #core;
  #linear;
  /** All of linear memory, as it was when last looked at: growing it detaches the view. */
  #heap = new Float32Array();
  /** Where argument structs are written: one call runs at a time. */
  #arguments = 0;
  #argumentWords = new Int32Array();
  #disposed = false;
  /** One for a call, another for a call made while its inputs are being read. @type {Frame[]} */
  #frames = [];
  #depth = 0;
  /** @type {Set<Tensor> | null} */
  #scope = null;
  #collector = new Collector((pointer) => {
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  });

  /**
   * @param {CoreExports} core
   * @param {WebAssembly.Memory} linear
   */
  constructor(core, linear) {
    this.#core = core;
    this.#linear = linear;
    this.#arguments = this.#alloc(ARGUMENT_WORDS, 'load');
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
   * @param {readonly number[]} [shape] of the tensor that it is for
   */
  #alloc(floats, caller, shape) {
    this.check(caller);
    const pointer = this.#core.hl_tensor_alloc(floats) >>> 0;
    if (pointer === 0)
      throw this.#outOfMemory(
        caller,
        `${shape ? `a tensor ${formatShape(shape)}` : 'workspace'} needs ${formatBytes(floats * 4)}`,
        floats * 4,
      );
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
    const pointer = this.#alloc(elementCount(shape), caller, shape);
    const tensor = new Tensor(this, pointer, shape, KEY);
    this.#collector.watch(tensor);
    this.#scope?.add(tensor);
    return tensor;
  }

  /**
   * A tensor-like as numbers that stay, also when this memory grows.
   * @param {TensorLike} value
   * @param {string} caller
   * @param {string} parameter
   */
  readSource(value, caller, parameter) {
    return readTensorLike(value, caller, parameter).apartFrom(this.#linear.buffer);
  }

  /**
   * @param {TensorLike} value
   * @param {string} caller
   * @param {string} parameter
   * @param {readonly number[]} [shape]
   */
  tensor(value, caller, parameter, shape) {
    const given = value instanceof Tensor ? { data: value.copy(), shape: value.shape } : value;
    const source = readTensorLike(given, caller, parameter, shape);
    const values = this.#detached(source.floats());
    const tensor = this.empty(source.shape, caller);
    viewOf(tensor).set(values);
    return tensor;
  }

  /**
   * @param {Tensor} tensor
   * @param {number} pointer
   */
  release(tensor, pointer) {
    this.#collector.unwatch(tensor);
    this.#scope?.delete(tensor);
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  }

  /**
   * @param {number} pointer
   * @param {number} length
   */
  floats(pointer, length) {
    return new Float32Array(this.#linear.buffer, pointer, length);
  }

  /** Linear memory up to there at least, in words. @param {number} end */
  #words(end) {
    if (this.#heap.length < end) this.#heap = new Float32Array(this.#linear.buffer);
    return this.#heap;
  }

  /** Growing the memory detaches every view of it, but where it is shared. @param {Float32Array} view */
  isLive(view) {
    return view.length > 0 && view.buffer.byteLength > 0;
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
    const frame = (this.#frames[this.#depth] ??= new Frame(this, ARGUMENT_WORDS));
    this.#depth++;
    frame.open(caller);
    let done = false;
    try {
      const result = fn(frame);
      done = true;
      return result;
    } finally {
      this.#depth--;
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
    return values.buffer === this.#linear.buffer ? /** @type {T} */ (values.slice()) : values;
  }

  /**
   * Copies into linear memory.
   * @param {Uint8Array | Int32Array | Float32Array} values
   * @param {string} caller
   */
  stage(values, caller) {
    const source = this.#detached(values);
    const pointer = this.#alloc(Math.ceil(source.byteLength / 4), caller);
    this.#put(pointer, source);
    return pointer;
  }

  /** @param {number} pointer @param {Uint8Array | Int32Array | Float32Array} values */
  #put(pointer, values) {
    if (values instanceof Float32Array) this.#words(pointer / 4 + values.length).set(values, pointer / 4);
    else
      new Uint8Array(this.#linear.buffer, pointer, values.byteLength).set(
        new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      );
  }

  /** @param {number} pointer */
  unstage(pointer) {
    this.#core.hl_tensor_free(pointer);
  }

  /**
   * What the layer keeps of a forward pass.
   * @param {string} caller
   * @param {Int32Array} words
   */
  savedSize(caller, words) {
    this.check(caller);
    this.#writeArguments(words);
    return this.#core.hl_multihead_saved_size(this.#arguments);
  }

  /** @param {Int32Array} words */
  #writeArguments(words) {
    if (this.#argumentWords.length === 0)
      this.#argumentWords = new Int32Array(this.#linear.buffer, this.#arguments, ARGUMENT_WORDS);
    this.#argumentWords.set(words);
  }

  /**
   * @param {Entry} name
   * @param {string} caller
   * @param {Int32Array} words
   */
  run(name, caller, words) {
    this.#writeArguments(words);
    this.#settle(this.#core[name](this.#arguments), caller);
  }

  /**
   * Room for a weight in the order in which the core reads it.
   * @param {Frame} frame
   * @param {Tensor} weight (out, in)
   * @param {boolean} int8
   */
  makePacked(frame, weight, int8) {
    const size = int8 ? this.#core.hl_weight_quantized_size : this.#core.hl_weight_packed_size;
    return this.unscoped(frame.make([size(weight.shape[0], weight.shape[1])]));
  }

  /** A tensor that belongs to another object, not to the scope it is made in. @param {Tensor} tensor */
  unscoped(tensor) {
    this.#scope?.delete(tensor);
    return tensor;
  }

  /**
   * Copies into a tensor of no particular shape that stays.
   * @param {Uint8Array | Int32Array | Float32Array} values
   * @param {string} caller
   */
  keep(values, caller) {
    const source = this.#detached(values);
    const tensor = this.unscoped(this.empty([Math.ceil(source.byteLength / 4)], caller));
    this.#put(pointerOf(tensor), source);
    return tensor;
  }

  /** As keep, of what lies in linear memory already. @param {Tensor} tensor @param {string} caller */
  keepTensor(tensor, caller) {
    const copy = this.unscoped(this.empty([tensor.size], caller));
    viewOf(copy).set(viewOf(tensor));
    return copy;
  }

  /**
   * @param {string} caller
   * @param {Tensor} packed
   * @param {Tensor} weight
   * @param {boolean} int8
   */
  pack(caller, packed, weight, int8) {
    const pack = int8 ? this.#core.hl_weight_quantize : this.#core.hl_weight_pack;
    this.#settle(pack(pointerOf(packed), pointerOf(weight), weight.shape[0], weight.shape[1]), caller);
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
   * Calls the core: a block stands for where it lies, and undefined for nothing.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {Parameters<Calls[Name]>} args
   */
  ask(name, ...args) {
    const call = /** @type {(...args: number[]) => number} */ (this.#core[name]);
    return call(
      .../** @type {(Block | number)[]} */ (args).map((arg) => (typeof arg === 'object' ? pointerOf(arg) : (arg ?? 0))),
    );
  }

  /**
   * As ask, of what returns a status.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {string} caller
   * @param {Parameters<Calls[Name]>} args
   */
  call(name, caller, ...args) {
    this.#settle(this.ask(name, ...args), caller);
  }

  /**
   * @param {number} status
   * @param {string} caller
   */
  #settle(status, caller) {
    if (status === STATUS.OK) return;
    if (status === STATUS.OUT_OF_MEMORY) throw this.#outOfMemory(caller, 'the workspace does not fit');
    throw new HeadlightError('ARGUMENT', `${caller}: the core refused its arguments (status ${status})`, {
      got: status,
    });
  }
}
