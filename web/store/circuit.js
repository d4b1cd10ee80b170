// The circuit on the page. Few visitors open it, so the code of its requests is loaded when it is first shown.

import { signal } from '@preact/signals';
import { readOnly } from './readOnly.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { Measurement } from '../features/circuit/measurement.js' */
/** @import { Circuit } from '../features/circuit/shownLines.js' */
/** @import { CircuitPart } from './circuitProtocol.js' */
/** @import { State } from './state.js' */

/**
 * @param {object} options
 * @param {import('./requests.js').Requests} options.requests
 * @param {ReadonlySignal<State>} options.state
 */
export function createCircuitStore({ requests, state }) {
  const shown = signal(/** @type {Circuit | null} */ (null));
  const pointed = signal(/** @type {string | null} */ (null));
  const show = (/** @type {Circuit | null} */ circuit) => void (shown.value = circuit);
  const point = (/** @type {string | null} */ name) => void (pointed.value = name);
  /** @type {Measurement | undefined} */
  let measurement;
  return {
    /** The part of the circuit that has been measured so far. */
    shown: readOnly(shown),
    running: requests.cutting,
    /** The name of the edge under the pointer, in the drawing or in the list. */
    pointed: readOnly(pointed),
    point,
    /** Requests the circuit that the view `flow` shows of a state. @param {State} now */
    follow(now) {
      if (measurement) measurement.follow(now);
      else if (now.view === 'flow' && now.circuit)
        import('../features/circuit/measurement.js').then(
          ({ createMeasurement }) => {
            measurement ??= createMeasurement({ requests, state, shown, show, point });
            measurement.follow(state.peek());
          },
          // The drawing is loaded at the same time and reports the failure, so it is ignored here.
          () => {},
        );
    },
    stop: () => measurement?.stop(),
    again: () => measurement?.again(),
    /** Forgets the circuit, because another model is chosen. */
    clear: () => measurement?.clear(),
    /** @param {CircuitPart} part */
    receive: (part) => measurement?.receive(part),
  };
}
/** @typedef {ReturnType<typeof createCircuitStore>} CircuitStore */
