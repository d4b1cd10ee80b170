// The map that the atlas shows: that of a scan, or before the first scan that of the current text.

import { HEAD_ROLES } from '../../../src/js/analysis/roleRules.js';
import { sentenceMap } from './sentenceMap.js';

/** @import { AtlasMap, AtlasRole } from '../../store/atlasProtocol.js' */
/** @import { Roles } from '../../store/protocol.js' */
/** @import { Run } from '../../store/types.js' */

/**
 * Returns the map with the costs that have been measured; null if nothing has been measured.
 * @param {AtlasMap | null} scanned
 * @param {Run | null} run
 * @param {Record<string, number>} measured costs by 'layer.head'
 * @returns {AtlasMap | null}
 */
export function shownMap(scanned, run, measured) {
  const map = scanned ?? sentenceMap(run);
  if (!map) return null;
  const costs = Array.from(
    { length: map.layers * map.heads },
    (_, i) => measured[`${Math.floor(i / map.heads)}.${i % map.heads}`] ?? Number.NaN,
  );
  return { ...map, costs };
}

/**
 * Returns the roles of the heads of a map, by l·H + h. They are those that the whole page shows, and do not depend on
 * the map. A role that only handmade heads have is null.
 * @param {AtlasMap} map
 * @param {Roles | null} roles
 * @returns {(AtlasRole | null)[]}
 */
export const rolesOn = (map, roles) =>
  Array.from({ length: map.layers * map.heads }, (_, i) => {
    const role = roles?.[Math.floor(i / map.heads)]?.[i % map.heads];
    return HEAD_ROLES.find((name) => name === role) ?? null;
  });
