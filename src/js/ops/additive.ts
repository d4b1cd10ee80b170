// The layer of additive attention, whose scores are w · tanh(Wq q + Wk k) instead of a dot product.

import { ATTENTION as AT, ATTENTION_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean, readNumber, readOptions } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { DISPOSE } from '../memory/disposable.ts';
import type { Saved } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { checkAlive, own, type Staged, shapeOf, type Tensor, viewOf } from '../memory/tensor.ts';
import {
  type BackwardOptions,
  type ForwardShapes,
  isEmpty,
  makeBiasGradient,
  makeSinksGradient,
  readUpstream,
  setUpstream,
} from './gradients.ts';
import type { LayerGradients } from './multihead.ts';
import { rejectPast } from './past.ts';
import { fillUniform, uniformSource } from './random.ts';
import { AttentionResult } from './result.ts';
import { readParameters, type StateEntry, writeParameters } from './state.ts';
import {
  type BiasChoice,
  readVisibility,
  type ScoresChoice,
  setVisibility,
  VISIBILITY_OPTIONS,
  type VisibilityOptions,
  type WeightsChoice,
} from './visibility.ts';

export type AdditiveOptions = {
  /** width of the queries */
  queryDim: number;
  /** width of the keys */
  keyDim: number;
  /** width of the projected queries and keys */
  hidden: number;
  /** seed of the initial weights, which are Xavier uniform; default 0 */
  seed?: number | undefined;
};
export type AdditiveForwardOptions<
  W extends WeightsChoice = WeightsChoice,
  S extends ScoresChoice = ScoresChoice,
  B extends BiasChoice = BiasChoice,
> = Omit<VisibilityOptions<W, S, undefined, B>, 'scale' | 'pastKey' | 'pastValue' | 'rotary'>;
/**
 * blocks: query and key; rows: B·T and B·S; inputs: shapes of query, key and value, undefined if omitted, and that of
 * the value that was used.
 */
export type Pass = {
  saved: Saved;
  shapes: ForwardShapes;
  blocks: (Tensor | Staged)[];
  rows: [number, number];
  inputs: [readonly number[], readonly number[] | undefined, readonly number[] | undefined, readonly number[]];
};

const CALLER = 'additiveAttention';
const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };
const OPTIONS = VISIBILITY_OPTIONS.filter((name) => !['scale', 'pastKey', 'pastValue', 'rotary'].includes(name));

/** One head. Parameters: { wq (hidden,queryDim), wk (hidden,keyDim), w (hidden) }. Values are not projected. */
export class AdditiveAttention {
  /** The options, with every default filled in. */
  declare options: Readonly<{ queryDim: number; keyDim: number; hidden: number; seed: number }>;
  declare parameters: Readonly<{ wq: Tensor; wk: Tensor; w: Tensor }>;
  /** Gradients of the parameters, under the same names. They accumulate until zeroGrad(). */
  declare gradients: Readonly<{ wq: Tensor; wk: Tensor; w: Tensor }>;

  #memory: Memory;
  #training = false;
  /** State of the last forward pass in training, until backward is called. */
  #pass: Pass | null = null;

