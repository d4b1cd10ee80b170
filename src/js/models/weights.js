// The weights of a transformer: their memory, gradients and values. A weight is stored in float32, in 16 bits or in
// int8. Only float32 weights have gradients.

import { checkNames, readRecord } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { loadHalfRows, quantizedSize, quantizeHeld } from '../memory/stored.js';
import { checkAlive, own, shapeOf, touch, versionOf, viewOf } from '../memory/tensor.js';
import { readArray } from '../ops/state.js';
import { parameterShapes, startParameters } from './parameters.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Half } from '../memory/stored.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { StateEntry } from '../ops/state.js' */
/** @import { Resolved } from './options.js' */

/**
 * A parameter: float32 in `tensor`, or 16 bits in `half`, or int8, and then without a gradient.
 * @typedef {{ shape: readonly number[], tensor?: Tensor, half?: Half, int8?: Tensor, gradient?: Tensor }} Weight
 */

/**
 * Allocates all weights, without values.
 * @param {Memory} memory
 * @param {Resolved} options
 * @returns {Map<string, Weight>} by name
 */
export function allocateWeights(memory, options) {
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

/** Weights with their random initial values. @param {Memory} memory @param {Resolved} options */
export function initialWeights(memory, options) {
  const weights = allocateWeights(memory, options);
  startParameters(options, (name) => viewOf(/** @type {Tensor} */ (weights.get(name)?.tensor)));
  return weights;
}

/** @param {Weight} weight */
export function freeWeight({ tensor, half, int8 }) {
  tensor?.dispose();
  half?.tensor.dispose();
  int8?.dispose();
}

/**
 * True for the matrices of linear layers and for the embedding table, which may be the matrix of the head. Only these
 * may be stored in 16 bits or int8.
 * @param {string} name
 * @param {readonly number[]} shape
 */
export const isProduct = (name, shape) =>
  shape.length === 2 && !/(^|\.)(embedding\.(position|type|class)|buckets\.table|pool\.probe)$/.test(name);

export class WeightStore {
  #memory;
  #weights;
  /** Versions of weights that have been freed. */
  #freedVersions = 0;
  disposed = false;

  /** @param {Memory} memory @param {Map<string, Weight>} weights by name */
  constructor(memory, weights) {
    this.#memory = memory;
    this.#weights = weights;
  }

  /** The float32 tensors by name. */
  get tensors() {
    return this.#collect(({ tensor }) => tensor);
  }

  /** The gradients that have been allocated, by name. */
  get gradients() {
    return this.#collect(({ gradient }) => gradient);
  }

  /** @param {(weight: Weight) => Tensor | undefined} select @returns {Record<string, Tensor>} */
  #collect(select) {
    /** @type {Record<string, Tensor>} */
    const found = {};
    for (const [name, weight] of this.#weights) {
      const tensor = select(weight);
      if (tensor) found[name] = tensor;
    }
    return found;
  }

  /** A number that changes whenever a function of Headlight changes a weight. */
  get version() {
    let version = this.#freedVersions;
    for (const { tensor } of this.#weights.values()) if (tensor) version += versionOf(tensor);
    return version;
  }

  /** The storage of weights that cannot be trained; undefined if all are float32. */
  get reducedStorage() {
    const weights = [...this.#weights.values()];
    if (weights.some(({ int8 }) => int8)) return 'int8';
    return weights.some(({ half }) => half) ? '16-bit' : undefined;
  }

  /** @param {string} caller */
  checkAlive(caller) {
    if (this.disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    checkAlive(this.tensors, caller, 'parameters');
  }

  /** @param {string} caller */
  checkTrainable(caller) {
    const storage = this.reducedStorage;
    if (storage) throw new HeadlightError('STATE', `${caller}: a model with ${storage} weights cannot be trained`);
  }

  /** @param {string} caller */
  allocateGradients(caller) {
    this.checkAlive(caller);
    this.#memory.frame(caller, (frame) => {
      for (const weight of this.#weights.values()) {
        if (!weight.tensor || weight.gradient) continue;
        weight.gradient = this.#memory.unscoped(frame.zeros([...weight.shape]));
        own(weight.tensor, 'gradient', weight.gradient);
      }
    });
    checkAlive(this.gradients, caller, 'gradients');
  }

  /** @param {string} caller */
  zeroGradients(caller) {
    this.checkAlive(caller);
    this.checkTrainable(caller);
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
  }

  /**
   * A copy of a weight in float32; an int8 weight has its rounded values.
   * @param {string} name
   * @param {string} caller
   */
  valuesOf(name, caller) {
    this.checkAlive(caller);
    const { shape, tensor, half, int8 } = /** @type {Weight} */ (this.#weights.get(name));
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

  /** @param {string} caller @returns {Record<string, StateEntry>} */
  stateDict(caller) {
    /** @type {Record<string, StateEntry>} */
    const state = {};
    for (const [name, { shape }] of this.#weights)
      state[name] = { data: this.valuesOf(name, caller), shape: [...shape] };
    return state;
  }

  /**
   * Checks every name and shape before it writes anything.
   * @param {string} caller
   * @param {Record<string, TensorLike>} dict
   */
  load(caller, dict) {
    const record = readRecord(caller, 'dict', dict, 'an object of named tensors');
    this.checkAlive(caller);
    const storage = this.reducedStorage;
    if (storage) throw new HeadlightError('STATE', `${caller}: the weights of this model are ${storage}`);
    const { tensors } = this;
    const names = Object.keys(tensors);
    checkNames(caller, [...record.keys()], names);
    const sources = names.map((name) => {
      const { shape, floats } = readArray(caller, name, record.get(name), this.#memory.buffer);
      const expected = shapeOf(tensors[name]);
      if (!sameShape(shape, expected)) throw shapeError(caller, name, shape, formatShape(expected));
      return floats;
    });
    // Reading the arrays may run code of the caller.
    this.checkAlive(caller);
    names.forEach((name, i) => {
      viewOf(tensors[name]).set(sources[i]);
      touch(tensors[name]);
    });
  }

  /** @param {string} caller */
  quantize(caller) {
    for (const [name, weight] of this.#weights) {
      weight.gradient?.dispose();
      weight.gradient = undefined;
      if (!weight.int8 && isProduct(name, weight.shape)) this.#quantize(caller, weight);
    }
  }

  /** @param {string} caller @param {Weight} weight */
  #quantize(caller, weight) {
    const { shape, tensor, half } = weight;
    this.#memory.frame(caller, (frame) => {
      weight.int8 = this.#memory.unscoped(frame.make([quantizedSize(this.#memory, caller, shape)]));
      const from = half ?? /** @type {const} */ ({ tensor: /** @type {Tensor} */ (tensor), type: 'F32' });
      quantizeHeld(this.#memory, caller, weight.int8, shape, from);
    });
    this.#freedVersions += 1 + (tensor ? versionOf(tensor) : 0);
    freeWeight({ shape, tensor, half });
    weight.tensor = weight.half = undefined;
  }

  dispose() {
    this.disposed = true;
    for (const weight of this.#weights.values()) freeWeight(weight);
  }
}
