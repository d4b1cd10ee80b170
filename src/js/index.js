/// <reference lib="esnext.disposable" preserve="true" />
// The public API, except `load`, which is in the entries node.js, browser.js and inline.js. Each of these entries finds
// the binary in a different way.

import { version } from '../../package.json';
import { readNumber, readOptions, readShape } from './check/arguments.js';
import { argumentError, HeadlightError, shapeError } from './check/errors.js';
import { INSPECT } from './check/inspect.js';
import { formatShape, sameShape } from './check/shape.js';
import { DISPOSE } from './memory/disposable.js';
import { formatBytes } from './memory/formatBytes.js';
import { Memory } from './memory/memory.js';
import { viewOf } from './memory/tensor.js';
import { attention } from './ops/attention.js';
import { layersIn } from './ops/foreign.js';
import { MultiHeadAttention } from './ops/multihead.js';
import { fillNormal, fillUniform, uniformSource } from './ops/random.js';

/** @import { AttentionOptions } from './types.js' */
/** @import { AttentionResult } from './ops/result.js' */
/** @import { BiasChoice, PastChoice, ScoresChoice, WeightsChoice } from './ops/visibility.js' */
/** @import { Activation, ActivationOptions, GatedActivation, Gelu, GeluOptions } from './ops/activation.js' */
/** @import { AdditiveAttention, AdditiveOptions } from './ops/additive.js' */
/** @import { EmbeddingOptions } from './ops/embedding.js' */
/** @import { LinearOptions } from './ops/linear.js' */
/** @import { NormOptions } from './ops/norm.js' */
/** @import { LossOptions, LossResult } from './ops/loss.js' */
/** @import { MultiHeadOptions } from './ops/multiheadOptions.js' */
/** @import { AdamOptions, SgdOptions, Trainable } from './ops/optimizer.js' */
/** @import { CoreExports } from '../../dist/abi/abi.js' */
/** @import { Threads } from './memory/memory.js' */
/** @import { Tensor } from './memory/tensor.js' */
/** @import { TensorLike } from './check/tensorlike.js' */
/** @import { Embedding } from './ops/embedding.js' */
/** @import { FoundLayer } from './ops/foreign.js' */
/** @import { Linear } from './ops/linear.js' */
/** @import { Norm } from './ops/norm.js' */
/** @import { Adam, Sgd } from './ops/optimizer.js' */
/** @import { OpenedModel, OpenOptions } from './models/checkpoint/open.js' */
/** @import { TextImageModel } from './models/textImage/textImageModel.js' */
/** @import { TransformerOptions } from './models/options.js' */
/** @import { SavedTransformer } from './models/loadTransformer.js' */
/** @import { Transformer } from './models/transformer.js' */

/**
 * @typedef {object} Info about an instance
 * @property {string} version
 * @property {'simd128' | 'relaxed'} simd
 * @property {number} threads
 * @property {string} [threadsNote] the reason if there is only one thread instead of those requested
 * @property {{ used: number, reserved: number, limit: number }} memory in bytes
 */
/** @typedef {{ seed?: number, mean?: number, std?: number }} NormalOptions default 0, 0 and 1 */
/** @typedef {{ seed?: number, low?: number, high?: number }} UniformOptions default 0, 0 and 1 */

/** One instance of the core with its own memory. Created by load(). */
export class Headlight {
  #memory;
  #simd;
  #parts;
  #environment;

  /**
   * @internal
   * @param {CoreExports} core
   * @param {WebAssembly.Memory} linear
   * @param {Threads} threads
   * @param {typeof import('./models/parts.js') | Error} parts the module with layers and models, or the error with
   *   which its import failed
   * @param {import('./models/checkpoint/open.js').Environment} environment
   */
  constructor(core, linear, threads, parts, environment) {
    this.#parts = parts;
    this.#environment = environment;
    this.#memory = new Memory(core, linear, threads);
    this.#simd = /** @type {'simd128' | 'relaxed'} */ (core.hl_simd() === 1 ? 'relaxed' : 'simd128');
  }

