// Captures and edits of named values of a run.

import { checkOptions, readNumber, readWord } from '../check/arguments.ts';
import { argumentError, shapeError } from '../check/errors.ts';
import { broadcastStrides, formatShape, sameShape } from '../check/shape.ts';
import type { TensorLike } from '../check/tensorlike.ts';
import { type Tensor, viewOf } from '../memory/tensor.ts';
import { readArray } from '../ops/state.ts';
import type { Tape } from './gradients/tape.ts';
import type { Resolved } from './options.ts';
import type { BlockValue } from './valueName.ts';

/**
 * A change of one value. mask, temperature and window, only for 'blocks.L.scores', are applied first, then set, scale,
 * add. The score of a masked key, −Infinity, is changed only by mask, window, and set with 'zero' or a tensor.
 */
export type Edit = {
  /** the name of a value; * matches any block */
  at: string;
  /** default: all heads */
  head?: number | readonly number[] | undefined;
  /** positions in the whole sequence; default: all tokens */
  token?: number | readonly number[] | undefined;
  /** 'mean' is the mean over all tokens of this call */
  set?: 'zero' | 'mean' | (string & {}) | TensorLike | undefined;
  scale?: number | undefined;
  add?: TensorLike | undefined;
  /**
   * (…,T,S): 0 = masked key, in place of the model's masks; 'none' masks no key. With a cache, a mask that does not fit
   * the call's tokens is for the first of the whole sequence; later tokens have the model's masks
   */
  mask?: 'none' | (string & {}) | TensorLike | undefined;
  /** number by which the scores are divided */
  temperature?: number | undefined;
  /** the largest distance from the query to keys on its left and on its right; −1 = no limit */
  window?: readonly [number, number] | undefined;
  /**
   * a function that is called during the run with a copy of the value and its name; it returns the new value, or
   * nothing to keep it. An edit with `change` must contain no other changes
   */
  change?: Change | undefined;
};
export type Change = (value: { data: Float32Array; shape: number[] }, name: string) => TensorLike | undefined | void;
export type Numbers = { shape: readonly number[]; floats: Float32Array };
export type ReadEdit = {
  at: string;
  parameter: string;
  head?: readonly number[];
  token?: readonly number[];
  set?: 'zero' | 'mean' | Numbers;
  scale?: number;
  add?: Numbers;
  mask?: 'none' | Numbers;
  temperature?: number;
  window?: readonly [number, number];
  change?: Change;
};
export type Axes = { head?: number; token?: number };

/**
 * A value of one block or, with '*', of every block, and the number of its heads. Maps have both as keys, so that a
 * look-up takes the same time for any number of edits.
 */
export type ReadName = { key: string; heads?: number };

const EDIT = ['at', 'head', 'token', 'set', 'scale', 'add', 'mask', 'temperature', 'window', 'change'];
const MODEL_VALUES: readonly string[] = ['embed', 'final', 'logits'];
const BLOCK_VALUES: readonly BlockValue[] = [
  'in',
  'norm1',
  'query',
  'key',
  'value',
  'scores',
  'weights',
  'heads',
  'attention',
  'mid',
  'norm2',
  'hidden',
  'mlp',
  'out',
];
/** Names of the pooled rows and of values in the attention that pools them. */
const POOL = /^pool(ed|\.(query|key|value|scores|weights|heads))$/;
const CROSS_VALUES = ['norm', 'query', 'key', 'value', 'scores', 'weights', 'heads', 'attention'].map(
  (name) => `cross.${name}`,
);
/** Inputs that are read from the residual stream, before the norm. Each head has its own of query, key and value. */
const INPUTS: readonly BlockValue[] = ['query.in', 'key.in', 'value.in', 'mlp.in'];
const IN_BLOCK: ReadonlySet<string> = new Set([...BLOCK_VALUES, ...CROSS_VALUES, ...INPUTS]);
const OF_INPUT = /\.(query|key|value|mlp)\.in$/;
const BLOCK = /^blocks\.(\*|0|[1-9]\d*)\.(.+)$/;
const MAX_NAME = 64;
const NAMES = "the name of a value: 'embed', 'blocks.0.weights', 'blocks.*.out', 'final' …";
export const ROWS = { token: 1 };
export const HEADS = { head: 1, token: 2 };

