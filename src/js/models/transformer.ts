// The public methods of a transformer. run.ts computes the model from the parts in block.ts.

import { readBoolean, readOptions, readWord } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { INSPECT } from '../check/inspect.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { GgufValue } from '../io/ggufCursor.ts';
import { writeSafetensors } from '../io/safetensors.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Memory } from '../memory/memory.ts';
import { roundsInputs } from '../memory/packed.ts';
import { shapeOf, type Tensor } from '../memory/tensor.ts';
import type { OnnxModelOptions } from '../onnx/model.ts';
import { readNumbers } from '../ops/labels.ts';
import { crossEntropy } from '../ops/loss.ts';
import type { Adam, Sgd } from '../ops/optimizer.ts';
import { readArray, type StateEntry } from '../ops/state.ts';
import { Cache, type CacheOptions, checkCache } from './cache.ts';
import type { GenerationDefaults } from './checkpoint/folder/generationConfig.ts';
import type { SaveFolderOptions } from './checkpoint/folder/saveFolder.ts';
import type { SaveGgufOptions } from './checkpoint/gguf/saveGguf.ts';
import type { ModelSource } from './checkpoint/open.ts';
import { type Edit, readValues, type Values } from './edits.ts';
import type { StepOptions } from './forwardInSteps.ts';
import { type DifferentiateOptions, gradientsOf, readDifferentiate } from './gradients/differentiate.ts';
import { Graph } from './gradients/graph.ts';
import { computeHead } from './head.ts';
import { type ModelInput, readInput } from './input.ts';
import { ModelResult } from './modelResult.ts';
import { type Resolved, resolveOptions, type TransformerOptions } from './options.ts';
import { plainNorms } from './parameters.ts';
import { RotaryTables } from './positions/rotaryTables.ts';
import { TextMethods } from './results/textMethods.ts';
import { sliceRows } from './rowOperations.ts';
import { Run, type Shared } from './run.ts';
import type { ValueName } from './valueName.ts';
import { initialWeights, type Weight, WeightStore } from './weights.ts';

export type ForwardModelOptions = {
  /** names of values to return: 'blocks.0.weights', 'blocks.*.out', 'final' … */
  capture?: readonly ValueName[] | undefined;
  /** changes of values during the computation */
  edit?: readonly Edit[] | undefined;
  /** cache of the previous tokens; the tokens of this input are added to it */
  cache?: Cache | undefined;
  /** true: returns logits and hidden states of the last token only */
  last?: boolean | undefined;
  /** true: saves the values that backward() needs */
  train?: boolean | undefined;
};
export type LearnOptions = { labelSmoothing?: number };
export type StepResult = { loss: number; correct: number; counted: number };
export type { TokenizerLike } from './results/textMethods.ts';

const FORWARD = ['capture', 'edit', 'cache', 'last', 'train'];

export class Transformer extends TextMethods {
  /** The options, with all defaults filled in. */
  declare options: Resolved;
  /** The family of checkpoints that it was opened from. */
  declare family: string | undefined;
  /** The config.json that it was opened with. */
  declare config: Record<string, any> | undefined;
  /** Tensors in its files that belong to parts of the model that were not opened. */
  declare unread: string[];
  /** Where its files come from, for a model of openModel. */
  declare source: ModelSource | undefined;
  /** The optimizer with its state, if the folder that was opened contains one. dispose() frees it with the model. */
  declare optimizer: Adam | Sgd | undefined;
  /** Defaults of generate(), from the files that it was opened with. */
  declare generation: GenerationDefaults;
  /** The generation_config.json that it was opened with. */
  declare generationConfig: Record<string, any> | undefined;
  /** The name of each parameter's tensor in its files. @internal */
  declare storedNames: Map<string, string> | undefined;
  /** The shapes of the tensors in its files, by name. @internal */
  declare storedShapes: Map<string, readonly number[]> | undefined;
  /** The reason why the tokenizer of its files is not supported. @internal */
  declare tokenizerProblem: string | undefined;
  /** The tokenizer.json from which the tokenizer was read. @internal */
  declare tokenizerFile: Uint8Array | undefined;
  /** GGUF metadata of its tokenizer. @internal */
  declare tokenizerKeys: Record<string, GgufValue> | undefined;
  /** The parameters by name. Public, so that a scope which returns the model keeps them. @internal */
  declare weights: Map<string, Weight>;

  #memory: Memory;
  /** The options as they were given, as JSON, for save(). */
  #optionsJson: string;
  #rotaryTables: RotaryTables;
  /** The last forward with train: true, for backward, and the version of the weights at that time. */
  #pending: { graph: Graph; result: ModelResult; version: number } | undefined;
  #store: WeightStore;
  /** Number of learn() calls. It is part of the dropout seed. */
  #step: number;
  /** Layers that have been looked up, by name. */
  #layers: Shared['layers'] = new Map();
  #plainNorms: Map<string, number>;

