// Gradients of a metric, or of named values, with respect to named values of one run.

import { readNumber, readOptions, readRecord } from '../../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../../check/errors.ts';
import { formatShape, sameShape } from '../../check/shape.ts';
import type { TensorLike } from '../../check/tensorlike.ts';
import { DISPOSE } from '../../memory/disposable.ts';
import { type Tensor, viewOf } from '../../memory/tensor.ts';
import { readArray } from '../../ops/state.ts';
import { type Edit, forEachElement, keysOf, type Numbers, readName, readOperand } from '../edits.ts';
import type { ModelResult } from '../modelResult.ts';
import type { Resolved } from '../options.ts';
import type { ValueName } from '../valueName.ts';
import type { Tape } from './tape.ts';

/** A number computed from the result of a run. gradient: its derivative with respect to the logits, in their shape. */
export type DifferentiableMetric = { (result: any): number; gradient?: (result: any) => TensorLike };
export type DifferentiateOptions = {
  /**
   * what to differentiate: a metric with a gradient, or the sum of cotangent · value, each broadcast to the shape of
   * its value
   */
  of: DifferentiableMetric | Readonly<Record<string, TensorLike>>;
  /** the values to differentiate with respect to: 'embed', 'blocks.*.heads' … */
  at: readonly ValueName[];
  /** changes of values; gradients are those of the edited values */
  edit?: readonly Edit[] | undefined;
  /** a block whose output's gradient passes unchanged to its input, so that all gradients inside are 0 */
  straight?: number | undefined;
};
export type ReadDifferentiate = {
  metric?: DifferentiableMetric | undefined;
  cotangents: Map<string, Numbers>;
  at: ReadonlySet<string>;
  capture: ValueName[];
  edit: readonly Edit[] | undefined;
  straight?: number | undefined;
  /** number of blocks that must be computed; default: all blocks and the head */
  blocks?: number | undefined;
};

export function readDifferentiate(
  caller: string,
  options: Resolved,
  given: DifferentiateOptions,
  memory: ArrayBufferLike,
): ReadDifferentiate {
  const { of, at, edit, straight: block } = readOptions(caller, given, ['of', 'at', 'edit', 'straight']);
  const called = Array.isArray(edit) ? edit.findIndex((one) => one?.change !== undefined) : -1;
  if (called >= 0)
    throw argumentError(caller, `edit[${called}].change`, edit?.[called].change, 'none, as its gradient is not known');
  if (!Array.isArray(at)) throw argumentError(caller, 'at', at, 'a list of names');
  at.forEach((name, i) => void readName(caller, `at[${i}]`, name, options, true));
  const straight =
    block === undefined
      ? undefined
      : readNumber(caller, 'straight', block, { integer: true, least: 0, most: options.layers - 1 });
  const metric = typeof of === 'function' ? of : undefined;
  if (metric && typeof metric.gradient !== 'function')
    throw argumentError(caller, 'of', of, 'a metric with a gradient: of.gradient(result) returns ∂of/∂logits');
  const cotangents: Map<string, Numbers> = new Map();
  if (!metric)
    for (const [name, value] of readRecord(
      caller,
      'of',
      of,
      'a metric, or an object of cotangents by names of values',
    )) {
      const parameter = `of.${name}`;
      readName(caller, 'of', name, options);
      if (name.includes('*')) throw argumentError(caller, 'of', name, 'names without *');
      if (straight !== undefined && new RegExp(`^blocks\\.${straight}\\.(?!in$|out$)`).test(name))
        throw argumentError(caller, 'of', name, `a value outside block ${straight}, which the option straight skips`);
      cotangents.set(name, readArray(caller, parameter, value, memory));
    }
  const capture = [...at, ...(cotangents.keys() as Iterable<ValueName>)];
  const blocks = metric ? undefined : blocksFor(capture, options.layers);
  return { metric, cotangents, at: new Set(at), capture, edit, straight, blocks };
}

