// One pass of an input through a transformer: the state that its blocks share, and the operations they use.

import { HeadlightError, shapeError } from '../check/errors.js';
import { shapeOf, viewOf } from '../memory/tensor.js';
import { alibiSlopes } from '../ops/rotary.js';
import { joinHeads, splitHeads } from './axes.js';
import { block } from './block.js';
import { HEADS, ROWS } from './edits.js';
import { embedInput } from './embedInput.js';
import { parameterName } from './parameters.js';
import { bucketOf, countPositions } from './positions.js';
import { rarePart } from './rareParts.js';
import { anglesOf } from './rotaryOptions.js';
import { sliceRows } from './rowOperations.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Cache } from './cache.js' */
/** @import { RelativeRows } from './disentangled.js' */
/** @import { Axes, Values } from './edits.js' */
/** @import { Graph, Stride } from './graph.js' */
/** @import { ReadInput } from './input.js' */
/** @import { Resolved } from './options.js' */
/** @import { RotaryTables } from './rotaryTables.js' */
/** @import { Weight } from './weights.js' */

/** @typedef {{ tensor: Tensor, padding: Uint8Array | undefined }} Encoded the encoder's output: (B,S,C), (B,S) */
/** @typedef {{ tensor: Tensor, stride: Stride }} Strided */
/**
 * State that the encoder and the decoder of one call share.
 * @typedef {object} Shared
 * @property {Memory} memory
 * @property {string} caller
 * @property {Graph} graph
 * @property {(name: string) => Weight | undefined} weightOf
 * @property {Map<string, { weight?: Weight, bias?: Weight }>} layers that have been looked up
 * @property {ReadonlyMap<string, number>} plainNorms widths of norms without weights, by the name of the missing weight
 * @property {RotaryTables} rotaryTables
 * @property {Values} values
 * @property {number} step number of the training step, for the seed of dropout
 * @property {number} [straight] index of the block through which gradients pass unchanged
 * @property {number} [blocks] number of blocks that are computed; default: all blocks and the head
 */

export class Run {
  /** @type {{ tensor: Tensor, stride: readonly number[] } | undefined} */
  #bias;
  /** Rows for the relative positions of disentangled attention. @type {RelativeRows | undefined} */
  relative;
  /** @type {Encoded | undefined} */
  #encoded;
  #shared;
  #maxPosition;
  /** True if only the last token is computed after the keys and values of the last block. */
  #narrows;

