// What stands between two linear layers.

import { ACTIVATION } from '../../../dist/abi/abi.js';
import { readOptions, readWord } from '../check/arguments.js';
import { Layer } from './layer.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */

/** @typedef {{ approximate?: 'none' | 'tanh' }} GeluOptions */

const FORMS = /** @type {const} */ (['none', 'tanh']);

/** x · Φ(x): no parameters. */
export class Gelu extends Layer {
  #kind;

  /** @param {Memory} memory @param {GeluOptions} options */
  constructor(memory, options) {
    const given = readOptions('gelu', options, ['approximate']);
    const approximate = readWord('gelu', 'approximate', given.approximate ?? 'none', FORMS);
    super(memory, 'gelu', () => ({}));
    this.#kind = approximate === 'tanh' ? ACTIVATION.GELU_TANH : ACTIVATION.GELU;
    /** The options, with every default filled in. */
    this.options = Object.freeze({ approximate });
    Object.freeze(this);
  }

  /** @param {TensorLike} x @returns {Tensor} of the same shape */
  forward(x) {
    return this.runWith(x, (frame, memory, kept) => {
      const output = frame.make([...kept.shape]);
      memory.call('hl_activation_forward', 'forward', output, kept, kept.size, this.#kind);
      return { output, keep: [kept] };
    });
  }

  /** @param {TensorLike} dOutput @returns {Tensor} the gradient of x */
  backward(dOutput) {
    return this.reverse(dOutput, (frame, memory, block, [x]) => {
      const dx = frame.make([...x.shape]);
      memory.call('hl_activation_backward', 'backward', dx, block, x, x.size, this.#kind);
      return dx;
    });
  }
}
