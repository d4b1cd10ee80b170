// What the layers beside attention have in common. forward keeps what backward needs until the next forward, dispose(),
// or the end of the scope it ran in; with train: false, or after eval(), it keeps and copies nothing.

import { readBoolean, readOptions } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { elementCount, formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, shapeOf, viewOf } from '../memory/tensor.js';
import { readParameters, writeParameters } from './state.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { StateEntry } from './state.js' */

/** @typedef {{ train?: boolean }} LayerOptions train: false keeps nothing for backward; default that of train() */
/** @typedef {{ block: Tensor | Staged, shape: readonly number[], size: number }} LayerInput */
/** @typedef {{ output: Tensor, keep: (Tensor | Staged)[] }} LayerResult */

/** Parameters, and gradients that add up until zeroGrad(). */
export class Layer {
  /** @type {Record<string, Tensor>} */
  parameters = {};
  /** Gradients of the parameters, under the same names. @type {Record<string, Tensor>} */
  gradients = {};
  #memory;
  #disposed = false;
  #training = true;
  /** What the last forward kept. @type {Tensor[] | null} */
  #kept = null;
  /** @type {readonly number[]} */
  #outputShape = [];

  /**
   * @param {Memory} memory
   * @param {string} caller
   * @param {(frame: Frame) => Record<string, Tensor>} make the parameters
   */
  constructor(memory, caller, make) {
    this.#memory = memory;
    memory.frame(caller, (frame) => {
      this.parameters = make(frame);
      for (const [name, { shape }] of Object.entries(this.parameters)) this.gradients[name] = frame.zeros([...shape]);
    });
    // Their sizes are not looked at again.
    Object.freeze(this.parameters);
    Object.freeze(this.gradients);
  }

  /**
   * What `fn` keeps takes the place of what was kept, should it succeed. Inputs are read before anything else; where
   * there will be a backward, `fn` is given copies of them.
   * @protected
   * @param {Record<string, TensorLike>} inputs
   * @param {LayerOptions} options
   * @param {(frame: Frame, memory: Memory, inputs: Record<string, LayerInput>, keeps: boolean) => LayerResult} fn
   */
  run(inputs, options, fn) {
    const { train = this.#training } = readOptions('forward', options, ['train']);
    const keeps = readBoolean('forward', 'train', train);
    const { output, keep } = this.#memory.frame('forward', (frame) => {
      const read = Object.entries(inputs).map(([name, value]) => ({ name, input: frame.read(value, name) }));
      this.#check('forward', this.parameters, 'parameters');
      const taken = read.map(({ name, input }) => {
        const copy = keeps ? frame.copy(input, name) : undefined;
        const { block, shape } = copy ? { block: copy, shape: shapeOf(copy) } : frame.input(input, name);
        return [name, { block, shape, size: elementCount(shape) }];
      });
      return fn(frame, this.#memory, Object.fromEntries(taken), keeps);
    });
    this.#forget();
    this.#kept = keeps ? /** @type {Tensor[]} */ (keep) : null;
    this.#outputShape = shapeOf(output);
    return output;
  }

  /**
   * @protected
   * @template T
   * @param {TensorLike} dOutput
   * @param {(frame: Frame, memory: Memory, dOutput: Tensor | Staged, kept: Tensor[]) => T} fn
   */
  reverse(dOutput, fn) {
    return this.#memory.frame('backward', (frame) => {
      const given = frame.read(dOutput, 'dOutput');
      const kept = this.#kept;
      if (!kept || kept.some((tensor) => tensor.disposed)) {
        throw new HeadlightError(
          'STATE',
          'backward: there is no forward in training before it, or the scope that it ran in has ended',
        );
      }
      this.#check('backward', this.parameters, 'parameters');
      this.#check('backward', this.gradients, 'gradients');
      const { block, shape } = frame.input(given, 'dOutput');
      if (!sameShape(shape, this.#outputShape))
        throw shapeError('backward', 'dOutput', shape, formatShape(this.#outputShape));
      return fn(frame, this.#memory, block, kept);
    });
  }

  /**
   * @param {string} caller
   * @param {Record<string, Tensor>} tensors
   * @param {string} what
   */
  #check(caller, tensors, what) {
    checkAlive(tensors, caller, what);
    // One without parameters.
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this layer has been disposed`);
  }

  #forget() {
    for (const tensor of this.#kept ?? []) tensor.dispose();
    this.#kept = null;
  }

  /**
   * Whether forward keeps what backward needs, where its options do not say: true at first.
   * @param {boolean} [on]
   */
  train(on = true) {
    this.#training = readBoolean('train', 'on', on);
    return this;
  }

  eval() {
    return this.train(false);
  }

  zeroGrad() {
    this.#check('zeroGrad', this.gradients, 'gradients');
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
  }

  /** Copies of the parameters, under their names. @returns {Record<string, StateEntry>} */
  stateDict() {
    return writeParameters(this.parameters);
  }

  /**
   * Checks every name and shape before it writes anything.
   * @param {Record<string, TensorLike>} dict under the names of the parameters, or those of PyTorch
   */
  loadStateDict(dict) {
    readParameters(this.parameters, dict);
    return this;
  }

  dispose() {
    this.#disposed = true;
    this.#forget();
    for (const tensor of [...Object.values(this.parameters), ...Object.values(this.gradients)]) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}
