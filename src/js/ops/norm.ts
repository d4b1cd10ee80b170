// Layer norm and RMS norm, as layers.

import { readBoolean, readNumber, readOptions } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Memory } from '../memory/memory.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import { Layer, type LayerOptions } from './layer.ts';

export type NormOptions = {
  /** size of the last axis */
  width: number;
  /** default 1e-5 */
  eps?: number | undefined;
  /** default true for layerNorm, false for rmsNorm */
  bias?: boolean | undefined;
};

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer of layer norm or RMS norm over the last axis. The parameters are { weight (width), bias? (width) }. */
export class Norm extends Layer {
  /** The options, with every default filled in. */
  declare options: Readonly<{ width: number; eps: number; bias: boolean }>;

  #centred: boolean;

  constructor(memory: Memory, caller: 'layerNorm' | 'rmsNorm', options: NormOptions) {
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
    this.options = Object.freeze({ width, eps, bias });
    Object.freeze(this);
  }

  /** x: (…,width); returns the same shape */
  forward(x: TensorLike, options: LayerOptions = {}): Tensor {
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

  /** dOutput: (…,width); returns the gradient of x */
  backward(dOutput: TensorLike): Tensor {
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
