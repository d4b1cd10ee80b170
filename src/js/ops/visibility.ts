// The options that attention() and the layers share. readVisibility validates them; setVisibility sets the arguments of
// the core when the sizes are known.

import { ATTENTION as AT, SCORES, WEIGHTS } from '../../../dist/abi/abi.js';
import { checkOptions, readBoolean, readNumber, readWord } from '../check/arguments.ts';
import { argumentError, shapeError } from '../check/errors.ts';
import { broadcastStrides, formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Frame, Input } from '../memory/frame.ts';
import type { Tensor } from '../memory/tensor.ts';
import { type Past, readPast } from './past.ts';
import { alibiSlopes, type Rotary, type RotaryOptions, readRotary } from './rotary.ts';

export type WeightsChoice = boolean | 'mean' | undefined;
export type ScoresChoice = 'raw' | 'scaled' | 'capped' | 'masked' | undefined;
export type PastChoice = TensorLike | undefined;
export type BiasChoice = TensorLike | undefined;
/** Options of attention. The type parameters are the options on which the type of the result depends. */
export type VisibilityOptions<
  W extends WeightsChoice = WeightsChoice,
  S extends ScoresChoice = ScoresChoice,
  P extends PastChoice = PastChoice,
  B extends BiasChoice = BiasChoice,
> = {
  /** default 1/√D */
  scale?: number | undefined;
  /** scores become softcap · tanh(score / softcap), after scaling */
  softcap?: number | undefined;
  /** true or 1: the query may attend to the key; false or 0: masked; broadcast from the right against (B,H,T,S) */
  mask?: TensorLike | undefined;
  /** added to the scores; broadcast like mask */
  bias?: B | undefined;
  /**
   * rotates queries and keys by position: offset + t for query t, P + s for key s after a past of P keys, which, like
   * presentKey, must be rotated already
   */
  rotary?: RotaryOptions | undefined;
  /**
   * adds −slope · |i − j| for positions i and j, as for rotary, except at appended keys. true: the slopes of the ALiBi
   * paper; or a slope for each head (H)
   */
  alibi?: boolean | readonly number[] | Float32Array | undefined;
  /** (H), adds e^sink to the denominator of each row's softmax, without a key and a value */
  sinks?: TensorLike | undefined;
  /** (B,S), 1 for a real key, 0 for padding */
  keyPadding?: TensorLike | undefined;
  /** (B) or (B,T), numbers n of valid keys: a query may attend only to keys 0..n−1 */
  validLens?: TensorLike | undefined;
  /** query i attends only to keys 0..i+offset */
  causal?: boolean | undefined;
  /** maximum distance of keys to the left and right of the query; −1 means no limit */
  window?: readonly [number, number] | undefined;
  /** score of a masked key; default −Infinity, which makes its weight 0 */
  maskFill?: number | undefined;
  /** position of query 0 among the keys, for all batch entries or for each; default the length of the past */
  offset?: number | readonly number[] | Int32Array | undefined;
  /** dropout of the attention weights */
  dropout?: DropoutOptions | undefined;
  /** true to return the attention weights (B,H,T,S), 'mean' to return their mean over heads (B,T,S) */
  weights?: W | undefined;
  /** step at which the scores are returned, (B,H,T,S) */
  scores?: S | undefined;
  /** (B,G,P,D), prepended to the keys; the result then has presentKey */
  pastKey?: P | undefined;
  /** (B,G,P,Dv), prepended to the values */
  pastValue?: P | undefined;
  /** tensors to which the results are written instead of new tensors; none of them may be an input */
  out?: Out | undefined;
  /** true to save the state for backward; in a layer, this also enables dropout */
  train?: boolean | undefined;
};
/** keep: an explicit tensor of 0 and 1, (B,H,T,S) */
export type DropoutOptions = { p: number; seed?: number } | { p: number; keep: TensorLike };
/** a single tensor is the output */
export type Out = Tensor | { output?: Tensor; weights?: Tensor; scores?: Tensor };

/** keys: number of keys with the past and without appended keys */
export type Sizes = {
  batch: number;
  heads: number;
  kvHeads: number;
  queries: number;
  keys: number;
  past: number;
  appended: number;
};
export type Visibility = {
  scale: number | undefined;
  softcap: number;
  causal: boolean;
  window: readonly [number, number];
  fill: number;
  offset: number | Int32Array | undefined;
  dropout: Dropout | undefined;
  weights: boolean | 'mean';
  /** step of the scores that are returned */
  step: number;
  /** broadcasts to (B,H,T,S) */
  mask: Input | undefined;
  /** broadcasts to (B,H,T,S) */
  bias: Input | undefined;
  /** (H) */
  sinks: Input | undefined;
  /** slopes (H) */
  alibi: boolean | Float32Array;
  rotary: Rotary | undefined;
  /** (B,S) */
  keyPadding: Input | undefined;
  /** (B) or (B,T) */
  validLens: Input | undefined;
  past: Past | null;
  train: boolean;
};
/** keep: (B,H,T,S) */
export type Dropout = { p: number; seed: number; keep?: Input };

