// attention(), which validates the arguments and passes them to the core.

import { ATTENTION as AT, ATTENTION_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readNumber } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { own, shapeOf, sizeOf, viewOf } from '../memory/tensor.js';
import { isEmpty, makeBiasGradient, makeSinksGradient, readUpstream, setUpstream } from './gradients.js';
import { inputPast, rejectPast } from './past.js';
import { AttentionResult } from './result.js';
import { makeRotation, rotateHeads } from './rotary.js';
import { readVisibility, setVisibility, VISIBILITY_OPTIONS } from './visibility.js';

/** @import { Frame, Saved } from '../memory/frame.js' */
/** @import { Memory } from '../memory/memory.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { AttentionGradients, BackwardOptions, ForwardShapes } from './gradients.js' */
/** @import { Rotary, Rotation } from './rotary.js' */
/** @import { Visibility } from './visibility.js' */
/** @import { AttentionOptions } from '../types.js' */

/** @typedef {{ block: Tensor | Staged, shape: readonly number[] }} InputBlock */
/**
 * How an array is split into heads.
 * @typedef {{ batch: number, heads: number, rows: number, width: number, stride: [number, number, number] }} Form
 *   stride: distances of batch entries, heads and rows in elements
 */
/** @typedef {ForwardShapes & Record<'dQuery' | 'dKey' | 'dValue', readonly number[]>} Shapes */
/** @typedef {{ rotation: Rotation, q: Form, k: Form }} RotatedInputs inputs that rotary positions have rotated */

const ATTENTION_OPTIONS = [...VISIBILITY_OPTIONS, 'heads', 'kvHeads'];
const COUNT = { integer: true, least: 1 };

/**
 * @param {Memory} memory
 * @param {TensorLike} query (B,H,T,D), (B,T,D) or (B,T,H·D)
 * @param {TensorLike} key (B,G,S,D), (B,S,D) or (B,S,G·D)
 * @param {TensorLike} value (B,G,S,Dv), (B,S,Dv) or (B,S,G·Dv)
 * @param {AttentionOptions} options
 * @returns {AttentionResult}
 */
export function attention(memory, query, key, value, options) {
  const caller = 'attention';
  return memory.frame(caller, (frame) => {
    checkOptions(caller, options, ATTENTION_OPTIONS);
    const visibility = readVisibility(frame, caller, options, false);
    const heads = readCount(caller, 'heads', options.heads);
    const kvHeads = readCount(caller, 'kvHeads', options.kvHeads);
    const inputs = [frame.read(query, 'query'), frame.read(key, 'key'), frame.read(value, 'value')];
    const { train } = visibility;
    if (train) rejectPast(caller, visibility.past);
    // Backward needs the rotated queries and keys, not the inputs, so train() is called after query and key have been
    // read.
    if (train && !visibility.rotary) frame.train();
    const toRotate = { query: frame.input(inputs[0], 'query'), key: frame.input(inputs[1], 'key') };
    if (train && visibility.rotary) frame.train();
    const given = { ...toRotate, value: frame.input(inputs[2], 'value') };
    const { q, k, v, packed } = splitInputs(caller, given, heads, kvHeads);
    const valueSizes = { batch: k.batch, kvHeads: k.heads, width: k.width, valueWidth: v.width };
    const past = inputPast(frame, caller, visibility.past, valueSizes);
    const before = past?.length ?? 0;
    const keys = before + k.rows;
    const { batch, rows: queries } = q;
    const sizes = { batch, heads: q.heads, kvHeads: k.heads, queries, keys, past: before, appended: 0 };
    const { weights, scores } = setVisibility(frame, caller, visibility, sizes, q.width);
    const rotated = visibility.rotary && rotateInputs(memory, frame, caller, visibility, given, { q, k }, before);
    const form = packed ? [batch, queries, q.heads * v.width] : [batch, q.heads, queries, v.width];
    const output = frame.result(AT.output, 'output', form); // (B,H,T,Dv) or (B,T,H·Dv)
    const present = past && {
      key: concatenate(memory, frame, past.key, before, given.key.block, k), // (B,G,P+S,D)
      value: concatenate(memory, frame, past.value, before, given.value.block, v), // (B,G,P+S,Dv)
    };
    const { ints } = frame;
    const channels = q.heads * v.width;
    const outputStride = packed ? [v.width, channels] : [queries * v.width, v.width];
    ints.set([queries * channels, ...outputStride], AT.outputStride);
    frame.setPointer(AT.query, given.query.block);
    frame.setPointer(AT.key, present?.key ?? given.key.block);
    frame.setPointer(AT.value, present?.value ?? given.value.block);
    ints.set(q.stride, AT.queryStride);
    ints.set(present ? presentStride(k, keys) : k.stride, AT.keyStride);
    ints.set(present ? presentStride(v, keys) : v.stride, AT.valueStride);
    ints[AT.valueWidth] = v.width;
    if (train) frame.setPointer(AT.statistics, frame.saveForBackward(2 * batch * q.heads * queries));
    // If no result has an element, the core must not run, because it would loop over sizes that memory does not limit.
    if (sizeOf(output) || (weights && sizeOf(weights)) || (scores && sizeOf(scores))) frame.run('hl_attention');
    const tensors = { output, weights, scores, presentKey: present?.key, presentValue: present?.value };
    if (!train) return new AttentionResult(tensors);
    return trainable(memory, frame, tensors, given, { sinks: visibility.sinks?.shape, rotated });
  });
}

