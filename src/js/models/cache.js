// Keys and values of the tokens so far, appended in place: (B,G,capacity,D) for each block.

import { readNumber, readOptions, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { MAX_SIZE } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { shapeOf, viewOf } from '../memory/tensor.js';

/** @import { Frame } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Stride } from './graph.js' */
/** @import { Resolved } from './options.js' */

/** @typedef {{ length: number, batch?: number, type?: 'float32' | 'float16' }} CacheOptions length: most tokens */
/** @typedef {{ key: Tensor, value: Tensor }} Pair */

const SIZE = { integer: true, least: 1, most: 2 ** 24 };

/** (B,length) of 0 and 1. As long as all are 1, nothing is stored. */
class Marks {
  /** @type {Uint8Array | undefined} */
  #rows;
  #batch;
  #length;

  /** @param {number} batch @param {number} length */
  constructor(batch, length) {
    this.#batch = batch;
    this.#length = length;
  }

  /** @param {number} first @param {number} count @param {Uint8Array | undefined} marks (B,count); default: 1 for all */
  write(first, count, marks) {
    if (!this.#rows && !marks?.includes(0)) return;
    this.#rows ??= new Uint8Array(this.#batch * this.#length).fill(1);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length + first;
      if (marks) this.#rows.set(marks.subarray(b * count, (b + 1) * count), at);
      else this.#rows.fill(1, at, at + count);
    }
  }

  /** @param {number} count @returns {Uint8Array | undefined} (B,count) */
  read(count) {
    if (!this.#rows) return undefined;
    const rows = new Uint8Array(this.#batch * count);
    for (let b = 0; b < this.#batch; b++) {
      const at = b * this.#length;
      rows.set(this.#rows.subarray(at, at + count), b * count);
    }
    return rows;
  }

  clear() {
    this.#rows = undefined;
  }
}

export class Cache {
  #memory;
  #options;
  #given;
  /** Each (B,G,room,D); a growing cache has room for a part of its length. @type {Pair[]} */
  #blocks = [];
  /**
   * Keys and values made from the encoder's output, with the first tokens.
   * @type {{ pairs: Pair[], padding?: Uint8Array } | undefined}
   */
  #across;
  /** 1 = a real token. */
  #keep;
  /** 1 = a token that the positions of later tokens count. */
  #counted;
  #length = 0;
  #room;
  /** Identifies the weights that made its keys and values. */
  #weights = 0;
  /** The function that has locked it. @type {string | undefined} */
  #user;
  #disposed = false;
  /** @internal Whether its keys have turned as in long sequences. */
  far = false;

  /**
   * @param {Memory} memory
   * @param {Resolved} options
   * @param {CacheOptions} given
   * @param {number} [room] tokens that there is room for now, where it grows; default: length
   */
  constructor(memory, options, given, room) {
    const caller = 'cache';
    checkDecoder(caller, options);
    const read = readOptions(caller, given, ['length', 'batch', 'type']);
    const length = readNumber(caller, 'length', read.length, { ...SIZE, most: options.context });
    const batch = readNumber(caller, 'batch', read.batch ?? 1, SIZE);
    const words = /** @type {const} */ (['float32', 'float16']);
    const type = readWord(caller, 'type', read.type ?? 'float32', words);
    if (batch * length > MAX_SIZE)
      throw new HeadlightError('OUT_OF_MEMORY', `${caller}: out of memory: ${batch} sequences of ${length} tokens`, {
        parameter: 'batch',
        expected: `at most ${MAX_SIZE} tokens`,
        got: batch * length,
      });
    this.#memory = memory;
    this.#options = options;
    this.#given = { length, batch, type };
    this.#room = Math.min(room ?? length, length);
    memory.frame(caller, (frame) => {
      this.#blocks = Array.from({ length: options.layers }, () => this.#makePair(frame, this.#room));
    });
    this.#keep = new Marks(batch, length);
    this.#counted = new Marks(batch, length);
  }

  /** @param {Frame} frame @param {number} room @returns {Pair} */
  #makePair(frame, room) {
    const { kvHeads, headDim } = this.#options;
    const floats = this.#half ? Math.ceil(headDim / 2) : headDim;
    const make = () => this.#memory.unscoped(frame.make([this.#given.batch, kvHeads, room, floats]));
    return { key: make(), value: make() };
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
    this.checkUsable('rewind');
    this.#length = readNumber('rewind', 'length', length, { integer: true, least: 0, most: this.#length });
    if (length > 0) return this;
    this.#freeAcross();
    this.#keep.clear();
    this.#counted.clear();
    return this;
  }

  /** Another with the same tokens, to go on from them in two ways. */
  clone() {
    this.#checkAlive('clone');
    const other = new Cache(this.#memory, this.#options, this.#given, this.#room);
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
    this.#blocks.forEach((pair, i) => {
      copyTokens(other.#blocks[i], pair, this.#length);
    });
    if (this.#across) {
      const { pairs, padding } = this.#across;
      other.#across = this.#memory.frame('cache', (frame) => ({
        padding,
        pairs: pairs.map(({ key, value }) => ({ key: this.#copy(frame, key), value: this.#copy(frame, value) })),
      }));
    }
    other.#keep.write(0, this.#length, this.#keep.read(this.#length));
    other.#counted.write(0, this.#length, this.#counted.read(this.#length));
    other.#length = this.#length;
    other.#weights = this.#weights;
    other.far = this.far;
  }

  /** @param {Frame} frame @param {Tensor} tensor */
  #copy(frame, tensor) {
    const copy = this.#memory.unscoped(frame.make([...shapeOf(tensor)]));
    viewOf(copy).set(viewOf(tensor));
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

  /** Refuses all other users until unlock. @internal @param {string} user the function that uses it */
  lock(user) {
    this.checkUsable(user);
    this.#user = user;
  }

  /** @internal */
  unlock() {
    this.#user = undefined;
  }

  /**
   * Runs a function of the one that has locked it.
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
   * Refuses what it holds where other weights have made it.
   * @internal
   * @param {string} caller
   * @param {number} weights
   */
  checkWeights(caller, weights) {
    if (this.#length === 0 || this.#weights === weights) return;
    const text = `${caller}: the weights of the model have changed since this cache was filled: rewind it to 0`;
    throw new HeadlightError('STATE', text, { parameter: 'cache' });
  }

  /**
   * @internal
   * @param {string} caller
   * @param {number} batch
   * @param {number} rows
   * @param {Uint8Array | undefined} keep (B,rows): 1 = a real token
   * @param {Uint8Array | undefined} counted (B,rows): 1 = a token that positions count, where not all real ones are
   */
  admit(caller, batch, rows, keep, counted) {
    const { batch: own, length } = this.#given;
    this.checkUsable(caller);
    if (batch !== own) throw shapeError(caller, 'input', [batch, rows], `a batch of ${own}, that of the cache`);
    if (this.#length + rows > length)
      throw shapeError(
        caller,
        'input',
        [batch, rows],
        `at most ${length - this.#length} more tokens: the cache holds ${length}`,
      );
    this.#grow(caller, this.#length + rows);
    this.#keep.write(this.#length, rows, keep);
    this.#counted.write(this.#length, rows, counted);
  }

  /**
   * Doubles the room, block by block: where there is no memory for one, it still has all its tokens.
   * @param {string} caller
   * @param {number} tokens
   */
  #grow(caller, tokens) {
    if (tokens <= this.#room) return;
    const room = Math.min(this.#given.length, Math.max(tokens, 2 * this.#room));
    for (const [i, pair] of this.#blocks.entries()) {
      const larger = this.#memory.frame(caller, (frame) => this.#makePair(frame, room));
      copyTokens(larger, pair, this.#length);
      this.#blocks[i] = larger;
      freePair(pair);
    }
    this.#room = room;
  }

  /** @internal (B,keys): which positions count, where not all do. @param {number} keys */
  counted(keys) {
    return this.#counted.read(keys);
  }

  /** @internal @param {number} keys @returns {Uint8Array | undefined} (B,S), where there is padding */
  padding(keys) {
    return this.#keep.read(keys);
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
    const [first, all] = [this.#length, this.#length + rows];
    const [, , capacity] = shapeOf(stored);
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

  /** @internal @param {number} rows @param {boolean} far @param {number} weights that have made them */
  advance(rows, far, weights) {
    this.#length += rows;
    this.#weights = weights;
    this.far = far;
  }

  #freeAcross() {
    this.#across?.pairs.forEach(freePair);
    this.#across = undefined;
  }

  get disposed() {
    return this.#disposed;
  }

  dispose() {
    this.#disposed = true;
    this.#freeAcross();
    this.#blocks.forEach(freePair);
  }

  toString() {
    const { batch, length } = this.#given;
    const of = `${this.#length} of ${length} tokens${batch > 1 ? `, batch ${batch}` : ''}`;
    return `Cache: ${of}, ${this.#given.type}${this.disposed ? ' (disposed)' : ''}`;
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

/** Copies tokens to a pair with room of its own. @param {Pair} to @param {Pair} from @param {number} count */
function copyTokens(to, from, count) {
  for (const part of /** @type {const} */ (['key', 'value'])) {
    const [target, source] = [viewOf(to[part]), viewOf(from[part])];
    const [batch, heads, room, width] = shapeOf(to[part]);
    const before = shapeOf(from[part])[2];
    for (let i = 0; i < batch * heads; i++) {
      const at = i * before * width;
      target.set(source.subarray(at, at + count * width), i * room * width);
    }
  }
}

/**
 * A token that sees those after it would have to be computed again with every token that is added.
 * @param {string} caller
 * @param {Resolved} options
 */
export function checkDecoder(caller, { causal, input }) {
  if (causal && input === 'tokens') return;
  const why = causal ? `it reads ${input}` : 'its tokens see the tokens after them';
  throw new HeadlightError('STATE', `${caller}: this model is no decoder: ${why}`);
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
  cache.checkUsable(caller);
}