export const VISIBILITY_OPTIONS = [
  'scale',
  'softcap',
  'mask',
  'bias',
  'rotary',
  'alibi',
  'sinks',
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
  'train',
];
const SCORE_STEPS = { raw: SCORES.RAW, scaled: SCORES.SCALED, capped: SCORES.CAPPED, masked: SCORES.MASKED };
const SCORE_NAMES = Object.keys(SCORE_STEPS) as (keyof typeof SCORE_STEPS)[];
const NO_WINDOW: readonly [number, number] = [-1, -1];
const NOT_NEGATIVE = { least: 0 };
const SHARE = { least: 0, most: 1 };
const INTEGER = { integer: true };
const MAX_INT = 2 ** 31 - 1;
const DISTANCE = { integer: true, least: -1, most: MAX_INT };
const LENGTH = { integer: true, least: 0, most: MAX_INT };
const POSITION = { integer: true, least: -(2 ** 31), most: MAX_INT };

/**
 * Reads each option and array once, without the core, because a getter may call the module or dispose of a tensor.
 * training: default of train.
 */
export function readVisibility(
  frame: Frame,
  caller: string,
  options: VisibilityOptions,
  training: boolean,
): Visibility {
  const { scale, softcap = 0, causal = false, window, maskFill = -Infinity, offset, dropout } = options;
  const { weights = false, scores, mask, bias, keyPadding, validLens, pastKey, pastValue } = options;
  const { out, train = training, rotary, alibi = false, sinks } = options;
  if (weights !== 'mean' && typeof weights !== 'boolean')
    throw argumentError(caller, 'weights', weights, "true, false or 'mean'");
  frame.setOutputs(out);
  return {
    scale: scale === undefined ? undefined : readNumber(caller, 'scale', scale),
    softcap: softcap === 0 ? 0 : readSoftcap(caller, softcap),
    causal: readBoolean(caller, 'causal', causal),
    window: window === undefined ? NO_WINDOW : readWindow(caller, window),
    fill: maskFill === -Infinity ? maskFill : readNumber(caller, 'maskFill', maskFill),
    offset: offset === undefined ? undefined : readOffset(caller, offset),
    dropout: dropout === undefined ? undefined : readDropout(frame, caller, dropout),
    weights,
    step: scores === undefined ? SCORES.NONE : SCORE_STEPS[readWord(caller, 'scores', scores, SCORE_NAMES)],
    mask: mask === undefined ? undefined : frame.read(mask, 'mask'),
    bias: bias === undefined ? undefined : frame.read(bias, 'bias'),
    rotary: rotary === undefined ? undefined : readRotary(caller, rotary),
    alibi: typeof alibi === 'boolean' ? alibi : readSlopes(caller, alibi),
    sinks: sinks === undefined ? undefined : frame.read(sinks, 'sinks'),
    keyPadding: keyPadding === undefined ? undefined : frame.read(keyPadding, 'keyPadding'),
    validLens: validLens === undefined ? undefined : frame.read(validLens, 'validLens'),
    past: readPast(frame, caller, pastKey, pastValue),
    train: readBoolean(caller, 'train', train),
  };
}

/** 0 means no cap. A positive number that float32 rounds to 0 is an error, because the core would not apply it. */
function readSoftcap(caller: string, value: unknown) {
  const softcap = readNumber(caller, 'softcap', value, NOT_NEGATIVE);
  if (Math.fround(softcap) === 0 && softcap > 0)
    throw argumentError(caller, 'softcap', softcap, '0, or at least 1e-45');
  return softcap;
}

function readWindow(caller: string, window: unknown): [number, number] {
  if (!Array.isArray(window) || window.length !== 2) throw argumentError(caller, 'window', window, '[left, right]');
  return [readNumber(caller, 'window[0]', window[0], DISTANCE), readNumber(caller, 'window[1]', window[1], DISTANCE)];
}

const isList = (value: unknown) => Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

function readSlopes(caller: string, alibi: unknown) {
  if (!isList(alibi)) throw argumentError(caller, 'alibi', alibi, 'true, false or one slope per head');
  const list = alibi as ArrayLike<number>;
  const { length } = list;
  const slopes: number[] = [];
  for (let h = 0; h < length; h++) slopes.push(readNumber(caller, `alibi[${h}]`, list[h]));
  return Float32Array.from(slopes);
}

