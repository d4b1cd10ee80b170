// Linear memory of one instance: allocates it, copies values to it, calls the core. Only this file reads memory.buffer.

import { STATUS, WORDS } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { Collector } from './collector.js';
import { formatBytes } from './formatBytes.js';
import { Frame } from './frame.js';
import { isWatched, KEY, moveOut, pointerOf, setWatched, shapeOf, Tensor, tensorsIn, viewOf } from './tensor.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { CoreExports, Entry, Functions } from '../../../dist/abi/abi.js' */
/** @import { Staged } from './tensor.js' */

/** Size of the largest argument struct in 32-bit words. */
const ARGUMENT_WORDS = Math.max(...Object.values(WORDS));

/** @typedef {Tensor | Staged | undefined} Block an address in linear memory; undefined is the null pointer */
/** @typedef {Functions<Block>} Calls */
/**
 * @typedef {{ [Name in keyof Calls]: Calls[Name] extends (...args: any) => number ? Name : never }[keyof Calls]}
 *   PlainCall
 */
/**
 * @typedef {object} Threads the threads that run the calls
 * @property {number} count
 * @property {string} [note] reason if there are fewer threads than requested
 * @property {() => void} stop
 * @property {(note: string) => void} fail continues with one thread
 */

/** Stops the threads of a garbage-collected memory. Tensors and layers keep the memory of their instance reachable. */
const finalizers = new FinalizationRegistry((/** @type {Threads} */ threads) => threads.stop());

