// The places of a trace. A place is a part of the model at a token, or a single head. A place has an identifier in
// state.patch, and a cell with the measured values.

/** @import { GridPart, GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @import { TracedCell, TraceRuns } from '../../store/traceProtocol.js' */
/** @typedef {GridPlace} Place */
/**
 * @typedef {{ share: Float64Array, value: Float64Array, a: Float64Array, b: Float64Array }} Measured values of the
 *   measured places, NaN for a place that has not been measured
 */
/**
 * A trace with the cells that have been measured so far, by part: (L,T) or (L,H).
 * @typedef {TraceRuns & { cells: { [part in GridPart]?: Measured }, done: number, left: number | null }} Trace
 */

/** The rows of a layer, from the top. */
export const ROWS = /** @type {const} */ (['stream', 'heads', 'mlp']);
/** @type {readonly GridPart[]} */
const PARTS = [...ROWS, 'head'];

/** Returns the identifier of a place in state.patch. @param {GridPlace} place */
export const keyOf = ({ part, layer, place }) => (part === 'head' ? `${layer}.${place}` : `${part}.${layer}.${place}`);

/**
 * Returns the place with an identifier of state.patch; null if the identifier stands for several places.
 * @param {string} key
 * @returns {GridPlace | null}
 */
export function placeOf(key) {
  const [, part = 'head', layer, place] = /^(?:(stream|heads|mlp)\.)?(\d+)\.(\d+)$/.exec(key) ?? [];
  return layer === undefined
    ? null
    : { part: /** @type {GridPart} */ (part), layer: Number(layer), place: Number(place) };
}

/** Returns the places that are patched one by one. @param {Record<string, number>} patch @returns {GridPlace[]} */
export const placesIn = (patch) =>
  Object.entries(patch).flatMap(([key, on]) => {
    const place = on === 1 ? placeOf(key) : null;
    return place ? [place] : [];
  });

/**
 * Returns the patched places that are not heads. Their identifiers contain the position of a token.
 * @param {Record<string, number>} patch
 */
export const tokenPlaces = (patch) => placesIn(patch).filter(({ part }) => part !== 'head');

/** Returns the number of places of a part in one layer. @param {TraceRuns} runs @param {GridPart} part */
export const countIn = ({ heads, lower }, part) => (part === 'head' ? heads : lower.pieces.length);

/**
 * Returns a trace before its measurement, in which only the places with equal values in both runs are known.
 * @param {TraceRuns} runs @returns {Trace}
 */
export function startTrace(runs) {
  const cells = Object.fromEntries(
    PARTS.filter((part) => runs.same[part]).map((part) => {
      const same = /** @type {Uint8Array} */ (runs.same[part]);
      const of = (/** @type {number} */ known) => Float64Array.from(same, (is) => (is ? known : Number.NaN));
      const [a, b] = runs.lower.both;
      return [part, { share: of(0), value: of(runs.lower.value), a: of(a), b: of(b) }];
    }),
  );
  return { ...runs, cells, done: 0, left: null };
}

/**
 * @param {Trace} trace
 * @param {{ cells: TracedCell[], done: number, total: number, left: number | null }} more
 * @returns {Trace}
 */
export function withCells(trace, { cells: measured, done, total, left }) {
  const cells = { ...trace.cells };
  for (const part of new Set(measured.map((cell) => cell.part))) {
    const old = cells[part];
    if (!old) continue;
    const copy = { share: old.share.slice(), value: old.value.slice(), a: old.a.slice(), b: old.b.slice() };
    for (const cell of measured) {
      if (cell.part !== part) continue;
      const i = cell.layer * countIn(trace, part) + cell.place;
      [copy.share[i], copy.value[i], copy.a[i], copy.b[i]] = [cell.share, cell.value, cell.a, cell.b];
    }
    cells[part] = copy;
  }
  return { ...trace, cells, done, total, left };
}