const describeBlocks = (layers: number) =>
  layers === 0
    ? 'another value, because this model has no blocks'
    : `a block from 0 to ${layers - 1}: this model has ${layers} block${layers === 1 ? '' : 's'}`;

/** whole: true: 'blocks.0.*' matches all values of a block */
export function readName(caller: string, parameter: string, name: unknown, options: Resolved, whole = false): ReadName {
  const fail = (expected = NAMES) => argumentError(caller, parameter, name, expected);
  if (typeof name !== 'string' || name.length > MAX_NAME) throw fail();
  const inEncoder = name.startsWith('encoder.');
  if (inEncoder && !options.encoder) throw fail('a name without encoder, because this model has no encoder');
  const stack = inEncoder && options.encoder ? options.encoder : options;
  const own = inEncoder ? name.slice('encoder.'.length) : name;
  if (MODEL_VALUES.includes(own)) {
    if (own === 'logits' && stack.head === 'none') throw fail('another value, because the model has no logits');
    return { key: name };
  }
  if (POOL.test(name) && (name === 'pooled' ? stack.pool !== 'none' : stack.pool === 'attention'))
    return { key: name, heads: headsOf(name, stack) };
  const [, block, value] = BLOCK.exec(own) ?? [];
  if (value === undefined) throw fail();
  if (value === '*' ? !whole : !IN_BLOCK.has(value)) throw fail(`${NAMES}; a block has ${BLOCK_VALUES.join(', ')}`);
  if (value.startsWith('cross.') && !stack.cross) throw fail('another value, as there is no attention to an encoder');
  if (block !== '*' && Number(block) >= stack.layers) throw fail(describeBlocks(stack.layers));
  return { key: name, heads: headsOf(value, stack) };
}

function headsOf(value: string, { numHeads, kvHeads }: Resolved) {
  if (/(^|\.)(query|scores|weights|heads|query\.in)$/.test(value)) return numHeads;
  return /(^|\.)(key|value|key\.in|value\.in)$/.test(value) ? kvHeads : undefined;
}

/**
 * The names, exact or with '*', that match a value. 'blocks.0.*' leaves out inputs before a norm ('query.in' …), which
 * are large.
 */
export function keysOf(name: string) {
  const found = /^(.*blocks\.)\d+(\..+)$/.exec(name);
  if (!found) return [name];
  const [, before, after] = found;
  if (OF_INPUT.test(name)) return [name, `${before}*${after}`];
  const block = name.slice(0, -after.length);
  return [name, `${before}*${after}`, `${block}.*`, `${before}*.*`];
}

function readIndices(caller: string, parameter: string, value: unknown) {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  return [...new Set(list.map((n) => readNumber(caller, parameter, n, { integer: true, least: 0 })))];
}

export function readValues(
  caller: string,
  options: Resolved,
  capture: unknown = [],
  edit: unknown = [],
  memory: ArrayBufferLike,
) {
  if (!Array.isArray(capture)) throw argumentError(caller, 'capture', capture, 'a list of names');
  if (!Array.isArray(edit)) throw argumentError(caller, 'edit', edit, 'a list of edits');
  const captures = capture.map((name, i) => readName(caller, `capture[${i}]`, name, options, true).key);
  const edits = edit.map((given, i) => readEdit(caller, `edit[${i}]`, given, options, memory));
  if ([...captures, ...edits.map(({ at }) => at)].some((name) => OF_INPUT.test(name))) refuseNorm(caller, edits);
  return new Values(caller, captures, edits);
}

