// How wide the ribbons of flow may be: all of them must fit next to the columns, above the rows and between them.

/** @import { Columns, Node, Widths } from './flowLayout.js' */
/** @typedef {{ room: number, count: number, sum: number }} Limit ribbons that must fit in a number of pixels */
/** @typedef {(slot: number) => number} HalfOf half the width of the parts in a column */
/**
 * @typedef {object} RibbonRoom
 * @property {Node[]} flowing parts with a ribbon
 * @property {Node} widest
 * @property {Columns} columns
 * @property {number} width
 * @property {number} tall height without title and tokens
 * @property {number} layers
 */

/** Maximum number of pixels of a logit, and of the share of the width that all ribbons take. */
const MAX_SCALE = 14;
const SHARE = 0.1;
/** Maximum shares of the height: of ribbons above the rows, and of those between them. */
const FAN = 0.34;
const BETWEEN = 0.25;

/** @param {number} room @param {Node[]} list @returns {Limit} */
const limitOf = (room, list) => ({ room, count: list.length, sum: list.reduce((sum, { value }) => sum + value, 0) });

/** Above the rows: the ribbons on each side of the widest one. @param {RibbonRoom} input @returns {Limit[]} */
const fanLimits = ({ flowing, widest, tall }) => [
  limitOf(
    FAN * tall,
    flowing.filter((part) => part !== widest && part.slot <= widest.slot),
  ),
  limitOf(
    FAN * tall,
    flowing.filter((part) => part !== widest && part.slot >= widest.slot),
  ),
];

/** Between the rows: the widest ribbon of each layer but the last. @param {RibbonRoom} input @returns {Limit} */
function betweenLimit({ flowing, tall, layers }) {
  const widest = Array.from({ length: layers - 1 }, (_, layer) =>
    flowing
      .filter((part) => part.layer === layer)
      .reduce(
        (most, part) => (part.value > (most?.value ?? 0) ? part : most),
        /** @type {Node | undefined} */ (undefined),
      ),
  );
  return limitOf(
    BETWEEN * tall,
    widest.filter((part) => part !== undefined),
  );
}

/**
 * Next to the columns: the ribbons in each lane. The ribbons of the last layer go straight up.
 * @param {RibbonRoom} input
 * @param {HalfOf} halfOf
 * @returns {Limit[]}
 */
function laneLimits({ flowing, layers, columns }, halfOf) {
  const { count, slots, pitch, pad, lineRoom, toRight } = columns;
  const inLane = flowing.filter(({ kind, layer }) => kind !== 'embed' && layer < layers - 1);
  const isRight = (/** @type {number} */ slot) => toRight({ slot });
  return Array.from({ length: count + 1 }, (_, i) => {
    // Between this column and the next one; at both ends there is only half of that room.
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

/**
 * The widths of ribbons between thumbnails of a size; with size 0, the widest possible ones.
 * @param {RibbonRoom} input
 * @param {number} size
 * @param {HalfOf} [halfOf]
 * @returns {Widths}
 */
export function widthsFor(input, size, halfOf = () => size / 2) {
  const { flowing, columns, width } = input;
  const limits = [...fanLimits(input), betweenLimit(input), ...laneLimits(input, halfOf)];
  const positive = flowing.reduce((sum, { value }) => sum + value, 0);
  // The room of a ribbon with a contribution near 0, at most 3 pixels: a third is the ribbon, the rest is empty.
  const q = limits.reduce((found, { room, count }) => Math.min(found, (0.6 * room) / Math.max(count, 1)), 3);
  const fitting = limits.map(({ room, count, sum }) => (sum > 0 ? (room - count * q) / sum : MAX_SCALE));
  // No ribbon is much wider than its part.
  const own = flowing.map(({ slot, value }) => (2 * halfOf(slot) + 2 * columns.pad) / value);
  const scale = Math.min(MAX_SCALE, (SHARE * width) / Math.max(positive, 1e-9), ...fitting, ...(size > 0 ? own : []));
  return { scale: Math.max(scale, 0), thin: q / 3, apart: (2 * q) / 3 };
}
