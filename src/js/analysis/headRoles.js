// Names the roles of heads: by the measures of a scan, or by attention weights.

import { checkOptions } from '../check/arguments.js';
import { argumentError, shapeError } from '../check/errors.js';
import { formatShape } from '../check/shape.js';
import { readArray, readLayers } from './arrays.js';
import { HeadSums, prepare } from './headSums.js';
import { boundsOf, HEAD_ROLES, roleBy } from './roleRules.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Numbers, Read } from './arrays.js' */
/** @import { HeadRole } from './roleRules.js' */
/**
 * Measures of the rules, each (L,H). The rows of a rule are the rows in which the rule predicts a visible key; row 0
 * does not count, and no rule except `first` predicts key 0.
 *
 * - induction: keys directly after earlier tokens that are equal to the query's token
 * - duplicate: earlier keys with the query's token
 * - previous: the key before the query
 * - itself: the key of the query
 * - first: key 0
 * - nearby: keys that are less than 8 tokens away
 *
 * mean: the mean over these rows of the weight on the predicted keys; NaN if there are no such rows. chance: the mean
 * over the same rows of the share of predicted keys among the visible keys, which is the weight that a head gives them
 * if it attends to all keys alike.
 * @typedef {{ mean: Partial<Record<HeadRole, Numbers>>, chance: Partial<Record<HeadRole, Numbers>> }} RoleMeasures
 */
/**
 * @typedef {object} HeadRoleOptions
 * @property {TensorLike} [ids] (T) or (B,T): ids of the tokens; without them no head is named induction or duplicate
 * @property {boolean} [causal] false if queries can see later keys; default: false if a weight on a later key is not 0
 */
/**
 * The roles of heads by layer and head. names: null for a head without a role. weights: the mean weight on the keys
 * that the head's rule predicts, which is `mean` of its role; null for a head without a role.
 * @typedef {RoleMeasures & { names: (HeadRole | null)[][], weights: (number | null)[][] }} NamedHeads
 */

const CALLER = 'headRoles';

/**
 * Names the roles of heads. A head has a role if its mean weight on the keys that the rule of the role predicts is more
 * than one half, and more than twice the chance. A head that follows several rules gets the first of induction,
 * duplicate, previous, itself, first and nearby.
 *
 * @param {RoleMeasures | readonly TensorLike[]} source the roles of a result of scanHeads, or the attention weights of
 *   every layer, (B,H,T,T) or (H,T,T), all of the same shape
 * @param {HeadRoleOptions} [options] for attention weights
 * @returns {NamedHeads}
 */
export function headRoles(source, options = {}) {
  checkOptions(CALLER, options, ['ids', 'causal']);
  return named(Array.isArray(source) ? measure(source, options) : readMeasures(source));
}

/** @param {unknown} source @returns {RoleMeasures} */
function readMeasures(source) {
  const { mean, chance } = /** @type {Partial<RoleMeasures>} */ (source ?? {});
  if (mean && chance && HEAD_ROLES.some((role) => mean[role])) return /** @type {RoleMeasures} */ (source);
  throw argumentError(CALLER, 'source', source, 'the roles of a result of scanHeads, or a list of attention weights');
}

/** @param {RoleMeasures} measures @returns {NamedHeads} */
function named({ mean, chance }) {
  const [layers, heads] = /** @type {Numbers} */ (Object.values(mean)[0]).shape;
  const roles = Array.from({ length: layers * heads }, (_, i) =>
    roleBy(
      (role) => mean[role]?.data[i],
      (role) => chance[role]?.data[i],
    ),
  );
  const weights = roles.map((role, i) => role && /** @type {Numbers} */ (mean[role]).data[i]);
  const byLayer = /** @type {<T>(list: T[]) => T[][]} */ (
    (list) => Array.from({ length: layers }, (_, l) => list.slice(l * heads, (l + 1) * heads))
  );
  return { names: byLayer(roles), weights: byLayer(weights), mean, chance };
}

/**
 * @param {readonly TensorLike[]} weights
 * @param {HeadRoleOptions} options
 * @returns {RoleMeasures}
 */
function measure(weights, { ids, causal }) {
  const layers = readLayers(CALLER, weights);
  const { shape } = layers[0];
  const [batch, heads, length, keys] = shape;
  if (length !== keys) throw shapeError(CALLER, 'weights[0]', shape, `(${batch},${heads},${length},${length})`);
  for (const [l, layer] of layers.entries())
    if (String(layer.shape) !== String(shape))
      throw shapeError(CALLER, `weights[${l}]`, layer.shape, formatShape(shape));
  const tokens = readIds(ids, batch, length);
  const bounds = boundsOf({ layers: layers.length, causal: causal ?? layers.every((layer) => isCausal(layer)) });
  const sums = new HeadSums(heads, 0, bounds);
  for (let b = 0; b < batch; b++) {
    const sequence = prepare(tokens(b));
    sums.count(sequence);
    layers.forEach(({ floats }, l) => {
      for (let h = 0; h < heads; h++) sums.add(l, h, floats, (b * heads + h) * length * length, sequence);
    });
  }
  return sums.roleMeasures();
}

/**
 * Returns a function that returns the ids of a sequence of the batch. Without ids all tokens are different.
 * @param {TensorLike | undefined} ids
 * @param {number} batch
 * @param {number} length
 */
function readIds(ids, batch, length) {
  if (ids === undefined) return () => Int32Array.from({ length }, (_, t) => t);
  const { floats, shape } = readArray(CALLER, 'ids', ids, 'T', 'BT');
  if (floats.length !== batch * length || shape.at(-1) !== length)
    throw shapeError(CALLER, 'ids', shape, `(${batch},${length})`);
  return (/** @type {number} */ b) => Int32Array.from(floats.subarray(b * length, (b + 1) * length));
}

/** Returns true if no query attends to a later key. @param {Read} weights (B,H,T,T) */
function isCausal({ floats, shape: [, , length] }) {
  for (let row = 0; row * length < floats.length; row++)
    for (let s = (row % length) + 1; s < length; s++) if (floats[row * length + s] !== 0) return false;
  return true;
}