/**
 * Refuses edits of norm1 if an input before it ('query.in' …) is captured or edited: it then has a norm of its own,
 * which the edit would not change.
 */
function refuseNorm(caller: string, edits: ReadEdit[]) {
  const found = edits.find(({ at }) => at.endsWith('.norm1'));
  if (found)
    throw argumentError(
      caller,
      `${found.parameter}.at`,
      found.at,
      'another value, because an input before this norm is captured or edited',
    );
}

function readEdit(
  caller: string,
  parameter: string,
  given: unknown,
  options: Resolved,
  memory: ArrayBufferLike,
): ReadEdit {
  checkOptions(caller, given, EDIT, parameter);
  const { at, head, token, set, scale, add, mask, temperature, window, change } = given as Edit;
  const name = (part: string) => `${parameter}.${part}`;
  const array = (part: string, value: unknown) => readArray(caller, name(part), value, memory);
  const { key, heads } = readName(caller, name('at'), at, options);
  const edit = {
    at: key,
    parameter,
    head: readIndices(caller, name('head'), head),
    token: readIndices(caller, name('token'), token),
    set:
      typeof set === 'string'
        ? readWord(caller, name('set'), set, ['zero', 'mean'] as const)
        : set === undefined
          ? undefined
          : array('set', set),
    scale: scale === undefined ? undefined : readNumber(caller, name('scale'), scale),
    add: add === undefined ? undefined : array('add', add),
    mask:
      mask === undefined
        ? undefined
        : typeof mask === 'string'
          ? readWord(caller, name('mask'), mask, ['none'] as const)
          : array('mask', mask),
    temperature:
      temperature === undefined ? undefined : readNumber(caller, name('temperature'), temperature, { least: 1e-6 }),
    window: window === undefined ? undefined : readWindow(caller, name('window'), window),
    change: change === undefined ? undefined : readChange(caller, name('change'), change, given),
  };
  if (edit.head && heads === undefined) throw argumentError(caller, name('head'), head, `none, as ${at} has no heads`);
  const tooLarge = edit.head?.find((h) => h >= Number(heads));
  if (tooLarge !== undefined) throw argumentError(caller, name('head'), tooLarge, `less than ${heads}`);
  const scoresOnly = ['mask', 'temperature', 'window'].find((part) => (given as Edit)[part as 'mask'] !== undefined);
  if (scoresOnly && !at.endsWith('.scores'))
    throw argumentError(
      caller,
      name(scoresOnly),
      (given as Edit)[scoresOnly as 'mask'],
      "none, because only 'blocks.L.scores' accepts it",
    );
  return edit;
}

function readChange(caller: string, parameter: string, change: unknown, edit: unknown): Change {
  if (typeof change !== 'function')
    throw argumentError(caller, parameter, change, 'a function of a value and its name');
  const { at } = edit as Edit;
  if (at.endsWith('.scores')) throw argumentError(caller, parameter, change, 'none, as scores do not accept functions');
  const others = Object.entries(edit as Edit).filter(([, value]) => value !== undefined);
  if (others.length > 2) throw argumentError(caller, parameter, change, 'to be the only change of the edit');
  return change as Change;
}

function readWindow(caller: string, parameter: string, window: unknown): readonly [number, number] {
  if (!Array.isArray(window) || window.length !== 2) throw argumentError(caller, parameter, window, '[left, right]');
  const [left, right] = window.map((n) => readNumber(caller, parameter, n, { integer: true, least: -1 }));
  return [left, right];
}

export class Values {
  declare idle: boolean;

  #caller: string;
  #captures: Set<string>;
  #edits: Map<string, { index: number; edit: ReadEdit }[]> = new Map();
  /** Results of keysOf() by name, so that each name is parsed once. */
  #keys: Map<string, string[]> = new Map();
  captured: Record<string, Tensor> = {};

