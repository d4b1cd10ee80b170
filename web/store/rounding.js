// The comparison of a model in few bits with its float32 weights: its request, and its progress or result.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { Rounding, State } from './protocol.js' */

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {ReadonlySignal<State>} options.state
 */
export function createRounding({ requests, state }) {
  const shown = signal(/** @type {Rounding | null} */ (null));
  return {
    /** The comparison of the current model; null before it is requested. */
    shown: readOnly(shown),
    measure: () => requests.send({ verb: 'rounding', state: state.peek() }),
    cancel() {
      requests.cancel('rounding');
      shown.value = null;
    },
    /** Another model is chosen. */
    clear: () => void (shown.value = null),
    receive: (/** @type {{ rounding: Rounding }} */ { rounding }) => void (shown.value = rounding),
  };
}
/** @typedef {ReturnType<typeof createRounding>} RoundingStore */
