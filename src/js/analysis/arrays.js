// Arrays that callers hand over, and what is read of a model and of its results.

import { readNumber } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { quote } from '../check/quote.js';
import { readTensorLike } from '../check/tensorlike.js';

/** @import { TensorLike } from '../check/tensorlike.js' */

/** @typedef {{ data: Float32Array, shape: number[] }} Numbers */
/** @typedef {{ floats: Float32Array, shape: readonly number[] }} Read */
/** @typedef {{ data: Float32Array, shape: readonly number[] }} Parameter */
/**
 * What a Transformer has of it.
 * @typedef {object} Model
 * @property {ModelOptions} options
 * @property {Readonly<Record<string, Parameter>>} parameters
 * @property {() => Record<string, Parameter>} stateDict
 */
/**
 * The options of a Transformer that say how its values are joined.
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
 * @property {boolean} [cross]
 * @property {boolean} [tied]
 * @property {string} [head]
 * @property {string} [headTransform]
 * @property {string} [pool]
 * @property {string} [pooler]
 * @property {boolean} [taught]
 * @property {number} [logitScale]
 * @property {number} [logitSoftcap]
 */
/** @typedef {{ captured: Readonly<Record<string, TensorLike>> }} Result what forward has given, with captured values */

/**
 * @param {string} caller
 * @param {string} parameter
 * @param {TensorLike} value
 * @param {...string} forms of its shape that are taken, one letter an axis: 'BHTS'
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
 * The weights of every layer, (B,H,T,S); (H,T,S) is a batch of one.
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
 * A value that forward was asked to hand out.
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
      `${caller}: result has no captured ${quote(name)}: call forward with capture: ` +
        `[${needed.map((other) => `'${other}'`).join(', ')}]`,
      { parameter: 'result', expected: needed, got: Object.keys(result?.captured ?? {}) },
    );
  return readArray(caller, name, value, form);
}

/**
 * Reads parameters by name. Matrices that the model keeps in int8 are read as what they are then.
 * @param {string} caller
 * @param {Model} model
 */
export function parametersOf(caller, model) {
  const { parameters } = model;
  /** @type {ReturnType<Model['stateDict']> | undefined} */
  let state;
  return {
    /** @param {string} name @returns {Float32Array | undefined} */
    vector: (name) => parameters[name]?.data,

    /** @param {string} name @returns {Parameter} */
    matrix(name) {
      if (name in parameters) return parameters[name];
      state ??= model.stateDict();
      if (name in state) return state[name];
      throw new HeadlightError('ARGUMENT', `${caller}: model has no ${name}`, { parameter: 'model', expected: name });
    },
  };
}

/**
 * A place on an axis; −1 is the last.
 * @param {string} caller
 * @param {string} parameter
 * @param {unknown} value
 * @param {number} count
 */
export function readPlace(caller, parameter, value, count) {
  const place = readNumber(caller, parameter, value, { integer: true, least: -count, most: count - 1 });
  return place < 0 ? place + count : place;
}