  constructor(caller: string, captures: string[], edits: ReadEdit[]) {
    this.#caller = caller;
    this.#captures = new Set(captures);
    for (const [index, edit] of edits.entries()) {
      const others = this.#edits.get(edit.at);
      if (others) others.push({ index, edit });
      else this.#edits.set(edit.at, [{ index, edit }]);
    }
    this.idle = captures.length === 0 && edits.length === 0;
  }

  #keysOf(name: string) {
    const keys = this.#keys.get(name) ?? keysOf(name);
    this.#keys.set(name, keys);
    return keys;
  }

  captures(name: string) {
    return this.#captures.size > 0 && this.#keysOf(name).some((key) => this.#captures.has(key));
  }

  /** The edits of a value, in the order of the list. */
  edits(name: string) {
    if (this.#edits.size === 0) return [];
    return this.#keysOf(name)
      .flatMap((key) => this.#edits.get(key) ?? [])
      .sort((a, b) => a.index - b.index)
      .map(({ edit }) => edit);
  }

  wants(name: string) {
    return this.captures(name) || this.edits(name).length > 0;
  }

  #callChange({ parameter }: ReadEdit, change: Change, value: Tensor, name: string, tape: Tape): Reverse {
    const shape = [...value.shape];
    const given = change({ data: viewOf(value).slice(), shape }, name);
    if (given !== undefined) {
      const read = readArray(this.#caller, `${parameter}.change`, given, tape.memory.buffer);
      if (!sameShape(read.shape, value.shape))
        throw shapeError(this.#caller, `${parameter}.change`, read.shape, formatShape(value.shape));
      viewOf(value).set(read.floats);
    }
    return () => {};
  }

  /**
   * Edits and captures a value, and returns the one to continue with. start: position of the first token; fresh: no
   * other value has this tensor.
   */
  pass(name: string, tensor: Tensor, axes: Axes, start: number, tape: Tape, fresh = false) {
    const edits = this.edits(name);
    const captures = this.captures(name);
    if (captures) tape.start();
    let value = tensor;
    // Two names may have the same tensor, such as the input of a block and that of its attention, but the gradients of
    // the two values differ.
    if (edits.length > 0 || (captures && tape.differentiates && !fresh)) {
      value = tape.duplicate(tensor);
      const reverses = edits.map((edit) =>
        edit.change
          ? this.#callChange(edit, edit.change, value, name, tape)
          : applyEdit(this.#caller, edit, viewOf(value), value.shape, axes, start),
      );
      tape.record(value, (d) => tape.accumulate(tensor, reverses.length > 0 ? reversed(tape, d, reverses) : d));
    }
    if (captures) this.captured[name] = value;
    return value;
  }
}

/** Returns the gradient before edits, given the gradient after them. */
function reversed(tape: Tape, d: Tensor, reverses: Reverse[]) {
  const dx = tape.duplicate(d);
  for (const reverse of reverses.reverse()) reverse(viewOf(dx));
  return dx;
}

/**
 * Calls a function with the index in the data and on every axis of each element that an edit changes. start: position
 * of the first token.
 */
export function forEachElement(
  { head, token }: Pick<ReadEdit, 'head' | 'token'>,
  shape: readonly number[],
  axes: Axes,
  start: number,
  each: (at: number, index: readonly number[]) => void,
) {
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const indices = shape.map((n, axis) =>
    axis === axes.head && head
      ? head
      : axis === axes.token && token
        ? token.map((t) => t - start).filter((t) => t >= 0 && t < n)
        : Array.from({ length: n }, (_, i) => i),
  );
  const index = shape.map(() => 0);
  const walk = (axis: number, at: number) => {
    if (axis === shape.length) return each(at, index);
    for (const i of indices[axis]) {
      index[axis] = i;
      walk(axis + 1, at + i * strides[axis]);
    }
  };
  walk(0, 0);
}

/** Maps the index of an element to the operand there, broadcast from the right. */
export function readOperand(caller: string, parameter: string, numbers: Numbers, shape: readonly number[]) {
  const strides = broadcastStrides([...numbers.shape], [...shape]);
  if (!strides) throw shapeError(caller, parameter, numbers.shape, `a shape that broadcasts to ${formatShape(shape)}`);
  return (index: readonly number[]) => {
    let at = 0;
    for (let i = 0; i < index.length; i++) at += index[i] * strides[i];
    return numbers.floats[at];
  };
}

/**
 * Changes, in place, the gradient with respect to an edited value into the gradient with respect to the unedited value.
 */
export type Reverse = (gradient: Float32Array) => void;

export function applyEdit(
  caller: string,
  edit: ReadEdit,
  data: Float32Array,
  shape: readonly number[],
  axes: Axes,
  start: number,
): Reverse {
  const { set, scale = 1, add, token, parameter } = edit;
  if (token && axes.token === undefined)
    throw argumentError(caller, `${parameter}.token`, token, 'none, because this value has no tokens');
  // With a cache, a call may have none of these tokens. Then the operand need not fit the shape of the call.
  if (token && !token.some((t) => t >= start && t < start + shape[axes.token as number])) return () => {};
  const number = (part: string, numbers: Numbers) => readOperand(caller, `${parameter}.${part}`, numbers, shape);
  const mean = set === 'mean' ? meanOver(data, shape, axes) : undefined;
  const replacement = set === undefined || typeof set === 'string' ? () => 0 : number('set', set);
  const addend = add === undefined ? undefined : number('add', add);
  forEachElement(edit, shape, axes, start, (at, index) => {
    const unchanged = set === undefined || (mean && data[at] === -Infinity);
    const next = unchanged ? data[at] : (mean ? mean.at : replacement)(index);
    // −∞ is not multiplied, because −∞ · 0 is NaN. Without `add` nothing is added, because −0 + 0 is 0.
    data[at] = next === -Infinity ? next : addend ? next * scale + addend(index) : next * scale;
  });
  return (gradient) => {
    const keep: (at: number, index: readonly number[], d: number) => void = mean ? mean.collect : () => {};
    forEachElement(edit, shape, axes, start, (at, index) => {
      const d = gradient[at] * scale;
      gradient[at] = set === undefined ? d : 0;
      keep(at, index, d);
    });
    mean?.spread(gradient);
  };
}

/** Computes the means over batch and tokens, without the scores of masked keys, and the gradients of the means. */
function meanOver(data: Float32Array, shape: readonly number[], { token }: Axes) {
  const reduced = shape.map((n, axis) => (axis === 0 || axis === token ? 1 : n));
  const strides = reduced.map((n, i) => (n === 1 ? 0 : reduced.slice(i + 1).reduce((a, b) => a * b, 1)));
  const meanAt = (index: readonly number[]) => index.reduce((at, i, axis) => at + i * strides[axis], 0);
  const size = reduced.reduce((a, b) => a * b, 1);
  const [sums, counts, gradients] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const visible = new Uint8Array(data.length);
  forEachElement({}, shape, {}, 0, (at, index) => {
    if (data[at] === -Infinity) return;
    visible[at] = 1;
    sums[meanAt(index)] += data[at];
    counts[meanAt(index)]++;
  });
  return {
    at: (index: readonly number[]) => sums[meanAt(index)] / counts[meanAt(index)],

    /** Adds the gradient of an element that was set to a mean to the gradient of this mean. */
    collect(at: number, index: readonly number[], d: number) {
      if (visible[at]) gradients[meanAt(index)] += d;
    },

    /** Adds to the gradient of each element its share of the gradient of the mean. */
    spread(gradient: Float32Array) {
      forEachElement({}, shape, {}, 0, (at, index) => {
        if (visible[at]) gradient[at] += gradients[meanAt(index)] / counts[meanAt(index)];
      });
    },
  };
}
