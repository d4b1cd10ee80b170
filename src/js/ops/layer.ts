// The base class of layers other than attention. forward() saves state for backward() until the next forward(),
// dispose(), or the end of the scope; with train: false or after eval() nothing.

import { readBoolean, readOptions } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { elementCount, formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Frame } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { checkAlive, type Staged, shapeOf, type Tensor, viewOf } from '../memory/tensor.ts';
import { readParameters, type StateEntry, writeParameters } from './state.ts';

/** train: false saves nothing for backward; default: as set by train() */
export type LayerOptions = { train?: boolean };
export type LayerInput = { block: Tensor | Staged; shape: readonly number[]; size: number };
/** saved: for backward, tensors in training */
export type LayerResult = { output: Tensor; saved: (Tensor | Staged)[] };

/** A layer with parameters, and gradients that accumulate until zeroGrad(). */
export class Layer {
  parameters: Record<string, Tensor> = {};
  /** Gradients of the parameters, under the same names. */
  gradients: Record<string, Tensor> = {};
  #memory: Memory;
  #disposed = false;
  #training = true;
  /** Tensors that the last forward pass has saved for backward. */
  #saved: Tensor[] | null = null;
  #outputShape: readonly number[] = [];

  /** make: makes the parameters */
  constructor(memory: Memory, caller: string, make: (frame: Frame) => Record<string, Tensor>) {
    this.#memory = memory;
    memory.frame(caller, (frame) => {
      this.parameters = make(frame);
      for (const [name, { shape }] of Object.entries(this.parameters)) this.gradients[name] = frame.zeros([...shape]);
    });
    // The layer relies on the shapes of its tensors.
    Object.freeze(this.parameters);
    Object.freeze(this.gradients);
  }

  /**
   * Reads the inputs first. In training, `fn` gets copies of them. The state of the previous pass is replaced only if
   * `fn` succeeds.
   */
  protected runForward(
    inputs: Record<string, TensorLike>,
    options: LayerOptions,
    fn: (frame: Frame, memory: Memory, inputs: Record<string, LayerInput>, training: boolean) => LayerResult,
  ) {
    const { train = this.#training } = readOptions('forward', options, ['train']);
    const training = readBoolean('forward', 'train', train);
    const { output, saved } = this.#memory.frame('forward', (frame) => {
      const read = Object.entries(inputs).map(([name, value]) => ({ name, input: frame.read(value, name) }));
      this.#check('forward', this.parameters, 'parameters');
      const blocks = read.map(({ name, input }) => {
        const copy = training ? frame.copy(input, name) : undefined;
        const { block, shape } = copy ? { block: copy, shape: shapeOf(copy) } : frame.input(input, name);
        return [name, { block, shape, size: elementCount(shape) }];
      });
      return fn(frame, this.#memory, Object.fromEntries(blocks), training);
    });
    this.#forget();
    this.#saved = training ? (saved as Tensor[]) : null;
    this.#outputShape = shapeOf(output);
    return output;
  }

  /** dOutput: of the shape of the output */
  protected runBackward<T>(
    dOutput: TensorLike,
    fn: (frame: Frame, memory: Memory, dOutput: Tensor | Staged, saved: Tensor[]) => T,
  ) {
    return this.#memory.frame('backward', (frame) => {
      const given = frame.read(dOutput, 'dOutput');
      const saved = this.#saved;
      if (!saved || saved.some((tensor) => tensor.disposed)) {
        throw new HeadlightError(
          'STATE',
          'backward: there is no forward in training before it, or the scope of that forward has ended',
        );
      }
      this.#check('backward', this.parameters, 'parameters');
      this.#check('backward', this.gradients, 'gradients');
      const { block, shape } = frame.input(given, 'dOutput');
      if (!sameShape(shape, this.#outputShape))
        throw shapeError('backward', 'dOutput', shape, formatShape(this.#outputShape));
      return fn(frame, this.#memory, block, saved);
    });
  }

  #check(caller: string, tensors: Record<string, Tensor>, what: string) {
    checkAlive(tensors, caller, what);
    // In a layer without parameters, checkAlive has nothing to check.
    if (this.#disposed) throw new HeadlightError('DISPOSED', `${caller}: this layer has been disposed`);
  }

  #forget() {
    for (const tensor of this.#saved ?? []) tensor.dispose();
    this.#saved = null;
  }

  /** Sets the default of the option `train` of forward; it is initially true. */
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

  /** Returns copies of the parameters by name. */
  stateDict(): Record<string, StateEntry> {
    return writeParameters(this.parameters);
  }

  /** Validates all names and shapes first. dict: by the names of the parameters, also those in PyTorch. */
  loadStateDict(dict: Record<string, TensorLike>) {
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
