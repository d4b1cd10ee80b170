// The places of a trace. A place is a part of the model at a token, or a single head. A place has an identifier in
// state.patch, and a cell with the measured values.

import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import type { TracedCell, TraceRuns } from '../protocol/traceProtocol.ts';
export type Place = GridPlace;
/** NaN for a place that has not been measured */
export type Measured = { share: Float64Array; value: Float64Array; a: Float64Array; b: Float64Array };
/** A trace with the cells that have been measured so far, by part: (L,T) or (L,H). */
export type Trace = TraceRuns & { cells: { [part in GridPart]?: Measured }; done: number; left: number | null };

/** The rows of a layer, from the top. */
export const ROWS = ['stream', 'heads', 'mlp'] as const;
const PARTS: readonly GridPart[] = [...ROWS, 'head'];

/** Returns the identifier of a place in state.patch. */
export const keyOf = ({ part, layer, place }: GridPlace) =>
  part === 'head' ? `${layer}.${place}` : `${part}.${layer}.${place}`;

/** Returns the place with an identifier of state.patch; null if the identifier stands for several places. */
export function placeOf(key: string): GridPlace | null {
  const [, part = 'head', layer, place] = /^(?:(stream|heads|mlp)\.)?(\d+)\.(\d+)$/.exec(key) ?? [];
  return layer === undefined ? null : { part: part as GridPart, layer: Number(layer), place: Number(place) };
}

/** Returns the places that are patched one by one. */
export const placesIn = (patch: Record<string, number>): GridPlace[] =>
  Object.entries(patch).flatMap(([key, on]) => {
    const place = on === 1 ? placeOf(key) : null;
    return place ? [place] : [];
  });

/** Returns the patched places that are not heads. Their identifiers contain the position of a token. */
export const tokenPlaces = (patch: Record<string, number>) => placesIn(patch).filter(({ part }) => part !== 'head');

/** Returns the number of places of a part in one layer. */
export const countIn = ({ heads, lower }: TraceRuns, part: GridPart) => (part === 'head' ? heads : lower.pieces.length);

/** Returns a trace before its measurement, in which only the places with equal values in both runs are known. */
export function startTrace(runs: TraceRuns): Trace {
  const cells = Object.fromEntries(
    PARTS.filter((part) => runs.same[part]).map((part) => {
      const same = runs.same[part] as Uint8Array;
      const of = (known: number) => Float64Array.from(same, (is) => (is ? known : Number.NaN));
      const [a, b] = runs.lower.both;
      return [part, { share: of(0), value: of(runs.lower.value), a: of(a), b: of(b) }];
    }),
  );
  return { ...runs, cells, done: 0, left: null };
}

export function withCells(
  trace: Trace,
  { cells: measured, done, total, left }: { cells: TracedCell[]; done: number; total: number; left: number | null },
): Trace {
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
