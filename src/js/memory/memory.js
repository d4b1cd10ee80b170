// The linear memory of one instance: allocates, copies in, and calls the core. The only file that reads memory.buffer.

import { STATUS, WORDS } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { Collector } from './collector.js';
import { Frame } from './frame.js';
import { isWatched, KEY, moveOut, pointerOf, setWatched, shapeOf, Tensor, tensorsIn, viewOf } from './tensor.js';

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
/**
 * @typedef {{ [Name in keyof Calls]: Calls[Name] extends (...args: any) => number ? Name : never }[keyof Calls]}
 *   PlainCall
 */
/**
 * @typedef {object} Threads those that run the calls of a memory
 * @property {number} count
 * @property {string} [note] why there are not more
 * @property {() => void} stop
 * @property {(note: string) => void} fail goes on with one
 */

/** Stops the threads of a memory that nobody holds any more: an instance is held by its tensors and layers, too. */
const unreachable = new FinalizationRegistry((/** @type {Threads} */ threads) => threads.stop());

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
  /** A call has not returned, and what it left is not cleared away yet. */
  #damaged = false;
  /** Where the stack of the core begins: there it is whenever no call runs. */
  #stack;
  #threads;
  /** One for a call, another for a call made while its inputs are being read. @type {Frame[]} */
  #frames = [];
  #depth = 0;
  /** @type {Set<Tensor> | null} */
  #scope = null;
  #collector = new Collector((pointer) => this.free(pointer));

  /**
   * @param {CoreExports} core
   * @param {WebAssembly.Memory} linear
   * @param {Threads} threads
   */
  constructor(core, linear, threads) {
    this.#core = core;
    this.#linear = linear;
    this.#stack = core.__stack_pointer.value;
    this.#threads = threads;
    this.#arguments = this.alloc(ARGUMENT_WORDS, 'load');
    unreachable.register(this, threads, this);
  }

  /** How many run its calls, and why not more. @returns {{ count: number, note?: string }} */
  get threads() {
    return this.#threads;
  }

  get usage() {
    this.check('info');
    return {
      used: this.#core.hl_memory_used(),
      reserved: this.#core.hl_memory_reserved(),
      limit: this.#core.hl_memory_limit(),
    };
  }

  get disposed() {
    return this.#disposed;
  }

  /** @param {string} caller */
  check(caller) {
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this Headlight instance has been disposed`);
  }

  dispose() {
    this.#disposed = true;
    unreachable.unregister(this);
    this.#threads.stop();
  }

  /**
   * @param {number} floats
   * @param {string} caller
   * @param {readonly number[]} [shape] of the tensor that it is for
   */
  alloc(floats, caller, shape) {
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
    const pointer = this.alloc(elementCount(shape), caller, shape);
    const tensor = new Tensor(this, pointer, shape, KEY);
    this.watch(tensor);
    this.#scope?.add(tensor);
    return tensor;
  }

  /**
   * A tensor for the current scope alone, which must be one: it is disposed of at its end, or watched from then on. To
   * register it with the collector would take longer than many a call.
   * @param {readonly number[]} shape
   * @param {string} caller
   * @returns {Tensor} contents undefined
   */
  temporary(shape, caller) {
    const tensor = new Tensor(this, this.alloc(elementCount(shape), caller, shape), shape, KEY);
    this.#scope?.add(tensor);
    return tensor;
  }

  /** Frees it should it be garbage-collected. @param {Tensor} tensor */
  watch(tensor) {
    if (isWatched(tensor)) return;
    setWatched(tensor);
    this.#collector.watch(tensor);
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
    const given = value instanceof Tensor ? { data: viewOf(value).slice(), shape: shapeOf(value) } : value;
    const values = readTensorLike(given, caller, parameter, shape).apartFrom(this.#linear.buffer);
    const floats = values.floats();
    const tensor = this.empty(values.shape, caller);
    this.write(pointerOf(tensor), floats);
    return tensor;
  }

  /** Linear memory, to tell whether an array lies in it. @returns {ArrayBufferLike} */
  get buffer() {
    return this.#linear.buffer;
  }

  /**
   * The values of a tensor, which ends, as one of another shape.
   * @param {Tensor} tensor
   * @param {readonly number[]} shape
   */
  reshape(tensor, shape) {
    const other = new Tensor(this, moveOut(tensor), shape, KEY);
    if (isWatched(tensor)) this.#collector.unwatch(tensor);
    this.watch(other);
    if (this.#scope?.delete(tensor)) this.#scope.add(other);
    return other;
  }

  /**
   * @param {Tensor} tensor
   * @param {number} pointer
   */
  release(tensor, pointer) {
    if (isWatched(tensor)) this.#collector.unwatch(tensor);
    this.#scope?.delete(tensor);
    this.free(pointer);
  }

  /** @param {number} pointer */
  free(pointer) {
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  }

  /**
   * @param {number} pointer
   * @param {number} length
   */
  floats(pointer, length) {
    this.check('Headlight');
    return new Float32Array(this.#linear.buffer, pointer, length);
  }

  /** Linear memory up to there at least, in words. @param {number} end */
  #words(end) {
    if (this.#heap.length < end) this.#heap = new Float32Array(this.#linear.buffer);
    return this.#heap;
  }

  /**
   * A copy, without a view of its own on the way: that takes longer than to copy a small tensor.
   * @param {number} pointer
   * @param {number} length
   */
  copyOf(pointer, length) {
    this.check('Headlight');
    const from = pointer / 4;
    return this.#words(from + length).slice(from, from + length);
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
    if (this.#damaged) this.#repair();
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
   * Values that stay where they are when memory grows: a live view of it would be detached.
   * @template {Uint8Array | Int32Array | Float32Array} T
   * @param {T} values
   * @returns {T}
   */
  detached(values) {
    return values.buffer === this.#linear.buffer ? /** @type {T} */ (values.slice()) : values;
  }

  /**
   * Copies into linear memory.
   * @param {number} pointer
   * @param {Uint8Array | Int32Array | Float32Array} values
   */
  write(pointer, values) {
    if (values instanceof Float32Array) this.#words(pointer / 4 + values.length).set(values, pointer / 4);
    else
      new Uint8Array(this.#linear.buffer, pointer, values.byteLength).set(
        new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      );
  }

  /**
   * What the layer keeps of a forward pass.
   * @param {string} caller
   * @param {Int32Array} words
   */
  savedSize(caller, words) {
    this.check(caller);
    this.#writeArguments(words);
    return this.ask('hl_multihead_saved_size', caller, /** @type {any} */ (this.#arguments));
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
    this.check(caller);
    this.#writeArguments(words);
    let status;
    try {
      status = this.#core[name](this.#arguments);
    } catch (error) {
      throw this.#recover(error, caller);
    }
    this.#settle(status, caller);
  }

  /**
   * After a call that did not return.
   * @param {unknown} error
   * @param {string} caller
   */
  #recover(error, caller) {
    this.#damaged = true;
    try {
      this.#repair();
    } catch {
      // The stack of JavaScript is used up: the next call does it.
    }
    const lost = error instanceof HeadlightError;
    if (lost) this.#threads.fail(error.message);
    if (!lost && !(error instanceof WebAssembly.RuntimeError)) return error;
    const reason = lost
      ? `${error.message}; this instance goes on with one thread`
      : `the core stopped: ${error.message}`;
    return new HeadlightError('STATE', `${caller}: ${reason}. The results of this call are undefined`, {
      cause: error,
    });
  }

  /** Puts back the stack pointer of the core, and frees what the call has left. */
  #repair() {
    this.#core.__stack_pointer.value = this.#stack;
    try {
      this.#core.hl_recover();
    } catch (error) {
      // Another worker is lost. The second time there is nobody to wait for.
      if (!(error instanceof HeadlightError)) throw error;
      this.#threads.fail(error.message);
      this.#core.hl_recover();
    }
    this.#damaged = false;
  }

  /**
   * Room for a weight in the order in which the core reads it.
   * @param {Frame} frame
   * @param {Tensor} weight (out, in)
   * @param {boolean} int8
   */
  makePacked(frame, weight, int8) {
    const [out, inside] = shapeOf(weight);
    const size = this.ask(int8 ? 'hl_weight_quantized_size' : 'hl_weight_packed_size', 'pack', out, inside);
    return this.unscoped(frame.make([size]));
  }

  /** A tensor that belongs to another object, not to the scope it is made in. @param {Tensor} tensor */
  unscoped(tensor) {
    this.#scope?.delete(tensor);
    return tensor;
  }

  /**
   * @param {string} caller
   * @param {Tensor} packed
   * @param {Tensor} weight
   * @param {boolean} int8
   */
  pack(caller, packed, weight, int8) {
    const [out, inside] = shapeOf(weight);
    this.call(int8 ? 'hl_weight_quantize' : 'hl_weight_pack', caller, packed, weight, out, inside);
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
    const sizes = /** @type {const} */ ([batch, kvHeads, pastKeys, keys, width]);
    const [perBatch, perHead, perRow] = stride;
    this.call('hl_cache_append', caller, present, past, fresh, ...sizes, perBatch, perHead, perRow);
  }

  /**
   * Calls the core: a block stands for where it lies, and undefined for nothing.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {string} caller
   * @param {Parameters<Calls[Name]>} args
   */
  ask(name, caller, ...args) {
    // In place: a second array would take as long as the call of a small tensor.
    const numbers = /** @type {any[]} */ (args);
    for (let i = 0; i < numbers.length; i++) {
      const arg = /** @type {Block | number} */ (numbers[i]);
      numbers[i] = typeof arg === 'object' ? pointerOf(arg) : (arg ?? 0);
    }
    try {
      return /** @type {(...args: number[]) => number} */ (this.#core[name])(...numbers);
    } catch (error) {
      throw this.#recover(error, caller);
    }
  }

  /**
   * As ask, of what returns a status.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {string} caller
   * @param {Parameters<Calls[Name]>} args
   */
  call(name, caller, ...args) {
    this.#settle(this.ask(name, caller, ...args), caller);
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
