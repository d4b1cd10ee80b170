// Names the roles of heads: by the measures of a scan, or by attention weights.

import { checkOptions } from '../../check/arguments.ts';
import { argumentError, shapeError } from '../../check/errors.ts';
import { formatShape } from '../../check/shape.ts';
import type { TensorLike } from '../../check/tensorlike.ts';
import { type Numbers, type Read, readArray, readLayers } from '../arrays.ts';
import { HeadSums, prepare } from '../scan/headSums.ts';
import { boundsOf, HEAD_ROLES, type HeadRole, roleBy } from './roleRules.ts';
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
 */
export type RoleMeasures = { mean: Partial<Record<HeadRole, Numbers>>; chance: Partial<Record<HeadRole, Numbers>> };
export type HeadRoleOptions = {
  /** (T) or (B,T): ids of the tokens; without them no head is named induction or duplicate */
  ids?: TensorLike | undefined;
  /** false if queries can see later keys; default: false if a weight on a later key is not 0 */
  causal?: boolean | undefined;
};
/**
 * Roles by layer and head. names: null for a head without a role. weights: mean weight on the keys that its rule
 * predicts.
 */
export type NamedHeads = RoleMeasures & { names: (HeadRole | null)[][]; weights: (number | null)[][] };

const CALLER = 'headRoles';

/**
 * Names the roles of heads. A head has a role if its mean weight on the keys that the rule of the role predicts is more
 * than one half, and more than twice the chance. A head that follows several rules gets the first of induction,
 * duplicate, previous, itself, first and nearby.
 * @param source the roles of a result of scanHeads, or the attention weights of every layer, (B,H,T,T) or (H,T,T), all
 *   of the same shape
 * @param options for attention weights
 */
export function headRoles(source: RoleMeasures | readonly TensorLike[], options: HeadRoleOptions = {}): NamedHeads {
  checkOptions(CALLER, options, ['ids', 'causal']);
  return named(Array.isArray(source) ? measure(source, options) : readMeasures(source));
}

function readMeasures(source: unknown): RoleMeasures {
  const { mean, chance } = (source ?? {}) as Partial<RoleMeasures>;
  if (mean && chance && HEAD_ROLES.some((role) => mean[role])) return source as RoleMeasures;
  throw argumentError(CALLER, 'source', source, 'the roles of a result of scanHeads, or a list of attention weights');
}

function named({ mean, chance }: RoleMeasures): NamedHeads {
  const [layers, heads] = (Object.values(mean)[0] as Numbers).shape;
  const roles = Array.from({ length: layers * heads }, (_, i) =>
    roleBy(
      (role) => mean[role]?.data[i],
      (role) => chance[role]?.data[i],
    ),
  );
  const weights = roles.map((role, i) => role && (mean[role] as Numbers).data[i]);
  const byLayer = ((list) => Array.from({ length: layers }, (_, l) => list.slice(l * heads, (l + 1) * heads))) as <T>(
    list: T[],
  ) => T[][];
  return { names: byLayer(roles), weights: byLayer(weights), mean, chance };
}

function measure(weights: readonly TensorLike[], { ids, causal }: HeadRoleOptions): RoleMeasures {
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

/** Returns a function that returns the ids of a sequence of the batch. Without ids all tokens are different. */
function readIds(ids: TensorLike | undefined, batch: number, length: number) {
  if (ids === undefined) return () => Int32Array.from({ length }, (_, t) => t);
  const { floats, shape } = readArray(CALLER, 'ids', ids, 'T', 'BT');
  if (floats.length !== batch * length || shape.at(-1) !== length)
    throw shapeError(CALLER, 'ids', shape, `(${batch},${length})`);
  return (b: number) => Int32Array.from(floats.subarray(b * length, (b + 1) * length));
}

function isCausal({ floats, shape: [, , length] }: Read) {
  for (let row = 0; row * length < floats.length; row++)
    for (let s = (row % length) + 1; s < length; s++) if (floats[row * length + s] !== 0) return false;
  return true;
}
