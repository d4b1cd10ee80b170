// The positions of the heads in the diagram of the model, in CSS pixels.

import { rowsOf, TEXT_HEIGHTS } from '../ui/layout.ts';

export const STREAM_WIDTH = 22;
/** Width reserved for the number of a layer, next to the residual stream. */
export const NUMBER_WIDTH = 10;
/** Height of the line above the heads. */
const TOP_LINE = 30;
/** Number of tokens for which thumbnails are laid out while there is no run. */
const USUAL_TOKENS = 17;

export type Layout = {
  /** of a thumbnail */
  size: number;
  /** x at which the thumbnails begin */
  left: number;
  across: number;
  /** distance from one row to the next */
  down: number;
  /** the part of `down` that the lowest row does not need */
  spare: number;
  /** true if there is room for the names of roles below the thumbnails */
  named: boolean;
  /** true if the numbers of layers are shown */
  isNumbered: boolean;
  columns: number;
  /** of the model */
  height: number;
  /** height of the role names under the lowest row, which extend below the bottom of the picture */
  below: number;
  /** distance from the top of the room to the top of the model */
  top: number;
  rowTop: (layer: number, place?: number) => number;
  /** distance from the top of a row to its thumbnails */
  inset: number;
  /** y of the middle of a layer's thumbnails */
  middle: (layer: number) => number;
};

/**
 * Returns the layout; a single layer takes several rows, the first heads on top. tokens: of the run, if there is one;
 * name: width of the widest head name; gap: its height, and the layer `below` which it is.
 */
export function layoutOf(
  { layers, heads, tokens = USUAL_TOKENS, name }: { layers: number; heads: number; tokens?: number; name: number },
  room: { width: number; height: number; names: boolean; letter: number },
  gap: { size: number; below: number },
): Layout {
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
  const rowTop = (layer: number, place = 0) =>
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
