// The usual role of a head: the rule that its largest weights follow over many texts.

/** @import { AtlasMap, AtlasRole } from '../../store/atlasProtocol.js' */

/** The roles in order of precedence: a head has the first one whose rule it follows. @type {AtlasRole[]} */
export const USUAL_ROLES = ['induction', 'duplicate', 'previous', 'itself', 'first', 'nearby'];
/**
 * A head follows a rule if the rule holds in more than MIN_SHARE of its rows, and at least TIMES_CHANCE times as often
 * as for random keys.
 */
const [MIN_SHARE, TIMES_CHANCE] = [0.5, 2];
/**
 * A key less than this many tokens away counts as nearby. If the map has no histogram of distances, a head can have the
 * role `nearby` only if its mean distance is less than half of this.
 */
export const NEAR = 8;

/**
 * Returns the share of rows in which a rule holds; for `nearby`, the share of the attention weight.
 * @param {AtlasMap} map
 * @param {AtlasRole} role
 * @param {number} head l·H + h
 */
export function shareOf({ holds, near, measures }, role, head) {
  if (role !== 'nearby') return holds[role]?.[head] ?? Number.NaN;
  if (near) return near[head];
  // By Markov's inequality, at most the share distance / NEAR of the weight is NEAR or more tokens away.
  return measures.distance[head] < NEAR / 2 ? 1 - measures.distance[head] / NEAR : 0;
}

/** @param {AtlasMap} map @param {number} head l·H + h @returns {AtlasRole | null} */
export const usualRole = (map, head) =>
  USUAL_ROLES.find((role) => {
    const share = shareOf(map, role, head);
    return share > MIN_SHARE && share >= TIMES_CHANCE * (map.chance[role] ?? 0);
  }) ?? null;

/** Returns the usual roles of all heads, by l·H + h. @param {AtlasMap} map */
export const usualRoles = (map) => Array.from({ length: map.layers * map.heads }, (_, head) => usualRole(map, head));

/** Returns the usual roles of all heads, by layer and head. @param {AtlasMap} map */
export function rolesByLayer(map) {
  const roles = usualRoles(map);
  return Array.from({ length: map.layers }, (_, l) => roles.slice(l * map.heads, (l + 1) * map.heads));
}

/**
 * Returns the share of rows in which each rule holds for a head that chooses one of the visible keys at random.
 * @param {readonly ArrayLike<number>[]} sequences token ids of each sequence
 * @param {boolean} causal
 * @returns {Record<AtlasRole, number>}
 */
export function chanceOf(sequences, causal = true) {
  const sums = { induction: 0, duplicate: 0, previous: 0, itself: 0, first: 0, nearby: 0 };
  let [rows, repeats] = [0, 0];
  for (const ids of sequences) {
    /** The number of earlier tokens with an id, by that id. @type {Map<number, number>} */
    const counts = new Map();
    for (let t = 0; t < ids.length; t++) {
      const keys = causal ? t + 1 : ids.length;
      const equal = counts.get(ids[t]) ?? 0;
      counts.set(ids[t], equal + 1);
      if (t === 0) continue;
      rows++;
      for (const role of /** @type {const} */ (['previous', 'itself', 'first'])) sums[role] += 1 / keys;
      sums.nearby += Math.min(NEAR, t + 1) / keys;
      if (equal === 0) continue;
      repeats++;
      sums.induction += equal / keys;
      sums.duplicate += equal / keys;
    }
  }
  const counted = (/** @type {AtlasRole} */ role) => (role === 'induction' || role === 'duplicate' ? repeats : rows);
  return /** @type {Record<AtlasRole, number>} */ (
    Object.fromEntries(USUAL_ROLES.map((role) => [role, sums[role] / Math.max(counted(role), 1)]))
  );
}
