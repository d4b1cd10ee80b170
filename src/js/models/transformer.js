// The public methods of a transformer. run.js computes the model from the parts in block.js.

import { readBoolean, readOptions, readWord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { formatShape, sameShape } from '../check/shape.js';
import { writeSafetensors } from '../io/safetensors.js';
import { DISPOSE } from '../memory/disposable.js';
import { roundsInputs } from '../memory/packed.js';
import { shapeOf } from '../memory/tensor.js';
import { readNumbers } from '../ops/labels.js';
import { crossEntropy } from '../ops/loss.js';
import { readArray } from '../ops/state.js';
import { Cache, checkCache } from './cache.js';
import { gradientsOf, readDifferentiate } from './differentiate.js';
import { readValues } from './edits.js';
import { Graph } from './graph.js';
import { computeHead } from './head.js';
import { readInput } from './input.js';
import { ModelResult } from './modelResult.js';
import { resolveOptions } from './options.js';
import { plainNorms } from './parameters.js';
import { TextMethods } from './results/textMethods.js';
import { RotaryTables } from './rotaryTables.js';
import { sliceRows } from './rowOperations.js';
import { Run } from './run.js';
import { initialWeights, WeightStore } from './weights.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { GgufValue } from '../io/ggufCursor.js' */
/** @import { Adam, Sgd } from '../ops/optimizer.js' */
/** @import { StateEntry } from '../ops/state.js' */
/** @import { CacheOptions } from './cache.js' */
/** @import { Edit, Values } from './edits.js' */
/** @import { GenerationDefaults } from './checkpoint/generationConfig.js' */
/** @import { ModelSource } from './checkpoint/open.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Resolved, TransformerOptions } from './options.js' */
/** @import { Shared } from './run.js' */
/** @import { ValueName } from './valueName.js' */
/** @import { Weight } from './weights.js' */

/**
 * @typedef {object} ForwardModelOptions
 * @property {readonly ValueName[]} [capture] names of values to return: 'blocks.0.weights', 'blocks.*.out', 'final' …
 * @property {readonly Edit[]} [edit] changes of values during the computation
 * @property {Cache} [cache] cache of the previous tokens; the tokens of this input are added to it
 * @property {boolean} [last] true: returns logits and hidden states of the last token only
 * @property {boolean} [train] true: saves the values that backward() needs
 */
/** @typedef {{ labelSmoothing?: number }} LearnOptions */
/** @typedef {{ loss: number, correct: number, counted: number }} StepResult */
/** @typedef {import('./results/textMethods.js').TokenizerLike} TokenizerLike */

const FORWARD = ['capture', 'edit', 'cache', 'last', 'train'];

export class Transformer extends TextMethods {
  #memory;
  /** The options as they were given, as JSON, for save(). */
  #optionsJson;
  #rotaryTables;
  /**
   * The last forward with train: true, for backward, and the version of the weights at that time.
   * @type {{ graph: Graph, result: ModelResult, version: number } | undefined}
   */
  #pending;
  #store;
  /** Number of learn() calls. It is part of the dropout seed. */
  #step;
  /** Layers that have been looked up, by name. @type {Shared['layers']} */
  #layers = new Map();
  #plainNorms;

  /**
   * @param {Memory} memory
   * @param {TransformerOptions} given
   * @param {Map<string, Weight>} [weights] default: random initial values
   * @param {number} [step] number of learn() calls so far; default 0
   */
  constructor(memory, given, weights, step = 0) {
    super(memory);
    this.#memory = memory;
    this.#step = step;
    /** The options, with all defaults filled in. @type {Resolved} */
    this.options = resolveOptions(given);
    /** The family of checkpoints that it was opened from. @type {string | undefined} */
    this.family = undefined;
    /** The config.json that it was opened with. @type {Record<string, any> | undefined} */
    this.config = undefined;
    /** Tensors in its files that belong to parts of the model that were not opened. @type {string[]} */
    this.unread = [];
    /** Where its files come from, for a model of openModel. @type {ModelSource | undefined} */
    this.source = undefined;
    /**
     * The optimizer with its state, if the folder that was opened contains one. dispose() frees it with the model.
     * @type {Adam | Sgd | undefined}
     */
    this.optimizer = undefined;
    /** Defaults of generate(), from the files that it was opened with. @type {GenerationDefaults} */
    this.generation = { ignored: [] };
    /** The generation_config.json that it was opened with. @internal @type {Record<string, any> | undefined} */
    this.generationConfig = undefined;
    /** The name of each parameter's tensor in its files. @internal @type {Map<string, string> | undefined} */
    this.storedNames = undefined;
    /** The shapes of the tensors in its files, by name. @internal @type {Map<string, readonly number[]> | undefined} */
    this.storedShapes = undefined;
    /** The reason why the tokenizer of its files is not supported. @internal @type {string | undefined} */
    this.tokenizerProblem = undefined;
    /** The tokenizer.json from which the tokenizer was read. @internal @type {Uint8Array | undefined} */
    this.tokenizerFile = undefined;
    /** GGUF metadata of its tokenizer. @internal @type {Record<string, GgufValue> | undefined} */
    this.tokenizerKeys = undefined;
    this.#optionsJson = JSON.stringify(given);
    this.#plainNorms = plainNorms(this.options);
    /**
     * The parameters by name. Public, so that a scope which returns the model keeps them.
     * @internal
     * @type {Map<string, Weight>}
     */
    this.weights = weights ?? initialWeights(memory, this.options);
    this.#store = new WeightStore(memory, this.weights);
    this.#rotaryTables = new RotaryTables(memory, this.weights);
  }

  /** Number of learn() calls. @internal */
  get learned() {
    return this.#step;
  }

  /** The parameters that are in float32, by name: `blocks.0.attention.wq`, `embedding.table` … */
  get parameters() {
    return this.#store.tensors;
  }

  /** The gradients of all parameters, by the names of the parameters. */
  get gradients() {
    this.#store.checkTrainable('gradients');
    this.#store.allocateGradients('gradients');
    return this.#store.gradients;
  }

  /**
   * @param {ModelInput} input ids (T) or (B,T), a text, or { ids, keep, typeIds, positions }, { pixels }, { features },
   *   { samples }, { encoder, ids }; also under the names of other libraries: { input_ids, attention_mask,
   *   token_type_ids }, { pixel_values }
   * @param {ForwardModelOptions} [options]
   * @returns {ModelResult}
   */
  forward(input, options = {}) {
    return this.forwardFor('forward', input, options);
  }

  /**
   * Computes forward for another public method, which error messages mention as the caller.
   * @internal @param {string} caller @param {ModelInput} input @param {ForwardModelOptions} options
   */
  forwardFor(caller, input, options) {
    const given = readOptions(caller, options, FORWARD);
    const { cache } = given;
    const train = readBoolean(caller, 'train', given.train ?? false);
    if (cache !== undefined) checkCache(caller, this.options, cache);
    if (train && (cache || given.edit)) throw argumentError(caller, 'train', train, 'false with a cache or edits');
    if (train) this.#store.checkTrainable(caller);
    if (train) this.#store.allocateGradients(caller);
    const graph = new Graph(this.#memory, caller, train ? 'train' : 'infer');
    /** @type {ModelResult} */
    let result;
    try {
      result = this.#run(caller, graph, input, given);
    } catch (error) {
      graph.dispose();
      throw error;
    }
    if (train) {
      this.#dropPending();
      for (const tensor of result.tensors) graph.release(tensor);
      this.#pending = { graph, result, version: this.#store.version };
    }
    return result;
  }

  /**
   * Computes forward block by block: see forwardInSteps.js.
   * @internal @param {ModelInput} input @param {import('./forwardInSteps.js').StepOptions} options
   */
  async forwardInSteps(input, options) {
    const { forwardInSteps } = await import('./forwardInSteps.js');
    return forwardInSteps(this, (...by) => this.#shared(...by), this.#memory, input, options);
  }

  /**
   * @param {string} caller @param {Graph} graph @param {ModelInput} given
   * @param {ForwardModelOptions & { straight?: number, blocks?: number }} options
   */
  #run(caller, graph, given, { capture, edit, cache, last = false, straight, blocks }) {
    readBoolean(caller, 'last', last);
    this.#memory.check(caller);
    if (this.#store.disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    const { options } = this;
    const memory = this.#memory;
    const version = cache ? this.#store.version : 0;
    cache?.checkWeights(caller, version);
    const encode = (/** @type {string} */ text) => this.encode(text);
    const input = readInput(caller, options, given, encode, cache?.encoded);
    const values = readValues(caller, options, capture, edit, memory.buffer);
    const shared = { ...this.#shared(caller, graph, values), straight, blocks };
    const compute = () => {
      const encoder = input.encoder && options.encoder && new Run(shared, options.encoder, 'encoder.', input.encoder);
      const encoded = encoder && { tensor: encoder.hidden(), padding: encoder.padding };
      const run = new Run(shared, options, '', input, { cache, encoded, last });
      const { rows } = run;
      const all = run.hidden();
      const hidden = last ? sliceRows(graph, all, run.rows - 1, 1) : all;
      const tensors = { hidden, ...(blocks === undefined && computeHead(run, all, hidden)) };
      if (!input.batched) {
        tensors.hidden = this.#dropBatchAxis(graph, values.captured, hidden);
        if (options.head === 'logits' && tensors.logits)
          tensors.logits = this.#dropBatchAxis(graph, values.captured, tensors.logits);
      }
      // This comes last, when nothing can fail any more, because a call that fails must not add tokens to the cache.
      cache?.advance(rows, run.far, version);
      return new ModelResult(tensors, values.captured);
    };
    const result = graph.records ? compute() : memory.scope(compute);
    for (const tensor of result.tensors) memory.watch(tensor);
    return result;
  }

  /** @param {string} caller @param {Graph} graph @param {Values} values @returns {Shared} */
  #shared(caller, graph, values) {
    return {
      memory: this.#memory,
      caller,
      graph,
      values,
      step: this.#step,
      weightOf: (name) => this.weights.get(name),
      layers: this.#layers,
      plainNorms: this.#plainNorms,
      rotaryTables: this.#rotaryTables,
    };
  }

  /**
   * Returns (1,T,C) as (T,C), for inputs without a batch axis.
   * @param {Graph} graph @param {Record<string, Tensor>} captured @param {Tensor} x
   */
  #dropBatchAxis(graph, captured, x) {
    const shape = shapeOf(x).slice(1);
    return graph.records || Object.values(captured).includes(x) ? graph.copy(x, shape) : this.#memory.reshape(x, shape);
  }

  /**
   * Returns a cache for the keys and values of `length` tokens, for forward and generate.
   * @param {CacheOptions} options
   */
  cache(options) {
    return this.growingCache(options);
  }

  /**
   * Returns a cache whose memory grows up to its length.
   * @internal
   * @param {CacheOptions} options
   * @param {number} [capacity] number of tokens for which memory is allocated now; default: length
   */
  growingCache(options, capacity) {
    this.#store.checkAlive('cache');
    return new Cache(this.#memory, this.options, options, capacity);
  }

  /**
   * Runs forward, computes the loss, and runs backward, which adds the gradients to `gradients`.
   * @param {ModelInput} input ids (B,T), or another input of forward
   * @param {TensorLike} targets (B,T): the next id after each token; −100 is ignored
   * @param {LearnOptions} [options]
   * @returns {StepResult} the mean loss, the number of counted targets, and how many of them have the largest logit
   */
  learn(input, targets, options = {}) {
    const caller = 'learn';
    const given = readOptions(caller, options, ['labelSmoothing']);
    const ids = readNumbers(targets, caller, 'targets');
    this.#store.checkTrainable(caller);
    this.#store.allocateGradients(caller);
    this.#step++;
    const graph = new Graph(this.#memory, caller, 'train');
    try {
      return this.#memory.scope(() => {
        const logits = this.#logitsOf(caller, this.#run(caller, graph, input, {}));
        const result = crossEntropy(this.#memory, logits, ids, given, caller, 'targets');
        graph.backward([[logits, result.dLogits]]);
        const { loss, correct, counted } = result;
        return { loss, correct, counted };
      });
    } finally {
      graph.dispose();
    }
  }

  /**
   * Computes gradients of a metric, or of named values, with respect to named values. Applies no dropout and does not
   * change `gradients`. The weights may be stored in 16 bits.
   * @param {ModelInput} input
   * @param {import('./differentiate.js').DifferentiateOptions} options
   */
  differentiate(input, options) {
    const caller = 'differentiate';
    const given = readDifferentiate(caller, this.options, options, this.#memory.buffer);
    if ([...this.weights.values()].some(roundsInputs)) {
      const storage = this.#store.reducedStorage;
      throw new HeadlightError('STATE', `${caller}: a model with ${storage} weights rounds the inputs of its layers`);
    }
    const graph = new Graph(this.#memory, caller, 'differentiate');
    try {
      return gradientsOf(caller, graph, this.#run(caller, graph, input, given), given);
    } finally {
      graph.dispose();
    }
  }

  /** @param {string} caller @param {ModelResult} result */
  #logitsOf(caller, { logits }) {
    if (!logits) throw new HeadlightError('STATE', `${caller}: this model has no logits`);
    return logits;
  }

  /**
   * Computes the loss without gradients and without dropout.
   * @param {ModelInput} input
   * @param {TensorLike} targets (B,T)
   * @returns {StepResult}
   */
  judge(input, targets) {
    const caller = 'judge';
    const ids = readNumbers(targets, caller, 'targets');
    return this.#memory.scope(() => {
      const logits = this.#logitsOf(caller, this.#run(caller, new Graph(this.#memory, caller), input, {}));
      const { loss, correct, counted } = crossEntropy(this.#memory, logits, ids, {}, caller, 'targets');
      return { loss, correct, counted };
    });
  }

  /**
   * Adds the gradients of the parameters, computed from the gradients of the results of the last forward with
   * train: true.
   * @param {{ dLogits?: TensorLike, dHidden?: TensorLike, dPooled?: TensorLike }} given
   */
  backward(given) {
    const caller = 'backward';
    const read = readOptions(caller, given, ['dLogits', 'dHidden', 'dPooled']);
    const pending = this.#pending;
    if (!pending) throw new HeadlightError('STATE', `${caller}: no forward with train: true was called before`);
    this.#store.checkAlive(caller);
    if (pending.version !== this.#store.version)
      throw new HeadlightError('STATE', `${caller}: the weights have changed since forward`);
    const { graph, result } = pending;
    const names = /** @type {const} */ ([
      ['dLogits', 'logits'],
      ['dHidden', 'hidden'],
      ['dPooled', 'pooled'],
    ]);
    const pairs = names.flatMap(([name, of]) => {
      const gradient = read[name];
      if (gradient === undefined) return [];
      const tensor = result[of];
      if (!tensor || tensor.disposed) throw argumentError(caller, name, gradient, `none, as the result has no ${of}`);
      const { shape, floats } = readArray(caller, name, gradient, this.#memory.buffer);
      if (!sameShape(shape, tensor.shape)) throw shapeError(caller, name, shape, formatShape(tensor.shape));
      return [/** @type {[Tensor, Tensor]} */ ([tensor, graph.from(shape, floats)])];
    });
    graph.backward(pairs);
    this.#dropPending();
  }

  /** Frees the tensors that were saved for backward. */
  #dropPending() {
    this.#pending?.graph.dispose();
    this.#pending = undefined;
  }

  zeroGrad() {
    this.#store.zeroGradients('zeroGrad');
    return this;
  }

  /**
   * Returns copies of all parameters in float32. The values of quantized weights are the rounded ones.
   * @returns {Record<string, StateEntry>}
   */
  stateDict() {
    return this.#store.stateDict('stateDict');
  }

  /**
   * Returns a copy of one parameter, as in stateDict.
   * @internal @param {string} name @param {string} caller
   */
  valuesOf(name, caller) {
    return this.#store.valuesOf(name, caller);
  }

  /**
   * Replaces all parameters. Checks every name and shape before it writes anything.
   * @param {Record<string, TensorLike>} dict
   */
  loadStateDict(dict) {
    this.#store.load('loadStateDict', dict);
    return this;
  }

  /**
   * Says that you have written to `model.parameters[…].data`. All other changes of weights are noticed. A cache that
   * has tokens, and the last forward with `train: true`, then give an error with the code STATE instead of results of
   * mixed weights.
   */
  changed() {
    this.#store.checkAlive('changed');
    this.#store.changed();
    return this;
  }

  /**
   * Rounds the matrices to int8, in 29% of the memory of float32, or to int4, in 16%, and frees the unrounded values.
   * The model cannot be trained any more.
   * @param {'int8' | 'int4'} [storage] default 'int8'
   */
  quantize(storage = 'int8') {
    readWord('quantize', 'storage', storage, /** @type {const} */ (['int8', 'int4']));
    this.#store.checkAlive('quantize');
    this.#dropPending();
    try {
      this.#store.quantize('quantize', storage);
    } finally {
      // The tables were freed with the weight that owned them.
      this.#rotaryTables.clear();
    }
    return this;
  }

  /**
   * Returns the parameters as a safetensors file. Its metadata contains the options and the number of learn() calls.
   * @param {Record<string, string>} [metadata] more metadata
   */
  save(metadata = {}) {
    const step = this.#step > 0 && { 'headlight.step': String(this.#step) };
    return writeSafetensors(this.stateDict(), { ...metadata, headlight: this.#optionsJson, ...step });
  }

  /**
   * Returns the files of a checkpoint in the layout of Hugging Face, by name: config.json, model.safetensors and, where
   * there are, the tokenizer and the chat template. openModel accepts them. The family is that of the opened
   * checkpoint, or one that supports the options of this model.
   * @param {import('./checkpoint/saveFolder.js').SaveFolderOptions} [options]
   * @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>}
   */
  async saveFolder(options) {
    this.#store.checkAlive('saveFolder');
    const { saveFolder } = await import('./checkpoint/saveFolder.js');
    return saveFolder(this, options);
  }

  /**
   * Returns the model as one GGUF file, which llama.cpp and openModel open, with its tokenizer and its chat template.
   * Families: Llama and Mistral, GPT-2, Qwen 2 and 3, Gemma 1 to 3.
   * @param {import('./checkpoint/saveGguf.js').SaveGgufOptions} [options]
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async saveGguf(options) {
    this.#store.checkAlive('saveGguf');
    const { saveGguf } = await import('./checkpoint/saveGguf.js');
    return saveGguf(this, options);
  }

  /**
   * Returns the model in ONNX, as files by name: model.onnx and its external data. It computes the same as forward.
   * @param {import('../onnx/model.js').OnnxModelOptions} [options]
   * @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>}
   */
  async toOnnx(options) {
    const { writeModel } = await import('../onnx/model.js');
    return writeModel(this, options);
  }

  dispose() {
    this.#dropPending();
    this.optimizer?.dispose();
    this.#store.dispose();
  }

  toString() {
    const { layers, numHeads, dModel, vocab, context } = this.options;
    const family = this.family ? ` (${this.family})` : '';
    const size = `layers ${layers}, heads ${numHeads}, width ${dModel}`;
    const tokens = vocab > 0 ? `, tokens ${vocab}, context ${context}` : '';
    const { reducedStorage, disposed } = this.#store;
    return `Transformer${family}: ${size}${tokens}, ${reducedStorage ?? 'float32'}${disposed ? ' (disposed)' : ''}`;
  }

  /** The line that Node's console.log shows. @internal */
  [INSPECT]() {
    return this.toString();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
