// A transformer: its parameters, and what is done with them. run.js computes it, from the parts in block.js.

import { checkNames, readBoolean, readOptions, readRecord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { INSPECT } from '../check/inspect.js';
import { quoteNames } from '../check/quote.js';
import { formatShape, sameShape } from '../check/shape.js';
import { parseJson } from '../io/json.js';
import { areRounded, widenRows } from '../io/roundedRows.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from '../io/safetensors.js';
import { DISPOSE } from '../memory/disposable.js';
import { loadHalfRows, quantizedSize, quantizeHeld } from '../memory/stored.js';
import { checkAlive, own, shapeOf, touch, versionOf, viewOf } from '../memory/tensor.js';
import { readNumbers } from '../ops/labels.js';
import { crossEntropy } from '../ops/loss.js';
import { rotaryTable } from '../ops/rotary.js';
import { readArray } from '../ops/state.js';
import { Cache, checkCache } from './cache.js';
import { readValues } from './edits.js';
import { freeWeight, Graph } from './graph.js';
import { noTokenizer, readInput } from './input.js';
import { resolveOptions } from './options.js';
import { parameterShapes, plainNorms, startParameters } from './parameters.js';
import { Run } from './run.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { StateEntry } from '../ops/state.js' */
/** @import { CacheOptions } from './cache.js' */
/** @import { Edit, Values } from './edits.js' */
/** @import { GenerationDefaults } from './checkpoint/generationConfig.js' */
/** @import { Weight } from './graph.js' */
/** @import { ModelInput } from './input.js' */
/** @import { Encoding } from '../text/processors.js' */
/** @import { Resolved, TransformerOptions } from './options.js' */
/** @import { Shared } from './run.js' */

/**
 * @typedef {object} ForwardModelOptions
 * @property {readonly string[]} [capture] names of values to hand out: 'blocks.0.weights', 'blocks.*.out', 'final' …
 * @property {readonly Edit[]} [edit] what is changed on the way
 * @property {Cache} [cache] of the tokens before these; it takes these as well
 * @property {boolean} [last] logits and hidden state of the last token only
 * @property {boolean} [train] keep what backward() needs
 */
/** @typedef {{ labelSmoothing?: number }} LearnOptions */
/** @typedef {{ loss: number, correct: number, counted: number }} StepResult */
/**
 * The methods that a model calls on its tokenizer. Your own object may be set as `model.tokenizer`.
 * @typedef {object} TokenizerLike
 * @property {(text: string, pair?: string) => Encoding} encode
 * @property {(ids: readonly number[]) => string} decode
 */

const FORWARD = ['capture', 'edit', 'cache', 'last', 'train'];
/** An error lists at most this many names. */
const MOST_MISSING = 8;

/** What forward gives. dispose() frees all of it. */
export class ModelResult {
  /**
   * @param {{ hidden: Tensor, logits?: Tensor, pooled?: Tensor, relationship?: Tensor }} tensors
   * @param {Record<string, Tensor>} captured
   */
  constructor({ hidden, logits, pooled, relationship }, captured) {
    /**
     * (B,T,V), or (T,V) where the ids were (T); of a pooled head (B,classes). A model with `head: 'none'` has none:
     * there it is undefined.
     * @type {Tensor}
     */
    this.logits = /** @type {Tensor} */ (logits);
    /** (B,T,C), after the final norm. @type {Tensor} */
    this.hidden = hidden;
    /** (B,C) @type {Tensor | undefined} */
    this.pooled = pooled;
    /** (B,2), of models with such a head. @type {Tensor | undefined} */
    this.relationship = relationship;
    /** By name. @type {Record<string, Tensor>} */
    this.captured = captured;
  }

  /** All of them. @returns {Tensor[]} */
  get tensors() {
    const { hidden, logits, pooled, relationship, captured } = this;
    return [hidden, logits, pooled, relationship, ...Object.values(captured)].flatMap((tensor) => tensor ?? []);
  }

  dispose() {
    for (const tensor of this.tensors) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

/** Those that save() has written. @param {Record<string, string>} metadata of the file @returns {TransformerOptions} */
function readSavedOptions({ headlight }) {
  const fail = (/** @type {string} */ reason) =>
    new HeadlightError('FORMAT', `loadTransformer: the file does not say which transformer it is of: ${reason}`, {
      parameter: 'headlight',
      got: headlight,
    });
  if (headlight === undefined) throw fail('no "headlight" in its metadata');
  return /** @type {TransformerOptions} */ (
    parseJson(headlight, (reason) => fail(`"headlight" in its metadata is not JSON as expected: ${reason}`))
  );
}

/**
 * @typedef {{ tensors: Record<string, TensorLike & StateEntry>, metadata: Record<string, string> }} SavedTransformer
 */

/** @param {unknown} saved @returns {saved is SavedTransformer} */
const isRead = (saved) => typeof saved === 'object' && saved !== null && 'tensors' in saved && 'metadata' in saved;

/**
 * Reads what save() has written. The options decide how much is built: they are compared with the tensors of the file
 * before anything is built.
 * @param {Memory} memory
 * @param {ArrayBuffer | ArrayBufferView | SavedTransformer} saved
 * @returns {Transformer}
 */
export function loadTransformer(memory, saved) {
  const caller = 'loadTransformer';
  const { tensors: ranges, metadata } = isRead(saved) ? saved : readSafetensorsHeader(saved);
  readRecord(caller, 'tensors', ranges, 'an object of named tensors');
  readRecord(caller, 'metadata', metadata, 'an object of named texts');
  if (areRounded(ranges)) {
    const tensors = widenRows(isRead(saved) ? ranges : readSafetensors(saved).tensors);
    return loadTransformer(memory, { tensors, metadata });
  }
  const options = resolveOptions(readSavedOptions(metadata));
  const got = Object.keys(ranges);
  /** @type {string[]} */
  const expected = [];
  for (const [name, shape] of parameterShapes(options)) {
    expected.push(name);
    const range = ranges[name];
    if (Array.isArray(range?.shape) && !sameShape(range.shape, shape))
      throw shapeError(caller, name, range.shape, formatShape(shape));
    // The file may claim a million layers: only the first missing names are listed.
    if (expected.length > got.length + MOST_MISSING) {
      const missing = expected.filter((other) => !(other in ranges)).slice(0, MOST_MISSING);
      const details = { parameter: missing[0], expected, got };
      throw new HeadlightError('ARGUMENT', `${caller}: missing ${quoteNames(missing)} and others`, details);
    }
  }
  checkNames(caller, got, expected);
  const step = Number(metadata['headlight.step'] ?? 0);
  const tensors = isRead(saved) ? ranges : readSafetensors(saved).tensors;
  // What a transformer begins with would be overwritten.
  const model = new Transformer(memory, options, makeWeights(memory, options), step);
  try {
    return model.loadStateDict(/** @type {Record<string, StateEntry>} */ (tensors));
  } catch (error) {
    model.dispose();
    throw error;
  }
}

/**
 * Parameters without values.
 * @param {Memory} memory
 * @param {Resolved} options
 * @returns {Map<string, Weight>}
 */
function makeWeights(memory, options) {
  /** @type {Map<string, Weight>} */
  const weights = new Map();
  memory.frame('transformer', (frame) => {
    for (const [name, shape] of parameterShapes(options)) {
      const tensor = frame.make(shape);
      weights.set(name, { shape: shapeOf(tensor), tensor });
    }
  });
  return weights;
}

export class Transformer {
  #memory;
  /** The options as they were given: those that save() writes. */
  #given;
  /** Cosines and sines by the base of the angles. @type {Map<string, Tensor>} */
  #tables = new Map();
  /**
   * The last forward with train: true, and the weights at that time.
   * @type {{ graph: Graph, result: ModelResult, weights: number } | undefined}
   */
  #kept;
  /** Versions of weights that have been replaced. */
  #replaced = 0;
  /** How often it has learned: the dropout of a step depends on it. */
  #step;
  #disposed = false;
  /** Layers found so far, by name. @type {Shared['layers']} */
  #layers = new Map();
  #plain;

  /**
   * @param {Memory} memory
   * @param {TransformerOptions} given
   * @param {Map<string, Weight>} [weights] default: as they begin
   * @param {number} [step] default 0: it has not learned yet
   */
  constructor(memory, given, weights, step = 0) {
    this.#memory = memory;
    this.#step = step;
    /** The options, with every default filled in. @type {Resolved} */
    this.options = resolveOptions(given);
    /** The family of checkpoints that it was opened from. @type {string | undefined} */
    this.family = undefined;
    /** The config.json that it was opened with. @type {Record<string, any> | undefined} */
    this.config = undefined;
    /** Tensors in its files that belong to parts of the model that are not opened. @type {string[]} */
    this.unread = [];
    /** Defaults of generate(), from the files that it was opened with. @type {GenerationDefaults} */
    this.generation = {};
    /** The generation_config.json that it was opened with. @internal @type {Record<string, any> | undefined} */
    this.generationConfig = undefined;
    /** What each parameter's tensor was called there. @internal @type {Map<string, string> | undefined} */
    this.storedNames = undefined;
    /** @type {TokenizerLike | undefined} */
    this.tokenizer = undefined;
    /** What it was read from. @internal @type {Uint8Array | undefined} */
    this.tokenizerFile = undefined;
    this.#given = JSON.stringify(given);
    this.#plain = plainNorms(this.options);
    /**
     * The parameters by name. Public, so that a scope which returns the model keeps them.
     * @internal
     * @type {Map<string, Weight>}
     */
    this.weights = weights ?? this.#start();
  }

  #start() {
    const weights = makeWeights(this.#memory, this.options);
    startParameters(this.options, (name) => viewOf(/** @type {Tensor} */ (weights.get(name)?.tensor)));
    return weights;
  }

  /** All parameters: `blocks.0.attention.wq`, `embedding.table` … Only those in float32. */
  get parameters() {
    return this.#collect(({ tensor }) => tensor);
  }

  /** The gradients of all parameters, under the same names. */
  get gradients() {
    this.#refuseFixed('gradients');
    this.#makeGradients('gradients');
    return this.#collect(({ gradient }) => gradient);
  }

  /** @param {(weight: Weight) => Tensor | undefined} of @returns {Record<string, Tensor>} */
  #collect(of) {
    /** @type {Record<string, Tensor>} */
    const found = {};
    for (const [name, weight] of this.weights) {
      const tensor = of(weight);
      if (tensor) found[name] = tensor;
    }
    return found;
  }

  /** @param {string} caller */
  #checkAlive(caller) {
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    checkAlive(this.parameters, caller, 'parameters');
  }

  /** @param {string} caller */
  #makeGradients(caller) {
    this.#checkAlive(caller);
    this.#memory.frame(caller, (frame) => {
      for (const weight of this.weights.values()) {
        if (!weight.tensor || weight.gradient) continue;
        weight.gradient = this.#memory.unscoped(frame.zeros([...weight.shape]));
        own(weight.tensor, 'gradient', weight.gradient);
      }
    });
    checkAlive(
      this.#collect(({ gradient }) => gradient),
      caller,
      'gradients',
    );
  }

  /** Grows with every change of the weights that is made by a function: what was made with others is known by it. */
  get #version() {
    let version = this.#replaced;
    for (const { tensor } of this.weights.values()) if (tensor) version += versionOf(tensor);
    return version;
  }

  /** What its weights are kept as, if not all are in float32. */
  get #fixed() {
    const weights = [...this.weights.values()];
    if (weights.some(({ int8 }) => int8)) return 'int8';
    return weights.some(({ half }) => half) ? '16-bit' : undefined;
  }

  /** @param {string} caller */
  #refuseFixed(caller) {
    if (this.#fixed)
      throw new HeadlightError('STATE', `${caller}: a model with ${this.#fixed} weights cannot be trained`);
  }

  /**
   * @param {NonNullable<Resolved['rotary']>} rotary
   * @param {number} theta
   * @param {number} positions
   * @param {boolean} far
   */
  #tableOf({ width, scaling: usual, long }, theta, positions, far) {
    const name = `rotary ${theta}${far ? ' far' : ''}`;
    const scaling = far ? long?.scaling : usual;
    const before = this.#tables.get(name);
    if (before && before.shape[0] >= positions) return before;
    const context = 2 ** Math.ceil(Math.log2(Math.max(positions, 64)));
    const table = this.#memory.unscoped(this.#memory.empty([context, 2, width / 2], 'forward'));
    viewOf(table).set(rotaryTable({ theta, width, scaling, context }));
    // It ends with the parameters.
    const [{ tensor, half, int8 }] = this.weights.values();
    own(/** @type {Tensor} */ (tensor ?? half?.tensor ?? int8), name, table);
    this.#tables.set(name, table);
    return table;
  }

  /**
   * The ids of a text's tokens.
   * @param {string} text
   * @param {string} [pair]
   */
  encode(text, pair) {
    if (!this.tokenizer) throw noTokenizer('encode');
    return this.tokenizer.encode(text, pair);
  }

  /** @param {readonly number[]} ids */
  decode(ids) {
    if (!this.tokenizer) throw noTokenizer('decode');
    return this.tokenizer.decode(ids);
  }

  /**
   * @param {ModelInput} input ids (T) or (B,T), a text, or { ids, keep, typeIds, positions }, { pixels }, { features },
   *   { encoder, ids }; also under the names of other libraries: { input_ids, attention_mask, token_type_ids },
   *   { pixel_values }
   * @param {ForwardModelOptions} [options]
   * @returns {ModelResult}
   */
  forward(input, options = {}) {
    return this.forwardFor('forward', input, options);
  }

  /**
   * As forward, for a function that errors name in its place.
   * @internal
   * @param {string} caller
   * @param {ModelInput} input
   * @param {ForwardModelOptions} options
   */
  forwardFor(caller, input, options) {
    const given = readOptions(caller, options, FORWARD);
    const { cache } = given;
    const train = readBoolean(caller, 'train', given.train ?? false);
    if (cache !== undefined) checkCache(caller, this.options, cache);
    if (train && (cache || given.edit)) throw argumentError(caller, 'train', train, 'false with a cache or edits');
    if (train) this.#refuseFixed(caller);
    if (train) this.#makeGradients(caller);
    const graph = new Graph(this.#memory, caller, train);
    /** @type {ModelResult} */
    let result;
    try {
      result = this.#run(caller, graph, input, given);
    } catch (error) {
      graph.dispose();
      throw error;
    }
    if (train) {
      this.#forget();
      for (const tensor of result.tensors) graph.release(tensor);
      this.#kept = { graph, result, weights: this.#version };
    }
    return result;
  }

  /**
   * @param {string} caller
   * @param {Graph} graph
   * @param {ModelInput} given
   * @param {ForwardModelOptions} options
   */
  #run(caller, graph, given, { capture, edit, cache, last = false }) {
    readBoolean(caller, 'last', last);
    this.#memory.check(caller);
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    const { options } = this;
    const memory = this.#memory;
    const weights = cache ? this.#version : 0;
    cache?.checkWeights(caller, weights);
    const encode = (/** @type {string} */ text) => this.encode(text);
    const input = readInput(caller, options, given, encode, cache?.encoded);
    const values = readValues(caller, options, capture, edit, memory.buffer);
    const shared = this.#shared(caller, graph, values);
    const compute = () => {
      const encoder = input.encoder && options.encoder && new Run(shared, options.encoder, 'encoder.', input.encoder);
      const encoded = encoder && { tensor: encoder.hidden(), padding: encoder.padding };
      const run = new Run(shared, options, '', input, { cache, encoded, last });
      const { rows } = run;
      const all = run.hidden();
      const hidden = last ? graph.slice(all, run.rows - 1, 1) : all;
      const tensors = { hidden, ...run.head(all, hidden) };
      if (!input.batched) {
        tensors.hidden = this.#unbatched(graph, values.captured, hidden);
        if (options.head === 'logits' && tensors.logits)
          tensors.logits = this.#unbatched(graph, values.captured, tensors.logits);
      }
      // Nothing fails from here on: a call that has failed leaves no tokens.
      cache?.advance(rows, run.far, weights);
      return new ModelResult(tensors, values.captured);
    };
    const result = graph.train ? compute() : memory.scope(compute);
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
      plain: this.#plain,
      tableOf: (rotary, theta, positions, far) => this.#tableOf(rotary, theta, positions, far),
    };
  }

  /**
   * Without the axis of a batch of one.
   * @param {Graph} graph
   * @param {Record<string, Tensor>} captured
   * @param {Tensor} x
   */
  #unbatched(graph, captured, x) {
    const shape = shapeOf(x).slice(1);
    return graph.train || Object.values(captured).includes(x)
      ? graph.from(shape, viewOf(x))
      : this.#memory.reshape(x, shape);
  }

  /**
   * Room for the keys and values of so many tokens, for forward and generate.
   * @param {CacheOptions} options
   */
  cache(options) {
    return this.growingCache(options);
  }

  /**
   * A cache with room for so many tokens, which grows up to its length.
   * @internal
   * @param {CacheOptions} options
   * @param {number} [room] default: length
   */
  growingCache(options, room) {
    this.#checkAlive('cache');
    return new Cache(this.#memory, this.options, options, room);
  }

  /**
   * Writes on, token by token.
   * @param {ModelInput} prompt a text, or ids; with an encoder { encoder, ids? }
   * @param {import('./generate.js').GenerateOptions} [options]
   * @returns {Promise<import('./generate.js').Generated>}
   */
  async generate(prompt, options = {}) {
    const { generate } = await import('./generate.js');
    return generate(this, prompt, options);
  }

  /**
   * Forward, loss and backward: the gradients add up in `gradients`.
   * @param {ModelInput} input ids (B,T), or another input of forward
   * @param {TensorLike} targets (B,T): the id that is to follow each; −100 does not count
   * @param {LearnOptions} [options]
   * @returns {StepResult} the mean loss, and how many of the counted targets are the likeliest id
   */
  learn(input, targets, options = {}) {
    const caller = 'learn';
    const given = readOptions(caller, options, ['labelSmoothing']);
    const follow = readNumbers(targets, caller, 'targets');
    this.#refuseFixed(caller);
    this.#makeGradients(caller);
    this.#step++;
    const graph = new Graph(this.#memory, caller, true);
    try {
      return this.#memory.scope(() => {
        const logits = this.#logitsOf(caller, this.#run(caller, graph, input, {}));
        const result = crossEntropy(this.#memory, logits, follow, given, caller, 'targets');
        graph.backward([[logits, result.dLogits]]);
        const { loss, correct, counted } = result;
        return { loss, correct, counted };
      });
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
   * The loss alone: no gradients, no dropout, nothing saved for backward.
   * @param {ModelInput} input
   * @param {TensorLike} targets (B,T)
   * @returns {StepResult}
   */
  judge(input, targets) {
    const caller = 'judge';
    const follow = readNumbers(targets, caller, 'targets');
    return this.#memory.scope(() => {
      const logits = this.#logitsOf(caller, this.#run(caller, new Graph(this.#memory, caller, false), input, {}));
      const { loss, correct, counted } = crossEntropy(this.#memory, logits, follow, {}, caller, 'targets');
      return { loss, correct, counted };
    });
  }

  /**
   * From the gradients of what the last forward with train: true has given to those of the parameters, which add up.
   * @param {{ dLogits?: TensorLike, dHidden?: TensorLike, dPooled?: TensorLike }} given
   */
  backward(given) {
    const caller = 'backward';
    const read = readOptions(caller, given, ['dLogits', 'dHidden', 'dPooled']);
    const kept = this.#kept;
    if (!kept) throw new HeadlightError('STATE', `${caller}: there is no forward with train: true before it`);
    this.#checkAlive(caller);
    if (kept.weights !== this.#version)
      throw new HeadlightError('STATE', `${caller}: the weights have changed since forward`);
    const { graph, result } = kept;
    const names = /** @type {const} */ ([
      ['dLogits', 'logits'],
      ['dHidden', 'hidden'],
      ['dPooled', 'pooled'],
    ]);
    const pairs = names.flatMap(([name, of]) => {
      const gradient = read[name];
      if (gradient === undefined) return [];
      const tensor = result[of];
      if (!tensor || tensor.disposed) throw argumentError(caller, name, gradient, `none: the result has no ${of}`);
      const { shape, floats } = readArray(caller, name, gradient, this.#memory.buffer);
      if (!sameShape(shape, tensor.shape)) throw shapeError(caller, name, shape, formatShape(tensor.shape));
      return [/** @type {[Tensor, Tensor]} */ ([tensor, graph.from(shape, floats)])];
    });
    graph.backward(pairs);
    this.#forget();
  }

  /** Frees what the last forward has left for backward. */
  #forget() {
    this.#kept?.graph.dispose();
    this.#kept = undefined;
  }

  zeroGrad() {
    this.#checkAlive('zeroGrad');
    this.#refuseFixed('zeroGrad');
    for (const gradient of Object.values(this.#collect(({ gradient }) => gradient))) viewOf(gradient).fill(0);
    return this;
  }

  /**
   * Copies of all parameters in float32; those rounded to int8 as what they are now.
   * @returns {Record<string, StateEntry>}
   */
  stateDict() {
    const caller = 'stateDict';
    /** @type {Record<string, StateEntry>} */
    const state = {};
    for (const [name, { shape }] of this.weights)
      state[name] = { data: this.valuesOf(name, caller), shape: [...shape] };
    return state;
  }

  /**
   * A copy of a parameter in float32; of one rounded to int8 as what it is now.
   * @internal
   * @param {string} name
   * @param {string} caller
   */
  valuesOf(name, caller) {
    this.#checkAlive(caller);
    const { shape, tensor, half, int8 } = /** @type {Weight} */ (this.weights.get(name));
    if (tensor) return Float32Array.from(viewOf(tensor));
    const [out, inside] = shape;
    return this.#memory.frame(caller, (frame) => {
      const rows = frame.scratch(out * inside);
      if (half) loadHalfRows(this.#memory, caller, rows, half, [0], out * inside);
      else {
        const labels = frame.copyIn(Int32Array.from({ length: out }, (_, i) => i));
        this.#memory.call('hl_weight_rows', caller, rows, int8, labels, out, out, inside);
      }
      return new Float32Array(frame.words(rows, out * inside).buffer);
    });
  }

  /**
   * Checks every name and shape before it writes anything.
   * @param {Record<string, TensorLike>} dict
   */
  loadStateDict(dict) {
    const caller = 'loadStateDict';
    const record = readRecord(caller, 'dict', dict, 'an object of named tensors');
    this.#checkAlive(caller);
    if (this.#fixed) throw new HeadlightError('STATE', `${caller}: the weights of this model are ${this.#fixed}`);
    const { parameters } = this;
    const expected = Object.keys(parameters);
    checkNames(caller, [...record.keys()], expected);
    const sources = expected.map((name) => {
      const { shape, floats } = readArray(caller, name, record.get(name), this.#memory.buffer);
      const expected = shapeOf(parameters[name]);
      if (!sameShape(shape, expected)) throw shapeError(caller, name, shape, formatShape(expected));
      return floats;
    });
    this.#checkAlive(caller);
    expected.forEach((name, i) => {
      viewOf(parameters[name]).set(sources[i]);
      touch(parameters[name]);
    });
    return this;
  }

  /**
   * From now on products are with weights of nine bits, in 29% of the memory of float32; what they were is freed. It
   * cannot be trained any more.
   */
  quantize() {
    this.#checkAlive('quantize');
    this.#forget();
    for (const [name, weight] of this.weights) {
      weight.gradient?.dispose();
      weight.gradient = undefined;
      if (!weight.int8 && isProduct(name, weight.shape)) this.#quantize(weight);
    }
    return this;
  }

  /** @param {Weight} weight */
  #quantize(weight) {
    const { shape, tensor, half } = weight;
    this.#memory.frame('quantize', (frame) => {
      weight.int8 = this.#memory.unscoped(frame.make([quantizedSize(this.#memory, 'quantize', shape)]));
      quantizeHeld(
        this.#memory,
        'quantize',
        weight.int8,
        shape,
        half ?? { tensor: /** @type {Tensor} */ (tensor), type: 'F32' },
      );
    });
    this.#tables.clear();
    this.#replaced += 1 + (tensor ? versionOf(tensor) : 0);
    freeWeight({ shape, tensor, half });
    weight.tensor = weight.half = undefined;
  }

  /**
   * The parameters as a safetensors file, with the options and the steps that were taken beside them.
   * @param {Record<string, string>} [metadata] more to keep there
   */
  save(metadata = {}) {
    const step = this.#step > 0 && { 'headlight.step': String(this.#step) };
    return writeSafetensors(this.stateDict(), { ...metadata, headlight: this.#given, ...step });
  }

  /**
   * The files of a checkpoint in the layout of Hugging Face, by name: config.json, model.safetensors and, where there
   * is a tokenizer, tokenizer.json. openModel takes them as they are. The family is the one that the model was opened
   * from, or the one whose options are these.
   * @param {import('./checkpoint/saveFolder.js').SaveFolderOptions} [options]
   * @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>}
   */
  async saveFolder(options) {
    this.#checkAlive('saveFolder');
    const { saveFolder } = await import('./checkpoint/saveFolder.js');
    return saveFolder(this, options);
  }

  /**
   * The model in ONNX, as files by name: model.onnx, and what stands beside it. Run by onnxruntime or others, it gives
   * what forward gives.
   * @param {import('../onnx/model.js').OnnxModelOptions} [options]
   * @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>}
   */
  async toOnnx(options) {
    const { writeModel } = await import('../onnx/model.js');
    return writeModel(this, options);
  }

  dispose() {
    this.#disposed = true;
    this.#forget();
    for (const weight of this.weights.values()) freeWeight(weight);
  }

  toString() {
    const { layers, numHeads, dModel, vocab, context } = this.options;
    const of = this.family ? ` (${this.family})` : '';
    const size = `layers ${layers}, heads ${numHeads}, width ${dModel}`;
    const reads = vocab > 0 ? `, tokens ${vocab}, context ${context}` : '';
    return `Transformer${of}: ${size}${reads}, ${this.#fixed ?? 'float32'}${this.#disposed ? ' (disposed)' : ''}`;
  }

  /** The line that Node's console.log shows. @internal */
  [INSPECT]() {
    return this.toString();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

/**
 * Whether a parameter is multiplied by, or looked up in a table that is.
 * @param {string} name
 * @param {readonly number[]} shape
 */
export const isProduct = (name, shape) =>
  shape.length === 2 && !/(^|\.)(embedding\.(position|type|class)|buckets\.table)$/.test(name);
