// The changes that become entries of the browser's history.

/** @import { State } from './state.js' */

/** Fields by kind of change; the first kind that differs counts. @type {Record<string, (state: State) => unknown>} */
const KINDS = {
  page: ({ model, view, versus, panel, step, first, circuit }) => [
    model,
    view,
    view === 'flow' && circuit !== null,
    view === 'compare' && versus,
    panel,
    panel === 'story' && step,
    // The first two steps differ by the switch, whose change is of another kind.
    first === null ? null : Math.max(first, 1),
  ],
  head: ({ layer, head }) => [layer, head],
  change: ({ temperature, mask, painted, scale, patch, pinned, trace, circuit }) => [
    temperature,
    mask,
    painted,
    scale,
    patch,
    pinned,
    trace,
    circuit?.carries,
    circuit?.cut,
  ],
  cell: ({ cell }) => cell,
};

/**
 * The kind of a change; null if it is no entry.
 * @param {State} before @param {State} after
 */
export const kindOf = (before, after) =>
  Object.keys(KINDS).find((kind) => JSON.stringify(KINDS[kind](before)) !== JSON.stringify(KINDS[kind](after))) ?? null;

/**
 * True if a change is an entry of its own. Successive changes of one kind are one entry: after painting a mask, Back
 * leads to the state before it.
 * @param {string | null} kind @param {string | null} last the kind of the step before
 */
export const isStep = (kind, last) => kind === 'page' || (kind !== null && kind !== last);
