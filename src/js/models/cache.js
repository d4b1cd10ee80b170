// Keys and values of the tokens so far, appended in place: (B,G,capacity,D) for each block.

import { readNumber, readOptions, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { DISPOSE } from '../memory/disposable.js';
import { shapeOf, viewOf } from '../memory/tensor.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Stride } from './graph.js' */
/** @import { Resolved } from './options.js' */

/** @typedef {{ length: number, batch?: number, type?: 'float32' | 'float16' }} CacheOptions length: most tokens */
/** @typedef {{ key: Tensor, value: Tensor }} Pair */

const SIZE = { integer: true, least: 1, most: 2 ** 24 };

export class Cache {
  #memory;
  #options;
  #given;
  /** @type {Pair[]} */
  #blocks = [];
  /**
   * Of the encoder's output: made with the first tokens.
   * @type {{ pairs: Pair[], padding?: Uint8Array } | undefined}
   */
  #across;
  /** (B,capacity): 1 = a real token. */
  #keep;
  #padded = false;
  #length = 0;
  /** @internal Whether its keys have turned as in long sequences. */
  far = false;

  /** @param {Memory} memory @param {Resolved} options @param {CacheOptions} given */
  constructor(memory, options, given) {
    const caller = 'cache';
    const { length, batch = 1, type = 'float32' } = readOptions(caller, given, ['length', 'batch', 'type']);
    this.#memory = memory;
    this.#options = options;
    this.#given = {
      length: readNumber(caller, 'length', length, { ...SIZE, most: options.context }),
      batch: readNumber(caller, 'batch', batch, SIZE),
      type: readWord(caller, 'type', type, /** @type {const} */ (['float32', 'float16'])),
    };
    this.#keep = new Uint8Array(this.#given.batch * this.#given.length);
    const { kvHeads, headDim } = options;
    const floats = type === 'float16' ? Math.ceil(headDim / 2) : headDim;
    memory.frame(caller, (frame) => {
      const make = () => memory.unscoped(frame.make([batch, kvHeads, length, floats]));
      this.#blocks = Array.from({ length: options.layers }, () => ({ key: make(), value: make() }));
    });
  }

  /** Tokens in it. */
  get length() {
    return this.#length;
  }

  get capacity() {
    return this.#given.length;
  }

  /** @internal @param {Resolved} options of a model */
  isOf(options) {
    return this.#options === options;
  }

  get #half() {
    return this.#given.type === 'float16';
  }

  /**
   * Forgets the tokens from this length on.
   * @param {number} length
   */
  rewind(length) {
    this.#length = readNumber('rewind', 'length', length, { integer: true, least: 0, most: this.#length });
    if (length === 0) this.#freeAcross();
    return this;
  }

  /** Another with the same tokens, to go on from them in two ways. */
  clone() {
    const other = new Cache(this.#memory, this.#options, this.#given);
    try {
      this.#copyTo(other);
    } catch (error) {
      other.dispose();
      throw error;
    }
    return other;
  }

  /** @param {Cache} other */
  #copyTo(other) {
    this.#blocks.forEach(({ key, value }, i) => {
      viewOf(other.#blocks[i].key).set(viewOf(key));
      viewOf(other.#blocks[i].value).set(viewOf(value));
    });
    if (this.#across) {
      const { pairs, padding } = this.#across;
      other.#across = this.#memory.frame('cache', (frame) => ({
        padding,
        pairs: pairs.map(({ key, value }) => ({ key: this.#copy(frame, key), value: this.#copy(frame, value) })),
      }));
    }
    other.#keep.set(this.#keep);
    other.#padded = this.#padded;
    other.#length = this.#length;
    other.far = this.far;
  }

  /** @param {import('../memory/frame.js').Frame} frame @param {Tensor} tensor */
  #copy(frame, tensor) {
    const copy = this.#memory.unscoped(frame.make([...shapeOf(tensor)]));
    viewOf(copy).set(viewOf(tensor));
    return copy;
  }

  /**
   * @internal
   * @param {string} caller
   * @param {number} batch
   * @param {number} rows
   * @param {Uint8Array | undefined} keep
   */
  admit(caller, batch, rows, keep) {
    const { batch: own, length } = this.#given;
    if (this.disposed)
      throw new HeadlightError('DISPOSED', `${caller}: the cache has been disposed`, { parameter: 'cache' });
    if (batch !== own) throw shapeError(caller, 'input', [batch, rows], `a batch of ${own}, that of the cache`);
    if (this.#length + rows > length)
      throw shapeError(
        caller,
        'input',
        [batch, rows],
        `at most ${length - this.#length} more tokens: the cache holds ${length}`,
      );
    for (let b = 0; b < batch; b++)
      for (let t = 0; t < rows; t++) this.#keep[b * length + this.#length + t] = keep ? keep[b * rows + t] : 1;
    this.#padded ||= keep?.includes(0) ?? false;
  }

  /** @internal @param {number} keys @returns {Uint8Array | undefined} (B,S), where there is padding */
  padding(keys) {
    const { batch, length } = this.#given;
    if (!this.#padded) return undefined;
    const rows = new Uint8Array(batch * keys);
    for (let b = 0; b < batch; b++) rows.set(this.#keep.subarray(b * length, b * length + keys), b * keys);
    return rows;
  }

  /**
   * Keys and values of a block, with fresh ones (B,T,G·D) at their end.
   * @internal
   * @param {number} layer
   * @param {Tensor} key
   * @param {Tensor} value
   */
  store(layer, key, value) {
    const pair = this.#blocks[layer];
    return { key: this.#append(pair.key, key), value: this.#append(pair.value, value) };
  }

  /** @param {Tensor} stored @param {Tensor} fresh @returns {{ tensor: Tensor, stride: Stride }} */
  #append(stored, fresh) {
    const { kvHeads, headDim: width } = this.#options;
    const [batch, rows] = shapeOf(fresh);
    const [first, capacity, all] = [this.#length, this.#given.length, this.#length + rows];
    const strides = /** @type {const} */ ([rows * kvHeads * width, width, kvHeads * width]);
    const half = Number(this.#half);
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
      half,
    );
    if (!half) return { tensor: stored, stride: [kvHeads * capacity * width, capacity * width, width] };
    const wide = this.#memory.empty([batch, kvHeads, all, width], 'forward');
    this.#memory.call('hl_cache_load', 'forward', wide, stored, batch, kvHeads, all, capacity, width);
    return { tensor: wide, stride: [kvHeads * all * width, all * width, width] };
  }

  /** @internal Keys and values of what the encoder has made: the same for all tokens. */
  get across() {
    return this.#length > 0 ? this.#across : undefined;
  }

  /** @internal Whether what the encoder has made is in it, or nothing of that is needed. */
  get encoded() {
    const needed = this.#options.cross && this.#blocks.length > 0;
    return this.#length > 0 && (this.#across !== undefined || !needed);
  }

  /**
   * @internal
   * @param {number} layer
   * @param {Pair} pair
   * @param {Uint8Array} [padding]
   */
  setAcross(layer, pair, padding) {
    // What a call has left that failed.
    if (layer === 0) this.#freeAcross();
    this.#across ??= { pairs: [], padding };
    this.#across.pairs[layer] = pair;
    for (const tensor of [pair.key, pair.value]) this.#memory.watch(this.#memory.unscoped(tensor));
  }

  /** @internal @param {number} rows @param {boolean} far */
  advance(rows, far) {
    this.#length += rows;
    this.far = far;
  }

  #freeAcross() {
    for (const { key, value } of this.#across?.pairs ?? []) {
      key.dispose();
      value.dispose();
    }
    this.#across = undefined;
  }

  get disposed() {
    return this.#blocks.length > 0 && this.#blocks[0].key.disposed;
  }

  dispose() {
    this.#freeAcross();
    for (const { key, value } of this.#blocks) {
      key.dispose();
      value.dispose();
    }
  }

  [DISPOSE]() {
    this.dispose();
  }
}

/**
 * @param {string} caller
 * @param {Resolved} options of the model
 * @param {unknown} cache
 * @returns {asserts cache is Cache}
 */
export function checkCache(caller, options, cache) {
  if (!(cache instanceof Cache && cache.isOf(options)))
    throw argumentError(caller, 'cache', cache, 'what cache() of this model gives');
}
