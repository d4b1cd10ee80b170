// The names on the map: the number of a head and its role. A head whose name has no room next to its shape is connected
// with its name by a line. On a map of many heads only some heads have names.

import { useMemo } from 'preact/hooks';
import { HEAD_ROLES } from '../../../../src/js/analysis/roles/roleRules.ts';
import type { RoleWeights } from '../../../model/protocol/protocol.ts';
import { useSession } from '../../../store/context.ts';
import { px } from '../../../ui/px.ts';
import { type Box, type PlacedName, placeNames } from '../placeLabels.ts';
import { boxOfPicture, LINE } from '../placePictures.ts';
import { useAtlasTexts } from '../texts.ts';
import type { Drawn } from './headMap.tsx';
/** part: set if only the number of the head or only its role is written. */
export type Label = PlacedName & { part?: 'name' | 'role' };

/** Widths in pixels of a letter of a role's name (serif), of a letter of a head's name, and of a CJK character. */
const [ROLE_LETTER, HEAD_LETTER, WIDE_LETTER] = [7.2, 7.4, 16];
const HEIGHT = 18;
/** With up to FEW heads each head can have a name. With more heads, so many heads of each role have one. */
const FEW = 60;
const NAMED_OF_MANY = 3;

const widthOf = (text: string, letter: number) =>
  [...text].reduce((sum, sign) => sum + (/[\u3000-\u9fff]/.test(sign) ? WIDE_LETTER : letter), 0);

export const roleWidth = (name: string) => widthOf(name, ROLE_LETTER);

/** Returns the heads that have a role, the largest weights first, the roles in turn. `heads`: number per layer. */
function namedHeads(roles: Drawn['roles'], weights: RoleWeights | null, heads: number) {
  const weightOf = (i: number) => weights?.[Math.floor(i / heads)]?.[i % heads] ?? 0;
  const byRole = HEAD_ROLES.map((role) =>
    roles.flatMap((other, i) => (other === role ? [i] : [])).sort((a, b) => weightOf(b) - weightOf(a)),
  );
  const most = roles.length > FEW ? NAMED_OF_MANY : FEW;
  return Array.from({ length: most }, (_, n) => byRole.flatMap((list) => list.slice(n, n + 1))).flat();
}

export function MapLabels({ drawn }: { drawn: Drawn }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { map, roles, points, pictures, width, height } = drawn;
  const { layer, head } = session.state.value;
  const weights = session.roleWeights.value;
  const chosen = layer * map.heads + head;
  const nameOf = (i: number) => `${Math.floor(i / map.heads)}.${i % map.heads}`;
  const roleNameOf = (i: number) => (roles[i] ? texts.roles[roles[i]] : '');
  const names = useMemo(namesOn, [drawn, weights, chosen, texts]);
  function namesOn(): Label[] {
    const room = { width, height: height - 24 };
    const sizeOf = (i: number, alone: boolean) => ({
      width: widthOf(nameOf(i), HEAD_LETTER) + (alone || !roles[i] ? 0 : 5 + roleWidth(roleNameOf(i))) + 4,
      height: HEIGHT,
    });
    const withRole = namedHeads(roles, weights, map.heads);
    if (pictures) return belowPictures(drawn, withRole, roleNameOf);
    const others = points.length > FEW ? [] : points.flatMap((_, i) => (withRole.includes(i) ? [] : [i]));
    return placeNames(
      [
        ...(points[chosen] ? [{ head: chosen, size: sizeOf(chosen, false), needed: true }] : []),
        ...withRole.filter((i) => i !== chosen).map((i) => ({ head: i, size: sizeOf(i, false) })),
        ...others
          .filter((i) => i !== chosen)
          .map((i) => ({ head: i, size: sizeOf(i, true), near: points.length > 30 })),
      ],
      points,
      room,
    );
  }
  return (
    <div class="atlas-labels" aria-hidden="true">
      <svg width={width} height={height} aria-hidden="true">
        {names.map(({ head: i, line }) =>
          line ? <line key={i} class="leader" x1={line[0].x} y1={line[0].y} x2={line[1].x} y2={line[1].y} /> : null,
        )}
      </svg>
      {names.map(({ head: i, box, part = 'both' }) => (
        <span
          key={`${i} ${part}`}
          class={`${i === chosen ? 'chosen-name' : ''} ${pictures ? 'below' : ''}`}
          style={px({ left: box.x, top: box.y, width: box.width })}
        >
          {part !== 'role' && nameOf(i)}
          {part === 'both' && roles[i] && ' '}
          {part !== 'name' && roles[i] && <i>{roleNameOf(i)}</i>}
        </span>
      ))}
    </div>
  );
}

/** Places the names below the pictures. If not all roles fit there, each is written once, at a head that has it. */
function belowPictures(
  { points, pictures, roles, width, height }: Drawn,
  withRole: number[],
  roleNameOf: (head: number) => string,
): Label[] {
  const { side, captions } = pictures as NonNullable<Drawn['pictures']>;
  const below = (i: number, line: number) => {
    const wide = line === 0 ? 40 : roleWidth(roleNameOf(i)) + 12;
    return { x: points[i].x - wide / 2, y: points[i].y + side / 2 + 2 + line * LINE, width: wide, height: LINE };
  };
  const names = points.map((_, head) => ({
    head,
    box: below(head, 0),
    line: null,
    part: 'name' as const,
  }));
  if (captions) {
    const written = withRole.map((head) => ({
      head,
      box: below(head, 1),
      line: null,
      part: 'role' as const,
    }));
    return [...names, ...written];
  }
  const first = withRole.filter((i, n) => withRole.findIndex((other) => roles[other] === roles[i]) === n);
  const taken: Box[] = points.map((point) => boxOfPicture(point, side, { width: side, height: side + LINE }));
  const free = placeNames(
    first.map((head) => ({ head, size: { width: roleWidth(roleNameOf(head)) + 4, height: HEIGHT } })),
    points,
    { width, height: height - 24 },
    side / 2,
    taken,
  );
  return [...names, ...free.map((name) => ({ ...name, part: 'role' as const }))];
}
