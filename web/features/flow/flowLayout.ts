// The layout of flow, from bottom to top: the tokens, one row of heads per layer, the next token. The contribution of
// each part to the logit of that token is a ribbon, whose width is proportional to the contribution.
//
// No ribbon crosses another ribbon or a thumbnail. Ribbons go up in a lane next to each column, on the side of the
// widest ribbon, which goes straight up. Ribbons from lower layers are further out in the lane. Above the rows, ribbons
// from further out pass over ribbons from further in. Lines between heads use the opposite side of the columns.

import { thumbnailSize } from '../../ui/layout.ts';
import { CORNER, linesOf } from './flowLines.ts';
import { besides, partsOf } from './flowParts.ts';
import { ribbonsOf } from './flowRibbons.ts';
import { widthsFor } from './flowWidths.ts';

/** A part of the model. layer, head: −1 if the part has none. */
export type Part = { kind: 'head' | 'mlp' | 'embed' | 'rest' | 'others'; layer: number; head: number };
export type Box = { x: number; y: number; width: number; height: number };
export type Node = Part & Box & { value: number; heads: number[]; slot: number; shown: boolean };
export type Ribbon = Part & { value: number; width: number; d: string; boxes: Box[]; foot: number };
export type Place = { layer: number; head: number };
/** input of the upper head that a composition goes to: queries, keys or values */
export type Kind = 'q' | 'k' | 'v';
/** the composition of two heads */
export type Composition = { from: Place; to: Place; kind: Kind; value: number };
export type Line = Composition & { width: number; d: string; boxes: Box[] };
/** The result of attribution. others: contributions of the heads in the decoder's attention that is not shown. */
export type Added = {
  embed: number;
  heads: ArrayLike<number>;
  others?: ArrayLike<number>;
  mlps: ArrayLike<number>;
  bias: number;
  sum: number;
};
/** The columns of heads, and the columns of feed-forward parts and of the attention that is not shown. */
export type Columns = {
  count: number;
  /** number of columns of heads */
  slots: number;
  pitch: number;
  /** pixels between a thumbnail and the lanes next to it */
  pad: number;
  /** width of the lane for lines */
  lineRoom: number;
  middle: (slot: number) => number;
  /** true if the lane of ribbons is on the right of the column */
  toRight: (node: { slot: number }) => boolean;
};
/** row of thumbnails; gap: height of the gap above it */
export type Row = { y: number; gap: number };
/** size: of a thumbnail */
export type Rows = { rows: Row[]; rowsTop: number; size: number; spread: number };
/** Widths in pixels: of a ribbon per logit, of the thinnest ribbon, and of the gap between two ribbons. */
export type Widths = { scale: number; thin: number; apart: number };
export type FlowInput = {
  width: number;
  height: number;
  /** height of the title and the next token, above the ribbons */
  top: number;
  /** width of the names of layers, on the left */
  side: number;
  /** height of the tokens, at the bottom */
  feet: number;
  /** maximum width of a feed-forward part */
  pill: number;
  layers: number;
  heads: number;
  tokens: number;
  /** true if the model has feed-forward parts */
  mlps?: boolean;
  added: Added;
  /** threshold below which contributions and compositions are not drawn */
  hide: number;
  chosen: Place;
  compositions: Composition[];
};

/** Minimum width of a column of heads. If a layer has more heads than columns fit, only some are shown. */
const MIN_PITCH = 44;
/** Width on the right of all columns, for the ribbon of the token's embedding. */
const RIGHT = 22;

export function flowOf(input: FlowInput) {
  const { width, height, top, side, feet, layers, heads, mlps, added, hide, chosen, compositions } = input;
  const room = width - side - RIGHT;
  const minPitch = layers > 12 ? 1.5 * MIN_PITCH : MIN_PITCH;
  const slots = Math.min(heads, Math.max(Math.floor(room / minPitch) - besides(input), 2));
  const parts = partsOf({ layers, heads, mlps, added, hide, chosen, slots });
  const flowing = parts.filter(({ shown, value }) => shown && value > 0);
  const widest = flowing.reduce((best, part) => (part.value > best.value ? part : best), flowing[0]) ?? parts[0];
  const columns = columnsOf({ room, side, slots, count: slots + besides(input), widest });
  const mlpWidth = Math.min(0.64 * columns.pitch, input.pill);

  // The widths of ribbons depend on the size of thumbnails, and that size on the height of the ribbons. So thumbnails
  // are first measured with the widest possible ribbons, then ribbons are fitted between them.
  const ribbonRoom = { flowing, widest, columns, width, tall: height - top - feet, layers };
  const { size } = rowsFor(widthsFor(ribbonRoom, 0), input, { flowing, widest, columns });
  const halfOf = (slot: number) => (slot < slots ? size : mlpWidth) / 2;
  const widths = widthsFor(ribbonRoom, size, halfOf);
  const measured = rowsFor(widths, input, { flowing, widest, columns });
  const rows = spreadRows(measured, size, layers);

  placeParts(parts, { rows: rows.rows, size, columns, mlpWidth, end: width - RIGHT + 9, feet: height - feet });
  const ribbons = ribbonsOf({ flowing, widest, widths, columns, rows, layers, top });
  const lines = linesOf({ compositions, parts, hide, columns, size, spread: rows.spread });
  const total = ribbons.reduce((sum, ribbon) => sum + ribbon.width + widths.apart, -widths.apart);
  const from = ribbons.reduce((found, { foot, width: w }) => Math.min(found, foot - w / 2), Number.POSITIVE_INFINITY);
  const target = ribbons.length > 0 ? { x: from + total / 2, width: total } : { x: width / 2, width: 0 };
  const { pitch, pad, lineRoom, middle, toRight } = columns;
  return { ...widths, size, pitch, pad, parts, ribbons, lines, rows: rows.rows, target, lineRoom, middle, toRight };
}

