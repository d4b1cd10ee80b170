// The layers that stand beside attention in a transformer. Each has parameters, and gradients that add up until
// zeroGrad(); forward keeps what backward needs until the next forward, dispose(), or the end of the scope it ran in.

import { GELU } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean, readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { fillNormal, fillUniform, uniformSource } from './random.js';
import { Tensor, viewOf } from '../memory/tensor.js';

/** @import { Frame } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */

/**
 * @typedef {object} EmbeddingOptions
 * @property {number} count rows of the table: labels are 0 to count − 1
 * @property {number} width of a row
 * @property {number} [context] the longest sequence: for each of its positions a row is learned and added
 * @property {number} [std] deviation of the initial rows, which are normal; default 0.02
 * @property {number} [seed] of the initial rows; default 0
 */
/**
 * @typedef {object} LinearOptions
 * @property {number} in width of the input
 * @property {number} out width of the output
 * @property {boolean} [bias] default true
 * @property {number} [seed] of the initial weights, Xavier uniform; default 0
 */
/**
 * @typedef {object} NormOptions
 * @property {number} width of the last axis
 * @property {number} [eps] default 1e-5
 * @property {boolean} [bias] default true for layerNorm, false for rmsNorm
 */

const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/**
 * Integers for one call of the core.
 * @param {TensorLike} value
 * @param {string} caller
 * @param {number} below
 * @param {number} [ignore] allowed too
 * @param {string} [parameter]
 * @returns {{ ints: Int32Array, shape: readonly number[] }}
 */
export function readLabels(value, caller, below, ignore, parameter = 'labels') {
  const { data, shape } =
    value instanceof Tensor ? { data: value.copy(), shape: value.shape } : readTensorLike(value, caller, parameter);
  const ints = new Int32Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const label = Number(data[i]);
    if (label !== ignore && !(Number.isInteger(label) && label >= 0 && label < below)) {
      throw argumentError(
        caller,
        `${parameter}[${i}]`,
        label,
        `an integer from 0 to ${below - 1}${ignore === undefined ? '' : `, or ${ignore}`}`,
      );
    }
    ints[i] = label;
  }
  return { ints, shape };
}

class Layer {
  /** @type {Record<string, Tensor>} */
  parameters = {};
  /** Gradients of the parameters, under the same names. @type {Record<string, Tensor>} */
  gradients = {};
  #memory;
  /** What the last forward kept. @type {Tensor[] | null} */
  #kept = null;
  /** @type {readonly number[]} */
  #outputShape = [];

  /**
   * @param {Memory} memory
   * @param {string} caller
   * @param {(frame: Frame) => Record<string, Tensor>} make the parameters
   */
  constructor(memory, caller, make) {
    this.#memory = memory;
    memory.frame(caller, (frame) => {
      this.parameters = make(frame);
      for (const [name, { shape }] of Object.entries(this.parameters)) this.gradients[name] = frame.zeros([...shape]);
    });
  }

