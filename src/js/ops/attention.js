// attention(): from options to the arguments of the core. What a query may see is read here once, for the
// layer too.

import { checkOptions, readBoolean, readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { broadcastStrides, formatShape, sameShape } from '../check/shape.js';
import { readTensorLike } from '../check/tensorlike.js';
import { ATTENTION as AT, ATTENTION_BACKWARD, SCORES, WEIGHTS } from '../../../dist/abi/abi.js';
import { own, viewOf } from '../memory/tensor.js';

/** @import { Frame, Kept } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { NumberArray, TensorLike } from '../check/tensorlike.js' */

/**
 * @typedef {object} VisibilityOptions
 * @property {number} [scale] default 1/√D
 * @property {number} [softcap] scores become softcap · tanh(score / softcap), after scaling
 * @property {TensorLike} [mask] true or 1 = may attend, false or 0 = hidden; broadcast from the right against (B,H,T,S)
 * @property {TensorLike} [bias] added to the scores; broadcast like mask
 * @property {TensorLike} [keyPadding] (B,S): 1 = a real key, 0 = padding
 * @property {TensorLike} [validLens] (B) or (B,T): keys 0..len−1 may be attended
 * @property {boolean} [causal] query i sees keys 0..i+offset
 * @property {readonly [number, number]} [window] keys at most so far to the left and right of the query; −1 = no bound
 * @property {number} [maskFill] default −Infinity; a finite number replaces the score of a hidden key
 * @property {number | readonly number[]} [offset] position of query 0 among the keys, for all or per batch entry;
 *   default the length of the past
 * @property {{ p: number, seed?: number } | { p: number, keep: TensorLike }} [dropout] of the weights; keep is an
 *   explicit 0/1 tensor (B,H,T,S)
 * @property {boolean | 'mean'} [weights] true: return the weights (B,H,T,S); 'mean': their mean over heads (B,T,S)
 * @property {'raw' | 'scaled' | 'capped' | 'masked'} [scores] return the scores at that step, (B,H,T,S)
 * @property {TensorLike} [pastKey] (B,G,P,D), stands before the keys; the result has presentKey then
 * @property {TensorLike} [pastValue] (B,G,P,Dv)
 * @property {Out} [out] tensors that take the results instead of new ones; none of them may be an input
 */
/** @typedef {Tensor | { output?: Tensor, weights?: Tensor, scores?: Tensor }} Out a tensor alone is the output's */
/**
 * @typedef {VisibilityOptions & { heads?: number, kvHeads?: number, train?: boolean }} AttentionOptions heads and kvHeads: of
 *   packed 3-D inputs; train: keep what the result's backward needs
 */
/** @typedef {{ dQuery: Tensor, dKey: Tensor, dValue: Tensor, dBias?: Tensor }} AttentionGradients each as the tensor it is of */
/**
 * @typedef {object} BackwardOptions
 * @property {TensorLike} [dWeights] the gradient of the weights that forward returned
 * @property {boolean} [dBias] false: where there is a bias, not its gradient; default true. It takes time, and where
 *   the bias repeats over heads or batch, threads cannot share its work
 */

/** @typedef {{ batch: number, heads: number, kvHeads: number, queries: number, keys: number, past: number, appended: number }} Sizes keys counts the past, not what is appended */

const VISIBILITY = [
  'scale',
  'softcap',
  'mask',
  'bias',
  'keyPadding',
  'validLens',
  'causal',
  'window',
  'maskFill',
  'offset',
  'dropout',
  'weights',
  'scores',
  'pastKey',
  'pastValue',
  'out',
];
export const FORWARD_OPTIONS = [...VISIBILITY, 'train'];
const ATTENTION_OPTIONS = [...VISIBILITY, 'heads', 'kvHeads', 'train'];
const NO_WINDOW = /** @type {const} */ ([-1, -1]);
const NOT_NEGATIVE = { least: 0 };
const WINDOW = { integer: true, least: -1, most: 2 ** 31 - 1 };
const SCORE_STEPS = new Map([
  ['raw', SCORES.RAW],
  ['scaled', SCORES.SCALED],
  ['capped', SCORES.CAPPED],
  ['masked', SCORES.MASKED],
]);

/** What attention gives. dispose() frees all of it. */
export class AttentionResult {
  #backward;

  /**
   * @param {{ output: Tensor, weights?: Tensor, scores?: Tensor, presentKey?: Tensor, presentValue?: Tensor }} tensors
   * @param {(dOutput: TensorLike, options: BackwardOptions) => AttentionGradients} [backward]
   */
  constructor({ output, weights, scores, presentKey, presentValue }, backward) {
    this.#backward = backward;
    /** @type {Tensor} in the query's form */
    this.output = output;
    /** @type {Tensor | undefined} (B,H,T,S), or (B,T,S) where the mean was asked for */
    this.weights = weights;
    /** @type {Tensor | undefined} (B,H,T,S) at the step asked for */
    this.scores = scores;
    /** @type {Tensor | undefined} (B,G,P+S,D): to be the next call's pastKey */
    this.presentKey = presentKey;
    /** @type {Tensor | undefined} (B,G,P+S,Dv) */
    this.presentValue = presentValue;
  }

  /**
   * From the gradient of the output, and of the returned weights, to those of query, key, value and bias. Once for a
   * result of attention() with train: true; what that has kept, copies of its inputs and its output, is freed with it.
   * @param {TensorLike} dOutput
   * @param {BackwardOptions} [options]
   * @returns {AttentionGradients}
   */
  backward(dOutput, options = {}) {
    if (!this.#backward)
      throw new HeadlightError(
        'STATE',
        'backward: this result was not made by attention() with train: true; a layer has a backward of its own',
      );
    return this.#backward(dOutput, options);
  }

  dispose() {
    this.output.dispose();
    this.weights?.dispose();
    this.scores?.dispose();
    this.presentKey?.dispose();
    this.presentValue?.dispose();
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/**
 * Booleans as bytes. Negative or infinite numbers are the sign of an additive mask, which is `bias` here.
 * @param {string} caller
 * @param {string} parameter
 * @param {ArrayLike<unknown>} data
 */
function toBytes(caller, parameter, data) {
  const bytes = new Uint8Array(data.length);
  for (let i = 0; i < bytes.length; i++) {
    const x = Number(data[i]);
    if (!(x >= 0 && x < Infinity)) {
      const hint = parameter === 'mask' ? '; an additive mask goes in bias' : '';
      throw argumentError(caller, `${parameter}, at element ${i},`, data[i], `true, false, 1 or 0${hint}`);
    }
    bytes[i] = x === 0 ? 0 : 1;
  }
  return bytes;
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {ArrayLike<unknown>} data
 * @param {number} least
 */
function toIntegers(caller, parameter, data, least) {
  return Int32Array.from({ length: data.length }, (_, i) =>
    readNumber(caller, `${parameter}[${i}]`, Number(data[i]), { integer: true, least, most: 2 ** 31 - 1 }),
  );
}

/**
 * Rows of `width` become rows of `keys`; the new places are 0.
 * @template {Uint8Array | Float32Array} T
 * @param {T} data
 * @param {number} width
 * @param {number} keys
 * @returns {T}
 */
function widen(data, width, keys) {
  const rows = data.length / width;
  const wide = new /** @type {new (n: number) => T} */ (data.constructor)(rows * keys);
  for (let r = 0; r < rows; r++) wide.set(data.subarray(r * width, (r + 1) * width), r * keys);
  return wide;
}

/**
 * A mask or bias against (B,H,T,S). Its last axis may end early where validLens hides the rest anyway.
 * @param {Frame} frame
 * @param {string} caller
 * @param {'mask' | 'bias'} parameter
 * @param {TensorLike} value
 * @param {Sizes} sizes
 * @param {Int32Array | undefined} lens
 */
function readScoreOperand(frame, caller, parameter, value, { batch, heads, queries, keys }, lens) {
  const bytes = parameter === 'mask';
  const source = readTensorLike(value, caller, parameter);
  const width = source.shape.at(-1) ?? 1;
  const short = width > 1 && width < keys && lens?.every((length) => length <= width);
  const shape = short ? [...source.shape.slice(0, -1), keys] : source.shape;
  const stride = broadcastStrides(shape, [batch, heads, queries, keys]);
  if (!stride)
    throw shapeError(
      caller,
      parameter,
      source.shape,
      `a shape that broadcasts to (B,H,T,S) = ${formatShape([batch, heads, queries, keys])}`,
    );
  frame.ints.set(stride, bytes ? AT.maskStride : AT.biasStride);
  if (!bytes) frame.biasShape = { given: source.shape, wide: shape };
  if (!bytes && !short) return frame.point(AT.bias, frame.take(value, parameter).block);
  const data = bytes ? toBytes(caller, parameter, source.data) : source.floats();
  frame.point(bytes ? AT.mask : AT.bias, frame.stage(short ? widen(data, width, keys) : data));
}

/**
 * @param {Frame} frame
 * @param {string} caller
 * @param {TensorLike} value
 * @param {Sizes} sizes
 */
function readValidLens(frame, caller, value, { batch, queries }) {
  const source = readTensorLike(value, caller, 'validLens');
  const perQuery = source.shape.length === 2;
  const [b = -1, t = queries] = source.shape;
  if (source.shape.length > 2 || b !== batch || t !== queries) {
    throw shapeError(caller, 'validLens', source.shape, `(B) = [${batch}] or (B,T) = [${batch},${queries}]`);
  }
  const lens = toIntegers(caller, 'validLens', source.data, 0);
  frame.point(AT.validLens, frame.stage(lens));
  frame.ints.set(perQuery ? [queries, 1] : [1, 0], AT.validLensStride);
  return lens;
}

/**
 * @param {Frame} frame
 * @param {string} caller
 * @param {NonNullable<VisibilityOptions['dropout']>} dropout
 * @param {Sizes} sizes
 */
function readDropout(frame, caller, dropout, { batch, heads, queries, keys, appended }) {
  checkOptions(caller, dropout, ['p', 'seed', 'keep']);
  const { p, seed = 0, keep } = /** @type {{ p: number, seed?: number, keep?: TensorLike }} */ (dropout);
  const chance = readNumber(caller, 'dropout.p', p, { least: 0, most: 1 });
  readNumber(caller, 'dropout.seed', seed, { integer: true });
  frame.floats[AT.dropout] = chance;
  frame.ints[AT.seed] = seed | 0;
  frame.ints[AT.seed + 1] = Math.floor(seed / 2 ** 32) | 0;
  if (keep === undefined) return;
  const source = readTensorLike(keep, caller, 'dropout.keep');
  const expected = [batch, heads, queries, keys + appended];
  if (source.shape.join() !== expected.join())
    throw shapeError(caller, 'dropout.keep', source.shape, `(B,H,T,S) = ${formatShape(expected)}`);
  frame.point(AT.keep, frame.stage(toBytes(caller, 'dropout.keep', source.data)));
}

/**
 * Everything that decides what a query sees and what is returned of it, as arguments of the core.
 * @param {Frame} frame
 * @param {string} caller
 * @param {VisibilityOptions} options
 * @param {Sizes} sizes
 * @param {number} width D
 * @returns {{ weights?: Tensor, scores?: Tensor }} where they are asked for
 */
export function readVisibility(frame, caller, options, sizes, width) {
  const { batch, heads, queries, keys, past, appended } = sizes;
  const {
    scale = 1 / Math.sqrt(width || 1),
    softcap = 0,
    mask,
    bias,
    keyPadding,
    validLens,
    causal = false,
    window = NO_WINDOW,
  } = options;
  const { maskFill = -Infinity, offset = past, dropout, weights = false, scores } = options;
  const { ints, floats } = frame;

  if (maskFill !== -Infinity) readNumber(caller, 'maskFill', maskFill);
  if (!Array.isArray(window) || window.length !== 2) throw argumentError(caller, 'window', window, '[left, right]');
  if (weights !== 'mean' && typeof weights !== 'boolean')
    throw argumentError(caller, 'weights', weights, "true, false or 'mean'");
  const step = scores === undefined ? SCORES.NONE : SCORE_STEPS.get(scores);
  if (step === undefined) throw argumentError(caller, 'scores', scores, "'raw', 'scaled', 'capped' or 'masked'");

  ints[AT.batch] = batch;
  ints[AT.heads] = heads;
  ints[AT.kvHeads] = sizes.kvHeads;
  ints[AT.queries] = queries;
  ints[AT.keys] = keys;
  ints[AT.width] = width;
  floats[AT.scale] = readNumber(caller, 'scale', scale);
  floats[AT.softcap] = readNumber(caller, 'softcap', softcap, NOT_NEGATIVE);
  floats[AT.fill] = maskFill;
  ints[AT.causal] = readBoolean(caller, 'causal', causal) ? 1 : 0;
  ints[AT.windowLeft] = readNumber(caller, 'window[0]', window[0], WINDOW);
  ints[AT.windowRight] = readNumber(caller, 'window[1]', window[1], WINDOW);
  ints[AT.weightsMode] = weights === 'mean' ? WEIGHTS.MEAN : weights ? WEIGHTS.HEADS : WEIGHTS.NONE;
  ints[AT.scoresStep] = step;

  const lens = validLens === undefined ? undefined : readValidLens(frame, caller, validLens, sizes);
  if (mask !== undefined) readScoreOperand(frame, caller, 'mask', mask, sizes, lens);
  if (bias !== undefined) readScoreOperand(frame, caller, 'bias', bias, sizes, lens);
  if (keyPadding !== undefined) {
    const source = readTensorLike(keyPadding, caller, 'keyPadding');
    const stride = broadcastStrides(source.shape, [batch, keys]);
    if (!stride) throw shapeError(caller, 'keyPadding', source.shape, `(B,S) = [${batch},${keys}]`);
    frame.point(AT.keyPadding, frame.stage(toBytes(caller, 'keyPadding', source.data)));
    ints.set(stride, AT.keyPaddingStride);
  }
  if (offset !== 0) {
    const offsets = typeof offset === 'number' ? Array(batch).fill(offset) : Array.from(offset);
    if (offsets.length !== batch) throw shapeError(caller, 'offset', [offsets.length], `a number or (B) = [${batch}]`);
    frame.point(AT.offset, frame.stage(toIntegers(caller, 'offset', offsets, -(2 ** 31))));
  }
  if (dropout !== undefined) readDropout(frame, caller, dropout, sizes);
  /** @type {{ weights?: Tensor, scores?: Tensor }} */
  const results = {};
  if (weights === true) results.weights = frame.result(AT.weights, 'weights', [batch, heads, queries, keys + appended]);
  if (weights === 'mean') results.weights = frame.result(AT.weights, 'weights', [batch, queries, keys + appended]);
  if (step !== SCORES.NONE)
    results.scores = frame.result(AT.scores, 'scores', [batch, heads, queries, keys + appended]);
  return results;
}

/**
 * The past before the keys of a call: both parts or neither.
 * @param {Frame} frame
 * @param {string} caller
 * @param {VisibilityOptions} options
 * @param {{ batch: number, kvHeads: number, width: number, valueWidth: number }} sizes
 */
export function readPast(frame, caller, { pastKey, pastValue }, { batch, kvHeads, width, valueWidth }) {
  if (pastKey === undefined && pastValue === undefined) return null;
  if (pastKey === undefined) throw argumentError(caller, 'pastKey', pastKey, 'a tensor (B,G,P,D) to go with pastValue');
  if (pastValue === undefined)
    throw argumentError(caller, 'pastValue', pastValue, 'a tensor (B,G,P,Dv) to go with pastKey');
  const key = frame.take(pastKey, 'pastKey');
  const value = frame.take(pastValue, 'pastValue');
  const length = key.shape.length === 4 ? key.shape[2] : 0;
  const expected = { pastKey: [batch, kvHeads, length, width], pastValue: [batch, kvHeads, length, valueWidth] };
  if (key.shape.join() !== expected.pastKey.join()) {
    throw shapeError(caller, 'pastKey', key.shape, `(B,G,P,D) = [${batch},${kvHeads},P,${width}]`);
  }
  if (value.shape.join() !== expected.pastValue.join()) {
    throw shapeError(caller, 'pastValue', value.shape, `(B,G,P,Dv) = ${formatShape(expected.pastValue)}`);
  }
  return { key: key.block, value: value.block, length };
}

/**
 * How one of query, key, value divides into heads: (B,heads,N,width), or packed (B,N,heads·width).
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly number[]} shape
 * @param {{ name: string, heads: number | undefined, packed: boolean }} form
 */
function splitHeads(caller, parameter, shape, { name, heads, packed }) {
  if (shape.length !== (packed ? 3 : 4)) {
    throw shapeError(
      caller,
      parameter,
      shape,
      packed ? 'rank 3 like the query: (B,S,C)' : 'rank 4 like the query: (B,G,S,D)',
    );
  }
  if (!packed) {
    if (heads !== undefined && heads !== shape[1])
      throw shapeError(caller, parameter, shape, `${name} = ${heads} on axis 1`);
    const [batch, found, rows, width] = shape;
    return { batch, heads: found, rows, width, stride: [found * rows * width, rows * width, width] };
  }
  const [batch, rows, channels] = shape;
  const count = heads ?? 1;
  if (channels % count !== 0)
    throw shapeError(caller, parameter, shape, `a last axis that is a multiple of ${name} = ${count}`);
  return { batch, heads: count, rows, width: channels / count, stride: [rows * channels, channels / count, channels] };
}

/**
 * @param {Memory} memory
 * @param {TensorLike} query
 * @param {TensorLike} key
 * @param {TensorLike} value
 * @param {AttentionOptions} options
 * @returns {AttentionResult}
 */
export function attention(memory, query, key, value, options) {
  const caller = 'attention';
  checkOptions(caller, options, ATTENTION_OPTIONS);
  const train = readBoolean(caller, 'train', options.train ?? false);
  return memory.frame(caller, (frame) => {
    if (train) {
      refusePast(caller, options);
      frame.train();
    }
    frame.give(options.out);
    const given = { query: frame.take(query, 'query'), key: frame.take(key, 'key'), value: frame.take(value, 'value') };
    const rank = given.query.shape.length;
    if (rank !== 3 && rank !== 4)
      throw shapeError(caller, 'query', given.query.shape, '(B,H,T,D), (B,T,D) or packed (B,T,H·D)');
    const packed = rank === 3;
    const heads =
      options.heads === undefined ? undefined : readNumber(caller, 'heads', options.heads, { integer: true, least: 1 });
    const kvHeads =
      options.kvHeads === undefined
        ? packed
          ? heads
          : undefined
        : readNumber(caller, 'kvHeads', options.kvHeads, { integer: true, least: 1 });
    const q = splitHeads(caller, 'query', given.query.shape, { name: 'heads', heads, packed });
    const k = splitHeads(caller, 'key', given.key.shape, { name: 'kvHeads', heads: kvHeads, packed });
    const v = splitHeads(caller, 'value', given.value.shape, { name: 'kvHeads', heads: kvHeads, packed });
    checkTogether(caller, given, q, k, v);

    const past = readPast(frame, caller, options, {
      batch: k.batch,
      kvHeads: k.heads,
      width: k.width,
      valueWidth: v.width,
    });
    const sizes = {
      batch: q.batch,
      heads: q.heads,
      kvHeads: k.heads,
      queries: q.rows,
      keys: (past?.length ?? 0) + k.rows,
      past: past?.length ?? 0,
      appended: 0,
    };
    const { weights, scores } = readVisibility(frame, caller, options, sizes, q.width);
    const output = frame.result(
      AT.output,
      'output',
      packed ? [q.batch, q.rows, q.heads * v.width] : [q.batch, q.heads, q.rows, v.width],
    );
    /** @type {{ key: Tensor, value: Tensor } | null} */
    let present = null;
    if (past) {
      const grow = (
        /** @type {Tensor | Staged} */ before,
        /** @type {Tensor | Staged} */ fresh,
        /** @type {typeof k} */ form,
      ) => {
        const whole = frame.make([form.batch, form.heads, sizes.keys, form.width]);
        memory.append(caller, whole, before, fresh, {
          batch: form.batch,
          kvHeads: form.heads,
          past: past.length,
          keys: form.rows,
          width: form.width,
          stride: form.stride,
        });
        return whole;
      };
      present = { key: grow(past.key, given.key.block, k), value: grow(past.value, given.value.block, v) };
    }
    const cached = (/** @type {number} */ width) => [k.heads * sizes.keys * width, sizes.keys * width, width];
    const { ints } = frame;
    ints.set(
      packed
        ? [q.rows * q.heads * v.width, v.width, q.heads * v.width]
        : [q.heads * q.rows * v.width, q.rows * v.width, v.width],
      AT.outputStride,
    );
    frame.point(AT.query, given.query.block);
    frame.point(AT.key, present?.key ?? given.key.block);
    frame.point(AT.value, present?.value ?? given.value.block);
    ints.set(q.stride, AT.queryStride);
    ints.set(present ? cached(k.width) : k.stride, AT.keyStride);
    ints.set(present ? cached(v.width) : v.stride, AT.valueStride);
    ints[AT.valueWidth] = v.width;
    if (train) frame.point(AT.statistics, frame.save(2 * q.batch * q.heads * q.rows));
    frame.run('hl_attention');
    const tensors = { output, weights, scores, presentKey: present?.key, presentValue: present?.value };
    if (!train) return new AttentionResult(tensors);
    frame.point(AT.output, frame.stage(viewOf(output)));
    const shapes = {
      dQuery: given.query.shape,
      dKey: given.key.shape,
      dValue: given.value.shape,
      dOutput: output.shape,
      dWeights: weights?.shape,
      bias: frame.biasShape,
    };
    const kept = frame.kept();
    own(output, 'kept', kept);
    return new AttentionResult(tensors, (dOutput, options) => backward(memory, output, kept, shapes, dOutput, options));
  });
}

/**
 * @param {string} caller
 * @param {VisibilityOptions} options
 */
export function refusePast(caller, { pastKey, pastValue }) {
  const name = pastKey !== undefined ? 'pastKey' : 'pastValue';
  if (pastKey !== undefined || pastValue !== undefined)
    throw argumentError(
      caller,
      name,
      pastKey ?? pastValue,
      'none with train: true, as the past has no gradient; it can be part of the keys',
    );
}

/**
 * Points to the gradients that backward is given.
 * @param {Frame} frame
 * @param {Record<'output' | 'weights', number>} at
 * @param {TensorLike} dOutput
 * @param {BackwardOptions} options
 * @param {{ dOutput: readonly number[], dWeights?: readonly number[] }} shapes
 */
export function readGradients(frame, at, dOutput, options, shapes) {
  const caller = 'backward';
  checkOptions(caller, options, ['dWeights', 'dBias']);
  const output = frame.take(dOutput, 'dOutput');
  if (!sameShape(output.shape, shapes.dOutput))
    throw shapeError(caller, 'dOutput', output.shape, formatShape(shapes.dOutput));
  frame.point(at.output, output.block);
  if (options.dWeights === undefined) return;
  if (!shapes.dWeights)
    throw argumentError(caller, 'dWeights', options.dWeights, 'none, as forward returned no weights');
  const weights = frame.take(options.dWeights, 'dWeights');
  if (!sameShape(weights.shape, shapes.dWeights))
    throw shapeError(caller, 'dWeights', weights.shape, formatShape(shapes.dWeights));
  frame.point(at.weights, weights.block);
}

/**
 * The gradient of the bias, where there is one and it is asked for: what the core adds to, and afterwards in the shape
 * of the bias.
 * @param {Frame} frame
 * @param {number} at
 * @param {{ given: readonly number[], wide: readonly number[] } | undefined} shape
 * @param {BackwardOptions} options
 */
export function makeBiasGradient(frame, at, shape, { dBias = true }) {
  if (!readBoolean('backward', 'dBias', dBias) || !shape) return undefined;
  const { given, wide } = shape;
  const gradient = frame.zeros([...wide]);
  frame.point(at, gradient);
  return () => {
    if (sameShape(given, wide)) return gradient;
    const [from, to] = [wide[wide.length - 1], given[given.length - 1]];
    const narrow = frame.make([...given]);
    for (let row = 0; row * to < narrow.size; row++)
      viewOf(narrow).set(viewOf(gradient).subarray(row * from, row * from + to), row * to);
    gradient.dispose();
    return narrow;
  };
}

/**
 * @param {Memory} memory
 * @param {Tensor} output
 * @param {Kept} kept
 * @param {{ dQuery: readonly number[], dKey: readonly number[], dValue: readonly number[], dOutput: readonly number[],
 *   dWeights?: readonly number[], bias?: { given: readonly number[], wide: readonly number[] } }} shapes
 * @param {TensorLike} dOutput
 * @param {BackwardOptions} options
 * @returns {AttentionGradients}
 */
function backward(memory, output, kept, shapes, dOutput, options) {
  return memory.frame('backward', (frame) => {
    if (kept.disposed)
      throw new HeadlightError(
        'STATE',
        'backward: what this result kept has been freed, by an earlier backward or with its output',
      );
    frame.resume(kept);
    readGradients(
      frame,
      { output: ATTENTION_BACKWARD.dOutput, weights: ATTENTION_BACKWARD.dWeights },
      dOutput,
      options,
      shapes,
    );
    const make = (/** @type {'dQuery' | 'dKey' | 'dValue'} */ name) => {
      const gradient = frame.make([...shapes[name]]);
      frame.point(ATTENTION_BACKWARD[name], gradient);
      return gradient;
    };
    const gradients = { dQuery: make('dQuery'), dKey: make('dKey'), dValue: make('dValue') };
    const dBias = makeBiasGradient(frame, ATTENTION_BACKWARD.dBias, shapes.bias, options);
    frame.run('hl_attention_backward');
    const result = { ...gradients, ...(dBias && { dBias: dBias() }) };
    own(output, 'kept', null);
    return result;
  });
}

/**
 * @param {string} caller
 * @param {Record<'query' | 'key' | 'value', { shape: readonly number[] }>} given
 * @param {ReturnType<typeof splitHeads>} q
 * @param {ReturnType<typeof splitHeads>} k
 * @param {ReturnType<typeof splitHeads>} v
 */
function checkTogether(caller, given, q, k, v) {
  const key = (/** @type {string} */ expected) => shapeError(caller, 'key', given.key.shape, expected);
  const value = (/** @type {string} */ expected) => shapeError(caller, 'value', given.value.shape, expected);
  if (k.batch !== q.batch) throw key(`batch ${q.batch} like the query`);
  if (v.batch !== q.batch) throw value(`batch ${q.batch} like the query`);
  if (q.heads === 0) throw shapeError(caller, 'query', given.query.shape, 'at least one head');
  if (k.heads === 0 || q.heads % k.heads !== 0) throw key(`a number of heads that divides the query's ${q.heads}`);
  if (v.heads !== k.heads) throw value(`${k.heads} heads like the key`);
  if (k.width !== q.width) throw key(`head width ${q.width} like the query`);
  if (v.rows !== k.rows) throw value(`${k.rows} rows like the key`);
}