  /**
   * @param {Shared} shared
   * @param {Resolved} options
   * @param {string} prefix of the names of its parameters and values
   * @param {ReadInput} input
   * @param {{ cache?: Cache, encoded?: Encoded, last?: boolean }} more last: only the last token's results are needed
   */
  constructor(shared, options, prefix, input, { cache, encoded, last = false } = {}) {
    this.#shared = shared;
    this.#encoded = encoded;
    this.options = options;
    this.prefix = prefix;
    this.input = input;
    this.cache = cache;
    this.caller = shared.caller;
    this.graph = shared.graph;
    this.values = prefixed(shared.values, prefix);
    this.batch = input.batch;
    this.rows = input.rows + (options.patch?.classTokens ?? 0);
    /** Number of tokens in the cache, which come before the rows of this run. */
    this.past = cache ? cache.length : 0;
    this.#checkLength(last);
    if (cache) cache.admit(this.caller, this.batch, this.rows, input.keep, this.#notPadToken);
    /** (B,S): 0 = padding. @type {Uint8Array | undefined} */
    this.padding = cache ? cache.padding(this.past + this.rows) : input.keep;
    /** (B,T) */
    this.positions = input.positions ?? countPositions(this, this.#countedTokens, options.padToken !== undefined);
    this.#maxPosition = this.positions.reduce((max, p) => Math.max(max, p), 0);
    const needsAll =
      !this.values.idle || shared.graph.records || options.buckets !== undefined || options.pool !== 'none';
    this.#narrows = last && cache !== undefined && !needsAll;
    /**
     * True if keys are rotated by the angles of long sequences. If the cache contains tokens, their keys determine
     * this, because they are rotated already.
     */
    this.far = this.#checkFar(options.rotary?.long?.beyond ?? Infinity);
  }

  /** @param {boolean} last */
  #checkLength(last) {
    const { caller, batch, rows, past, input } = this;
    const shape = input.batched ? [batch, rows] : [rows];
    if (past + rows > this.#maxLength)
      throw shapeError(
        caller,
        input.called,
        shape,
        `at most ${this.#maxLength - past} more tokens, because the context is ${this.#maxLength}`,
      );
    if (last && rows === 0) throw shapeError(caller, input.called, shape, 'at least one token with last');
  }

  /** @param {number} beyond a sequence with this position or a larger one is rotated as a long sequence */
  #checkFar(beyond) {
    const { cache, past } = this;
    const far = cache && past > 0 ? cache.far : this.#maxPosition >= beyond;
    if (!far && this.#maxPosition >= beyond)
      throw shapeError(
        this.caller,
        this.input.called,
        [this.batch, this.rows],
        `at most ${Math.max(beyond - past, 0)} more tokens, as the keys in this cache are rotated as in sequences of ` +
          `at most ${beyond}`,
      );
    return far;
  }

  /**
   * Restricts the run to the last token, if only the results of this token are needed. block.js calls this method when
   * the keys and values of the last block have been computed. This saves a fifteenth of the time of a prompt in a model
   * with twelve blocks. Without a cache, or with captures or edits, all rows are computed, because a product of one row
   * adds numbers in another order, and an edit that sets a value to itself must change no bit.
   */
  narrow() {
    if (!this.#narrows) return;
    const { positions, rows } = this;
    this.positions = Int32Array.from({ length: this.batch }, (_, b) => positions[(b + 1) * rows - 1]);
    this.past += rows - 1;
    this.rows = 1;
  }

  /** Returns the rows that are still computed after narrow(). @param {Tensor} x (B,T,C) */
  narrowed(x) {
    return sliceRows(this.graph, x, shapeOf(x)[1] - this.rows, this.rows);
  }

  get #maxLength() {
    const { context, patch } = this.options;
    return patch ? Math.max(context, this.rows) : context;
  }

  /** (B,T): 0 for the padding token, if positions do not count this token. */
  get #notPadToken() {
    const { padToken } = this.options;
    const { labels } = this.input;
    return padToken === undefined || !labels
      ? undefined
      : Uint8Array.from(labels, (label) => Number(label !== padToken));
  }

  /**
   * (B,S): 0 for tokens that positions do not count; undefined if they count all.
   */
  get #countedTokens() {
    const { padToken, countPadding } = this.options;
    if (padToken !== undefined) return this.cache ? this.cache.counted(this.past + this.rows) : this.#notPadToken;
    return countPadding ? undefined : this.padding;
  }

  /** @param {string} name @returns {Weight | undefined} */
  weight(name) {
    return this.#shared.weightOf(this.prefix + parameterName(this.options, name));
  }

  /** @param {string} name @returns {Weight} */
  requiredWeight(name) {
    return /** @type {Weight} */ (this.weight(name));
  }

  /** The embedding table of the decoder, for an encoder that shares it. */
  get decoderEmbedding() {
    return /** @type {Weight} */ (this.#shared.weightOf('embedding.table'));
  }

  /**
   * @param {string} name of a layer, or of a weight
   * @param {Tensor} x (…,in)
   * @param {string} [bias] name of the bias; default: the bias of the layer
   * @returns {Tensor} (…,out)
   */
  linear(name, x, bias) {
    const layer = this.#layer(name, bias);
    return this.graph.linear(x, /** @type {Weight} */ (layer.weight), layer.bias);
  }

  /** Returns weight and bias of a layer. Each layer is looked up once. @param {string} name @param {string} [bias] */
  #layer(name, bias) {
    const { layers } = this.#shared;
    const full = this.prefix + name;
    let found = layers.get(full);
    if (!found) {
      const weight = this.weight(`${name}.weight`) ?? this.weight(name);
      found = { weight, bias: this.weight(bias ?? `${name}.bias`) };
      layers.set(full, found);
    }
    return found;
  }

