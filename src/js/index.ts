/// <reference lib="esnext.disposable" preserve="true" />
// The public API, except `load`, which the entries node.ts, browser.ts and inline.ts export, as each finds the binary
// in its own way.

import type { CoreExports } from '../../dist/abi/abi.js';
import { version } from '../../package.json';
import { readNumber, readOptions, readShape } from './check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from './check/errors.ts';
import { INSPECT } from './check/inspect.ts';
import { formatShape, sameShape } from './check/shape.ts';
import type { TensorLike } from './check/tensorlike.ts';
import { DISPOSE } from './memory/disposable.ts';
import { formatBytes } from './memory/formatBytes.ts';
import { Memory, type Threads } from './memory/memory.ts';
import { type Tensor, viewOf } from './memory/tensor.ts';
import type { ModelFiles } from './models/checkpoint/files.ts';
import type { Environment, OpenedModel, OpenOptions } from './models/checkpoint/open.ts';
import type { SavedTransformer } from './models/loadTransformer.ts';
import type { TransformerOptions } from './models/options.ts';
import type { TextImageModel } from './models/textImage/textImageModel.ts';
import type { Transformer } from './models/transformer.ts';
import type { Activation, ActivationOptions, GatedActivation, Gelu, GeluOptions } from './ops/activation.ts';
import type { AdditiveAttention, AdditiveOptions } from './ops/additive.ts';
import { attention } from './ops/attention.ts';
import type { Embedding, EmbeddingOptions } from './ops/embedding.ts';
import { type FoundLayer, layersIn } from './ops/foreign.ts';
import type { Linear, LinearOptions } from './ops/linear.ts';
import type { LossOptions, LossResult } from './ops/loss.ts';
import { MultiHeadAttention } from './ops/multihead.ts';
import type { MultiHeadOptions } from './ops/multiheadOptions.ts';
import type { Norm, NormOptions } from './ops/norm.ts';
import type { Adam, AdamOptions, Sgd, SgdOptions, Trainable } from './ops/optimizer.ts';
import { fillNormal, fillUniform, uniformSource } from './ops/random.ts';
import type { AttentionResult } from './ops/result.ts';
import type { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './ops/visibility.ts';
import type { Tokenizer } from './text/tokenizer.ts';
import type { AttentionOptions } from './types.ts';

/** about an instance */
export type Info = {
  version: string;
  simd: 'simd128' | 'relaxed';
  threads: number;
  /** the reason if there is only one thread instead of those requested */
  threadsNote?: string | undefined;
  /** in bytes */
  memory: { used: number; reserved: number; limit: number };
};
/** default 0, 0 and 1 */
export type NormalOptions = { seed?: number; mean?: number; std?: number };
export type UniformOptions = { seed?: number; low?: number; high?: number };

/** One instance of the core with its own memory. Created by load(). */
export class Headlight {
  #memory: Memory;
  #simd: 'simd128' | 'relaxed';
  #parts: typeof import('./models/parts.ts') | Error;
  #environment: Environment;

  /** parts: the module with layers and models, or the error with which its import failed @internal */
  constructor(
    core: CoreExports,
    linear: WebAssembly.Memory,
    threads: Threads,
    parts: typeof import('./models/parts.ts') | Error,
    environment: Environment,
  ) {
    this.#parts = parts;
    this.#environment = environment;
    this.#memory = new Memory(core, linear, threads);
    this.#simd = (core.hl_simd() === 1 ? 'relaxed' : 'simd128') as 'simd128' | 'relaxed';
  }

  /** The version, the SIMD flavour, the number of threads, and the memory in bytes. */
  get info(): Info {
    const { count: threads, note } = this.#memory.threads;
    return {
      version,
      simd: this.#simd,
      threads,
      ...(note !== undefined && { threadsNote: note }),
      memory: this.#memory.usage,
    };
  }

  /** Makes a tensor, a copy of nested arrays, a typed array or another tensor. shape: default: that of the data. */
  tensor(data: TensorLike, shape?: readonly number[]): Tensor {
    return this.#memory.tensor(data, 'tensor', 'data', shape);
  }

  zeros(shape: readonly number[]): Tensor {
    return this.#filled('zeros', shape, (data) => data.fill(0));
  }

  /** Returns a tensor of normally distributed numbers. */
  randn(shape: readonly number[], options: NormalOptions = {}): Tensor {
    const { seed = 0, mean = 0, std = 1 } = readOptions('randn', options, ['seed', 'mean', 'std']);
    const next = uniformSource(readNumber('randn', 'seed', seed, { integer: true }));
    readNumber('randn', 'mean', mean);
    readNumber('randn', 'std', std, { least: 0 });
    return this.#filled('randn', shape, (data) => fillNormal(data, next, mean, std));
  }

  /** Returns a tensor of numbers that are uniformly distributed in [low, high). */
  uniform(shape: readonly number[], options: UniformOptions = {}): Tensor {
    const { seed = 0, low = 0, high = 1 } = readOptions('uniform', options, ['seed', 'low', 'high']);
    const next = uniformSource(readNumber('uniform', 'seed', seed, { integer: true }));
    readNumber('uniform', 'low', low);
    readNumber('uniform', 'high', high);
    return this.#filled('uniform', shape, (data) => fillUniform(data, next, low, high));
  }

  #filled(caller: string, shape: readonly number[], fill: (data: Float32Array) => void) {
    const checked = readShape(shape, caller, 'shape');
    const tensor = this.#memory.empty(checked, caller);
    fill(viewOf(tensor));
    return tensor;
  }

  /**
   * Computes scaled dot-product attention of query (B,H,T,D), key (B,G,S,D) and value (B,G,S,Dv). Also accepts one
   * head, (B,T,D), and packed heads, (B,T,H·D), with `heads` and `kvHeads`. The output has the layout of the query.
   */
  attention<
    W extends WeightsChoice = undefined,
    S extends ScoresChoice = undefined,
    P extends PastChoice = undefined,
    B extends BiasChoice = undefined,
  >(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    options: AttentionOptions<W, S, P, B> = {},
  ): AttentionResult<W, S, P, B> {
    return attention(this.#memory, query, key, value, options) as AttentionResult<any, any, any, any>;
  }

  /** Makes a layer of multi-head attention with parameters: projections, attention and the output projection. */
  multiHeadAttention(options: MultiHeadOptions): MultiHeadAttention {
    return new MultiHeadAttention(this.#memory, options);
  }

  /** Makes a layer of additive attention with parameters. The scores are w · tanh(Wq q + Wk k). */
  additiveAttention(options: AdditiveOptions): AdditiveAttention {
    return new (this.#part('additiveAttention').AdditiveAttention)(this.#memory, options);
  }

  /** Makes a linear layer, x · weightᵀ + bias over the last axis. */
  linear(options: LinearOptions): Linear {
    return new (this.#part('linear').Linear)(this.#memory, options);
  }

  /** Makes an embedding layer: a row of its table for each id and, with `context`, a learned position embedding. */
  embedding(options: EmbeddingOptions): Embedding {
    return new (this.#part('embedding').Embedding)(this.#memory, options);
  }

  /** Makes a layer normalization, (x − mean) / √(variance + eps) · weight + bias over the last axis. */
  layerNorm(options: NormOptions): Norm {
    return new (this.#part('layerNorm').Norm)(this.#memory, 'layerNorm', options);
  }

  /** Makes an RMS normalization, x / √(mean of squares + eps) · weight over the last axis. */
  rmsNorm(options: NormOptions): Norm {
    return new (this.#part('rmsNorm').Norm)(this.#memory, 'rmsNorm', options);
  }

  /** Makes an elementwise activation. With `gated` it has two inputs and returns activation(gate) · up. */
  activation<G extends boolean | undefined = undefined>(
    options: ActivationOptions<G>,
  ): G extends true ? GatedActivation : Activation {
    return this.#part('activation').makeActivation(this.#memory, options) as any;
  }

  /** Makes a GELU activation, x · Φ(x) or its approximation by tanh. */
  gelu(options: GeluOptions = {}): Gelu {
    return new (this.#part('gelu').Gelu)(this.#memory, options);
  }

  /** Returns the sum of two tensors of the same shape, for a residual connection. */
  add(a: TensorLike, b: TensorLike): Tensor {
    return this.#memory.frame('add', (frame) => {
      const [first, second] = [frame.read(a, 'a'), frame.read(b, 'b')];
      const [x, y] = [frame.input(first, 'a'), frame.input(second, 'b')];
      if (!sameShape(x.shape, y.shape)) throw shapeError('add', 'b', y.shape, formatShape(x.shape));
      const sum = frame.make([...x.shape]);
      this.#memory.call('hl_add', 'add', sum, x.block, y.block, sum.size);
      return sum;
    });
  }

  /**
   * Computes the cross-entropy loss of softmax(logits) against targets, and the gradient of the logits.
   * @param logits (…,V)
   * @param targets (…), integers from 0 to V − 1, or the value of options.ignore
   */
  crossEntropy(logits: TensorLike, targets: TensorLike, options: LossOptions = {}): LossResult {
    return this.#part('crossEntropy').crossEntropy(this.#memory, logits, targets, options);
  }

  /** Returns the mean of (prediction − target)² and the gradient of the prediction. Both have the same shape. */
  meanSquaredError(prediction: TensorLike, target: TensorLike): { loss: number; dPrediction: Tensor } {
    return this.#part('meanSquaredError').meanSquaredError(this.#memory, prediction, target);
  }

  /** Makes an optimizer for stochastic gradient descent, optionally with momentum. */
  sgd(parameters: Trainable, options: SgdOptions = {}): Sgd {
    return new (this.#part('sgd').Sgd)(this.#memory, parameters, options);
  }

  /** Makes an Adam optimizer. Weight decay is added to the gradient. */
  adam(parameters: Trainable, options: AdamOptions = {}): Adam {
    return new (this.#part('adam').Adam)(this.#memory, 'adam', parameters, options);
  }

  /** Makes an AdamW optimizer: Adam with decoupled weight decay, 0.01 by default. */
  adamW(parameters: Trainable, options: AdamOptions = {}): Adam {
    return new (this.#part('adamW').Adam)(this.#memory, 'adamW', parameters, options);
  }

  /** Makes a small transformer: an embedding, blocks of attention and feed-forward layers, and an output head. */
  transformer(options: TransformerOptions): Transformer {
    const { Transformer } = this.#part('transformer');
    return new Transformer(this.#memory, options);
  }

  /**
   * Opens a checkpoint in the layout of Hugging Face: config.json, model.safetensors or its shards, tokenizer.json.
   * @param files a folder (a path in Node, a URL, hf://owner/name, a directory handle), files by name, or 'demo'
   * @param options of a model for texts and pictures: CLIP, SigLIP
   */
  openModel(files: ModelFiles, options: OpenOptions & { tower: 'both' }): Promise<TextImageModel>;
  openModel(files: ModelFiles, options?: OpenOptions): Promise<OpenedModel>;
  async openModel(files: ModelFiles, options: OpenOptions = {}): Promise<any> {
    const { openModel } = await import('./models/checkpoint/open.ts');
    return openModel(this.#memory, files, options, this.#environment);
  }

  /** Opens a tokenizer.json: a path in Node, a URL, hf://owner/name, or its bytes. */
  async openTokenizer(file: string | URL | Blob | ArrayBuffer | ArrayBufferView): Promise<Tokenizer> {
    const { openTokenizerFile } = await import('./models/checkpoint/open.ts');
    return openTokenizerFile(file, this.#environment);
  }

  /**
   * Finds the attention layers of a checkpoint by names of tensors. Pass a found prefix to loadStateDict of
   * multiHeadAttention.
   * @param dict tensors by name, or the result of readSafetensorsHeader
   * @param config a config.json, for the number of heads
   */
  layersIn(dict: Record<string, { shape: readonly number[] }>, config?: Record<string, any>): FoundLayer[] {
    return layersIn(dict, config);
  }

  /** Loads a transformer written by `save`: the file, or the result of `readSafetensors`. */
  loadTransformer(saved: Uint8Array | ArrayBuffer | SavedTransformer): Transformer {
    return this.#part('loadTransformer').loadTransformer(this.#memory, saved);
  }

  #part(caller: string) {
    const parts = this.#parts;
    if (!(parts instanceof Error)) return parts;
    const text = `${caller}: the part of the module with layers and models was not loaded: ${parts.message}`;
    throw new HeadlightError('LOAD', text, { cause: parts });
  }

  /**
   * Scales all gradients (by name, or those of layers) so that their total norm is at most maxNorm, unless it is not
   * finite. Returns the norm before scaling.
   */
  clipGradients(gradients: Trainable, maxNorm: number): number {
    return this.#part('clipGradients').clipGradients(this.#memory, gradients, maxNorm);
  }

  /** Calls a function and frees the tensors made inside it, except those in its result. */
  scope<T>(fn: () => T): T {
    if (typeof fn !== 'function') throw argumentError('scope', 'fn', fn, 'a function');
    return this.#memory.scope(fn);
  }

  /** Ends this instance and its threads. Afterwards its tensors cannot be used. */
  dispose() {
    this.#memory.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }

  toString() {
    if (this.#memory.disposed) return `Headlight ${version} (disposed)`;
    const { simd, threads, memory } = this.info;
    return `Headlight ${version}: ${simd}, threads ${threads}, memory ${formatBytes(memory.used)}`;
  }

  /** Returns the line that console.log of Node shows. @internal */
  [INSPECT]() {
    return this.toString();
  }
}

export { HeadlightError } from './check/errors.ts';
export { Tensor } from './memory/tensor.ts';
export { MultiHeadAttention } from './ops/multihead.ts';
export { AttentionResult } from './ops/result.ts';
export { cosineSchedule, warmupSchedule } from './ops/schedule.ts';
export * from './types.ts';
