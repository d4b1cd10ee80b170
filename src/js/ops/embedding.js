// The embedding layer, which returns rows of a table by id, plus learned positions.

import { readNumber, readOptions } from '../check/arguments.js';
import { shapeError } from '../check/errors.js';
import { viewOf } from '../memory/tensor.js';
import { readNumbers, toLabels } from './labels.js';
import { Layer } from './layer.js';
import { fillNormal, uniformSource } from './random.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { LayerOptions } from './layer.js' */

/**
 * @typedef {object} EmbeddingOptions
 * @property {number} count number of rows of the table; ids are 0 to count − 1
 * @property {number} width width of a row
 * @property {number} [context] maximum length of a sequence; adds a learned row for each position
 * @property {number} [std] standard deviation of the initial rows, which are normally distributed; default 0.02
 * @property {number} [seed] seed of the initial rows; default 0
 */

/** @typedef {LayerOptions & { offset?: number }} EmbeddingForwardOptions offset: position of the first id; default 0 */

const POSITION = { integer: true, least: 0, most: 2 ** 31 - 1 };
const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer with the parameters { table (count,width), position? (context,width) }. */
export class Embedding extends Layer {
  /** Ids and sizes of the last forward pass. */
  /** @type {{ ints: Int32Array, sizes: readonly [number, number, number, number, number] }} */
  #labels = { ints: new Int32Array(0), sizes: [0, 0, 0, 0, 0] };

  /** @param {Memory} memory @param {EmbeddingOptions} options */
  constructor(memory, options) {
    const caller = 'embedding';
    const given = readOptions(caller, options, ['count', 'width', 'context', 'std', 'seed']);
    const count = readNumber(caller, 'count', given.count, SIZE);
    const width = readNumber(caller, 'width', given.width, SIZE);
    const context = given.context === undefined ? undefined : readNumber(caller, 'context', given.context, SIZE);
    const std = readNumber(caller, 'std', given.std ?? 0.02, { least: 0 });
    const seed = readNumber(caller, 'seed', given.seed ?? 0, { integer: true });
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
    Object.freeze(this);
  }

  /**
   * @param {TensorLike} ids (T) or (B,T)
   * @param {EmbeddingForwardOptions} [options]
   * @returns {Tensor} (T,width) or (B,T,width)
   */
  forward(ids, options = {}) {
    const given = readOptions('forward', options, ['offset', 'train']);
    const { count, width, context } = this.options;
    const offset = readNumber('forward', 'offset', given.offset ?? 0, POSITION);
    const { ints, shape } = toLabels(readNumbers(ids, 'forward', 'ids'), 'forward', count, undefined, 'ids');
    if (shape.length !== 1 && shape.length !== 2) throw shapeError('forward', 'ids', shape, '(T) or (B,T)');
    const [rows, batch] = [shape[shape.length - 1], shape.length === 2 ? shape[0] : 1];
    if (context !== undefined && offset + rows > context)
      throw shapeError(
        'forward',
        'ids',
        shape,
        `rows of at most ${context - offset} ids, because the context is ${context}`,
      );
    const sizes = /** @type {const} */ ([batch, rows, width, count, offset]);
    const { table, position } = this.parameters;
    const output = this.runForward({}, { train: given.train }, (frame, memory) => {
      const output = frame.make([...shape, width]);
      memory.call('hl_embedding_forward', 'forward', output, table, position, frame.copyIn(ints), ...sizes);
      return { output, saved: [] };
    });
    this.#labels = { ints, sizes };
    return output;
  }

  /**
   * Accumulates the gradients of the parameters. Ids have no gradient.
   * @param {TensorLike} dOutput (T,width) or (B,T,width)
   */
  backward(dOutput) {
    const { table, position } = this.gradients;
    this.runBackward(dOutput, (frame, memory, block) => {
      const { ints, sizes } = this.#labels;
      memory.call('hl_embedding_backward', 'backward', table, position, block, frame.copyIn(ints), ...sizes);
    });
  }
}
