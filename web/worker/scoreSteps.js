// How a model makes the scores of one head out of products: see model/score.js.

import { bucketOf } from '../../src/js/models/positions.js';
import { alibiSlopes } from '../../src/js/ops/rotary.js';

/** @import { Step } from '../features/reading/score.js' */
/**
 * @typedef {object} Asked
 * @property {string} part of an encoder–decoder
 * @property {number} layer
 * @property {number} head
 * @property {number} T queries
 * @property {number} S keys
 * @property {number} [temperature]
 */

/** The options of the stack that a part belongs to. @param {any} model @param {string} part */
export const optionsOf = ({ options }, part) => (part === 'encoder' ? options.encoder : options);

/** @param {any} model @param {Asked} asked @returns {Step[]} */
export function stepsOf(model, { part, layer, head, T, S, temperature = 1 }) {
  const options = optionsOf(model, part);
  const { scale, softcap } = options;
  const added = part === 'cross' ? null : byDistance(model, part, head, T, S);
  return [
    { kind: 'scale', scale: typeof scale === 'number' ? scale : scale[layer] },
    ...(softcap > 0 ? [/** @type {Step} */ ({ kind: 'cap', cap: softcap })] : []),
    ...(added ? [/** @type {Step} */ ({ kind: 'distance', added })] : []),
    ...warmed(temperature),
  ];
}

/** The step of a temperature, where there is one. @param {number} temperature @returns {Step[]} */
export const warmed = (temperature) => (temperature === 1 ? [] : [{ kind: 'temperature', by: temperature }]);

/**
 * What is added to a score for the distance of its tokens, by s − t + T − 1.
 * @param {any} model @param {string} part @param {number} head @param {number} T @param {number} S
 */
function byDistance(model, part, head, T, S) {
  const { positions, numHeads, buckets, causal } = optionsOf(model, part);
  const each = (/** @type {(distance: number) => number} */ amount) =>
    Float32Array.from({ length: T + S - 1 }, (_, i) => amount(i - (T - 1)));
  if (positions === 'alibi') {
    const slope = alibiSlopes(numHeads)[head];
    return each((distance) => -slope * Math.abs(distance));
  }
  if (positions !== 'buckets') return null;
  const { data } = parameterOf(model, part, 'buckets.table');
  return each((distance) => data[bucketOf(distance, buckets.count, buckets.distance, !causal) * numHeads + head]);
}

/** The number that joins the softmax of a head; null where there is none. @param {any} model @param {Asked} asked */
export function sinkOf(model, { part, layer, head }) {
  if (part === 'cross' || !optionsOf(model, part).sinks) return null;
  return parameterOf(model, part, `blocks.${layer}.attention.sinks`).data[head];
}

/** @param {any} model @param {string} part @param {string} name */
const parameterOf = ({ parameters }, part, name) => parameters[part === 'encoder' ? `encoder.${name}` : name];
