// Sizes of pictures in the space that the style sheets leave them, in CSS pixels. A cell is a whole number of pixels,
// so that its edges are sharp.

/** @typedef {'wide' | 'desk' | 'tablet' | 'phone'} Kind */
/**
 * The screens that the style sheets tell apart. narrow: a desk where words must be few; huge: letters grow once more;
 * low: a phone held sideways.
 * @typedef {{ kind: Kind, size?: 'narrow' | 'huge' | 'low' }} Screen
 */

export const between = (/** @type {number} */ least, /** @type {number} */ x, /** @type {number} */ most) =>
  Math.round(Math.min(Math.max(x, least), most));

/** Below this height, and this width, a window is a phone held sideways. */
export const LOW = { height: 480, width: 1000 };

/** The screen for a width of the page, in a low window or not. @param {number} width @returns {Screen} */
export function screenOf(width, low = false) {
  if (low && width >= 560 && width < LOW.width) return { kind: 'phone', size: 'low' };
  if (width >= 2200) return { kind: 'wide', size: 'huge' };
  if (width >= 1700) return { kind: 'wide' };
  if (width >= 1200) return { kind: 'desk' };
  if (width >= 900) return { kind: 'desk', size: 'narrow' };
  return { kind: width >= 560 ? 'tablet' : 'phone' };
}

/** Minimum cell for a figure in it, and for labels of all rows and keys. */
export const MIN_FIGURE_CELL = 22;
export const MIN_LABEL_CELL = 9;
/** Smaller cells are pooled. */
export const MIN_WHOLE_CELL = 4;
/** With more tokens than this there is no gap between cells. */
export const MAX_TOKENS_WITH_GAPS = 40;

/** The spectrogram under the picture: all of it, its strip, and the gap above; lower pictures have none. */
export const SPECTROGRAM = { height: 46, strip: 32, gap: 4, least: 140 };
/** Height below the picture for the spectrogram of a sound. @param {boolean} hasSound @param {number} height */
export const footOf = (hasSound, height) =>
  hasSound && height >= SPECTROGRAM.least ? SPECTROGRAM.height + SPECTROGRAM.gap : 0;

/** Font size of a token's label next to a cell. @param {number} cell @param {number} most */
export const labelSize = (cell, most) => (cell < MIN_LABEL_CELL ? 12 : Math.min(Math.max(0.62 * cell, 11.5), most));

/** Minimum distance of two horizontal labels above a full picture. */
const LABEL_DISTANCE = 6;
/**
 * The labels above a full picture: horizontal or at 45°, and their height.
 * @param {number} label the width of the widest
 * @param {number} size
 * @param {number} cell
 */
export function labelsAbove(label, size, cell) {
  const level = label <= cell - LABEL_DISTANCE;
  return { level, rise: level ? size * 1.45 : Math.max(0.71 * (label + 1.32 * size), 18) };
}

/** Left margin of a picture without labels on the left: a line there joins rows without a match. */
const STEP_MARGIN = 12;
/** Maximum width of a label. */
const MAX_LABEL_WIDTH = 120;

/** Maximum cell, or one token would fill the screen; on a phone, as a share of the width. */
export const MAX_CELL = 120;
const MAX_CELL_SHARE = 0.3;
/** With this many tokens or fewer, the empty half is too small for the head's name, which is above the picture. */
const MAX_UNTITLED_TOKENS = 5;
/** Height of the head's name above the picture; with the role in a second line, in font sizes. */
const TITLE_HEIGHT = { line: 44, lines: 5.5 };
/** A narrower picture is a phone's; a wider one has room for name and role in one line. */
const [MIN_WIDTH_FOR_ROLE, MIN_WIDTH_FOR_LINE] = [420, 560];

