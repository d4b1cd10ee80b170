// The labels on the map. Each role has one label, where most of its heads are. Some heads have a label too.

import { useMemo } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { SIDE } from './meanPicture.js';
import { placeHeads, placeRoles } from './placeLabels.js';
import { useAtlasTexts } from './texts.js';
import { USUAL_ROLES } from './usualRole.js';

/** @import { AtlasRole } from '../../store/atlasProtocol.js' */
/** @import { Drawn } from './headMap.jsx' */

/**
 * Widths in pixels of a letter in the name of a role (which is serif), of a letter in the name of a head, and of a CJK
 * character.
 */
const [ROLE_LETTER, HEAD_LETTER, WIDE_LETTER] = [7.6, 7.4, 16];
const [ROLE_HEIGHT, HEAD_HEIGHT] = [20, 16];
/** If there are more heads than this, only the chosen head has a label. */
const MANY = 200;

/** @param {string} text @param {number} letter */
const widthOf = (text, letter) =>
  [...text].reduce((sum, sign) => sum + (/[\u3000-\u9fff]/.test(sign) ? WIDE_LETTER : letter), 6);

/** @param {{ drawn: Drawn }} props */
export function MapLabels({ drawn }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { map, roles, points, width, height } = drawn;
  const { layer, head } = session.state.value;
  const chosen = layer * map.heads + head;
  const nameOf = (/** @type {number} */ i) => `${Math.floor(i / map.heads)}.${i % map.heads}`;
  const { named, heads } = useMemo(() => {
    const half = map.pictures ? SIDE / 2 : undefined;
    const room = { width, height: height - 24 };
    const all = /** @type {(AtlasRole | 'none')[]} */ ([...USUAL_ROLES, 'none']).map((role) => ({
      role,
      points: points.filter((_, i) => (roles[i] ?? 'none') === role),
      size: { width: widthOf(texts.roles[role], ROLE_LETTER), height: ROLE_HEIGHT },
    }));
    // The names of roles with few heads are the hardest to place, so they are placed first.
    const named = placeRoles(
      all.sort((a, b) => a.points.length - b.points.length),
      points,
      room,
      half,
    );
    const others = points.length > MANY ? [] : points.map((_, i) => i).filter((i) => i !== chosen && roles[i]);
    const heads = placeHeads(
      [...(points[chosen] ? [chosen] : []), ...others].map((i) => ({
        head: i,
        point: points[i],
        size: { width: widthOf(nameOf(i), HEAD_LETTER), height: HEAD_HEIGHT },
        needed: i === chosen,
      })),
      points,
      named.map(({ box }) => box),
      room,
      half,
    );
    return { named, heads };
  }, [points, roles, map.pictures, chosen, width, height, texts]);
  return (
    <div class="atlas-labels" aria-hidden="true">
      {named.map(({ role, box }) => (
        <i key={role} style={px({ left: box.x, top: box.y, width: box.width })}>
          {texts.roles[role]}
        </i>
      ))}
      {heads.map(({ head: i, box }) => (
        <span key={i} class={i === chosen ? 'chosen-name' : ''} style={px({ left: box.x, top: box.y })}>
          {nameOf(i)}
        </span>
      ))}
    </div>
  );
}
