// One pass of an input through a transformer: embedding, blocks, head. It holds what the blocks share.

import { HeadlightError, shapeError } from '../check/errors.js';
import { shapeOf, viewOf } from '../memory/tensor.js';
import { alibiSlopes } from '../ops/rotary.js';
import { block } from './block.js';
import { ROWS } from './edits.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Cache } from './cache.js' */
/** @import { Axes, Values } from './edits.js' */
/** @import { Graph, Weight } from './graph.js' */
/** @import { ReadInput } from './input.js' */
/** @import { Resolved } from './options.js' */

/** @typedef {{ tensor: Tensor, padding: Uint8Array | undefined }} Encoded what a decoder attends to */
/**
 * What the runs of one call have in common.
 * @typedef {object} Shared
 * @property {Memory} memory
 * @property {string} caller
 * @property {Graph} graph
 * @property {(name: string) => Weight | undefined} weightOf
 * @property {Map<string, { weight?: Weight, bias?: Weight }>} layers that have been looked up
 * @property {ReadonlyMap<string, number>} plain widths of norms without a weight, by its name
 * @property {(rotary: NonNullable<Resolved['rotary']>, theta: number, positions: number, far: boolean) => Tensor}
 *   tableOf
 * @property {Values} values
 * @property {number} step of training: which dropout mask
 */

export class Run {
  /** @type {{ tensor: Tensor, stride: readonly number[] } | undefined} */
  #bias;
  /** @type {Encoded | undefined} */
  #encoded;
  #shared;
  #lastPosition;
  #onlyLast;

  /**
   * @param {Shared} shared
   * @param {Resolved} options
   * @param {string} prefix of its parameters and values
   * @param {ReadInput} input
   * @param {{ cache?: Cache, encoded?: Encoded, last?: boolean }} more last: only the last token is asked for
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
    /** Tokens before these, in the cache. */
    this.past = cache ? cache.length : 0;
    if (this.past + this.rows > this.#places)
      throw shapeError(
        this.caller,
        input.called,
        input.batched ? [this.batch, this.rows] : [this.rows],
        `at most ${this.#places - this.past} more tokens: the context is ${this.#places}`,
      );
    if (last && this.rows === 0)
      throw shapeError(
        this.caller,
        input.called,
        input.batched ? [this.batch, 0] : [0],
        'at least one token with last',
      );
    if (cache) cache.admit(this.caller, this.batch, this.rows, input.keep, this.#notPadToken);
    /** (B,S): which keys are real. @type {Uint8Array | undefined} */
    this.padding = cache ? cache.padding(this.past + this.rows) : input.keep;
    this.positions = input.positions ?? this.#countPositions();
    this.#lastPosition = this.positions.reduce((most, p) => Math.max(most, p), 0);
    const seen = !this.values.idle || shared.graph.train || options.positions === 'buckets' || options.pool !== 'none';
    this.#onlyLast = last && cache !== undefined && !seen;
    const beyond = options.rotary?.long?.beyond ?? Infinity;
    /** Whether keys turn by the angles of long sequences: those in a cache have turned already. */
    this.far = cache && this.past > 0 ? cache.far : this.#lastPosition >= beyond;
    if (!this.far && this.#lastPosition >= beyond)
      throw shapeError(
        this.caller,
        input.called,
        [this.batch, this.rows],
        `at most ${Math.max(beyond - this.past, 0)} more tokens: what this cache holds has turned as in sequences of ` +
          `at most ${beyond}`,
      );
  }

  /**
   * The last block has its keys and values: of a prompt whose last token alone is asked for, what follows is computed
   * of that one, which spares a fifteenth of the time of twelve blocks. Its sums are then made in another order:
   * without a cache all is computed as ever, so that values put back change no bit.
   */
  narrow() {
    if (!this.#onlyLast) return;
    const { positions, rows } = this;
    this.positions = Int32Array.from({ length: this.batch }, (_, b) => positions[(b + 1) * rows - 1]);
    this.past += rows - 1;
    this.rows = 1;
  }

  /** What of x is still computed. @param {Tensor} x (B,T,C) */
  counted(x) {
    return this.graph.slice(x, shapeOf(x)[1] - this.rows, this.rows);
  }

  get #places() {
    const { context, patch } = this.options;
    return patch ? Math.max(context, this.rows) : context;
  }

  /** (B,T): 0 for the padding token, where positions do not count it. */
  get #notPadToken() {
    const { padToken } = this.options;
    const { labels } = this.input;
    return padToken === undefined || !labels
      ? undefined
      : Uint8Array.from(labels, (label) => Number(label !== padToken));
  }

  /** (B,S): which tokens the positions of later ones count, where not all. */
  get #counted() {
    const { padToken, causal, positionOffset } = this.options;
    if (padToken !== undefined) return this.cache ? this.cache.counted(this.past + this.rows) : this.#notPadToken;
    return causal || positionOffset > 0 ? this.padding : undefined;
  }

