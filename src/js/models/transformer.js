// A small transformer, before the norm, and read from top to bottom: forward, then the same lines in reverse.
//
//   x = embedding(labels)                          (B,T,C)
//   in every block:
//     x = x + attention(norm(x))
//     x = x + down(gelu(up(norm(x))))              where there is an mlp
//   logits = head(norm(x))                         (B,T,V)

import { checkNames, readBoolean, readNumber, readOptions, readRecord, readWord } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { quoteNames } from '../check/quote.js';
import { formatShape, sameShape } from '../check/shape.js';
import { parseJson } from '../io/json.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from '../io/safetensors.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, shapeOf, touch, viewOf } from '../memory/tensor.js';
import { readNumbers } from '../ops/labels.js';
import { crossEntropy } from '../ops/loss.js';
import { readArray } from '../ops/state.js';

/** @import { Headlight } from '../index.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Gelu } from '../ops/activation.js' */
/** @import { Embedding } from '../ops/embedding.js' */
/** @import { Linear } from '../ops/linear.js' */
/** @import { Norm } from '../ops/norm.js' */
/** @import { MultiHeadAttention } from '../ops/multihead.js' */
/** @import { StateEntry } from '../ops/state.js' */

/**
 * @typedef {object} TransformerOptions
 * @property {number} layers blocks; 0 leaves embedding and head
 * @property {number} dModel width of the model, C
 * @property {number} numHeads of each block's attention
 * @property {number} vocab labels are 0 to vocab − 1
 * @property {number} context the longest sequence
 * @property {number} [mlp] width inside the feed-forward part, 0 for none; default 4 · dModel
 * @property {'layer' | 'rms' | 'none'} [norm] default 'layer'
 * @property {boolean} [causal] whether a token sees only itself and the tokens before it; default true
 * @property {number} [std] standard deviation of the initial embedding; default 0.5, so that the
 *   embeddings of different tokens start far apart
 * @property {number} [dropout] of attention weights in training; default 0
 * @property {number} [seed] of all initial parameters and of dropout; default 0
 */
/**
 * weights: those of every block, (B,H,T,T), and what its attention reads, (B,T,C).
 * @template {boolean | undefined} [W=boolean | undefined]
 * @typedef {{ weights?: W }} TransformerForwardOptions
 */
/**
 * @template {boolean | undefined} [W=boolean | undefined]
 * @typedef {{ logits: Tensor, weights: EachGiven<W>, inputs: EachGiven<W> }} TransformerResult
 */
/**
 * @template {boolean | undefined} W
 * @typedef {[W] extends [true] ? Tensor[] : [W] extends [false | undefined] ? undefined : Tensor[] | undefined}
 *   EachGiven
 */
/** @typedef {{ labelSmoothing?: number }} LearnOptions */
/**
 * @typedef {{ norm1: Norm | null, attention: MultiHeadAttention, norm2: Norm | null, up: Linear | null,
 *   gelu: Gelu | null, down: Linear | null }} Block
 */
/** @typedef {{ loss: number, correct: number, counted: number }} StepResult */

const OPTIONS = ['layers', 'dModel', 'numHeads', 'vocab', 'context', 'mlp', 'norm', 'causal', 'std', 'dropout', 'seed'];
/** An error lists at most this many names. */
const MOST_MISSING = 8;
const SIZE = { integer: true, least: 1, most: 2 ** 20 };
const NORMS = /** @type {const} */ (['layer', 'rms', 'none']);

