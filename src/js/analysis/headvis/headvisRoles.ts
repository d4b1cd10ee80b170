// The roles of heads in a folder of HeadVis, in a file that the HeadVis page does not read.

import type { Numbers } from '../arrays.ts';
import type { NamedHeads, RoleMeasures } from '../roles/headRoles.ts';
import { HEAD_ROLES, type HeadRole } from '../roles/roleRules.ts';
import { wrongValue } from './headvisErrors.ts';
/** Names and weights of the roles by layer and head. */
export type RoleNames = Pick<NamedHeads, 'names' | 'weights'>;
export type Json = Record<string, any>;

export const ROLES_FILE = 'roles.json';

/** measures: of the scan; heads: [layer, head] of each head to write */
export function rolesJson(
  { names, weights }: RoleNames,
  { mean, chance }: RoleMeasures,
  heads: number[][],
  rounded: (x: number) => number | null,
) {
  return heads.map(([layer, head]) => {
    const valuesOf = (measures: RoleMeasures['mean']) =>
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

export function readRoles(file: unknown, layers: number, heads: number): NamedHeads {
  if (!Array.isArray(file)) throw wrongValue(ROLES_FILE, 'it', file, 'a list');
  const measures = () =>
    Object.fromEntries(
      HEAD_ROLES.map((role) => [
        role,
        { data: new Float32Array(layers * heads).fill(Number.NaN), shape: [layers, heads] },
      ]),
    ) as Record<HeadRole, Numbers>;
  const [mean, chance] = [measures(), measures()];
  const rows = () => Array.from({ length: layers }, () => new Array(heads).fill(null));
  const [names, weights] = [rows(), rows()];
  file.forEach((row, i) => {
    const { layer, head, role = null, weight = null } = row ?? {};
    const isPlace = (n: unknown, count: number) => Number.isInteger(n) && Number(n) >= 0 && Number(n) < count;
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

function copyNumbers(row: Json | undefined, to: Record<HeadRole, Numbers>, at: number) {
  for (const role of HEAD_ROLES) if (typeof row?.[role] === 'number') to[role].data[at] = row[role];
}