  /**
   * What `fn` keeps takes the place of what was kept, should it succeed.
   * @protected
   * @param {(frame: Frame, memory: Memory) => { output: Tensor, keep: Tensor[] }} fn
   */
  run(fn) {
    const { output, keep } = this.#memory.frame('forward', (frame) => {
      this.#check('forward', this.parameters, 'parameters');
      return fn(frame, this.#memory);
    });
    this.#forget();
    this.#kept = keep;
    this.#outputShape = output.shape;
    return output;
  }

  /**
   * @protected
   * @template T
   * @param {TensorLike} dOutput
   * @param {(frame: Frame, memory: Memory, dOutput: Tensor | Staged, kept: Tensor[]) => T} fn
   */
  reverse(dOutput, fn) {
    return this.#memory.frame('backward', (frame) => {
      const kept = this.#kept;
      if (!kept || kept.some((tensor) => tensor.disposed)) {
        throw new HeadlightError(
          'STATE',
          'backward: there is no forward before it, or the scope that it ran in has ended',
        );
      }
      this.#check('backward', this.parameters, 'parameters');
      this.#check('backward', this.gradients, 'gradients');
      const { block, shape } = frame.take(dOutput, 'dOutput');
      if (!sameShape(shape, this.#outputShape))
        throw shapeError('backward', 'dOutput', shape, formatShape(this.#outputShape));
      return fn(frame, this.#memory, block, kept);
    });
  }

  /**
   * @param {string} caller
   * @param {Record<string, Tensor>} tensors
   * @param {string} what
   */
  #check(caller, tensors, what) {
    for (const [name, tensor] of Object.entries(tensors)) tensor.checkOwner(this.#memory, caller, `${what}.${name}`);
  }

  #forget() {
    for (const tensor of this.#kept ?? []) tensor.dispose();
    this.#kept = null;
  }

  zeroGrad() {
    this.#check('zeroGrad', this.gradients, 'gradients');
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
  }

  dispose() {
    this.#forget();
    for (const tensor of [...Object.values(this.parameters), ...Object.values(this.gradients)]) tensor.dispose();
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/** x · weightᵀ + bias over the last axis: { weight (out,in), bias? (out) }. */
export class Linear extends Layer {
  /** @param {Memory} memory @param {LinearOptions} options */
  constructor(memory, options) {
    const caller = 'linear';
    checkOptions(caller, options, ['in', 'out', 'bias', 'seed']);
    const width = readNumber(caller, 'in', options.in, SIZE);
    const out = readNumber(caller, 'out', options.out, SIZE);
    const bias = readBoolean(caller, 'bias', options.bias ?? true);
    const seed = readNumber(caller, 'seed', options.seed ?? 0, { integer: true });
    super(memory, caller, (frame) => {
      const weight = frame.make([out, width]);
      const limit = Math.sqrt(6 / (out + width));
      fillUniform(viewOf(weight), uniformSource(seed), -limit, limit);
      return { weight, ...(bias && { bias: frame.zeros([out]) }) };
    });
    /** The options, with every default filled in. */
    this.options = Object.freeze({ in: width, out, bias, seed });
  }

  /** @param {TensorLike} x (…,in) @returns {Tensor} (…,out) */
  forward(x) {
    const { in: width, out } = this.options;
    const { weight, bias } = this.parameters;
    return this.run((frame, memory) => {
      const kept = frame.copy(x, 'x');
      if (kept.shape.at(-1) !== width) throw shapeError('forward', 'x', kept.shape, `(…,${width})`);
      const output = frame.make([...kept.shape.slice(0, -1), out]);
      memory.call('hl_linear_forward', 'forward', output, kept, weight, bias, kept.size / width, out, width);
      return { output, keep: [kept] };
    });
  }

  /** @param {TensorLike} dOutput @returns {Tensor} the gradient of x */
  backward(dOutput) {
    const { in: width, out } = this.options;
    const { weight, bias } = this.gradients;
    return this.reverse(dOutput, (frame, memory, block, [x]) => {
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

/** Rows of a table by label: { table (count,width), position? (context,width) }. */
export class Embedding extends Layer {
  /** Those of the last forward. */
  /** @type {{ ints: Int32Array, sizes: readonly [number, number, number, number, number] }} */
  #labels = { ints: new Int32Array(0), sizes: [0, 0, 0, 0, 0] };

  /** @param {Memory} memory @param {EmbeddingOptions} options */
  constructor(memory, options) {
    const caller = 'embedding';
    checkOptions(caller, options, ['count', 'width', 'context', 'std', 'seed']);
    const count = readNumber(caller, 'count', options.count, SIZE);
    const width = readNumber(caller, 'width', options.width, SIZE);
    const context = options.context === undefined ? undefined : readNumber(caller, 'context', options.context, SIZE);
    const std = readNumber(caller, 'std', options.std ?? 0.02, { least: 0 });
    const seed = readNumber(caller, 'seed', options.seed ?? 0, { integer: true });
    super(memory, caller, (frame) => {
      const next = uniformSource(seed);
      /** @param {number} rows */
      const normal = (rows) => {
        const tensor = frame.make([rows, width]);
        fillNormal(viewOf(tensor), next, 0, std);
        return tensor;
      };
      return { table: normal(count), ...(context !== undefined && { position: normal(context) }) };
    });
    /** The options, with every default filled in. */
    this.options = Object.freeze({ count, width, context, std, seed });
  }

  /**
   * @param {TensorLike} labels (T) or (B,T)
   * @param {{ offset?: number }} [options] offset: position of the first label, default 0
   * @returns {Tensor} (T,width) or (B,T,width)
   */
  forward(labels, options = {}) {
    checkOptions('forward', options, ['offset']);
    const { count, width, context } = this.options;
    const { ints, shape } = readLabels(labels, 'forward', count);
    if (shape.length !== 1 && shape.length !== 2) throw shapeError('forward', 'labels', shape, '(T) or (B,T)');
    const [rows, batch] = [shape[shape.length - 1], shape.length === 2 ? shape[0] : 1];
    const offset = readNumber('forward', 'offset', options.offset ?? 0, { integer: true, least: 0, most: 2 ** 31 - 1 });
    if (context !== undefined && offset + rows > context)
      throw shapeError('forward', 'labels', shape, `at most ${context - offset} in a row: the context is ${context}`);
    const sizes = /** @type {const} */ ([batch, rows, width, count, offset]);
    const { table, position } = this.parameters;
    const output = this.run((frame, memory) => {
      const output = frame.make([...shape, width]);
      memory.call('hl_embedding_forward', 'forward', output, table, position, frame.stage(ints), ...sizes);
      return { output, keep: [] };
    });
    this.#labels = { ints, sizes };
    return output;
  }

  /**
   * Labels have no gradient: only those of the parameters add up.
   * @param {TensorLike} dOutput
   */
  backward(dOutput) {
    const { table, position } = this.gradients;
    this.reverse(dOutput, (frame, memory, block) => {
      const { ints, sizes } = this.#labels;
      memory.call('hl_embedding_backward', 'backward', table, position, block, frame.stage(ints), ...sizes);
    });
  }
}

/** Layer norm or RMS norm over the last axis: { weight (width), bias? (width) }. */
export class Norm extends Layer {
  #centred;

  /** @param {Memory} memory @param {'layerNorm' | 'rmsNorm'} caller @param {NormOptions} options */
  constructor(memory, caller, options) {
    checkOptions(caller, options, ['width', 'eps', 'bias']);
    const width = readNumber(caller, 'width', options.width, SIZE);
    const eps = readNumber(caller, 'eps', options.eps ?? 1e-5, { least: 0 });
    const bias = readBoolean(caller, 'bias', options.bias ?? caller === 'layerNorm');
    super(memory, caller, (frame) => {
      const weight = frame.make([width]);
      viewOf(weight).fill(1);
      return { weight, ...(bias && { bias: frame.zeros([width]) }) };
    });
    this.#centred = caller === 'layerNorm';
    /** The options, with every default filled in. */
    this.options = Object.freeze({ width, eps, bias });
  }

  /** @param {TensorLike} x (…,width) @returns {Tensor} of the same shape */
  forward(x) {
    const { width, eps } = this.options;
    const { weight, bias } = this.parameters;
    return this.run((frame, memory) => {
      const kept = frame.copy(x, 'x');
      if (kept.shape.at(-1) !== width) throw shapeError('forward', 'x', kept.shape, `(…,${width})`);
      const rows = kept.size / width;
      const statistics = this.#centred ? [frame.make([rows]), frame.make([rows])] : [frame.make([rows])];
      const output = frame.make([...kept.shape]);
      const [rstd, mean] = statistics;
      memory.call('hl_norm_forward', 'forward', output, mean, rstd, kept, weight, bias, rows, width, eps);
      return { output, keep: [kept, ...statistics] };
    });
  }

  /** @param {TensorLike} dOutput @returns {Tensor} the gradient of x */
  backward(dOutput) {
    const { width } = this.options;
    return this.reverse(dOutput, (frame, memory, block, [x, rstd, mean]) => {
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

/** x · Φ(x): no parameters. */
export class Gelu extends Layer {
  #form;

  /** @param {Memory} memory @param {{ approximate?: 'none' | 'tanh' }} options */
  constructor(memory, options) {
    checkOptions('gelu', options, ['approximate']);
    const { approximate = 'none' } = options;
    if (approximate !== 'none' && approximate !== 'tanh')
      throw argumentError('gelu', 'approximate', approximate, "'none' or 'tanh'");
    super(memory, 'gelu', () => ({}));
    this.#form = approximate === 'tanh' ? GELU.TANH : GELU.EXACT;
    /** The options, with every default filled in. */
    this.options = Object.freeze({ approximate });
  }

  /** @param {TensorLike} x @returns {Tensor} of the same shape */
  forward(x) {
    return this.run((frame, memory) => {
      const kept = frame.copy(x, 'x');
      const output = frame.make([...kept.shape]);
      memory.call('hl_gelu_forward', 'forward', output, kept, kept.size, this.#form);
      return { output, keep: [kept] };
    });
  }

  /** @param {TensorLike} dOutput @returns {Tensor} the gradient of x */
  backward(dOutput) {
    return this.reverse(dOutput, (frame, memory, block, [x]) => {
      const dx = frame.make([...x.shape]);
      memory.call('hl_gelu_backward', 'backward', dx, block, x, x.size, this.#form);
      return dx;
    });
  }
}
