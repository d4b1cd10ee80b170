// Linear memory of one instance: allocates it, copies values to it, calls the core. Only this file reads memory.buffer.

import { type CoreExports, type Entry, type Functions, STATUS, WORDS } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.ts';
import { elementCount, formatShape } from '../check/shape.ts';
import { readTensorLike, type TensorLike } from '../check/tensorlike.ts';
import { Collector } from './collector.ts';
import { formatBytes } from './formatBytes.ts';
import { Frame } from './frame.ts';
import {
  isWatched,
  KEY,
  moveOut,
  pointerOf,
  type Staged,
  setWatched,
  shapeOf,
  Tensor,
  tensorsIn,
  viewOf,
} from './tensor.ts';

const ARGUMENT_WORDS = Math.max(...Object.values(WORDS));

/** an address in linear memory; undefined is the null pointer */
export type Block = Tensor | Staged | undefined;
export type Calls = Functions<Block>;
export type PlainCall = {
  [Name in keyof Calls]: Calls[Name] extends (...args: any) => number ? Name : never;
}[keyof Calls];
export type Threads = {
  count: number;
  /** reason if there are fewer threads than requested */
  note?: string | undefined;
  stop: () => void;
  fail: (note: string) => void;
};

/** Stops the threads of a garbage-collected memory. Tensors and layers keep the memory of their instance reachable. */
const finalizers = new FinalizationRegistry((threads: Threads) => threads.stop());

export class Memory {
  #core: CoreExports;
  #linear: WebAssembly.Memory;
  /** A view of all linear memory. Memory growth detaches it, so that it is then created again. */
  #heap = new Float32Array();
  /** Address of the block for argument structs. One suffices, because one call runs at a time. */
  #arguments = 0;
  #argumentWords = new Int32Array();
  #disposed = false;
  /** True after a call that did not return, until the state of the core is reset. */
  #damaged = false;
  /** The stack pointer of the core when no call runs. */
  #stack: number;
  #threads: Threads;
  /** Indexed by depth, because getters of the inputs of a call may make further calls. */
  #frames: Frame[] = [];
  #depth = 0;
  #scope: Set<Tensor> | null = null;
  #collector = new Collector((pointer) => this.free(pointer));

  constructor(core: CoreExports, linear: WebAssembly.Memory, threads: Threads) {
    this.#core = core;
    this.#linear = linear;
    this.#stack = core.__stack_pointer.value;
    this.#threads = threads;
    this.#arguments = this.alloc(ARGUMENT_WORDS, 'load');
    finalizers.register(this, threads, this);
  }

