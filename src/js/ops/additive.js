// The layer of additive attention, whose scores are w · tanh(Wq q + Wk k) instead of a dot product.

import { ATTENTION as AT, ATTENTION_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean, readNumber, readOptions } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { checkAlive, own, shapeOf, viewOf } from '../memory/tensor.js';
import { isEmpty, makeBiasGradient, makeSinksGradient, readUpstream, setUpstream } from './gradients.js';
import { rejectPast } from './past.js';
import { fillUniform, uniformSource } from './random.js';
import { AttentionResult } from './result.js';
import { readParameters, writeParameters } from './state.js';
import { readVisibility, setVisibility, VISIBILITY_OPTIONS } from './visibility.js';

/** @import { Frame, Saved } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { BackwardOptions, ForwardShapes } from './gradients.js' */
/** @import { LayerGradients } from './multihead.js' */
/** @import { StateEntry } from './state.js' */
/** @import { BiasChoice, ScoresChoice, VisibilityOptions, WeightsChoice } from './visibility.js' */

/**
 * @typedef {object} AdditiveOptions
 * @property {number} queryDim width of the queries
 * @property {number} keyDim width of the keys
 * @property {number} hidden width of the projected queries and keys
 * @property {number} [seed] seed of the initial weights, which are Xavier uniform; default 0
 */
/**
 * @template {WeightsChoice} [W=WeightsChoice]
 * @template {ScoresChoice} [S=ScoresChoice]
 * @template {BiasChoice} [B=BiasChoice]
 * @typedef {Omit<VisibilityOptions<W, S, undefined, B>, 'scale' | 'pastKey' | 'pastValue' | 'rotary'>}
 *   AdditiveForwardOptions
 */
/**
 * State of a forward pass that the backward pass needs. blocks: query and key; rows: B·T and B·S; inputs: shapes of
 * query, key and value, undefined if that input was omitted, and the shape of the value that was used.
 * @typedef {{ saved: Saved, shapes: ForwardShapes, blocks: (Tensor | Staged)[], rows: [number, number],
 *   inputs: [readonly number[], readonly number[] | undefined, readonly number[] | undefined, readonly number[]] }}
 *   Pass
 */

const CALLER = 'additiveAttention';
const SIZE = { integer: true, least: 1, most: 2 ** 31 - 1 };
const OPTIONS = VISIBILITY_OPTIONS.filter((name) => !['scale', 'pastKey', 'pastValue', 'rotary'].includes(name));

/**
 * A layer with one head. The parameters are { wq (hidden,queryDim), wk (hidden,keyDim), w (hidden) }. Values are not
 * projected.
 */
export class AdditiveAttention {
  #memory;
  #training = false;
  /** State of the last forward pass in training, until backward is called. @type {Pass | null} */
  #pass = null;

