// The final norm and the output head of a model, as functions of a token's final residual stream.

import { HeadlightError } from '../check/errors.ts';
import type { Resolved } from '../models/options.ts';
import { parameterName, plainNorms } from '../models/parameters.ts';
import { type Model, parametersOf } from './arrays.ts';

/** Weight (C) and bias (C) of a norm. The options of the model define the formula of the norm. */
export type Norm = { weight: Float32Array; bias: Float32Array | undefined };
export type Statistics = { mean: number; rstd: number };

export const refuse = (caller: string, reason: string) =>
  new HeadlightError('ARGUMENT', `${caller}: ${reason}`, { parameter: 'model', expected: 'a head that is linear' });

export function normOf(caller: string, model: Model, name: string): Norm | undefined {
  const { vector } = parametersOf(caller, model);
  const weight = vector(`${name}.weight`) ?? onesOf(model, `${name}.weight`);
  return weight && { weight, bias: vector(`${name}.bias`) };
}

/** Returns the implicit weight of ones for a norm without weights. */
function onesOf({ options }: Model, name: string) {
  const width = options.normScale === false && plainNorms(options as Resolved).get(parameterName(options, name));
  return width ? new Float32Array(width).fill(1) : undefined;
}

/** Returns the mean that a norm subtracts from a vector, and the factor by which it multiplies the result. x: (C). */
export function statisticsOf({ options: { norm, normEps = 1e-5 } }: Model, x: Float64Array): Statistics {
  const mean = norm === 'rms' ? 0 : x.reduce((sum, value) => sum + value, 0) / x.length;
  const square = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return { mean, rstd: 1 / Math.sqrt(square + normEps) };
}

/** Returns the output head of a model, which computes the logits as linear functions of the final residual stream. */
export function headOf(caller: string, model: Model) {
  const { head = 'logits', headTransform = 'none', tied, pooler = 'none', taught, logitScale = 1 } = model.options;
  if (head === 'pooled' && model.options.pool?.endsWith('mean'))
    throw refuse(caller, 'the logits of this model depend on the mean of all tokens, not on one token');
  if (head === 'none') throw refuse(caller, 'this model has no head and therefore no logits');
  if (headTransform !== 'none') throw refuse(caller, "an activation makes this model's head nonlinear");
  if (head === 'pooled' && pooler !== 'none' && pooler !== 'linear')
    throw refuse(caller, "an activation makes this model's pooler nonlinear");
  if (taught) throw refuse(caller, 'the logits of this model depend on two tokens');
  const { vector, matrix } = parametersOf(caller, model);
  const table = matrix(head === 'logits' && tied ? 'embedding.table' : 'head.weight'); // (V,E)
  const [classes, width] = table.shape;
  const bias = vector('head.bias');
  // A linear layer before the head, (E,C).
  const before = head === 'pooled' ? pooler === 'linear' && 'pooler' : width !== model.options.dModel && 'head.project';
  const project = before ? matrix(`${before}.weight`) : undefined;
  const projectBias = before ? vector(`${before}.bias`) : undefined;
  const { logitSoftcap: cap = 0 } = model.options;

  return {
    classes,

    /** Returns the row and the constant of a label. The logit before the softcap is x · row + constant. */
    direction(label: number) {
      const row = Float64Array.from(table.data.subarray(label * width, (label + 1) * width), (x) => x * logitScale);
      const constant = (bias?.[label] ?? 0) + (projectBias?.reduce((sum, x, i) => sum + x * row[i], 0) ?? 0);
      if (!project) return { row, constant };
      const wide = new Float64Array(project.shape[1]);
      for (let e = 0; e < width; e++)
        for (let c = 0; c < wide.length; c++) wide[c] += row[e] * project.data[e * wide.length + c];
      return { row: wide, constant };
    },

    /** Returns all logits (V) of one token. x: (C), after the final norm. */
    logits(x: Float64Array) {
      let inner = x;
      if (project) {
        const { data, shape } = project;
        inner = Float64Array.from({ length: shape[0] }, (_, e) => dot(data, e * x.length, x) + (projectBias?.[e] ?? 0));
      }
      return Float64Array.from({ length: classes }, (_, label) =>
        softcap(logitScale * dot(table.data, label * width, inner) + (bias?.[label] ?? 0)),
      );
    },

    softcap,
  };

  function softcap(z: number) {
    return cap > 0 ? cap * Math.tanh(z / cap) : z;
  }
}

/** rows: (V,E); x: (E) */
function dot(rows: Float32Array, start: number, x: Float64Array) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += rows[start + i] * x[i];
  return sum;
}
