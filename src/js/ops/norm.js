// Layer norm and RMS norm.

import { readBoolean, readNumber, readOptions } from '../check/arguments.js';
import { shapeError } from '../check/errors.js';
import { viewOf } from '../memory/tensor.js';
import { Layer } from './layer.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { LayerOptions } from './layer.js' */

/**
 * @typedef {object} NormOptions
 * @property {number} width size of the last axis
 * @property {number} [eps] default 1e-5
 * @property {boolean} [bias] default true for layerNorm, false for rmsNorm
 */

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer of layer norm or RMS norm over the last axis. The parameters are { weight (width), bias? (width) }. */
export class Norm extends Layer {
  #centred;

  /** @param {Memory} memory @param {'layerNorm' | 'rmsNorm'} caller @param {NormOptions} options */
  constructor(memory, caller, options) {
    const given = readOptions(caller, options, ['width', 'eps', 'bias']);
    const width = readNumber(caller, 'width', given.width, SIZE);
    const eps = readNumber(caller, 'eps', given.eps ?? 1e-5, { least: 0 });
    const bias = readBoolean(caller, 'bias', given.bias ?? caller === 'layerNorm');
    super(memory, caller, (frame) => {
      const weight = frame.make([width]);
      viewOf(weight).fill(1);
      return { weight, ...(bias && { bias: frame.zeros([width]) }) };
    });
    this.#centred = caller === 'layerNorm';
    /** The options, with every default filled in. */
    this.options = Object.freeze({ width, eps, bias });
    Object.freeze(this);
  }

  /** @param {TensorLike} x (…,width) @param {LayerOptions} [options] @returns {Tensor} of the same shape */
  forward(x, options = {}) {
    const { width, eps } = this.options;
    const { weight, bias } = this.parameters;
    return this.runForward({ x }, options, (frame, memory, { x: { block, shape, size } }, training) => {
      if (shape.at(-1) !== width) throw shapeError('forward', 'x', shape, `(…,${width})`);
      const rows = size / width;
      const output = frame.make([...shape]);
      const [rstd, ...mean] = (this.#centred ? [0, 1] : [0]).map(() =>
        training ? frame.make([rows]) : frame.scratch(rows),
      );
      memory.call('hl_norm_forward', 'forward', output, mean[0], rstd, block, weight, bias, rows, width, eps);
      return { output, saved: [block, rstd, ...mean] };
    });
  }

  /** @param {TensorLike} dOutput (…,width) @returns {Tensor} the gradient of x, (…,width) */
  backward(dOutput) {
    const { width } = this.options;
    return this.runBackward(dOutput, (frame, memory, block, [x, rstd, mean]) => {
      const dx = frame.make([...x.shape]);
      const { weight, bias } = this.gradients;
      memory.call(
        'hl_norm_backward',
        'backward',
        dx,
        weight,
        bias,
        block,
        x,
        mean,
        rstd,
        this.parameters.weight,
        x.size / width,
        width,
      );
      return dx;
    });
  }
}
