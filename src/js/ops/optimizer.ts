// Optimizers as in PyTorch, over named tensors or over the parameters of layers.

import { checkNames, readBoolean, readNumber, readOptions, readRecord } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Frame, Input } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { type Staged, shapeOf, sizeOf, Tensor, touch, viewOf } from '../memory/tensor.ts';
import { readArray, type StateEntry } from './state.ts';

/** gradients under the names of the parameters */
export type TrainableLayer = { parameters: object; gradients: object };
/** named tensors, or layers */
export type Trainable = Record<string, Tensor> | readonly TrainableLayer[];
export type SgdOptions = {
  /** default 1e-3 */
  lr?: number | undefined;
  /** default 0 */
  momentum?: number | undefined;
  /** default false */
  nesterov?: boolean | undefined;
  /** default 0 */
  weightDecay?: number | undefined;
};
export type AdamOptions = {
  /** default 1e-3 */
  lr?: number | undefined;
  /** default [0.9, 0.999] */
  betas?: readonly [number, number] | undefined;
  /** default 1e-8 */
  eps?: number | undefined;
  /** default 0; for adamW 0.01 */
  weightDecay?: number | undefined;
};
/** gradient: finds its gradient; state: tensors; steps: in which the parameter had a gradient. */
export type Entry = {
  name: string;
  tensor: Tensor;
  gradient: (given: Map<string, unknown>) => unknown;
  steps: number;
  state: readonly Tensor[];
};

const NOT_NEGATIVE = { least: 0 };
const DEFAULT_BETAS: readonly [number, number] = [0.9, 0.999];

const readOwn = (record: unknown, key: string): unknown =>
  record !== null && typeof record === 'object' && Object.hasOwn(record, key)
    ? (record as Record<string, unknown>)[key]
    : undefined;

function readBetas(caller: string, betas: unknown): [number, number] {
  if (!Array.isArray(betas) || betas.length !== 2) throw argumentError(caller, 'betas', betas, 'two numbers');
  return [readBeta(caller, 'betas[0]', betas[0]), readBeta(caller, 'betas[1]', betas[1])];
}

function readBeta(caller: string, parameter: string, value: unknown) {
  const beta = readNumber(caller, parameter, value, NOT_NEGATIVE);
  if (beta >= 1) throw argumentError(caller, parameter, beta, 'less than 1');
  return beta;
}

/** Returns the tensors of an object, or the parameters or gradients of layers. */
function tensorsOf(
  caller: string,
  parameter: string,
  trainable: Trainable,
  part: 'parameters' | 'gradients',
): { name: string; key: string; tensor: Tensor; layer?: TrainableLayer }[] {
  if (trainable === null || typeof trainable !== 'object' || trainable instanceof Tensor) {
    throw argumentError(caller, parameter, trainable, 'an object of named tensors, or a list of layers');
  }
  const layers = Array.isArray(trainable) ? trainable : [undefined];
  return layers.flatMap((layer, i) => {
    const tensors = Array.isArray(trainable) ? layer?.[part] : trainable;
    const path = Array.isArray(trainable) ? `layers[${i}].${part}` : parameter;
    if (tensors === null || typeof tensors !== 'object')
      throw argumentError(caller, path, tensors, 'an object of named tensors');
    return Object.entries(tensors).map(([key, tensor]) => {
      if (!(tensor instanceof Tensor)) throw argumentError(caller, `${path}.${key}`, tensor, 'a Tensor');
      return { name: `${path}.${key}`, key, tensor, layer };
    });
  });
}

/** The base class of all optimizers. */
export class Optimizer {
  /** 'sgd', 'adam' or 'adamW'. */
  declare name: string;
  /** The learning rate, which may be set between steps. */
  declare lr: number;
  /** The optimizer's state for each parameter, in tensors of its shape. */
  declare state: readonly (readonly Tensor[])[];

  #memory: Memory;
  #entries: Entry[] = [];
  #named: boolean;
  #parts: readonly string[];

