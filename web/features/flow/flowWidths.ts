// The widths of ribbons in flow. All ribbons must fit next to the columns, above the rows and between the rows.

import type { Columns, Node, Widths } from './flowLayout.ts';
/** room: pixels in which ribbons must fit; count: of the ribbons; sum: of their contributions */
export type Limit = { room: number; count: number; sum: number };
/** returns half the width of the parts in a column */
export type HalfOf = (slot: number) => number;
export type RibbonRoom = {
  /** parts with a ribbon */
  flowing: Node[];
  widest: Node;
  columns: Columns;
  width: number;
  /** height without the title and the tokens */
  tall: number;
  layers: number;
};

/** Maximum number of pixels per logit, and maximum share of the width that all ribbons fill together. */
const MAX_SCALE = 14;
const SHARE = 0.1;
/** Maximum shares of the height that ribbons fill above the rows, and between the rows. */
const FAN = 0.34;
const BETWEEN = 0.25;

const limitOf = (room: number, list: Node[]): Limit => ({
  room,
  count: list.length,
  sum: list.reduce((sum, { value }) => sum + value, 0),
});

/** Returns the limits above the rows, where the ribbons on each side of the widest ribbon are stacked. */
const fanLimits = ({ flowing, widest, tall }: RibbonRoom): Limit[] => [
  limitOf(
    FAN * tall,
    flowing.filter((part) => part !== widest && part.slot <= widest.slot),
  ),
  limitOf(
    FAN * tall,
    flowing.filter((part) => part !== widest && part.slot >= widest.slot),
  ),
];

/** Returns the limit between the rows, for the widest ribbon of each layer except the last. */
function betweenLimit({ flowing, tall, layers }: RibbonRoom): Limit {
  const widest = Array.from({ length: layers - 1 }, (_, layer) =>
    flowing
      .filter((part) => part.layer === layer)
      .reduce((most, part) => (part.value > (most?.value ?? 0) ? part : most), undefined as Node | undefined),
  );
  return limitOf(
    BETWEEN * tall,
    widest.filter((part) => part !== undefined),
  );
}

/** Returns the limits next to the columns, for each lane's ribbons. Those of the last layer go up without a lane. */
function laneLimits({ flowing, layers, columns }: RibbonRoom, halfOf: HalfOf): Limit[] {
  const { count, slots, pitch, pad, lineRoom, toRight } = columns;
  const inLane = flowing.filter(({ kind, layer }) => kind !== 'embed' && layer < layers - 1);
  const isRight = (slot: number) => toRight({ slot });
  return Array.from({ length: count + 1 }, (_, i) => {
    // The room is between this column and the next one; at both ends there is only half as much.
    const slot = i - 1;
    const inner = [slot, slot + 1].filter((at) => at >= 0 && at < count);
    const room =
      (inner.length === 2 ? pitch : pitch / 2) -
      inner.reduce((sum, at) => sum + halfOf(at) + pad, 0) -
      (inner.some((at) => at < slots && isRight(at) !== (at === slot)) ? lineRoom : 0);
    return limitOf(
      Math.max(room, 2),
      inLane.filter((part) => (part.slot === slot && isRight(slot)) || (part.slot === slot + 1 && !isRight(slot + 1))),
    );
  });
}

/** Returns the widths of ribbons between thumbnails of a size. With size 0 they are the widest possible. */
export function widthsFor(input: RibbonRoom, size: number, halfOf: HalfOf = () => size / 2): Widths {
  const { flowing, columns, width } = input;
  const limits = [...fanLimits(input), betweenLimit(input), ...laneLimits(input, halfOf)];
  const positive = flowing.reduce((sum, { value }) => sum + value, 0);
  // Each ribbon needs at least q pixels, whatever its contribution: a third for the thinnest ribbon, the rest for the
  // gap next to it.
  const q = limits.reduce((found, { room, count }) => Math.min(found, (0.6 * room) / Math.max(count, 1)), 3);
  const fitting = limits.map(({ room, count, sum }) => (sum > 0 ? (room - count * q) / sum : MAX_SCALE));
  // A ribbon is at most slightly wider than its part.
  const own = flowing.map(({ slot, value }) => (2 * halfOf(slot) + 2 * columns.pad) / value);
  const scale = Math.min(MAX_SCALE, (SHARE * width) / Math.max(positive, 1e-9), ...fitting, ...(size > 0 ? own : []));
  return { scale: Math.max(scale, 0), thin: q / 3, apart: (2 * q) / 3 };
}