/** Returns the number of blocks that must be computed for all named values, or undefined if the head is needed too. */
function blocksFor(names: readonly unknown[], layers: number) {
  let count = 0;
  for (const name of names.map(String)) {
    if (name === 'logits' || name.startsWith('pool')) return undefined;
    if (name.startsWith('encoder.') || name === 'embed') continue;
    const block = /^blocks\.(\d+)\./.exec(name)?.[1];
    count = Math.max(count, block === undefined ? layers : Number(block) + 1);
  }
  return count;
}

/** The values and gradients that differentiate() returns. dispose() frees all of them. */
export class Differentiated {
  /** The value of the metric. */
  declare value: number | undefined;
  /** The logits of the run, if a metric is differentiated. */
  declare logits: Tensor | undefined;
  /** The values by name. */
  declare captured: Record<string, Tensor>;
  /** The gradients with respect to the values, by the names of the values. */
  declare gradients: Record<string, Tensor>;

  constructor(
    captured: Record<string, Tensor>,
    gradients: Record<string, Tensor>,
    measured?: { value: number; logits: Tensor },
  ) {
    this.value = measured?.value;
    this.logits = measured?.logits;
    this.captured = captured;
    this.gradients = gradients;
  }

  dispose() {
    const { logits, captured, gradients } = this;
    for (const tensor of [...Object.values(captured), ...Object.values(gradients)]) tensor.dispose();
    logits?.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

export function gradientsOf(
  caller: string,
  tape: Tape,
  result: ModelResult,
  { metric, cotangents, at }: ReadDifferentiate,
) {
  const measured = metric && measure(caller, tape, result, metric);
  const outputs: [Tensor, Tensor][] = measured ? [[measured.logits, measured.gradient]] : [];
  for (const [name, numbers] of cotangents) {
    const value = result.captured[name];
    if (!value) throw argumentError(caller, 'of', name, 'a value that this model computes');
    outputs.push([value, cotangentOf(caller, tape, `of.${name}`, numbers, value)]);
  }
  tape.backward(outputs);
  // Values may share one gradient tensor, so each is copied. Captured values have tensors of their own.
  return tape.memory.scope(() => {
    const [captured, gradients]: Record<string, Tensor>[] = [{}, {}];
    for (const [name, value] of Object.entries(result.captured)) {
      if (!keysOf(name).some((key) => at.has(key))) continue;
      captured[name] = tape.memory.scoped(tape.release(value));
      gradients[name] = copyOf(tape, tape.gradient(value), value.shape);
    }
    return new Differentiated(
      captured,
      gradients,
      measured && { ...measured, logits: copyOf(tape, measured.logits, measured.logits.shape) },
    );
  });
}

/** Returns a copy that the caller owns, or zeros if there is no tensor. */
function copyOf({ memory, caller }: Tape, x: Tensor | undefined, shape: readonly number[]) {
  const copy = memory.empty([...shape], caller);
  if (x) viewOf(copy).set(viewOf(x));
  else viewOf(copy).fill(0);
  return copy;
}

function measure(caller: string, tape: Tape, result: ModelResult, metric: DifferentiableMetric) {
  const { logits } = result;
  if (!logits)
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no logits, so a metric cannot be differentiated`, {
      parameter: 'of',
    });
  const value = readNumber(caller, 'the result of the metric', metric(result));
  const given = (metric.gradient as NonNullable<typeof metric.gradient>)(result);
  const { shape, floats } = readArray(caller, 'of.gradient', given, tape.memory.buffer);
  if (!sameShape(shape, logits.shape)) throw shapeError(caller, 'of.gradient', shape, formatShape(logits.shape));
  return { value, logits, gradient: tape.from(shape, floats) };
}

/** Returns the cotangent, broadcast to the shape of its value. It is 0 at the score of a masked key, which is −∞. */
function cotangentOf(caller: string, tape: Tape, parameter: string, numbers: Numbers, value: Tensor): Tensor {
  const at = readOperand(caller, parameter, numbers, value.shape);
  const cotangent = tape.make(value.shape);
  const [to, values] = [viewOf(cotangent), viewOf(value)];
  forEachElement({}, value.shape, {}, 0, (i, index) => void (to[i] = values[i] === -Infinity ? 0 : at(index)));
  return cotangent;
}
