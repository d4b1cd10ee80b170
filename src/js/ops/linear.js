// The linear layer.

import { readBoolean, readNumber, readOptions } from '../check/arguments.js';
import { shapeError } from '../check/errors.js';
import { viewOf } from '../memory/tensor.js';
import { Layer } from './layer.js';
import { fillUniform, uniformSource } from './random.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { LayerOptions } from './layer.js' */

/**
 * @typedef {object} LinearOptions
 * @property {number} in width of the input
 * @property {number} out width of the output
 * @property {boolean} [bias] default true
 * @property {number} [seed] seed of the initial weights, which are Xavier uniform; default 0
 */

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer that computes x · weightᵀ + bias over the last axis. The parameters are { weight (out,in), bias? (out) }. */
export class Linear extends Layer {
  /** @param {Memory} memory @param {LinearOptions} options */
  constructor(memory, options) {
    const caller = 'linear';
    const given = readOptions(caller, options, ['in', 'out', 'bias', 'seed']);
    const width = readNumber(caller, 'in', given.in, SIZE);
    const out = readNumber(caller, 'out', given.out, SIZE);
    const bias = readBoolean(caller, 'bias', given.bias ?? true);
    const seed = readNumber(caller, 'seed', given.seed ?? 0, { integer: true });
    super(memory, caller, (frame) => {
      const weight = frame.make([out, width]);
      const limit = Math.sqrt(6 / (out + width));
      fillUniform(viewOf(weight), uniformSource(seed), -limit, limit);
      return { weight, ...(bias && { bias: frame.zeros([out]) }) };
    });
    /** The options, with every default filled in. */
    this.options = Object.freeze({ in: width, out, bias, seed });
    Object.freeze(this);
  }

  /** @param {TensorLike} x (…,in) @param {LayerOptions} [options] @returns {Tensor} (…,out) */
  forward(x, options = {}) {
    const { in: width, out } = this.options;
    const { weight, bias } = this.parameters;
    return this.runForward({ x }, options, (frame, memory, { x: { block, shape, size } }) => {
      if (shape.at(-1) !== width) throw shapeError('forward', 'x', shape, `(…,${width})`);
      const output = frame.make([...shape.slice(0, -1), out]);
      memory.call('hl_linear_forward', 'forward', output, block, weight, bias, size / width, out, width);
      return { output, saved: [block] };
    });
  }

  /** @param {TensorLike} dOutput (…,out) @returns {Tensor} the gradient of x, (…,in) */
  backward(dOutput) {
    const { in: width, out } = this.options;
    const { weight, bias } = this.gradients;
    return this.runBackward(dOutput, (frame, memory, block, [x]) => {
      const dx = frame.make([...x.shape]);
      memory.call(
        'hl_linear_backward',
        'backward',
        dx,
        weight,
        bias,
        block,
        x,
        this.parameters.weight,
        x.size / width,
        out,
        width,
      );
      return dx;
    });
  }
}