/** @param {TransformerOptions} options */
function resolveOptions(options) {
  const caller = 'transformer';
  const given = readOptions(caller, options, OPTIONS);
  const norm = readWord(caller, 'norm', given.norm ?? 'layer', NORMS);
  const dModel = readNumber(caller, 'dModel', given.dModel, SIZE);
  const numHeads = readNumber(caller, 'numHeads', given.numHeads, SIZE);
  if (dModel % numHeads !== 0)
    throw new HeadlightError('SHAPE', `${caller}: dModel ${dModel} is not a multiple of numHeads ${numHeads}`, {
      parameter: 'numHeads',
      got: numHeads,
    });
  return Object.freeze({
    layers: readNumber(caller, 'layers', given.layers, { ...SIZE, least: 0 }),
    dModel,
    numHeads,
    vocab: readNumber(caller, 'vocab', given.vocab, SIZE),
    context: readNumber(caller, 'context', given.context, SIZE),
    mlp: readNumber(caller, 'mlp', given.mlp ?? 4 * dModel, { ...SIZE, least: 0 }),
    norm,
    causal: readBoolean(caller, 'causal', given.causal ?? true),
    std: readNumber(caller, 'std', given.std ?? 0.5, { least: 0 }),
    dropout: readNumber(caller, 'dropout', given.dropout ?? 0, { least: 0, most: 1 }),
    seed: readNumber(caller, 'seed', given.seed ?? 0, { integer: true, least: 0, most: 2 ** 24 }),
  });
}

/**
 * The parameters that a transformer of these options has, in the order of its layers.
 * @param {ReturnType<typeof resolveOptions>} options
 * @returns {Generator<[name: string, shape: number[]]>}
 */
