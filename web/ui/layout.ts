// Computes the sizes of pictures in the space that the style sheets leave, in CSS pixels. A cell is a whole number of
// pixels, so that its edges are sharp.

import type { Lengths } from './lengths.ts';

export type Kind = 'wide' | 'desk' | 'tablet' | 'phone';
/** narrow: a 'desk' with smaller letters and gaps; huge: a 'wide' with larger letters; low: a phone held sideways */
export type Screen = { kind: Kind; size?: 'narrow' | 'huge' | 'low' };

export const between = (least: number, x: number, most: number) => Math.round(Math.min(Math.max(x, least), most));

/** A window below both this height and this width is a phone held sideways. */
export const LOW = { height: 480, width: 1000 };

/** Returns the kind of screen for the page's width. low: true in a low window. */
export function screenOf(width: number, low = false): Screen {
  if (low && width >= 560 && width < LOW.width) return { kind: 'phone', size: 'low' };
  if (width >= 2200) return { kind: 'wide', size: 'huge' };
  if (width >= 1700) return { kind: 'wide' };
  if (width >= 1200) return { kind: 'desk' };
  if (width >= 900) return { kind: 'desk', size: 'narrow' };
  return { kind: width >= 560 ? 'tablet' : 'phone' };
}

/** Minimum side of a cell that contains a number, and minimum side of cells if each row and each key has a label. */
export const MIN_FIGURE_CELL = 22;
export const MIN_LABEL_CELL = 9;
/** Minimum side of a cell that is drawn by itself. Smaller cells are pooled. */
export const MIN_WHOLE_CELL = 4;
/** Maximum tokens of a picture with gaps between the cells. */
export const MAX_TOKENS_WITH_GAPS = 40;

/** The spectrogram under the picture: its height, its strip, the gap above, and the minimum height of the picture. */
export const SPECTROGRAM = { height: 46, strip: 32, gap: 4, least: 140 };
export const footOf = (hasSound: boolean, height: number) =>
  hasSound && height >= SPECTROGRAM.least ? SPECTROGRAM.height + SPECTROGRAM.gap : 0;

/** Returns the font size of a token's label next to a cell. */
export const labelSize = (cell: number, most: number) =>
  cell < MIN_LABEL_CELL ? 12 : Math.min(Math.max(0.62 * cell, 11.5), most);

/** Minimum distance between two horizontal labels above a full picture. */
const LABEL_DISTANCE = 6;
/** Chooses labels above a full picture, horizontal or at 45°, and their height. `label`: width of the widest one. */
export function labelsAbove(label: number, size: number, cell: number) {
  const level = label <= cell - LABEL_DISTANCE;
  return { level, rise: level ? size * 1.45 : Math.max(0.71 * (label + 1.32 * size), 18) };
}

/** Left margin of a picture without labels on the left. It contains the line that marks unmatched rows. */
const BARE_MARGIN = 12;
const MAX_LABEL_WIDTH = 120;

/** Maximum side of a cell, so that one token does not fill the screen, and its maximum share of the width. */
export const MAX_CELL = 120;
const MAX_CELL_SHARE = 0.3;
/** Maximum tokens of a picture whose empty half is too small for the head's name, which is then above the picture. */
const MAX_UNTITLED_TOKENS = 5;
/** Height of the head's name above the picture in pixels, and with the role in a second line in font sizes. */
const TITLE_HEIGHT = { line: 44, lines: 5.5 };
/** Minimum widths of a picture for a role above it, and for name and role in one line. */
const [MIN_WIDTH_FOR_ROLE, MIN_WIDTH_FOR_LINE] = [420, 560];

