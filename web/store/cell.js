// The cell of the attention weights whose number the page explains.

import { computed } from '@preact/signals';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { Run } from './types.js' */
/** @import { Cell, State } from './state.js' */

/** Returns the key with the largest weight in a row of the shown head. @param {Run} run @param {number} t */
function strongestKey({ weights, large, about, T, S, layer, head }, t) {
  const first = large ? 0 : (layer * about.heads + head) * T;
  const row = weights.subarray((first + t) * S).subarray(0, S);
  return row.reduce((best, weight, s) => (weight > row[best] ? s : best), 0);
}

/**
 * Creates the signal of the cell that is explained: the cell under the pointer, else the selected cell, else the
 * strongest cell in the row of the token that predicts. The signal is null if there are no tokens.
 * @param {object} signals
 * @param {ReadonlySignal<Run | null>} signals.run
 * @param {ReadonlySignal<Cell | null>} signals.hover
 * @param {ReadonlySignal<State>} signals.state
 * @returns {ReadonlySignal<Cell | null>}
 */
export const createCell = ({ run, hover, state }) =>
  computed(() => {
    const now = run.value;
    if (!now?.T || !now.S) return null;
    const { t, s } = hover.value ?? state.value.cell ?? { t: now.place ?? now.T - 1, s: -1 };
    const row = Math.min(t, now.T - 1);
    return { t: row, s: s < 0 ? strongestKey(now, row) : Math.min(s, now.S - 1) };
  });