  /**
   * The version, the SIMD flavour, the number of threads, and the memory in bytes.
   * @returns {Info}
   */
  get info() {
    const { count: threads, note } = this.#memory.threads;
    return {
      version,
      simd: this.#simd,
      threads,
      ...(note !== undefined && { threadsNote: note }),
      memory: this.#memory.usage,
    };
  }

  /**
   * Makes a tensor from nested arrays, a typed array with a shape, or another tensor. The data is copied.
   * @param {TensorLike} data
   * @param {readonly number[]} [shape] default: the shape of the data
   * @returns {Tensor}
   */
  tensor(data, shape) {
    return this.#memory.tensor(data, 'tensor', 'data', shape);
  }

  /** @param {readonly number[]} shape @returns {Tensor} */
  zeros(shape) {
    return this.#filled('zeros', shape, (data) => data.fill(0));
  }

  /**
   * Returns a tensor of normally distributed numbers.
   * @param {readonly number[]} shape
   * @param {NormalOptions} [options]
   * @returns {Tensor}
   */
  randn(shape, options = {}) {
    const { seed = 0, mean = 0, std = 1 } = readOptions('randn', options, ['seed', 'mean', 'std']);
    const next = uniformSource(readNumber('randn', 'seed', seed, { integer: true }));
    readNumber('randn', 'mean', mean);
    readNumber('randn', 'std', std, { least: 0 });
    return this.#filled('randn', shape, (data) => fillNormal(data, next, mean, std));
  }

  /**
   * Returns a tensor of numbers that are uniformly distributed in [low, high).
   * @param {readonly number[]} shape
   * @param {UniformOptions} [options]
   * @returns {Tensor}
   */
  uniform(shape, options = {}) {
    const { seed = 0, low = 0, high = 1 } = readOptions('uniform', options, ['seed', 'low', 'high']);
    const next = uniformSource(readNumber('uniform', 'seed', seed, { integer: true }));
    readNumber('uniform', 'low', low);
    readNumber('uniform', 'high', high);
    return this.#filled('uniform', shape, (data) => fillUniform(data, next, low, high));
  }

