// From widths and heights to sizes, all in CSS pixels. Cells are whole pixels, so that their edges fall on pixels.

/** @typedef {'wide' | 'desk' | 'tablet' | 'phone'} Kind */
/**
 * narrow: a desk where words must be few; huge: letters grow once more; low: a phone held sideways.
 * @typedef {{ kind: Kind, size?: 'narrow' | 'huge' | 'low', margin: number, gap: number, model: number,
 *   reading: number }} Screen
 */

export const between = (/** @type {number} */ least, /** @type {number} */ x, /** @type {number} */ most) =>
  Math.round(Math.min(Math.max(x, least), most));

/** Below this height, and this width, a window is a phone held sideways. */
export const LOW = { height: 480, width: 1000 };

/** The columns for a width of the page, in a low window or not. @param {number} width @returns {Screen} */
export function screenOf(width, low = false) {
  if (low && width >= 560 && width < LOW.width)
    return { kind: 'phone', size: 'low', margin: 16, gap: 16, model: 0, reading: 0 };
  if (width >= 1700)
    return {
      kind: 'wide',
      ...(width >= 2200 && { size: /** @type {const} */ ('huge') }),
      margin: 48,
      gap: 52,
      model: between(446, 0.232 * width, 620),
      reading: between(392, 0.204 * width, 540),
    };
  if (width >= 900)
    return {
      kind: 'desk',
      ...(width < 1200 && { size: /** @type {const} */ ('narrow') }),
      margin: 32,
      gap: width >= 1200 ? 28 : 20,
      model: width < 1200 ? 214 : between(283, 0.236 * width, 340),
      reading: between(228, 0.2056 * width, 296),
    };
  if (width >= 560) return { kind: 'tablet', margin: 24, gap: 24, model: 214, reading: 0 };
  return { kind: 'phone', margin: 16, gap: 16, model: 0, reading: 0 };
}

/** From this cell on figures stand in it; below the other only the touched row and key are labelled. */
export const FIGURES = 22;
export const LABELS = 9;
/** Cells below this many pixels are pooled. */
export const DENSE = 4;
/** Above so many tokens cells touch. */
export const TOUCHING = 40;

/** Font size of a token's label next to a cell. @param {number} cell @param {number} most */
export const labelSize = (cell, most) => (cell < LABELS ? 12 : Math.min(Math.max(0.62 * cell, 11.5), most));

/** Above a full picture a label stands level where every one is as narrow as a cell with this much less. */
const BESIDE = 6;
/**
 * How labels stand above a full picture: level or at 45°, and what they rise above it.
 * @param {number} label the width of the widest
 * @param {number} size
 * @param {number} cell
 */
export function labelsAbove(label, size, cell) {
  const level = label <= cell - BESIDE;
  return { level, rise: level ? size * 1.45 : Math.max(0.71 * (label + 1.32 * size), 18) };
}

/** A label takes no more room than this. */
const LONGEST = 120;

/** A cell is not larger than this: one token would fill the screen. On a phone, than this share of the width. */
export const LARGEST = 120;
const LARGEST_SHARE = 0.3;
/** With this many tokens or fewer, the empty corner is too small for the head's name: the name is above. */
const FEW = 5;
/** The head's name above the picture; in letters, with what it does below that. */
const NAME = { line: 44, lines: 5.5 };
/** Narrower is a phone; wider has room for both in one line. */
const [NARROW, WIDE] = [420, 560];

/**
 * The large picture in the room that there is.
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
}) {
  const [n, m] = [Math.max(tokens, 1), Math.max(keys, 1)];
  const above = full || (n <= FEW && !bare);
  const largest = Math.min(LARGEST, LARGEST_SHARE * width, tallest / n);
  const stacked = above && (!full || width < WIDE);
  let cell = Math.min(width / m, height / n, largest);
  let left = 0;
  let top = 0;
  let level = false;
  // The labels need room, and their size depends on the cell: two rounds settle it.
  for (let round = 0; round < 3; round++) {
    const size = labelSize(cell, most);
    const label = Math.min(widest(size), LONGEST);
    left = Math.ceil(cell < LABELS ? 12 : label + 10);
    const name = stacked && width >= NARROW ? NAME.lines * most : NAME.line;
    const labels = labelsAbove(label, size, cell);
    level = full && labels.level;
    top = Math.ceil((above ? name : 0) + (full ? labels.rise : size * 1.45));
    const right = full ? 0 : Math.min(beyond(size, Math.floor(cell)), LONGEST);
    cell = Math.min((width - left - right) / m, (height - top) / n, largest);
  }
  // Cells that are pooled need not be whole: rounding them down would leave up to half of the room empty.
  const whole = cell >= DENSE ? Math.floor(cell) : cell;
  const [side, wide] = [Math.max(whole * n, 1), Math.max(whole * m, 1)];
  const gap = Math.max(n, m) > TOUCHING || whole < 5 ? 0 : 1;
  return { cell: whole, left, top, side, wide, gap, above, stacked, level, size: labelSize(whole, most) };
}

/**
 * Where the cells of a picture begin: on the base line of the model, or in the middle where that would leave most of
 * the room above it empty.
 * @param {number} height of the room
 * @param {{ side: number, top: number }} picture
 */
export const topOf = (height, { side, top }) =>
  side < height / 2 ? Math.max(Math.round((height - side) / 2), Math.min(top, height - side)) : height - side;

