// The map that the atlas shows: that of a scan, or before the first scan that of the current text.

import { HEAD_ROLES } from '../../../../src/js/analysis/roles/roleRules.ts';
import type { AtlasMap, AtlasRole } from '../../../model/protocol/atlasProtocol.ts';
import type { Roles } from '../../../model/protocol/protocol.ts';
import type { Run } from '../../../model/types.ts';
import { sentenceMap } from './sentenceMap.ts';

/** Returns the map with the costs `measured` so far, by 'layer.head'; null if nothing has been measured. */
export function shownMap(scanned: AtlasMap | null, run: Run | null, measured: Record<string, number>): AtlasMap | null {
  const map = scanned ?? sentenceMap(run);
  if (!map) return null;
  const costs = Array.from(
    { length: map.layers * map.heads },
    (_, i) => measured[`${Math.floor(i / map.heads)}.${i % map.heads}`] ?? Number.NaN,
  );
  return { ...map, costs };
}

/** Returns the heads' roles by l·H + h, as the whole page shows them; null for a role that only handmade heads have. */
export const rolesOn = (map: AtlasMap, roles: Roles | null): (AtlasRole | null)[] =>
  Array.from({ length: map.layers * map.heads }, (_, i) => {
    const role = roles?.[Math.floor(i / map.heads)]?.[i % map.heads];
    return HEAD_ROLES.find((name) => name === role) ?? null;
  });
