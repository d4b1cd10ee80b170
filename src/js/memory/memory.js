// The linear memory of one instance: allocates, copies in, and calls the core. The only file that knows memory.buffer.

import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { Collector } from './collector.js';
import { Frame } from './frame.js';
import { KEY, pointerOf, Tensor, tensorsIn, viewOf } from './tensor.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Staged } from './tensor.js' */

/**
 * @typedef {object} CoreExports what the .wasm exports, as src/core/headlight.h documents it
 * @property {WebAssembly.Memory} memory where it is not shared; then it is imported
 * @property {(count: number) => number} hl_tensor_alloc
 * @property {(block: number) => number} hl_tensor_free
 * @property {() => number} hl_memory_used
 * @property {() => number} hl_memory_reserved
 * @property {() => number} hl_memory_limit
 * @property {(bytes: number) => void} hl_memory_set_limit
 * @property {(args: number) => number} hl_attention
 * @property {(args: number) => number} hl_attention_backward
 * @property {(args: number) => number} hl_multihead_forward
 * @property {(args: number) => number} hl_multihead_backward
 * @property {(args: number) => number} hl_multihead_saved_size
 * @property {(out: number, inside: number) => number} hl_weight_packed_size
 * @property {(packed: number, weight: number, out: number, inside: number) => number} hl_weight_pack
 * @property {(out: number, inside: number) => number} hl_weight_quantized_size
 * @property {(packed: number, weight: number, out: number, inside: number) => number} hl_weight_quantize
 * @property {(present: number, past: number, fresh: number, batch: number, kvHeads: number, pastKeys: number,
 *   keys: number, width: number, batchStride: number, headStride: number, rowStride: number) => number} hl_cache_append
 * @property {(...args: number[]) => number} hl_linear_forward
 * @property {(...args: number[]) => number} hl_linear_backward
 * @property {(...args: number[]) => number} hl_embedding_forward
 * @property {(...args: number[]) => number} hl_embedding_backward
 * @property {(...args: number[]) => number} hl_norm_forward
 * @property {(...args: number[]) => number} hl_norm_backward
 * @property {(...args: number[]) => number} hl_gelu_forward
 * @property {(...args: number[]) => number} hl_gelu_backward
 * @property {(...args: number[]) => number} hl_add
 * @property {(...args: number[]) => number} hl_cross_entropy
 * @property {(...args: number[]) => number} hl_sgd_step
 * @property {(...args: number[]) => number} hl_adam_step
 * @property {(...args: number[]) => number} hl_square_sum
 * @property {(...args: number[]) => number} hl_scale
 * @property {(number: number) => void} hl_pool_work
 * @property {(size: number) => void} hl_pool_resize
 * @property {() => void} hl_pool_quit
 * @property {WebAssembly.Global} __stack_pointer
 * @property {() => number} hl_simd
 * @property {() => number} hl_attention_args_size
 * @property {() => number} hl_attention_backward_args_size
 * @property {() => number} hl_multihead_args_size
 * @property {() => number} hl_multihead_backward_args_size
 */

/** @typedef {'hl_attention' | 'hl_attention_backward' | 'hl_multihead_forward' | 'hl_multihead_backward'} Entry what takes an argument struct */

// The argument structs of headlight.h, word by word; `name:3` takes three words. The arguments of the layer
// begin with those of attention, those of each backward with those of its forward.
const ATTENTION = `
  output weights scores statistics query key value appendedKey appendedValue
  mask bias keyPadding validLens offset keep
  outputStride:3 queryStride:3 keyStride:3 valueStride:3 maskStride:4 biasStride:4
  keyPaddingStride:2 validLensStride:2
  batch heads kvHeads queries keys width valueWidth appended
  weightsMode scoresStep causal windowLeft windowRight seed:2
  scale softcap fill dropout`;
const MULTIHEAD = `
  layerQuery layerKey layerValue pastKey pastValue presentKey presentValue
  wq wk wv wo bq bk bv bo biasKey biasValue
  saved queryDim keyDim valueDim outputDim pastKeys zeroAttention int8`;
const ATTENTION_BACKWARD = 'dQuery dKey dValue dBias dAppendedKey dAppendedValue dOutput dWeights';
const MULTIHEAD_BACKWARD = `
  dLayerQuery dLayerKey dLayerValue dLayerBias dwq dwk dwv dwo dbq dbk dbv dbo dbiasKey dbiasValue
  dLayerOutput dLayerWeights plainWq plainWk plainWv plainWo`;

/** @type {Record<string, number>} */
const places = {};
/** @param {string} fields @param {number} words where they begin */
function place(fields, words) {
  for (const field of fields.trim().split(/\s+/)) {
    const [name, length = '1'] = field.split(':');
    places[name] = words;
    words += Number(length);
  }
  return words;
}
const end = place(ATTENTION, 0);
place(ATTENTION_BACKWARD, end);
const WORDS = place(MULTIHEAD_BACKWARD, place(MULTIHEAD, end));

/** Where each argument lies, in words. A copy: engines look up at once what is not made name by name. @type {Readonly<Record<string, number>>} */
export const AT = Object.freeze({ ...places });

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

/** @typedef {'hl_linear_forward' | 'hl_linear_backward' | 'hl_embedding_forward' | 'hl_embedding_backward' | 'hl_norm_forward' | 'hl_norm_backward' | 'hl_gelu_forward' | 'hl_gelu_backward' | 'hl_add' | 'hl_cross_entropy' | 'hl_sgd_step' | 'hl_adam_step' | 'hl_square_sum' | 'hl_scale'} PlainCall a function of the core whose arguments are numbers and blocks */

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
    this.#arguments = this.#alloc(WORDS, 'load');
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
   * @param {TensorLike} value
   * @param {string} caller
   * @param {string} parameter
   * @param {number[]} [shape]
   */
  tensor(value, caller, parameter, shape) {
    const source = readTensorLike(value, caller, parameter, shape);
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
    const frame = (this.#frames[this.#depth] ??= new Frame(this, WORDS));
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
      this.#argumentWords = new Int32Array(this.#linear.buffer, this.#arguments, WORDS);
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
   * @param {PlainCall} name
   * @param {(Tensor | Staged | number | undefined)[]} args
   */
  ask(name, ...args) {
    return this.#core[name](...args.map((arg) => (typeof arg === 'object' ? pointerOf(arg) : (arg ?? 0))));
  }

  /**
   * As ask, of what returns a status.
   * @param {PlainCall} name
   * @param {string} caller
   * @param {(Tensor | Staged | number | undefined)[]} args
   */
  call(name, caller, ...args) {
    this.#settle(this.ask(name, ...args), caller);
  }

  /**
   * @param {number} status
   * @param {string} caller
   */
  #settle(status, caller) {
    if (status === 0) return;
    if (status === 1) throw this.#outOfMemory(caller, 'the workspace does not fit');
    throw new HeadlightError('ARGUMENT', `${caller}: the core refused its arguments (status ${status})`, {
      got: status,
    });
  }
}