/**
 * Heights of a line above each picture, of the space between them and of a title above both; the least width of a title
 * next to them.
 */
const PATCHES = { line: 28, between: 6, across: 16, title: 40, beside: 234 };

/** Rows and columns of patches, and tokens that stand before them. @param {any} run */
export function gridOf({ patch, S }) {
  const [rows, columns] = patch.image.map((/** @type {number} */ side) => Math.floor(side / patch.size));
  return { rows, columns, before: S - rows * columns };
}

/**
 * A picture in patches and the same patches with their weights, as large as they can be: one above the other with the
 * title next to them or above, or side by side where that is much larger.
 * @param {{ width: number, height: number, rows: number, columns: number }} room
 */
export function patchesOf({ width, height, rows, columns }) {
  const { line, between, across, title, beside } = PATCHES;
  const ways = [
    { titled: false, split: false, wide: width - beside, high: (height - 2 * line - between) / 2 },
    { titled: true, split: false, wide: width, high: (height - 2 * line - between - title) / 2 },
    { titled: true, split: true, wide: (width - across) / 2, high: height - line - title },
  ].map((way) => ({ ...way, size: Math.max(Math.floor(Math.min(way.wide / columns, way.high / rows)), 1) }));
  const { titled, split, size } = ways.reduce((best, way) => (0.85 * way.size > best.size ? way : best));
  const panes = split ? line + rows * size : 2 * (line + rows * size) + between;
  return { size, titled, split, side: width - size * columns - 24, height: panes + (titled ? title : 0) };
}

/** Thumbnails smaller than this are tiles. */
export const TILE = 20;
/** Words around a thumbnail, in letters of 12 px: the layer's name above it and a trade below, a trade alone, none. */
const WORDS = { both: 34, trade: 18, none: 5 };
const LEAST = 32;
/** Space next to a thumbnail, as a share of its width: the frame of the chosen one touches no other. */
const SIDE_SPACE = 0.09;
/** Rows stand no further apart than this share of a thumbnail, and no thumbnail is larger, in letters. */
const [APART, LARGE] = [0.5, 16];
/** A thumbnail that would be smaller is a tile. */
const SMALLEST = 8;

/**
 * A whole multiple of the tokens where they are few, unless that gives a third of the room away.
 * @param {number} most
 * @param {number} tokens
 */
export function thumbnailSize(most, tokens) {
  const n = Math.max(tokens, 1);
  const whole = n * Math.floor(most / n);
  return n <= 24 && 1.5 * whole > most ? whole : Math.floor(most);
}

/**
 * Thumbnails in rows of layers. A thumbnail is a whole multiple of the tokens where there are few.
 * @param {{ width: number, height: number, tokens: number, layers: number, heads: number, names: boolean,
 *   letter?: number }} room
 */
export function thumbnailsOf({ width, height, tokens, layers, heads, names, letter = 12 }) {
  const across = width / heads;
  const down = height / layers;
  const beside = Math.min(Math.max(SIDE_SPACE * across, 5), 9);
  const mostWith = (/** @type {number} */ words) =>
    Math.min(across - beside, down - (words * letter) / 12, LARGE * letter);
  const sizeWith = (/** @type {number} */ words) => {
    const most = mostWith(words);
    // Tiles are pooled: they need be no multiple, and one pixel between them is enough.
    return most < SMALLEST ? Math.max(Math.floor(Math.min(across, down)) - 1, 8) : thumbnailSize(most, tokens);
  };
  // A tile takes the room of the words as well.
  const fits = (/** @type {'both' | 'trade'} */ words) =>
    names && mostWith(WORDS[words]) >= SMALLEST && sizeWith(WORDS[words]) >= LEAST;
  const words = fits('both') ? 'both' : fits('trade') ? 'trade' : 'none';
  const size = sizeWith(WORDS[words]);
  const high = size + (WORDS[words] * letter) / 12;
  // Tiles make one picture.
  const most = size < TILE ? across + 2 : names ? high + APART * size : down;
  const pitch = Math.min(down, most);
  // The space between two rows is not needed below the last one.
  return { size, across, down: pitch, spare: names && size >= TILE ? Math.max(pitch - high, 0) : 0, words };
}

/**
 * Which names have room under the thumbnails of a row: the chosen one's first, then from the left.
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

/** Another row of a single layer's heads is for thumbnails that are larger by this. */
const LARGER = 1.15;

/**
 * The rows of a model: one for each layer. The heads of a single layer stand in as many rows as make them largest, the
 * first on top.
 * @param {{ width: number, height: number, tokens: number, layers: number, heads: number, names: boolean,
 *   letter?: number, name?: number }} room name: what the widest name under a thumbnail takes
 */
export function rowsOf(room) {
  const { layers, heads, name = 0 } = room;
  const inColumns = (/** @type {number} */ columns) => {
    const rows = Math.ceil(heads / columns);
    return { columns, rows, ...thumbnailsOf({ ...room, layers: layers * rows, heads: columns }) };
  };
  if (layers > 1) return inColumns(heads);
  // As many columns as there is room for names.
  const most = Math.min(Math.max(Math.floor(room.width / name), 1), heads);
  return Array.from({ length: most }, (_, i) => inColumns(most - i)).reduce((best, next) =>
    next.size > LARGER * best.size ? next : best,
  );
}
