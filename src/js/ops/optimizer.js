// Optimizers as in PyTorch, over named tensors or over the parameters of layers.

import { checkNames, readBoolean, readNumber, readOptions, readRecord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { shapeOf, sizeOf, Tensor, touch, viewOf } from '../memory/tensor.js';
import { readArray } from './state.js';

/** @import { Frame, Input } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { StateEntry } from './state.js' */

/** @typedef {{ parameters: object, gradients: object }} TrainableLayer gradients under the names of the parameters */
/** @typedef {Record<string, Tensor> | readonly TrainableLayer[]} Trainable named tensors, or layers */
/**
 * @typedef {object} SgdOptions
 * @property {number} [lr] default 1e-3
 * @property {number} [momentum] default 0
 * @property {boolean} [nesterov] default false
 * @property {number} [weightDecay] default 0
 */
/**
 * @typedef {object} AdamOptions
 * @property {number} [lr] default 1e-3
 * @property {readonly [number, number]} [betas] default [0.9, 0.999]
 * @property {number} [eps] default 1e-8
 * @property {number} [weightDecay] default 0; for adamW 0.01
 */
/**
 * A trained parameter. gradient: finds its gradient; state: its state tensors; steps: number of steps in which the
 * parameter had a gradient.
 * @typedef {{ name: string, tensor: Tensor, gradient: (given: Map<string, unknown>) => unknown, steps: number,
 *   state: readonly Tensor[] }} Entry
 */

const NOT_NEGATIVE = { least: 0 };
/** @type {readonly [number, number]} */
const DEFAULT_BETAS = [0.9, 0.999];

/** @param {unknown} record @param {string} key @returns {unknown} */
const readOwn = (record, key) =>
  record !== null && typeof record === 'object' && Object.hasOwn(record, key)
    ? /** @type {Record<string, unknown>} */ (record)[key]
    : undefined;

/** @param {string} caller @param {unknown} betas @returns {[number, number]} */
function readBetas(caller, betas) {
  if (!Array.isArray(betas) || betas.length !== 2) throw argumentError(caller, 'betas', betas, 'two numbers');
  return [readBeta(caller, 'betas[0]', betas[0]), readBeta(caller, 'betas[1]', betas[1])];
}

/** @param {string} caller @param {string} parameter @param {unknown} value */
function readBeta(caller, parameter, value) {
  const beta = readNumber(caller, parameter, value, NOT_NEGATIVE);
  if (beta >= 1) throw argumentError(caller, parameter, beta, 'less than 1');
  return beta;
}

/**
 * Returns the tensors of an object, or the parameters or gradients of layers.
 * @param {string} caller
 * @param {string} parameter
 * @param {Trainable} trainable
 * @param {'parameters' | 'gradients'} part
 * @returns {{ name: string, key: string, tensor: Tensor, layer?: TrainableLayer }[]}
 */
function tensorsOf(caller, parameter, trainable, part) {
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
  #memory;
  /** @type {Entry[]} */
  #entries = [];
  #named;
  #parts;

  /**
   * @param {Memory} memory
   * @param {string} caller
   * @param {Trainable} parameters
   * @param {number} lr
   * @param {readonly string[]} parts names of the state tensors of a parameter, which have its shape
   */
  constructor(memory, caller, parameters, lr, parts) {
    this.#memory = memory;
    this.#parts = parts;
    this.#named = !Array.isArray(parameters);
    /** 'sgd', 'adam' or 'adamW'. */
    this.name = caller;
    /** The learning rate, which may be set between steps. */
    this.lr = readNumber(caller, 'lr', lr, NOT_NEGATIVE);
    const found = tensorsOf(caller, 'parameters', parameters, 'parameters');
    /** The optimizer's state for each parameter, in tensors of its shape. @type {readonly (readonly Tensor[])[]} */
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
   * Updates every parameter that has a gradient. Layers have their own gradients. For named tensors, gradients with the
   * same names must be passed.
   * @param {Record<string, TensorLike>} [gradients]
   */
  step(gradients) {
    const given = this.#readGradients(gradients);
    const lr = readNumber('step', 'lr', this.lr, NOT_NEGATIVE);
    this.#memory.frame('step', (frame) => {
      const inputs = this.#entries.flatMap((entry) => {
        const gradient = entry.gradient(given);
        if (gradient === undefined) return [];
        return [{ entry, input: frame.read(/** @type {TensorLike} */ (gradient), `gradient of ${entry.name}`) }];
      });
      const ready = inputs.map(({ entry, input }) => ({ entry, block: this.#inputGradient(frame, entry, input) }));
      for (const { entry, block } of ready) {
        entry.steps++;
        this.update(this.#memory, entry, block, lr);
        touch(entry.tensor);
      }
    });
  }

  /**
   * Validates a gradient and returns it in linear memory. All gradients are validated before the first update, so that
   * step() changes no parameter if one of them is invalid.
   * @param {Frame} frame
   * @param {Entry} entry
   * @param {Input} gradient of the shape of the parameter
   */
  #inputGradient(frame, { name, tensor, state }, gradient) {
    for (const part of [tensor, ...state]) part.checkOwner(this.#memory, 'step', name);
    const { block, shape } = frame.input(gradient, `gradient of ${name}`);
    if (!sameShape(shape, shapeOf(tensor)))
      throw shapeError('step', `gradient of ${name}`, shape, formatShape(shapeOf(tensor)));
    return block;
  }

  /** @param {Record<string, TensorLike> | undefined} gradients @returns {Map<string, unknown>} */
  #readGradients(gradients) {
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

  /**
   * Updates one parameter. Each optimizer implements it.
   * @protected
   * @param {Memory} _memory
   * @param {Entry} _entry
   * @param {Tensor | Staged} _gradient
   * @param {number} _lr
   */
  update(_memory, _entry, _gradient, _lr) {}

  /**
   * Returns the state of each parameter.
   * @internal
   * @param {string} caller
   * @returns {Map<Tensor, { steps: number, parts: [name: string, data: Float32Array][] }>}
   */
  known(caller) {
    const known = this.#entries.map(({ name, tensor, state, steps }) => {
      for (const part of state) part.checkOwner(this.#memory, caller, name);
      const parts = this.#parts.map((part, i) => [part, viewOf(state[i])]);
      return /** @type {[Tensor, any]} */ ([tensor, { steps, parts }]);
    });
    return new Map(known);
  }

  /**
   * Returns the state that is needed to continue training: the state tensors and the number of steps of each parameter.
   * The options and the learning rate are not included.
   * @returns {Record<string, StateEntry>}
   */
  stateDict() {
    /** @type {Record<string, StateEntry>} */
    const dict = {};
    for (const { name, tensor, state, steps } of this.#entries) {
      for (const part of [tensor, ...state]) part.checkOwner(this.#memory, 'stateDict', name);
      this.#parts.forEach((part, i) => {
        dict[`${name}.${part}`] = { data: viewOf(state[i]).slice(), shape: [...shapeOf(tensor)] };
      });
      dict[`${name}.steps`] = { data: Float32Array.of(steps), shape: [] };
    }
    return dict;
  }

  /**
   * Restores the state. Validates all names and shapes before anything changes.
   * @param {Record<string, TensorLike>} dict
   * @returns {this}
   */
  loadStateDict(dict) {
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
  /** @param {Memory} memory @param {Trainable} parameters @param {SgdOptions} options */
  constructor(memory, parameters, options) {
    const caller = 'sgd';
    const given = readOptions(caller, options, ['lr', 'momentum', 'nesterov', 'weightDecay']);
    const momentum = readNumber(caller, 'momentum', given.momentum ?? 0, NOT_NEGATIVE);
    const nesterov = readBoolean(caller, 'nesterov', given.nesterov ?? false);
    const weightDecay = readNumber(caller, 'weightDecay', given.weightDecay ?? 0, NOT_NEGATIVE);
    if (nesterov && momentum === 0) throw argumentError(caller, 'momentum', momentum, 'more than 0 for nesterov');
    super(memory, caller, parameters, given.lr ?? 1e-3, ['velocity']);
    /** The options without lr, with every default filled in. */
    this.options = Object.freeze({ momentum, nesterov, weightDecay });
  }

  /** @protected @param {Memory} memory @param {Entry} entry @param {Tensor | Staged} gradient @param {number} lr */
  update(memory, { tensor, state: [velocity] }, gradient, lr) {
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
  #decoupled;

  /**
   * @param {Memory} memory
   * @param {'adam' | 'adamW'} caller
   * @param {Trainable} parameters
   * @param {AdamOptions} options
   */
  constructor(memory, caller, parameters, options) {
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
    /** The options without lr, with every default filled in. */
    this.options = Object.freeze({ betas: Object.freeze(betas), eps, weightDecay });
  }

  /** @protected @param {Memory} memory @param {Entry} entry @param {Tensor | Staged} gradient @param {number} lr */
  update(memory, { tensor, steps, state: [mean, square] }, gradient, lr) {
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

/**
 * @param {Memory} memory
 * @param {Trainable} gradients
 * @param {number} maxNorm
 */
export function clipGradients(memory, gradients, maxNorm) {
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
