// The positions of the heads in the diagram of the model, in CSS pixels.

import { rowsOf, TEXT_HEIGHTS } from '../../ui/layout.js';

/** Width reserved for the residual stream. */
export const STREAM_WIDTH = 22;
/** Width reserved for the number of a layer, next to the residual stream. */
export const NUMBER_WIDTH = 10;
/** Height of the line above the heads. */
const TOP_LINE = 30;
/** Number of tokens for which thumbnails are laid out while there is no run. */
const USUAL_TOKENS = 17;

/**
 * @typedef {object} Layout
 * @property {number} size of a thumbnail
 * @property {number} left x at which the thumbnails begin
 * @property {number} across distance from one thumbnail to the next
 * @property {number} down distance from one row to the next
 * @property {number} spare the part of `down` that the lowest row does not need
 * @property {boolean} named true if there is room for the names of roles below the thumbnails
 * @property {boolean} isNumbered true if the numbers of layers are shown
 * @property {number} columns
 * @property {number} height of the model
 * @property {number} below height of the role names under the lowest row, which extend below the bottom of the picture
 * @property {number} top distance from the top of the room to the top of the model
 * @property {(layer: number, place?: number) => number} rowTop
 * @property {number} inset distance from the top of a row to its thumbnails
 * @property {(layer: number) => number} middle y of the middle of a layer's thumbnails
 */

/**
 * Returns the layout. The heads of a model with a single layer are in several rows, the first heads on top.
 * @param {{ layers: number, heads: number, tokens?: number, name: number }} model tokens: number of tokens of the run,
 *   if there is one; name: width of the widest name of a head
 * @param {{ width: number, height: number, names: boolean, letter: number }} room
 * @param {{ size: number, below: number }} gap size: height of a gap between two layers; below: the layer below which
 *   the gap is
 * @returns {Layout}
 */
export function layoutOf({ layers, heads, tokens = USUAL_TOKENS, name }, room, gap) {
  const { width, names, letter } = room;
  const roles = (TEXT_HEIGHTS.role * letter) / 12;
  const height = room.height + (names ? roles : 0) - gap.size;
  const above = names ? TOP_LINE : 0;
  const isNumbered = names && layers > 1;
  const left = STREAM_WIDTH + (isNumbered ? NUMBER_WIDTH : 0);
  const grid = rowsOf({
    width: width - left,
    height: Math.max(height - above, 0),
    ...{ tokens, layers, heads, names, letter },
    name: names ? name : 0,
  });
  const { columns, rows, size, across, down, spare, words } = grid;
  const named = words === 'role';
  const inset = named ? 2 : Math.max((down - size) / 2, 0);
  const below = named ? roles - inset : 0;
  const rowTop = (/** @type {number} */ layer, place = 0) =>
    above + (layers - 1 - layer + Math.floor(place / columns)) * down + (layer < gap.below ? gap.size : 0);
  const high = Math.min(above + layers * rows * down - spare, height) + gap.size;
  return {
    ...{ size, left, across, down, spare, named, columns, below, rowTop, inset },
    isNumbered: isNumbered && named,
    height: high,
    top: room.height + below - high,
    middle: (layer) => rowTop(layer) + ((rows - 1) * down) / 2 + inset + size / 2,
  };
}
