// Runs a model twice to compare a clean run, from which values are copied, with a corrupted run, in which they are set.

import { readNumber } from '../../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../../check/errors.ts';
import { formatShape } from '../../check/shape.ts';
import { readTensorLike, type TensorLike } from '../../check/tensorlike.ts';

import type { Model, Numbers, Parameter, Result } from '../arrays.ts';

export type AnyName = any;
export type PatchedResult = Result & { logits?: Parameter | undefined; dispose(): void };
export type PatchedModel = Model & {
  forward(input: any, options: { capture?: AnyName[]; edit?: PatchEdit[] }): PatchedResult;
};
export type PatchEdit = {
  at: AnyName;
  head?: number;
  token?: number;
  set?: 'zero' | 'mean' | TensorLike;
  add?: TensorLike;
  change?: (value: Numbers, name: string) => Numbers | void;
};
/**
 * Computes a number from a result of forward, such as a loss. gradient: its derivative with respect to the logits, in
 * their shape; functions that differentiate need it.
 */
export type Metric = { (result: any): number; gradient?: (result: any) => Numbers };
export type GradientOptions = {
  of: Metric | Readonly<Record<string, TensorLike>>;
  at: AnyName[];
  edit?: PatchEdit[];
  straight?: number;
};
export type Gradients = {
  value?: number | undefined;
  captured: Record<string, TensorLike>;
  gradients: Record<string, TensorLike>;
  dispose(): void;
};
export type DifferentiableModel = PatchedModel & { differentiate(input: any, options: GradientOptions): Gradients };

export function checkMetric(caller: string, metric: unknown) {
  if (typeof metric !== 'function') throw argumentError(caller, 'metric', metric, 'a function of a result');
}

export function checkGradient(caller: string, metric: Metric, parameter = 'metric') {
  const expected = 'a metric with a gradient: metric.gradient(result) returns ∂metric/∂logits';
  if (typeof metric !== 'function' || typeof metric.gradient !== 'function')
    throw argumentError(caller, parameter, metric, expected);
}

export function checkLogits(caller: string, { options }: Model) {
  if (options.head === 'none')
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no head and therefore no logits`, {
      parameter: 'model',
      expected: 'a model with logits',
    });
}

/** Returns a metric that checks the result before it reads the logits. */
export function checkedFirst(metric: Metric, check: (result: PatchedResult) => void): Metric {
  const checked = (result: PatchedResult) => {
    check(result);
    return metric(result);
  };
  return Object.assign(checked, { gradient: metric.gradient });
}

export const readMetric = (caller: string, metric: Metric, result: PatchedResult) =>
  readNumber(caller, 'the value of metric', metric(result));

/** Reads a result of forward and frees it. */
export function measured<R>(result: PatchedResult, read: (result: PatchedResult) => R) {
  try {
    return read(result);
  } finally {
    result.dispose();
  }
}

export const runEdited = (caller: string, model: PatchedModel, input: any, metric: Metric, edit: PatchEdit[]) =>
  measured(model.forward(input, { edit }), (result) => readMetric(caller, metric, result));

export function copyAll(caller: string, arrays: Readonly<Record<string, TensorLike>>) {
  const copies: Record<string, Numbers> = {};
  for (const [name, array] of Object.entries(arrays)) {
    const source = readTensorLike(array, caller, name);
    copies[name] = { data: source.floats().slice(), shape: [...source.shape] };
  }
  return copies;
}

export const capturedBy = (caller: string, model: PatchedModel, input: any, capture: string[]) =>
  measured(model.forward(input, { capture }), ({ captured }) => copyAll(caller, captured));

export const runCaptured = (caller: string, model: PatchedModel, input: any, metric: Metric, capture: string[]) =>
  measured(model.forward(input, { capture }), (result) => ({
    value: readMetric(caller, metric, result),
    values: copyAll(caller, result.captured),
  }));

/** Differentiates a metric. Returns its value, and copies of the captured values and of their gradients. */
export function differentiated(caller: string, model: DifferentiableModel, input: any, options: GradientOptions) {
  const result = model.differentiate(input, options);
  try {
    const { captured, gradients } = result;
    return {
      value: result.value as number,
      values: copyAll(caller, captured),
      gradients: copyAll(caller, gradients),
    };
  } finally {
    result.dispose();
  }
}

/** Throws unless both runs have one sequence with the same number of tokens. */
export function checkPair(
  caller: string,
  clean: Readonly<Record<string, Numbers>>,
  corrupted: Readonly<Record<string, TensorLike>>,
) {
  for (const [name, { shape }] of Object.entries(clean)) {
    const other = readTensorLike(corrupted[name], caller, name).shape;
    const expected = `${formatShape(shape)}, the shape of ${name} in the clean run`;
    if (String(shape) !== String(other)) throw shapeError(caller, 'corrupted', other, expected);
    if (shape[0] !== 1)
      throw shapeError(caller, 'corrupted', other, `one sequence; ${name} of the clean run has ${formatShape(shape)}`);
  }
}