/**
 * The size of the large picture and of its margins.
 * @param {object} room
 * @param {number} room.width
 * @param {number} room.height
 * @param {number} room.tokens that ask
 * @param {number} [room.keys] tokens that answer, where they are others
 * @param {number} room.most letters of a token at most
 * @param {(size: number) => number} room.widest the widest label in letters of a size
 * @param {(size: number, cell: number) => number} [room.beyond] how far the labels along the stairs reach beyond the
 *   picture, in letters of a size next to cells of a size
 * @param {boolean} room.full the upper half is in use: title and labels stand above it
 * @param {number} [room.tallest] the square of cells is no higher
 * @param {boolean} [room.bare] it has no name
 * @param {boolean} [room.stepped] each token is named once, to the right of its row's last cell
 */
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
  stepped = false,
}) {
  const [n, m] = [Math.max(tokens, 1), Math.max(keys, 1)];
  const above = full || (n <= MAX_UNTITLED_TOKENS && !bare);
  const largest = Math.min(MAX_CELL, MAX_CELL_SHARE * width, tallest / n);
  const stacked = above && (!full || width < MIN_WIDTH_FOR_LINE);
  let cell = Math.min(width / m, height / n, largest);
  let left = 0;
  let top = 0;
  let level = false;
  // The size of the labels depends on the cell, and the cell on the labels: it settles after two rounds.
  for (let round = 0; round < 3; round++) {
    const size = labelSize(cell, most);
    const label = Math.min(widest(size), MAX_LABEL_WIDTH);
    left = Math.ceil(stepped || cell < MIN_LABEL_CELL ? STEP_MARGIN : label + 10);
    const name = stacked && width >= MIN_WIDTH_FOR_ROLE ? TITLE_HEIGHT.lines * most : TITLE_HEIGHT.line;
    const labels = labelsAbove(label, size, cell);
    level = full && labels.level;
    top = Math.ceil((above ? name : 0) + (full ? labels.rise : stepped ? 0 : size * 1.45));
    const right = full ? 0 : Math.min(beyond(size, Math.floor(cell)), MAX_LABEL_WIDTH);
    cell = Math.min((width - left - right) / m, (height - top) / n, largest);
  }
  // Cells that are pooled need not be whole: rounding them down would leave up to half of the room empty.
  const whole = cell >= MIN_WHOLE_CELL ? Math.floor(cell) : cell;
  const [side, wide] = [Math.max(whole * n, 1), Math.max(whole * m, 1)];
  const gap = Math.max(n, m) > MAX_TOKENS_WITH_GAPS || whole < 5 ? 0 : 1;
  return { cell: whole, left, top, side, wide, gap, above, stacked, level, size: labelSize(whole, most) };
}

/**
 * The top of the cells: the picture ends on the base line of the model, or is in the middle if it is low.
 * @param {number} height of the room
 * @param {{ side: number, top: number }} picture
 */
export const topOf = (height, { side, top }) =>
  side < height / 2 ? Math.max(Math.round((height - side) / 2), Math.min(top, height - side)) : height - side;

/** Rows and columns of patches, and tokens that stand before them. @param {any} run */
export function gridOf({ patch, S }) {
  const [rows, columns] = patch.image.map((/** @type {number} */ side) => Math.floor(side / patch.size));
  return { rows, columns, before: S - rows * columns };
}

/**
 * A picture in patches and the same patches with their weights, as large as they can be: one above the other with the
 * title next to them or above, or side by side where that is much larger.
 * @param {{ width: number, height: number, rows: number, columns: number }} room
 * @param {import('./lengths.js').Lengths} lengths
 */