  /**
   * The position of a token is the number of real tokens before it; where all see all and nothing is said of padding,
   * its place. The padding token has −1, the row before position 0.
   */
  #countPositions() {
    const { batch, rows, past, options } = this;
    const counted = this.#counted;
    const positions = new Int32Array(batch * rows);
    for (let b = 0; b < batch && rows > 0; b++) {
      let seen = 0;
      for (let s = 0; s < past + rows; s++) {
        const counts = counted?.[b * (past + rows) + s] !== 0;
        if (s >= past) positions[b * rows + s - past] = counts || options.padToken === undefined ? seen : -1;
        if (counts) seen++;
      }
    }
    return positions;
  }

  /** @param {string} name @returns {Weight | undefined} */
  weight(name) {
    return this.#shared.weightOf(this.prefix + name);
  }

  /** @param {string} name @returns {Weight} */
  #needed(name) {
    return /** @type {Weight} */ (this.weight(name));
  }

  /**
   * @param {string} name of a layer, or of a weight that has a bias elsewhere
   * @param {Tensor} x
   * @param {string} [bias]
   */
  linear(name, x, bias) {
    const layer = this.#layer(name, bias);
    return this.graph.linear(x, /** @type {Weight} */ (layer.weight), layer.bias);
  }

  /** Weight and bias of a layer, looked up once. @param {string} name @param {string} [bias] */
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

  /** x itself where there is no such norm. @param {string} name @param {Tensor} x */
  norm(name, x) {
    const { weight = this.#ones(`${name}.weight`), bias } = this.#layer(name);
    const { norm, normEps } = this.options;
    return weight ? this.graph.norm(x, weight, bias, norm === 'layer', normEps) : x;
  }

  /** What a norm without a weight multiplies by. @param {string} name @returns {Weight | undefined} */
  #ones(name) {
    const width = this.#shared.plain.get(this.prefix + name);
    return width ? { shape: [width], tensor: this.graph.from([width], new Float32Array(width).fill(1)) } : undefined;
  }

  /** RMS norm of every head. @param {Tensor} x (B,T,heads·D) @param {Weight} weight (D) */
  headNorm(x, weight) {
    return this.graph.norm(x, weight, undefined, false, this.options.normEps);
  }

  /** @param {string} name @param {Tensor} tensor @param {Axes} axes @param {number} [start] */
  pass(name, tensor, axes, start = this.past) {
    if (this.values.idle) return tensor;
    return this.values.pass(name, tensor, axes, start, (shape) => this.graph.make(shape));
  }

  /**
   * The same of heads, (B,N,heads·D), which are (B,heads,N,D) to whom sees them.
   * @param {string} name
   * @param {Tensor} tensor
   * @param {number} heads
   * @param {number} start
   */
  passHeads(name, tensor, heads, start) {
    if (this.values.idle || !this.values.wants(name)) return tensor;
    const [batch, rows, channels] = shapeOf(tensor);
    const width = channels / heads;
    const split = this.graph.make([batch, heads, rows, width]);
    swapAxes(viewOf(split), viewOf(tensor), batch, rows, heads, width);
    const passed = this.values.pass(name, split, { head: 1, token: 2 }, start, (shape) => this.graph.make(shape));
    if (passed === split) return tensor;
    const joined = this.graph.make([batch, rows, channels]);
    swapAxes(viewOf(joined), viewOf(passed), batch, heads, rows, width);
    return joined;
  }

  /**
   * Rows (B,N,heads·width), wherever they lie.
   * @param {{ tensor: Tensor, stride: readonly number[] }} laid
   * @param {number} heads
   * @param {number} rows
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
    const { rotary, window, headDim: width } = this.options;
    if (!rotary) return x;
    const local = window !== null && window[layer] !== null;
    const theta = local ? rotary.localTheta : rotary.theta;
    const table = this.#shared.tableOf(rotary, theta, this.#lastPosition + 1, this.far);
    const neighbours = rotary.pairing === 'neighbours';
    return this.graph.rotate(x, { table, positions: this.positions, heads, width, rotated: rotary.width, neighbours });
  }

  /** ALiBi: what the distance of a key takes from its score, for each head. @returns {Float32Array | undefined} */
  get slopes() {
    const { positions, numHeads } = this.options;
    return positions === 'alibi' ? Float32Array.from(alibiSlopes(numHeads)) : undefined;
  }

  /** Added to the scores of every block. */
  positionBias() {
    this.#bias ??= this.#makeBias();
    return this.#bias;
  }

  /** It serves all blocks: made before the first of them, it is not freed with one. */
  #makeBias() {
    const { positions, causal, buckets } = this.options;
    const [queries, keys] = [this.rows, this.past + this.rows];
    if (positions !== 'buckets' || !buckets) return undefined;
    const bucket = Int32Array.from({ length: queries + keys - 1 }, (_, i) =>
      bucketOf(i - (queries - 1) - this.past, buckets.count, buckets.distance, !causal),
    );
    const tensor = this.graph.relative(this.#needed('buckets.table'), bucket, queries);
    return { tensor, stride: [0, queries * keys, keys, 1] };
  }

  /**
   * Keys and values of what the encoder has made: with a cache they are made once.
   * @param {number} layer
   * @param {string} at
   */
  across(layer, at) {
    const cached = this.#encoded ? undefined : this.cache?.across;
    if (cached) return { ...cached.pairs[layer], padding: cached.padding };
    if (!this.#encoded) throw new HeadlightError('STATE', `${this.caller}: there is no encoder to attend to`);
    const { tensor, padding } = this.#encoded;
    const pair = {
      key: this.linear(`${at}.wk`, tensor, `${at}.bk`),
      value: this.linear(`${at}.wv`, tensor, `${at}.bv`),
    };
    this.cache?.setAcross(layer, pair, padding);
    return { ...pair, padding };
  }

  /** @param {number} layer @param {boolean} cross */
  dropout(layer, cross) {
    const { dropout: p, seed } = this.options;
    if (p === 0 || !this.graph.train) return undefined;
    const low = (seed * 2 ** 10 + layer * 2 + Number(cross)) | 0;
    return { p, seed: /** @type {const} */ ([low, this.#shared.step | 0]) };
  }

  /** What enters the first block: (B,T,C). */
  #embed() {
    const { input, options, graph } = this;
    let x = input.labels ? this.#embedLabels(input.labels) : options.patch ? this.#embedPatches() : this.#embedSound();
    const { positions, positionOffset, context } = options;
    if (positions === 'learned') {
      const table = this.#needed('embedding.position');
      const rows = options.patch
        ? Int32Array.from({ length: this.batch * this.rows }, (_, i) => i % this.rows)
        : this.positions;
      if (rows.some((p) => p >= context))
        throw shapeError(this.caller, 'positions', [rows.length], `positions below ${context}, the context`);
      x = graph.add(
        x,
        graph.rows(
          table,
          rows.map((p) => p + positionOffset),
          [this.batch, this.rows],
        ),
      );
    }
    if (positions === 'sinusoidal') x = graph.add(x, graph.from(x.shape, sinusoids(this.positions, options.dModel)));
    if (options.tokenTypes > 0) {
      const types = input.typeIds ?? new Int32Array(this.batch * this.rows);
      x = graph.add(x, graph.rows(this.#needed('embedding.type'), types, [this.batch, this.rows]));
    }
    return this.pass('embed', this.norm('embedding.norm', x), ROWS);
  }

  /** @param {Int32Array} labels */
  #embedLabels(labels) {
    const { graph, options } = this;
    const table = options.sharedEmbedding ? this.#shared.weightOf('embedding.table') : this.weight('embedding.table');
    const x = graph.rows(/** @type {Weight} */ (table), labels, [this.batch, this.rows]);
    const wide = options.embedDim === options.dModel ? x : this.linear('embedding.project', x);
    return graph.scale(wide, options.embedScale);
  }

  /** A convolution whose stride is its size is one product. */
  #embedPatches() {
    const { graph, input, batch } = this;
    const { size, image, channels } = /** @type {NonNullable<Resolved['patch']>} */ (this.options.patch);
    const [down, across] = image.map((side) => Math.floor(side / size));
    const { data } = /** @type {NonNullable<ReadInput['numbers']>} */ (input.numbers);
    const patches = graph.make([batch, down * across, channels * size * size]);
    const to = viewOf(patches);
    let at = 0;
    for (let b = 0; b < batch; b++)
      for (let row = 0; row < down; row++)
        for (let column = 0; column < across; column++)
          for (let c = 0; c < channels; c++)
            for (let y = 0; y < size; y++) {
              const from = ((b * channels + c) * image[0] + row * size + y) * image[1] + column * size;
              for (let x = 0; x < size; x++) to[at++] = data[from + x];
            }
    const x = this.linear('embedding.patch', patches);
    const first = this.weight('embedding.class');
    return first ? graph.prepend(first, x) : x;
  }

  /** Two convolutions, the second of which takes every other frame. */
  #embedSound() {
    const { graph, input, batch } = this;
    const { data, shape } = /** @type {NonNullable<ReadInput['numbers']>} */ (input.numbers);
    const [, channels, frames] = shape;
    const turned = graph.make([batch, frames, channels]);
    swapAxes(viewOf(turned), /** @type {Float32Array} */ (data), batch, channels, frames, 1);
    const first = graph.activation(this.linear('embedding.conv1', graph.unfold(turned, 1)), 'gelu');
    return graph.activation(this.linear('embedding.conv2', graph.unfold(first, 2)), 'gelu');
  }

  /** From the input to the final norm. @returns {Tensor} (B,T,C) */
  hidden() {
    let x = this.#embed();
    this.positionBias();
    for (let i = 0; i < this.options.layers; i++) {
      x = this.#freeing(() => block(this, i, x), x);
    }
    return this.pass('final', this.norm('norm', x), ROWS);
  }

  /**
   * In inference a block's values are freed at its end, but for its output and what is captured.
   * @param {() => Tensor} fn
   * @param {Tensor} before
   */
  #freeing(fn, before) {
    if (this.graph.train) return fn();
    const { captured } = this.values;
    const { output } = this.#shared.memory.scope(() => ({ output: fn(), captured }));
    if (!Object.values(captured).includes(before)) before.dispose();
    return output;
  }

  /**
   * @param {Tensor} hidden (B,T,C)
   * @param {Tensor} asked (B,N,C), the last of its tokens: all, or one
   * @returns {{ logits?: Tensor, pooled?: Tensor, relationship?: Tensor }}
   */
  head(hidden, asked) {
    const { options, graph } = this;
    const pooled = this.#pool(hidden);
    const relationship = options.relationship > 0 && pooled ? this.linear('relationship', pooled) : undefined;
    if (options.head === 'none') return { pooled, relationship };
    if (options.head === 'pooled') {
      const own = this.linear('head', this.#beforeHead(/** @type {Tensor} */ (pooled)));
      const logits = options.taught ? graph.scale(graph.add(own, this.#taught(hidden)), 1 / 2) : own;
      return { pooled, relationship, logits: this.pass('logits', logits, {}) };
    }
    const x = graph.scale(this.#beforeHead(asked), options.logitScale);
    const weight = options.tied ? this.#needed('embedding.table') : this.#needed('head.weight');
    let logits = graph.linear(x, weight, this.weight('head.bias'));
    if (options.logitSoftcap > 0) logits = graph.softcap(logits, options.logitSoftcap);
    return { logits: this.pass('logits', logits, ROWS, this.past + this.rows - x.shape[1]), pooled, relationship };
  }

  /** What the head has before it. @param {Tensor} x */
  #beforeHead(x) {
    const { headTransform, headActivation } = this.options;
    if (headTransform !== 'none') {
      const made = this.graph.activation(this.linear('head.dense', x), headActivation);
      return this.norm('head.norm', made);
    }
    return this.weight('head.project.weight') ? this.linear('head.project', x) : x;
  }

  /** The second head, on the second token. @param {Tensor} hidden */
  #taught(hidden) {
    return this.linear('taught', this.graph.pick(hidden, new Array(this.batch).fill(1)));
  }

  /** @param {Tensor} hidden */
  #pool(hidden) {
    const { pool, pooler, endToken, poolSkip } = this.options;
    if (pool === 'none') return undefined;
    const { labels, keep } = this.input;
    const real = keep ?? (poolSkip === undefined ? undefined : labels?.map((label) => Number(label !== poolSkip)));
    const which = Array.from({ length: this.batch }, (_, b) => {
      const [from, to] = [b * this.rows, (b + 1) * this.rows];
      if (pool === 'last') return ((real?.subarray(from, to).lastIndexOf(1) ?? -1) + this.rows) % this.rows;
      if (pool !== 'end' || !labels) return 0;
      const row = labels.subarray(from, to);
      return endToken === undefined ? row.indexOf(Math.max(...row)) : Math.max(row.indexOf(endToken), 0);
    });
    const x = pool === 'mean' ? this.graph.mean(hidden, keep) : this.graph.pick(hidden, which);
    if (pooler === 'none') return x;
    const y = this.linear('pooler', x);
    return pooler === 'linear' ? y : this.graph.activation(y, pooler);
  }
}

/**
 * (B,first,second,width) becomes (B,second,first,width).
 * @param {Float32Array} to
 * @param {Float32Array} from
 * @param {number} batch
 * @param {number} first
 * @param {number} second
 * @param {number} width
 */
function swapAxes(to, from, batch, first, second, width) {
  for (let at = 0, b = 0; b < batch; b++)
    for (let j = 0; j < second; j++)
      for (let i = 0; i < first; i++) {
        const start = ((b * first + i) * second + j) * width;
        for (let d = 0; d < width; d++) to[at++] = from[start + d];
      }
}

/**
 * Values under the names of an encoder.
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
      pass: (/** @type {string} */ name, /** @type {[Tensor, Axes, number, any]} */ ...rest) =>
        values.pass(prefix + name, ...rest),
    })
  );
}

/**
 * T5's (Raffel et al. 2020): the first half of the buckets hold one distance each, the others grow as a logarithm.
 * @param {number} distance of the key from the query
 * @param {number} count
 * @param {number} most
 * @param {boolean} both whether keys may come after the query
 */
export function bucketOf(distance, count, most, both) {
  const half = both ? Math.floor(count / 2) : count;
  const first = both && distance > 0 ? half : 0;
  const n = both ? Math.abs(distance) : Math.max(-distance, 0);
  const exact = Math.floor(half / 2);
  if (n < exact) return first + n;
  const far = exact + Math.floor((Math.log(n / exact) / Math.log(most / exact)) * (half - exact));
  return first + Math.min(far, half - 1);
}

/** Pairs of a sine and a cosine (Vaswani et al. 2017). @param {Int32Array} positions @param {number} width */
export function sinusoids(positions, width) {
  const data = new Float32Array(positions.length * width);
  positions.forEach((p, row) => {
    for (let i = 0; i < width; i++) {
      const angle = p / 10000 ** ((2 * Math.floor(i / 2)) / width);
      data[row * width + i] = i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }
  });
  return data;
}