  /** @param {Memory} memory @param {AdditiveOptions} options */
  constructor(memory, options) {
    const given = readOptions(CALLER, options, ['queryDim', 'keyDim', 'hidden', 'seed']);
    const size = (/** @type {'queryDim' | 'keyDim' | 'hidden'} */ name) => readNumber(CALLER, name, given[name], SIZE);
    const [queryDim, keyDim, hidden] = [size('queryDim'), size('keyDim'), size('hidden')];
    const seed = readNumber(CALLER, 'seed', given.seed ?? 0, { integer: true });
    this.#memory = memory;
    /** The options, with every default filled in. */
    this.options = Object.freeze({ queryDim, keyDim, hidden, seed });
    const { parameters, gradients } = memory.frame(CALLER, (frame) => {
      const next = uniformSource(seed);
      /** @param {number[]} shape @param {number} inside */
      const weight = (shape, inside) => {
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
    /** Gradients of the parameters, under the same names. They accumulate until zeroGrad(). */
    this.gradients = Object.freeze(gradients);
    Object.freeze(this);
  }

  /**
   * Computes attention. Inputs are (B,T,queryDim), (B,S,keyDim) and (B,S,Dv), or all without B. An omitted key is the
   * query, and an omitted value is the key. Masks, weights and scores have one head.
   * @template {WeightsChoice} [W=undefined]
   * @template {ScoresChoice} [S=undefined]
   * @template {BiasChoice} [B=undefined]
   * @param {TensorLike} query (B,T,queryDim)
   * @param {TensorLike} [key] (B,S,keyDim)
   * @param {TensorLike} [value] (B,S,Dv)
   * @param {AdditiveForwardOptions<W, S, B>} [options]
   * @returns {AttentionResult<W, S, undefined, B>}
   */
  forward(query, key, value, options = {}) {
    const caller = 'forward';
    return this.#memory.frame(caller, (frame) => {
      checkOptions(caller, options, OPTIONS);
      const visibility = readVisibility(frame, caller, options, this.#training);
      const read = [query, key, value].map((input, i) =>
        input === undefined && i > 0 ? undefined : frame.read(/** @type {TensorLike} */ (input), NAMES[i]),
      );
      const { train } = visibility;
      rejectPast(caller, visibility.past);
      this.#forget();
      checkAlive(this.parameters, caller, 'parameters');
      if (train) frame.train();
      const q = frame.input(/** @type {NonNullable<typeof read[0]>} */ (read[0]), 'query');
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
      return /** @type {any} */ (new AttentionResult({ output, weights, scores }));
    });
  }

  /** @param {string} caller @param {(readonly number[])[]} shapes */
  #sizes(caller, shapes) {
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
   * Computes the gradients of the inputs of the last forward pass with train: true from the gradients of its output and
   * of its returned weights. The parameters must not have changed since that pass. If an input was also used for an
   * omitted input, its gradient is the sum of both.
   * @param {TensorLike} dOutput (B,T,Dv)
   * @param {BackwardOptions} [options]
   * @returns {LayerGradients}
   */
  backward(dOutput, options = {}) {
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
      const make = (/** @type {readonly number[]} */ shape) =>
        isEmpty(upstream) ? frame.zeros([...shape]) : frame.make([...shape]);
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

  /**
   * Computes dx = dy · W and adds to the gradient of W.
   * @param {Tensor} dx (rows,width)
   * @param {Tensor | Staged} dy (rows,hidden)
   * @param {'wq' | 'wk'} name
   * @param {Tensor | Staged} x (rows,width)
   * @param {number} rows
   * @param {number} width
   */
  #projectBackward(dx, dy, name, x, rows, width) {
    const { hidden } = this.options;
    const [weight, gradient] = [this.parameters[name], this.gradients[name]];
    this.#memory.call('hl_linear_backward', 'backward', dx, gradient, undefined, dy, x, weight, rows, hidden, width);
  }

  /** Adds part to sum and frees part. @param {Tensor} sum @param {Tensor} part of the same shape */
  #addInto(sum, part) {
    this.#memory.call('hl_add', 'backward', sum, sum, part, sum.size);
    part.dispose();
  }

  zeroGrad() {
    checkAlive(this.gradients, 'zeroGrad', 'gradients');
    for (const gradient of Object.values(this.gradients)) viewOf(gradient).fill(0);
    return this;
  }

  /** Sets the default of the option `train` of forward; it is initially false. @param {boolean} [on] */
  train(on = true) {
    this.#training = readBoolean('train', 'on', on);
    return this;
  }

  eval() {
    return this.train(false);
  }

  /** Returns copies of the parameters. @returns {Record<string, StateEntry>} */
  stateDict() {
    return writeParameters(this.parameters);
  }

  /**
   * Sets the parameters. Validates all names and shapes before any parameter changes.
   * @param {Record<string, TensorLike>} dict arrays by the names of the parameters, or W_q.weight, W_k.weight and
   *   w_v.weight
   */
  loadStateDict(dict) {
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