  /** Normalizes x, or returns x itself if the model has no such norm. @param {string} name @param {Tensor} x (…,C) */
  norm(name, x) {
    const { weight = this.#ones(`${name}.weight`), bias } = this.#layer(name);
    const { norm, normEps } = this.options;
    return weight ? this.graph.norm(x, weight, bias, norm === 'layer', normEps) : x;
  }

  /** Returns a weight of ones for a norm without weights. @param {string} name @returns {Weight | undefined} */
  #ones(name) {
    const width = this.#shared.plainNorms.get(this.prefix + parameterName(this.options, name));
    return width ? { shape: [width], tensor: this.graph.from([width], new Float32Array(width).fill(1)) } : undefined;
  }

  /**
   * Multiplies each channel by its factor, if the model has such factors.
   * @param {string} name
   * @param {Tensor} x (…,C)
   */
  scaled(name, x) {
    return this.options.layerScale ? this.graph.scaleChannels(x, this.requiredWeight(name)) : x;
  }

  /**
   * Normalizes queries or keys, or returns x itself if the model has no such norm.
   * @param {string} name
   * @param {Tensor} x (B,T,heads·D)
   */
  headNorm(name, x) {
    const { queryKeyNorm: kind, normEps } = this.options;
    const weight = this.weight(name);
    if (!weight) return x;
    if (kind === 'layer' || kind === 'each')
      return rarePart('headNorms', this.caller).centredHeadNorm(this, name, weight, x);
    return this.graph.norm(x, weight, undefined, false, normEps);
  }

  /**
   * Captures and edits a value; returns the value with which the computation continues.
   * @param {string} name
   * @param {Tensor} tensor
   * @param {Axes} axes
   * @param {number} [start] position of the first token
   * @param {boolean} [fresh] true: no other value has this tensor
   */
  pass(name, tensor, axes, start = this.past, fresh = false) {
    if (this.values.idle) return tensor;
    return this.values.pass(name, tensor, axes, start, this.graph, fresh);
  }

  /**
   * Captures and edits a value of heads, as (B,heads,N,D), and returns the value with which the computation continues.
   * @param {string} name
   * @param {Tensor} tensor (B,N,heads·D)
   * @param {number} heads
   * @param {number} start
   */
  passHeads(name, tensor, heads, start) {
    if (this.values.idle || !this.values.wants(name)) return tensor;
    const split = splitHeads(this.graph, tensor, heads);
    const passed = this.values.pass(name, split, HEADS, start, this.graph, true);
    return passed === split && !this.graph.differentiates ? tensor : joinHeads(this.graph, passed);
  }

  /**
   * Copies strided heads (B,heads,N,D) to contiguous rows, unless they are contiguous already.
   * @param {Strided} strided
   * @param {number} heads
   * @param {number} rows
   * @returns {Tensor} (B,N,heads·D)
   */
  gather({ tensor, stride: [perBatch, perHead, perRow] }, heads, rows) {
    const width = this.options.headDim;
    if (perRow === heads * width && perHead === width && perBatch === rows * perRow) return tensor;
    const joined = this.graph.make([this.batch, rows, heads * width]);
    const [to, from] = [viewOf(joined), viewOf(tensor)];
    for (let b = 0; b < this.batch; b++)
      for (let r = 0; r < rows; r++)
        for (let h = 0; h < heads; h++) {
          const at = b * perBatch + h * perHead + r * perRow;
          to.set(from.subarray(at, at + width), ((b * rows + r) * heads + h) * width);
        }
    return joined;
  }

  /** @param {Tensor} x (B,T,heads·D) @param {number} heads @param {number} layer */
  rotate(x, heads, layer) {
    const { rotary, headDim: width } = this.options;
    const angles = anglesOf(this.options, layer);
    if (!rotary || !angles) return x;
    const table = this.#shared.rotaryTables.get(rotary.width, angles, this.#maxPosition + 1, this.far);
    const neighbours = rotary.pairing === 'neighbours';
    return this.graph.rotate(x, { table, positions: this.positions, heads, width, rotated: rotary.width, neighbours });
  }