/** @param {string} caller @param {'heads' | 'kvHeads'} name @param {unknown} value */
const readCount = (caller, name, value) => (value === undefined ? undefined : readNumber(caller, name, value, COUNT));

/** Returns the stride of (B,G,rows,width). @param {Form} form @param {number} rows */
const presentStride = ({ heads, width }, rows) => [heads * rows * width, rows * width, width];

/**
 * Concatenates the past (B,G,P,width) and the fresh rows to (B,G,P+S,width).
 * @param {Memory} memory
 * @param {Frame} frame
 * @param {Tensor | Staged} past (B,G,P,width)
 * @param {number} before number of rows of the past
 * @param {Tensor | Staged} fresh (B,G,S,width), strided
 * @param {Form} form form of the fresh rows
 */
function concatenate(memory, frame, past, before, fresh, { batch, heads, rows, width, stride }) {
  const whole = frame.make([batch, heads, before + rows, width]);
  memory.append('attention', whole, past, fresh, { batch, kvHeads: heads, past: before, keys: rows, width, stride });
  return whole;
}

/**
 * Rotates queries and keys by their positions, and replaces the blocks in `given`.
 * @param {Memory} memory
 * @param {Frame} frame
 * @param {string} caller
 * @param {Visibility} visibility
 * @param {Record<'query' | 'key', InputBlock>} given
 * @param {{ q: Form, k: Form }} forms
 * @param {number} past
 * @returns {RotatedInputs}
 */
function rotateInputs(memory, frame, caller, { rotary, offset }, given, { q, k }, past) {
  const sizes = { batch: q.batch, queries: q.rows, fresh: k.rows, past, width: q.width };
  const rotation = makeRotation(frame, caller, /** @type {Rotary} */ (rotary), sizes, offset);
  for (const [name, form] of /** @type {const} */ ([
    ['query', q],
    ['key', k],
  ])) {
    const { block, shape } = given[name];
    const rotated = frame.scratch(form.batch * form.heads * form.rows * form.width); // of the shape of the input
    rotateHeads(memory, caller, rotated, block, form, rotation, name);
    given[name] = { block: rotated, shape };
  }
  return { rotation, q, k };
}

/**
 * @param {string} caller
 * @param {Record<'query' | 'key' | 'value', InputBlock>} given
 * @param {number | undefined} heads
 * @param {number | undefined} kvHeads
 */
function splitInputs(caller, given, heads, kvHeads) {
  const rank = given.query.shape.length;
  if (rank !== 3 && rank !== 4)
    throw shapeError(caller, 'query', given.query.shape, '(B,H,T,D), (B,T,D) or packed (B,T,H·D)');
  const packed = rank === 3;
  const groups = kvHeads ?? (packed ? heads : undefined);
  const q = splitHeads(caller, 'query', given.query.shape, 'heads', heads, packed);
  const k = splitHeads(caller, 'key', given.key.shape, 'kvHeads', groups, packed);
  const v = splitHeads(caller, 'value', given.value.shape, 'kvHeads', groups, packed);
  checkTogether(caller, given, q, k, v);
  return { q, k, v, packed };
}

