// Activation functions and gated activations, as layers without parameters.

import { ACTIVATION } from '../../../dist/abi/abi.js';
import { readBoolean, readOptions, readWord } from '../check/arguments.js';
import { shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { Layer } from './layer.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { LayerOptions } from './layer.js' */

/** @typedef {{ approximate?: 'none' | 'tanh' }} GeluOptions */
/** @typedef {'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu' | 'tanh'} ActivationKind */
/**
 * @template {boolean | undefined} [G=boolean | undefined]
 * @typedef {object} ActivationOptions
 * @property {ActivationKind} kind
 * @property {G} [gated] true for two inputs, activation(gate) · up, as in SwiGLU and GeGLU; default false
 */

const FORMS = /** @type {const} */ (['none', 'tanh']);
/** The numbers of the functions in the core, by name. @type {Readonly<Record<ActivationKind, number>>} */
export const ACTIVATIONS = {
  gelu: ACTIVATION.GELU,
  'gelu-tanh': ACTIVATION.GELU_TANH,
  'quick-gelu': ACTIVATION.QUICK_GELU,
  relu: ACTIVATION.RELU,
  silu: ACTIVATION.SILU,
  tanh: ACTIVATION.TANH,
};
const KIND_NAMES = /** @type {ActivationKind[]} */ (Object.keys(ACTIVATIONS));

/** A layer that applies an elementwise activation function. */
export class Activation extends Layer {
  #kind;

  /** @param {Memory} memory @param {ActivationOptions} options @param {string} [caller] */
  constructor(memory, { kind }, caller = 'activation') {
    super(memory, caller, () => ({}));
    this.#kind = ACTIVATIONS[kind];
    /** @type {Readonly<Record<string, unknown>>} */
    this.options = Object.freeze({ kind, gated: false });
  }

  /** @param {TensorLike} x of any shape @param {LayerOptions} [options] @returns {Tensor} of the same shape */
  forward(x, options = {}) {
    return this.runForward({ x }, options, (frame, memory, { x: { block, shape, size } }) => {
      const output = frame.make([...shape]);
      memory.call('hl_activation_forward', 'forward', output, block, size, this.#kind);
      return { output, saved: [block] };
    });
  }

  /** @param {TensorLike} dOutput of the shape of x @returns {Tensor} the gradient of x */
  backward(dOutput) {
    return this.runBackward(dOutput, (frame, memory, block, [x]) => {
      const dx = frame.make([...x.shape]);
      memory.call('hl_activation_backward', 'backward', dx, block, x, x.size, this.#kind);
      return dx;
    });
  }
}

/** A layer that computes activation(gate) · up elementwise. */
export class GatedActivation extends Layer {
  #kind;

  /** @param {Memory} memory @param {ActivationOptions} options */
  constructor(memory, { kind }) {
    super(memory, 'activation', () => ({}));
    this.#kind = ACTIVATIONS[kind];
    this.options = Object.freeze({ kind, gated: true });
    Object.freeze(this);
  }

  /**
   * @param {TensorLike} gate of any shape
   * @param {TensorLike} up of the same shape
   * @param {LayerOptions} [options]
   * @returns {Tensor} of the same shape
   */
  forward(gate, up, options = {}) {
    return this.runForward({ gate, up }, options, (frame, memory, { gate: { block, shape, size }, up: other }) => {
      if (!sameShape(other.shape, shape)) throw shapeError('forward', 'up', other.shape, formatShape(shape));
      const output = frame.make([...shape]);
      memory.call('hl_gated_forward', 'forward', output, block, other.block, size, this.#kind);
      return { output, saved: [block, other.block] };
    });
  }

  /** @param {TensorLike} dOutput @returns {{ dGate: Tensor, dUp: Tensor }} all of the shape of the inputs */
  backward(dOutput) {
    return this.runBackward(dOutput, (frame, memory, block, [gate, up]) => {
      const [dGate, dUp] = [frame.make([...gate.shape]), frame.make([...up.shape])];
      memory.call('hl_gated_backward', 'backward', dGate, dUp, block, gate, up, gate.size, this.#kind);
      return { dGate, dUp };
    });
  }
}

/**
 * @param {Memory} memory
 * @param {ActivationOptions} options
 * @returns {Activation | GatedActivation}
 */
export function makeActivation(memory, options) {
  const caller = 'activation';
  const given = readOptions(caller, options, ['kind', 'gated']);
  const kind = readWord(caller, 'kind', given.kind, KIND_NAMES);
  return readBoolean(caller, 'gated', given.gated ?? false)
    ? new GatedActivation(memory, { kind })
    : /** @type {Activation} */ (Object.freeze(new Activation(memory, { kind })));
}

/** A layer that computes x · Φ(x) elementwise. */
export class Gelu extends Activation {
  /** @param {Memory} memory @param {GeluOptions} options */
  constructor(memory, options) {
    const given = readOptions('gelu', options, ['approximate']);
    const approximate = readWord('gelu', 'approximate', given.approximate ?? 'none', FORMS);
    super(memory, { kind: approximate === 'tanh' ? 'gelu-tanh' : 'gelu' }, 'gelu');
    /** The options, with every default filled in. */
    this.options = Object.freeze({ approximate });
    Object.freeze(this);
  }
}