  /** parts: names of the state tensors of a parameter, which have its shape */
  constructor(memory: Memory, caller: string, parameters: Trainable, lr: number, parts: readonly string[]) {
    this.#memory = memory;
    this.#parts = parts;
    this.#named = !Array.isArray(parameters);
    this.name = caller;
    this.lr = readNumber(caller, 'lr', lr, NOT_NEGATIVE);
    const found = tensorsOf(caller, 'parameters', parameters, 'parameters');
    this.state = memory.frame(caller, (frame) =>
      found.map(({ tensor, name }) => {
        tensor.checkOwner(memory, caller, name);
        const part = () => frame.zeros([...shapeOf(tensor)]);
        return Object.freeze(parts.map(part));
      }),
    );
    this.#entries = found.map(({ name, key, tensor, layer }, i) => ({
      name,
      tensor,
      state: this.state[i],
      steps: 0,
      gradient: (given) => (layer ? readOwn(layer.gradients, key) : given.get(key)),
    }));
  }

  /**
   * Updates every parameter that has a gradient. For named tensors, gradients with the same names must be passed;
   * layers have their own.
   */
  step(gradients?: Record<string, TensorLike>) {
    const given = this.#readGradients(gradients);
    const lr = readNumber('step', 'lr', this.lr, NOT_NEGATIVE);
    this.#memory.frame('step', (frame) => {
      const inputs = this.#entries.flatMap((entry) => {
        const gradient = entry.gradient(given);
        if (gradient === undefined) return [];
        return [{ entry, input: frame.read(gradient as TensorLike, `gradient of ${entry.name}`) }];
      });
      const ready = inputs.map(({ entry, input }) => ({ entry, block: this.#inputGradient(frame, entry, input) }));
      for (const { entry, block } of ready) {
        entry.steps++;
        this.update(this.#memory, entry, block, lr);
        touch(entry.tensor);
      }
    });
  }

  /** Validates all gradients before the first update, so that step() changes nothing if one is invalid. */
  #inputGradient(frame: Frame, { name, tensor, state }: Entry, gradient: Input) {
    for (const part of [tensor, ...state]) part.checkOwner(this.#memory, 'step', name);
    const { block, shape } = frame.input(gradient, `gradient of ${name}`);
    if (!sameShape(shape, shapeOf(tensor)))
      throw shapeError('step', `gradient of ${name}`, shape, formatShape(shapeOf(tensor)));
    return block;
  }

  #readGradients(gradients: Record<string, TensorLike> | undefined): Map<string, unknown> {
    if (!this.#named) {
      if (gradients !== undefined)
        throw argumentError('step', 'gradients', gradients, 'no argument, because layers have their own gradients');
      return new Map();
    }
    const given = readRecord('step', 'gradients', gradients, 'an object of gradients, named as the parameters');
    const names = this.#entries.map(({ name }) => name.slice('parameters.'.length));
    for (const name of given.keys()) {
      if (!names.includes(name)) {
        throw new HeadlightError('ARGUMENT', `step: there is no parameter '${name}', expected ${names.join(', ')}`, {
          parameter: name,
          expected: names,
          got: name,
        });
      }
    }
    return given;
  }

  /** Updates one parameter. Each optimizer implements it. */
  protected update(_memory: Memory, _entry: Entry, _gradient: Tensor | Staged, _lr: number) {}

  /** Returns the state of each parameter. @internal */
  known(caller: string): Map<Tensor, { steps: number; parts: [name: string, data: Float32Array][] }> {
    const known = this.#entries.map(({ name, tensor, state, steps }) => {
      for (const part of state) part.checkOwner(this.#memory, caller, name);
      const parts = this.#parts.map((part, i) => [part, viewOf(state[i])]);
      return [tensor, { steps, parts }] as [Tensor, any];
    });
    return new Map(known);
  }

  /**
   * Returns what continues training: state tensors and number of steps of each parameter, but not options and learning
   * rate.
   */
  stateDict(): Record<string, StateEntry> {
    const dict: Record<string, StateEntry> = {};
    for (const { name, tensor, state, steps } of this.#entries) {
      for (const part of [tensor, ...state]) part.checkOwner(this.#memory, 'stateDict', name);
      this.#parts.forEach((part, i) => {
        dict[`${name}.${part}`] = { data: viewOf(state[i]).slice(), shape: [...shapeOf(tensor)] };
      });
      dict[`${name}.steps`] = { data: Float32Array.of(steps), shape: [] };
    }
    return dict;
  }

  /** Restores the state. Validates all names and shapes before anything changes. */
  loadStateDict(dict: Record<string, TensorLike>): this {
    const caller = 'loadStateDict';
    const given = readRecord(caller, 'dict', dict, 'an object of named arrays');
    const targets = this.#entries.flatMap((entry) => {
      entry.tensor.checkOwner(this.#memory, caller, entry.name);
      const parts = this.#parts.map((part, i) => ({ name: `${entry.name}.${part}`, tensor: entry.state[i], entry }));
      return [...parts, { name: `${entry.name}.steps`, tensor: null, entry }];
    });
    checkNames(
      caller,
      [...given.keys()],
      targets.map(({ name }) => name),
    );
    const read = targets.map((target) => {
      target.tensor?.checkOwner(this.#memory, caller, target.name);
      const { shape, floats } = readArray(
        caller,
        target.name,
        given.get(target.name),
        viewOf(target.entry.tensor).buffer,
      );
      const expected = target.tensor ? shapeOf(target.tensor) : [];
      if (!sameShape(shape, expected)) throw shapeError(caller, target.name, shape, formatShape(expected));
      if (!target.tensor) readNumber(caller, target.name, floats[0], { integer: true, least: 0 });
      return { ...target, floats };
    });
    for (const { tensor, entry, floats } of read) {
      if (tensor) viewOf(tensor).set(floats);
      else entry.steps = floats[0];
    }
    return this;
  }

  /** Frees the state of the optimizer. The parameters remain. */
  dispose() {
    for (const tensors of this.state) for (const tensor of tensors) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

export class Sgd extends Optimizer {
  /** The options without lr, with every default filled in. */
  declare options: Readonly<{ momentum: number; nesterov: boolean; weightDecay: number }>;

  constructor(memory: Memory, parameters: Trainable, options: SgdOptions) {
    const caller = 'sgd';
    const given = readOptions(caller, options, ['lr', 'momentum', 'nesterov', 'weightDecay']);
    const momentum = readNumber(caller, 'momentum', given.momentum ?? 0, NOT_NEGATIVE);
    const nesterov = readBoolean(caller, 'nesterov', given.nesterov ?? false);
    const weightDecay = readNumber(caller, 'weightDecay', given.weightDecay ?? 0, NOT_NEGATIVE);
    if (nesterov && momentum === 0) throw argumentError(caller, 'momentum', momentum, 'more than 0 for nesterov');
    super(memory, caller, parameters, given.lr ?? 1e-3, ['velocity']);
    this.options = Object.freeze({ momentum, nesterov, weightDecay });
  }

  protected update(memory: Memory, { tensor, state: [velocity] }: Entry, gradient: Tensor | Staged, lr: number) {
    const { momentum, nesterov, weightDecay } = this.options;
    memory.call(
      'hl_sgd_step',
      'step',
      tensor,
      velocity,
      gradient,
      sizeOf(tensor),
      lr,
      momentum,
      weightDecay,
      Number(nesterov),
    );
  }
}

/** Adam, and AdamW, whose `name` is 'adamW'. */
export class Adam extends Optimizer {
  /** The options without lr, with every default filled in. */
  declare options: Readonly<{ betas: readonly [number, number]; eps: number; weightDecay: number }>;

  #decoupled: boolean;

  constructor(memory: Memory, caller: 'adam' | 'adamW', parameters: Trainable, options: AdamOptions) {
    const given = readOptions(caller, options, ['lr', 'betas', 'eps', 'weightDecay']);
    const betas = given.betas === undefined ? DEFAULT_BETAS : readBetas(caller, given.betas);
    const eps = readNumber(caller, 'eps', given.eps ?? 1e-8, NOT_NEGATIVE);
    const weightDecay = readNumber(
      caller,
      'weightDecay',
      given.weightDecay ?? (caller === 'adamW' ? 0.01 : 0),
      NOT_NEGATIVE,
    );
    super(memory, caller, parameters, given.lr ?? 1e-3, ['mean', 'square']);
    this.#decoupled = caller === 'adamW';
    this.options = Object.freeze({ betas: Object.freeze(betas), eps, weightDecay });
  }

  protected update(
    memory: Memory,
    { tensor, steps, state: [mean, square] }: Entry,
    gradient: Tensor | Staged,
    lr: number,
  ) {
    const { betas, eps, weightDecay } = this.options;
    const [beta1, beta2] = betas;
    memory.call(
      'hl_adam_step',
      'step',
      tensor,
      mean,
      square,
      gradient,
      sizeOf(tensor),
      steps,
      lr,
      beta1,
      beta2,
      eps,
      weightDecay,
      Number(this.#decoupled),
    );
  }
}

export function clipGradients(memory: Memory, gradients: Trainable, maxNorm: number) {
  const caller = 'clipGradients';
  memory.check(caller);
  readNumber(caller, 'maxNorm', maxNorm, NOT_NEGATIVE);
  const found = tensorsOf(caller, 'gradients', gradients, 'gradients');
  for (const { tensor, name } of found) tensor.checkOwner(memory, caller, name);
  const norm = Math.sqrt(
    found.reduce((sum, { tensor }) => sum + memory.invoke('hl_square_sum', caller, tensor, sizeOf(tensor)), 0),
  );
  const factor = maxNorm / (norm + 1e-6);
  if (factor < 1 && Number.isFinite(norm)) {
    for (const { tensor } of found) {
      memory.call('hl_scale', caller, tensor, sizeOf(tensor), factor);
      touch(tensor);
    }
  }
  return norm;
}
