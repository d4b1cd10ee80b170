// Which changes are steps that one goes Back to, in the browser's history.

/** @import { State } from './state.js' */

/** What is changed together is one kind, the first that fits. @type {Record<string, (state: State) => any>} */
const KINDS = {
  page: ({ model, view, versus, panel, step }) => [
    model,
    view,
    view === 'compare' && versus,
    panel,
    panel === 'story' && step,
  ],
  head: ({ layer, head }) => [layer, head],
  change: ({ temperature, mask, painted, scale, patch, pinned }) => [temperature, mask, painted, scale, patch, pinned],
  cell: ({ cell }) => cell,
};

/**
 * What a change is of, or null where it is no step.
 * @param {State} before @param {State} after
 */
export const kindOf = (before, after) =>
  Object.keys(KINDS).find((kind) => JSON.stringify(KINDS[kind](before)) !== JSON.stringify(KINDS[kind](after))) ?? null;

/**
 * Whether a change is a step of its own. Changes of one kind after each other are one step: who paints a mask or
 * walks over heads goes Back at once to what was before.
 * @param {string | null} kind @param {string | null} last the kind of the step before
 */
export const isStep = (kind, last) => kind === 'page' || (kind !== null && kind !== last);