export function patchesOf({ width, height: most, rows, columns }, { paneLine, paneGap, paneTitle, besidePanes }) {
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

/** Smaller thumbnails are tiles. */
export const MIN_PICTURE = 20;
/** Height of the role below a thumbnail at a font size of 12 px; the gap without one. */
export const TEXT_HEIGHTS = { role: 18, none: 5 };
const MIN_NAMED = 32;
/** Space next to a thumbnail, as a share of its width: the frame of the chosen head touches no other. */
const SIDE_SHARE = 0.09;
/** Maximum gap between rows, as a share of a thumbnail; maximum thumbnail, in font sizes. */
const [MAX_ROW_GAP, MAX_THUMBNAIL] = [0.5, 16];
/** Minimum thumbnail that is not a tile. */
const MIN_THUMBNAIL = 8;

/**
 * A multiple of the number of tokens if they are few, unless that is less than two thirds of the space.
 * @param {number} most
 * @param {number} tokens
 */
export function thumbnailSize(most, tokens) {
  const n = Math.max(tokens, 1);
  const whole = n * Math.floor(most / n);
  return n <= 24 && 1.5 * whole > most ? whole : Math.floor(most);
}

/**
 * Thumbnails in rows of layers.
 * @param {{ width: number, height: number, tokens: number, layers: number, heads: number, names: boolean,
 *   letter?: number }} room
 */
export function thumbnailsOf({ width, height, tokens, layers, heads, names, letter = 12 }) {
  const across = width / heads;
  const down = height / layers;
  const beside = Math.min(Math.max(SIDE_SHARE * across, 5), 9);
  const mostWith = (/** @type {number} */ words) =>
    Math.min(across - beside, down - (words * letter) / 12, MAX_THUMBNAIL * letter);
  const sizeWith = (/** @type {number} */ words) => {
    const most = mostWith(words);
    // Tiles are pooled, so they need not be a multiple; a gap of one pixel is enough.
    return most < MIN_THUMBNAIL ? Math.max(Math.floor(Math.min(across, down)) - 1, 8) : thumbnailSize(most, tokens);
  };
  // A tile has no texts, and takes their space.
  const fits = names && mostWith(TEXT_HEIGHTS.role) >= MIN_THUMBNAIL && sizeWith(TEXT_HEIGHTS.role) >= MIN_NAMED;
  /** @type {'role' | 'none'} */
  const words = fits ? 'role' : 'none';
  const size = sizeWith(TEXT_HEIGHTS[words]);
  const high = size + (TEXT_HEIGHTS[words] * letter) / 12;
  // Tiles are next to each other in both directions.
  const most = size < MIN_PICTURE ? across + 2 : names ? high + MAX_ROW_GAP * size : down;
  const pitch = Math.min(down, most);
  // The space between two rows is not needed below the last one.
  return { size, across, down: pitch, spare: names && size >= MIN_PICTURE ? Math.max(pitch - high, 0) : 0, words };
}

/**
 * True for each name that fits under the thumbnails of a row: the chosen head's first, then from the left.
 * @param {number[]} widths 0 where there is no name
 * @param {number} across from one thumbnail to the next
 * @param {number} chosen its place, or -1
 */
export function namesWithRoom(widths, across, chosen) {
  /** @type {number[]} */
  const kept = [];
  const places = widths.map((_, i) => i).sort((a, b) => Number(b === chosen) - Number(a === chosen));
  for (const i of places)
    if (widths[i] > 0 && kept.every((j) => Math.abs(i - j) * across >= (widths[i] + widths[j]) / 2)) kept.push(i);
  return widths.map((_, i) => kept.includes(i));
}

/** Width of a name in letters of a size, with the distance to the next name. @param {string} name */
export const nameWidth = (name, letter = 12) =>
  [...name].reduce((sum, sign) => sum + (sign > '\u2e80' ? 1 : 0.6), 0) * letter + (name ? 6 : 0);

/** The heads of a single layer get another row if it makes thumbnails larger by this factor. */
const MIN_GAIN = 1.15;

/**
 * The rows of a model: one for each layer. The heads of a single layer are in as many rows as make them largest, the
 * first on top.
 * @param {{ width: number, height: number, tokens: number, layers: number, heads: number, names: boolean,
 *   letter?: number, name?: number }} room name: the widest name under a thumbnail
 */
export function rowsOf(room) {
  const { layers, heads, name = 0 } = room;
  const inColumns = (/** @type {number} */ columns) => {
    const rows = Math.ceil(heads / columns);
    return { columns, rows, ...thumbnailsOf({ ...room, layers: layers * rows, heads: columns }) };
  };
  if (layers > 1) return inColumns(heads);
  // At most as many columns as names fit next to each other.
  const most = Math.min(Math.max(Math.floor(room.width / name), 1), heads);
  return Array.from({ length: most }, (_, i) => inColumns(most - i)).reduce((best, next) =>
    next.size > MIN_GAIN * best.size ? next : best,
  );
}
