// The cell of the attention weights whose number the page explains.

import { computed, type ReadonlySignal } from '@preact/signals';
import type { Cell, State } from '../model/state.ts';
import type { Run } from '../model/types.ts';

/** Returns the key with the largest weight in a row of the shown head. */
function strongestKey({ weights, large, about, T, S, layer, head }: Run, t: number) {
  const first = large ? 0 : (layer * about.heads + head) * T;
  const row = weights.subarray((first + t) * S).subarray(0, S);
  return row.reduce((best, weight, s) => (weight > row[best] ? s : best), 0);
}

/** The cell that is explained: under the pointer, else selected, else the predicting token's strongest; or null. */
export const createCell = ({
  run,
  hover,
  state,
}: {
  run: ReadonlySignal<Run | null>;
  hover: ReadonlySignal<Cell | null>;
  state: ReadonlySignal<State>;
}): ReadonlySignal<Cell | null> =>
  computed(() => {
    const now = run.value;
    if (!now?.T || !now.S) return null;
    const { t, s } = hover.value ?? state.value.cell ?? { t: now.place ?? now.T - 1, s: -1 };
    const row = Math.min(t, now.T - 1);
    return { t: row, s: s < 0 ? strongestKey(now, row) : Math.min(s, now.S - 1) };
  });
