// What becomes of the last values of a token: the final norm and the head, whose logits are found one at a time.

import { HeadlightError } from '../check/errors.js';
import { plainNorms } from '../models/parameters.js';
import { parametersOf } from './arrays.js';

/** @import { Resolved } from '../models/options.js' */
/** @import { Model } from './arrays.js' */

/**
 * weight and bias of a norm; how it is computed is the model's.
 * @typedef {{ weight: Float32Array, bias: Float32Array | undefined }} Norm
 */
/** @typedef {{ mean: number, rstd: number }} Statistics */

/** @param {string} caller @param {string} reason */
const refuse = (caller, reason) =>
  new HeadlightError('ARGUMENT', `${caller}: ${reason}`, { parameter: 'model', expected: 'a head that is linear' });

/**
 * The norm of a model by its name, undefined where it has none.
 * @param {string} caller
 * @param {Model} model
 * @param {string} name
 * @returns {Norm | undefined}
 */
export function normOf(caller, model, name) {
  const { vector } = parametersOf(caller, model);
  const weight = vector(`${name}.weight`) ?? onesOf(model, `${name}.weight`);
  return weight && { weight, bias: vector(`${name}.bias`) };
}

/** What a norm without a weight multiplies by. @param {Model} model @param {string} name */
function onesOf({ options }, name) {
  const width = options.normScale === false && plainNorms(/** @type {Resolved} */ (options)).get(name);
  return width ? new Float32Array(width).fill(1) : undefined;
}

/**
 * What a norm takes away from a vector and what it divides by.
 * @param {Model} model
 * @param {Float64Array} x
 * @returns {Statistics}
 */
export function statisticsOf({ options: { norm, normEps = 1e-5 } }, x) {
  const mean = norm === 'rms' ? 0 : x.reduce((sum, value) => sum + value, 0) / x.length;
  const square = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return { mean, rstd: 1 / Math.sqrt(square + normEps) };
}

/**
 * The head of a model: the logit of a label as a product with the token's last values.
 * @param {string} caller
 * @param {Model} model
 */
export function headOf(caller, model) {
  const { head = 'logits', headTransform = 'none', tied, pooler = 'none', taught, logitScale = 1 } = model.options;
  if (head === 'pooled' && model.options.pool === 'mean')
    throw refuse(caller, "this model's logits are of the mean of all tokens");
  if (head === 'none') throw refuse(caller, 'this model has no head, and so no logits');
  if (headTransform !== 'none') throw refuse(caller, "an activation in this model's head keeps logits from being sums");
  if (head === 'pooled' && pooler !== 'none' && pooler !== 'linear')
    throw refuse(caller, "an activation in this model's pooler keeps logits from being sums");
  if (taught) throw refuse(caller, "the logits of this model's two heads are of two tokens");
  const { vector, matrix } = parametersOf(caller, model);
  const table = matrix(head === 'logits' && tied ? 'embedding.table' : 'head.weight');
  const [classes, width] = table.shape;
  const bias = vector('head.bias');
  // What a narrower head is behind.
  const before = head === 'pooled' ? pooler === 'linear' && 'pooler' : width !== model.options.dModel && 'head.project';
  const project = before ? matrix(`${before}.weight`) : undefined;
  const projectBias = before ? vector(`${before}.bias`) : undefined;
  const { logitSoftcap: cap = 0 } = model.options;

  return {
    classes,

    /**
     * The direction whose product with the final values is the logit, and what is added to it.
     * @param {number} label
     */
    direction(label) {
      const row = Float64Array.from(table.data.subarray(label * width, (label + 1) * width), (x) => x * logitScale);
      const added = (bias?.[label] ?? 0) + (projectBias?.reduce((sum, x, i) => sum + x * row[i], 0) ?? 0);
      if (!project) return { row, added };
      const wide = new Float64Array(project.shape[1]);
      for (let e = 0; e < width; e++)
        for (let c = 0; c < wide.length; c++) wide[c] += row[e] * project.data[e * wide.length + c];
      return { row: wide, added };
    },

    /** All logits of one token. @param {Float64Array} x its values after the final norm */
    logits(x) {
      let inner = x;
      if (project) {
        const { data, shape } = project;
        inner = Float64Array.from({ length: shape[0] }, (_, e) => dot(data, e * x.length, x) + (projectBias?.[e] ?? 0));
      }
      return Float64Array.from({ length: classes }, (_, label) =>
        capped(logitScale * dot(table.data, label * width, inner) + (bias?.[label] ?? 0)),
      );
    },

    /** The logit of what a product gives. @param {number} z */
    capped,
  };

  /** @param {number} z */
  function capped(z) {
    return cap > 0 ? cap * Math.tanh(z / cap) : z;
  }
}

/** @param {Float32Array} rows @param {number} start @param {Float64Array} x */
function dot(rows, start, x) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += rows[start + i] * x[i];
  return sum;
}
