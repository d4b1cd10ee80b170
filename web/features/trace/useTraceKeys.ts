// The keyboard in a trace: arrows move between cells, Enter opens the heatmap, p patches, Space stops or continues the
// measurement, Escape closes.

import { useEffect, useState } from 'preact/hooks';
import type { GridPart, GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';
import { ROWS, type Trace } from '../../model/trace/places.ts';
import { useSession } from '../../store/context.ts';
import { nextPlace, shareText } from './shares.ts';
import { rowsOf } from './traceLayout.ts';
import { chosenIn, openInstrument, spokenPlace, togglePatch } from './traceState.ts';

/** Returns the columns of tokens of a trace, without those before the first difference. */
export const placesOf = ({ columns, first }: Trace) =>
  columns.slice(first).map(({ from, into }) => (from < 0 ? -1 : into));

export function useTraceKeys({ narrow }: { narrow: boolean }) {
  const session = useSession();
  const [part, setPart] = useState('stream' as GridPart);
  const chosenPart = chosenIn(session)?.part;
  // If the grid shows one part at a time, it is the part of the patched place.
  useEffect(() => {
    if (chosenPart) setPart(chosenPart);
  }, [chosenPart]);
  const trace = session.trace.value;
  const parts = Object.keys(trace?.cells ?? {}) as GridPart[];
  const rows = rowsOf({ layers: trace?.layers ?? 0, parts, narrow, chosen: part });
  const isSplit = rows.length < ROWS.filter((row) => parts.includes(row)).length;
  const shape = trace && {
    layers: trace.layers,
    // If the grid shows one part at a time, the heads are one of these parts.
    heads: !isSplit || part === 'head' || !narrow ? trace.heads : 0,
    places: rows.length > 0 ? placesOf(trace) : [],
    rows,
  };

  const visit = (place: GridPlace) => {
    session.pointTrace(place);
    if (trace) session.announce(spokenPlace(session, trace, place, shareText));
  };
  /** Returns the place at which the keys begin: the last token, in the top row of the grid. */
  const current = (): GridPlace | null => {
    const at = session.tracedPlace.value ?? chosenIn(session);
    if (at || !trace || !shape) return at;
    const token = shape.places.filter((place) => place >= 0).at(-1);
    return token === undefined || rows.length === 0
      ? { part: 'head', layer: trace.layers - 1, place: 0 }
      : { part: rows[0], layer: trace.layers - 1, place: token };
  };
  const act = (place: GridPlace) => ({
    Enter: () => openInstrument(session, place),
    p: () => togglePatch(session, place),
    ' ': () => session.tracing.value && session.pauseTrace(!session.tracePaused.value),
  });

  return {
    part,
    setPart,
    parts,
    rows,
    isSplit,
    shape,
    visit,
    current,
    onKey(event: KeyboardEvent) {
      const at = current();
      if (!at || !shape || event.ctrlKey || event.metaKey) return;
      const places = shape.places.filter((place) => place >= 0);
      const next = nextPlace(at, event.key, { ...shape, places }, event.shiftKey);
      const action = (act(at) as Record<string, () => unknown>)[event.key];
      if (!next && !action) return;
      event.preventDefault();
      event.stopPropagation();
      // The first arrow key only shows the place at which the keys begin.
      if (next) visit(session.tracedPlace.value || chosenIn(session) ? next : at);
      else action();
    },
    /** Escape ends the reading of a place, else undoes the patch, else closes the view. */
    onEscape(event: KeyboardEvent) {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      if (session.tracedPlace.value) return session.pointTrace(null);
      const chosen = chosenIn(session);
      if (chosen) return togglePatch(session, chosen);
      session.update({ view: 'heatmap' });
    },
  };
}
export type GridKeys = ReturnType<typeof useTraceKeys>;
