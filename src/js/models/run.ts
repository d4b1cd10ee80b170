// One pass of an input through a transformer: the state that its blocks share, and the operations they use.

import { HeadlightError, shapeError } from '../check/errors.ts';
import type { Memory } from '../memory/memory.ts';
import { shapeOf, type Tensor, viewOf } from '../memory/tensor.ts';
import { alibiSlopes } from '../ops/rotary.ts';
import { joinHeads, splitHeads } from './axes.ts';
import { block, type Walk } from './block.ts';
import type { Cache } from './cache.ts';
import type { At, Component } from './component.ts';
import { type Axes, HEADS, ROWS, type Values } from './edits.ts';
import { embedInput } from './embedInput.ts';
import type { Graph, Stride } from './gradients/graph.ts';
import type { ReadInput } from './input.ts';
import type { RelativeRows } from './mixers/disentangled.ts';
import type { Resolved } from './options.ts';
import { parameterName } from './parameters.ts';
import { bucketOf, countPositions } from './positions/positions.ts';
import { anglesOf } from './positions/rotaryOptions.ts';
import type { RotaryTables } from './positions/rotaryTables.ts';
import { rarePart } from './rareParts.ts';
import { sliceRows } from './rowOperations.ts';
import { componentsOf } from './sublayers.ts';
import type { Weight } from './weights.ts';

/** the encoder's output: (B,S,C), (B,S) */
export type Encoded = { tensor: Tensor; padding: Uint8Array | undefined };
export type Strided = { tensor: Tensor; stride: Stride };
/** State that the encoder and the decoder of one call share. */
export type Shared = {
  memory: Memory;
  caller: string;
  graph: Graph;
  weightOf: (name: string) => Weight | undefined;
  /** that have been looked up */
  layers: Map<string, { weight?: Weight; bias?: Weight }>;
  /** widths of norms without weights, by the name of the missing weight */
  plainNorms: ReadonlyMap<string, number>;
  rotaryTables: RotaryTables;
  values: Values;
  /** number of the training step, for the seed of dropout */
  step: number;
  /** index of the block through which gradients pass unchanged */
  straight?: number | undefined;
  /** number of blocks that are computed; default: all blocks and the head */
  blocks?: number | undefined;
};

export class Run implements Walk<Tensor> {
  declare options: Resolved;
  declare prefix: string;
  declare input: ReadInput;
  declare cache: Cache | undefined;
  declare caller: string;
  declare graph: Graph;
  declare values: Values;
  declare batch: number;
  declare rows: number;
  /** Number of tokens in the cache, which come before the rows of this run. */
  declare past: number;
  /** (B,S): 0 = padding. */
  declare padding: Uint8Array | undefined;
  /** (B,T) */
  declare positions: Int32Array<ArrayBufferLike>;
  /**
   * True if keys are rotated by the angles of long sequences. If the cache contains tokens, their keys determine
   * this, because they are rotated already.
   */
  declare far: boolean;

  #bias: { tensor: Tensor; stride: readonly number[] } | undefined;
  /** Rows for the relative positions of disentangled attention. */
  relative: RelativeRows | undefined;
  #encoded: Encoded | undefined;
  #shared: Shared;
  #maxPosition: number;
  /** True if only the last token is computed after the keys and values of the last block. */
  #narrows: boolean;

