// The linear layer.

import { readBoolean, readNumber, readOptions } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Memory } from '../memory/memory.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import { Layer, type LayerOptions } from './layer.ts';
import { fillUniform, uniformSource } from './random.ts';

export type LinearOptions = {
  /** width of the input */
  in: number;
  /** width of the output */
  out: number;
  /** default true */
  bias?: boolean | undefined;
  /** seed of the initial weights, which are Xavier uniform; default 0 */
  seed?: number | undefined;
};

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer that computes x · weightᵀ + bias over the last axis. The parameters are { weight (out,in), bias? (out) }. */
export class Linear extends Layer {
  /** The options, with every default filled in. */
  declare options: Readonly<{ in: number; out: number; bias: boolean; seed: number }>;

  constructor(memory: Memory, options: LinearOptions) {
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
    this.options = Object.freeze({ in: width, out, bias, seed });
    Object.freeze(this);
  }

  /** x: (…,in); returns (…,out) */
  forward(x: TensorLike, options: LayerOptions = {}): Tensor {
    const { in: width, out } = this.options;
    const { weight, bias } = this.parameters;
    return this.runForward({ x }, options, (frame, memory, { x: { block, shape, size } }) => {
      if (shape.at(-1) !== width) throw shapeError('forward', 'x', shape, `(…,${width})`);
      const output = frame.make([...shape.slice(0, -1), out]);
      memory.call('hl_linear_forward', 'forward', output, block, weight, bias, size / width, out, width);
      return { output, saved: [block] };
    });
  }

  /** dOutput: (…,out); returns the gradient of x, (…,in) */
  backward(dOutput: TensorLike): Tensor {
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
