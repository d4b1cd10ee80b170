// The label at the pointer: the role and the numbers of a head, or a list of the nearest heads if several overlap.

import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import type { Drawn } from './map/headMap.tsx';
import { valueText } from './numbers.ts';
import { useAtlasTexts } from './texts.ts';
import { useRoleNames } from './useAtlas.ts';

/** Heads that are at most this many pixels apart overlap. */
const OVERLAP = 9;

/** `heads`: those at the pointer, the nearest first. */
export function Pointed({ drawn, heads }: { drawn: Drawn; heads: number[] }) {
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
