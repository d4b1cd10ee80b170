// attention(), which validates the arguments and passes them to the core.

import { ATTENTION as AT, ATTENTION_BACKWARD } from '../../../dist/abi/abi.js';
import { checkOptions, readNumber } from '../check/arguments.ts';
import { HeadlightError, shapeError } from '../check/errors.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import type { Frame, Saved } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import { own, type Staged, shapeOf, sizeOf, type Tensor, viewOf } from '../memory/tensor.ts';
import type { AttentionOptions } from '../types.ts';
import {
  type AttentionGradients,
  type BackwardOptions,
  type ForwardShapes,
  isEmpty,
  makeBiasGradient,
  makeSinksGradient,
  readUpstream,
  setUpstream,
} from './gradients.ts';
import { inputPast, rejectPast } from './past.ts';
import { AttentionResult } from './result.ts';
import { makeRotation, type Rotary, type Rotation, rotateHeads } from './rotary.ts';
import { readVisibility, setVisibility, VISIBILITY_OPTIONS, type Visibility } from './visibility.ts';

export type InputBlock = { block: Tensor | Staged; shape: readonly number[] };
/** How an array is split into heads. stride: distances of batch entries, heads and rows in elements */
export type Form = { batch: number; heads: number; rows: number; width: number; stride: [number, number, number] };
export type Shapes = ForwardShapes & Record<'dQuery' | 'dKey' | 'dValue', readonly number[]>;
export type RotatedInputs = { rotation: Rotation; q: Form; k: Form };

const ATTENTION_OPTIONS = [...VISIBILITY_OPTIONS, 'heads', 'kvHeads'];
const COUNT = { integer: true, least: 1 };

/** query: (B,H,T,D), (B,T,D) or (B,T,H·D); key: (B,G,S,D), (B,S,D) or (B,S,G·D); value: with Dv */
export function attention(
  memory: Memory,
  query: TensorLike,
  key: TensorLike,
  value: TensorLike,
  options: AttentionOptions,
): AttentionResult {
  const caller = 'attention';
  return memory.frame(caller, (frame) => {
    checkOptions(caller, options, ATTENTION_OPTIONS);
    const visibility = readVisibility(frame, caller, options, false);
    const heads = readCount(caller, 'heads', options.heads);
    const kvHeads = readCount(caller, 'kvHeads', options.kvHeads);
    const inputs = [frame.read(query, 'query'), frame.read(key, 'key'), frame.read(value, 'value')];
    const { train } = visibility;
    if (train) rejectPast(caller, visibility.past);
    // Backward needs the rotated queries and keys, so train() comes after they have been read.
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
    // Without elements the core must not run, because it would loop over sizes that memory does not limit.
    if (sizeOf(output) || (weights && sizeOf(weights)) || (scores && sizeOf(scores))) frame.run('hl_attention');
    const tensors = { output, weights, scores, presentKey: present?.key, presentValue: present?.value };
    if (!train) return new AttentionResult(tensors);
    return trainable(memory, frame, tensors, given, { sinks: visibility.sinks?.shape, rotated });
  });
}

const readCount = (caller: string, name: 'heads' | 'kvHeads', value: unknown) =>
  value === undefined ? undefined : readNumber(caller, name, value, COUNT);

/** Returns the stride of (B,G,rows,width). */
const presentStride = ({ heads, width }: Form, rows: number) => [heads * rows * width, rows * width, width];

/**
 * Returns (B,G,P+S,width). past: (B,G,P,width); before: its rows; fresh: (B,G,S,width), strided; form: of the fresh
 * rows.
 */
function concatenate(
  memory: Memory,
  frame: Frame,
  past: Tensor | Staged,
  before: number,
  fresh: Tensor | Staged,
  { batch, heads, rows, width, stride }: Form,
) {
  const whole = frame.make([batch, heads, before + rows, width]);
  memory.append('attention', whole, past, fresh, { batch, kvHeads: heads, past: before, keys: rows, width, stride });
  return whole;
}

/** Rotates queries and keys by their positions, and replaces the blocks in `given`. */
function rotateInputs(
  memory: Memory,
  frame: Frame,
  caller: string,
  { rotary, offset }: Visibility,
  given: Record<'query' | 'key', InputBlock>,
  { q, k }: { q: Form; k: Form },
  past: number,
): RotatedInputs {
  const sizes = { batch: q.batch, queries: q.rows, fresh: k.rows, past, width: q.width };
  const rotation = makeRotation(frame, caller, rotary as Rotary, sizes, offset);
  for (const [name, form] of [
    ['query', q],
    ['key', k],
  ] as const) {
    const { block, shape } = given[name];
    const rotated = frame.scratch(form.batch * form.heads * form.rows * form.width); // of the shape of the input
    rotateHeads(memory, caller, rotated, block, form, rotation, name);
    given[name] = { block: rotated, shape };
  }
  return { rotation, q, k };
}

function splitInputs(
  caller: string,
  given: Record<'query' | 'key' | 'value', InputBlock>,
  heads: number | undefined,
  kvHeads: number | undefined,
) {
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

/** Determines how query, key or value is split into heads. It is (B,heads,N,width), or packed (B,N,heads·width). */
function splitHeads(
  caller: string,
  parameter: string,
  shape: readonly number[],
  name: 'heads' | 'kvHeads',
  heads: number | undefined,
  packed: boolean,
): Form {
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

function checkTogether(
  caller: string,
  given: Record<'query' | 'key' | 'value', InputBlock>,
  q: Form,
  k: Form,
  v: Form,
) {
  const key = (expected: string) => shapeError(caller, 'key', given.key.shape, expected);
  const value = (expected: string) => shapeError(caller, 'value', given.value.shape, expected);
  if (k.batch !== q.batch) throw key(`batch ${q.batch} like the query`);
  if (v.batch !== q.batch) throw value(`batch ${q.batch} like the query`);
  if (q.heads === 0) throw shapeError(caller, 'query', given.query.shape, 'at least one head');
  if (k.heads === 0 || q.heads % k.heads !== 0) throw key(`a number of heads that divides the query's ${q.heads}`);
  if (v.heads !== k.heads) throw value(`${k.heads} heads like the key`);
  if (k.width !== q.width) throw key(`head width ${q.width} like the query`);
  if (v.rows !== k.rows) throw value(`${k.rows} rows like the key`);
}

/** The frame has saved the inputs. tensors: (B,H,T,Dv), (B,H,T,S), (B,H,T,S). */
function trainable(
  memory: Memory,
  frame: Frame,
  tensors: { output: Tensor; weights?: Tensor; scores?: Tensor },
  given: Record<'query' | 'key' | 'value', InputBlock>,
  { sinks, rotated }: { sinks?: readonly number[]; rotated?: RotatedInputs },
) {
  const { output, weights } = tensors;
  frame.setPointer(AT.output, frame.copyIn(viewOf(output)));
  const shapes: Shapes = {
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

/** output: (B,H,T,Dv), in the layout of the query; dOutput: of the shape of the output */
function backward(
  memory: Memory,
  output: Tensor,
  saved: Saved,
  shapes: Shapes,
  rotated: RotatedInputs | undefined,
  dOutput: TensorLike,
  options: BackwardOptions,
): AttentionGradients {
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
    const make = (name: 'dQuery' | 'dKey' | 'dValue') => {
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
    return result as AttentionGradients;
  });
}