/** Returns the columns. Left of the widest ribbon, their lane of ribbons is on the right, elsewhere on the left. */
function columnsOf({
  room,
  side,
  slots,
  count,
  widest,
}: {
  room: number;
  side: number;
  slots: number;
  count: number;
  widest: Node;
}): Columns {
  const pitch = room / count;
  return {
    count,
    slots,
    pitch,
    pad: Math.min(7, 0.08 * pitch),
    lineRoom: Math.min(26, 0.16 * pitch),
    middle: (slot) => side + (slot + 0.5) * pitch,
    toRight: ({ slot }) => (slot === widest.slot ? slot < count / 2 : slot < widest.slot),
  };
}

/** Returns the height that ribbons leave for rows of thumbnails, and the size of thumbnails at that height. */
function rowsFor(
  { scale, thin, apart }: Widths,
  { height, top, feet, layers, tokens }: FlowInput,
  { flowing, widest, columns }: { flowing: Node[]; widest: Node; columns: Columns },
) {
  const grown = flowing.map((part) => ({ ...part, w: Math.max(part.value * scale, thin) }));
  // Between two rows there must be room for a ribbon that turns towards its lane.
  const between = Array.from({ length: layers }, (_, layer) =>
    layer === layers - 1 ? 0 : grown.reduce((most, part) => (part.layer === layer ? Math.max(most, part.w) : most), 0),
  );
  // Above the rows, all ribbons on one side of the widest ribbon are stacked on top of each other.
  const sides = [0, 0];
  for (const part of grown) {
    if (part.slot <= widest.slot) sides[0] += part.w + apart;
    if (part.slot >= widest.slot) sides[1] += part.w + apart;
  }
  const own = Math.max(widest.value * scale, thin) + apart;
  const fan = flowing.length > 0 ? Math.max(Math.max(...sides) - own, 0) : 0;
  const rowsTop = top + fan + CORNER + 4;
  const forRows = height - feet - rowsTop - between.reduce((sum, x) => sum + x, 0);
  const least = Math.min(Math.max((0.3 * (height - top - feet)) / layers, 3), 31);
  const { pitch } = columns;
  const most = Math.max(Math.min(forRows / layers - least, (pitch < 90 ? 0.5 : 0.62) * pitch, 96), 2);
  return { between, rowsTop, forRows, size: thumbnailSize(most, tokens) };
}

/** Returns the rows from top to bottom, with the remaining height divided between them. */
function spreadRows(
  { between, rowsTop, forRows }: { between: number[]; rowsTop: number; forRows: number },
  size: number,
  layers: number,
): Rows {
  const spread = Math.max((forRows - layers * size) / layers, 0);
  const rows: Row[] = new Array(layers);
  let y = rowsTop;
  for (let layer = layers - 1; layer >= 0; layer--) {
    const gap = between[layer] + spread;
    y += gap;
    rows[layer] = { y, gap };
    y += size;
  }
  return { rows, rowsTop, size, spread };
}

/** Sets the boxes of all parts. end, feet: x and y of the token's embedding. */
function placeParts(
  parts: Node[],
  {
    rows,
    size,
    columns,
    mlpWidth,
    end,
    feet,
  }: { rows: Row[]; size: number; columns: Columns; mlpWidth: number; end: number; feet: number },
) {
  const mlpHeight = Math.min(size, 24);
  for (const part of parts) {
    const x = columns.middle(part.slot);
    const y = rows[part.layer]?.y;
    if (part.kind === 'embed') Object.assign(part, { x: end, y: feet, width: 0, height: 0 });
    else if (part.kind === 'mlp' || part.kind === 'others')
      Object.assign(part, { x: x - mlpWidth / 2, y: y + (size - mlpHeight) / 2, width: mlpWidth, height: mlpHeight });
    else Object.assign(part, { x: x - size / 2, y, width: size, height: size });
  }
}
