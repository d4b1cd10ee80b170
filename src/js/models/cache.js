// The KV cache: keys and values of the previous tokens, (B,G,capacity,D) for each block. Keys and values of new tokens
// are appended in place.

import { KEYS } from '../../../dist/abi/abi.js';
import { readNumber, readOptions, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { MAX_SIZE } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { shapeOf, viewOf } from '../memory/tensor.js';
import { copyRows, TokenBits } from './tokenBits.js';

/** @import { Frame } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Stride } from './graph.js' */
/** @import { Resolved } from './options.js' */

/** @typedef {'float32' | 'float16' | 'int8'} CacheType */
/** @typedef {{ length: number, batch?: number, type?: CacheType }} CacheOptions length: in tokens */
/**
 * Keys and values of one block. Each is (B,G,capacity,R), where R floats store a row of D numbers; keys and values of
 * the encoder's output are (B,S,G·D).
 * @typedef {{ key: Tensor, value: Tensor }} Pair
 */

const SIZE = { integer: true, least: 1, most: 2 ** 24 };
/** The largest float16. */
const MAX_HALF = 65504;
const TYPES = { float32: KEYS.FLOAT32, float16: KEYS.FLOAT16, int8: KEYS.INT8 };

export class Cache {
  #memory;
  #options;
  #size;
  /** Keys and values of each block. @type {Pair[]} */
  #blocks = [];
  /**
   * Keys and values of the encoder's output. They are computed in the call with the first tokens.
   * @type {{ pairs: Pair[], padding?: Uint8Array } | undefined}
   */
  #fromEncoder;
  /** A bit for each token: 0 = padding. */
  #keep;
  /** A bit for each token: 0 = a token that is not counted in the positions of later tokens. */
  #counted;
  #length = 0;
  /** Number of tokens for which memory is allocated. A growing cache begins with less than its length. */
  #capacity;
  /** The version of the weights with which the keys and values were computed. */
  #version = 0;
  /** Name of the public method that has locked the cache. @type {string | undefined} */
  #user;
  #disposed = false;
  /** False if a float16 cache could contain a number that is not finite. */
  #isFinite = true;
  /** @internal True if the keys are rotated by the angles of long sequences. */
  far = false;

  /**
   * @param {Memory} memory
   * @param {Resolved} options
   * @param {CacheOptions} given
   * @param {number} [capacity] tokens for which memory is allocated now; default: length
   */
  constructor(memory, options, given, capacity) {
    const caller = 'cache';
    checkDecoder(caller, options);
    const read = readOptions(caller, given, ['length', 'batch', 'type']);
    const length = readNumber(caller, 'length', read.length, { ...SIZE, most: options.context });
    const batch = readNumber(caller, 'batch', read.batch ?? 1, SIZE);
    const words = /** @type {const} */ (['float32', 'float16', 'int8']);
    const type = readWord(caller, 'type', read.type ?? 'float32', words);
    if (batch * length > MAX_SIZE)
      throw new HeadlightError('OUT_OF_MEMORY', `${caller}: out of memory: ${batch} sequences of ${length} tokens`, {
        parameter: 'batch',
        expected: `at most ${MAX_SIZE} tokens`,
        got: batch * length,
      });
    this.#memory = memory;
    this.#options = options;
    this.#size = { length, batch, type };
    this.#capacity = Math.min(capacity ?? length, length);
    memory.frame(caller, (frame) => {
      this.#blocks = Array.from({ length: options.layers }, () => this.#makePair(frame, this.#capacity));
    });
    this.#keep = new TokenBits(batch, length);
    this.#counted = new TokenBits(batch, length);
  }

  /** @param {Frame} frame @param {number} capacity @returns {Pair} */
  #makePair(frame, capacity) {
    const { kvHeads, headDim } = this.#options;
    const row = this.#memory.invoke('hl_cache_row_size', 'cache', headDim, this.#type);
    const make = () => this.#memory.unscoped(frame.make([this.#size.batch, kvHeads, capacity, row]));
    return { key: make(), value: make() };
  }

  /** Number of tokens in the cache. */
  get length() {
    return this.#length;
  }

  get capacity() {
    return this.#size.length;
  }

  /** @internal @param {Resolved} options of a model */
  isOf(options) {
    return this.#options === options;
  }

  get #type() {
    return TYPES[this.#size.type];
  }

  /**
   * Removes the last tokens, so that `length` tokens remain.
   * @param {number} length
   */
  rewind(length) {
    this.checkUsable('rewind');
    this.#length = readNumber('rewind', 'length', length, { integer: true, least: 0, most: this.#length });
    if (length > 0) return this;
    this.#isFinite = true;
    this.#freeFromEncoder();
    this.#keep.clear();
    this.#counted.clear();
    return this;
  }

  /** Returns a copy of the cache, with the same tokens. */
  clone() {
    this.#checkAlive('clone');
    return this.takeRows(Array.from({ length: this.#size.batch }, (_, b) => b));
  }

  /**
   * Returns a copy of some of the sequences.
   * @internal
   * @param {number[]} rows their indices
   * @param {number} [dropped] tokens at the beginning that are left out, all of them padding
   */
  takeRows(rows, dropped = 0) {
    const other = new Cache(this.#memory, this.#options, { ...this.#size, batch: rows.length }, this.#capacity);
    try {
      this.#copyTo(other, rows, dropped);
    } catch (error) {
      other.dispose();
      throw error;
    }
    return other;
  }

  /** @param {Cache} other @param {number[]} rows @param {number} dropped */
  #copyTo(other, rows, dropped) {
    const [all, { batch }] = [this.#length, this.#size];
    other.#isFinite = this.#isFinite;
    this.#blocks.forEach((pair, i) => {
      copyTokens(other.#blocks[i], pair, all, rows, dropped);
    });
    if (this.#fromEncoder) {
      const { pairs, padding } = this.#fromEncoder;
      other.#fromEncoder = this.#memory.frame('cache', (frame) => ({
        padding: padding && copyRows(new Uint8Array((padding.length / batch) * rows.length), padding, batch, rows),
        pairs: pairs.map(({ key, value }) => ({
          key: this.#copy(frame, key, rows),
          value: this.#copy(frame, value, rows),
        })),
      }));
    }
    other.#length = all - dropped;
    other.#keep.copy(this.#keep, all, rows, dropped);
    other.#counted.copy(this.#counted, all, rows, dropped);
    other.#version = this.#version;
    other.far = this.far;
  }

  /** @param {Frame} frame @param {Tensor} tensor (B,…) @param {number[]} rows */
  #copy(frame, tensor, rows) {
    const [batch, ...shape] = shapeOf(tensor);
    const copy = this.#memory.unscoped(frame.make([rows.length, ...shape]));
    copyRows(viewOf(copy), viewOf(tensor), batch, rows);
    return copy;
  }

  /** @param {string} caller */
  #checkAlive(caller) {
    if (this.disposed)
      throw new HeadlightError('DISPOSED', `${caller}: the cache has been disposed`, { parameter: 'cache' });
  }

  /** @internal @param {string} caller */
  checkUsable(caller) {
    this.#checkAlive(caller);
    if (this.#user)
      throw new HeadlightError('STATE', `${caller}: ${this.#user} is using this cache until it ends`, {
        parameter: 'cache',
      });
  }

  /** Until unlock(), other methods that use the cache throw. @internal @param {string} user the public method */
  lock(user) {
    this.checkUsable(user);
    this.#user = user;
  }

  /** @internal */
  unlock() {
    this.#user = undefined;
  }

  /**
   * Unlocks the cache while `fn` runs. Only the method that has locked the cache may call this.
   * @internal
   * @template T
   * @param {() => T} fn
   * @returns {T}
   */
  forUser(fn) {
    const user = this.#user;
    this.#user = undefined;
    try {
      return fn();
    } finally {
      this.#user = user;
    }
  }

  /**
   * Refuses keys and values that were computed with other weights.
   * @internal
   * @param {string} caller
   * @param {number} version of the weights
   */
  checkWeights(caller, version) {
    if (this.#length === 0 || this.#version === version) return;
    const text = `${caller}: the weights of the model have changed since this cache was filled: rewind it to 0`;
    throw new HeadlightError('STATE', text, { parameter: 'cache' });
  }

  /**
   * Reserves memory for the tokens of a call, and stores which of them are padding and which are counted in positions.
   * @internal
   * @param {string} caller
   * @param {number} batch
   * @param {number} rows
   * @param {Uint8Array | undefined} keep (B,rows): 0 = padding
   * @param {Uint8Array | undefined} counted (B,rows): 0 = a token that is not counted in positions
   */
  admit(caller, batch, rows, keep, counted) {
    const { batch: expected, length } = this.#size;
    this.checkUsable(caller);
    if (batch !== expected)
      throw shapeError(caller, 'input', [batch, rows], `a batch of ${expected}, as in this cache`);
    if (this.#length + rows > length)
      throw shapeError(
        caller,
        'input',
        [batch, rows],
        `at most ${length - this.#length} more tokens, because the cache holds ${length}`,
      );
    this.#grow(caller, this.#length + rows);
    this.#keep.write(this.#length, rows, keep);
    this.#counted.write(this.#length, rows, counted);
  }

  /**
   * Makes room for this number of tokens. A capacity that is too small is at least doubled. Each block is copied before
   * its old memory is freed, so that no token is lost if memory runs out.
   * @param {string} caller
   * @param {number} tokens
   */
  #grow(caller, tokens) {
    if (tokens <= this.#capacity) return;
    const capacity = Math.min(this.#size.length, Math.max(tokens, 2 * this.#capacity));
    for (const [i, pair] of this.#blocks.entries()) {
      const larger = this.#memory.frame(caller, (frame) => this.#makePair(frame, capacity));
      copyTokens(larger, pair, this.#length);
      this.#blocks[i] = larger;
      freePair(pair);
    }
    this.#capacity = capacity;
  }

  /** @internal Keys and values of each block, and which tokens are counted in positions, for reorderRows.js. */
  get stored() {
    return { blocks: this.#blocks, counted: this.#counted };
  }

  /**
   * Returns (B,keys), 0 = a token that is not counted in positions, or undefined if all are counted. @internal
   * @param {number} keys
   */
  counted(keys) {
    return this.#counted.read(keys);
  }

  /** @internal @param {number} keys @returns {Uint8Array | undefined} (B,S), undefined without padding */
  padding(keys) {
    return this.#keep.read(keys);
  }

  /**
   * Appends keys and values to those of a block. Returns all keys and values of the block, as strided (B,G,past+T,D),
   * and the type of their numbers.
   * @internal
   * @param {number} layer
   * @param {Tensor} key (B,T,G·D)
   * @param {Tensor} value (B,T,G·D)
   * @param {boolean} asStored true: the result keeps the type of the cache, unless this is float16 and a number could
   *   be infinite or NaN; in all other cases the result is float32
   */
  store(layer, key, value, asStored) {
    const pair = this.#blocks[layer];
    for (const part of /** @type {const} */ (['key', 'value'])) this.#append(pair[part], part === 'key' ? key : value);
    const direct = this.#type === KEYS.FLOAT32 || (asStored && this.#isFinite);
    const rows = this.#length + shapeOf(key)[1];
    const given = (/** @type {Tensor} */ stored) => (direct ? this.#strided(stored) : this.#widened(stored, rows));
    return { key: given(pair.key), value: given(pair.value), type: direct ? this.#type : KEYS.FLOAT32 };
  }

  /** @param {Tensor} stored (B,G,capacity,R) @returns {{ tensor: Tensor, stride: Stride }} */
  #strided(stored) {
    const [, heads, capacity, row] = shapeOf(stored);
    return { tensor: stored, stride: [heads * capacity * row, capacity * row, row] };
  }

  /**
   * Converts to float32.
   * @param {Tensor} stored
   * @param {number} all number of tokens
   * @returns {{ tensor: Tensor, stride: Stride }}
   */
  #widened(stored, all) {
    const { kvHeads, headDim: width } = this.#options;
    const [batch, , capacity] = shapeOf(stored);
    const wide = this.#memory.empty([batch, kvHeads, all, width], 'forward');
    this.#memory.call('hl_cache_load', 'forward', wide, stored, batch, kvHeads, all, capacity, width, this.#type);
    return this.#strided(wide);
  }

  /** @param {Tensor} stored (B,G,capacity,R) @param {Tensor} fresh (B,T,G·D) */
  #append(stored, fresh) {
    const { kvHeads, headDim: width } = this.#options;
    const [batch, rows] = shapeOf(fresh);
    const first = this.#length;
    const [, , capacity] = shapeOf(stored);
    const strides = /** @type {const} */ ([rows * kvHeads * width, width, kvHeads * width]);
    this.#memory.call(
      'hl_cache_store',
      'forward',
      stored,
      fresh,
      batch,
      kvHeads,
      first,
      rows,
      capacity,
      width,
      ...strides,
      this.#type,
    );
    if (this.#type === KEYS.FLOAT16 && this.#isFinite)
      this.#isFinite = viewOf(fresh).every((x) => Math.abs(x) < MAX_HALF);
  }

  /** @internal Keys and values of the encoder's output, the same for all tokens. */
  get fromEncoder() {
    return this.#length > 0 ? this.#fromEncoder : undefined;
  }

  /** @internal True if the encoder need not run again, because the cache has the keys and values of its output. */
  get encoded() {
    const needed = this.#options.cross && this.#blocks.length > 0;
    return this.#length > 0 && (this.#fromEncoder !== undefined || !needed);
  }

  /**
   * @internal
   * @param {number} layer
   * @param {Pair} pair
   * @param {Uint8Array} [padding]
   */
  setFromEncoder(layer, pair, padding) {
    // A previous call that failed may have set some pairs.
    if (layer === 0) this.#freeFromEncoder();
    this.#fromEncoder ??= { pairs: [], padding };
    this.#fromEncoder.pairs[layer] = pair;
    for (const tensor of [pair.key, pair.value]) this.#memory.watch(this.#memory.unscoped(tensor));
  }

  /** @internal @param {number} rows @param {boolean} far @param {number} version of the weights */
  advance(rows, far, version) {
    this.#length += rows;
    this.#version = version;
    this.far = far;
  }

  #freeFromEncoder() {
    this.#fromEncoder?.pairs.forEach(freePair);
    this.#fromEncoder = undefined;
  }

  get disposed() {
    return this.#disposed;
  }

  dispose() {
    this.#disposed = true;
    this.#freeFromEncoder();
    this.#blocks.forEach(freePair);
  }

  toString() {
    const { batch, length } = this.#size;
    const tokens = `${this.#length} of ${length} tokens${batch > 1 ? `, batch ${batch}` : ''}`;
    return `Cache: ${tokens}, ${this.#size.type}${this.disposed ? ' (disposed)' : ''}`;
  }

  /** The line that Node's console.log shows. @internal */
  [INSPECT]() {
    return this.toString();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

/** @param {Pair} pair */
function freePair({ key, value }) {
  key.dispose();
  value.dispose();
}

/**
 * Copies keys and values of tokens to a pair that may have another capacity or batch.
 * @param {Pair} to
 * @param {Pair} from
 * @param {number} count
 * @param {number[]} [rows] the sequences; default: all
 * @param {number} [dropped] tokens at the beginning that are left out
 */
function copyTokens(to, from, count, rows, dropped = 0) {
  for (const part of /** @type {const} */ (['key', 'value'])) {
    const [target, source] = [viewOf(to[part]), viewOf(from[part])];
    const [batch, heads, capacity, width] = shapeOf(to[part]);
    const fromCapacity = shapeOf(from[part])[2];
    for (let i = 0; i < batch * heads; i++) {
      const b = Math.floor(i / heads);
      const at = ((rows?.[b] ?? b) * heads + (i % heads)) * fromCapacity;
      target.set(source.subarray((at + dropped) * width, (at + count) * width), i * capacity * width);
    }
  }
}

/**
 * Refuses models that are not decoders of tokens. In a model that is not causal, every new token would change the keys
 * and values of all earlier tokens.
 * @param {string} caller
 * @param {Resolved} options
 */
export function checkDecoder(caller, { causal, input }) {
  if (causal && input === 'tokens') return;
  const why = causal ? `its input is ${input}` : 'its tokens attend to later tokens';
  throw new HeadlightError('STATE', `${caller}: this model is not a decoder: ${why}`);
}

/**
 * @param {string} caller
 * @param {Resolved} options of the model
 * @param {unknown} cache
 * @returns {asserts cache is Cache}
 */
export function checkCache(caller, options, cache) {
  if (!(cache instanceof Cache && cache.isOf(options)))
    throw argumentError(caller, 'cache', cache, 'a result of cache() of this model');
  cache.checkUsable(caller);
}
