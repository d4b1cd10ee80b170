// The changes that become entries of the browser's history.

import type { State } from '../model/state.ts';

/**
 * The fields of the state that each kind of change sets. The kind of a change is the first one whose fields it sets.
 */
const KINDS: Record<string, (state: State) => unknown> = {
  page: ({ model, view, versus, panel, step, first, circuit }) => [
    model,
    view,
    view === 'flow' && circuit !== null,
    view === 'compare' && versus,
    panel,
    panel === 'story' && step,
    // Steps 0 and 1 differ only in the head that is switched off. Switching a head is a change of the kind `change`.
    first === null ? null : Math.max(first, 1),
  ],
  head: ({ layer, head }) => [layer, head],
  change: ({ temperature, mask, painted, scale, off, patch, pinned, trace, circuit }) => [
    temperature,
    mask,
    painted,
    scale,
    off,
    patch,
    pinned,
    trace,
    circuit?.carries,
    circuit?.cut,
  ],
  cell: ({ cell }) => cell,
};

/** Returns the kind of a change; null if the change gets no entry in the browser's history. */
export const kindOf = (before: State, after: State) =>
  Object.keys(KINDS).find((kind) => JSON.stringify(KINDS[kind](before)) !== JSON.stringify(KINDS[kind](after))) ?? null;

/**
 * Returns true if a change gets its own entry. Successive changes of one kind share one, so that after painting several
 * masks, Back leads to before the first. `last`: kind of the previous entry.
 */
export const isStep = (kind: string | null, last: string | null) => kind === 'page' || (kind !== null && kind !== last);