  constructor(memory: Memory, options: AdditiveOptions) {
    const given = readOptions(CALLER, options, ['queryDim', 'keyDim', 'hidden', 'seed']);
    const size = (name: 'queryDim' | 'keyDim' | 'hidden') => readNumber(CALLER, name, given[name], SIZE);
    const [queryDim, keyDim, hidden] = [size('queryDim'), size('keyDim'), size('hidden')];
    const seed = readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true });
    this.#memory = memory;
    this.options = Object.freeze({ queryDim, keyDim, hidden, seed });
    const { parameters, gradients } = memory.frame(CALLER, (frame) => {
      const next = uniformSource(seed);
      const weight = (shape: number[], inside: number) => {
        const tensor = frame.make(shape);
        const limit = Math.sqrt(6 / (shape[0] + inside));
        fillUniform(viewOf(tensor), next, -limit, limit);
        return tensor;
      };
      const made = {
        wq: weight([hidden, queryDim], queryDim),
        wk: weight([hidden, keyDim], keyDim),
        w: weight([hidden], 1),
      };
      const zeros = {
        wq: frame.zeros([hidden, queryDim]),
        wk: frame.zeros([hidden, keyDim]),
        w: frame.zeros([hidden]),
      };
      return { parameters: made, gradients: zeros };
    });
    this.parameters = Object.freeze(parameters);
    this.gradients = Object.freeze(gradients);
    Object.freeze(this);
  }

  /**
   * Inputs are (B,T,queryDim), (B,S,keyDim) and (B,S,Dv), or all without B. An omitted key is the query, and an omitted
   * value is the key. Masks, weights and scores have one head.
   */
  forward<W extends WeightsChoice = undefined, S extends ScoresChoice = undefined, B extends BiasChoice = undefined>(
    query: TensorLike,
    key?: TensorLike,
    value?: TensorLike,
    options: AdditiveForwardOptions<W, S, B> = {},
  ): AttentionResult<W, S, undefined, B> {
    const caller = 'forward';
    return this.#memory.frame(caller, (frame) => {
      checkOptions(caller, options, OPTIONS);
      const visibility = readVisibility(frame, caller, options, this.#training);
      const read = [query, key, value].map((input, i) =>
        input === undefined && i > 0 ? undefined : frame.read(input as TensorLike, NAMES[i]),
      );
      const { train } = visibility;
      rejectPast(caller, visibility.past);
      this.#forget();
      checkAlive(this.parameters, caller, 'parameters');
      if (train) frame.train();
      const q = frame.input(read[0] as NonNullable<(typeof read)[0]>, 'query');
      const k = read[1] ? frame.input(read[1], 'key') : q;
      const v = read[2] ? frame.input(read[2], 'value') : k;
      const { batch, queries, keys, width } = this.#sizes(caller, [q.shape, k.shape, v.shape]);
      const { hidden, queryDim, keyDim } = this.options;
      const { wq, wk, w } = this.parameters;
      const hq = frame.scratch(batch * queries * hidden); // (B,T,hidden)
      const hk = frame.scratch(batch * keys * hidden); // (B,S,hidden)
      this.#memory.call('hl_linear_forward', caller, hq, q.block, wq, undefined, batch * queries, hidden, queryDim);
      this.#memory.call('hl_linear_forward', caller, hk, k.block, wk, undefined, batch * keys, hidden, keyDim);
      const sizes = { batch, heads: 1, kvHeads: 1, queries, keys, past: 0, appended: 0 };
      const { weights, scores } = setVisibility(frame, caller, { ...visibility, scale: 1 }, sizes, hidden);
      const output = frame.result(AT.output, 'output', [...q.shape.slice(0, -1), width]); // (B,T,Dv)
      const { ints } = frame;
      ints.set([queries * width, 0, width], AT.outputStride);
      ints.set([queries * hidden, 0, hidden], AT.queryStride);
      ints.set([keys * hidden, 0, hidden], AT.keyStride);
      ints.set([keys * width, 0, width], AT.valueStride);
      ints[AT.valueWidth] = width;
      frame.setPointer(AT.query, hq);
      frame.setPointer(AT.key, hk);
      frame.setPointer(AT.value, v.block);
      frame.setPointer(AT.additive, w);
      if (train) frame.setPointer(AT.statistics, frame.saveForBackward(2 * batch * queries));
      frame.run('hl_attention');
      if (train) {
        frame.setPointer(AT.output, frame.copyIn(viewOf(output)));
        const saved = frame.saved();
        own(wq, 'saved', saved);
        this.#pass = {
          saved,
          blocks: [q.block, k.block],
          rows: [batch * queries, batch * keys],
          inputs: [q.shape, read[1] && k.shape, read[2] && v.shape, v.shape],
          shapes: {
            dOutput: shapeOf(output),
            dWeights: weights && shapeOf(weights),
            bias: frame.biasShape,
            sinks: visibility.sinks?.shape,
          },
        };
      }
      return new AttentionResult({ output, weights, scores }) as any;
    });
  }

  #sizes(caller: string, shapes: (readonly number[])[]) {
    const { queryDim, keyDim } = this.options;
    const [q, k, v] = shapes;
    const rank = q.length;
    if ((rank !== 2 && rank !== 3) || q[rank - 1] !== queryDim)
      throw shapeError(caller, 'query', q, `(B,T,${queryDim}) or (T,${queryDim})`);
    const [batch, keys] = [rank === 3 ? q[0] : 1, k[rank - 2] ?? 0];
    const rows = rank === 3 ? [batch, keys] : [keys];
    if (!sameShape(k, [...rows, keyDim])) throw shapeError(caller, 'key', k, formatShape([...rows, keyDim]));
    const width = v[rank - 1] ?? 0;
    if (!sameShape(v, [...rows, width])) throw shapeError(caller, 'value', v, `${formatShape(rows).slice(0, -1)},Dv]`);
    return { batch, queries: q[rank - 2], keys, width };
  }

  /** Frees the state of the last forward pass. */
  #forget() {
    this.#pass?.saved.dispose();
    this.#pass = null;
  }

  /**
   * Computes gradients of the inputs of the last forward with train: true from those of its output (B,T,Dv) and of its
   * returned weights. The parameters must be unchanged. If an input was also used for an omitted one, its gradient is
   * the sum.
   */
  backward(dOutput: TensorLike, options: BackwardOptions = {}): LayerGradients {
    const caller = 'backward';
    return this.#memory.frame(caller, (frame) => {
      const upstream = readUpstream(frame, dOutput, options);
      const pass = this.#pass;
      if (!pass || pass.saved.disposed)
        throw new HeadlightError('STATE', `${caller}: there is no forward with train: true before it`);
      checkAlive(this.parameters, caller, 'parameters');
      checkAlive(this.gradients, caller, 'gradients');
      frame.restore(pass.saved);
      const at = { output: ATTENTION_BACKWARD.dOutput, weights: ATTENTION_BACKWARD.dWeights };
      setUpstream(frame, at, upstream, pass.shapes);
      const { queryDim, keyDim, hidden } = this.options;
      const [queryShape, keyShape, valueShape, usedValueShape] = pass.inputs;
      const [dhq, dhk] = pass.rows.map((rows) => frame.scratch(rows * hidden)); // (B,T,hidden), (B,S,hidden)
      const make = (shape: readonly number[]) => (isEmpty(upstream) ? frame.zeros([...shape]) : frame.make([...shape]));
      const dQuery = make(queryShape); // (B,T,queryDim)
      const dKey = make(keyShape ?? queryShape); // (B,S,keyDim)
      const dValue = make(usedValueShape); // (B,S,Dv)
      frame.setPointer(ATTENTION_BACKWARD.dQuery, dhq);
      frame.setPointer(ATTENTION_BACKWARD.dKey, dhk);
      frame.setPointer(ATTENTION_BACKWARD.dValue, dValue);
      frame.setPointer(ATTENTION_BACKWARD.dAdditive, this.gradients.w);
      const dBias = makeBiasGradient(frame, ATTENTION_BACKWARD.dBias, pass.shapes.bias, upstream);
      const dSinks = makeSinksGradient(frame, ATTENTION_BACKWARD.dSinks, pass.shapes);
      if (!isEmpty(upstream)) {
        frame.run('hl_attention_backward');
        this.#projectBackward(dQuery, dhq, 'wq', pass.blocks[0], pass.rows[0], queryDim);
        this.#projectBackward(dKey, dhk, 'wk', pass.blocks[1], pass.rows[1], keyDim);
      }
      if (!valueShape) this.#addInto(keyShape ? dKey : dQuery, dValue);
      if (!keyShape) this.#addInto(dQuery, dKey);
      const result = {
        dQuery,
        ...(keyShape && { dKey }),
        ...(valueShape && { dValue }),
        ...(dBias && { dBias: dBias() }),
        ...(dSinks && { dSinks }),
      };
      this.#forget();
      return result;
    });
  }

  /** Computes dx = dy · W and adds to the gradient of W. dx: (rows,width); dy: (rows,hidden); x: (rows,width). */
  #projectBackward(
    dx: Tensor,
    dy: Tensor | Staged,
    name: 'wq' | 'wk',
    x: Tensor | Staged,
    rows: number,
    width: number,
  ) {
    const { hidden } = this.options;
    const [weight, gradient] = [this.parameters[name], this.gradients[name]];
    this.#memory.call('hl_linear_backward', 'backward', dx, gradient, undefined, dy, x, weight, rows, hidden, width);
  }

  /** Adds part to sum and frees part. part: of the same shape. */
  #addInto(sum: Tensor, part: Tensor) {
    this.#memory.call('hl_add', 'backward', sum, sum, part, sum.size);
    part.dispose();
  }

  zeroGrad() {
    checkAlive(this.gradients, 'zeroGrad', 'gradients');
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
    return this;
  }

  /** Sets the default of the option `train` of forward; it is initially false. */
  train(on = true) {
    this.#training = readBoolean('train', 'on', on);
    return this;
  }

  eval() {
    return this.train(false);
  }

  /** Returns copies of the parameters. */
  stateDict(): Record<string, StateEntry> {
    return writeParameters(this.parameters);
  }

  /**
   * Validates all names and shapes first. dict: by the names of the parameters, or W_q.weight, W_k.weight and
   * w_v.weight.
   */
  loadStateDict(dict: Record<string, TensorLike>) {
    readParameters(this.parameters, dict);
    return this;
  }

  dispose() {
    this.#forget();
    for (const tensor of [...Object.values(this.parameters), ...Object.values(this.gradients)]) tensor.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

const NAMES = ['query', 'key', 'value'];