function readOffset(caller: string, offset: unknown) {
  if (typeof offset === 'number') return readNumber(caller, 'offset[0]', offset, POSITION);
  if (!isList(offset)) throw argumentError(caller, 'offset', offset, 'an integer, or one for each batch entry');
  return readIntegers(caller, 'offset', offset as ArrayLike<unknown>, POSITION);
}

function readDropout(frame: Frame, caller: string, dropout: NonNullable<VisibilityOptions['dropout']>): Dropout {
  checkOptions(caller, dropout, ['p', 'seed', 'keep'], 'dropout');
  const { p, seed = 0, keep } = dropout as { p: number; seed?: number; keep?: TensorLike };
  return {
    p: readNumber(caller, 'dropout.p', p, SHARE),
    seed: readNumber(caller, 'dropout.seed', seed, INTEGER),
    keep: keep === undefined ? undefined : frame.read(keep, 'dropout.keep'),
  };
}

function readIntegers(
  caller: string,
  parameter: string,
  list: ArrayLike<unknown>,
  range: { integer: boolean; least: number; most: number },
) {
  const { length } = list;
  const integers: number[] = [];
  for (let i = 0; i < length; i++) {
    const x = list[i];
    integers.push(readNumber(caller, `${parameter}[${i}]`, typeof x === 'bigint' ? Number(x) : x, range));
  }
  return Int32Array.from(integers);
}