function* parameterShapes({ layers, dModel: C, vocab, context, mlp, norm }) {
  /** @param {string} name @returns {[string, number[]][]} */
  const normShapes = (name) =>
    ['weight', 'bias'].slice(0, { none: 0, rms: 1, layer: 2 }[norm]).map((part) => [`${name}.${part}`, [C]]);
  yield ['embedding.table', [vocab, C]];
  yield ['embedding.position', [context, C]];
  for (let i = 0; i < layers; i++) {
    const block = `blocks.${i}`;
    yield* normShapes(`${block}.norm1`);
    for (const weight of ['wq', 'wk', 'wv', 'wo']) yield [`${block}.attention.${weight}`, [C, C]];
    for (const bias of ['bq', 'bk', 'bv', 'bo']) yield [`${block}.attention.${bias}`, [C]];
    if (mlp === 0) continue;
    yield* normShapes(`${block}.norm2`);
    yield [`${block}.up.weight`, [mlp, C]];
    yield [`${block}.up.bias`, [mlp]];
    yield [`${block}.down.weight`, [C, mlp]];
    yield [`${block}.down.bias`, [C]];
  }
  yield* normShapes('norm');
  yield ['head.weight', [vocab, C]];
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
 * Reads what save() has written. The options decide how much is built: they are compared with the tensors of the file
 * before anything is built.
 * @param {ArrayBuffer | ArrayBufferView} bytes
 */
export function readSavedTransformer(bytes) {
  const caller = 'loadTransformer';
  const { tensors: ranges, metadata } = readSafetensorsHeader(bytes);
  const options = resolveOptions(readSavedOptions(metadata));
  const got = Object.keys(ranges);
  /** @type {string[]} */
  const expected = [];
  for (const [name, shape] of parameterShapes(options)) {
    expected.push(name);
    const range = ranges[name];
    if (range && !sameShape(range.shape, shape)) throw shapeError(caller, name, range.shape, formatShape(shape));
    // The file may claim a million layers: only the first missing names are listed.
    if (expected.length > got.length + MOST_MISSING) {
      const missing = expected.filter((other) => !(other in ranges)).slice(0, MOST_MISSING);
      const details = { parameter: missing[0], expected, got };
      throw new HeadlightError('ARGUMENT', `${caller}: missing ${quoteNames(missing)} and others`, details);
    }
  }
  checkNames(caller, got, expected);
  return { options, tensors: readSafetensors(bytes).tensors };
}

export class Transformer {
  #hl;
  #memory;
  /** @type {Block[]} */
  #blocks;
  /** @type {Embedding} */
  #embedding;
  /** @type {Norm | null} */
  #norm;
  /** @type {Linear} */
  #head;

  /** @param {Headlight} hl @param {Memory} memory @param {TransformerOptions} given */
  constructor(hl, memory, given) {
    const options = resolveOptions(given);
    const { layers, dModel: width, numHeads, vocab, context, mlp, norm, std, dropout, seed } = options;
    // Every layer has a stream of random numbers of its own.
    let stream = 0;
    const next = () => seed * 2 ** 10 + stream++;
    const makeNorm = () => (norm === 'none' ? null : norm === 'rms' ? hl.rmsNorm({ width }) : hl.layerNorm({ width }));
    this.#hl = hl;
    this.#memory = memory;
    // If one of them does not fit, the end of the scope frees those before it.
    const { embedding, blocks, last, head } = hl.scope(() => ({
      embedding: hl.embedding({ count: vocab, width, context, std, seed: next() }),
      blocks: Array.from({ length: layers }, () => ({
        norm1: makeNorm(),
        attention: hl.multiHeadAttention({ embedDim: width, numHeads, dropout, seed: next() }),
        norm2: mlp > 0 ? makeNorm() : null,
        up: mlp > 0 ? hl.linear({ in: width, out: mlp, seed: next() }) : null,
        gelu: mlp > 0 ? hl.gelu({ approximate: 'tanh' }) : null,
        down: mlp > 0 ? hl.linear({ in: mlp, out: width, seed: next() }) : null,
      })),
      last: makeNorm(),
      head: hl.linear({ in: width, out: vocab, bias: false, seed: next() }),
    }));
    this.#embedding = embedding;
    this.#blocks = blocks;
    this.#norm = last;
    this.#head = head;
    /** The options, with every default filled in. */
    this.options = options;
    /** Every layer by the name that its parameters begin with. */
    this.layers = this.#named();
  }

  #named() {
    /**
     * @type {Record<string, { parameters: Record<string, Tensor>, gradients: Record<string, Tensor>,
     *   zeroGrad(): unknown, dispose(): void }>}
     */
    const named = { embedding: this.#embedding };
    this.#blocks.forEach((block, i) => {
      for (const [name, layer] of Object.entries(block))
        if (layer && name !== 'gelu') named[`blocks.${i}.${name}`] = /** @type {any} */ (layer);
    });
    if (this.#norm) named.norm = this.#norm;
    named.head = this.#head;
    return named;
  }

  /** All parameters: `blocks.0.attention.wq`, `embedding.table` … */
  get parameters() {
    return this.#collect('parameters');
  }

  /** The gradients of all parameters, under the same names. */
  get gradients() {
    return this.#collect('gradients');
  }

  /** @param {'parameters' | 'gradients'} what @returns {Record<string, Tensor>} */
  #collect(what) {
    return Object.fromEntries(
      Object.entries(this.layers).flatMap(([layer, holder]) =>
        Object.entries(holder[what]).map(([name, tensor]) => [`${layer}.${name}`, tensor]),
      ),
    );
  }

  /**
   * @template {boolean | undefined} [W=undefined]
   * @param {TensorLike} labels (T) or (B,T), integers from 0 to vocab − 1
   * @param {TransformerForwardOptions<W>} [options]
   * @returns {TransformerResult<W>}
   */
  forward(labels, options = {}) {
    const given = readOptions('forward', options, ['weights']);
    const weights = readBoolean('forward', 'weights', given.weights ?? false);
    return /** @type {TransformerResult<any>} */ (
      this.#hl.scope(() => this.#forward(labels, { weights, train: false }))
    );
  }

  /** @param {TensorLike} labels @param {{ weights: boolean, train: boolean }} options */
  #forward(labels, { weights, train }) {
    const hl = this.#hl;
    /** @type {Tensor[][]} */
    const [seen, read] = [[], []];
    let x = this.#embedding.forward(labels);
    for (const { norm1, attention, norm2, up, gelu, down } of this.#blocks) {
      const input = norm1 ? norm1.forward(x) : x;
      const attended = attention.forward(input, { causal: this.options.causal, weights, train });
      if (attended.weights) seen.push(attended.weights);
      if (weights) read.push(input);
      x = hl.add(x, attended.output);
      if (up && gelu && down) x = hl.add(x, down.forward(gelu.forward(up.forward(norm2 ? norm2.forward(x) : x))));
    }
    const logits = this.#head.forward(this.#norm ? this.#norm.forward(x) : x);
    return weights ? { logits, weights: seen, inputs: read } : { logits };
  }

  /** The lines of forward in reverse. @param {Tensor} dLogits */
  #backward(dLogits) {
    const hl = this.#hl;
    let dx = this.#head.backward(dLogits);
    if (this.#norm) dx = this.#norm.backward(dx);
    for (const { norm1, attention, norm2, up, gelu, down } of [...this.#blocks].reverse()) {
      if (up && gelu && down) {
        const inside = up.backward(gelu.backward(down.backward(dx)));
        dx = hl.add(dx, norm2 ? norm2.backward(inside) : inside);
      }
      const { dQuery } = attention.backward(dx);
      dx = hl.add(dx, norm1 ? norm1.backward(dQuery) : dQuery);
    }
    this.#embedding.backward(dx);
  }

  /**
   * Forward, loss and backward: the gradients add up in `gradients`.
   * @param {TensorLike} labels (B,T)
   * @param {TensorLike} targets (B,T): the label that is to follow each; −100 does not count
   * @param {LearnOptions} [options]
   * @returns {StepResult} the mean loss, and how many of the counted targets are the likeliest label
   */
  learn(labels, targets, options = {}) {
    const given = readOptions('learn', options, ['labelSmoothing']);
    const follow = readNumbers(targets, 'learn', 'targets');
    return this.#hl.scope(() => {
      const { logits } = this.#forward(labels, { weights: false, train: true });
      const { loss, correct, counted, dLogits } = crossEntropy(this.#memory, logits, follow, given, 'learn', 'targets');
      this.#backward(dLogits);
      return { loss, correct, counted };
    });
  }

  /**
   * The loss alone: no gradients, no dropout, nothing saved for backward.
   * @param {TensorLike} labels (B,T)
   * @param {TensorLike} targets (B,T)
   * @returns {StepResult}
   */
  judge(labels, targets) {
    const follow = readNumbers(targets, 'judge', 'targets');
    return this.#hl.scope(() => {
      const { loss, correct, counted } = crossEntropy(
        this.#memory,
        this.forward(labels).logits,
        follow,
        {},
        'judge',
        'targets',
      );
      return { loss, correct, counted };
    });
  }

  zeroGrad() {
    checkAlive(this.parameters, 'zeroGrad', 'parameters');
    for (const layer of Object.values(this.layers)) layer.zeroGrad();
    return this;
  }

  /** @returns {Record<string, StateEntry>} */
  stateDict() {
    const { parameters } = this;
    checkAlive(parameters, 'stateDict', 'parameters');
    return Object.fromEntries(
      Object.entries(parameters).map(([name, tensor]) => [
        name,
        { data: Float32Array.from(viewOf(tensor)), shape: [...shapeOf(tensor)] },
      ]),
    );
  }

  /**
   * Checks every name and shape before it writes anything.
   * @param {Record<string, TensorLike>} dict
   */
  loadStateDict(dict) {
    const caller = 'loadStateDict';
    const record = readRecord(caller, 'dict', dict, 'an object of named tensors');
    const { parameters } = this;
    checkAlive(parameters, caller, 'parameters');
    const { buffer } = viewOf(parameters['head.weight']);
    const expected = Object.keys(parameters);
    checkNames(caller, [...record.keys()], expected);
    const sources = expected.map((name) => {
      const { shape, floats } = readArray(caller, name, record.get(name), buffer);
      const expected = shapeOf(parameters[name]);
      if (!sameShape(shape, expected)) throw shapeError(caller, name, shape, formatShape(expected));
      return floats;
    });
    checkAlive(parameters, caller, 'parameters');
    expected.forEach((name, i) => {
      viewOf(parameters[name]).set(sources[i]);
      touch(parameters[name]);
    });
    return this;
  }

  /**
   * The parameters as a safetensors file, with the options beside them.
   * @param {Record<string, string>} [metadata] more to keep there
   */
  save(metadata = {}) {
    return writeSafetensors(this.stateDict(), { ...metadata, headlight: JSON.stringify(this.options) });
  }

  dispose() {
    for (const layer of Object.values(this.layers)) layer.dispose();
    for (const { gelu } of this.#blocks) gelu?.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
