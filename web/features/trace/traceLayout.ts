// The rectangles of the cells of a trace, in CSS pixels. Layers go upward, and each has its rows. A single head is as
// high as all rows of its layer.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { ROWS } from '../../model/trace/places.ts';
export type Box = { x: number; y: number; width: number; height: number };
/** places: tokens of the lower sentence by column, −1 for none; rows: parts of each layer, from the top */
export type Shape = { layers: number; places: readonly number[]; heads: number; rows: readonly GridPart[] };
/** The sizes of the two blocks of cells. */
export type Room = { width: number; height: number; headsWidth: number };

/** Above MAX_LAYERS one part of each layer is shown, above MAX_COLUMNS cells have no gap and few labels. */
export const [MAX_LAYERS, MAX_COLUMNS] = [24, 24];
/** Height of the thick row as a share of a layer with three rows. */
const THICK = 0.44;

export function rowsOf({
  layers,
  parts,
  narrow,
  chosen,
}: {
  layers: number;
  parts: readonly GridPart[];
  narrow: boolean;
  chosen: GridPart;
}): readonly GridPart[] {
  const rows = ROWS.filter((part) => parts.includes(part));
  if (!narrow && layers <= MAX_LAYERS) return rows;
  return chosen === 'head' ? [] : rows.filter((part) => part === chosen);
}

export function layoutOf({ layers, places, heads, rows }: Shape, { width, height, headsWidth }: Room) {
  const step = height / Math.max(layers, 1);
  const gap = step < 9 ? 0 : step < 20 || rows.length < 2 ? 1 : Math.min(Math.round(0.14 * step), 8);
  const line = step < 9 ? 0 : 1;
  const inner = step - gap;
  const thick = rows.length < 2 ? inner : THICK * inner;
  const thin = rows.length < 2 ? 0 : (inner - thick) / (rows.length - 1);
  const top = (layer: number) => (layers - 1 - layer) * step;
  const side = (count: number, all: number) => all / Math.max(count, 1);
  const across = places.length > MAX_COLUMNS ? 0 : 1;

  /** Returns null if the place is not drawn. */
  function boxOf({ part, layer, place }: GridPlace): Box | null {
    if (part === 'head') {
      const each = side(heads, headsWidth);
      return { x: place * each, y: top(layer), width: each - (each < 6 ? 0 : 1), height: inner };
    }
    const [column, row] = [places.indexOf(place), rows.indexOf(part)];
    if (column < 0 || row < 0) return null;
    const each = side(places.length, width);
    const y = top(layer) + (row === 0 ? 0 : thick + (row - 1) * thin);
    return { x: column * each, y, width: each - across, height: Math.max((row === 0 ? thick : thin) - line, 1) };
  }
  const layerAt = (y: number) => Math.min(Math.max(layers - 1 - Math.floor(y / step), 0), layers - 1);
  return {
    step,
    boxOf,
    /** Returns the place at a point of the first block; null in an empty column. */
    placeAt(x: number, y: number): GridPlace | null {
      const column = Math.floor(x / side(places.length, width));
      const place = places[column] ?? -1;
      if (place < 0 || rows.length === 0 || y < 0 || y >= height) return null;
      const within = y % step;
      const row = within < thick || thin === 0 ? 0 : 1 + Math.floor((within - thick) / thin);
      return { part: rows[Math.min(row, rows.length - 1)], layer: layerAt(y), place };
    },
    /** Returns the head at a point of the second block. */
    headAt(x: number, y: number): GridPlace | null {
      const place = Math.floor(x / side(heads, headsWidth));
      return place < 0 || place >= heads || y < 0 || y >= height ? null : { part: 'head', layer: layerAt(y), place };
    },
  };
}
export type Layout = ReturnType<typeof layoutOf>;

/** Returns the number of layers from one label to the next, so that labels do not touch. `step`: height of a layer. */
export const labelStep = (step: number, letter: number) => Math.max(Math.ceil((1.25 * letter) / Math.max(step, 1)), 1);