  /**
   * @param prefix of the names of its parameters and values
   * @param more last: only the last token's results are needed
   */
  constructor(
    shared: Shared,
    options: Resolved,
    prefix: string,
    input: ReadInput,
    { cache, encoded, last = false }: { cache?: Cache; encoded?: Encoded; last?: boolean } = {},
  ) {
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
    this.past = cache ? cache.length : 0;
    this.#checkLength(last);
    if (cache) cache.admit(this.caller, this.batch, this.rows, input.keep, this.#notPadToken);
    this.padding = cache ? cache.padding(this.past + this.rows) : input.keep;
    this.positions = input.positions ?? countPositions(this, this.#countedTokens, options.padToken !== undefined);
    this.#maxPosition = this.positions.reduce((max, p) => Math.max(max, p), 0);
    const needsAll =
      !this.values.idle || shared.graph.records || options.buckets !== undefined || options.pool !== 'none';
    this.#narrows = last && cache !== undefined && !needsAll;
    this.far = this.#checkFar(options.rotary?.long?.beyond ?? Infinity);
  }

  #checkLength(last: boolean) {
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

  /** @param beyond a sequence with this position or a larger one is rotated as a long sequence */
  #checkFar(beyond: number) {
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
   * Restricts the run to the last token, if only the results of this token are needed. Attention calls this method
   * when the keys and values of the last block have been computed. This saves a fifteenth of the time of a prompt in a
   * model
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

  /**
   * Returns the rows that are still computed after narrow().
   * @param x (B,T,C)
   */
  narrowed(x: Tensor) {
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

  weight(name: string): Weight | undefined {
    return this.#shared.weightOf(this.prefix + parameterName(this.options, name));
  }

  requiredWeight(name: string): Weight {
    return this.weight(name) as Weight;
  }

  /** The embedding table of the decoder, for an encoder that shares it. */
  get decoderEmbedding() {
    return this.#shared.weightOf('embedding.table') as Weight;
  }

  /**
   * @param name of a layer, or of a weight
   * @param x (…,in)
   * @param bias name of the bias; default: the bias of the layer
   * @returns (…,out)
   */
  linear(name: string, x: Tensor, bias?: string): Tensor {
    const layer = this.#layer(name, bias);
    return this.graph.linear(x, layer.weight as Weight, layer.bias);
  }

  /** Returns weight and bias of a layer. Each layer is looked up once. */
  #layer(name: string, bias?: string) {
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

  /**
   * Normalizes x, or returns x itself if the model has no such norm.
   * @param x (…,C)
   */
  norm(name: string, x: Tensor) {
    const { weight = this.#ones(`${name}.weight`), bias } = this.#layer(name);
    const { norm, normEps } = this.options;
    return weight ? this.graph.norm(x, weight, bias, norm === 'layer', normEps) : x;
  }

  /** Returns a weight of ones for a norm without weights. */
  #ones(name: string): Weight | undefined {
    const width = this.#shared.plainNorms.get(this.prefix + parameterName(this.options, name));
    return width ? { shape: [width], tensor: this.graph.from([width], new Float32Array(width).fill(1)) } : undefined;
  }

  /**
   * Multiplies each channel by its factor, if the model has such factors, and all channels by residualScale.
   * @param x (…,C)
   */
  scaled(name: string | undefined, x: Tensor) {
    const { layerScale, residualScale } = this.options;
    const own = name && layerScale ? this.graph.scaleChannels(x, this.requiredWeight(name)) : x;
    return this.graph.scale(own, residualScale);
  }

  add(x: Tensor, y: Tensor) {
    return this.graph.add(x, y);
  }

  compute({ forward }: Component, at: At, i: number, x: Tensor, stream: Tensor) {
    return forward(this, at, i, x, stream);
  }

  around({ around }: Component, i: number, input: Tensor, output: Tensor) {
    return around ? around(this, i, input, output) : output;
  }

  /** Computes a block. If it is the block that the option `straight` names, gradients pass it unchanged. */
  inside(i: number, x: Tensor, compute: () => Tensor) {
    return this.prefix === '' && this.#shared.straight === i ? this.graph.straight(x, compute) : compute();
  }

  /**
   * Normalizes queries or keys, or returns x itself if the model has no such norm.
   * @param x (B,T,heads·D)
   */
  headNorm(name: string, x: Tensor) {
    const { queryKeyNorm: kind, normEps } = this.options;
    const weight = this.weight(name);
    if (!weight) return x;
    if (kind === 'layer' || kind === 'each')
      return rarePart('headNorms', this.caller).centredHeadNorm(this, name, weight, x);
    return this.graph.norm(x, weight, undefined, false, normEps);
  }

  /**
   * Captures and edits a value; returns the value with which the computation continues.
   * @param start position of the first token
   * @param fresh true: no other value has this tensor
   */
  pass(name: string, tensor: Tensor, axes: Axes, start: number = this.past, fresh = false) {
    if (this.values.idle) return tensor;
    return this.values.pass(name, tensor, axes, start, this.graph, fresh);
  }

  /**
   * Captures and edits a value with a row for each token.
   * @param tensor (B,T,width)
   */
  passRows(name: string, tensor: Tensor) {
    return this.pass(name, tensor, ROWS);
  }

  /**
   * Captures and edits a value of heads, as (B,heads,N,D), and returns the value with which the computation continues.
   * @param tensor (B,N,heads·D)
   */
  passHeads(name: string, tensor: Tensor, heads: number, start: number) {
    if (this.values.idle || !this.values.wants(name)) return tensor;
    const split = splitHeads(this.graph, tensor, heads);
    const passed = this.values.pass(name, split, HEADS, start, this.graph, true);
    return passed === split && !this.graph.differentiates ? tensor : joinHeads(this.graph, passed);
  }

  /**
   * Copies strided heads (B,heads,N,D) to contiguous rows, unless they are contiguous already.
   * @returns (B,N,heads·D)
   */
  gather({ tensor, stride: [perBatch, perHead, perRow] }: Strided, heads: number, rows: number): Tensor {
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

  /** @param x (B,T,heads·D) */
  rotate(x: Tensor, heads: number, layer: number) {
    const { rotary, headDim: width } = this.options;
    const angles = anglesOf(this.options, layer);
    if (!rotary || !angles) return x;
    const table = this.#shared.rotaryTables.get(rotary.width, angles, this.#maxPosition + 1, this.far);
    const neighbours = rotary.pairing === 'neighbours';
    return this.graph.rotate(x, { table, positions: this.positions, heads, width, rotated: rotary.width, neighbours });
  }

  /** (H), of ALiBi: the score decreases by slope · distance. */
  get slopes(): Float32Array | undefined {
    const { positions, numHeads } = this.options;
    return positions === 'alibi' ? Float32Array.from(alibiSlopes(numHeads)) : undefined;
  }

  /**
   * Returns the bias of relative positions (H,T,S), which all blocks share. prepare() makes it.
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
   * @param at prefix of the names of the attention's weights
   */
  crossKeysValues(layer: number, at: string) {
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

  /** Computes what the blocks share. It must be called outside the scope of a block, which would free it. */
  prepare() {
    for (const { prepare } of componentsOf(this.options)) prepare?.(this);
  }

  dropout(layer: number, cross: boolean) {
    const { dropout: p, seed } = this.options;
    if (p === 0 || !this.graph.train) return undefined;
    const low = (seed * 2 ** 10 + layer * 2 + Number(cross)) | 0;
    return { p, seed: [low, this.#shared.step | 0] as const };
  }

  /**
   * Computes the hidden states after the final norm. If not all blocks are needed, computes no norm.
   * @returns (B,T,C)
   */
  hidden(): Tensor {
    let x = embedInput(this);
    this.prepare();
    const { layers } = this.options;
    const count = this.prefix === '' ? (this.#shared.blocks ?? layers) : layers;
    for (let i = 0; i < count; i++) {
      x = this.#inScope(() => block(this, i, x), x);
    }
    if (count < layers) return x;
    return this.passRows('final', this.norm('norm', x));
  }

  /**
   * Computes a block and then frees its values, except its output and captured values. If operations are recorded,
   * frees nothing.
   * @param input of the block; it is freed as well, unless it is captured
   */
  #inScope(fn: () => Tensor, input: Tensor) {
    if (this.graph.records) return fn();
    const { captured } = this.values;
    const { output } = this.#shared.memory.scope(() => ({ output: fn(), captured }));
    if (!Object.values(captured).includes(input)) input.dispose();
    return output;
  }
}

/** Returns an object for an encoder that has the methods of `values` and adds a prefix to the names of values. */
function prefixed(values: Values, prefix: string): Values {
  if (prefix === '') return values;
  const { captured, idle } = values;
  const methods = (['captures', 'edits', 'wants', 'pass'] as const).map((method) => [
    method,
    (name: string, ...rest: unknown[]) => (values as any)[method](prefix + name, ...rest),
  ]);
  return { captured, idle, ...Object.fromEntries(methods) };
}