  /** False for an encoder. */
  get #isMain() {
    return this.prefix === '';
  }

  /** The index of the block through which gradients pass unchanged. */
  get straight() {
    return this.#isMain ? this.#shared.straight : undefined;
  }

  /** (H), of ALiBi: the score decreases by slope · distance. @returns {Float32Array | undefined} */
  get slopes() {
    const { positions, numHeads } = this.options;
    return positions === 'alibi' ? Float32Array.from(alibiSlopes(numHeads)) : undefined;
  }

  /**
   * Returns the bias of relative positions (H,T,S), which all blocks share. The first call must be outside the scope of
   * a block, because the tensor is freed with the scope in which it is made.
   */
  positionBias() {
    this.#bias ??= this.#makeBias();
    return this.#bias;
  }

  #makeBias() {
    const { causal, buckets } = this.options;
    const [queries, keys] = [this.rows, this.past + this.rows];
    if (!buckets) return undefined;
    const bucket = Int32Array.from({ length: queries + keys - 1 }, (_, i) =>
      bucketOf(i - (queries - 1) - this.past, buckets.count, buckets.distance, !causal),
    );
    const tensor = this.graph.relative(this.requiredWeight('buckets.table'), bucket, queries);
    return { tensor, stride: [0, queries * keys, keys, 1] };
  }

  /**
   * Returns keys and values (B,S,G·D) of the encoder's output. With a cache they are computed once.
   * @param {number} layer
   * @param {string} at prefix of the names of the attention's weights
   */
  crossKeysValues(layer, at) {
    const cached = this.#encoded ? undefined : this.cache?.fromEncoder;
    if (cached) return { ...cached.pairs[layer], padding: cached.padding };
    if (!this.#encoded) throw new HeadlightError('STATE', `${this.caller}: there is no encoder to attend to`);
    const { tensor, padding } = this.#encoded;
    const pair = {
      key: this.linear(`${at}.wk`, tensor, `${at}.bk`),
      value: this.linear(`${at}.wv`, tensor, `${at}.bv`),
    };
    this.cache?.setFromEncoder(layer, pair, padding);
    return { ...pair, padding };
  }

  /** @param {number} layer @param {boolean} cross */
  dropout(layer, cross) {
    const { dropout: p, seed } = this.options;
    if (p === 0 || !this.graph.train) return undefined;
    const low = (seed * 2 ** 10 + layer * 2 + Number(cross)) | 0;
    return { p, seed: /** @type {const} */ ([low, this.#shared.step | 0]) };
  }

  /**
   * Computes the hidden states after the final norm. If not all blocks are needed, computes no norm.
   * @returns {Tensor} (B,T,C)
   */
  hidden() {
    let x = embedInput(this);
    this.positionBias();
    const { layers, disentangled } = this.options;
    if (disentangled) this.relative = rarePart('disentangled', this.caller).relativeRows(this, disentangled);
    const count = this.#isMain ? (this.#shared.blocks ?? layers) : layers;
    for (let i = 0; i < count; i++) {
      x = this.#inScope(() => block(this, i, x), x);
    }
    if (count < layers) return x;
    return this.pass('final', this.norm('norm', x), ROWS);
  }

  /**
   * Computes a block and then frees its values, except its output and captured values. If operations are recorded,
   * frees nothing.
   * @param {() => Tensor} fn
   * @param {Tensor} input of the block; it is freed as well, unless it is captured
   */
  #inScope(fn, input) {
    if (this.graph.records) return fn();
    const { captured } = this.values;
    const { output } = this.#shared.memory.scope(() => ({ output: fn(), captured }));
    if (!Object.values(captured).includes(input)) input.dispose();
    return output;
  }
}

/**
 * Returns an object for an encoder that has the methods of `values` and adds a prefix to the names of values.
 * @param {Values} values
 * @param {string} prefix
 */
function prefixed(values, prefix) {
  if (prefix === '') return values;
  return /** @type {Values} */ (
    /** @type {unknown} */ ({
      captured: values.captured,
      idle: values.idle,
      captures: (/** @type {string} */ name) => values.captures(prefix + name),
      edits: (/** @type {string} */ name) => values.edits(prefix + name),
      wants: (/** @type {string} */ name) => values.wants(prefix + name),
      pass: (/** @type {string} */ name, /** @type {[Tensor, Axes, number, any, boolean?]} */ ...rest) =>
        values.pass(prefix + name, ...rest),
    })
  );
}
