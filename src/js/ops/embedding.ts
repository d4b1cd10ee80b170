// The embedding layer, which returns rows of a table by id, plus learned positions.

import { readNumber, readOptions } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Memory } from '../memory/memory.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import { readNumbers, toLabels } from './labels.ts';
import { Layer, type LayerOptions } from './layer.ts';
import { fillNormal, uniformSource } from './random.ts';

export type EmbeddingOptions = {
  /** number of rows of the table; ids are 0 to count − 1 */
  count: number;
  /** width of a row */
  width: number;
  /** maximum length of a sequence; adds a learned row for each position */
  context?: number | undefined;
  /** standard deviation of the initial rows, which are normally distributed; default 0.02 */
  std?: number | undefined;
  /** seed of the initial rows; default 0 */
  seed?: number | undefined;
};

/** offset: position of the first id; default 0 */
export type EmbeddingForwardOptions = LayerOptions & { offset?: number };

const POSITION = { integer: true, least: 0, most: 2 ** 31 - 1 };
const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };

/** A layer with the parameters { table (count,width), position? (context,width) }. */
export class Embedding extends Layer {
  /** The options, with every default filled in. */
  declare options: Readonly<{ count: number; width: number; context: number | undefined; std: number; seed: number }>;

  /** Ids and sizes of the last forward pass. */
  #labels: { ints: Int32Array; sizes: readonly [number, number, number, number, number] } = {
    ints: new Int32Array(0),
    sizes: [0, 0, 0, 0, 0],
  };

  constructor(memory: Memory, options: EmbeddingOptions) {
    const caller = 'embedding';
    const given = readOptions(caller, options, ['count', 'width', 'context', 'std', 'seed']);
    const count = readNumber(caller, 'count', given.count, SIZE);
    const width = readNumber(caller, 'width', given.width, SIZE);
    const context = given.context === undefined ? undefined : readNumber(caller, 'context', given.context, SIZE);
    const std = readNumber(caller, 'std', given.std ?? 0.02, { least: 0 });
    const seed = readNumber(caller, 'seed', given.seed ?? 0, { integer: true });
    super(memory, caller, (frame) => {
      const next = uniformSource(seed);
      const normal = (rows: number) => {
        const tensor = frame.make([rows, width]);
        fillNormal(viewOf(tensor), next, 0, std);
        return tensor;
      };
      return { table: normal(count), ...(context !== undefined && { position: normal(context) }) };
    });
    this.options = Object.freeze({ count, width, context, std, seed });
    Object.freeze(this);
  }

  /** ids: (T) or (B,T); returns (T,width) or (B,T,width) */
  forward(ids: TensorLike, options: EmbeddingForwardOptions = {}): Tensor {
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
    const sizes = [batch, rows, width, count, offset] as const;
    const { table, position } = this.parameters;
    const output = this.runForward({}, { train: given.train }, (frame, memory) => {
      const output = frame.make([...shape, width]);
      memory.call('hl_embedding_forward', 'forward', output, table, position, frame.copyIn(ints), ...sizes);
      return { output, saved: [] };
    });
    this.#labels = { ints, sizes };
    return output;
  }

  /** Accumulates gradients of the parameters for (T,width) or (B,T,width). Ids have no gradient. */
  backward(dOutput: TensorLike) {
    const { table, position } = this.gradients;
    this.runBackward(dOutput, (frame, memory, block) => {
      const { ints, sizes } = this.#labels;
      memory.call('hl_embedding_backward', 'backward', table, position, block, frame.copyIn(ints), ...sizes);
    });
  }
}
