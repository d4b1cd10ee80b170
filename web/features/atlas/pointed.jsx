// The label at the pointer: the role and the numbers of a head, or a list of the nearest heads if several overlap.

import { useSession } from '../../ui/context.js';
import { px } from '../../ui/px.js';
import { valueText } from './numbers.js';
import { useAtlasTexts } from './texts.js';
import { useRoleNames } from './useAtlas.js';

/** @import { Drawn } from './headMap.jsx' */

/** Heads that are at most this many pixels apart overlap. */
const OVERLAP = 9;

/** @param {{ drawn: Drawn, heads: number[] }} props heads: those at the pointer, the nearest first */
export function Pointed({ drawn, heads }) {
  const words = useSession().words.value;
  const texts = useAtlasTexts();
  const nameOf = useRoleNames(drawn.map, drawn.roles);
  const { map, axes, values, points, width } = drawn;
  const [{ x, y }] = heads.map((head) => points[head]);
  const listed = heads.filter((head) => Math.hypot(points[head].x - x, points[head].y - y) <= OVERLAP);
  const toLeft = x > width / 2;
  return (
    <div
      class={`atlas-pointed ${toLeft ? 'to-left' : ''}`}
      style={px(toLeft ? { right: width - x + 18, top: y - 14 } : { left: x + 18, top: y - 14 })}
    >
      {listed.map((head) => (
        <p key={head}>
          <b>{words.headName(Math.floor(head / map.heads), head % map.heads)}</b>, {nameOf(head)}
          <br />
          {axes.map((axis, i) => texts.value[axis](valueText(axis, values[i][head]))).join(', ')}
        </p>
      ))}
    </div>
  );
}