/** Computes the size of the large picture and of its margins. */
export function pictureOf({
  width,
  height,
  tokens,
  keys = tokens,
  most,
  widest,
  beyond = () => 0,
  full,
  tallest = Infinity,
  bare = false,
}: {
  width: number;
  height: number;
  /** the number of queries */
  tokens: number;
  /** the number of keys, if they are other tokens */
  keys?: number;
  /** maximum font size of a token's label */
  most: number;
  widest: (size: number) => number;
  /** returns how far the labels along the diagonal reach beyond the picture, for a font size and a size of cells */
  beyond?: (size: number, cell: number) => number;
  /** true if the upper half has cells, so that title and labels are above it */
  full: boolean;
  /** maximum height of the square of cells */
  tallest?: number;
  /** true if the picture has no name */
  bare?: boolean;
}) {
  const [n, m] = [Math.max(tokens, 1), Math.max(keys, 1)];
  const above = full || (n <= MAX_UNTITLED_TOKENS && !bare);
  const largest = Math.min(MAX_CELL, MAX_CELL_SHARE * width, tallest / n);
  const stacked = above && (!full || width < MIN_WIDTH_FOR_LINE);
  let cell = Math.min(width / m, height / n, largest);
  let left = 0;
  let top = 0;
  let level = false;
  // The size of the labels depends on the size of the cells, and vice versa. Both are stable after two rounds.
  for (let round = 0; round < 3; round++) {
    const size = labelSize(cell, most);
    const label = Math.min(widest(size), MAX_LABEL_WIDTH);
    left = Math.ceil(cell < MIN_LABEL_CELL ? BARE_MARGIN : label + 10);
    const name = stacked && width >= MIN_WIDTH_FOR_ROLE ? TITLE_HEIGHT.lines * most : TITLE_HEIGHT.line;
    const labels = labelsAbove(label, size, cell);
    level = full && labels.level;
    top = Math.ceil((above ? name : 0) + (full ? labels.rise : size * 1.45));
    const right = full ? 0 : Math.min(beyond(size, Math.floor(cell)), MAX_LABEL_WIDTH);
    cell = Math.min((width - left - right) / m, (height - top) / n, largest);
  }
  // Pooled cells need no whole number of pixels. If they were rounded down, up to half of the room would be empty.
  const whole = cell >= MIN_WHOLE_CELL ? Math.floor(cell) : cell;
  const [side, wide] = [Math.max(whole * n, 1), Math.max(whole * m, 1)];
  const gap = Math.max(n, m) > MAX_TOKENS_WITH_GAPS || whole < 5 ? 0 : 1;
  return { cell: whole, left, top, side, wide, gap, above, stacked, level, size: labelSize(whole, most) };
}

/** Returns the top of the cells. The picture ends at the thumbnails' bottom or, if low, is in the middle. */
export const topOf = (height: number, { side, top }: { side: number; top: number }) =>
  side < height / 2 ? Math.max(Math.round((height - side) / 2), Math.min(top, height - side)) : height - side;

type Patch = { image: readonly number[]; size: number };

/** Returns the numbers of rows and columns of patches, and of tokens before the patches. */
export function gridOf({ patch, S }: { patch?: Patch; S: number }) {
  const [rows, columns] = (patch as Patch).image.map((side) => Math.floor(side / (patch as Patch).size));
  return { rows, columns, before: S - rows * columns };
}

/**
 * Computes the largest size of a picture in patches and of its copy with the weights. They are side by side if this
 * makes them much larger, otherwise one above the other, with the title beside or above.
 */
export function patchesOf(
  { width, height: most, rows, columns }: { width: number; height: number; rows: number; columns: number },
  { paneLine, paneGap, paneTitle, besidePanes }: Lengths,
) {
  const stacked = most - 2 * paneLine - paneGap;
  const ways = [
    { titled: false, split: false, wide: width - besidePanes, high: stacked / 2 },
    { titled: true, split: false, wide: width, high: (stacked - paneTitle) / 2 },
    { titled: true, split: true, wide: (width - paneGap) / 2, high: most - paneLine - paneTitle },
  ].map((way) => ({ ...way, size: Math.max(Math.floor(Math.min(way.wide / columns, way.high / rows)), 1) }));
  const { titled, split, size } = ways.reduce((best, way) => (0.85 * way.size > best.size ? way : best));
  const pane = paneLine + rows * size;
  const height = (split ? pane : 2 * pane + paneGap) + (titled ? paneTitle : 0);
  return { size, titled, split, width: size * columns, height };
}

/** Minimum size of a thumbnail with a frame. Smaller thumbnails are tiles, which are next to each other. */
export const MIN_PICTURE = 20;
/** Height of the role below a thumbnail at a font size of 12 px, and of the gap without a role. */
export const TEXT_HEIGHTS = { role: 18, none: 5 };
const MIN_NAMED = 32;
/** Space next to a thumbnail as a share of the width, so that the frame of the chosen head touches no other head. */
const SIDE_SHARE = 0.09;
/** Maximum gap between rows as a share of a thumbnail, and maximum size of a thumbnail in font sizes. */
const [MAX_ROW_GAP, MAX_THUMBNAIL] = [0.5, 16];
/** Below this size, thumbnails fill the space except for a gap of one pixel. */
const MIN_THUMBNAIL = 8;

