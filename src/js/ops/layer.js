// What the layers beside attention have in common. forward keeps what backward needs until the next forward, dispose(),
// or the end of the scope it ran in.

import { HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, shapeOf, viewOf } from '../memory/tensor.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */

/** Parameters, and gradients that add up until zeroGrad(). */
export class Layer {
  /** @type {Record<string, Tensor>} */
  parameters = {};
  /** Gradients of the parameters, under the same names. @type {Record<string, Tensor>} */
  gradients = {};
  #memory;
  #disposed = false;
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
   * What `fn` keeps takes the place of what was kept, should it succeed.
   * @protected
   * @param {(frame: Frame, memory: Memory) => { output: Tensor, keep: Tensor[] }} fn
   */
  run(fn) {
    return this.#keep(
      this.#memory.frame('forward', (frame) => {
        this.#check('forward', this.parameters, 'parameters');
        return fn(frame, this.#memory);
      }),
    );
  }

  /**
   * As run, of an array that is read before anything else.
   * @protected
   * @param {TensorLike} x
   * @param {(frame: Frame, memory: Memory, x: Tensor) => { output: Tensor, keep: Tensor[] }} fn which is given a copy
   */
  runWith(x, fn) {
    return this.#keep(
      this.#memory.frame('forward', (frame) => {
        const input = frame.read(x, 'x');
        this.#check('forward', this.parameters, 'parameters');
        return fn(frame, this.#memory, frame.copy(input, 'x'));
      }),
    );
  }

  /** @param {{ output: Tensor, keep: Tensor[] }} result */
  #keep({ output, keep }) {
    this.#forget();
    this.#kept = keep;
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
          'backward: there is no forward before it, or the scope that it ran in has ended',
        );
      }
      this.#check('backward', this.parameters, 'parameters');
      this.#check('backward', this.gradients, 'gradients');
      const { block, shape } = frame.take(given, 'dOutput');
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

  zeroGrad() {
    this.#check('zeroGrad', this.gradients, 'gradients');
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
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
