// The weights of a transformer: their memory, gradients and values. A weight is in float32, or packed: in 16 bits, int8
// or blocks. Only float32 weights have gradients.

import { checkNames, readRecord } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import {
  isQuantizedAs,
  loadRows,
  PACKED,
  QUANTIZED,
  quantizedForm,
  quantizeRows,
  useByteInputs,
} from '../memory/packed.js';
import { checkAlive, own, shapeOf, touch, versionOf, viewOf } from '../memory/tensor.js';
import { readArray } from '../ops/state.js';
import { parameterShapes, startParameters } from './parameters.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Packed, PackedKind } from '../memory/packed.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { StateEntry } from '../ops/state.js' */
/** @import { Resolved } from './options.js' */

/**
 * A parameter, either in float32 in `tensor`, or packed in `packed` and without a gradient.
 * @typedef {{ shape: readonly number[], tensor?: Tensor, packed?: Packed, gradient?: Tensor }} Weight
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

/** Returns weights with random initial values. @param {Memory} memory @param {Resolved} options */
export function initialWeights(memory, options) {
  const weights = allocateWeights(memory, options);
  startParameters(options, (name) => viewOf(/** @type {Tensor} */ (weights.get(name)?.tensor)));
  return weights;
}

/** @param {Weight} weight */
export function freeWeight({ tensor, packed }) {
  tensor?.dispose();
  packed?.tensor.dispose();
}

/**
 * True for the matrices of linear layers and for the embedding table, which may be the matrix of the head. Only these
 * may be packed.
 * @param {string} name
 * @param {readonly number[]} shape
 */
export const isProduct = (name, shape) =>
  shape.length === 2 && !/(^|\.)(embedding\.(position|type|class)|buckets\.table|pool\.probe)$/.test(name);

/**
 * Kinds of packed weights in order of priority. The first kind that a model has describes its storage.
 * @type {PackedKind[]}
 */
const KINDS_BY_WEIGHT = ['int8', 'blocks', 'F16', 'BF16'];

export class WeightStore {
  #memory;
  #weights;
  /** The part of `version` that counts the versions of freed weights and the calls of `quantize` and `changed`. */
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

  /** Records that values were written to weights directly. */
  changed() {
    this.#freedVersions++;
  }

  /** A number that changes whenever a function of Headlight changes a weight, or changed() was called. */
  get version() {
    let version = this.#freedVersions;
    for (const { tensor } of this.#weights.values()) if (tensor) version += versionOf(tensor);
    return version;
  }

  /** The storage of weights that cannot be trained; undefined if all are float32. */
  get reducedStorage() {
    const kinds = new Set([...this.#weights.values()].map(({ packed }) => packed?.kind));
    const kind = KINDS_BY_WEIGHT.find((one) => kinds.has(one));
    return kind && PACKED[kind].storage;
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
   * Returns a copy of a weight in float32. A packed weight has its rounded values.
   * @param {string} name
   * @param {string} caller
   */
  valuesOf(name, caller) {
    this.checkAlive(caller);
    const { shape, tensor, packed } = /** @type {Weight} */ (this.#weights.get(name));
    if (tensor) return Float32Array.from(viewOf(tensor));
    const [out, inside] = shape;
    return this.#memory.frame(caller, (frame) => {
      const rows = frame.scratch(out * inside);
      const labels = Int32Array.from({ length: out }, (_, i) => i);
      loadRows(this.#memory, caller, rows, /** @type {Packed} */ (packed), labels, shape);
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
   * Replaces all weights. Checks every name and shape before it writes anything.
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
    // Reading the arrays may run code of the caller, which may dispose the model.
    this.checkAlive(caller);
    names.forEach((name, i) => {
      viewOf(tensors[name]).set(sources[i]);
      touch(tensors[name]);
    });
  }

  /** @param {string} caller @param {'int8' | 'int4'} storage */
  quantize(caller, storage) {
    for (const [name, weight] of this.#weights) {
      weight.gradient?.dispose();
      weight.gradient = undefined;
      if (!isProduct(name, weight.shape)) continue;
      const form = quantizedForm(storage, weight.shape);
      if (!weight.packed || !isQuantizedAs(form, weight.packed)) this.#quantize(caller, form, weight);
      else if (form === 'int4') useByteInputs(this.#memory, caller, weight.packed.tensor, weight.shape);
    }
    this.#freedVersions++;
  }

  /** @param {string} caller @param {'int8' | 'int4'} form @param {Weight} weight */
  #quantize(caller, form, weight) {
    const { shape, tensor, packed } = weight;
    const [out, inside] = shape;
    const quantized = this.#memory.frame(caller, (frame) => {
      const made = this.#memory.unscoped(frame.make([QUANTIZED[form].size(this.#memory, caller, shape)]));
      const half = packed?.kind === 'F16' || packed?.kind === 'BF16' ? packed.kind : undefined;
      const rows = tensor ?? (half ? packed?.tensor : undefined) ?? frame.scratch(out * inside);
      if (packed && !half)
        loadRows(
          this.#memory,
          caller,
          rows,
          packed,
          Int32Array.from({ length: out }, (_, i) => i),
          shape,
        );
      quantizeRows(this.#memory, caller, form, made, shape, rows, half ?? 'F32', 0, out);
      return made;
    });
    this.#freedVersions += 1 + (tensor ? versionOf(tensor) : 0);
    freeWeight({ shape, tensor, packed });
    weight.tensor = undefined;
    weight.packed = { kind: QUANTIZED[form].kind, tensor: quantized, ...(form === 'int4' && { bits: 4 }) };
  }

  dispose() {
    this.disposed = true;
    for (const weight of this.#weights.values()) freeWeight(weight);
  }
}
