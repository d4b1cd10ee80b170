// Activation functions and gated activations, as layers without parameters.

import { ACTIVATION } from '../../../dist/abi/abi.js';
import { readBoolean, readOptions, readWord } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Memory } from '../memory/memory.ts';
import type { Tensor } from '../memory/tensor.ts';
import { Layer, type LayerOptions } from './layer.ts';

export type GeluOptions = { approximate?: 'none' | 'tanh' };
export type ActivationKind = 'gelu' | 'gelu-tanh' | 'quick-gelu' | 'relu' | 'silu' | 'tanh';
export type ActivationOptions<G extends boolean | undefined = boolean | undefined> = {
  kind: ActivationKind;
  /** true for two inputs, activation(gate) · up, as in SwiGLU and GeGLU; default false */
  gated?: G | undefined;
};

const FORMS = ['none', 'tanh'] as const;
/** The numbers of the functions in the core, by name. */
export const ACTIVATIONS: Readonly<Record<ActivationKind, number>> = {
  gelu: ACTIVATION.GELU,
  'gelu-tanh': ACTIVATION.GELU_TANH,
  'quick-gelu': ACTIVATION.QUICK_GELU,
  relu: ACTIVATION.RELU,
  silu: ACTIVATION.SILU,
  tanh: ACTIVATION.TANH,
};
const KIND_NAMES = Object.keys(ACTIVATIONS) as ActivationKind[];

export class Activation extends Layer {
  declare options: Readonly<Record<string, unknown>>;

  #kind: number;

  constructor(memory: Memory, { kind }: ActivationOptions, caller = 'activation') {
    super(memory, caller, () => ({}));
    this.#kind = ACTIVATIONS[kind];
    this.options = Object.freeze({ kind, gated: false });
  }

  forward(x: TensorLike, options: LayerOptions = {}): Tensor {
    return this.runForward({ x }, options, (frame, memory, { x: { block, shape, size } }) => {
      const output = frame.make([...shape]);
      memory.call('hl_activation_forward', 'forward', output, block, size, this.#kind);
      return { output, saved: [block] };
    });
  }

  /** dOutput: of the shape of x */
  backward(dOutput: TensorLike): Tensor {
    return this.runBackward(dOutput, (frame, memory, block, [x]) => {
      const dx = frame.make([...x.shape]);
      memory.call('hl_activation_backward', 'backward', dx, block, x, x.size, this.#kind);
      return dx;
    });
  }
}

export class GatedActivation extends Layer {
  declare options: Readonly<{ kind: ActivationKind; gated: true }>;

  #kind: number;

  constructor(memory: Memory, { kind }: ActivationOptions) {
    super(memory, 'activation', () => ({}));
    this.#kind = ACTIVATIONS[kind];
    this.options = Object.freeze({ kind, gated: true });
    Object.freeze(this);
  }

  /** The inputs and the output have one shape. */
  forward(gate: TensorLike, up: TensorLike, options: LayerOptions = {}): Tensor {
    return this.runForward({ gate, up }, options, (frame, memory, { gate: { block, shape, size }, up: other }) => {
      if (!sameShape(other.shape, shape)) throw shapeError('forward', 'up', other.shape, formatShape(shape));
      const output = frame.make([...shape]);
      memory.call('hl_gated_forward', 'forward', output, block, other.block, size, this.#kind);
      return { output, saved: [block, other.block] };
    });
  }

  /** All have the shape of the inputs. */
  backward(dOutput: TensorLike): { dGate: Tensor; dUp: Tensor } {
    return this.runBackward(dOutput, (frame, memory, block, [gate, up]) => {
      const [dGate, dUp] = [frame.make([...gate.shape]), frame.make([...up.shape])];
      memory.call('hl_gated_backward', 'backward', dGate, dUp, block, gate, up, gate.size, this.#kind);
      return { dGate, dUp };
    });
  }
}

export function makeActivation(memory: Memory, options: ActivationOptions): Activation | GatedActivation {
  const caller = 'activation';
  const given = readOptions(caller, options, ['kind', 'gated']);
  const kind = readWord(caller, 'kind', given.kind, KIND_NAMES);
  return readBoolean(caller, 'gated', given.gated ?? false)
    ? new GatedActivation(memory, { kind })
    : (Object.freeze(new Activation(memory, { kind })) as Activation);
}

export class Gelu extends Activation {
  /** The options, with every default filled in. */
  declare options: Readonly<{ approximate: 'none' | 'tanh' }>;

  constructor(memory: Memory, options: GeluOptions) {
    const given = readOptions('gelu', options, ['approximate']);
    const approximate = readWord('gelu', 'approximate', given.approximate ?? 'none', FORMS);
    super(memory, { kind: approximate === 'tanh' ? 'gelu-tanh' : 'gelu' }, 'gelu');
    this.options = Object.freeze({ approximate });
    Object.freeze(this);
  }
}
