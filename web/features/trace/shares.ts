// The shares of a trace: as texts, sorted by layer, and the places that arrow keys reach. Only the view Trace loads
// this file.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { countIn, type Trace } from '../../model/trace/places.ts';

/** Absolute shares below this are shown as 0, so that noise makes no pattern. */
export const NOISE = 0.015;
/** Minimum share that is written as a number. */
const MIN_FIGURE = 0.1;

/** Returns the values of a measured place; null if the place has not been measured, or does not exist. */
export function cellAt(trace: Trace, { part, layer, place }: GridPlace) {
  const found = trace.cells[part];
  const i = layer * countIn(trace, part) + place;
  if (!found || place < 0 || place >= countIn(trace, part) || Number.isNaN(found.share[i] ?? Number.NaN)) return null;
  return { share: found.share[i], value: found.value[i], a: found.a[i], b: found.b[i] };
}

/** Returns the share that determines the colour of a cell. */
export const shownShare = (share: number) => (Math.abs(share) < NOISE ? 0 : Math.min(Math.max(share, -1), 1));

/** Returns a share in per cent as a text without a percent sign. */
export const shareText = (share: number) => String(Math.round(100 * share) || 0).replace('-', '−');

/** Returns the number in a cell: in the thick row from 10%, in any row beyond the range of colours. */
export const figureOf = (share: number, thick: boolean) =>
  (thick && Math.abs(share) >= MIN_FIGURE - 0.005) || Math.abs(share) >= 1.005 ? shareText(share) : '';

/** Returns the heads of a layer by their absolute share, the largest first. */
export function headsOf(trace: Trace, layer: number) {
  return Array.from({ length: trace.heads }, (_, head) => ({
    head,
    share: cellAt(trace, { part: 'head', layer, place: head })?.share,
  }))
    .filter(({ share }) => share !== undefined)
    .map(({ head, share }) => ({ head, share: Number(share) }))
    .sort((x, y) => Math.abs(y.share) - Math.abs(x.share) || x.head - y.head);
}

/**
 * Returns the token with the largest share of the residual stream in each layer, if over one half; layers in a row with
 * the same token are one stretch.
 */
export function stretchesOf(trace: Trace): { place: number; from: number; to: number }[] {
  const stretches: { place: number; from: number; to: number }[] = [];
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
 * Returns where heads carry the answer to another token: the first layer in which a token's heads return over half of
 * it although its stream lacked it. head: the one that alone returns over half, or null.
 */
export function movesOf(trace: Trace): { layer: number; place: number; head: number | null }[] {
  const moves: { layer: number; place: number; head: number | null }[] = [];
  const shareAt = (place: GridPlace) => cellAt(trace, place)?.share ?? 0;
  for (let layer = 0; layer < trace.layers; layer++)
    trace.lower.pieces.forEach((_, place) => {
      const isNew = !moves.some((move) => move.place === place) && !(shareAt({ part: 'stream', layer, place }) > 0.5);
      if (!isNew || !(shareAt({ part: 'heads', layer, place }) > 0.5)) return;
      const [first] = headsOf(trace, layer);
      moves.push({ layer, place, head: first && first.share > 0.5 ? first.head : null });
    });
  return moves;
}

/**
 * Returns the next place for an arrow key; null for another key. places: tokens of columns, left to right; rows: parts
 * of a layer from the top; byPart: up and down go to the layer's next row, not the next layer.
 */
export function nextPlace(
  { part, layer, place }: GridPlace,
  key: string,
  {
    layers,
    heads,
    places,
    rows,
  }: { layers: number; heads: number; places: readonly number[]; rows: readonly GridPart[] },
  byPart: boolean,
): GridPlace | null {
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
