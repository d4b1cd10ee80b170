// Metrics: numbers computed from the logits of a run, with their gradients.

import { readNumber } from '../check/arguments.js';

/** @import { Parameter } from './arrays.js' */
/** @import { Metric } from './pairs.js' */

const LABEL = { integer: true, least: 0 };

/**
 * A metric: the logit of an id at a token, minus that of another.
 * @param {number} label
 * @param {number} [against]
 * @param {number} [token] default −1, the last
 * @returns {Metric}
 */
export function logitDifference(label, against, token = -1) {
  const caller = 'logitDifference';
  readNumber(caller, 'label', label, LABEL);
  if (against !== undefined) readNumber(caller, 'against', against, LABEL);
  readNumber(caller, 'token', token, { integer: true });
  /** The factors of logits, by their index. @param {Parameter} logits @returns {[index: number, factor: number][]} */
  const termsOf = ({ shape }) => {
    const [rows, classes] = shape.slice(-2);
    readNumber(caller, 'token', token, { integer: true, least: -rows, most: rows - 1 });
    const row = (token < 0 ? rows + token : token) * classes;
    const indexOf = (/** @type {string} */ name, /** @type {number} */ id) =>
      row + readNumber(caller, name, id, { ...LABEL, most: classes - 1 });
    const own = /** @type {[number, number]} */ ([indexOf('label', label), 1]);
    return against === undefined ? [own] : [own, [indexOf('against', against), -1]];
  };
  const metric = (/** @type {{ logits: Parameter }} */ { logits }) =>
    termsOf(logits).reduce((sum, [index, factor]) => sum + factor * logits.data[index], 0);
  metric.gradient = (/** @type {{ logits: Parameter }} */ { logits }) => {
    const data = new Float32Array(logits.data.length);
    for (const [index, factor] of termsOf(logits)) data[index] += factor;
    return { data, shape: [...logits.shape] };
  };
  return metric;
}
