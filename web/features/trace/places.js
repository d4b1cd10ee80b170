// The places of a trace: parts of the model at a token, or single heads; their keys in state.patch; their shares.

/** @import { GridPart, GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @import { TracedCell, TraceRuns } from '../../store/traceProtocol.js' */
/** @typedef {GridPlace} Place */
/** @typedef {{ share: Float64Array, value: Float64Array, a: Float64Array, b: Float64Array }} Measured NaN: not yet */
/**
 * A trace with the cells that have been measured so far, by part: (L,T) or (L,H).
 * @typedef {TraceRuns & { cells: { [part in GridPart]?: Measured }, done: number, left: number | null }} Trace
 */

/** The rows of a layer, from the top. */
export const ROWS = /** @type {const} */ (['stream', 'heads', 'mlp']);
/** @type {readonly GridPart[]} */
const PARTS = [...ROWS, 'head'];

/** Shares nearer to 0 are shown as 0, so that noise makes no pattern. */
export const NOISE = 0.015;
/** A figure is written from this share on. */
const MIN_FIGURE = 0.1;

/** The place as a key of state.patch. @param {GridPlace} place */
export const keyOf = ({ part, layer, place }) => (part === 'head' ? `${layer}.${place}` : `${part}.${layer}.${place}`);

/**
 * The place of a key of state.patch; null if the key names more than one.
 * @param {string} key
 * @returns {GridPlace | null}
 */
export function placeOf(key) {
  const [, part = 'head', layer, place] = /^(?:(stream|heads|mlp)\.)?(\d+)\.(\d+)$/.exec(key) ?? [];
  return layer === undefined
    ? null
    : { part: /** @type {GridPart} */ (part), layer: Number(layer), place: Number(place) };
}

/** The places that are patched one by one. @param {Record<string, number>} patch @returns {GridPlace[]} */
export const placesIn = (patch) =>
  Object.entries(patch).flatMap(([key, on]) => {
    const place = on === 1 ? placeOf(key) : null;
    return place ? [place] : [];
  });

/** The places of a run that are not heads: they need tokens. @param {Record<string, number>} patch */
export const tokenPlaces = (patch) => placesIn(patch).filter(({ part }) => part !== 'head');

/** Places of a part in one layer. @param {TraceRuns} runs @param {GridPart} part */
export const countIn = ({ heads, lower }, part) => (part === 'head' ? heads : lower.pieces.length);

/** A trace in which only the places with equal values are known. @param {TraceRuns} runs @returns {Trace} */
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

/**
 * A measured place; null if it is not known yet, or does not exist.
 * @param {Trace} trace @param {GridPlace} place
 */
export function cellAt(trace, { part, layer, place }) {
  const found = trace.cells[part];
  const i = layer * countIn(trace, part) + place;
  if (!found || place < 0 || place >= countIn(trace, part) || Number.isNaN(found.share[i] ?? Number.NaN)) return null;
  return { share: found.share[i], value: found.value[i], a: found.a[i], b: found.b[i] };
}

/** The share as it is coloured. @param {number} share */
export const shownShare = (share) => (Math.abs(share) < NOISE ? 0 : Math.min(Math.max(share, -1), 1));

/** A share in per cent, without its sign for percent. @param {number} share */
export const shareText = (share) => String(Math.round(100 * share) || 0).replace('-', '−');

/**
 * The figure in a cell: shares from 10% on in the thick row, and in every row what the colour cannot show.
 * @param {number} share @param {boolean} thick
 */
export const figureOf = (share, thick) =>
  (thick && Math.abs(share) >= MIN_FIGURE - 0.005) || Math.abs(share) >= 1.005 ? shareText(share) : '';

/** The heads of a layer by their share, largest first. @param {Trace} trace @param {number} layer */
export function headsOf(trace, layer) {
  return Array.from({ length: trace.heads }, (_, head) => ({
    head,
    share: cellAt(trace, { part: 'head', layer, place: head })?.share,
  }))
    .filter(({ share }) => share !== undefined)
    .map(({ head, share }) => ({ head, share: Number(share) }))
    .sort((x, y) => Math.abs(y.share) - Math.abs(x.share) || x.head - y.head);
}

/**
 * Where the answer is, layer by layer: the token with the largest share of the stream, if that is over one half.
 * Successive layers with the same token are one stretch.
 * @param {Trace} trace
 * @returns {{ place: number, from: number, to: number }[]}
 */
export function stretchesOf(trace) {
  /** @type {{ place: number, from: number, to: number }[]} */
  const stretches = [];
  for (let layer = 0; layer < trace.layers; layer++) {
    const shares = trace.lower.pieces.map((_, place) => cellAt(trace, { part: 'stream', layer, place })?.share ?? 0);
    const place = shares.indexOf(Math.max(...shares));
    if (!(shares[place] > 0.5)) continue;
    const last = stretches.at(-1);
    if (last?.place === place) last.to = layer;
    else stretches.push({ place, from: layer, to: layer });
  }
  return stretches;
}

/**
 * The next place in a direction, among the columns of tokens.
 * @param {GridPlace} at
 * @param {string} key of the keyboard
 * @param {{ layers: number, heads: number, places: readonly number[], rows: readonly GridPart[] }} grid places: tokens
 *   of the columns, left to right; rows: of a layer, from the top
 * @param {boolean} byPart an arrow up or down goes to the next row of the layer
 * @returns {GridPlace | null} null if the key is no arrow
 */
export function nextPlace({ part, layer, place }, key, { layers, heads, places, rows }, byPart) {
  const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  const isHead = part === 'head';
  if (across) {
    const line = isHead ? Array.from({ length: heads }, (_, head) => head) : places;
    const next = line.indexOf(place) + across;
    if (next < 0 && isHead && places.length > 0) return { part: rows[0], layer, place: places[places.length - 1] };
    if (next >= line.length && !isHead && heads > 0) return { part: 'head', layer, place: 0 };
    return { part, layer, place: line[Math.min(Math.max(next, 0), line.length - 1)] };
  }
  if (!down) return null;
  if (byPart && !isHead) {
    const row = rows.indexOf(part) + down;
    return { part: rows[Math.min(Math.max(row, 0), rows.length - 1)], layer, place };
  }
  return { part, layer: Math.min(Math.max(layer - down, 0), layers - 1), place };
}
