// The roles of heads in a folder of HeadVis. They are in a file of their own, which the HeadVis page does not read.

import { wrongValue } from './headvisErrors.js';
import { HEAD_ROLES } from './roleRules.js';

/** @import { Numbers } from './arrays.js' */
/** @import { NamedHeads, RoleMeasures } from './headRoles.js' */
/** @import { HeadRole } from './roleRules.js' */
/** Names and weights of the roles by layer and head. @typedef {Pick<NamedHeads, 'names' | 'weights'>} RoleNames */
/** @typedef {Record<string, any>} Json */

export const ROLES_FILE = 'roles.json';

/**
 * @param {RoleNames} named
 * @param {RoleMeasures} measures of the scan
 * @param {number[][]} heads [layer, head] of each head to write
 * @param {(x: number) => number | null} rounded
 */
export function rolesJson({ names, weights }, { mean, chance }, heads, rounded) {
  return heads.map(([layer, head]) => {
    const valuesOf = (/** @type {RoleMeasures['mean']} */ measures) =>
      Object.fromEntries(
        Object.entries(measures).map(([role, { data, shape }]) => [role, rounded(data[layer * shape[1] + head])]),
      );
    const weight = weights[layer]?.[head] ?? null;
    return {
      layer,
      head,
      role: names[layer]?.[head] ?? null,
      weight: weight === null ? null : rounded(weight),
      mean: valuesOf(mean),
      chance: valuesOf(chance),
    };
  });
}

/**
 * @param {unknown} file
 * @param {number} layers
 * @param {number} heads
 * @returns {NamedHeads}
 */
export function readRoles(file, layers, heads) {
  if (!Array.isArray(file)) throw wrongValue(ROLES_FILE, 'it', file, 'a list');
  const measures = () =>
    /** @type {Record<HeadRole, Numbers>} */ (
      Object.fromEntries(
        HEAD_ROLES.map((role) => [
          role,
          { data: new Float32Array(layers * heads).fill(Number.NaN), shape: [layers, heads] },
        ]),
      )
    );
  const [mean, chance] = [measures(), measures()];
  const rows = () => Array.from({ length: layers }, () => new Array(heads).fill(null));
  const [names, weights] = [rows(), rows()];
  file.forEach((row, i) => {
    const { layer, head, role = null, weight = null } = row ?? {};
    const isPlace = (/** @type {unknown} */ n, /** @type {number} */ count) =>
      Number.isInteger(n) && Number(n) >= 0 && Number(n) < count;
    if (!isPlace(layer, layers) || !isPlace(head, heads))
      throw wrongValue(ROLES_FILE, `[${i}]`, row, `a layer below ${layers} and a head below ${heads}`);
    if (role !== null && !HEAD_ROLES.includes(role))
      throw wrongValue(ROLES_FILE, `[${i}].role`, role, `null or one of ${HEAD_ROLES.join(', ')}`);
    names[layer][head] = role;
    weights[layer][head] = role !== null && typeof weight === 'number' ? weight : null;
    copyNumbers(row.mean, mean, layer * heads + head);
    copyNumbers(row.chance, chance, layer * heads + head);
  });
  return { names, weights, mean, chance };
}

/** @param {Json | undefined} row by role @param {Record<HeadRole, Numbers>} to @param {number} at */
function copyNumbers(row, to, at) {
  for (const role of HEAD_ROLES) if (typeof row?.[role] === 'number') to[role].data[at] = row[role];
}
