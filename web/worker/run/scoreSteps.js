// Lists the steps of one head from the product of a query and a key to their score: see features/reading/score.js.

import { parameterName } from '../../../src/js/models/parameters.js';
import { bucketOf } from '../../../src/js/models/positions.js';
import { alibiSlopes } from '../../../src/js/ops/rotary.js';

/** @import { Step } from '../../store/protocol.js' */
/** @import { Transformer } from '../sources/types.js' */
/** @typedef {Transformer['options']} Options */
/**
 * @typedef {object} HeadAndSizes
 * @property {string} part of an encoder–decoder
 * @property {number} layer
 * @property {number} head
 * @property {number} T queries
 * @property {number} S keys
 * @property {number} [temperature]
 */

/** Returns the options of the stack that a part belongs to. @param {Transformer} model @param {string} part */
export const optionsOf = ({ options }, part) =>
  part === 'encoder' ? /** @type {Options} */ (options.encoder) : options;

/** Values of a head: (T,D), (S,D), (T,S). @typedef {Record<'query' | 'key' | 'scores', Float32Array>} HeadParts */

/** @param {Transformer} model @param {HeadAndSizes} place @param {HeadParts} values @returns {Step[]} */
export function stepsOf(model, place, values) {
  const { part, layer, head, T, S, temperature = 1 } = place;
  const { scale: scales, softcap, disentangled } = optionsOf(model, part);
  const scale = typeof scales === 'number' ? scales : scales[layer];
  const added = part === 'cross' ? null : biasByDistance(model, part, head, T, S);
  return [
    { kind: 'scale', scale },
    ...(disentangled
      ? [/** @type {Step} */ ({ kind: 'distance', added: restOf(place, values, scale), byCell: true })]
      : []),
    ...(softcap > 0 ? [/** @type {Step} */ ({ kind: 'cap', cap: softcap })] : []),
    ...(added ? [/** @type {Step} */ ({ kind: 'distance', added })] : []),
    ...temperatureStep(temperature),
  ];
}

/**
 * Returns the products with positions in disentangled attention, (T,S), as the scores minus the products of query and
 * key.
 * @param {HeadAndSizes} place
 * @param {HeadParts} values
 * @param {number} scale
 */
function restOf({ T, S, temperature = 1 }, { query, key, scores }, scale) {
  const width = query.length / T;
  return scores.map((score, i) => {
    const [t, s] = [Math.floor(i / S), i % S];
    let product = 0;
    for (let d = 0; d < width; d++) product += query[t * width + d] * key[s * width + d];
    return score * temperature - scale * product;
  });
}

/** Returns the step of a temperature; no step for 1. @param {number} temperature @returns {Step[]} */
export const temperatureStep = (temperature) => (temperature === 1 ? [] : [{ kind: 'temperature', by: temperature }]);

/**
 * Returns the bias that is added to a score for the distance between query t and key s, at index s − t + T − 1; null if
 * there is no bias.
 * @param {Transformer} model @param {string} part @param {number} head @param {number} T @param {number} S
 */
function biasByDistance(model, part, head, T, S) {
  const { positions, numHeads, buckets, causal } = optionsOf(model, part);
  const each = (/** @type {(distance: number) => number} */ amount) =>
    Float32Array.from({ length: T + S - 1 }, (_, i) => amount(i - (T - 1)));
  if (positions === 'alibi') {
    const slope = alibiSlopes(numHeads)[head];
    return each((distance) => -slope * Math.abs(distance));
  }
  if (!buckets) return null;
  const { data } = parameterOf(model, part, 'buckets.table');
  return each((distance) => data[bucketOf(distance, buckets.count, buckets.distance, !causal) * numHeads + head]);
}

/** Reads the sink in the softmax of a head; null without one. @param {Transformer} model @param {HeadAndSizes} head */
export function sinkOf(model, { part, layer, head }) {
  if (part === 'cross' || !optionsOf(model, part).sinks) return null;
  return parameterOf(model, part, `blocks.${layer}.attention.sinks`).data[head];
}

/** @param {Transformer} model @param {string} part @param {string} name */
function parameterOf(model, part, name) {
  const stored = parameterName(optionsOf(model, part), name);
  return model.parameters[part === 'encoder' ? `encoder.${stored}` : stored];
}