  /**
   * @param {string} caller
   * @param {readonly number[]} shape
   * @param {(data: Float32Array) => void} fill
   */
  #filled(caller, shape, fill) {
    const checked = readShape(shape, caller, 'shape');
    const tensor = this.#memory.empty(checked, caller);
    fill(viewOf(tensor));
    return tensor;
  }

  /**
   * Computes scaled dot-product attention of query (B,H,T,D), key (B,G,S,D) and value (B,G,S,Dv). Two other layouts are
   * accepted: one head, (B,T,D), and packed heads, (B,T,H·D), which need the options `heads` and `kvHeads`. The output
   * has the layout of the query.
   * @template {WeightsChoice} [W=undefined]
   * @template {ScoresChoice} [S=undefined]
   * @template {PastChoice} [P=undefined]
   * @template {BiasChoice} [B=undefined]
   * @param {TensorLike} query
   * @param {TensorLike} key
   * @param {TensorLike} value
   * @param {AttentionOptions<W, S, P, B>} [options]
   * @returns {AttentionResult<W, S, P, B>}
   */
  attention(query, key, value, options = {}) {
    return /** @type {AttentionResult<any, any, any, any>} */ (attention(this.#memory, query, key, value, options));
  }

  /**
   * Makes a layer of multi-head attention with parameters: projections, attention and the output projection.
   * @param {MultiHeadOptions} options
   * @returns {MultiHeadAttention}
   */
  multiHeadAttention(options) {
    return new MultiHeadAttention(this.#memory, options);
  }

  /**
   * Makes a layer of additive attention with parameters. The scores are w · tanh(Wq q + Wk k).
   * @param {AdditiveOptions} options
   * @returns {AdditiveAttention}
   */
  additiveAttention(options) {
    return new (this.#part('additiveAttention').AdditiveAttention)(this.#memory, options);
  }

  /**
   * Makes a linear layer, x · weightᵀ + bias over the last axis.
   * @param {LinearOptions} options
   * @returns {Linear}
   */
  linear(options) {
    return new (this.#part('linear').Linear)(this.#memory, options);
  }

  /**
   * Makes an embedding layer, which returns a row of its table for each id. With `context` it adds a learned position
   * embedding.
   * @param {EmbeddingOptions} options
   * @returns {Embedding}
   */
  embedding(options) {
    return new (this.#part('embedding').Embedding)(this.#memory, options);
  }

  /**
   * Makes a layer normalization, (x − mean) / √(variance + eps) · weight + bias over the last axis.
   * @param {NormOptions} options
   * @returns {Norm}
   */
  layerNorm(options) {
    return new (this.#part('layerNorm').Norm)(this.#memory, 'layerNorm', options);
  }

  /**
   * Makes an RMS normalization, x / √(mean of squares + eps) · weight over the last axis.
   * @param {NormOptions} options
   * @returns {Norm}
   */
  rmsNorm(options) {
    return new (this.#part('rmsNorm').Norm)(this.#memory, 'rmsNorm', options);
  }

  /**
   * Makes an elementwise activation function. With `gated`, the function has two inputs and returns activation(gate) ·
   * up.
   * @template {boolean | undefined} [G=undefined]
   * @param {ActivationOptions<G>} options
   * @returns {G extends true ? GatedActivation : Activation}
   */
  activation(options) {
    return /** @type {any} */ (this.#part('activation').makeActivation(this.#memory, options));
  }

  /**
   * Makes a GELU activation, x · Φ(x) or its approximation by tanh.
   * @param {GeluOptions} [options]
   * @returns {Gelu}
   */
  gelu(options = {}) {
    return new (this.#part('gelu').Gelu)(this.#memory, options);
  }

  /**
   * Returns the sum of two tensors of the same shape, for a residual connection.
   * @param {TensorLike} a
   * @param {TensorLike} b
   * @returns {Tensor}
   */
  add(a, b) {
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
   * @param {TensorLike} logits (…,V)
   * @param {TensorLike} targets (…), integers from 0 to V − 1, or the value of options.ignore
   * @param {LossOptions} [options]
   * @returns {LossResult}
   */
  crossEntropy(logits, targets, options = {}) {
    return this.#part('crossEntropy').crossEntropy(this.#memory, logits, targets, options);
  }

  /**
   * Returns the mean of (prediction − target)² and the gradient of the prediction.
   * @param {TensorLike} prediction
   * @param {TensorLike} target of the same shape
   * @returns {{ loss: number, dPrediction: Tensor }}
   */
  meanSquaredError(prediction, target) {
    return this.#part('meanSquaredError').meanSquaredError(this.#memory, prediction, target);
  }

  /**
   * Makes an optimizer for stochastic gradient descent, optionally with momentum.
   * @param {Trainable} parameters
   * @param {SgdOptions} [options]
   * @returns {Sgd}
   */
  sgd(parameters, options = {}) {
    return new (this.#part('sgd').Sgd)(this.#memory, parameters, options);
  }

  /**
   * Makes an Adam optimizer. Weight decay is added to the gradient.
   * @param {Trainable} parameters
   * @param {AdamOptions} [options]
   * @returns {Adam}
   */
  adam(parameters, options = {}) {
    return new (this.#part('adam').Adam)(this.#memory, 'adam', parameters, options);
  }

  /**
   * Makes an AdamW optimizer: Adam with decoupled weight decay.
   * @param {Trainable} parameters
   * @param {AdamOptions} [options] weightDecay is 0.01 by default
   * @returns {Adam}
   */
  adamW(parameters, options = {}) {
    return new (this.#part('adamW').Adam)(this.#memory, 'adamW', parameters, options);
  }

  /**
   * Makes a small transformer: an embedding, blocks of attention and feed-forward layers, and an output head.
   * @param {TransformerOptions} options
   * @returns {Transformer}
   */
  transformer(options) {
    const { Transformer } = this.#part('transformer');
    return new Transformer(this.#memory, options);
  }

  /**
   * Opens a checkpoint in the layout of Hugging Face: config.json, model.safetensors or its shards, tokenizer.json.
   * @overload
   * @param {import('./models/checkpoint/files.js').ModelFiles} files a folder (a path in Node, a URL, hf://owner/name,
   *   a directory handle), or files by name; or 'demo', the model that is included in the package
   * @param {OpenOptions & { tower: 'both' }} options of a model for texts and pictures: CLIP, SigLIP
   * @returns {Promise<TextImageModel>}
   */
  /**
   * @overload
   * @param {import('./models/checkpoint/files.js').ModelFiles} files
   * @param {OpenOptions} [options]
   * @returns {Promise<OpenedModel>}
   */
  /**
   * @param {import('./models/checkpoint/files.js').ModelFiles} files
   * @param {OpenOptions} [options]
   * @returns {Promise<any>}
   */
  async openModel(files, options = {}) {
    const { openModel } = await import('./models/checkpoint/open.js');
    return openModel(this.#memory, files, options, this.#environment);
  }

  /**
   * Opens a tokenizer.json.
   * @param {string | URL | Blob | ArrayBuffer | ArrayBufferView} file a path in Node, a URL, hf://owner/name, or its
   *   bytes
   * @returns {Promise<import('./text/tokenizer.js').Tokenizer>}
   */
  async openTokenizer(file) {
    const { openTokenizerFile } = await import('./models/checkpoint/open.js');
    return openTokenizerFile(file, this.#environment);
  }

  /**
   * Finds the attention layers of a checkpoint by the names of their tensors. To open one of these layers, make a layer
   * with multiHeadAttention and pass the prefix that was found to its loadStateDict.
   * @param {Record<string, { shape: readonly number[] }>} dict tensors by name, or the result of readSafetensorsHeader
   * @param {Record<string, any>} [config] a config.json, for the number of heads
   * @returns {FoundLayer[]}
   */
  layersIn(dict, config) {
    return layersIn(dict, config);
  }

  /**
   * Loads a transformer written by `save`.
   * @param {Uint8Array | ArrayBuffer | SavedTransformer} saved the file, or the result of `readSafetensors`
   * @returns {Transformer}
   */
  loadTransformer(saved) {
    return this.#part('loadTransformer').loadTransformer(this.#memory, saved);
  }

  /** @param {string} caller */
  #part(caller) {
    const parts = this.#parts;
    if (!(parts instanceof Error)) return parts;
    const text = `${caller}: the part of the module with layers and models was not loaded: ${parts.message}`;
    throw new HeadlightError('LOAD', text, { cause: parts });
  }

  /**
   * Scales all gradients so that their total norm is at most maxNorm. If the norm is not finite, they are unchanged.
   * @param {Trainable} gradients an object of named gradients, or layers
   * @param {number} maxNorm
   * @returns {number} the total norm before scaling
   */
  clipGradients(gradients, maxNorm) {
    return this.#part('clipGradients').clipGradients(this.#memory, gradients, maxNorm);
  }

  /**
   * Calls a function and frees the tensors made inside it, except those in its result.
   * @template T
   * @param {() => T} fn
   * @returns {T}
   */
  scope(fn) {
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

export { HeadlightError } from './check/errors.js';
export { Tensor } from './memory/tensor.js';
export { MultiHeadAttention } from './ops/multihead.js';
export { AttentionResult } from './ops/result.js';
export { cosineSchedule, warmupSchedule } from './ops/schedule.js';
export * from './types.js';
