// The KV cache: keys and values of previous tokens, (B,G,capacity,D) for each block. New ones are appended in place.

import { KEYS } from '../../../dist/abi/abi.js';
import { readNumber, readOptions, readWord } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { INSPECT } from '../check/inspect.ts';
import { MAX_SIZE } from '../check/shape.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Frame } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { shapeOf, type Tensor, viewOf } from '../memory/tensor.ts';
import type { Stride } from './gradients/graph.ts';
import type { Resolved } from './options.ts';
import { copyRows, TokenBits } from './tokenBits.ts';

export type CacheType = 'float32' | 'float16' | 'int8';
/** length: in tokens */
export type CacheOptions = { length: number; batch?: number; type?: CacheType };
/** Keys and values of a block, (B,G,capacity,R), where R floats store D numbers; of the encoder's output (B,S,G·D). */
export type Pair = { key: Tensor; value: Tensor };

const SIZE = { integer: true, least: 1, most: 2 ** 24 };
/** The largest float16. */
const MAX_HALF = 65504;
const TYPES = { float32: KEYS.FLOAT32, float16: KEYS.FLOAT16, int8: KEYS.INT8 };

export class Cache {
  #memory: Memory;
  #options: Resolved;
  #size: { length: number; batch: number; type: 'float32' | 'float16' | 'int8' };
  #blocks: Pair[] = [];
  /** Keys and values of the encoder's output. They are computed in the call with the first tokens. */
  #fromEncoder: { pairs: Pair[]; padding?: Uint8Array } | undefined;
  /** A bit for each token: 0 = padding. */
  #keep: TokenBits;
  /** A bit for each token: 0 = a token that is not counted in the positions of later tokens. */
  #counted: TokenBits;
  #length = 0;
  /** Number of tokens for which memory is allocated. A growing cache begins with less than its length. */
  #capacity: number;
  /** The version of the weights with which the keys and values were computed. */
  #version = 0;
  /** Name of the public method that has locked the cache. */
  #user: string | undefined;
  #disposed = false;
  /** False if a float16 cache could contain a number that is not finite. */
  #isFinite = true;
  /** @internal True if the keys are rotated by the angles of long sequences. */
  far = false;

