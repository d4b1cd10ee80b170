// Reads array arguments, captured values and parameters of a model.

import { readNumber } from '../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../check/errors.ts';
import { quote } from '../check/quote.ts';
import { readTensorLike, type TensorLike } from '../check/tensorlike.ts';
import { parameterName } from '../models/parameters.ts';

export type Numbers = { data: Float32Array; shape: number[] };
export type Read = { floats: Float32Array; shape: readonly number[] };
export type Parameter = { data: Float32Array; shape: readonly number[] };
/** The members of a Transformer that the functions of this entry use. */
export type Model = {
  options: ModelOptions;
  parameters: Readonly<Record<string, Parameter>>;
  stateDict: () => Record<string, Parameter>;
  valuesOf?: ((name: string, caller: string) => Float32Array) | undefined;
};
/** The options of a Transformer that the functions of this entry use. */
export type ModelOptions = {
  layers: number;
  dModel: number;
  numHeads: number;
  kvHeads?: number | undefined;
  headDim?: number | undefined;
  mlp?: number | undefined;
  norm?: string | undefined;
  normPlace?: string | undefined;
  normEps?: number | undefined;
  normScale?: boolean | undefined;
  sharedBlocks?: boolean | undefined;
  disentangled?: { convolution?: object | undefined } | undefined;
  cross?: boolean | undefined;
  encoder?: { layers: number; numHeads: number } | undefined;
  tied?: boolean | undefined;
  head?: string | undefined;
  headTransform?: string | undefined;
  pool?: string | undefined;
  pooler?: string | undefined;
  taught?: boolean | undefined;
  residualScale?: number | undefined;
  logitScale?: number | undefined;
  logitSoftcap?: number | undefined;
};
export type Result = { captured: Readonly<Record<string, TensorLike>> };

export function requireModel(caller: string, model: unknown) {
  const { options } = (model ?? {}) as { options?: unknown };
  if (options === null || typeof options !== 'object')
    throw argumentError(caller, 'model', model, 'a model of hl.openModel or hl.transformer');
}

/** forms: accepted shapes, one letter per axis, such as 'BHTS' */
export function readArray(caller: string, parameter: string, value: TensorLike, ...forms: string[]): Read {
  const source = readTensorLike(value, caller, parameter);
  const { shape } = source;
  if (!forms.some(({ length }) => length === shape.length))
    throw shapeError(caller, parameter, shape, forms.map((form) => `(${[...form].join(',')})`).join(' or '));
  return { floats: source.floats(), shape };
}

/** Reads the attention weights of every layer as (B,H,T,S). Weights (H,T,S) become a batch of one. */
export function readLayers(caller: string, weights: readonly TensorLike[]) {
  if (!Array.isArray(weights) || weights.length === 0)
    throw argumentError(caller, 'weights', weights, 'a list with the weights of every layer');
  return weights.map((layer, l) => {
    const { floats, shape } = readArray(caller, `weights[${l}]`, layer, 'BHTS', 'HTS');
    return { floats, shape: shape.length === 3 ? [1, ...shape] : shape };
  });
}

export function readCaptured(caller: string, result: Result, name: string, form: string, needed: readonly string[]) {
  const value = result?.captured?.[name];
  if (value === undefined)
    throw new HeadlightError(
      'ARGUMENT',
      `${caller}: result has no captured ${quote(name)}, call forward with capture: ` +
        `[${needed.map((other) => `'${other}'`).join(', ')}]`,
      { parameter: 'result', expected: needed, got: Object.keys(result?.captured ?? {}) },
    );
  return readArray(caller, name, value, form);
}

/** Returns functions that read parameters by name. Matrices stored in int8 are dequantized. */
export function parametersOf(caller: string, model: Model) {
  const { parameters, options } = model;
  let state: ReturnType<Model['stateDict']> | undefined;
  return {
    vector: (name: string): Float32Array | undefined => parameters[parameterName(options, name)]?.data,

    matrix(name: string): Parameter {
      const stored = parameterName(options, name);
      if (stored in parameters) return parameters[stored];
      state ??= model.stateDict();
      if (stored in state) return state[stored];
      throw new HeadlightError('ARGUMENT', `${caller}: model has no ${name}`, { parameter: 'model', expected: name });
    },
  };
}

/** Returns the output projection (C,H·D), each row multiplied by the layer scale of its channel if there is one. */
export function scaleRows({ data, shape }: Parameter, scale: Float32Array | undefined): Parameter {
  if (!scale) return { data, shape };
  return { data: data.map((x, i) => x * scale[Math.floor(i / shape[1])]), shape };
}

/** Validates an index on an axis and returns it counted from the start. A negative index counts from the end. */
export function readIndex(caller: string, parameter: string, value: unknown, count: number) {
  const index = readNumber(caller, parameter, value, { integer: true, least: -count, most: count - 1 });
  return index < 0 ? index + count : index;
}
