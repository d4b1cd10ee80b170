// The names on the map: the number of a head and its role. A head whose name has no room next to its shape is connected
// with its name by a line. On a map of many heads only some heads have names.

import { useMemo } from 'preact/hooks';
import { HEAD_ROLES } from '../../../src/js/analysis/roleRules.js';
import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { placeNames } from './placeLabels.js';
import { boxOfPicture, LINE } from './placePictures.js';
import { useAtlasTexts } from './texts.js';

/** @import { RoleWeights } from '../../store/protocol.js' */
/** @import { Drawn } from './headMap.jsx' */
/** @import { Box, PlacedName } from './placeLabels.js' */
/**
 * part: set if only the number of the head or only its role is written.
 * @typedef {PlacedName & { part?: 'name' | 'role' }} Label
 */

/**
 * Widths in pixels of a letter in the name of a role (which is serif), of a letter in the name of a head, and of a CJK
 * character.
 */
const [ROLE_LETTER, HEAD_LETTER, WIDE_LETTER] = [7.2, 7.4, 16];
const HEIGHT = 18;
/** With up to FEW heads each head can have a name. With more heads, so many heads of each role have one. */
const FEW = 60;
const NAMED_OF_MANY = 3;

/** @param {string} text @param {number} letter */
const widthOf = (text, letter) =>
  [...text].reduce((sum, sign) => sum + (/[\u3000-\u9fff]/.test(sign) ? WIDE_LETTER : letter), 0);

/** Returns the width of the name of a role. @param {string} name */
export const roleWidth = (name) => widthOf(name, ROLE_LETTER);

/**
 * Returns the heads that have a role, those with the largest weights first, the roles in turn.
 * @param {Drawn['roles']} roles
 * @param {RoleWeights | null} weights
 * @param {number} heads of a layer
 */
function namedHeads(roles, weights, heads) {
  const weightOf = (/** @type {number} */ i) => weights?.[Math.floor(i / heads)]?.[i % heads] ?? 0;
  const byRole = HEAD_ROLES.map((role) =>
    roles.flatMap((other, i) => (other === role ? [i] : [])).sort((a, b) => weightOf(b) - weightOf(a)),
  );
  const most = roles.length > FEW ? NAMED_OF_MANY : FEW;
  return Array.from({ length: most }, (_, n) => byRole.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** @param {{ drawn: Drawn }} props */
export function MapLabels({ drawn }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { map, roles, points, pictures, width, height } = drawn;
  const { layer, head } = session.state.value;
  const weights = session.roleWeights.value;
  const chosen = layer * map.heads + head;
  const nameOf = (/** @type {number} */ i) => `${Math.floor(i / map.heads)}.${i % map.heads}`;
  const roleNameOf = (/** @type {number} */ i) => (roles[i] ? texts.roles[roles[i]] : '');
  const names = useMemo(namesOn, [drawn, weights, chosen, texts]);
  /** @returns {Label[]} */
  function namesOn() {
    const room = { width, height: height - 24 };
    const sizeOf = (/** @type {number} */ i, /** @type {boolean} */ alone) => ({
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

/**
 * Places the names below the pictures. Where there is no room below all pictures for their roles, each role is written
 * once, at a head that has it.
 * @param {Drawn} drawn
 * @param {number[]} withRole heads with a role
 * @param {(head: number) => string} roleNameOf
 * @returns {Label[]}
 */
function belowPictures({ points, pictures, roles, width, height }, withRole, roleNameOf) {
  const { side, captions } = /** @type {NonNullable<Drawn['pictures']>} */ (pictures);
  const below = (/** @type {number} */ i, /** @type {number} */ line) => {
    const wide = line === 0 ? 40 : roleWidth(roleNameOf(i)) + 12;
    return { x: points[i].x - wide / 2, y: points[i].y + side / 2 + 2 + line * LINE, width: wide, height: LINE };
  };
  const names = points.map((_, head) => ({
    head,
    box: below(head, 0),
    line: null,
    part: /** @type {const} */ ('name'),
  }));
  if (captions) {
    const written = withRole.map((head) => ({
      head,
      box: below(head, 1),
      line: null,
      part: /** @type {const} */ ('role'),
    }));
    return [...names, ...written];
  }
  const first = withRole.filter((i, n) => withRole.findIndex((other) => roles[other] === roles[i]) === n);
  /** @type {Box[]} */
  const taken = points.map((point) => boxOfPicture(point, side, { width: side, height: side + LINE }));
  const free = placeNames(
    first.map((head) => ({ head, size: { width: roleWidth(roleNameOf(head)) + 4, height: HEIGHT } })),
    points,
    { width, height: height - 24 },
    side / 2,
    taken,
  );
  return [...names, ...free.map((name) => ({ ...name, part: /** @type {const} */ ('role') }))];
}