/** Returns the size of a thumbnail: a multiple of the tokens if they are few, unless under two thirds of the space. */
export function thumbnailSize(most: number, tokens: number) {
  const n = Math.max(tokens, 1);
  const whole = n * Math.floor(most / n);
  return n <= 24 && 1.5 * whole > most ? whole : Math.floor(most);
}

/** Computes the size of thumbnails and the distances between them, in one row for each layer. */
export function thumbnailsOf({
  width,
  height,
  tokens,
  layers,
  heads,
  names,
  letter = 12,
}: {
  width: number;
  height: number;
  tokens: number;
  layers: number;
  heads: number;
  names: boolean;
  letter?: number;
}) {
  const across = width / heads;
  const down = height / layers;
  const beside = Math.min(Math.max(SIDE_SHARE * across, 5), 9);
  const mostWith = (words: number) => Math.min(across - beside, down - (words * letter) / 12, MAX_THUMBNAIL * letter);
  const sizeWith = (words: number) => {
    const most = mostWith(words);
    // Tiles are pooled, so their size need not be a multiple of the number of tokens. A gap of one pixel is enough.
    return most < MIN_THUMBNAIL ? Math.max(Math.floor(Math.min(across, down)) - 1, 8) : thumbnailSize(most, tokens);
  };
  // A tile has no texts, so it also uses the space of the texts.
  const fits = names && mostWith(TEXT_HEIGHTS.role) >= MIN_THUMBNAIL && sizeWith(TEXT_HEIGHTS.role) >= MIN_NAMED;
  const words: 'role' | 'none' = fits ? 'role' : 'none';
  const size = sizeWith(TEXT_HEIGHTS[words]);
  const high = size + (TEXT_HEIGHTS[words] * letter) / 12;
  // Tiles are next to each other in both directions.
  const most = size < MIN_PICTURE ? across + 2 : names ? high + MAX_ROW_GAP * size : down;
  const pitch = Math.min(down, most);
  // The space between two rows is not needed below the last one.
  return { size, across, down: pitch, spare: names && size >= MIN_PICTURE ? Math.max(pitch - high, 0) : 0, words };
}

/**
 * Returns true for each name (0: none) with room below a row's thumbnails, `across` apart: the name of the `chosen`
 * (−1: in another row) first, the others from the left.
 */
export function namesWithRoom(widths: number[], across: number, chosen: number) {
  const kept: number[] = [];
  const places = widths.map((_, i) => i).sort((a, b) => Number(b === chosen) - Number(a === chosen));
  for (const i of places)
    if (widths[i] > 0 && kept.every((j) => Math.abs(i - j) * across >= (widths[i] + widths[j]) / 2)) kept.push(i);
  return widths.map((_, i) => kept.includes(i));
}

/** Estimates the width of a name for a font size, with the distance to the next name. */
export const nameWidth = (name: string, letter = 12) =>
  [...name].reduce((sum, sign) => sum + (sign > '\u2e80' ? 1 : 0.6), 0) * letter + (name ? 6 : 0);

/** The heads of a single layer get another row if the row makes thumbnails larger by this factor. */
const MIN_GAIN = 1.15;

/**
 * Computes the rows, one per layer. A single layer has as many as make thumbnails largest, the first heads on top.
 * room.name: the widest name under a thumbnail.
 */
export function rowsOf(room: {
  width: number;
  height: number;
  tokens: number;
  layers: number;
  heads: number;
  names: boolean;
  letter?: number;
  name?: number;
}) {
  const { layers, heads, name = 0 } = room;
  const inColumns = (columns: number) => {
    const rows = Math.ceil(heads / columns);
    return { columns, rows, ...thumbnailsOf({ ...room, layers: layers * rows, heads: columns }) };
  };
  if (layers > 1) return inColumns(heads);
  // There are at most as many columns as names that fit next to each other.
  const most = Math.min(Math.max(Math.floor(room.width / name), 1), heads);
  return Array.from({ length: most }, (_, i) => inColumns(most - i)).reduce((best, next) =>
    next.size > MIN_GAIN * best.size ? next : best,
  );
}