  /** @param capacity tokens for which memory is allocated now; default: length */
  constructor(memory: Memory, options: Resolved, given: CacheOptions, capacity?: number) {
    const caller = 'cache';
    checkDecoder(caller, options);
    const read = readOptions(caller, given, ['length', 'batch', 'type']);
    const length = readNumber(caller, 'length', read.length, { ...SIZE, most: options.context });
    const batch = readNumber(caller, 'batch', read.batch ?? 1, SIZE);
    const words = ['float32', 'float16', 'int8'] as const;
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

  #makePair(frame: Frame, capacity: number): Pair {
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

  /** options: of a model @internal */
  isOf(options: Resolved) {
    return this.#options === options;
  }

  get #type() {
    return TYPES[this.#size.type];
  }

  /** Removes the last tokens, so that `length` tokens remain. */
  rewind(length: number) {
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
   * Returns a copy of some sequences. rows: their indices; dropped: first tokens to leave out, all padding.
   * @internal
   */
  takeRows(rows: number[], dropped = 0) {
    const other = new Cache(this.#memory, this.#options, { ...this.#size, batch: rows.length }, this.#capacity);
    try {
      this.#copyTo(other, rows, dropped);
    } catch (error) {
      other.dispose();
      throw error;
    }
    return other;
  }

  #copyTo(other: Cache, rows: number[], dropped: number) {
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

  #copy(frame: Frame, tensor: Tensor, rows: number[]) {
    const [batch, ...shape] = shapeOf(tensor);
    const copy = this.#memory.unscoped(frame.make([rows.length, ...shape]));
    copyRows(viewOf(copy), viewOf(tensor), batch, rows);
    return copy;
  }

  #checkAlive(caller: string) {
    if (this.disposed)
      throw new HeadlightError('DISPOSED', `${caller}: the cache has been disposed`, { parameter: 'cache' });
  }

  /** @internal */
  checkUsable(caller: string) {
    this.#checkAlive(caller);
    if (this.#user)
      throw new HeadlightError('STATE', `${caller}: ${this.#user} is using this cache until it ends`, {
        parameter: 'cache',
      });
  }

  /** Until unlock(), other methods that use the cache throw. user: the public method. @internal */
  lock(user: string) {
    this.checkUsable(user);
    this.#user = user;
  }

  /** @internal */
  unlock() {
    this.#user = undefined;
  }

  /** Unlocks the cache while `fn` runs. Only the method that has locked the cache may call this. @internal */
  forUser<T>(fn: () => T): T {
    const user = this.#user;
    this.#user = undefined;
    try {
      return fn();
    } finally {
      this.#user = user;
    }
  }

  /** Refuses keys and values that were computed with other weights. version: of the weights. @internal */
  checkWeights(caller: string, version: number) {
    if (this.#length === 0 || this.#version === version) return;
    const text = `${caller}: the weights of the model have changed since this cache was filled: rewind it to 0`;
    throw new HeadlightError('STATE', text, { parameter: 'cache' });
  }

  /**
   * Reserves memory for the tokens of a call. keep, counted: (B,rows): 0 = padding, or not counted in positions.
   * @internal
   */
  admit(caller: string, batch: number, rows: number, keep: Uint8Array | undefined, counted: Uint8Array | undefined) {
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
   * A capacity that is too small is at least doubled. Each block is copied before the old one is freed, so that no
   * token is lost if memory runs out.
   */
  #grow(caller: string, tokens: number) {
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

  /** @internal Keys and values of each block, and which tokens are counted in positions, for reorderRows.ts. */
  get stored() {
    return { blocks: this.#blocks, counted: this.#counted };
  }

  /** Returns (B,keys), 0 = a token that is not counted in positions, or undefined if all are counted. @internal */
  counted(keys: number) {
    return this.#counted.read(keys);
  }

  /** returns (B,S), undefined without padding @internal */
  padding(keys: number): Uint8Array | undefined {
    return this.#keep.read(keys);
  }

  /**
   * Appends key and value (B,T,G·D) to those of a block. Returns all of the block, as strided (B,G,past+T,D), and the
   * type of their numbers: float32, or with asStored that of the cache, unless it is float16 and a number could be
   * infinite or NaN.
   * @internal
   */
  store(layer: number, key: Tensor, value: Tensor, asStored: boolean) {
    const pair = this.#blocks[layer];
    for (const part of ['key', 'value'] as const) this.#append(pair[part], part === 'key' ? key : value);
    const direct = this.#type === KEYS.FLOAT32 || (asStored && this.#isFinite);
    const rows = this.#length + shapeOf(key)[1];
    const given = (stored: Tensor) => (direct ? this.#strided(stored) : this.#widened(stored, rows));
    return { key: given(pair.key), value: given(pair.value), type: direct ? this.#type : KEYS.FLOAT32 };
  }

  /** stored: (B,G,capacity,R) */
  #strided(stored: Tensor): { tensor: Tensor; stride: Stride } {
    const [, heads, capacity, row] = shapeOf(stored);
    return { tensor: stored, stride: [heads * capacity * row, capacity * row, row] };
  }

  /** Converts to float32. all: number of tokens. */
  #widened(stored: Tensor, all: number): { tensor: Tensor; stride: Stride } {
    const { kvHeads, headDim: width } = this.#options;
    const [batch, , capacity] = shapeOf(stored);
    const wide = this.#memory.empty([batch, kvHeads, all, width], 'forward');
    this.#memory.call('hl_cache_load', 'forward', wide, stored, batch, kvHeads, all, capacity, width, this.#type);
    return this.#strided(wide);
  }

  /** stored: (B,G,capacity,R); fresh: (B,T,G·D) */
  #append(stored: Tensor, fresh: Tensor) {
    const { kvHeads, headDim: width } = this.#options;
    const [batch, rows] = shapeOf(fresh);
    const first = this.#length;
    const [, , capacity] = shapeOf(stored);
    const strides = [rows * kvHeads * width, width, kvHeads * width] as const;
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

  /** @internal */
  setFromEncoder(layer: number, pair: Pair, padding?: Uint8Array) {
    // A previous call that failed may have set some pairs.
    if (layer === 0) this.#freeFromEncoder();
    this.#fromEncoder ??= { pairs: [], padding };
    this.#fromEncoder.pairs[layer] = pair;
    for (const tensor of [pair.key, pair.value]) this.#memory.watch(this.#memory.unscoped(tensor));
  }

  /** version: of the weights @internal */
  advance(rows: number, far: boolean, version: number) {
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

function freePair({ key, value }: Pair) {
  key.dispose();
  value.dispose();
}

/** Copies to a pair of any capacity or batch. rows: sequences, default all; dropped: first tokens to leave out. */
function copyTokens(to: Pair, from: Pair, count: number, rows?: number[], dropped = 0) {
  for (const part of ['key', 'value'] as const) {
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

/** Refuses models that are not causal, in which new tokens would change keys and values of all earlier ones. */
export function checkDecoder(caller: string, { causal, input }: Resolved) {
  if (causal && input === 'tokens') return;
  const why = causal ? `its input is ${input}` : 'its tokens attend to later tokens';
  throw new HeadlightError('STATE', `${caller}: this model is not a decoder: ${why}`);
}

export function checkCache(caller: string, options: Resolved, cache: unknown): asserts cache is Cache {
  if (!(cache instanceof Cache && cache.isOf(options)))
    throw argumentError(caller, 'cache', cache, 'a result of cache() of this model');
  cache.checkUsable(caller);
}