  /** The threads. note: the reason if there are fewer than requested. */
  get threads(): { count: number; note?: string } {
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

  check(caller: string) {
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this Headlight instance has been disposed`);
  }

  dispose() {
    this.#disposed = true;
    finalizers.unregister(this);
    this.#threads.stop();
  }

  /** shape: for the error */
  alloc(floats: number, caller: string, shape?: readonly number[]) {
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

  #outOfMemory(caller: string, what: string, got?: number) {
    const { used, limit } = this.usage;
    return new HeadlightError(
      'OUT_OF_MEMORY',
      `${caller}: out of memory: ${what}; ${formatBytes(used)} of the limit of ${formatBytes(limit)} are in use`,
      { expected: limit, got },
    );
  }

  /** @returns tensor with undefined contents */
  empty(shape: number[], caller: string): Tensor {
    const pointer = this.alloc(elementCount(shape), caller, shape);
    const tensor = new Tensor(this, pointer, shape, KEY);
    this.watch(tensor);
    this.#scope?.add(tensor);
    return tensor;
  }

  /**
   * Makes a tensor with undefined contents and without a finalizer, which would take longer than a short call. The
   * current scope, which is required, disposes of it. A caller that keeps it must call watch().
   */
  temporary(shape: readonly number[], caller: string): Tensor {
    const tensor = new Tensor(this, this.alloc(elementCount(shape), caller, shape), shape, KEY);
    this.#scope?.add(tensor);
    return tensor;
  }

  /** Registers the tensor, so that its memory is freed if it is garbage-collected. */
  watch(tensor: Tensor) {
    if (isWatched(tensor)) return;
    setWatched(tensor);
    this.#collector.watch(tensor);
  }

  /** Reads an array argument. The numbers stay valid when this memory grows. */
  readSource(value: TensorLike, caller: string, parameter: string) {
    return readTensorLike(value, caller, parameter).apartFrom(this.#linear.buffer);
  }

  tensor(value: TensorLike, caller: string, parameter: string, shape?: readonly number[]) {
    const given = value instanceof Tensor ? { data: viewOf(value).slice(), shape: shapeOf(value) } : value;
    const values = readTensorLike(given, caller, parameter, shape).apartFrom(this.#linear.buffer);
    const floats = values.floats();
    const tensor = this.empty(values.shape, caller);
    this.write(pointerOf(tensor), floats);
    return tensor;
  }

  /** The buffer of linear memory, for a test whether an array is in linear memory. */
  get buffer(): ArrayBufferLike {
    return this.#linear.buffer;
  }

  /** Moves the memory of a tensor to a new tensor of another shape. The old tensor becomes unusable. */
  reshape(tensor: Tensor, shape: readonly number[]) {
    const other = new Tensor(this, moveOut(tensor), shape, KEY);
    if (isWatched(tensor)) this.#collector.unwatch(tensor);
    this.watch(other);
    if (this.#scope?.delete(tensor)) this.#scope.add(other);
    return other;
  }

  release(tensor: Tensor, pointer: number) {
    if (isWatched(tensor)) this.#collector.unwatch(tensor);
    this.#scope?.delete(tensor);
    this.free(pointer);
  }

  free(pointer: number) {
    if (!this.#disposed) this.#core.hl_tensor_free(pointer);
  }

  floats(pointer: number, length: number) {
    this.check('Headlight');
    return new Float32Array(this.#linear.buffer, pointer, length);
  }

  /** Returns a view of linear memory up to at least `end`. end: in words. */
  #words(end: number) {
    if (this.#heap.length < end) this.#heap = new Float32Array(this.#linear.buffer);
    return this.#heap;
  }

  /** Returns a copy of some floats. Creates no view, which would take longer than the copy of a small tensor. */
  copyOf(pointer: number, length: number) {
    this.check('Headlight');
    const from = pointer / 4;
    return this.#words(from + length).slice(from, from + length);
  }

  /** Returns false if memory growth has detached the view. Shared memory stays attached. */
  isLive(view: Float32Array) {
    return view.length > 0 && view.buffer.byteLength > 0;
  }

  /** Runs `fn` and disposes of the tensors created inside, except those in its result. */
  scope<T>(fn: () => T): T {
    const outer = this.#scope;
    const made = (this.#scope = new Set());
    let returned: Set<Tensor> = new Set();
    try {
      const result = fn();
      if (typeof (result as any)?.then === 'function') {
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

  /** Runs `fn` with the frame of one call. Frees temporary blocks at the end, and results if `fn` throws. */
  frame<T>(caller: string, fn: (frame: Frame) => T): T {
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

  /** Returns the values, copied if they are a view of linear memory, because memory growth would detach it. */
  detached<T extends Uint8Array | Int32Array | Float32Array>(values: T): T {
    return values.buffer === this.#linear.buffer ? (values.slice() as T) : values;
  }

  write(pointer: number, values: Uint8Array | Int32Array | Float32Array) {
    if (values instanceof Float32Array) this.#words(pointer / 4 + values.length).set(values, pointer / 4);
    else
      new Uint8Array(this.#linear.buffer, pointer, values.byteLength).set(
        new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      );
  }

  savedSize(caller: string, words: Int32Array) {
    this.check(caller);
    this.#writeArguments(words);
    return this.invoke('hl_multihead_saved_size', caller, this.#arguments as any);
  }

  #writeArguments(words: Int32Array) {
    if (this.#argumentWords.length === 0)
      this.#argumentWords = new Int32Array(this.#linear.buffer, this.#arguments, ARGUMENT_WORDS);
    this.#argumentWords.set(words);
  }

  run(name: Entry, caller: string, words: Int32Array) {
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

  /** Resets the core after a call that did not return, and returns the error to throw. */
  #recover(error: unknown, caller: string) {
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

  /** Packs a weight (out, in) in the order in which the core reads it. */
  makePacked(frame: Frame, weight: Tensor, int8: boolean) {
    const [out, inside] = shapeOf(weight);
    const size = this.invoke(int8 ? 'hl_weight_quantized_size' : 'hl_weight_packed_size', 'pack', out, inside);
    return this.unscoped(frame.make([size]));
  }

  /** Removes a tensor from the current scope, because another object owns it. */
  unscoped(tensor: Tensor) {
    this.#scope?.delete(tensor);
    return tensor;
  }

  /** Adds a tensor to the current scope, which then owns it. */
  scoped(tensor: Tensor) {
    this.#scope?.add(tensor);
    return tensor;
  }

  pack(caller: string, packed: Tensor, weight: Tensor, int8: boolean) {
    const [out, inside] = shapeOf(weight);
    this.call(int8 ? 'hl_weight_quantize' : 'hl_weight_pack', caller, packed, weight, out, inside);
  }

  /** Writes past (B,G,P,D), then fresh (B,G,S,D), which has the given stride, to present (B,G,P+S,D). */
  append(
    caller: string,
    present: Tensor,
    past: Tensor | Staged,
    fresh: Tensor | Staged,
    {
      batch,
      kvHeads,
      past: pastKeys,
      keys,
      width,
      stride,
    }: { batch: number; kvHeads: number; past: number; keys: number; width: number; stride: number[] },
  ) {
    const sizes = [batch, kvHeads, pastKeys, keys, width] as const;
    const [perBatch, perHead, perRow] = stride;
    this.call('hl_cache_append', caller, present, past, fresh, ...sizes, perBatch, perHead, perRow);
  }

  invoke<Name extends PlainCall>(name: Name, caller: string, ...args: Parameters<Calls[Name]>) {
    // The arguments are replaced in place, because a second array would take as long as a call for a small tensor.
    const numbers = args as any[];
    for (let i = 0; i < numbers.length; i++) {
      const arg = numbers[i] as Block | number;
      numbers[i] = typeof arg === 'object' ? pointerOf(arg) : (arg ?? 0);
    }
    try {
      return (this.#core[name] as (...args: number[]) => number)(...numbers);
    } catch (error) {
      throw this.#recover(error, caller);
    }
  }

  /** Calls an export that returns a status, and throws unless it is OK. */
  call<Name extends PlainCall>(name: Name, caller: string, ...args: Parameters<Calls[Name]>) {
    this.#checkStatus(this.invoke(name, caller, ...args), caller);
  }

  #checkStatus(status: number, caller: string) {
    if (status === STATUS.OK) return;
    if (status === STATUS.OUT_OF_MEMORY) throw this.#outOfMemory(caller, 'the workspace does not fit');
    throw new HeadlightError('ARGUMENT', `${caller}: the core rejected the arguments (status ${status})`, {
      got: status,
    });
  }
}
