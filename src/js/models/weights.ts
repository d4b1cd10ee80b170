// The weights of a transformer: float32, or packed in 16 bits, int8 or blocks. Only float32 weights have gradients.

import { checkNames, readRecord } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Memory } from '../memory/memory.ts';
import {
  isQuantizedAs,
  loadRows,
  PACKED,
  type Packed,
  type PackedKind,
  QUANTIZED,
  quantizedForm,
  quantizeRows,
  useByteInputs,
} from '../memory/packed.ts';
import { checkAlive, own, shapeOf, type Tensor, touch, versionOf, viewOf } from '../memory/tensor.ts';
import { readArray, type StateEntry } from '../ops/state.ts';
import type { Resolved } from './options.ts';
import { parameterShapes, startParameters } from './parameters.ts';

/** A parameter, either in float32 in `tensor`, or packed in `packed` and without a gradient. */
export type Weight = { shape: readonly number[]; tensor?: Tensor; packed?: Packed; gradient?: Tensor };

/** Allocates all weights, without values. returns by name. */
export function allocateWeights(memory: Memory, options: Resolved): Map<string, Weight> {
  const weights: Map<string, Weight> = new Map();
  memory.frame('transformer', (frame) => {
    for (const [name, shape] of parameterShapes(options)) {
      const tensor = frame.make(shape);
      weights.set(name, { shape: shapeOf(tensor), tensor });
    }
  });
  return weights;
}

export function initialWeights(memory: Memory, options: Resolved) {
  const weights = allocateWeights(memory, options);
  startParameters(options, (name) => viewOf(weights.get(name)?.tensor as Tensor));
  return weights;
}

export function freeWeight({ tensor, packed }: Weight) {
  tensor?.dispose();
  packed?.tensor.dispose();
}

/** Matrices of linear layers and the embedding table, which may be the head's matrix. Only these may be packed. */
export const isProduct = (name: string, shape: readonly number[]) =>
  shape.length === 2 && !/(^|\.)(embedding\.(position|type|class)|buckets\.table|pool\.probe)$/.test(name);

/** Kinds of packed weights in order of priority. The first kind that a model has describes its storage. */
const KINDS_BY_WEIGHT: PackedKind[] = ['int8', 'blocks', 'F16', 'BF16'];

export class WeightStore {
  #memory: Memory;
  #weights: Map<string, Weight>;
  /** The part of `version` that counts the versions of freed weights and the calls of `quantize` and `changed`. */
  #freedVersions = 0;
  disposed = false;

  /** weights: by name */
  constructor(memory: Memory, weights: Map<string, Weight>) {
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

  #collect(select: (weight: Weight) => Tensor | undefined): Record<string, Tensor> {
    const found: Record<string, Tensor> = {};
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

  checkAlive(caller: string) {
    if (this.disposed) throw new HeadlightError('DISPOSED', `${caller}: this model has been disposed`);
    checkAlive(this.tensors, caller, 'parameters');
  }

  checkTrainable(caller: string) {
    const storage = this.reducedStorage;
    if (storage) throw new HeadlightError('STATE', `${caller}: a model with ${storage} weights cannot be trained`);
  }

  allocateGradients(caller: string) {
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

  zeroGradients(caller: string) {
    this.checkAlive(caller);
    this.checkTrainable(caller);
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
  }

  /** Returns a copy of a weight in float32. A packed weight has its rounded values. */
  valuesOf(name: string, caller: string) {
    this.checkAlive(caller);
    const { shape, tensor, packed } = this.#weights.get(name) as Weight;
    if (tensor) return Float32Array.from(viewOf(tensor));
    const [out, inside] = shape;
    return this.#memory.frame(caller, (frame) => {
      const rows = frame.scratch(out * inside);
      const labels = Int32Array.from({ length: out }, (_, i) => i);
      loadRows(this.#memory, caller, rows, packed as Packed, labels, shape);
      return new Float32Array(frame.words(rows, out * inside).buffer);
    });
  }

  stateDict(caller: string): Record<string, StateEntry> {
    const state: Record<string, StateEntry> = {};
    for (const [name, { shape }] of this.#weights)
      state[name] = { data: this.valuesOf(name, caller), shape: [...shape] };
    return state;
  }

  /** Replaces all weights. Checks every name and shape before it writes anything. */
  load(caller: string, dict: Record<string, TensorLike>) {
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

  quantize(caller: string, storage: 'int8' | 'int4') {
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

  #quantize(caller: string, form: 'int8' | 'int4', weight: Weight) {
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