/** Rejects negative and infinite numbers, typical of an additive mask, which must be passed as `bias`. */
function toBytes(caller: string, parameter: string, data: ArrayLike<number | bigint>) {
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

/** Pads rows of length `width` with zeros to length `keys`. */
function widen<T extends Uint8Array | Float32Array>(data: T, width: number, keys: number): T {
  const rows = data.length / width;
  const wide = new (data.constructor as new (n: number) => T)(rows * keys);
  for (let r = 0; r < rows; r++) wide.set(data.subarray(r * width, (r + 1) * width), r * keys);
  return wide;
}

/** Broadcasts to (B,H,T,S). The last axis may be shorter if validLens excludes the remaining keys. */
function setScoreOperand(
  frame: Frame,
  caller: string,
  parameter: 'mask' | 'bias',
  input: Input,
  { batch, heads, queries, keys }: Sizes,
  lens: Int32Array | undefined,
) {
  const bytes = parameter === 'mask';
  const given = input.shape;
  const width = given.length === 0 ? 1 : given[given.length - 1];
  const short = width > 1 && width < keys && lens?.every((length) => length <= width);
  const shape = short ? [...given.slice(0, -1), keys] : given;
  const stride = broadcastStrides(shape, [batch, heads, queries, keys]);
  if (!stride) {
    const expected = `a shape that broadcasts to (B,H,T,S) = ${formatShape([batch, heads, queries, keys])}`;
    throw shapeError(caller, parameter, given, expected);
  }
  frame.ints.set(stride, bytes ? AT.maskStride : AT.biasStride);
  if (bytes) {
    const data = toBytes(caller, parameter, frame.values(input, parameter));
    frame.setPointer(AT.mask, frame.copyIn(short ? widen(data, width, keys) : data));
    return;
  }
  frame.biasShape = { given, wide: shape };
  const block = short
    ? frame.copyIn(widen(frame.floatsOf(input, parameter), width, keys))
    : frame.input(input, parameter).block;
  frame.setPointer(AT.bias, block);
}

/** input: (B) or (B,T) */
function setValidLens(frame: Frame, caller: string, input: Input, { batch, queries }: Sizes) {
  const { shape } = input;
  const perQuery = shape.length === 2;
  const [b = -1, t = queries] = shape;
  if (shape.length > 2 || b !== batch || t !== queries)
    throw shapeError(caller, 'validLens', shape, `(B) = [${batch}] or (B,T) = [${batch},${queries}]`);
  const lens = readIntegers(caller, 'validLens', frame.values(input, 'validLens'), LENGTH);
  frame.setPointer(AT.validLens, frame.copyIn(lens));
  frame.ints.set(perQuery ? [queries, 1] : [1, 0], AT.validLensStride);
  return lens;
}

/** input: (B,S) */
function setKeyPadding(frame: Frame, caller: string, input: Input, { batch, keys }: Sizes) {
  const stride = broadcastStrides(input.shape, [batch, keys]);
  if (!stride) throw shapeError(caller, 'keyPadding', input.shape, `(B,S) = [${batch},${keys}]`);
  frame.setPointer(AT.keyPadding, frame.copyIn(toBytes(caller, 'keyPadding', frame.values(input, 'keyPadding'))));
  frame.ints.set(stride, AT.keyPaddingStride);
}

function setOffset(frame: Frame, caller: string, offset: number | Int32Array, { batch, heads, queries }: Sizes) {
  if (typeof offset !== 'number' && offset.length !== batch)
    throw shapeError(caller, 'offset', [offset.length], `a number or (B) = [${batch}]`);
  // Without queries, memory does not limit the batch size, so no array of that size is allocated.
  if (heads * queries === 0) return;
  frame.setPointer(AT.offset, frame.copyIn(typeof offset === 'number' ? new Int32Array(batch).fill(offset) : offset));
}

function setDropout(
  frame: Frame,
  caller: string,
  { p, seed, keep }: Dropout,
  { batch, heads, queries, keys, appended }: Sizes,
) {
  frame.floats[AT.dropout] = p;
  frame.ints[AT.seed] = seed | 0;
  frame.ints[AT.seed + 1] = Math.floor(seed / 2 ** 32) | 0;
  if (keep === undefined) return;
  const expected = [batch, heads, queries, keys + appended];
  if (!sameShape(keep.shape, expected))
    throw shapeError(caller, 'dropout.keep', keep.shape, `(B,H,T,S) = ${formatShape(expected)}`);
  frame.setPointer(AT.keep, frame.copyIn(toBytes(caller, 'dropout.keep', frame.values(keep, 'dropout.keep'))));
}

/** sinks: (H) */
function setSinks(frame: Frame, caller: string, sinks: Input, { heads }: Sizes) {
  if (!sameShape(sinks.shape, [heads])) throw shapeError(caller, 'sinks', sinks.shape, `(H) = [${heads}]`);
  frame.setPointer(AT.sinks, frame.input(sinks, 'sinks').block);
}

/** alibi: slopes (H) */
function setSlopes(frame: Frame, caller: string, alibi: true | Float32Array, { heads }: Sizes) {
  const slopes = alibi === true ? alibiSlopes(heads) : alibi;
  if (slopes.length !== heads) throw shapeError(caller, 'alibi', [slopes.length], `(H) = [${heads}]`);
  frame.setPointer(AT.slopes, frame.copyIn(slopes));
}

/** width: D. Returns weights (B,H,T,S) or (B,T,S), scores (B,H,T,S), if requested. */
export function setVisibility(
  frame: Frame,
  caller: string,
  visibility: Visibility,
  sizes: Sizes,
  width: number,
): { weights?: Tensor; scores?: Tensor } {
  const { batch, heads, queries, keys, past, appended } = sizes;
  const { scale = 1 / Math.sqrt(width || 1), offset = past, weights, step } = visibility;
  const { mask, bias, keyPadding, validLens, dropout, sinks, alibi } = visibility;
  const { ints, floats } = frame;
  ints[AT.batch] = batch;
  ints[AT.heads] = heads;
  ints[AT.kvHeads] = sizes.kvHeads;
  ints[AT.queries] = queries;
  ints[AT.keys] = keys;
  ints[AT.width] = width;
  floats[AT.scale] = scale;
  floats[AT.softcap] = visibility.softcap;
  floats[AT.fill] = visibility.fill;
  // A window of 0 to the right is passed as causal, which means the same: a window of 0 on both sides with fill 0 looks
  // like a struct that was not initialized, and the core rejects it.
  const [left, right] = visibility.window;
  ints[AT.causal] = visibility.causal || right === 0 ? 1 : 0;
  ints[AT.windowLeft] = left;
  ints[AT.windowRight] = right === 0 ? -1 : right;
  ints[AT.weightsMode] = weights === 'mean' ? WEIGHTS.MEAN : weights ? WEIGHTS.HEADS : WEIGHTS.NONE;
  ints[AT.scoresStep] = step;

  const lens = validLens && setValidLens(frame, caller, validLens, sizes);
  if (mask) setScoreOperand(frame, caller, 'mask', mask, sizes, lens);
  if (bias) setScoreOperand(frame, caller, 'bias', bias, sizes, lens);
  if (sinks) setSinks(frame, caller, sinks, sizes);
  if (alibi) setSlopes(frame, caller, alibi, sizes);
  if (keyPadding) setKeyPadding(frame, caller, keyPadding, sizes);
  if (offset !== 0) setOffset(frame, caller, offset, sizes);
  if (dropout) setDropout(frame, caller, dropout, sizes);
  const results: { weights?: Tensor; scores?: Tensor } = {};
  if (weights === true) results.weights = frame.result(AT.weights, 'weights', [batch, heads, queries, keys + appended]);
  if (weights === 'mean') results.weights = frame.result(AT.weights, 'weights', [batch, queries, keys + appended]);
  if (step !== SCORES.NONE)
    results.scores = frame.result(AT.scores, 'scores', [batch, heads, queries, keys + appended]);
  return results;
}