  /** weights: default: random initial values; step: number of learn() calls so far */
  constructor(memory: Memory, given: TransformerOptions, weights?: Map<string, Weight>, step = 0) {
    super(memory);
    this.#memory = memory;
    this.#step = step;
    this.options = resolveOptions(given);
    this.family = undefined;
    this.config = undefined;
    this.unread = [];
    this.source = undefined;
    this.optimizer = undefined;
    this.generation = { ignored: [] };
    this.generationConfig = undefined;
    this.storedNames = undefined;
    this.storedShapes = undefined;
    this.tokenizerProblem = undefined;
    this.tokenizerFile = undefined;
    this.tokenizerKeys = undefined;
    this.#optionsJson = JSON.stringify(given);
    this.#plainNorms = plainNorms(this.options);
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
   * @param input ids (T) or (B,T), a text, or { ids, keep, typeIds, positions }, { pixels }, { features }, { samples },
   *   { encoder, ids }; also under the names of other libraries: { input_ids, attention_mask, token_type_ids }, {
   *   pixel_values }
   */
  forward(input: ModelInput, options: ForwardModelOptions = {}): ModelResult {
    return this.forwardFor('forward', input, options);
  }

  /** Computes forward for another public method, which error messages mention as the caller. @internal */
  forwardFor(caller: string, input: ModelInput, options: ForwardModelOptions) {
    const given = readOptions(caller, options, FORWARD);
    const { cache } = given;
    const train = readBoolean(caller, 'train', given.train ?? false);
    if (cache !== undefined) checkCache(caller, this.options, cache);
    if (train && (cache || given.edit)) throw argumentError(caller, 'train', train, 'false with a cache or edits');
    if (train) this.#store.checkTrainable(caller);
    if (train) this.#store.allocateGradients(caller);
    const graph = new Graph(this.#memory, caller, train ? 'train' : 'infer');
    let result: ModelResult;
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

  /** Computes forward block by block: see forwardInSteps.ts. @internal */
  async forwardInSteps(input: ModelInput, options: StepOptions) {
    const { forwardInSteps } = await import('./forwardInSteps.ts');
    return forwardInSteps(this, (...by) => this.#shared(...by), this.#memory, input, options);
  }

  #run(
    caller: string,
    graph: Graph,
    given: ModelInput,
    {
      capture,
      edit,
      cache,
      last = false,
      straight,
      blocks,
    }: ForwardModelOptions & { straight?: number; blocks?: number },
  ) {
    readBoolean(caller, 'last', last);
    this.#memory.check(caller);
    if (this.#store.disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    const { options } = this;
    const memory = this.#memory;
    const version = cache ? this.#store.version : 0;
    cache?.checkWeights(caller, version);
    const encode = (text: string) => this.encode(text);
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
      // Comes last, when nothing can fail any more, because a call that fails must not add tokens to the cache.
      cache?.advance(rows, run.far, version);
      return new ModelResult(tensors, values.captured);
    };
    const result = graph.records ? compute() : memory.scope(compute);
    for (const tensor of result.tensors) memory.watch(tensor);
    return result;
  }

  #shared(caller: string, graph: Graph, values: Values): Shared {
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

  /** Returns (1,T,C) as (T,C), for inputs without a batch axis. */
  #dropBatchAxis(graph: Graph, captured: Record<string, Tensor>, x: Tensor) {
    const shape = shapeOf(x).slice(1);
    return graph.records || Object.values(captured).includes(x) ? graph.copy(x, shape) : this.#memory.reshape(x, shape);
  }

  /** Returns a cache for the keys and values of `length` tokens, for forward and generate. */
  cache(options: CacheOptions) {
    return this.growingCache(options);
  }

  /** A cache that grows up to its length. capacity: tokens for which memory is allocated now. @internal */
  growingCache(options: CacheOptions, capacity?: number) {
    this.#store.checkAlive('cache');
    return new Cache(this.#memory, this.options, options, capacity);
  }

  /**
   * Runs forward, computes the loss, and runs backward, which adds to `gradients`. Returns the mean loss, the number of
   * counted targets, and how many of them have the largest logit.
   * @param targets (B,T): the next id after each token; −100 is ignored
   */
  learn(input: ModelInput, targets: TensorLike, options: LearnOptions = {}): StepResult {
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
   * change `gradients`. The weights may be in 16 bits.
   */
  differentiate(input: ModelInput, options: DifferentiateOptions) {
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

  #logitsOf(caller: string, { logits }: ModelResult) {
    if (!logits) throw new HeadlightError('STATE', `${caller}: this model has no logits`);
    return logits;
  }

  /** Computes the loss for targets (B,T), without gradients and without dropout. */
  judge(input: ModelInput, targets: TensorLike): StepResult {
    const caller = 'judge';
    const ids = readNumbers(targets, caller, 'targets');
    return this.#memory.scope(() => {
      const logits = this.#logitsOf(caller, this.#run(caller, new Graph(this.#memory, caller), input, {}));
      const { loss, correct, counted } = crossEntropy(this.#memory, logits, ids, {}, caller, 'targets');
      return { loss, correct, counted };
    });
  }

  /** Adds the gradients of the parameters, from those of the results of the last forward with train: true. */
  backward(given: { dLogits?: TensorLike; dHidden?: TensorLike; dPooled?: TensorLike }) {
    const caller = 'backward';
    const read = readOptions(caller, given, ['dLogits', 'dHidden', 'dPooled']);
    const pending = this.#pending;
    if (!pending) throw new HeadlightError('STATE', `${caller}: no forward with train: true was called before`);
    this.#store.checkAlive(caller);
    if (pending.version !== this.#store.version)
      throw new HeadlightError('STATE', `${caller}: the weights have changed since forward`);
    const { graph, result } = pending;
    const names = [
      ['dLogits', 'logits'],
      ['dHidden', 'hidden'],
      ['dPooled', 'pooled'],
    ] as const;
    const pairs = names.flatMap(([name, of]) => {
      const gradient = read[name];
      if (gradient === undefined) return [];
      const tensor = result[of];
      if (!tensor || tensor.disposed) throw argumentError(caller, name, gradient, `none, as the result has no ${of}`);
      const { shape, floats } = readArray(caller, name, gradient, this.#memory.buffer);
      if (!sameShape(shape, tensor.shape)) throw shapeError(caller, name, shape, formatShape(tensor.shape));
      return [[tensor, graph.from(shape, floats)] as [Tensor, Tensor]];
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

  /** Returns copies of all parameters in float32. The values of quantized weights are the rounded ones. */
  stateDict(): Record<string, StateEntry> {
    return this.#store.stateDict('stateDict');
  }

  /** Returns a copy of one parameter, as in stateDict. @internal */
  valuesOf(name: string, caller: string) {
    return this.#store.valuesOf(name, caller);
  }

  /** Replaces all parameters. Checks every name and shape before it writes anything. */
  loadStateDict(dict: Record<string, TensorLike>) {
    this.#store.load('loadStateDict', dict);
    return this;
  }

  /**
   * Tells that you have written to `model.parameters[…].data`; other changes of weights are noticed. A cache with
   * tokens, and the last forward with `train: true`, then give a STATE error, not results of mixed weights.
   */
  changed() {
    this.#store.checkAlive('changed');
    this.#store.changed();
    return this;
  }

  /**
   * Rounds the matrices to int8 (default), which is nine bits, in 29% of the memory of float32, or to int4, in 16%, and
   * frees the unrounded values. The model cannot be trained any more.
   */
  quantize(storage: 'int8' | 'int4' = 'int8') {
    readWord('quantize', 'storage', storage, ['int8', 'int4'] as const);
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

  /** Returns a safetensors file, whose metadata has the options, the number of learn() calls, and `metadata`. */
  save(metadata: Record<string, string> = {}) {
    const step = this.#step > 0 && { 'headlight.step': String(this.#step) };
    return writeSafetensors(this.stateDict(), { ...metadata, headlight: this.#optionsJson, ...step });
  }

  /**
   * Returns files in the layout of Hugging Face, by name: config.json, model.safetensors and, where there are,
   * tokenizer and chat template. openModel accepts them. The family is that of the opened checkpoint, or one that
   * supports these options.
   */
  async saveFolder(options?: SaveFolderOptions): Promise<Record<string, Uint8Array<ArrayBuffer>>> {
    this.#store.checkAlive('saveFolder');
    const { saveFolder } = await import('./checkpoint/folder/saveFolder.ts');
    return saveFolder(this, options);
  }

  /**
   * Returns one GGUF file for llama.cpp and openModel, with tokenizer and chat template. Families: Llama and Mistral,
   * GPT-2, Qwen 2 and 3, Gemma 1 to 3.
   */
  async saveGguf(options?: SaveGgufOptions): Promise<Uint8Array<ArrayBuffer>> {
    this.#store.checkAlive('saveGguf');
    const { saveGguf } = await import('./checkpoint/gguf/saveGguf.ts');
    return saveGguf(this, options);
  }

  /** Returns the model in ONNX, as files by name: model.onnx and its external data. It computes the same as forward. */
  async toOnnx(options?: OnnxModelOptions): Promise<Record<string, Uint8Array<ArrayBuffer>>> {
    const { writeModel } = await import('../onnx/model.ts');
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
