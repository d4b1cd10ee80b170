// Reads array arguments, captured values and parameters of a model.

import { readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { readTensorLike } from '../check/tensorlike.js';
import { parameterName } from '../models/parameters.js';

/** @import { TensorLike } from '../check/tensorlike.js' */

/** @typedef {{ data: Float32Array, shape: number[] }} Numbers */
/** @typedef {{ floats: Float32Array, shape: readonly number[] }} Read a validated array argument */
/** @typedef {{ data: Float32Array, shape: readonly number[] }} Parameter */
/**
 * The members of a Transformer that the functions of this entry use.
 * @typedef {object} Model
 * @property {ModelOptions} options
 * @property {Readonly<Record<string, Parameter>>} parameters
 * @property {() => Record<string, Parameter>} stateDict
 * @property {(name: string, caller: string) => Float32Array} [valuesOf] reads one parameter in float32
 */
/**
 * The options of a Transformer that the functions of this entry use.
 * @typedef {object} ModelOptions
 * @property {number} layers
 * @property {number} dModel
 * @property {number} numHeads
 * @property {number} [kvHeads]
 * @property {number} [headDim]
 * @property {number} [mlp]
 * @property {string} [norm]
 * @property {string} [normPlace]
 * @property {number} [normEps]
 * @property {boolean} [normScale]
 * @property {boolean} [sharedBlocks]
 * @property {{ convolution?: object | undefined }} [disentangled]
 * @property {boolean} [cross]
 * @property {{ layers: number, numHeads: number } | undefined} [encoder]
 * @property {boolean} [tied]
 * @property {string} [head]
 * @property {string} [headTransform]
 * @property {string} [pool]
 * @property {string} [pooler]
 * @property {boolean} [taught]
 * @property {number} [residualScale]
 * @property {number} [logitScale]
 * @property {number} [logitSoftcap]
 */
/** @typedef {{ captured: Readonly<Record<string, TensorLike>> }} Result the result of forward, with captured values */

/**
 * Refuses a value that is not a model, such as a forgotten argument.
 * @param {string} caller
 * @param {unknown} model
 */
export function requireModel(caller, model) {
  const { options } = /** @type {{ options?: unknown }} */ (model ?? {});
  if (options === null || typeof options !== 'object')
    throw argumentError(caller, 'model', model, 'a model of hl.openModel or hl.transformer');
}

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {TensorLike} value
 * @param {...string} forms accepted shapes, one letter per axis, such as 'BHTS'
 * @returns {Read}
 */
export function readArray(caller, parameter, value, ...forms) {
  const source = readTensorLike(value, caller, parameter);
  const { shape } = source;
  if (!forms.some(({ length }) => length === shape.length))
    throw shapeError(caller, parameter, shape, forms.map((form) => `(${[...form].join(',')})`).join(' or '));
  return { floats: source.floats(), shape };
}

/**
 * Reads the attention weights of every layer as (B,H,T,S). Weights (H,T,S) become a batch of one.
 * @param {string} caller
 * @param {readonly TensorLike[]} weights
 */
export function readLayers(caller, weights) {
  if (!Array.isArray(weights) || weights.length === 0)
    throw argumentError(caller, 'weights', weights, 'a list with the weights of every layer');
  return weights.map((layer, l) => {
    const { floats, shape } = readArray(caller, `weights[${l}]`, layer, 'BHTS', 'HTS');
    return { floats, shape: shape.length === 3 ? [1, ...shape] : shape };
  });
}

/**
 * Reads a captured value of a result of forward.
 * @param {string} caller
 * @param {Result} result
 * @param {string} name
 * @param {string} form
 * @param {readonly string[]} needed
 */
export function readCaptured(caller, result, name, form, needed) {
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

/**
 * Returns functions that read parameters by name. Matrices stored in int8 are dequantized.
 * @param {string} caller
 * @param {Model} model
 */
export function parametersOf(caller, model) {
  const { parameters, options } = model;
  /** @type {ReturnType<Model['stateDict']> | undefined} */
  let state;
  return {
    /** @param {string} name @returns {Float32Array | undefined} */
    vector: (name) => parameters[parameterName(options, name)]?.data,

    /** @param {string} name @returns {Parameter} */
    matrix(name) {
      const stored = parameterName(options, name);
      if (stored in parameters) return parameters[stored];
      state ??= model.stateDict();
      if (stored in state) return state[stored];
      throw new HeadlightError('ARGUMENT', `${caller}: model has no ${name}`, { parameter: 'model', expected: name });
    },
  };
}

/**
 * Returns the output projection of attention, each row multiplied by the factor of its channel if the model has such
 * factors.
 * @param {Parameter} projection (C,H·D)
 * @param {Float32Array | undefined} scale (C)
 * @returns {Parameter}
 */
export function scaleRows({ data, shape }, scale) {
  if (!scale) return { data, shape };
  return { data: data.map((x, i) => x * scale[Math.floor(i / shape[1])]), shape };
}

/**
 * Validates an index on an axis and returns it counted from the start. A negative index counts from the end.
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {number} count
 */
export function readIndex(caller, parameter, value, count) {
  const index = readNumber(caller, parameter, value, { integer: true, least: -count, most: count - 1 });
  return index < 0 ? index + count : index;
}