/**
 * Determines how query, key or value is split into heads. It is (B,heads,N,width), or packed (B,N,heads·width).
 * @param {string} caller
 * @param {string} parameter
 * @param {readonly number[]} shape
 * @param {'heads' | 'kvHeads'} name
 * @param {number | undefined} heads
 * @param {boolean} packed
 * @returns {Form}
 */
function splitHeads(caller, parameter, shape, name, heads, packed) {
  if (shape.length !== (packed ? 3 : 4)) {
    const expected = packed ? 'rank 3 like the query: (B,S,C)' : 'rank 4 like the query: (B,G,S,D)';
    throw shapeError(caller, parameter, shape, expected);
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
 * @param {string} caller
 * @param {Record<'query' | 'key' | 'value', InputBlock>} given
 * @param {Form} q
 * @param {Form} k
 * @param {Form} v
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

/**
 * Makes a result with a backward function, for which the frame has saved the inputs.
 * @param {Memory} memory
 * @param {Frame} frame
 * @param {{ output: Tensor, weights?: Tensor, scores?: Tensor }} tensors (B,H,T,Dv), (B,H,T,S), (B,H,T,S)
 * @param {Record<'query' | 'key' | 'value', InputBlock>} given
 * @param {{ sinks?: readonly number[], rotated?: RotatedInputs }} more
 */
function trainable(memory, frame, tensors, given, { sinks, rotated }) {
  const { output, weights } = tensors;
  frame.setPointer(AT.output, frame.copyIn(viewOf(output)));
  /** @type {Shapes} */
  const shapes = {
    dQuery: given.query.shape,
    dKey: given.key.shape,
    dValue: given.value.shape,
    dOutput: shapeOf(output),
    dWeights: weights && shapeOf(weights),
    bias: frame.biasShape,
    sinks,
  };
  const saved = frame.saved();
  own(output, 'saved', saved);
  return new AttentionResult(tensors, (dOutput, options) =>
    backward(memory, output, saved, shapes, rotated, dOutput, options),
  );
}

/**
 * @param {Memory} memory
 * @param {Tensor} output (B,H,T,Dv), in the layout of the query
 * @param {Saved} saved
 * @param {Shapes} shapes
 * @param {RotatedInputs | undefined} rotated
 * @param {TensorLike} dOutput of the shape of the output
 * @param {BackwardOptions} options
 * @returns {AttentionGradients}
 */
function backward(memory, output, saved, shapes, rotated, dOutput, options) {
  return memory.frame('backward', (frame) => {
    const upstream = readUpstream(frame, dOutput, options);
    if (saved.disposed)
      throw new HeadlightError(
        'STATE',
        'backward: the saved state of this result has been freed, by an earlier backward or with its output',
      );
    frame.restore(saved);
    const at = { output: ATTENTION_BACKWARD.dOutput, weights: ATTENTION_BACKWARD.dWeights };
    setUpstream(frame, at, upstream, shapes);
    const empty = isEmpty(upstream);
    const make = (/** @type {'dQuery' | 'dKey' | 'dValue'} */ name) => {
      const gradient = empty ? frame.zeros([...shapes[name]]) : frame.make([...shapes[name]]);
      frame.setPointer(ATTENTION_BACKWARD[name], gradient);
      return gradient;
    };
    const gradients = { dQuery: make('dQuery'), dKey: make('dKey'), dValue: make('dValue') };
    const dBias = makeBiasGradient(frame, ATTENTION_BACKWARD.dBias, shapes.bias, upstream);
    const dSinks = makeSinksGradient(frame, ATTENTION_BACKWARD.dSinks, shapes);
    if (!empty) frame.run('hl_attention_backward');
    if (rotated) {
      const { rotation, q, k } = rotated;
      rotateHeads(memory, 'backward', gradients.dQuery, gradients.dQuery, q, rotation, 'query', true);
      rotateHeads(memory, 'backward', gradients.dKey, gradients.dKey, k, rotation, 'key', true);
    }
    const result = { ...gradients, ...(dBias && { dBias: dBias() }), ...(dSinks && { dSinks }) };
    own(output, 'saved', null);
    return /** @type {AttentionGradients} */ (result);
  });
}
