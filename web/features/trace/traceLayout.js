// The rectangles of the cells of a trace, in CSS pixels: layers go upward, each with its rows; the single heads of a
// layer
// are as high as all of its rows.

import { ROWS } from './places.js';

/** @import { GridPart, GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/**
 * places: tokens of the lower sentence by column, −1 for an empty one. rows: parts of each layer, from the top.
 * @typedef {{ layers: number, places: readonly number[], heads: number, rows: readonly GridPart[] }} Shape
 */
/** Sizes of the two blocks of cells. @typedef {{ width: number, height: number, headsWidth: number }} Room */

/** With more layers, or more columns, only one part of each layer is shown, or cells have no gap and few labels. */
export const [MAX_LAYERS, MAX_COLUMNS] = [24, 24];
/** The height of the thick row as a share of a layer with three rows. */
const THICK = 0.44;

/**
 * The parts that each layer shows: all, or the chosen one.
 * @param {{ layers: number, parts: readonly GridPart[], narrow: boolean, chosen: GridPart }} how
 * @returns {readonly GridPart[]}
 */
export function rowsOf({ layers, parts, narrow, chosen }) {
  const rows = ROWS.filter((part) => parts.includes(part));
  if (!narrow && layers <= MAX_LAYERS) return rows;
  return chosen === 'head' ? [] : rows.filter((part) => part === chosen);
}

/** @param {Shape} shape @param {Room} room */
export function layoutOf({ layers, places, heads, rows }, { width, height, headsWidth }) {
  const step = height / Math.max(layers, 1);
  const gap = step < 9 ? 0 : step < 20 || rows.length < 2 ? 1 : Math.min(Math.round(0.14 * step), 8);
  const line = step < 9 ? 0 : 1;
  const inner = step - gap;
  const thick = rows.length < 2 ? inner : THICK * inner;
  const thin = rows.length < 2 ? 0 : (inner - thick) / (rows.length - 1);
  const top = (/** @type {number} */ layer) => (layers - 1 - layer) * step;
  const side = (/** @type {number} */ count, /** @type {number} */ all) => all / Math.max(count, 1);
  const across = places.length > MAX_COLUMNS ? 0 : 1;

  /** @param {GridPlace} place @returns {Box | null} null if it is not drawn */
  function boxOf({ part, layer, place }) {
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
  const layerAt = (/** @type {number} */ y) => Math.min(Math.max(layers - 1 - Math.floor(y / step), 0), layers - 1);
  return {
    step,
    boxOf,
    /**
     * The place at a point of the first block; null in an empty column.
     * @param {number} x
     * @param {number} y
     * @returns {GridPlace | null}
     */
    placeAt(x, y) {
      const column = Math.floor(x / side(places.length, width));
      const place = places[column] ?? -1;
      if (place < 0 || rows.length === 0 || y < 0 || y >= height) return null;
      const within = y % step;
      const row = within < thick || thin === 0 ? 0 : 1 + Math.floor((within - thick) / thin);
      return { part: rows[Math.min(row, rows.length - 1)], layer: layerAt(y), place };
    },
    /** The head at a point of the second block. @param {number} x @param {number} y @returns {GridPlace | null} */
    headAt(x, y) {
      const place = Math.floor(x / side(heads, headsWidth));
      return place < 0 || place >= heads || y < 0 || y >= height ? null : { part: 'head', layer: layerAt(y), place };
    },
  };
}
/** @typedef {ReturnType<typeof layoutOf>} Layout */

/** Layers between two labels that do not touch. @param {number} step height of a layer @param {number} letter */
export const labelStep = (step, letter) => Math.max(Math.ceil((1.25 * letter) / Math.max(step, 1)), 1);