/** Linear memory of one instance: creates tensors, writes argument structs, calls the core. */
export class Memory {
  /** @type {CoreExports} */
  #core;
  #linear;
  /** A view of all linear memory. Memory growth detaches it, so that it is then created again. */
  #heap = new Float32Array();
  /** Address of the block for argument structs. One suffices, because one call runs at a time. */
  #arguments = 0;
  #argumentWords = new Int32Array();
  #disposed = false;
  /** True after a call that did not return, until the state of the core is reset. */
  #damaged = false;
  /** The stack pointer of the core when no call runs. */
  #stack;
  #threads;
  /** Indexed by depth, because getters of the inputs of a call may make further calls. @type {Frame[]} */
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
    finalizers.register(this, threads, this);
  }

  /** The threads. note: the reason if there are fewer than requested. @returns {{ count: number, note?: string }} */
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
    finalizers.unregister(this);
    this.#threads.stop();
  }

  /**
   * @param {number} floats
   * @param {string} caller
   * @param {readonly number[]} [shape] of the tensor, for the error
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
   * @returns {Tensor} tensor with undefined contents
   */
  empty(shape, caller) {
    const pointer = this.alloc(elementCount(shape), caller, shape);
    const tensor = new Tensor(this, pointer, shape, KEY);
    this.watch(tensor);
    this.#scope?.add(tensor);
    return tensor;
  }

  /**
   * Makes a tensor without a finalizer, because registration takes longer than a short call. Requires a current scope,
   * which disposes of the tensor when the scope ends. A caller that keeps the tensor must call watch().
   * @param {readonly number[]} shape
   * @param {string} caller
   * @returns {Tensor} tensor with undefined contents
   */
  temporary(shape, caller) {
    const tensor = new Tensor(this, this.alloc(elementCount(shape), caller, shape), shape, KEY);
    this.#scope?.add(tensor);
    return tensor;
  }

  /** Registers the tensor, so that its memory is freed if it is garbage-collected. @param {Tensor} tensor */
  watch(tensor) {
    if (isWatched(tensor)) return;
    setWatched(tensor);
    this.#collector.watch(tensor);
  }

  /**
   * Reads an array argument. The numbers stay valid when this memory grows.
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

  /** The buffer of linear memory, for a test whether an array is in linear memory. @returns {ArrayBufferLike} */
  get buffer() {
    return this.#linear.buffer;
  }

  /**
   * Moves the memory of a tensor to a new tensor of another shape. The old tensor becomes unusable.
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

  /** Returns a view of linear memory up to at least `end`. @param {number} end in words */
  #words(end) {
    if (this.#heap.length < end) this.#heap = new Float32Array(this.#linear.buffer);
    return this.#heap;
  }

  /**
   * Returns a copy of some floats. Creates no view, which would take longer than the copy of a small tensor.
   * @param {number} pointer
   * @param {number} length
   */
  copyOf(pointer, length) {
    this.check('Headlight');
    const from = pointer / 4;
    return this.#words(from + length).slice(from, from + length);
  }

  /** Returns false if memory growth has detached the view. Shared memory stays attached. @param {Float32Array} view */
  isLive(view) {
    return view.length > 0 && view.buffer.byteLength > 0;
  }

  /**
   * Runs `fn` and disposes of the tensors created inside, except those in its result.
   * @template T
   * @param {() => T} fn
   * @returns {T}
   */
  scope(fn) {
    const outer = this.#scope;
    const made = (this.#scope = new Set());
    /** @type {Set<Tensor>} */
    let returned = new Set();
    try {
      const result = fn();
      if (typeof (/** @type {any} */ (result)?.then) === 'function') {
        throw new HeadlightError('ARGUMENT', 'scope: the function must be synchronous, but it returned a promise', {
          parameter: 'fn',
        });
      }
      returned = tensorsIn(result);
      return result;
    } finally {
      this.#scope = outer;
      for (const tensor of made) {
        if (returned.has(tensor)) outer?.add(tensor);
        else tensor.dispose();
      }
    }
  }

  /**
   * Runs `fn` with the frame of one call. Frees temporary blocks at the end, and results if `fn` throws.
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
   * Returns the values, copied if they are a view of linear memory, because memory growth would detach it.
   * @template {Uint8Array | Int32Array | Float32Array} T
   * @param {T} values
   * @returns {T}
   */
  detached(values) {
    return values.buffer === this.#linear.buffer ? /** @type {T} */ (values.slice()) : values;
  }

  /**
   * Copies values to linear memory.
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
   * Returns the number of floats that the multi-head layer saves for backward.
   * @param {string} caller
   * @param {Int32Array} words
   */
  savedSize(caller, words) {
    this.check(caller);
    this.#writeArguments(words);
    return this.invoke('hl_multihead_saved_size', caller, /** @type {any} */ (this.#arguments));
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
    this.#checkStatus(status, caller);
  }

  /**
   * Resets the core after a call that did not return, and returns the error to throw.
   * @param {unknown} error
   * @param {string} caller
   */
  #recover(error, caller) {
    this.#damaged = true;
    try {
      this.#repair();
    } catch {
      // The JavaScript stack is exhausted. #damaged stays true, so that the next call repairs the state.
    }
    const isWorkerLost = error instanceof HeadlightError;
    if (isWorkerLost) this.#threads.fail(error.message);
    if (!isWorkerLost && !(error instanceof WebAssembly.RuntimeError)) return error;
    const reason = isWorkerLost
      ? `${error.message}; this instance continues with one thread`
      : `the core stopped: ${error.message}`;
    return new HeadlightError('STATE', `${caller}: ${reason}. The results of this call are undefined`, {
      cause: error,
    });
  }

  /** Resets the stack pointer of the core, and frees the memory of the interrupted call. */
  #repair() {
    this.#core.__stack_pointer.value = this.#stack;
    try {
      this.#core.hl_recover();
    } catch (error) {
      // Another worker has died. After fail() there are no workers for which the core would wait.
      if (!(error instanceof HeadlightError)) throw error;
      this.#threads.fail(error.message);
      this.#core.hl_recover();
    }
    this.#damaged = false;
  }

  /**
   * Allocates the packed form of a weight, which has the order in which the core reads the weight.
   * @param {Frame} frame
   * @param {Tensor} weight (out, in)
   * @param {boolean} int8
   */
  makePacked(frame, weight, int8) {
    const [out, inside] = shapeOf(weight);
    const size = this.invoke(int8 ? 'hl_weight_quantized_size' : 'hl_weight_packed_size', 'pack', out, inside);
    return this.unscoped(frame.make([size]));
  }

  /** Removes a tensor from the current scope, because another object owns it. @param {Tensor} tensor */
  unscoped(tensor) {
    this.#scope?.delete(tensor);
    return tensor;
  }

  /** Adds a tensor to the current scope, which then owns it. @param {Tensor} tensor */
  scoped(tensor) {
    this.#scope?.add(tensor);
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
   * Writes past (B,G,P,D), then fresh (B,G,S,D), which has the given stride, to present (B,G,P+S,D).
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
   * Calls an export of the core. A block is passed as its address, undefined as 0.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {string} caller
   * @param {Parameters<Calls[Name]>} args
   */
  invoke(name, caller, ...args) {
    // The arguments are replaced in place, because a second array would take as long as a call for a small tensor.
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
   * Calls an export that returns a status, and throws unless it is OK.
   * @template {PlainCall} Name
   * @param {Name} name
   * @param {string} caller
   * @param {Parameters<Calls[Name]>} args
   */
  call(name, caller, ...args) {
    this.#checkStatus(this.invoke(name, caller, ...args), caller);
  }

  /**
   * @param {number} status
   * @param {string} caller
   */
  #checkStatus(status, caller) {
    if (status === STATUS.OK) return;
    if (status === STATUS.OUT_OF_MEMORY) throw this.#outOfMemory(caller, 'the workspace does not fit');
    throw new HeadlightError('ARGUMENT', `${caller}: the core rejected the arguments (status ${status})`, {
      got: status,
    });
  }
}
